"""The gate over a real log."""

import sys

import pytest

from tests.conftest import World

SAID = "The webhook handler must check the signature against the raw body of each request"


def judge(world: World, code: str) -> str:
    """Return a judge that runs `code`."""
    path = world.home / "judge.py"
    path.write_text(f"import json\n{code}\n")
    return f"'{sys.executable}' '{path}'"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('{"accuracy": 0.6, "relevance": 0.6, "specificity": 0.6}', "verified"),
        ('{"accuracy": "0.3", "relevance": 0.3, "specificity": 0.3}', "unverified"),
        ('{"accuracy": 0.3, "relevance": 0.3, "specificity": 0.29}', "invalidated"),
        ('{"accuracy": 0.2, "relevance": 0.9, "specificity": 0.8}', "unverified"),
        ('{"verdict": "verified"}', "unverified"),
        ('{"accuracy": NaN, "relevance": 1, "specificity": 1}', "unverified"),
        ('{"accuracy": 2.0, "relevance": 1, "specificity": 1}', "unverified"),
        ('{"accuracy": -1, "relevance": 1, "specificity": 1}', "unverified"),
        ('{"accuracy": "high", "relevance": 1, "specificity": 1}', "unverified"),
        ("verified", "unverified"),
    ],
)
def test_the_verdict_comes_from_the_scores(world: World, answer: str, verdict: str) -> None:
    """And from nothing else that a judge says."""
    log = world.open().log
    log.init()
    log.learn(SAID)
    [found] = log.verify(batch=True, judge=judge(world, f"print({answer!r})")).judged
    assert found.verdict == verdict
    assert bool(found.trouble) is (found.scores is None)


def test_a_shell_command_is_never_verified(world: World) -> None:
    """Though a judge gives it the best scores."""
    log = world.open().log
    log.init()
    command = "git rebase --onto main feature~3 feature && npm test"
    key = log.learn(command).learning.key
    [found] = log.verify([key], accuracy="1", relevance="1", specificity="1").judged
    assert ("unverified", ["no_noise"]) == (
        found.verdict,
        [check.name for check in found.checks if not check.ok],
    )


def test_a_score_that_is_too_low_is_named(world: World) -> None:
    """A good mean beside it explains nothing."""
    world.run("init")
    key = world.open().log.learn(SAID).learning.key
    done = world.run("verify", key, "--accuracy", "0.2", "--relevance", "0.9", "--specificity", "0.8")
    assert f"unverified: {key} (mean 0.63, accuracy under 0.50)\n" == done.out


def test_of_several_that_say_the_same_the_surest_passes(world: World) -> None:
    """Whatever was said first, and of whatever type."""
    log = world.open().log
    log.init()
    log.learn(SAID.replace(" of each request", ""), type="fact", confidence="0.7")
    log.learn(SAID, confidence="0.9")
    found = {one.standing.confidence: one for one in log.verify(batch=True, judge="heuristic").judged}
    assert (found[90].verdict, found[70].verdict) == ("verified", "unverified")
    assert ["not_repeated"] == [check.name for check in found[70].checks if not check.ok]


@pytest.mark.parametrize(
    "text",
    [
        "The payment gateway timeout is 30 seconds, and slower calls fail",
        "The payment gateway's default timeout: 30 seconds",
    ],
)
def test_a_rival_of_another_type_needs_a_review(text: str, world: World) -> None:
    """And so does what it denies."""
    log = world.open().log
    log.init()
    log.learn(text, type="fact")
    log.verify(batch=True, judge="heuristic")
    log.learn(text.replace("30", "300"), type="learned")
    [found] = log.verify(batch=True, judge="heuristic").judged
    assert found.verdict == "unverified"
    assert {"needs_review"} == {one.standing.status for one in log.recall("gateway").learnings}


def test_a_second_batch_judges_nothing_again(world: World) -> None:
    """Until something changed."""
    log = world.open().log
    log.init()
    log.learn(SAID)
    assert len(log.verify(batch=True, judge="heuristic").judged) == 1
    again = log.verify(batch=True, judge="heuristic")
    assert (again.judged, again.skipped) == ((), 1)


def test_the_file_is_named_that_says_so_already(world: World) -> None:
    """And an example of our own rule is no such text."""
    example = "OAuth redirect URIs must match exactly"
    (world.personal / "AGENTS.md").write_text(f"# Rules\n\n- {SAID}.\n")
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(f"{rule.read_text()}\n```sh\nroamkb write '{example}' --tag oauth\n```\n")
    log = world.open().log
    log.init()
    for text in (SAID, example):
        log.learn(text)
    found = {one.standing.learning.content: one for one in log.verify(batch=True, judge="heuristic").judged}
    why = {check.name: check.why for check in found[SAID].checks if not check.ok}
    assert "AGENTS.md, with which every session starts, says so" == why["not_in_boot_file"]
    assert "not_in_boot_file" not in {check.name for check in found[example].checks if not check.ok}


def test_what_was_replaced_is_not_counted_among_what_has_a_verdict(world: World) -> None:
    """Nobody judged it, and nobody will."""
    log = world.open().log
    log.init()
    old = log.learn(SAID).learning
    log.learn("Celery tasks need acks_late, otherwise a killed worker loses the job", supersedes=old.key)
    assert 0 == log.verify(batch=True, judge="heuristic").skipped


def test_what_nobody_scored_says_so_and_what_next(world: World) -> None:
    """Beside its key; where a check fails, that is the reason."""
    log = world.open().log
    log.init()
    key = log.learn(SAID).learning.key
    log.learn("Too short")
    lines = world.run("verify", "--batch").out.splitlines()
    assert f"unverified: {key} (nobody scored it)" in lines
    assert 1 == sum("nobody scored it" in line for line in lines)
    assert "what nobody scored stays unverified: --judge heuristic" in lines[-1]
