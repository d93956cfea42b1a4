"""Pinning, and a confidence that only a human can set."""

import json

import pytest

from tests.conftest import World
from tests.human import at_a_terminal

KEY = "learned-oauth-redirect-uris-must-match-exactly"


@pytest.fixture
def log(world: World) -> World:
    """A log with one learning."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly")
    return world


def ledger(world: World) -> bytes:
    """The ledger's bytes."""
    return (world.personal / ".roamkb" / "ledger.jsonl").read_bytes()


def test_pinned_is_pinned_until_it_isnt(log: World) -> None:
    """Saying it twice writes nothing."""
    assert "is pinned" in log.run("pin", KEY).out
    once = ledger(log)
    assert "already" in log.run("pin", KEY).out
    assert once == ledger(log)
    learning = log.run("pin", KEY, "--off", "--json").json["learning"]
    assert isinstance(learning, dict)
    assert learning["pinned"] is False


def test_a_human_says_what_it_counts(log: World) -> None:
    """After typing the number on the terminal; no event moves it afterwards."""
    ran, terminal = at_a_terminal(log, "override", KEY, "1.0")
    assert (0, True) == (ran.status, "OAuth redirect URIs" in terminal), ran.err
    log.run("learn", "OAuth redirect URIs must match exactly", "--session", "later")
    told = log.run("explain", KEY, "--json").json
    assert isinstance(told["learning"], dict)
    assert (1.0, True) == (told["learning"]["confidence"], told["learning"]["overridden"])
    assert isinstance(told["history"], list)
    assert told["history"][0]["fields"]["operator"]


def test_a_humans_word_settles_what_was_taken_back_or_found_wrong(log: World) -> None:
    """From 0.50 on; it is offered again, and a doubt leaves it as it is."""
    withdrawal = json.dumps([{"withdraws": KEY}])
    assert 0 == log.run("learn", "--proposals", "-", "--session", "another", input=withdrawal).status
    log.run("verify", KEY, "--accuracy", "0.1", "--relevance", "0.1", "--specificity", "0.1")
    prompt = json.dumps({"cwd": str(log.personal), "prompt": "do OAuth redirect URIs have to match exactly?"})
    for number, is_offered in (("0.3", False), ("0.8", True)):
        ran, _ = at_a_terminal(log, "override", KEY, number)
        assert 0 == ran.status, ran.err
        told = log.run("hook", "user-prompt-submit", input=prompt).out
        assert is_offered is ("OAuth redirect" in told), number


@pytest.mark.parametrize("input", ["0.95\n", ""])
def test_nobody_else_can(log: World, input: str) -> None:
    """A pipe is no terminal, and another word no yes."""
    before = ledger(log)
    assert 2 == log.run("override", KEY, "0.95", input=input).status
    ran, _ = at_a_terminal(log, "override", KEY, "0.95", answer=lambda _: "yes")
    assert (2, before) == (ran.status, ledger(log))


@pytest.mark.parametrize("number", ["2", "high", "-1"])
def test_it_is_a_number_from_0_to_1(log: World, number: str) -> None:
    """Nobody is asked about anything else."""
    ran, terminal = at_a_terminal(log, "override", "--", KEY, number)
    assert (2, "") == (ran.status, terminal)
