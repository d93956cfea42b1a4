"""Folders that a harness's sessions were in: once one of them was work's, what the session learns stays at work.

A harness tells with each event where its session is at that moment, and few tell where it began. So what was judged is
kept in the user's state folder, which the wall closes to commands, as digests that only the session's id can resolve.
The transcript's lines say the same of what no hook saw. This imports nothing that takes time.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH112, PTH117, PTH118, PTH120, PTH123

import json
import os
import re

from roamkb import TYPE_CHECKING
from roamkb.core.startup import digests
from roamkb.fs.untrusted_files import append_file
from roamkb.fs.untrusted_files import make_private_folder
from roamkb.fs.untrusted_files import open_file
from roamkb.fs.untrusted_files import read_file
from roamkb.fs.untrusted_files import remove_old_files
from roamkb.fs.user_dirs import SESSION_FOLDERS
from roamkb.harnesses.registry import NAMES
from roamkb.harnesses.registry import get_harness
from roamkb.harnesses.registry import harness_of_line

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A line of a session's file, beside the digests of folders.
_AT_WORK = b"work"
#: No session goes on that its human left for a year.
_RETENTION_SECONDS = 365 * 86400
_DIGEST_BYTES = 16
#: A folder as a transcript's line names it; within what somebody says, quotes are escaped.
_FOLDER_ENTRY = rb'"cwd"\s*:\s*"((?:[^"\\]|\\.)*)"'


def was_at_work(session: str, state: str) -> bool:
    """Say whether a session was in a folder that was judged to be work's."""
    return bool(session) and _AT_WORK in _read_lines(session, state)


def is_folder_judged(session: str, folder: str, state: str) -> bool:
    """Say whether a session's folder needs no judgement: there was one, or there is no log that it could guard."""
    lines = _read_lines(session, state)
    return _AT_WORK in lines or _digest(folder, session) in lines or (not lines and not os.path.isdir(state))


def record_folder(session: str, folder: str, state: str, *, is_work: bool) -> None:
    """Record the judgement of a session's folder; nothing where this account has no state, nor where it can't be."""
    line = _AT_WORK if is_work else _digest(folder, session)
    if not session or line in _read_lines(session, state) or not os.path.isdir(state):
        return
    path = _session_file(session, state)
    try:
        make_private_folder(os.path.dirname(path))
        append_file(path, line + b"\n")
        remove_old_files(os.path.dirname(path), _RETENTION_SECONDS)
    except OSError:
        return


def transcript_folders(path: str) -> "tuple[str, ...]":
    """Return the folders that a transcript's own lines say the session was in; none where it can't be read."""
    try:
        with open(open_file(path), "rb") as file:
            return tuple(dict.fromkeys(_folders_of_lines(file)))
    except (OSError, ValueError):
        return ()


def _folders_of_lines(lines: "Iterator[bytes]") -> "Iterator[str]":
    entries: set[bytes] = set()
    for line in lines:
        # most lines say what the one before said
        new_entries = set(re.findall(_FOLDER_ENTRY, line)) - entries if b'"cwd"' in line else ()
        if not new_entries:
            continue
        try:
            record = json.loads(line)
            harness = harness_of_line(record) or get_harness(NAMES[0])
            folder = harness.folder_of_line(record)
        except (ValueError, AttributeError, TypeError, RecursionError):
            continue
        # what a call's input names isn't where the session is, and may be so elsewhere
        if os.path.isabs(folder):
            entries.update(entry for entry in new_entries if _text_of_entry(entry) == folder)
            yield folder


def _text_of_entry(entry: bytes) -> object:
    return json.loads(b'"' + entry + b'"')


def _read_lines(session: str, state: str) -> "list[bytes]":
    try:
        return read_file(_session_file(session, state)).split(b"\n")
    except OSError:
        return []


def _session_file(session: str, state: str) -> str:
    return os.path.join(state, SESSION_FOLDERS, _digest(session, "").decode())


def _digest(text: str, key: str) -> bytes:
    data = f"{key}\0{text}".encode("utf-8", "surrogatepass")
    return digests.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest().encode()
