"""Codex's own session files: a session's folders, and the exit codes that its hooks aren't told.

Each session has a file of JSON lines, `~/.codex/sessions/YYYY/MM/DD/rollout-…-ID.jsonl`, as of Codex 0.169.
Nobody promises its form, so what isn't as expected tells nothing. A hook imports this at every step.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH113, PTH117, PTH118, PTH123, PTH208

import json
import os

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping
    from typing import Any

#: Bytes from the end, where a command's line is when its hook runs: enough, and for a long output.
_TAIL_SIZES = (64 * 1024, 4 * 1024 * 1024)
#: A first line holds the session's instructions.
_MAX_HEAD_BYTES = 4 * 1024 * 1024
_DAY_SECONDS = 24 * 60 * 60


def session_folders(environment: "Mapping[str, str]") -> tuple[str, ...]:
    """Return the folders of a Codex session, if the environment is that of its commands.

    A tool's call may name another folder to run in, and Codex's sandbox and its background server hide the
    process that began it; the session's id is in the environment all the same.
    """
    session = environment.get("CODEX_THREAD_ID", "")
    path = _find_in_homes(environment, session) if _is_session_id(session) else None
    if path is None:
        return ()
    # the rest of the file is what was said, and needn't be read
    tails = (_read_tail(path, size).split(b"\n") for size in _TAIL_SIZES)
    turns = (b"\n".join(line for line in lines if b'"turn_context"' in line) for lines in tails)
    folders = (
        record["payload"].get("cwd")
        for record in (*_parse_records(_read_first_line(path)), *_parse_records(next(filter(None, turns), b"")))
        if record.get("type") in ("session_meta", "turn_context") and isinstance(record.get("payload"), dict)
    )
    return tuple(dict.fromkeys(folder for folder in folders if isinstance(folder, str) and os.path.isabs(folder)))


def call_exit_code(transcript: str, call: str) -> int | None:
    """Return the exit code of a tool's call, from the transcript that its hook's payload names."""
    if not call or not os.path.isabs(transcript):
        return None
    for size in _TAIL_SIZES:
        lines = [line for line in _read_tail(transcript, size).split(b"\n") if call.encode() in line]
        for record in _parse_records(b"\n".join(lines)):
            payload = record.get("payload")
            item = payload.get("item", payload) if isinstance(payload, dict) else None
            if isinstance(item, dict) and call in (item.get("id"), item.get("call_id")):
                code = item.get("exit_code")
                if isinstance(code, int):
                    return code
    return None


def is_unattended(transcript: str) -> bool:
    """Say whether the transcript is of `codex exec`, where no human can be asked."""
    heads = _parse_records(_read_first_line(transcript)) if os.path.isabs(transcript) else ()
    payloads = (record.get("payload") for record in heads if record.get("type") == "session_meta")
    return any(isinstance(payload, dict) and payload.get("source") == "exec" for payload in payloads)


def find_session_file(environment: "Mapping[str, str]", session: str) -> str | None:
    """Return Codex's file of a session; None without one of that id."""
    return _find_in_homes(environment, session) if _is_session_id(session) else None


def _is_session_id(text: str) -> bool:
    return len(text) == 36 and all(letter in "0123456789abcdef-" for letter in text)


def _find_in_homes(environment: "Mapping[str, str]", session: str) -> str | None:
    """Return the session's file: below the day that its id encodes, else below any other."""
    # both variables are the caller's to set
    codex_home = environment.get("CODEX_HOME")
    homes = (environment.get("HOME") or "/", _account_home())
    tops = [
        os.path.join(home, "sessions") for home in (codex_home, *(f"{user_home}/.codex" for user_home in homes)) if home
    ]
    folders = (
        folder
        for day_folders in (_likely_day_folders, _all_day_folders)
        for top in tops
        for folder in day_folders(top, session)
    )
    for folder in dict.fromkeys(folders):
        for name in _list_names(folder):
            if name.endswith(f"{session}.jsonl"):
                return os.path.join(folder, name)
    return None


def _account_home() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        # a user that the system doesn't know
        return "/"


def _likely_day_folders(top: str, session: str) -> "Iterator[str]":
    """Yield the folders of an id's day and of the days beside it: the clock may be local."""
    import time

    try:
        created = int(session.replace("-", "")[:12], 16) / 1000
        for moment in (created, created - _DAY_SECONDS, created + _DAY_SECONDS):
            yield os.path.join(top, time.strftime("%Y/%m/%d", time.gmtime(moment)))
    except (ValueError, OverflowError, OSError):
        return


def _all_day_folders(top: str, _: str) -> "Iterator[str]":
    folders = [top]
    for _ in ("year", "month", "day"):
        folders = [os.path.join(folder, name) for folder in folders for name in _list_names(folder)]
    yield from folders


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _read_first_line(path: str) -> bytes:
    """Return the first line of a regular file; empty for others, such as a pipe without a writer."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.readline(_MAX_HEAD_BYTES)
    except OSError:
        return b""


def _read_tail(path: str, size: int) -> bytes:
    """Return the last bytes of a regular file; empty for others."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    except OSError:
        return b""


def _parse_records(data: bytes) -> "Iterator[dict[str, Any]]":
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
