"""`consolidate`: from a session's observations to learnings, and from many learnings to few.

Each stage lifts what it keeps one scope; nothing is deleted, and a second run changes nothing
(document 002, stages 1 to 3).
"""

from collections import Counter
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Annotated
from typing import Final

from roamkb.core.ids import derived_id
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import counted
from roamkb.log.learning import Learning
from roamkb.log.new_learning import THIN
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import difference
from roamkb.log.new_learning import drafted
from roamkb.log.state.confidence import CONSOLIDATED
from roamkb.log.state.confidence import HUMAN
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.log.store.project_log import Log
from roamkb.pipeline.consolidation_plan import KnownLearnings
from roamkb.pipeline.consolidation_plan import NoticedObservation
from roamkb.pipeline.consolidation_plan import SessionPlan
from roamkb.pipeline.consolidation_plan import category
from roamkb.pipeline.consolidation_plan import clusters
from roamkb.pipeline.consolidation_plan import is_durable
from roamkb.pipeline.consolidation_plan import plan_session
from roamkb.pipeline.extract.attention import Observation

STAGES: Final = ("session", "agent", "task")
#: The type of an agent's own account of its work.
SUMMARY: Final = "summary"


@dataclass(frozen=True, slots=True)
class ConsolidateRequest:
    """What `consolidate` takes."""

    stage: Annotated[str, Argument("session, agent or task.", metavar="session|agent|task")]
    name: str | None = argument("Its id; without one all open sessions.", metavar="ID")
    _: KW_ONLY
    agent: AgentOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateResult:
    """What one stage did; its counts add up."""

    JSON = "stage id=name processed created repeated superseded raised dropped"
    stage: str
    name: str
    processed: int
    created: int = 0
    repeated: int = 0
    superseded: int = 0
    raised: int = 0
    #: By reason.
    dropped: dict[str, int] = field(default_factory=dict)


class ConsolidationMemory:
    """The log as one call left it, so that not every session reads and folds it anew."""

    def __init__(self, boot: Iterable[str] = ()) -> None:
        self.known = KnownLearnings(boot)
        #: Ids and keys of learnings.
        self.taken: set[str] = set()
        self._standings: dict[str, LearningState] = {}
        self._events: list[LedgerEvent] = []
        self._last = ""
        self._stamp: tuple[object, ...] | None = None

    def look(self, log: Log) -> tuple[LogState, str]:
        """Return the log's state and its last event; the lock is held."""
        if self._stamp is None or log.stamp() != self._stamp:
            contents = log.read()
            state = contents.state()
            self._standings, self._events = dict(state.standings), list(state.events)
            self._last = contents.last_event
            self.known.refresh(state)
            self._take(one.learning for one in state.standings.values())
        return LogState(standings=self._standings, events=self._events), self._last

    def remember(self, log: Log, learnings: Sequence[Learning], events: Sequence[LedgerEvent]) -> None:
        """Take in what was added just now; the lock is held still."""
        # what the events did to them matters to nobody who looks for what is like another
        self._standings.update(replay(learnings, ()).standings)
        self._take(learnings)
        self._events += events
        self._last = max((self._last, *(event.id for event in events)))
        self._stamp = log.stamp()

    def _take(self, learnings: Iterable[Learning]) -> None:
        for learning in learnings:
            self.taken |= {learning.id, learning.key}


def consolidate_session(
    log: Log,
    session: str,
    observations: Sequence[Observation],
    hand: Author,
    *,
    shown: Iterable[str],
    boot: Iterable[str] = (),
    memory: "ConsolidationMemory | None" = None,
) -> ConsolidateResult:
    """Turn what a session said into learnings of session scope, or repetitions of known ones.

    The sessions of one call share a `memory`, which holds `boot` as well.
    """
    memory = memory or ConsolidationMemory(boot)
    with log.locked():
        state, last = memory.look(log)
        plan = plan_session(observations, state, shown=shown, known=memory.known)
        stamps = EventFactory(hand, after=last, by="consolidate")
        learnings = [_learning(noticed, hand, state, memory.taken) for noticed in plan.created]
        events = _events(plan, state, stamps)
        log.append(learnings, events)
        memory.remember(log, learnings, events)
    return ConsolidateResult(
        stage="session",
        name=session,
        processed=plan.processed,
        created=len(plan.created),
        repeated=len(plan.repeated),
        dropped=plan.dropped,
    )


def _learning(noticed: NoticedObservation, hand: Author, state: LogState, taken: Container[str]) -> Learning:
    said = noticed.observation
    saying = NewLearning(
        content=said.text,
        type=noticed.type,
        task=said.task,
        category=noticed.category,
        provenance=said.provenance,
        confidence=HUMAN if said.provenance == "user-stated" else CONSOLIDATED,
        extra={"scope": "session"},
    )
    signed = replace(hand, agent=said.agent or hand.agent, session=said.session or hand.session)
    return replace(
        drafted(saying, signed, state, taken=taken),
        id=noticed.id,
        origin=noticed.source,
        ts=int(said.ts) or int(hand.ts),
    )


def _events(plan: SessionPlan, state: LogState, stamps: EventFactory) -> list[LedgerEvent]:
    events = []
    for noticed, id in plan.repeated:
        said = noticed.observation
        fields = difference(state.standings[id].learning, said.text)
        event = stamps.event("repeated", id, task=said.task, source=noticed.source, **fields)
        events.append(replace(event, agent=said.agent or event.agent, session=said.session))
    events += [
        stamps.event("flagged", one, reason=MAY_CONTRADICT, evidence=other) for one, other in plan.disputed
    ]
    thin = (noticed for noticed in plan.created if noticed.thin)
    events += (stamps.event("flagged", one.id, reason=THIN, evidence=one.thin) for one in thin)
    return events


def consolidate_agent(log: Log, agent: str, hand: Author) -> ConsolidateResult:
    """Merge what an agent learned in all its sessions, and lift it from session to agent scope."""
    with log.locked():
        contents = log.read()
        state = contents.state()
        mine = [
            one
            for one in state.standings.values()
            if one.learning.agent == agent
            and one.learning.canonical_type != SUMMARY
            and one.status != SUPERSEDED
        ]
        stamps = EventFactory(hand, after=contents.last_event, by="consolidate")
        events: list[LedgerEvent] = []
        gone: set[str] = set()
        for cluster in clusters(one for one in mine if one.scope in ("session", "agent")):
            for other in cluster.others:
                gone.add(other.id)
                events.append(
                    stamps.event("superseded", other.id, by_which=cluster.keeper.id, reason="the same again")
                )
        kept = [one for one in mine if one.id not in gone]
        raised = [
            stamps.event("raised", one.id, **{"from": "session", "to": "agent"})
            for one in kept
            if one.scope == "session"
        ]
        summary = _summary(agent, kept, hand, state)
        new = [summary] if summary and summary.id not in state.standings else []
        # also where the summary is there and whoever wrote it was killed before this
        if summary and (new or state.standings[summary.id].status != SUPERSEDED):
            events += [
                stamps.event("superseded", one.id, by_which=summary.id, reason="a newer summary")
                for one in state.standings.values()
                if one.learning.canonical_type == SUMMARY
                and one.learning.agent == agent
                and one.status != SUPERSEDED
                and one.id != summary.id
            ]
        log.append(new, [*events, *raised])
    return ConsolidateResult(
        stage="agent",
        name=agent,
        processed=len(mine),
        created=len(new),
        superseded=len(gone),
        raised=len(raised),
    )


def _summary(agent: str, kept: Sequence[LearningState], hand: Author, state: LogState) -> Learning | None:
    """Return the agent's account of its work; None where it has learned nothing."""
    if not kept:
        return None
    about = Counter(category(one) for one in kept)
    sessions = {one.learning.session for one in kept if one.learning.session}
    surest = max(kept, key=lambda one: (one.confidence, one.occurrences, one.learning.ts, one.id))
    counts = ", ".join(f"{name} {count}" for name, count in about.most_common())
    saying = NewLearning(
        content=(
            f"{agent} learned {counted(len(kept), 'thing')} in {counted(len(sessions), 'session')} "
            f"({counts}); surest: {surest.learning.statement.strip()}"
        )[:1000],
        type=SUMMARY,
        provenance="inferred",
        extra={"scope": "agent"},
    )
    source = "agent:" + "\0".join((agent, *sorted(one.id for one in kept)))
    return replace(
        drafted(saying, replace(hand, agent=agent), state), id=derived_id(source), origin=f"agent:{agent}"
    )


def consolidate_task(log: Log, task: str, hand: Author) -> ConsolidateResult:
    """Lift what is durable of a task's learnings: to task scope, and once verified to the project's."""
    with log.locked():
        contents = log.read()
        state = contents.state()
        mine = [
            one
            for one in state.standings.values()
            if task in (one.learning.task, one.learning.bead) and one.status != SUPERSEDED
        ]
        stamps = EventFactory(hand, after=contents.last_event, by="consolidate")
        events, dropped = [], Counter[str]()
        for one in mine:
            to = "project" if one.verdict == "verified" else "task"
            if one.verdict == "invalidated":
                dropped["it was invalidated"] += 1
            elif not is_durable(one):
                dropped["it isn't durable"] += 1
            elif one.scope in ("project", to):
                dropped["it is there already"] += 1
            else:
                events.append(stamps.event("raised", one.id, task=task, **{"from": one.scope, "to": to}))
        log.append(events=events)
    return ConsolidateResult(
        stage="task", name=task, processed=len(mine), raised=len(events), dropped=dict(dropped)
    )
