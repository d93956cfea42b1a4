"""`export`: every learning with what it counts today, for other programs."""

from dataclasses import dataclass

from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningExport:
    """Learnings in the order in which they were said."""

    standings: tuple[LearningState, ...]


def export(state: LogState, *, archived: bool = False) -> LearningExport:
    """Return the learnings of the log, those of the archive only if `archived`."""
    return LearningExport(
        standings=tuple(one for one in state.standings.values() if archived or not one.is_archived)
    )
