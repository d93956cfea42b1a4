"""What hooks put into prompts: whether they may, what was shown, what went wrong, what waits for its outcome."""

from datetime import datetime
from pathlib import Path

import pytest

from roamkb.context.store import injections
from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.log.new_learning import Author
from roamkb.log.store.hook_errors import HOOK_ERRORS_FILE
from roamkb.log.store.hook_errors import record_hook_error
from roamkb.log.store.receipts import save_receipt

_NOW = datetime(2026, 6, 10, 12)


def hand(session: str) -> Author:
    """Who signs."""
    return Author(
        agent="claude-code",
        session=session,
        machine="m",
        kind=ProjectKind.PERSONAL,
        now=_NOW,
        new_id=lambda: new_id(_NOW),
    )


def test_what_a_session_was_shown_is_its_own(tmp_path: Path) -> None:
    """Until it forgets: what was shown before it began afresh is news again."""
    save_receipt(tmp_path, hand("s"), ["a", "b"], requested_by="brief")
    save_receipt(tmp_path, hand("t"), ["c"], requested_by="prompt")
    save_receipt(tmp_path, hand("s"), ["d"], requested_by="prompt")
    assert frozenset("abd") == injections.ids_shown_to(tmp_path, "s")
    save_receipt(tmp_path, hand("s"), ["f"], requested_by=injections.SUBAGENT)
    assert frozenset("abdf") == injections.ids_shown_to(tmp_path, "s")
    assert frozenset("abd") == injections.ids_shown_to(tmp_path, "s", is_subagent=False)
    assert frozenset() == injections.ids_shown_to(tmp_path, "")
    save_receipt(tmp_path, hand("s"), ["e"], requested_by=injections.BRIEF_AFRESH)
    assert frozenset("e") == injections.ids_shown_to(tmp_path, "s")


def test_injection_is_turned_off_and_on(tmp_path: Path) -> None:
    """Twice is once."""
    assert not injections.is_injection_off(tmp_path)
    for on in (False, False, True, True):
        injections.set_injection(tmp_path, on=on)
        assert on != injections.is_injection_off(tmp_path)


def test_trouble_is_told_for_a_week(tmp_path: Path) -> None:
    """The latest few lines; a torn one is none."""
    for n in range(5):
        record_hook_error(str(tmp_path), "stop", f"ValueError at x.py:{n}")
    with (tmp_path / HOOK_ERRORS_FILE).open("a") as file:
        file.write('{"ts": 1, "event": "stop", "why": "long ago"}\n{"ts": \n')
    now = (tmp_path / HOOK_ERRORS_FILE).stat().st_mtime
    found = injections.recent_hook_errors(tmp_path, now=now)
    assert ("the hook stop failed: ValueError at x.py:4", 3) == (found[-1], len(found))
    assert () == injections.recent_hook_errors(tmp_path, now=now + 8 * 86400)


@pytest.mark.parametrize("session", ["s", "../../x", "\ud800"])
def test_an_offer_waits_for_its_outcome(tmp_path: Path, session: str) -> None:
    """By any session's name; a damaged one is none."""
    offer = {"command": "make", "error": "E", "technique": "T"}
    assert injections.load_suggestion(tmp_path, session) is None
    injections.save_suggestion(tmp_path, session, offer)
    assert offer == injections.load_suggestion(tmp_path, session)
    injections.remove_suggestion(tmp_path, session)
    assert injections.load_suggestion(tmp_path, session) is None
