"""`export`: every learning with its present confidence, for other programs."""

from typing import Annotated

from roamkb.core.request import AsOfOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Parameters of `export`."""

    _: KW_ONLY
    all: bool = flag_option("--all", "What a curator archived as well.")
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningExport:
    """Learnings in the order in which they were recorded."""

    learnings: Annotated[tuple[LearningState, ...], EVERY_KEY]


def export(state: LogState, *, archived: bool = False) -> LearningExport:
    """Return the learnings of the log, what a curator archived only if `archived`."""
    return LearningExport(
        learnings=tuple(standing for standing in state.standings.values() if archived or standing.status != ARCHIVED)
    )
