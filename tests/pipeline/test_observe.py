"""What happened, recorded."""

import json

import pytest

from roamkb.core.errors import UsageError
from roamkb.pipeline.extract.attention import neglect_reason
from tests.conftest import World
from tests.conftest import learn


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
    command = f'bd comments add b "LEARNED: use {token} for CI" && bd comments add b "FACT: CI has no cache at all"'
    found = log.observe(command, from_command=True)
    assert ["CI has no cache at all"] == [one.learning.content for one in found.learned]
    assert [False] == [token in one.text for one in found.declined]


SHORT = (
    "Tests need Docker",
    "Ruby 3.2",
    "Port 8443",
    "No ORM",
    "Python 3.11+",
    "測試需要 Docker",
    "不要用ORM",
    "テストはDockerが要る",
    "ポート8443",
    "8443",
    "I renamed the module",
)


@pytest.mark.parametrize("text", SHORT)
def test_what_a_type_word_announces_is_never_dropped(text: str, world: World) -> None:
    """However short, and in whatever language: it is kept, and flagged where it says little."""
    log = world.open().log
    log.init()
    found = log.observe(f'bd comments add A "FACT: {text}"', from_command=True)
    assert ([text], ()) == ([one.learning.content for one in found.learned], found.declined)
    (standing,) = world.log().read_contents().replay_state().standings.values()
    assert bool(neglect_reason(text)) is ("thin" in standing.flags)
    assert all("thin" in warning for warning in found.learned[0].warnings)


@pytest.mark.parametrize("text", SHORT)
def test_what_a_closing_message_announces_is_never_dropped(text: str, world: World) -> None:
    """It waits for the session's consolidation, and comes out of it."""
    log = world.open().log
    log.init()
    message = f"I have done it.\n\nFACT: {text}\n\nAnything else?"
    payload = {"hook_event_name": "Stop", "session_id": "s1", "last_assistant_message": message}
    log.observe(json.dumps(payload), from_payload=True)
    log.consolidate("session", "s1")
    assert [text] == [one.learning.content for one in world.log().read_contents().replay_state().standings.values()]


def test_neighbouring_lines_are_one_learning_each(world: World) -> None:
    """And never all of them at once; what follows a blank line belongs to none."""
    log = world.open().log
    log.init()
    message = (
        "DECISION: Use Postgres for the queue\nPATTERN: Each worker takes one lock\n"
        "INVESTIGATION: The proxy drops idle sockets\n\nAll tests pass now."
    )
    payload = {"hook_event_name": "Stop", "session_id": "s1", "last_assistant_message": message}
    log.observe(json.dumps(payload), from_payload=True)
    log.consolidate("session", "s1")
    assert [
        "Each worker takes one lock",
        "The proxy drops idle sockets",
        "Use Postgres for the queue",
    ] == sorted(one.learning.content for one in world.log().read_contents().replay_state().standings.values())


def test_what_a_shell_left_behind_is_not_shown_and_not_compared(world: World) -> None:
    """The bytes stay as they were said."""
    log = world.open().log
    log.init()
    said = 'The export needs the sync driver" 2>/dev/null'
    first = learn(log, said, session="s1")
    assert said == first.learning.content
    assert "The export needs the sync driver" == first.learning.statement
    again = learn(log, "The export needs the sync driver", session="s2")
    assert "repeated" == again.outcome


def test_a_comment_is_kept_where_a_message_would_be(world: World) -> None:
    """Not what names a password, or what every session starts with."""
    log = world.open().log
    log.init()
    (world.personal / "CLAUDE.md").write_text("- Run `make check` before every commit, it formats and lints.\n")
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
    assert ["repeated"] == [one.outcome for one in log.observe(command, from_command=True, session="s2").learned]
