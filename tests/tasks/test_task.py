"""Tasks, what helps with them, and whether it did, through the command line."""

import pytest

from tests.conftest import World
from tests.conftest import learn

KEY = "gotcha-oauth-redirect-uris-must-match-exactly"


@pytest.fixture
def logged(world: World) -> World:
    """A personal project with a task done and a learning from it."""
    world.run("init")
    world.run("task", "start", "T1", "--title", "Fix the OAuth redirect", "--file", "src/auth/*.ts")
    learn = ("learn", "OAuth redirect URIs must match exactly", "--type", "gotcha", "--task", "T1")
    world.run(*learn, "--file", "src/auth/*.ts", "--tag", "oauth")
    return world


def test_a_task_like_an_earlier_one_is_met_with_what_that_taught(logged: World) -> None:
    """By its words, its files, and the task seen before; being shown is asked about at the end."""
    started = logged.run("task", "start", "T2", "--title", "Fix OAuth redirects on mobile")
    assert "like T1 Fix the OAuth redirect" in started.out
    begun = logged.run("task", "start", "T3", "--title", "Count the zebras", "--json").json["task"]
    assert begun["started"] is not None
    again = logged.run("task", "start", "T3", "--title", "Count the zebras", "--json").json["task"]
    assert begun == again
    found = logged.run("relevant", "--task", "T2", "--json").json
    assert 1 == found["count"]
    (entry,) = found["entries"]
    assert (KEY, ["words", "learned in T1"]) == (entry["key"], sorted(entry["why"], reverse=True))
    done = logged.run("task", "done", "T2")
    assert f"did it help? roamkb used {KEY}" in done.out
    used = logged.run("used", KEY, "--outcome", "success", "--task", "T2")
    assert "0.70 -> 0.75" in used.out
    assert "did it help?" not in logged.run("task", "done", "T2").out


def test_a_file_alone_finds_its_learnings(logged: World) -> None:
    """As gitignore has it."""
    found = logged.run("relevant", "--file", "src/auth/mobile.ts")
    assert KEY in found.out
    assert 1 == logged.run("relevant", "--file", "docs/readme.md").status


def test_an_unknown_task_has_nothing_and_is_no_error(logged: World) -> None:
    """The document asks for no entries."""
    found = logged.run("relevant", "--task", "nope", "--json")
    assert (1, 0, []) == (found.status, found.json["count"], found.json["entries"])
    assert 1 == logged.run("task", "similar", "nope").status


def test_only_what_was_shown_can_have_helped(logged: World) -> None:
    """No receipt, no outcome; and no other word than the six."""
    assert "wasn't shown" in logged.run("used", KEY, "--outcome", "success").err
    logged.run("recall", "oauth")
    assert 2 == logged.run("used", KEY, "--outcome", "great").status
    assert 0 == logged.run("used", KEY, "--outcome", "not_applied").status
    assert {"not_applied": 1} == logged.run("stats", "--json").json["outcomes"]


def test_a_done_task_asks_for_better_words(logged: World) -> None:
    """What is terse is named with the command that lists it."""
    logged.run("learn", "use v2", "--task", "T1")
    assert "terse or badly tagged: roamkb refine T1" in logged.run("task", "done", "T1").out


def test_looking_back_leaves_out_what_came_later(logged: World) -> None:
    """Every command that reads the pipeline can."""
    for words in (("relevant", "--title", "oauth redirect"), ("export",), ("stats",)):
        now, then = (logged.run(*words, "--json", *more).out for more in ((), ("--as-of", "2020-01-01")))
        assert (KEY in now, KEY in then) == (True, False), words
    assert 2 == logged.run("explain", KEY, "--as-of", "2020-01-01").status


def test_a_task_wants_an_id_and_a_title(logged: World) -> None:
    """What is missing is named."""
    assert "needs a title" in logged.run("task", "start", "T3").err
    assert "which task?" in logged.run("task", "done").err
    assert "no action" in logged.run("task", "stop", "T3").err
    assert "relevant to what?" in logged.run("relevant").err


def test_a_task_that_nobody_started_is_no_empty_answer(world: World) -> None:
    """It says what is missing; one that was started says nothing."""
    world.open().log.init()
    assert "no task nosuch was started here" in world.run("relevant", "--task", "nosuch").err
    world.run("task", "start", "bd-1", "--title", "Fix the gateway")
    assert "" == world.run("relevant", "--task", "bd-1").err


def test_why_an_outcome_moved_nothing_is_said(world: World) -> None:
    """What was shown once helped or failed once."""
    log = world.open().log
    log.init()
    key = learn(log, "The gateway waits for thirty seconds", session="other").learning.key
    log.recall("gateway", session="s")
    assert "" == log.used(key, outcome="failure", session="s").still
    assert "each counts once" in log.used(key, outcome="prevented", session="s").still
    ran = world.run("used", key, "--outcome", "partial", "--session", "s")
    assert "such an outcome moves nothing" in ran.out


def test_another_agent_that_validates_makes_it_surer_once(world: World) -> None:
    """By ten hundredths; the agent that learned it adds nothing, nor does a second time."""
    world.run("init")
    told = world.run("learn", "The gateway waits for thirty seconds", "--agent", "builder", "--json").json
    key = str(told["key"])
    assert "wasn't shown" in world.run("used", key, "--outcome", "validated", "--agent", "reviewer").err
    world.run("recall", "gateway")
    moves = {
        agent: world.run("used", key, "--outcome", "validated", "--agent", agent).out
        for agent in ("builder", "reviewer", "tester")
    }
    assert {
        "builder": f"validated: {key} (0.70 -> 0.70: builder learned it; another agent has to validate it)\n",
        "reviewer": f"validated: {key} (0.70 -> 0.80)\n",
        "tester": f"validated: {key} (0.80 -> 0.90)\n",
    } == moves
    again = world.run("used", key, "--outcome", "validated", "--agent", "tester").out
    assert "0.90 -> 0.90: tester validated it before; it counts once" in again
    assert "validated" in world.run("explain", key).out


def test_no_session_bears_itself_out_by_another_name(world: World) -> None:
    """Neither what it learned, nor twice what another session learned."""
    world.run("init")

    def moves(key: str, *validations: tuple[str, str]) -> list[str]:
        world.run("recall", "gateway")
        answers = [
            world.run("used", key, "--outcome", "validated", "--agent", agent, "--session", session).out
            for agent, session in validations
        ]
        return [answer.split("(")[1].split(":")[0].rstrip(")\n") for answer in answers]

    learned = ("learn", "The gateway waits for thirty seconds", "--agent", "builder", "--session", "s-1", "--json")
    key = str(world.run(*learned).json["key"])
    assert ["0.70 -> 0.70", "0.70 -> 0.80", "0.80 -> 0.80", "0.80 -> 0.90"] == moves(
        key, ("reviewer", "s-1"), ("reviewer", "s-2"), ("tester", "s-2"), ("tester", "s-3")
    )
    said = world.run("used", key, "--outcome", "validated", "--agent", "other", "--session", "s-3").out
    assert "this session learned or validated it before, by whatever name; it counts once" in said


def test_what_an_earlier_task_only_told_again_helps_with_one_like_it(logged: World) -> None:
    """A repetition belongs to its own task as much as the first word to the first."""
    said = "Amounts are kept in cents, never as floats"
    for task, title in (("A1", "Round the invoices"), ("A2", "Import the ledger of the bank")):
        logged.run("task", "start", task, "--title", title)
        logged.run("learn", said, "--task", task)
    logged.run("task", "start", "A3", "--title", "Import the ledger of the bank again")
    (entry,) = logged.run("relevant", "--task", "A3", "--json").json["entries"]
    assert (said, ["told again in A2"]) == (entry["content"], entry["why"])
