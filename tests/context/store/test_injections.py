"""What hooks put into prompts: whether they may, what was shown, what went wrong, what waits for its outcome."""

from datetime import datetime
from pathlib import Path

import pytest

from roamkb.context.store import injections
from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.log.new_learning import Author
from roamkb.log.store.hook_errors import TROUBLES
from roamkb.log.store.hook_errors import keep_trouble
from roamkb.log.store.receipts import keep_receipt

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
    keep_receipt(tmp_path, hand("s"), ["a", "b"], by="brief")
    keep_receipt(tmp_path, hand("t"), ["c"], by="prompt")
    keep_receipt(tmp_path, hand("s"), ["d"], by="prompt")
    assert frozenset("abd") == injections.shown_to(tmp_path, "s")
    assert frozenset("d") == injections.shown_to(tmp_path, "s", by=("prompt",))
    assert frozenset() == injections.shown_to(tmp_path, "")
    keep_receipt(tmp_path, hand("s"), ["e"], by=injections.AFRESH)
    assert frozenset("e") == injections.shown_to(tmp_path, "s")


def test_injection_is_turned_off_and_on(tmp_path: Path) -> None:
    """Twice is once."""
    assert not injections.is_off(tmp_path)
    for on in (False, False, True, True):
        injections.turn(tmp_path, on=on)
        assert on != injections.is_off(tmp_path)


def test_trouble_is_told_for_a_week(tmp_path: Path) -> None:
    """The latest few lines; a torn one is none."""
    for n in range(5):
        keep_trouble(str(tmp_path), "stop", f"ValueError at x.py:{n}")
    with (tmp_path / TROUBLES).open("a") as file:
        file.write('{"ts": 1, "event": "stop", "why": "long ago"}\n{"ts": \n')
    now = (tmp_path / TROUBLES).stat().st_mtime
    found = injections.troubles(tmp_path, now=now)
    assert ("the hook stop failed: ValueError at x.py:4", 3) == (found[-1], len(found))
    assert () == injections.troubles(tmp_path, now=now + 8 * 86400)


@pytest.mark.parametrize("session", ["s", "../../x", "\ud800"])
def test_an_offer_waits_for_its_outcome(tmp_path: Path, session: str) -> None:
    """By any session's name; a damaged one is none."""
    offer = {"command": "make", "error": "E", "technique": "T"}
    assert injections.find_offer(tmp_path, session) is None
    injections.keep_offer(tmp_path, session, offer)
    assert offer == injections.find_offer(tmp_path, session)
    injections.drop_offer(tmp_path, session)
    assert injections.find_offer(tmp_path, session) is None
