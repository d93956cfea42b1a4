"""What Prometheus asks for: how the server is used, and how the knowledge fares (document 004, NFR-3)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client import Counter
from prometheus_client import Histogram
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from roamkb.core.errors import RoamkbError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from roamkb.app.server import ServedKnowledgeBase
    from roamkb.tasks.stats import ReuseFigures

_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class ServerMetrics:
    """The figures of one server."""

    def __init__(self, kb: "ServedKnowledgeBase") -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "roamkb_requests", "Requests answered.", ("operation", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "roamkb_request_seconds", "How long an answer took.", ("operation",), registry=self._registry
        )
        self._registry.register(_LogMetrics(kb))

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Take one answer into account."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def exposed(self) -> tuple[bytes, str]:
        """Return the figures as they are now, and their media type."""
        return generate_latest(self._registry), _TEXT


class _LogMetrics(Collector):
    """The log's own figures, read when somebody asks."""

    def __init__(self, kb: "ServedKnowledgeBase") -> None:
        self._kb = kb

    def describe(self) -> "Iterable[Metric]":
        """Return nothing: the registry need not read the log to learn the names."""
        return ()

    def collect(self) -> "Iterable[Metric]":
        """Yield the figures; none for a project without a log."""
        try:
            found = self._kb.log.stats()
        except RoamkbError:
            return
        by_type = GaugeMetricFamily("roamkb_entries", "Learnings that count, by type.", labels=("type",))
        for type, count in found.by_type:
            by_type.add_metric((type,), count)
        yield by_type
        outcomes = GaugeMetricFamily("roamkb_outcomes", "What came of learnings.", labels=("outcome",))
        for outcome, count in found.by_outcome:
            outcomes.add_metric((outcome,), count)
        yield outcomes
        for name, help, value in _plain(found):
            yield GaugeMetricFamily(f"roamkb_{name}", help, value=value)


def _plain(found: "ReuseFigures") -> Iterable[tuple[str, str, float]]:
    yield "high_confidence", "Learnings with a confidence of at least 0.80.", found.high_confidence
    yield "promotion_candidates", "Those of them that were met three times.", found.promotion_candidates
    yield "shown", "Showings of learnings.", found.shown
    yield "learnings_shown", "Learnings that were shown at least once.", found.learnings_shown
    yield "applied", "Times that a shown learning was applied.", found.applied
    yield "never_used", "Learnings that never helped.", len(found.never_used)
    yield "tokens_saved", "Tokens saved, by a rough estimate.", found.tokens_saved
    if found.hit_rate is not None:
        yield "hit_rate", "Successes of all that was applied.", found.hit_rate
