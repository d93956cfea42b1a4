"""What hooks put into prompts: whether they may, what a session was shown, and what went wrong with them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.storage.disk import disk_error
from roamkb.storage.lines import read_lines
from roamkb.storage.receipts import receipts
from roamkb.storage.troubles import TROUBLES

#: Its being there is the whole of it.
_OFF: Final = "injection-off"
#: What a receipt is by whose session forgot what it was shown before: a start after a compaction.
AFRESH: Final = "brief afresh"
#: Lines of trouble that anybody reads, and the days after which they are history.
_FEW: Final = 3
_DAYS: Final = 7


def is_off(local: Path) -> bool:
    """Say whether nothing is to be put into prompts of this project."""
    return (local / _OFF).exists()


def turn(local: Path, *, on: bool) -> None:
    """Have hooks put something into prompts, or nothing; what happens is recorded either way."""
    path = local / _OFF
    try:
        if on:
            path.unlink(missing_ok=True)
        else:
            path.touch(mode=0o600)
    except OSError as error:
        raise disk_error(path, error) from error


def shown_to(local: Path, session: str) -> frozenset[str]:
    """Return the ids of what the session was shown and still remembers."""
    shown: set[str] = set()
    for receipt in receipts(local) if session else ():
        if receipt.session == session:
            if receipt.by == AFRESH:
                shown = set()
            shown.update(receipt.shown)
    return frozenset(shown)


def troubles(folder: Path, *, now: float) -> tuple[str, ...]:
    """Return what lately went wrong with hooks, the latest few, one line each."""
    return tuple(_lately(folder, now))[-_FEW:]


def _lately(folder: Path, now: float) -> Iterator[str]:
    for line in read_lines(folder / TROUBLES):
        try:
            told = json.loads(line)
            if now - float(told["ts"]) < _DAYS * 86400:
                yield f"the hook {told['event']} failed: {told['why']}"
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
