"""From observations to learnings, over a real log."""

import json
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.errors import UsageError
from roamkb.fs.append import append_lines
from roamkb.log.recall import RecallResult
from roamkb.log.store import file_contents as log_module
from tests.approving_judge import APPROVING
from tests.conftest import World
from tests.conftest import typed

SAID = "The webhook handler must check the signature against the raw body of each request"


def test_a_session_becomes_learnings_and_another_repeats_them(world: World) -> None:
    """0.70, then 0.80, and never by its own repetition."""
    log = world.open().log
    log.init()
    for session in ("s1", "s2"):
        for text in (SAID, SAID + "."):
            log.observe(text, session=session, agent="claude", task="t")
    one, two = log.consolidate("session")
    assert (one.created, one.repeated, two.created, two.repeated) == (1, 0, 0, 1)
    [learning] = typed(RecallResult, log.recall("webhook")).learnings
    assert (learning.standing.confidence, learning.standing.occurrences) == (80, 2)
    assert () == log.consolidate("session")
    [again] = log.consolidate("session", "s1")
    assert (again.created, again.repeated) == (0, 0)


@pytest.mark.parametrize("crash", ["after the learnings", "before anything"])
def test_a_kill_between_the_two_appends_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, crash: str
) -> None:
    """What follows from a learning is said by the next run."""
    log = world.open().log
    log.init()
    text = "The payment gateway timeout is 30 seconds, and slower calls fail"
    log.observe(text, session="s1", agent="claude")
    log.consolidate("session")
    log.observe(text.replace("30", "300"), session="s2", agent="claude")

    def killed(path: Path, lines: list[bytes], **more: Any) -> None:
        if path.name == "ledger.jsonl" or crash == "before anything":
            raise KeyboardInterrupt
        append_lines(path, lines, **more)

    with monkeypatch.context() as patched:
        patched.setattr(log_module, "append_lines", killed)
        with pytest.raises(KeyboardInterrupt):
            log.consolidate("session")
    log.consolidate("session")
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    events = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert ["flagged", "flagged"] == [event["event"] for event in events]
    log.consolidate("session", "s2")
    assert len(ledger.read_text().splitlines()) == 2


def test_an_agent_and_a_task_lift_what_lasts(world: World) -> None:
    """One scope at a time, with a summary; a second run changes nothing."""
    log = world.open().log
    log.init()
    for session in ("s1", "s2"):
        log.observe(SAID, session=session, agent="claude", task="t")
    log.observe("Say hello to Bob from the shop floor team", session="s1", agent="claude", task="t")
    log.consolidate("session")
    [found] = log.consolidate("agent", "claude")
    assert (found.created, found.raised, found.superseded) == (1, 2, 0)
    [found] = log.consolidate("task", "t")
    assert (found.raised, found.dropped) == (1, {"it isn't durable": 1})
    log.verify(batch=True, judge=APPROVING)
    [found] = log.consolidate("task", "t")
    assert found.raised == 1
    before = (world.personal / ".roamkb" / "ledger.jsonl").read_bytes()
    log.consolidate("agent", "claude")
    log.consolidate("task", "t")
    assert (world.personal / ".roamkb" / "ledger.jsonl").read_bytes() == before


def test_a_summary_counts_and_quotes_nothing(world: World) -> None:
    """It names the surest learning by its key, is told beside none, and is read by its type."""
    world.run("init")
    world.run("learn", SAID, "--type", "gotcha")
    world.run("learn", "The webhook of Bauer is called twice an hour")
    world.run("consolidate", "agent", "agent")
    summary, *_ = [line for line in world.log().knowledge.read_text().splitlines() if '"summary"' in line]
    assert "raw body" not in summary
    assert "twice an hour" not in summary
    assert "; surest: learned-the-webhook-of-bauer" in summary
    for words in (("recall", "webhook"), ("recall", "agent learned things in sessions"), ("recall", "--recent", "9")):
        assert "SUMMARY" not in world.run(*words).out.upper(), words
    assert "agent learned 2 things" in world.run("recall", "--recent", "9", "--type", "summary").out
    assert "SUMMARY" not in world.run("brief").out.upper()
    assert "summary-" not in world.run("promote", "--dry-run").out


def test_a_stage_needs_a_name_and_to_be_one(world: World) -> None:
    """All sessions need none."""
    log = world.open().log
    log.init()
    for words in (("agent",), ("task",), ("week", "w")):
        with pytest.raises(UsageError):
            log.consolidate(*words)
