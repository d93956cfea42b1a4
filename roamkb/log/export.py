"""`export`: every learning with its present confidence, for other programs."""

from typing import Annotated

from roamkb.core.request import AsOfOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import LearningState
from roamkb.log.verb_context import VerbContext


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


def export(context: VerbContext, request: ExportRequest) -> LearningExport:
    """Return every learning with its present state, or that of a day; with `all`, the archive's as well."""
    state = context.log_to_read().read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    shown = (standing for standing in state.standings.values() if request.all or standing.status != ARCHIVED)
    return LearningExport(learnings=tuple(shown))
