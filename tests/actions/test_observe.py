"""What happened, recorded."""

import json

import pytest

from roamkb.core.errors import UsageError
from tests.conftest import World


def test_a_payload_names_its_session(world: World) -> None:
    """Unless the caller does."""
    log = world.open().log
    log.init()
    payload = json.dumps({"hook_event_name": "Stop", "session_id": "s9", "last_assistant_message": "x"})
    told = json.loads(payload) | {"last_assistant_message": "LEARNED: Redis evicts the oldest sessions first"}
    found = log.observe(json.dumps(told), from_payload=True)
    assert (found.recorded, found.path and found.path.stem) == (1, "s9")
    found = log.observe(json.dumps(told), from_payload=True, session="mine")
    assert found.path
    assert found.path.stem == "mine"


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 100_000])
def test_what_is_no_payload_is_told(world: World, text: str) -> None:
    """And nothing is recorded."""
    log = world.open().log
    log.init()
    with pytest.raises(UsageError):
        log.observe(text, from_payload=True)
    assert not list(world.log().ignored.glob("observations/*"))


def test_one_thing_is_observed_at_a_time(world: World) -> None:
    """And something of it."""
    log = world.open().log
    log.init()
    with pytest.raises(UsageError):
        log.observe("{}", from_payload=True, from_transcript=True)
    with pytest.raises(UsageError):
        log.observe(" \u200b ")
    with pytest.raises(UsageError):
        log.observe("x", outcome="perhaps")


def test_a_secret_in_a_comment_stops_none_of_the_others(world: World) -> None:
    """It's declined in one redacted line."""
    log = world.open().log
    log.init()
    token = "ghp_" + "a1B2" * 9
    command = (
        f'bd comments add b "LEARNED: use {token} for CI" && bd comments add b "FACT: CI has no cache at all"'
    )
    found = log.observe(command, from_command=True)
    assert ["CI has no cache at all"] == [one.learning.content for one in found.learned]
    assert [False] == [token in one.text for one in found.declined]


def test_a_comment_is_kept_where_a_message_would_be(world: World) -> None:
    """Not what names a password, or what every session starts with."""
    log = world.open().log
    log.init()
    (world.personal / "CLAUDE.md").write_text(
        "- Run `make check` before every commit, it formats and lints.\n"
    )
    said = {
        "FACT: The database password is Tr0ub4dor-3-horse and must be set first": "secret",
        "LEARNED: Run make check before every commit, it formats and lints": "was told",
        "DEVIATION: Used the sync driver for the export": "",
    }
    for text, why in said.items():
        found = log.observe(f'bd comments add b "{text}"', from_command=True)
        assert bool(found.learned) is not bool(why)
        assert all(why in one.reason for one in found.declined)


def test_what_a_session_was_shown_it_doesnt_learn(world: World) -> None:
    """Another one may say so, too."""
    log = world.open().log
    log.init()
    text = "The mail queue silently drops messages with a broken attachment"
    log.learn(text)
    log.recall("mail queue", session="s1")
    command = f'bd comments add b "LEARNED: {text}"'
    assert not log.observe(command, from_command=True, session="s1").learned
    assert ["repeated"] == [
        one.outcome for one in log.observe(command, from_command=True, session="s2").learned
    ]
