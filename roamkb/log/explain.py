"""`explain`: the history of a learning, from its first confidence to its present one."""

from collections.abc import Callable
from collections.abc import Mapping
from typing import Annotated

from roamkb.core.errors import NotFound
from roamkb.core.request import Argument
from roamkb.core.request import AsOfOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.core.timestamps import format_iso
from roamkb.log.known_learnings import get_learning
from roamkb.log.state import confidence
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.initial_state import starting_confidence
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log

#: What every number of it comes from, by the names that a reader knows (D13).
CONSTANTS: Mapping[str, int] = {
    "human": confidence.HUMAN,
    "proposed": confidence.PROPOSED,
    "borne_out": confidence.DURABLE,
    "consolidated": confidence.CONSOLIDATED,
    "unsaid": confidence.UNSTATED,
    "adopted": confidence.ADOPTED,
    **{f"start_{name}": value for name, value in confidence.BY_PROVENANCE.items()},
    "repeated": confidence.REPEATED,
    "reused": confidence.REUSED,
    "consolidated_again": confidence.CONSOLIDATED_AGAIN,
    "validated": confidence.VALIDATED,
    "prevented": confidence.PREVENTED,
    "failed": confidence.FAILED,
    "superseded": confidence.SUPERSEDED,
    "least": confidence.LEAST,
    "most": confidence.MOST,
    "durable": confidence.DURABLE,
}


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Parameters of `explain`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A learning with its history, and the reasons for its confidence."""

    JSON = "learning=standing start=first history=standing.history ranked constants=shares"
    #: With what lowers its rank now as its flags.
    standing: Annotated[LearningState, EVERY_KEY]
    #: In hundredths, and what it comes from.
    start: int
    why: str
    #: In hundredths: what it is ranked by today, decay included.
    ranked: Hundredths
    constants: Mapping[str, int]
    #: How many events it takes to be promoted into a rule file.
    often: int = confidence.PROMOTION_OCCURRENCES

    @property
    def first(self) -> Mapping[str, object]:
        """The confidence that it began with, and the reason."""
        return {"confidence": confidence.as_fraction(self.start), "why": self.why}

    @property
    def shares(self) -> Mapping[str, float]:
        """The constants as fractions, and the number of events."""
        fractions = {name: confidence.as_fraction(value) for name, value in self.constants.items()}
        return {**fractions, "promoted_from": self.often}


def explain(
    log: Log,
    state: LogState,
    name: str,
    *,
    doubts_of: Callable[[LearningState], Mapping[str, str]],
    now: float,
) -> Explanation:
    """Return the history of the learning with the id or key `name`.

    Raises:
        NotFound: there is none. Ambiguous: there are several.
    """
    _check_forgotten(state, name)
    standing = get_learning(log, state, name)
    learning = standing.learning
    return Explanation(
        standing=replace(standing, flags=dict(doubts_of(standing))),
        start=starting_confidence(learning),
        why=_start_reason(standing),
        ranked=standing.rank_confidence(now),
        constants=CONSTANTS,
    )


def _check_forgotten(state: LogState, id: str) -> None:
    """Raise where `id` has a tombstone, with all that it says."""
    for event in state.events_named(FORGOTTEN):
        if event.of == id:
            human = event.text_field("operator") or "somebody unnamed"
            when = format_iso(event.ts)[:10]
            hint = f"{human} had it forgotten on {when}, by the event {event.id}; nothing of it is shown any more"
            raise NotFound(id, kind="learning", hint=one_line(hint))


def _start_reason(standing: LearningState) -> str:
    learning = standing.learning
    if learning.is_adopted:
        return "it came with the project, as somebody else's word"
    provenance = learning.provenance
    usual_start = confidence.BY_PROVENANCE.get(provenance)
    if usual_start is not None and learning.confidence in (None, usual_start):
        return f"it is {provenance}"
    if learning.confidence is not None:
        start = confidence.start_confidence(learning.confidence, learning.provenance)
        line_reason = f"its line says {confidence.as_fraction(learning.confidence):.2f}"
        return line_reason if start == learning.confidence else f"{line_reason}, kept within the bounds"
    return "its line says nothing of where it comes from"
