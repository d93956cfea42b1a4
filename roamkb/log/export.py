"""`export`: every learning with what it counts today, for other programs."""

from dataclasses import dataclass

from roamkb.log.state.learning_state import Standing
from roamkb.log.state.learning_state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Learnings in the order in which they were said."""

    standings: tuple[Standing, ...]


def export(state: State, *, archived: bool = False) -> Export:
    """Return the learnings of the log, those of the archive only if `archived`."""
    return Export(standings=tuple(one for one in state.standings.values() if archived or not one.is_archived))
