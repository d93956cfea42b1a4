"""What every command that reads the pipeline says of a log as it stood on another day."""

import json
from collections.abc import Callable
from datetime import datetime
from datetime import timedelta
from typing import Any

import pytest

from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from tests.approving_judge import APPROVING
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import learn

#: The log, whose class is made of many.
Log = Any

MONDAY = NOON
TUESDAY = NOON + timedelta(days=1)
SAID = "The webhook handler must check the signature against the raw body of each request"
LATER = "Celery tasks need acks_late, otherwise a killed worker silently loses the job"


def happen(world: World, day: datetime, text: str) -> None:
    """Have something learned, repeated, verified, proposed as a rule and made a template, all on one day."""
    log = world.open(now=day).log
    key = learn(log, text, confidence="0.9", session="s", agent="claude", task="t").learning.key
    for session in ("s2", "s3", "s4"):
        log.learn(text, session=session, agent="claude")
    # said in two lines, as a merge of two branches leaves them
    line = (world.personal / ".roamkb" / "knowledge.jsonl").read_text().splitlines()[-1]
    twin = json.loads(line) | {"id": new_id(day), "key": f"{key}-again", "content": f"{text}."}
    with (world.personal / ".roamkb" / "knowledge.jsonl").open("a") as file:
        file.write(json.dumps(twin) + "\n")
    log.verify(batch=True, judge=APPROVING)
    log.template("create", f"of-{day:%A}", task_types=["work"], learnings=[key])
    log.promote([key], to="CLAUDE.md", section="Rules")


READERS: dict[str, Callable[[Log, str | None], object]] = {
    "audit": lambda log, day: log.audit(as_of=day).summary,
    "curate": lambda log, day: [one.keeper for one in log.curate(as_of=day).clusters],
    "review": lambda log, day: [one.proposal for one in log.review(as_of=day).proposals],
    "template list": lambda log, day: log.template("list", as_of=day),
    "promote": lambda log, day: log.promote(as_of=day).candidates,
    "promote to": lambda log, day: log.promote(to="AGENTS.md", as_of=day).candidates,
    "export": lambda log, day: log.export(as_of=day),
    "stats": lambda log, day: log.stats(as_of=day),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_day_gone_by_reads_as_that_day_did(reader: str, world: World) -> None:
    """What came later isn't there, and nothing is written."""
    read = READERS[reader]
    for name in ("CLAUDE.md", "AGENTS.md"):
        (world.personal / name).write_text("# Notes\n\n## Rules\n")
    world.open(now=MONDAY).log.init()
    happen(world, MONDAY, SAID)
    then = read(world.open(now=MONDAY).log, None)
    happen(world, TUESDAY, LATER)
    log, files = world.open(now=TUESDAY).log, world.files()
    assert then == read(log, f"{MONDAY:%Y-%m-%d}")
    assert files == world.files()
    assert then != read(log, None)
    assert read(log, f"{TUESDAY:%Y-%m-%d}") == read(log, None)


@pytest.mark.parametrize(
    "act",
    [
        lambda log: log.curate(apply="abcdef", reason="r", as_of="2026-01-01"),
        lambda log: log.review(edit=True, as_of="2026-01-01"),
        lambda log: log.review(curate=True, as_of="2026-01-01"),
        lambda log: log.template("use", "t", task="x", as_of="2026-01-01"),
        lambda log: log.promote(all=True, as_of="2026-01-01"),
        lambda log: log.promote(["k"], as_of="2026-01-01"),
        lambda log: log.promote(ask=True, as_of="2026-01-01"),
    ],
)
def test_nothing_is_done_in_the_past(act: Callable[[Log], object], world: World) -> None:
    """Only read."""
    log = world.open().log
    log.init()
    with pytest.raises(UsageError, match="--as-of"):
        act(log)
