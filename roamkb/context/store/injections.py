"""What hooks put into prompts: whether they may, what a session was shown, and what went wrong with them."""

import contextlib
import json
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.boundary.store.session_cache import INJECTION_OFF
from roamkb.boundary.store.session_cache import OFFERS
from roamkb.core.errors import DiskError
from roamkb.core.request import argument
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.fs.append import opened
from roamkb.fs.append import read_lines
from roamkb.fs.files import disk_error
from roamkb.fs.locks import private_folder
from roamkb.log.store.hook_errors import TROUBLES
from roamkb.log.store.receipts import receipts

#: Its being there is the whole of it.
_OFF: Final = INJECTION_OFF
#: What a receipt is by whose session forgot what it was shown before: a start after a compaction.
AFRESH: Final = "brief afresh"
#: How a brief begins in what harnesses keep of a session, which is JSON.
_BRIEFED: Final = b'source=\\"roamkb brief\\" nonce='
#: Lines of trouble that anybody reads, and the days after which they are history.
_FEW: Final = 3
_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class InjectRequest:
    """What `inject` takes."""

    action: str | None = argument("on or off (without it: which it is).", metavar="on|off")


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


def shown_to(local: Path, session: str, *, by: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of what the session was shown, `by` one of these if any, and still remembers."""
    shown: set[str] = set()
    for receipt in receipts(local) if session else ():
        if receipt.session == session:
            if receipt.by == AFRESH:
                shown = set()
            if not by or receipt.by in by:
                shown.update(receipt.shown)
    return frozenset(shown)


def is_briefed(transcript: Path) -> bool:
    """Say whether what a harness keeps of a session, and replays when it goes on, has a brief in it."""
    try:
        with opened(transcript) as file:
            return any(_BRIEFED in line for line in file)
    except (OSError, DiskError):
        return False


def _offer(local: Path, session: str) -> Path:
    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return local / OFFERS / f"{name}.json"


def keep_offer(local: Path, session: str, offer: Mapping[str, str]) -> None:
    """Remember what the session was offered against an error, until it is known whether it helped."""
    path = _offer(local, session)
    try:
        private_folder(path.parent)
        path.write_text(json.dumps(offer), encoding="utf-8")
    except OSError as error:
        raise disk_error(path, error) from error


def find_offer(local: Path, session: str) -> Mapping[str, str] | None:
    """Return what the session was offered: command, error and technique; None where that is settled."""
    try:
        told = json.loads(_offer(local, session).read_text(encoding="utf-8"))
        return {name: str(told[name]) for name in ("command", "error", "technique")}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def drop_offer(local: Path, session: str) -> None:
    """Forget the offer: it is settled."""
    with contextlib.suppress(OSError):
        _offer(local, session).unlink(missing_ok=True)


def wait_for_success(local: Path, session: str, *, waits: bool) -> None:
    """Have every call of a tool looked at, while some command failed that may yet work; or no longer."""
    path = _offer(local, session).with_suffix(".waits")
    try:
        if waits:
            private_folder(path.parent)
            path.touch(mode=0o600)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(path, error) from error


def drop_stale_offers(local: Path, *, now: float) -> None:
    """Forget what sessions waited for that are long over."""
    with contextlib.suppress(OSError):
        for path in (local / OFFERS).iterdir():
            if now - path.lstat().st_mtime > 86400:
                path.unlink(missing_ok=True)


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
