"""State of a learning before any event: what its own line says.

Apart from the replay of events, which a prompt's hook needn't import: most states come from the cache.
"""

from roamkb.log.learning import Learning
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState


def starting_confidence(learning: Learning) -> int:
    """Return the confidence, in hundredths, that a learning begins with."""
    start = confidence.start_confidence(learning.confidence, learning.provenance)
    return min(start, confidence.ADOPTED) if learning.is_adopted else start


def initial_state(learning: Learning, *, is_archived: bool) -> LearningState:
    """Return the state of a learning before any event."""
    trust = starting_confidence(learning)
    extra = learning.extra
    if not extra:
        # as nearly all, and there are many
        return LearningState(learning=learning, confidence=trust, last_used=learning.ts, is_archived=is_archived)
    status = extra.get("status")
    # other tools keep the outcome of a review on the line itself
    start_status = status if status in (CANONICAL, SUPERSEDED, NEEDS_REVIEW, ARCHIVED) else ACTIVE
    if learning.is_adopted and start_status == CANONICAL:
        start_status = ACTIVE
    return LearningState(
        learning=learning,
        confidence=trust,
        status=str(start_status),
        scope=str(extra.get("scope") or "project"),
        superseded_by=_text_or_empty(extra.get("superseded_by")),
        supersedes=_text_values(extra.get("supersedes")),
        merged_from=_text_values(extra.get("merged_from")),
        review_reason=_text_or_empty(extra.get("review_reason")),
        last_used=learning.ts,
        is_archived=is_archived,
    )


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text_values(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()
