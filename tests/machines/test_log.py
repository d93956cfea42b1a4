"""A project's log in many hands: two clones that diverge and merge, other tools, torn and mangled files."""

import random
import shutil
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import initialize
from hypothesis.stateful import invariant
from hypothesis.stateful import precondition
from hypothesis.stateful import rule

from roamkb.core.ids import new_id
from roamkb.core.ids import next_id
from roamkb.log.init import init
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.log.store.project_log import Log
from tests.examples import examples

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
NAMES = st.sampled_from(["repeated", "reused", "pinned", "superseded", "validated", "raised", "preferred"])
PICK = st.integers(0, 50)
#: Of the two branches.
WHERE = st.sampled_from(["main", "other"])


class TwoClones(RuleBasedStateMachine):
    """Whatever happens to the files but deletion, every line that was said is there, and its meaning with it."""

    @initialize()
    def begin(self) -> None:
        """Make a project with a log, and a clone of it."""
        self.top = Path(tempfile.mkdtemp())
        self.state = self.top / "state"
        self.roots = {name: self.top / name for name in ("main", "other")}
        main = self.roots["main"]
        main.mkdir()
        self.git("main", "init", "-q", "-b", "main")
        init(Log(main, self.state), home=self.top / "home", kbs=())
        self.commit("main")
        self.git("main", "clone", "-q", str(main), str(self.roots["other"]))
        init(Log(self.roots["other"], self.state), home=self.top / "home", kbs=())
        #: The model: what was said in each branch, and which events happened there.
        self.said: dict[str, dict[str, str]] = {"main": {}, "other": {}}
        self.events: dict[str, dict[str, LedgerEvent]] = {"main": {}, "other": {}}
        self.count = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "top"):
            shutil.rmtree(self.top)

    def git(self, where: str, *words: str) -> None:
        """Run git in one of the branches."""
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.autocrlf=false", "-c", "gc.auto=0"]
        done = subprocess.run(["git", *who, *words], cwd=self.roots[where], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout

    def commit(self, where: str) -> None:
        """Commit all that is there."""
        self.git(where, "add", "-A")
        self.git(where, "commit", "-q", "--allow-empty", "-m", "x")

    def log(self, where: str) -> Log:
        """Return a branch's log."""
        return Log(self.roots[where], self.state).require_adopted()

    def add(self, where: str, learning: Learning | None = None, event: LedgerEvent | None = None) -> None:
        """Append as the product does."""
        log = self.log(where)
        with log.append_lock():
            log.append_entries([learning] if learning else [], [event] if event else [])

    @rule(where=WHERE, text=TEXT, has_id=st.booleans())
    def say(self, where: str, text: str, has_id: bool) -> None:
        """Somebody learns something, here or with another tool."""
        self.count += 1
        content = f"{text} {self.count}"
        learning = Learning(id=f"L{self.count}", key="k", type="fact", content=content, ts=self.count)
        self.said[where][learning.id] = content
        self.add(where, learning)
        if not has_id:
            # a foreign line that says the same counts once beside ours: it has an id of its own
            line = b'{"content": "foreign %d", "mood": "good"}\r\n' % self.count
            self.append_bytes(where, "knowledge.jsonl", line)
            self.said[where][f"foreign {self.count}"] = f"foreign {self.count}"

    def has_said(self) -> bool:
        """Say whether there is anything that could happen to something."""
        return any(self.said.values())

    @precondition(has_said)
    @rule(
        where=WHERE,
        name=NAMES,
        pick=PICK,
        year=st.sampled_from([2020, 2026, 2030]),
        agent=st.sampled_from(["", "build", "qa"]),
        preference=st.sampled_from(["prefers", "none"]),
    )
    def happen(self, where: str, name: str, pick: int, year: int, agent: str, preference: str) -> None:
        """Something happens to a learning, on a machine whose clock may be wrong."""
        known = sorted(self.said[where])
        if known:
            self.happened(where, name, known[pick % len(known)], year, agent=agent, preference=preference)

    def happened(self, where: str, name: str, of: str, year: int, *, agent: str = "", preference: str = "") -> None:
        now = datetime(year, 6, 10)
        id = next_id(self.log(where).read_contents().last_event, lambda: new_id(now))
        fields = {"outcome": "success", "to": "task", "preference": preference}
        event = LedgerEvent(id=id, ts=1.0, event=name, of=of, agent=agent, fields=fields)
        assert all(id > other for other in self.events[where])
        self.events[where][id] = event
        self.add(where, event=event)

    @precondition(has_said)
    @rule(where=WHERE, pick=PICK)
    def undo(self, where: str, pick: int) -> None:
        """An event is taken back, maybe one that took back another."""
        known = sorted(self.events[where])
        if known:
            self.happened(where, "undone", known[pick % len(known)], 2026)

    def append_bytes(self, where: str, name: str, data: bytes) -> None:
        with (self.roots[where] / ".roamkb" / name).open("ab") as file:
            file.write(data)

    @rule(
        where=WHERE,
        name=st.sampled_from(["knowledge.jsonl", "ledger.jsonl"]),
        debris=st.sampled_from(
            [b'{"id":"x","cont', b"<<<<<<< HEAD\n", b"=======\r\n", b"\xff\xfe\n", b"\n\n", b"{}\n", b"[1]\n"]
        ),
    )
    def mangle(self, where: str, name: str, debris: bytes) -> None:
        """Something leaves its traces at the end of a file."""
        self.append_bytes(where, name, debris)

    @rule(where=WHERE, name=st.sampled_from(["knowledge.jsonl", "ledger.jsonl"]), seed=PICK, crlf=st.booleans())
    def rewrite(self, where: str, name: str, seed: int, crlf: bool) -> None:
        """An editor saves the file with other ends of lines, sorted differently, some lines twice."""
        path = self.roots[where] / ".roamkb" / name
        lines = [line for line in path.read_bytes().splitlines() if line]
        lines += lines[: seed % 4]
        random.Random(seed).shuffle(lines)
        path.write_bytes(b"".join(line + (b"\r\n" if crlf else b"\n") for line in lines))

    @rule(where=WHERE)
    def merge(self, where: str) -> None:
        """Git merges the other clone's branch into this one, both files by union."""
        other = "other" if where == "main" else "main"
        self.commit("main")
        self.commit("other")
        self.git(where, "pull", "-q", "--no-rebase", "--no-edit", str(self.roots[other]), "main")
        self.said[where] |= self.said[other]
        self.events[where] |= self.events[other]

    @invariant()
    def nothing_is_lost_and_the_meaning_is_that_of_the_model(self) -> None:
        """By contents, and by what the events give in their order."""
        for where in ("main", "other"):
            contents = self.log(where).read_contents()
            assert set(self.said[where].values()) == {one.content for one in contents.learnings}
            assert set(self.events[where]) == {event.id for event in contents.events}
            known = {one.id: one for one in contents.learnings}
            model = replay(known.values(), self.events[where].values())
            assert model == contents.replay_state()
            shuffled = [*contents.events, *contents.events[:3]]
            random.Random(len(shuffled)).shuffle(shuffled)
            assert model == replay(reversed(contents.learnings), shuffled)
            # what is read can be written, and means the same
            for one in known.values():
                assert b"\n" not in learning_line(one)
            for event in contents.events:
                assert b"\n" not in event_line(event)


TestTwoClones = TwoClones.TestCase
TestTwoClones.settings = settings(
    max_examples=examples(20), stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
