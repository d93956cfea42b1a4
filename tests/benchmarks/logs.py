"""Logs of made-up learnings in several sizes, each measured in a process and with a peak of memory of its own."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from roamkb.core.ids import new_id
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import ROTATE_AT
from roamkb.log.store.project_log import Log
from tests.conftest import World

_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru".split()
_TYPES = "learned decision fact pattern gotcha".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A log of made-up learnings, and what was said in it."""

    world: World
    log: Log
    said: list[str]
    rng: random.Random


def text(rng: random.Random) -> str:
    """Return a sentence of made-up words, common ones often and rare ones seldom, as in any language."""
    return " ".join(word(int(rng.paretovariate(0.6)) % 20_000) for _ in range(rng.randint(8, 30)))


def word(n: int) -> str:
    """Return the `n`th word."""
    base = len(_SYLLABLES)
    return (
        _SYLLABLES[n % base] + _SYLLABLES[n // base % base] + (_SYLLABLES[n // base**2 % base] if n > base**2 else "")
    )


def fill(log: Log, size: int, rng: random.Random) -> list[str]:
    """Put so many learnings, and half as many events, into a log; return what was said."""
    said = [text(rng) for _ in range(size)]
    lines = [
        learning_line(
            Learning(
                id=f"L{n}",
                key=f"k{n}",
                type=_TYPES[n % 5],
                content=one,
                ts=n,
                agent="a",
                session=f"s{n % 99}",
            )
        )
        for n, one in enumerate(said)
    ]
    cut = max(size - ROTATE_AT // 2, 0)
    log.archive.write_bytes(b"".join(line + b"\n" for line in lines[:cut]))
    log.knowledge.write_bytes(b"".join(line + b"\n" for line in lines[cut:]))
    now = datetime(2026, 1, 1)
    ids = sorted(new_id(now) for _ in range(size // 2))
    events = (
        LedgerEvent(id=id, ts=n, event="repeated", of=f"L{rng.randrange(size)}", agent="b", session=f"s{n}")
        for n, id in enumerate(ids)
    )
    log.ledger.write_bytes(b"".join(event_line(event) + b"\n" for event in events))
    return said


@contextmanager
def ground(size: int) -> Iterator[Ground]:
    """Make a project whose log has `size` learnings, the same ones each time."""
    rng = random.Random(size)
    with tempfile.TemporaryDirectory() as top:
        home = Path(top)
        world = World(home=home, kb=home / "roam", personal=home / "site", work=home / "work", unknown=home / "else")
        world.personal.mkdir()
        world.open().log.init()
        log = world.log()
        yield Ground(world=world, log=log, said=fill(log, size, rng), rng=rng)


def sizes(
    script: str, doc: str | None, default: str, measure: Callable[[int, int], object], *, asked: int = 0
) -> Iterator[tuple[int, Any]]:
    """Yield each size that the command line names, and what `measure` finds for it.

    `measure` takes the size and how often to ask; it runs in another process and returns what JSON can hold.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--sizes", default=default)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--asked", type=int, default=asked, help="times that each question is asked")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.asked)))
        return
    for size in map(int, given.sizes.split(",")):
        command = [sys.executable, script, "--one", str(size), "--asked", str(given.asked)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
        yield size, json.loads(done.stdout)
