"""Each line of a log is replayed or named as unreadable, with its place, whatever merged it."""

import json
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from tests.conftest import World

#: What editors, other systems and merges leave in a log that a human mends.
_SPOILT = (
    b"<<<<<<< HEAD",
    b"=======",
    b">>>>>>> branch",
    b'{"id":"L1","content":"half a li',
    b'half a line"}',
    b"[1]",
    b"\xff\xfe",
    b'{"content":" "}',
)


def git(project: Path, *words: str) -> None:
    """Run git in the project."""
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=project, check=True, capture_output=True)


def say(log: Log, branch: str, rng: random.Random) -> None:
    """Add to both files as a branch's sessions do; some lines end as on another system, some are spoilt."""
    for path, is_ledger in ((log.knowledge, False), (log.ledger, True)):
        lines = []
        for n in range(40):
            id = f"{branch}-{n:03}"
            event = LedgerEvent(id=id, ts=n, event="repeated", of=f"main-{n:03}", session=branch)
            learning = Learning(id=id, key=id, type="fact", content=f"{branch} says {n}", ts=n)
            lines.append(event_line(event) if is_ledger else learning_line(learning))
            if rng.random() < 0.2:
                lines[-1] += b"\r"
            if rng.random() < 0.2:
                lines.append(rng.choice(_SPOILT))
        with path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))
    if branch != "main":
        # cut off while it was written: what a union puts behind it is glued to it
        with log.knowledge.open("ab") as file:
            file.write(b'{"id":"torn-' + branch.encode())


@pytest.mark.parametrize("seed", range(3))
def test_each_line_of_two_merged_branches_is_read_or_named(world: World, seed: int) -> None:
    """By git's own union, of two long branches with ends of another system, half lines and conflict markers."""
    rng = random.Random(seed)
    world.run("init")
    git(world.personal, "init", "--initial-branch=main")
    log = world.log()
    for branch in ("main", "one", "two"):
        if branch != "main":
            git(world.personal, "checkout", "-q", "-b", branch, "main")
        say(log, branch, rng)
        git(
            world.personal,
            "add",
            "-A",
            "-f",
            ".roamkb/knowledge.jsonl",
            ".roamkb/ledger.jsonl",
            ".roamkb/.gitattributes",
        )
        git(world.personal, "commit", "-q", "-m", branch)
    git(world.personal, "merge", "-q", "-m", "both", "one")
    contents = log.read_contents()
    named = {(fault.path, fault.line) for fault in contents.line_faults}
    read = Counter({log.knowledge: len(contents.learnings), log.ledger: len(contents.events)})
    for path in (log.knowledge, log.ledger):
        lines = path.read_bytes().split(b"\n")
        whole = [n for n, line in enumerate(lines, start=1) if line.strip() and (path, n) not in named]
        # what isn't named is one object, which was read; of what is named some is read as well
        assert all(isinstance(json.loads(lines[n - 1]), dict) for n in whole)
        assert read[path] >= len(whole)
        assert {n for at, n in named if at == path} >= {n for n, line in enumerate(lines, 1) if line in _SPOILT}
    said = {f"{branch}-{n:03}" for branch in ("main", "one", "two") for n in range(40)}
    assert said <= {learning.id for learning in contents.learnings}
    assert said == {event.id for event in contents.events}
    state = contents.replay_state()
    assert said <= state.standings.keys()
    audited = [json.loads(line) for line in world.run("audit").out.splitlines()]
    assert len(named) == sum("line" in row for row in audited)
    doctor = next(check for check in world.run("doctor", "--json").json["checks"] if check["name"] == "log's lines")
    assert all(f"{path.name}:{line}" in doctor["detail"] for path, line in sorted(named)[:3])
