"""Metrics for Prometheus: the server's use, and the knowledge's reuse (document 004, NFR-3)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client import Counter
from prometheus_client import Histogram
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from roamkb.app import server
from roamkb.core.errors import RoamkbError
from roamkb.tasks import stats

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServerMetrics:
    """Metrics of one server."""

    def __init__(self, kb: "server.ServedKnowledgeBase") -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "roamkb_requests", "Requests answered.", ("operation", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "roamkb_request_seconds", "How long an answer took.", ("operation",), registry=self._registry
        )
        self._registry.register(_LogMetrics(kb))

    def count_answer(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer and its duration."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def render_metrics(self) -> tuple[bytes, str]:
        """Return the present metrics, and their media type."""
        return generate_latest(self._registry), _MEDIA_TYPE


class _LogMetrics(Collector):
    """The log's own metrics, read when Prometheus asks."""

    def __init__(self, kb: "server.ServedKnowledgeBase") -> None:
        self._kb = kb

    def describe(self) -> "Iterable[Metric]":
        """Return nothing: the registry need not read the log to learn the names."""
        return ()

    def collect(self) -> "Iterable[Metric]":
        """Yield the figures; none for a project without a log."""
        try:
            figures = self._kb.log.stats()
        except RoamkbError:
            return
        by_type = GaugeMetricFamily("roamkb_entries", "Learnings that count, by type.", labels=("type",))
        for type, count in figures.by_type:
            by_type.add_metric((type,), count)
        yield by_type
        outcomes = GaugeMetricFamily("roamkb_outcomes", "What came of learnings.", labels=("outcome",))
        for outcome, count in figures.by_outcome:
            outcomes.add_metric((outcome,), count)
        yield outcomes
        for name, help, value in _single_figures(figures):
            yield GaugeMetricFamily(f"roamkb_{name}", help, value=value)


def _single_figures(figures: "stats.ReuseFigures") -> Iterable[tuple[str, str, float]]:
    yield "high_confidence", "Learnings with a confidence of at least 0.80.", figures.high_confidence
    yield "promotion_candidates", "Those of them that were met three times.", figures.promotion_candidates
    yield "shown", "Showings of learnings.", figures.shown
    yield "learnings_shown", "Learnings that were shown at least once.", figures.learnings_shown
    yield "applied", "Times that a shown learning was applied.", figures.applied
    yield "never_used", "Learnings that never helped.", len(figures.never_used)
    yield "tokens_saved", "Tokens saved, by a rough estimate.", figures.tokens_saved
    if figures.hit_rate is not None:
        yield "hit_rate", "Successes of all that was applied.", figures.hit_rate
