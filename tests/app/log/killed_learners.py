"""Processes that learn in the worktrees of a repository and are killed at random; what was acknowledged is counted.

python -m tests.app.log.killed_learners [--trees 10] [--each 100] [--seed 18]
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import World
from tests.conftest import make_world

#: Learns until it is killed, and says what was acknowledged.
_LEARNER = """
import sys
from roamkb import KnowledgeBase
log = KnowledgeBase.open().log
for number in range(int(sys.argv[3]), int(sys.argv[4])):
    log.learn(f"{sys.argv[2]} is told number {number} of the {sys.argv[2]} series", type="fact")
    print(number, flush=True)
"""


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def make_repository(world: World) -> None:
    """Make the personal project a repository with a log and a commit."""
    git(world.personal, "init", "-q", "-b", "main")
    assert world.run("init").status == 0
    git(world.personal, "add", "-A")
    git(world.personal, "commit", "-q", "-m", "first")


def add_worktrees(world: World, count: int) -> list[Path]:
    """Return new worktrees of the personal project."""
    trees = [world.personal.parent / f"tree-{number}" for number in range(count)]
    for tree in trees:
        git(world.personal, "worktree", "add", "-q", "-b", tree.name, str(tree))
    return trees


def learn_while_killed(world: World, trees: Sequence[Path], *, each: int, seed: int = 18) -> int:
    """Have `each` learnings acknowledged in every tree by killed processes; return how many are in the one log."""
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    at = dict.fromkeys(trees, 0)
    while any(count < each for count in at.values()):
        running = [(tree, _start_learner(world, tree, at[tree], each)) for tree, count in at.items() if count < each]
        for tree, process in running:
            assert process.stdout is not None
            for _ in range(chance.randint(1, min(each, 40))):
                if line := process.stdout.readline():
                    acknowledged.add(f"{tree.name} is told number {int(line)} of the {tree.name} series")
                    at[tree] = int(line) + 1
                else:
                    assert at[tree] == each, f"a learner in {tree.name} ended by itself"
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
    assert len(acknowledged) == each * len(trees)
    log = world.log()
    lines = [line for path in (log.knowledge, log.archive) if path.exists() for line in path.read_text().splitlines()]
    return len(acknowledged & {json.loads(line)["content"] for line in lines if line.endswith("}")})


def _start_learner(world: World, tree: Path, first: int, end: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _LEARNER, str(tree), tree.name, str(first), str(end)],
        cwd=tree,
        env={**world.environment(), "PWD": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> int:
    """Print how many acknowledged learnings are there; return 1 where one is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trees", type=int, default=10)
    options.add_argument("--each", type=int, default=100)
    options.add_argument("--seed", type=int, default=18)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as top:
        world = make_world(Path(top).resolve() / "home")
        make_repository(world)
        there = learn_while_killed(world, add_worktrees(world, given.trees), each=given.each, seed=given.seed)
    wanted = given.trees * given.each
    print(f"{there:,} of {wanted:,} acknowledged learnings in the one log of {given.trees} worktrees")
    return 0 if there == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
