"""`explain`: the whole life of a learning, from the number that it began with to what it counts today."""

from collections.abc import Callable
from collections.abc import Mapping
from typing import Annotated

from roamkb.core.request import Argument
from roamkb.core.request import AsOfOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.log.known_learnings import called
from roamkb.log.state import confidence
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import start_of
from roamkb.log.store.project_log import Log

#: What every number of it comes from, by the names that a reader knows (D13).
CONSTANTS: Mapping[str, int] = {
    "human": confidence.HUMAN,
    "proposed": confidence.PROPOSED,
    "borne_out": confidence.DURABLE,
    "consolidated": confidence.CONSOLIDATED,
    "unsaid": confidence.UNSAID,
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
    """What `explain` takes."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY")]
    _: KW_ONLY
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A learning, what became of it, and why it counts what it counts."""

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
    often: int = confidence.OFTEN

    @property
    def first(self) -> Mapping[str, object]:
        """What it began with."""
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
    """Return the life of the learning with the id or key `name`.

    Raises:
        NotFound: there is none. Ambiguous: there are several.
    """
    standing = called(log, state, name)
    learning = standing.learning
    return Explanation(
        standing=replace(standing, flags=dict(doubts_of(standing))),
        start=start_of(learning),
        why=_why(standing),
        ranked=standing.rank_confidence(now),
        constants=CONSTANTS,
    )


def _why(standing: LearningState) -> str:
    learning = standing.learning
    if learning.is_adopted:
        return "it came with the project, as somebody else's word"
    provenance = learning.provenance
    usual = confidence.BY_PROVENANCE.get(provenance)
    if usual is not None and learning.confidence in (None, usual):
        return f"it is {provenance}"
    if learning.confidence is not None:
        start = confidence.started(learning.confidence, learning.provenance)
        said = f"its line says {confidence.as_fraction(learning.confidence):.2f}"
        return said if start == learning.confidence else f"{said}, kept within the bounds"
    return "its line says nothing of where it comes from"
