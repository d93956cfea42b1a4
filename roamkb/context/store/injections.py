"""Injections by hooks: whether they are on, what sessions were shown, and the hooks' errors."""

import contextlib
import json
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from roamkb.boundary.store.session_cache import INJECTION_OFF_FILE
from roamkb.boundary.store.session_cache import OFFERS_FOLDER
from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.typing import Final
from roamkb.fs import untrusted_files
from roamkb.fs.append import open_regular_file
from roamkb.fs.append import read_bytes
from roamkb.fs.append import read_lines
from roamkb.fs.append import stat_signature
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import write_private_file
from roamkb.fs.locks import make_private_folder
from roamkb.log.store import hook_errors
from roamkb.log.store.receipts import read_receipts

#: Its being there is the whole of it.
_OFF_MARKER: Final = INJECTION_OFF_FILE
#: What a receipt is by whose session forgot what it was shown before: a start after a compaction.
BRIEF_AFRESH: Final = "brief afresh"
#: What a receipt is by that one of the session's subagents was shown something.
SUBAGENT: Final = "subagent"
#: How a brief begins in what harnesses keep of a session, which is JSON.
_BRIEF_START: Final = b'source=\\"roamkb brief\\" nonce='
#: Lines of trouble that anybody reads, and the days after which they are history.
_MOST_ERRORS: Final = 3
_ERROR_DAYS: Final = 7
#: When a session's brief told of them.
_ERRORS_TOLD_FILE: Final = "hooks-told"


def is_injection_off(local: Path) -> bool:
    """Say whether hooks put nothing into prompts of this project."""
    return (local / _OFF_MARKER).exists()


def set_injection(local: Path, *, on: bool) -> None:
    """Turn the hooks' injections on or off; events are recorded either way."""
    path = local / _OFF_MARKER
    if not on:
        make_private_folder(local)
    with as_disk_error(path), contextlib.suppress(FileNotFoundError):
        if on:
            untrusted_files.remove_file(path)
        else:
            untrusted_files.replace_file(path, b"")


def ids_shown_to(local: Path, session: str, *, is_subagent: bool = True) -> frozenset[str]:
    """Return the ids that the session was shown since its last compaction; its subagents as well, or not."""
    shown_ids: set[str] = set()
    for receipt in read_receipts(local, naming=session) if session else ():
        if receipt.session == session:
            if receipt.by == BRIEF_AFRESH:
                shown_ids = set()
            if is_subagent or receipt.by != SUBAGENT:
                shown_ids.update(receipt.shown)
    return frozenset(shown_ids)


def is_briefed(transcript: Path) -> bool:
    """Say whether the transcript that a harness replays has a brief in it."""
    try:
        with open_regular_file(transcript) as file:
            return any(_BRIEF_START in line for line in file)
    except (OSError, DiskError):
        return False


def _suggestion_path(local: Path, session: str) -> Path:
    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return local / OFFERS_FOLDER / f"{name}.json"


def save_suggestion(local: Path, session: str, suggestion: Mapping[str, str]) -> None:
    """Record the suggestion against an error, until it is known whether it helped."""
    path = _suggestion_path(local, session)
    make_private_folder(path.parent)
    with as_disk_error(path):
        untrusted_files.replace_file(path, json.dumps(suggestion).encode())


def load_suggestion(local: Path, session: str) -> Mapping[str, str] | None:
    """Return the recorded suggestion: command, error and technique; None where it is settled."""
    try:
        record = json.loads(untrusted_files.read_file(_suggestion_path(local, session)))
        return {name: str(record[name]) for name in ("command", "error", "technique")}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def remove_suggestion(local: Path, session: str) -> None:
    """Remove the suggestion: it is settled."""
    with contextlib.suppress(OSError):
        untrusted_files.remove_file(_suggestion_path(local, session))


def set_waiting(local: Path, session: str, *, waits: bool) -> None:
    """Record whether a failed command may yet work, so that hooks look at every call of a tool."""
    path = _suggestion_path(local, session).with_suffix(".waits")
    with as_disk_error(path):
        if waits:
            make_private_folder(path.parent)
            untrusted_files.replace_file(path, b"")
        else:
            untrusted_files.remove_file(path)


def is_waiting(local: Path, session: str) -> bool:
    """Say whether a failed command of the session may yet work, as far as hooks recorded it."""
    return _suggestion_path(local, session).with_suffix(".waits").exists()


def remove_old_suggestions(local: Path) -> None:
    """Remove the suggestions of sessions that are long over."""
    with contextlib.suppress(OSError):
        untrusted_files.remove_old_files(local / OFFERS_FOLDER, 86400)


def untold_hook_errors(folder: Path, *, now: float) -> tuple[str, ...]:
    """Return those that came since a session's brief told of errors."""
    told = 0.0
    with contextlib.suppress(DiskError, ValueError):
        told = float(read_bytes(folder / _ERRORS_TOLD_FILE) or 0)
    return recent_hook_errors(folder, now=now, since=told)


def mark_hook_errors_told(folder: Path, *, now: float) -> None:
    """Remember that a session's brief told of the errors so far; where that fails, the next one tells them again."""
    if hook_errors_stamp(folder):
        with contextlib.suppress(RoamkbError):
            write_private_file(folder / _ERRORS_TOLD_FILE, repr(now).encode())


def recent_hook_errors(folder: Path, *, now: float, since: float = 0.0) -> tuple[str, ...]:
    """Return the latest few errors of hooks, one line each."""
    # what comes again and again is said once, where it came last
    latest_first = dict.fromkeys(reversed(list(_recent_error_lines(folder, now, since))))
    return tuple(reversed(list(latest_first)[:_MOST_ERRORS]))


def hook_errors_stamp(folder: Path) -> object:
    """Return what differs once an error of a hook is recorded in `folder`."""
    return stat_signature(folder / hook_errors.HOOK_ERRORS_FILE)


def _recent_error_lines(folder: Path, now: float, since: float) -> Iterator[str]:
    for line in read_lines(folder / hook_errors.HOOK_ERRORS_FILE):
        try:
            record = json.loads(line)
            if since < float(record["ts"]) and now - float(record["ts"]) < _ERROR_DAYS * 86400:
                yield f"the hook {record['event']} failed: {record['why']}"
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
