"""Two clones and three worktrees of a project, in which agents learn while git adds, removes, clones and merges."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import initialize
from hypothesis.stateful import invariant
from hypothesis.stateful import precondition
from hypothesis.stateful import rule

from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.log.learning import Learning
from roamkb.log.new_learning import Author
from roamkb.log.recall import RecallResult
from roamkb.log.state.replay import replay
from roamkb.log.store.project_log import ROTATE_AT
from roamkb.log.store.project_log import Log
from roamkb.sharing.forget import forget
from tests.conftest import NOON
from tests.conftest import make_world
from tests.examples import examples

#: The two clones; each worktree is one of the first.
SIDES = ("main", "other")
TREES = ("tree-0", "tree-1", "tree-2")
PLACES = st.sampled_from((*SIDES, *TREES))
SIDE = st.sampled_from(SIDES)
PICK = st.integers(0, 50)


class Yes:
    """A human who says yes."""

    def confirm(self, question: str, word: str) -> bool:
        """Say so."""
        return bool(question and word)

    def edit(self, path: Path, editor: object) -> bool:
        """Open nothing."""
        raise AssertionError(path, editor)


class Worktrees(RuleBasedStateMachine):
    """What was acknowledged anywhere is in its clone's one log until it is forgotten, and a merge brings it over."""

    @initialize()
    def begin(self) -> None:
        """Make a project with a log, and a clone of it, each with its own."""
        self.top = Path(tempfile.mkdtemp()).resolve()
        self.world = make_world(self.top / "home")
        self.place = {"main": self.world.personal}
        self.place |= {name: self.world.personal.parent / name for name in ("other", *TREES)}
        self.git("main", "init", "-q", "-b", "main")
        self.world.open().log.init()
        self.commit("main")
        self.git("main", "clone", "-q", str(self.place["main"]), str(self.place["other"]))
        self.world.open(self.place["other"]).log.init()
        #: The model, by clone: what was learned and what of that forgotten; the uses, and those taken back.
        self.said: dict[str, set[str]] = {side: set() for side in SIDES}
        self.forgotten: dict[str, set[str]] = {side: set() for side in SIDES}
        self.uses: dict[str, dict[str, str]] = {side: {} for side in SIDES}
        self.undone: dict[str, set[str]] = {side: set() for side in SIDES}
        self.count = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "top"):
            shutil.rmtree(self.top)

    def git(self, where: str, *words: str) -> str:
        """Run git in a checkout."""
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0"]
        done = subprocess.run(["git", *who, *words], cwd=self.place[where], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def commit(self, side: str) -> None:
        """Commit all that is there."""
        self.git(side, "add", "-A")
        self.git(side, "commit", "-q", "--allow-empty", "-m", "x")

    def side_of(self, place: str) -> str:
        """Return the clone whose log is shared there."""
        return "main" if place in TREES else place

    def log(self, side: str) -> Log:
        """Return a clone's log."""
        return self.world.log(self.place[side]).require_adopted()

    def chosen(self, side: str, pick: int) -> str:
        """Return something that was learned there and is known still; empty where there is nothing."""
        known = sorted(self.said[side] - self.forgotten[side])
        return known[pick % len(known)] if known else ""

    def is_there(self, place: str) -> bool:
        """Say whether a checkout is there."""
        return self.place[place].is_dir()

    @rule(place=PLACES)
    def learn(self, place: str) -> None:
        """An agent learns something, in a clone or a worktree."""
        if self.is_there(place):
            self.count += 1
            content = f"the lamp of series n{self.count}x burns in hall v{self.count}y"
            self.world.open(self.place[place]).log.learn(content, type="fact")
            self.said[self.side_of(place)].add(content)

    @rule(place=PLACES, pick=PICK)
    def use(self, place: str, pick: int) -> None:
        """An agent is shown what was learned, wherever that was, and it helps."""
        side = self.side_of(place)
        content = self.chosen(side, pick) if self.is_there(place) else ""
        if content:
            log = self.world.open(self.place[place]).log
            (id,) = {one.id for one in self.log(side).read_contents().each_learning() if one.content == content}
            name = next(word for word in content.split() if not word.isalpha())
            shown = log.recall(name)
            assert isinstance(shown, RecallResult)
            assert id in {one.standing.id for one in shown.learnings}
            before = self.event_ids(side)
            log.used(id, outcome="success")
            (event_id,) = self.event_ids(side) - before
            self.uses[side][event_id] = content

    def event_ids(self, side: str) -> set[str]:
        """Return the ids of the uses that were said and not taken back."""
        return {event.id for event in self.log(side).read_contents().replay_state().events if event.event == "reused"}

    @rule(place=PLACES, pick=PICK)
    def undo(self, place: str, pick: int) -> None:
        """A use is taken back, from any checkout."""
        side = self.side_of(place)
        known = sorted(self.event_ids(side))
        if known and self.is_there(place):
            id = known[pick % len(known)]
            self.world.open(self.place[place]).log.undo(id)
            self.undone[side].add(id)

    @rule(side=SIDE, pick=PICK)
    def forget_one(self, side: str, pick: int) -> None:
        """A human takes a learning out for good."""
        if content := self.chosen(side, pick):
            (id,) = {one.id for one in self.log(side).read_contents().each_learning() if one.content == content}
            author = Author(
                agent="",
                session="",
                machine="m",
                kind=ProjectKind.PERSONAL,
                now=NOON,
                new_id=lambda: new_id(NOON),
                is_human=True,
            )
            assert forget(self.log(side), id, author, operator="me", human=Yes()).done
            self.forgotten[side].add(content)

    @precondition(lambda self: not self.log("main").archive.exists())
    @rule()
    def grow(self) -> None:
        """So much is learned that the oldest lines move to the archive."""
        log = self.log("main")
        said = [
            Learning(id=new_id(NOON), key=f"k{n}", type="fact", content=f"bulk b{n}z of the store", ts=NOON.timestamp())
            for n in range(ROTATE_AT + 1)
        ]
        with log.append_lock():
            log.append_entries(said)
        assert log.archive.exists()
        self.said["main"] |= {one.content for one in said}

    @rule(tree=st.sampled_from(TREES))
    def add_tree(self, tree: str) -> None:
        """Somebody wants a worktree."""
        if not self.is_there(tree):
            self.git("main", "worktree", "prune")
            self.git("main", "worktree", "add", "-q", "-B", tree, str(self.place[tree]))

    @rule(tree=st.sampled_from(TREES), by_hand=st.booleans())
    def remove_tree(self, tree: str, by_hand: bool) -> None:
        """A worktree goes with all that lies in it."""
        if self.is_there(tree) and by_hand:
            shutil.rmtree(self.place[tree])
        elif self.is_there(tree):
            self.git("main", "worktree", "remove", "--force", str(self.place[tree]))

    @rule(side=SIDE, way=st.sampled_from(("--depth=1", "--shared")))
    def clone(self, side: str, way: str) -> None:
        """A fresh clone has every line, and shows none of them until a human or a digest says so."""
        self.commit(side)
        self.place["fresh"] = self.world.personal.parent / "fresh"
        self.git(side, "clone", "-q", way, f"file://{self.place[side]}", str(self.place["fresh"]))
        try:
            copied, theirs = (self.world.log(self.place[name]) for name in ("fresh", side))
            for name in ("knowledge", "archive", "ledger"):
                ours, known = getattr(copied, name), getattr(theirs, name)
                assert ours.exists() == known.exists()
                assert not known.exists() or ours.read_bytes() == known.read_bytes()
            assert self.world.run("recall", "lamp", cwd=self.place["fresh"]).out == ""
        finally:
            shutil.rmtree(self.place["fresh"])

    @rule(side=SIDE)
    def merge(self, side: str) -> None:
        """Git merges the other clone's branch into this one, each file by union."""
        other = next(name for name in SIDES if name != side)
        for name in SIDES:
            self.commit(name)
        self.git(side, "pull", "-q", "--no-rebase", "--no-edit", str(self.place[other]), "main")
        self.said[side] |= self.said[other]
        self.forgotten[side] |= self.forgotten[other]
        self.uses[side] |= self.uses[other]
        self.undone[side] |= self.undone[other]

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        """Each clone has what was said in it, and what has met has the same meaning."""
        for side in SIDES:
            contents = self.log(side).read_contents()
            assert self.said[side] - self.forgotten[side] == {one.content for one in contents.each_learning()}
            found = contents.replay_state().standings.values()
            assert self.said[side] - self.forgotten[side] == {standing.learning.content for standing in found}
            of_known = {id for id, content in self.uses[side].items() if content not in self.forgotten[side]}
            assert of_known - self.undone[side] == self.event_ids(side)
        if all(getattr(self, name)["main"] == getattr(self, name)["other"] for name in ("said", "uses", "undone")):
            states = [
                replay(contents.each_learning(), contents.events)
                for contents in (self.log(side).read_contents() for side in SIDES)
            ]
            assert self.forgotten["main"] != self.forgotten["other"] or states[0] == states[1]


TestWorktrees = Worktrees.TestCase
TestWorktrees.settings = settings(
    max_examples=examples(5),
    stateful_step_count=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
