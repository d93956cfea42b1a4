"""What a session takes back of what it said to be kept, as the hooks of Claude Code see it."""

import pytest

from roamkb.log.recall import RecallResult
from tests.app.hooks.test_events import Talk
from tests.conftest import World


def recalled(world: World) -> dict[str, str]:
    """Return what a later session recalls, each statement with its marks."""
    Talk(world, world.personal, days=9).start()
    found = world.open().log.recall(recent=20)
    assert isinstance(found, RecallResult)
    return {one.standing.learning.content: ", ".join(sorted(one.doubts)) for one in found.learnings}


def offered(world: World, prompt: str) -> list[str]:
    """Return the learnings that a later session is offered at a prompt."""
    later = Talk(world, world.personal, days=9)
    later.start()
    return [one.learning.content for one in later.ask(prompt).learnings]


@pytest.fixture
def talk(world: World) -> Talk:
    """A session whose transcript lies where the harness keeps it."""
    world.open().log.init()
    return Talk(world, world.personal)


@pytest.mark.parametrize(
    ("said", "then", "kept"),
    [
        (
            "Remember: the release branch is called stable.",
            "No wait, the release branch is called release, not stable.",
            "the release branch is called release, not stable.",
        ),
        (
            "Merke dir: der Zähler der Pumpe zählt rückwärts.",
            "Quatsch, der Zähler der Pumpe zählt nicht rückwärts.",
            "der Zähler der Pumpe zählt nicht rückwärts.",
        ),
        (
            "Remember that the mock server listens on port 7001. No: the mock server listens on port 7002.",
            "Now go on.",
            "the mock server listens on port 7002.",
        ),
    ],
)
def test_a_humans_correction_is_kept_in_place_of_what_it_corrects(
    world: World, talk: Talk, said: str, then: str, kept: str
) -> None:
    """In his next words, or in the same message."""
    talk.ask(said)
    talk.finish("Noted.")
    talk.ask(then)
    talk.finish("All right.")
    assert {kept: ""} == recalled(world)


@pytest.mark.parametrize(
    ("said", "then", "is_withheld"),
    [
        ("Remember: the staging box is called adler.", "Forget that, it is gone since May.", True),
        ("Remember: the staging box is called adler.", "Actually, scratch that.", True),
        ("Remember: the staging box is called adler. Scrap that again.", "Go on.", True),
        ("Merke dir: die Staging-Kiste heißt Adler.", "Vergiss das, sie ist seit Mai weg.", True),
        ("Retiens que la machine de test s'appelle adler.", "Oublie ça, elle n'existe plus.", True),
        ("Recuerda que la máquina de prueba se llama adler.", "Olvida eso, ya no existe.", True),
        ("ステージングのマシンはアドラーと呼ばれる、覚えておいて。", "今のは忘れて。", True),
        ("Remember: the staging box is called adler.", "Don't forget that.", False),
        ("Remember: the staging box is called adler.", "Forget that the build failed, go on.", False),
        ("Merke dir: die Staging-Kiste heißt Adler.", "Vergiss das nicht!", False),
    ],
)
def test_forget_that_takes_back_what_was_just_to_be_remembered(
    world: World, talk: Talk, said: str, then: str, *, is_withheld: bool
) -> None:
    """It is contested: neither offered nor promoted; what is not to be forgotten stands."""
    talk.ask(said)
    talk.finish("Noted.")
    talk.ask(then)
    talk.finish("All right.")
    assert [("contested" if is_withheld else "")] == list(recalled(world).values())
    assert is_withheld == (offered(world, said) == [])
    promoted = world.run("promote", "--json").json["candidates"]
    assert is_withheld == (promoted == [])


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (
            "LEARNED: The health endpoint is /healthz.\n\nCorrection: the health endpoint is /livez, not /healthz.",
            {"the health endpoint is /livez, not /healthz.": ""},
        ),
        (
            "DECISION: We use Redis streams here\n\nActually, scrap that decision: we keep Kafka.",
            {"We use Redis streams here": "contested"},
        ),
        (
            "FACT: The cache is shared by all runners\nFACT: The build takes four minutes\n\nScratch that.",
            {"The cache is shared by all runners": "", "The build takes four minutes": "contested"},
        ),
        ("LEARNED: The endpoint is /healthz.\n\nThe tests do not pass yet.", {"The endpoint is /healthz.": ""}),
    ],
)
def test_an_announced_line_falls_with_what_its_own_message_says_after_it(
    world: World, talk: Talk, message: str, kept: dict[str, str]
) -> None:
    """Its correction is kept in its place, where it says the whole."""
    talk.ask("look into it")
    talk.finish(message)
    assert kept == recalled(world)


def test_an_agents_line_is_contested_by_the_humans_no(world: World, talk: Talk) -> None:
    """Though nobody asked the agent to take it back."""
    talk.ask("look at the log")
    talk.finish("LEARNED: The worker restarts every 6 hours because of the memory limit in unit.service")
    talk.ask("No, that is wrong: it restarts because of logrotate.")
    talk.finish("Right, logrotate.")
    assert ["contested"] == list(recalled(world).values())
    (learning,) = world.run("recall", "--recent", "1", "--json").json["learnings"]
    assert "the human said afterwards" in world.run("explain", learning["key"]).out


def test_recall_marks_what_is_offered_to_nobody_yet(world: World, talk: Talk) -> None:
    """As the hook at a prompt withholds it; a repetition in another session bears it out."""
    line = "LEARNED: The nightly job holds a lock on invoices"
    talk.ask("look at the job")
    talk.finish(line)
    Talk(world, world.personal, days=8).start()
    assert "(not borne out yet)" in world.run("recall", "nightly", "job").out
    assert offered(world, "why does the nightly job lock invoices") == []
    again = Talk(world, world.personal, days=1)
    again.finish(line)
    assert offered(world, "why does the nightly job lock invoices")
    assert "not borne out" not in world.run("recall", "nightly", "job").out


@pytest.mark.parametrize(
    ("older", "newer", "prompt"),
    [
        (
            "The API listens on port 9090",
            "The API now listens on port 9091, no longer on 9090",
            "which port does the API listen on",
        ),
        (
            "Redis runs on port 6380, since 6379 belongs to another team",
            "Redis runs on port 6390 since Monday",
            "on which port does redis run",
        ),
    ],
)
@pytest.mark.parametrize("is_announced", [False, True])
def test_another_value_of_an_attribute_contradicts(
    world: World, talk: Talk, older: str, newer: str, prompt: str, *, is_announced: bool
) -> None:
    """Whatever else each says; both are marked, and who is offered one is offered the other."""
    for days, statement in enumerate((older, newer), start=1):
        if is_announced:
            Talk(world, world.personal, days=days).finish(f"FACT: {statement}")
            Talk(world, world.personal, days=8).start()
        else:
            world.run("learn", statement, "--type", "fact")
    assert [True, True] == ["may_contradict" in marks for marks in recalled(world).values()]
    if not is_announced:
        found = Talk(world, world.personal, days=7).ask(prompt).learnings
        assert [(older, True), (newer, True)] == sorted(
            (one.learning.content, "may_contradict" in one.flags) for one in found
        )
