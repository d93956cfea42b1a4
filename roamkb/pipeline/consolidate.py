"""`consolidate`: stages that turn observations into learnings and merge or lift the learnings.

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
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.log.learning import SUMMARY
from roamkb.log.learning import SUMMARY_ORIGIN
from roamkb.log.learning import Learning
from roamkb.log.new_learning import THIN_FLAG
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import draft_learning
from roamkb.log.new_learning import word_difference
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
from roamkb.pipeline.consolidation_plan import cluster_duplicates
from roamkb.pipeline.consolidation_plan import is_durable
from roamkb.pipeline.consolidation_plan import learning_category
from roamkb.pipeline.consolidation_plan import plan_session
from roamkb.pipeline.extract.attention import Observation

STAGES: Final = ("session", "agent", "task")


@dataclass(frozen=True, slots=True)
class ConsolidateRequest:
    """Parameters of `consolidate`."""

    stage: Annotated[str, Argument("session, agent or task.", metavar="session|agent|task", values=STAGES)]
    name: str | None = optional_argument("Its id; without one all open sessions.", metavar="ID")
    _: KW_ONLY
    agent: AgentOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateResult:
    """Counts of what one stage did; they add up."""

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
    """Log state kept between the sessions of one call, so that not each of them replays the log."""

    def __init__(self, boot: Iterable[str] = ()) -> None:
        self.known = KnownLearnings(boot)
        #: Ids and keys of learnings.
        self.taken: set[str] = set()
        self._standings: dict[str, LearningState] = {}
        self._events: list[LedgerEvent] = []
        self._last = ""
        self._stamp: tuple[object, ...] | None = None

    def refresh_state(self, log: Log, observations: Sequence[Observation]) -> tuple[LogState, str]:
        """Return the log's state and last event id, read again only where it changed; the lock is held."""
        if self._stamp is None or log.files_stamp() != self._stamp:
            contents = log.read_contents()
            # each learning is looked at several times, and of a long log they lie on the disk
            state = contents.replay_state().load_all()
            self._standings, self._events = dict(state.standings), list(state.events)
            self._last = contents.last_event
            self.known.note_state(state)
            self._take_names(standing.learning for standing in state.standings.values())
        self.known.add_like(self._standings, observations)
        return LogState(standings=self._standings, events=self._events), self._last

    def record_append(self, log: Log, learnings: Sequence[Learning], events: Sequence[LedgerEvent]) -> None:
        """Add the learnings and events that were just appended; the lock is still held."""
        # what the events did to them matters to nobody who looks for what is like another
        self._standings.update(replay(learnings, ()).standings)
        self._take_names(learnings)
        self._events += events
        self._last = max((self._last, *(event.id for event in events)))
        self._stamp = log.files_stamp()

    def _take_names(self, learnings: Iterable[Learning]) -> None:
        for learning in learnings:
            self.taken |= {learning.id, learning.key}


def consolidate_session(
    log: Log,
    session: str,
    observations: Sequence[Observation],
    author: Author,
    *,
    shown_learnings: Iterable[str],
    memory: ConsolidationMemory | None = None,
) -> ConsolidateResult:
    """Turn a session's observations into learnings of session scope, or repetitions of known ones.

    The sessions of one call share a `memory`, which holds the lines of the boot files as well.
    """
    memory = memory or ConsolidationMemory()
    with log.append_lock():
        state, last_event = memory.refresh_state(log, observations)
        plan = plan_session(
            observations, state, shown_learnings=shown_learnings, known_learnings=memory.known, root=str(log.root)
        )
        stamps = EventFactory(author, after=last_event, command="consolidate")
        learnings = [_draft_learning(noticed, author, state, memory.taken) for noticed in plan.created]
        events = _plan_events(plan, state, stamps)
        log.append_entries(learnings, events)
        memory.record_append(log, learnings, events)
    return ConsolidateResult(
        stage="session",
        name=session,
        processed=plan.processed,
        created=len(plan.created),
        repeated=len(plan.repeated),
        dropped=plan.dropped,
    )


def _draft_learning(
    noticed: NoticedObservation, hand: Author, state: LogState, taken_names: Container[str]
) -> Learning:
    observation = noticed.observation
    new_learning = NewLearning(
        content=observation.text,
        type=noticed.type,
        task=observation.task,
        category=noticed.category,
        files=noticed.files,
        provenance=observation.provenance,
        confidence=HUMAN if observation.provenance == "user-stated" else CONSOLIDATED,
        extra={"scope": "session"},
    )
    signed = replace(hand, agent=observation.agent or hand.agent, session=observation.session or hand.session)
    return replace(
        draft_learning(new_learning, signed, state, taken_names=taken_names),
        id=noticed.id,
        origin=noticed.origin_key,
        ts=int(observation.ts) or int(hand.ts),
    )


def _plan_events(plan: SessionPlan, state: LogState, stamps: EventFactory) -> list[LedgerEvent]:
    events = []
    for noticed, id in plan.repeated:
        observation = noticed.observation
        fields = {
            **({"files": list(noticed.files)} if noticed.files else {}),
            **word_difference(state.standings[id].learning, observation.text),
        }
        event = stamps.new_event("repeated", id, task=observation.task, source=noticed.origin_key, **fields)
        events.append(replace(event, agent=observation.agent or event.agent, session=observation.session))
    events += [
        stamps.new_event("flagged", item, reason=MAY_CONTRADICT, evidence=rival_id) for item, rival_id in plan.disputed
    ]
    thin = (noticed for noticed in plan.created if noticed.thin_reason)
    events += (stamps.new_event("flagged", item.id, reason=THIN_FLAG, evidence=item.thin_reason) for item in thin)
    return events


def consolidate_agent(log: Log, agent: str, author: Author) -> ConsolidateResult:
    """Merge an agent's learnings of all its sessions, and lift them from session to agent scope."""
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        agent_standings = [
            standing
            for standing in state.standings.values()
            if standing.learning.agent == agent
            and standing.learning.canonical_type != SUMMARY
            and standing.status != SUPERSEDED
        ]
        stamps = EventFactory(author, after=contents.last_event, command="consolidate")
        events: list[LedgerEvent] = []
        superseded_ids: set[str] = set()
        for cluster in cluster_duplicates(
            standing for standing in agent_standings if standing.scope in ("session", "agent")
        ):
            for duplicate in cluster.others:
                superseded_ids.add(duplicate.id)
                events.append(
                    stamps.new_event("superseded", duplicate.id, by_which=cluster.keeper.id, reason="the same again")
                )
        remaining = [standing for standing in agent_standings if standing.id not in superseded_ids]
        raised = [
            stamps.new_event("raised", standing.id, **{"from": "session", "to": "agent"})
            for standing in remaining
            if standing.scope == "session"
        ]
        summary = _draft_summary(agent, remaining, author, state)
        new_learnings = [summary] if summary and summary.id not in state.standings else []
        # also where the summary is there and whoever wrote it was killed before this
        if summary and (new_learnings or state.standings[summary.id].status != SUPERSEDED):
            events += [
                stamps.new_event("superseded", standing.id, by_which=summary.id, reason="a newer summary")
                for standing in state.standings.values()
                if standing.learning.canonical_type == SUMMARY
                and standing.learning.agent == agent
                and standing.status != SUPERSEDED
                and standing.id != summary.id
            ]
        log.append_entries(new_learnings, [*events, *raised])
    return ConsolidateResult(
        stage="agent",
        name=agent,
        processed=len(agent_standings),
        created=len(new_learnings),
        superseded=len(superseded_ids),
        raised=len(raised),
    )


def _draft_summary(agent: str, standings: Sequence[LearningState], author: Author, state: LogState) -> Learning | None:
    """Return a learning that sums up what the agent learned; None where it has learned nothing."""
    if not standings:
        return None
    categories = Counter(learning_category(standing) for standing in standings)
    sessions = {standing.learning.session for standing in standings if standing.learning.session}
    surest = max(
        standings, key=lambda standing: (standing.confidence, standing.occurrences, standing.learning.ts, standing.id)
    )
    counts = ", ".join(f"{name} {count}" for name, count in categories.most_common())
    new_learning = NewLearning(
        content=(
            f"{agent} learned {count_phrase(len(standings), 'thing')} in {count_phrase(len(sessions), 'session')} "
            f"({counts}); surest: {surest.learning.key}"
        ),
        type=SUMMARY,
        provenance="inferred",
        extra={"scope": "agent"},
    )
    source = "agent:" + "\0".join((agent, *sorted(standing.id for standing in standings)))
    return replace(
        draft_learning(new_learning, replace(author, agent=agent), state),
        id=derived_id(source),
        origin=f"{SUMMARY_ORIGIN}{agent}",
    )


def consolidate_task(log: Log, task: str, author: Author) -> ConsolidateResult:
    """Lift a task's durable learnings to task scope, and verified ones to the project's."""
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        task_standings = [
            standing
            for standing in state.standings.values()
            if task in (standing.learning.task, standing.learning.bead) and standing.status != SUPERSEDED
        ]
        stamps = EventFactory(author, after=contents.last_event, command="consolidate")
        events, dropped = [], Counter[str]()
        for standing in task_standings:
            target_scope = "project" if standing.verdict == "verified" else "task"
            if standing.verdict == "invalidated":
                dropped["it was invalidated"] += 1
            elif not is_durable(standing):
                dropped["it isn't durable"] += 1
            elif standing.scope in ("project", target_scope):
                dropped["it is there already"] += 1
            else:
                events.append(
                    stamps.new_event("raised", standing.id, task=task, **{"from": standing.scope, "to": target_scope})
                )
        log.append_entries(events=events)
    return ConsolidateResult(
        stage="task", name=task, processed=len(task_standings), raised=len(events), dropped=dict(dropped)
    )
