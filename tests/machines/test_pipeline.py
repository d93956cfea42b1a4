"""The whole life of learnings, by two machines, one of which is killed at any moment."""

import shutil
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import invariant
from hypothesis.stateful import rule

from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.fs.append import append_lines
from roamkb.fs.user_dirs import create_machine_key
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.log.store import file_contents as log_module
from roamkb.log.store.observations import read_observations
from roamkb.log.store.observations import record_observation
from roamkb.log.store.project_log import Log
from roamkb.pipeline.consolidate import consolidate_agent
from roamkb.pipeline.consolidate import consolidate_session
from roamkb.pipeline.consolidate import consolidate_task
from roamkb.pipeline.extract.attention import Observation
from roamkb.pipeline.gate.judges import evidence_judge
from roamkb.pipeline.gate.transcript_evidence import recorded_attestation
from roamkb.pipeline.verify import Gate
from roamkb.pipeline.verify import JudgeContext
from roamkb.pipeline.verify import needs_judging
from roamkb.pipeline.verify import verify
from tests.examples import examples

SAYINGS = (
    ("insight", "The webhook handler must check the signature against the raw body"),
    ("insight", "The webhook handler has to verify the signature against the raw body"),
    ("insight", "The payment gateway timeout is 30 seconds, and slower calls fail"),
    ("insight", "The payment gateway timeout is 300 seconds, and slower calls fail"),
    ("decision", "Use Postgres instead of RabbitMQ for the job queue"),
    ("discovery", "Redis evicts sessions because of its memory policy in production"),
    ("pattern", "Never store naive datetimes in the database"),
    ("pattern", "Store naive datetimes in the database"),
    ("tool_use", "Bash make check"),
)
SESSIONS = st.sampled_from(["s1", "s2", "s3"])
AGENTS = st.sampled_from(["claude", "codex"])
TASKS = st.sampled_from(["t1", "t2"])
START = datetime(2026, 6, 10, 12, tzinfo=UTC)


class Killed(BaseException):
    """The machine went dark."""


@contextmanager
def killed_at(nth: int) -> Iterator[None]:
    """Kill whoever is about to add lines to a file of the log for the `nth` time."""
    count = 0

    def dark(path: Path, lines: list[bytes], **more: Any) -> None:
        nonlocal count
        if count == nth:
            raise Killed
        count += 1
        append_lines(path, lines, **more)

    with mock.patch.object(log_module, "append_lines", dark):
        yield


def told(state: LogState) -> dict[str, tuple[object, ...]]:
    """Return all that a state says of its learnings."""
    return {
        id: (
            one.learning.content,
            one.confidence,
            one.occurrences,
            one.status,
            one.verdict,
            one.scope,
            one.is_pinned,
            dict(one.flags),
            one.superseded_by,
        )
        for id, one in state.standings.items()
    }


class Machine:
    """One machine's log."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        state = folder / "state"
        create_machine_key(state)
        self.log = Log(folder, state)
        self.log.ignored.mkdir(parents=True)
        self.log.record_adoption()
        self.now = START

    def hand(self) -> Author:
        self.now += timedelta(seconds=1)
        now = self.now
        return Author(
            agent="roamkb",
            session="",
            machine=self.name,
            kind=ProjectKind.PERSONAL,
            now=now,
            new_id=lambda: new_id(now),
        )

    def state(self) -> LogState:
        return self.log.read_contents().replay_state()

    def session(self, name: str) -> None:
        said = read_observations(self.log.ignored, name)
        consolidate_session(self.log, name, said, self.hand(), shown_learnings=())

    def verify(self) -> None:
        state = self.state()
        bench = JudgeContext(
            name="evidence",
            judge=evidence_judge(recorded_attestation),
            missing_anchors=lambda _: (),
            boot_lines={},
            shown_by_session={},
        )
        wanted = [one for one in state.standings.values() if needs_judging(one)]
        list(verify(self.log, Gate(state, bench), wanted, self.hand()))

    def curate(self, place: int, name: str) -> None:
        """Add what a review would."""
        fields: dict[str, dict[str, Any]] = {
            "curated": {"status": "active", "review_reason": "both are right"},
            "flagged": {"reason": "may_contradict", "cleared": True},
            "pinned": {"value": True},
            "superseded": {"reason": "out of date"},
        }
        with self.log.append_lock():
            contents = self.log.read_contents()
            ids = sorted(contents.replay_state().standings)
            if ids:
                stamps = EventFactory(self.hand(), after=contents.last_event, command="curate")
                self.log.append_entries(events=[stamps.new_event(name, ids[place % len(ids)], **fields[name])])


class Pipeline(RuleBasedStateMachine):
    """One machine is killed now and then and tries again, its twin never; a third works on its own."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.killed, self.twin, self.other = (Machine(self.top / name, name) for name in ("killed", "twin", "other"))
        self.count = 0

    def teardown(self) -> None:
        shutil.rmtree(self.top)

    def both(self, step: Callable[[Machine], object], crash: int | None) -> None:
        """Take a step on the twin, and on the machine that is killed meanwhile and takes it again."""
        step(self.twin)
        if crash is not None:
            try:
                with killed_at(crash):
                    step(self.killed)
            except Killed:
                pass
            self.killed.now = self.twin.now - timedelta(seconds=1)
        step(self.killed)

    @rule(pick=st.integers(0, len(SAYINGS) - 1), session=SESSIONS, agent=AGENTS, task=TASKS, apart=st.booleans())
    def observe(self, pick: int, session: str, agent: str, task: str, apart: bool) -> None:
        self.count += 1
        type, text = SAYINGS[pick]
        said = Observation(
            id=str(self.count),
            ts=START.timestamp() + self.count,
            type=type,
            text=text,
            session=session,
            agent=agent,
            task=task,
        )
        for machine in (self.other,) if apart else (self.killed, self.twin):
            record_observation(machine.log.ignored, said)

    @rule(session=SESSIONS, crash=st.none() | st.integers(0, 2))
    def consolidate_session(self, session: str, crash: int | None) -> None:
        self.both(lambda machine: machine.session(session), crash)
        self.other.session(session)

    @rule(agent=AGENTS, crash=st.none() | st.integers(0, 2))
    def consolidate_agent(self, agent: str, crash: int | None) -> None:
        self.both(lambda machine: consolidate_agent(machine.log, agent, machine.hand()), crash)

    @rule(task=TASKS, crash=st.none() | st.integers(0, 1))
    def consolidate_task(self, task: str, crash: int | None) -> None:
        self.both(lambda machine: consolidate_task(machine.log, task, machine.hand()), crash)

    @rule(crash=st.none() | st.integers(0, 1))
    def verify(self, crash: int | None) -> None:
        self.both(Machine.verify, crash)

    @rule(place=st.integers(0, 30), name=st.sampled_from(["curated", "flagged", "pinned", "superseded"]))
    def curate(self, place: int, name: str) -> None:
        self.both(lambda machine: machine.curate(place, name), None)

    @rule(session=SESSIONS, agent=AGENTS, task=TASKS)
    def once_more_changes_nothing(self, session: str, agent: str, task: str) -> None:
        for again in (
            lambda: self.killed.session(session),
            lambda: consolidate_agent(self.killed.log, agent, self.killed.hand()),
            lambda: consolidate_task(self.killed.log, task, self.killed.hand()),
            self.killed.verify,
        ):
            again()
            before = self.killed.log.files_stamp()
            again()
            assert self.killed.log.files_stamp() == before
        self.twin.session(session)
        consolidate_agent(self.twin.log, agent, self.twin.hand())
        consolidate_task(self.twin.log, task, self.twin.hand())
        self.twin.verify()

    @invariant()
    def a_machine_that_was_killed_knows_what_its_twin_knows(self) -> None:
        assert told(self.killed.state()) == told(self.twin.state())

    @invariant()
    def a_union_of_lines_is_one_state(self) -> None:
        mine, theirs = self.killed.log.read_contents(), self.other.log.read_contents()
        one = replay((*mine.learnings, *theirs.learnings), (*mine.events, *theirs.events))
        other = replay(
            (*reversed(theirs.learnings), *mine.learnings, *mine.learnings),
            (*theirs.events, *reversed(mine.events), *theirs.events),
        )
        assert told(one) == told(other)
        assert set(one.standings) >= {*mine.replay_state().standings, *theirs.replay_state().standings}


TestPipeline = pytest.mark.filterwarnings("error")(Pipeline.TestCase)
TestPipeline.settings = settings(
    max_examples=examples(30), stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
