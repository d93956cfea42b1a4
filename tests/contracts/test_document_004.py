"""Document 004's requirements, each through a public door: the command line, the library or the server."""

import json
import random
import re
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import NOON
from tests.conftest import ROOT
from tests.conftest import World
from tests.conftest import learn
from tests.interfaces.http.served import serving

DOCUMENT = ROOT / "docs" / "http.md"
SAID = "Dates in SQLite are kept as TEXT"


@pytest.fixture
def logged(world: World) -> World:
    """A personal project with a log."""
    assert 0 == world.run("init").status
    return world


def told(world: World, *words: str) -> Any:
    """Return what a command says as JSON; it does what it is asked for."""
    ran = world.run(*words, "--json")
    assert 0 == ran.status, ran.err
    return ran.json


def test_what_the_page_says_a_task_takes_is_taken(logged: World) -> None:
    """Each name of its row, in one request."""
    (row,) = re.findall(r"^\| `POST /api/knowledge/[^|]*\btask` \|(.*)\|$", DOCUMENT.read_text(), re.MULTILINE)
    names = re.findall(r"`(\w+)`", row)
    with serving(logged) as served:
        answer = served.post("/api/knowledge/task", dict.fromkeys(names, "t-1"))
        assert 200 == answer.status, answer.body
    assert {"task_id", "title"} < set(names)


@pytest.mark.parametrize(
    ("how", "confidence"),
    [
        (("--provenance", "user-stated"), 0.9),
        (("--agent", "qa_agent"), 0.8),
        (("--agent", "build_agent"), 0.7),
        (("--agent", "build_agent", "--fix-applied"), 0.8),
        (("--agent", "build_agent", "--type", "pattern"), 0.75),
        (("--provenance", "inferred"), 0.5),
    ],
)
def test_a_first_word_counts_by_its_source(how: tuple[str, ...], confidence: float, logged: World) -> None:
    """A human's above a tester's, a tester's above a builder's, and a fix that was applied above one that wasn't."""
    assert confidence == told(logged, "learn", SAID, *how)["confidence"]


def test_an_applied_fix_counts_over_http(logged: World) -> None:
    """In the document's own words."""
    with serving(logged) as served:
        sure, unsure = (
            served.post("/api/knowledge/gotcha", {"fix": fix, "agentId": "build_agent", "fixApplied": told}).json
            for fix, told in (("Use TEXT for dates", True), ("Quote names with a dash", False))
        )
    assert (0.8, 0.7) == (sure["confidence"], unsure["confidence"])


@pytest.mark.parametrize(
    ("outcome", "after"),
    [("success", 0.75), ("prevented", 0.85), ("validated", 0.8), ("failure", 0.6), ("partial", 0.7)],
)
def test_each_outcome_moves_the_confidence_as_it_should(outcome: str, after: float, logged: World) -> None:
    """+0.05, +0.15, +0.10, -0.10, and nothing."""
    key = told(logged, "learn", SAID, "--agent", "build_agent")["key"]
    told(logged, "recall", "dates")
    used = told(logged, "used", key, "--outcome", outcome, "--agent", "review_agent")
    assert (0.7, after) == (used["confidence_before"], used["confidence"])


def test_what_was_replaced_counts_less(logged: World) -> None:
    """-0.20."""
    key = told(logged, "learn", SAID)["key"]
    told(logged, "learn", "Times are kept as seconds since 1970", "--supersedes", key)
    assert 0.5 == told(logged, "explain", key)["learning"]["confidence"]


@pytest.mark.parametrize(("outcome", "end"), [("prevented", 0.95), ("failure", 0.1)])
def test_confidence_stays_within_its_bounds(outcome: str, end: float, logged: World) -> None:
    """However often it helped or failed."""
    log = logged.open().log
    key = learn(log, SAID).learning.key
    for n in range(9):
        log.recall("dates", session=f"s{n}")
        log.used(key, outcome=outcome, session=f"s{n}")
    assert end == told(logged, "explain", key)["learning"]["confidence"]


def test_what_nobody_uses_is_ranked_lower_month_by_month(logged: World) -> None:
    """-0.01 each, in rank alone."""
    key = learn(logged.open().log, SAID).learning.key
    for days, ranked in ((29, 70), (30, 69), (95, 67)):
        found = logged.open(now=NOON + timedelta(days=days)).log.explain(key)
        assert (70, ranked) == (found.standing.confidence, found.ranked)


def test_a_task_has_a_signature_that_knows_no_order(logged: World) -> None:
    """Of its title, category, files and dependencies."""
    words = ("--title", "Fix the login", "--category", "security")
    first = ("--file", "a.ts", "--file", "b.ts", "--depends", "x", "--depends", "y")
    other = ("--file", "b.ts", "--file", "a.ts", "--depends", "y", "--depends", "x")
    for id, more in (("t1", first), ("t2", other), ("t3", first[:-2])):
        told(logged, "task", "start", id, *words, *more)
    tasks = {task["id"]: task["signature"] for task in told(logged, "task", "list")["tasks"]}
    assert (True, False) == (tasks["t1"] == tasks["t2"], tasks["t1"] == tasks["t3"])
    assert {"t1", "t3"} == {one["id"] for one in told(logged, "task", "similar", "t2")["similar"]}


def test_what_is_relevant_is_sure_enough_and_ranked(logged: World) -> None:
    """By the files and the words of the task."""
    for text, confidence in (
        ("Dates are TEXT in tables", "0.9"),
        ("Dates may be dropped from tables", "0.5"),
    ):
        told(logged, "learn", text, "--confidence", confidence, "--file", "db/*.sql")
    told(logged, "learn", "Deploys run at night", "--confidence", "0.9")
    asked = ("relevant", "--title", "Add dates to the tables", "--file", "db/1.sql")
    assert ["0.90", "0.50"] == [f"{one['confidence']:.2f}" for one in told(logged, *asked)["entries"]]
    assert 1 == told(logged, *asked, "--min-confidence", "0.8")["count"]


def test_the_order_and_doubling_of_lines_change_nothing(logged: World) -> None:
    """As after a merge of two branches."""
    log = logged.open().log
    keys = [learn(log, f"{name} are kept as TEXT in SQLite tables").learning.key for name in ("Dates", "Prices")]
    for n in range(4):
        log.recall("SQLite", session=f"s{n}")
        log.used(keys[n % 2], outcome=("success", "failure")[n // 2], session=f"s{n}")
    before = [told(logged, "explain", key) for key in keys]
    mixed = random.Random(1)
    for name in ("knowledge.jsonl", "ledger.jsonl"):
        path = logged.personal / ".roamkb" / name
        lines = path.read_text().splitlines(keepends=True) * 2
        mixed.shuffle(lines)
        path.write_text("".join(lines))
    assert before == [told(logged, "explain", key) for key in keys]


def test_other_tools_lines_and_those_of_later_versions_are_read(logged: World) -> None:
    """Their types, and fields that nobody knows yet."""
    lines = (
        {"key": "k-1", "type": "heuristic", "content": "Dates are TEXT", "ts": "2026-01-01T00:00:00Z"},
        {
            "id": "x",
            "type": "fact",
            "content": "Prices are cents",
            "ts": 1767225600,
            "v": 9,
            "later": {"a": [1]},
        },
    )
    path = logged.personal / ".roamkb" / "knowledge.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "torn {\n")
    assert {"heuristic", "fact"} == {one["type"] for one in told(logged, "recall")["learnings"]}
    told(logged, "learn", "Prices are cents", "--type", "fact")
    assert path.read_text().startswith("".join(json.dumps(line) + "\n" for line in lines))


def test_stats_tell_how_well_knowledge_did(logged: World) -> None:
    """Shown, applied, helped, and the tokens that it saved."""
    log = logged.open().log
    key = learn(log, SAID).learning.key
    log.learn("Deploys run at night")
    for n, outcome in enumerate(("success", "prevented", "failure", "partial", "not_applied")):
        log.recall("dates", session=f"s{n}")
        log.used(key, outcome=outcome, session=f"s{n}")
    stats = told(logged, "stats", "--metrics")
    assert (5, 4) == (stats["shown"], stats["applied"])
    assert stats["hit_rate"] == pytest.approx(2 / 3, abs=0.01)
    assert stats["tokens_saved"] > 0
