"""What Codex writes down of a session: where it works, and how a command ended, which its hooks aren't told.

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
_TAILS = (64 * 1024, 4 * 1024 * 1024)
#: A first line holds the session's instructions.
_LONGEST_HEAD = 4 * 1024 * 1024
_DAY = 24 * 60 * 60


def folders_of_session(environment: "Mapping[str, str]") -> tuple[str, ...]:
    """Return the folders that Codex's session works in, if an environment is that of its commands.

    A tool's call may name another folder to run in, and Codex's sandbox and its background server hide the
    process that began it; the session's id is in the environment all the same.
    """
    session = environment.get("CODEX_THREAD_ID", "")
    path = _find(environment, session) if _is_id(session) else None
    if path is None:
        return ()
    # the rest of the file is what was said, and needn't be read
    tails = (_tail(path, size).split(b"\n") for size in _TAILS)
    turns = (b"\n".join(line for line in lines if b'"turn_context"' in line) for lines in tails)
    folders = (
        record["payload"].get("cwd")
        for record in (*_records(_head(path)), *_records(next(filter(None, turns), b"")))
        if record.get("type") in ("session_meta", "turn_context") and isinstance(record.get("payload"), dict)
    )
    return tuple(dict.fromkeys(one for one in folders if isinstance(one, str) and os.path.isabs(one)))


def exit_code_of(transcript: str, call: str) -> int | None:
    """Return the status with which a tool's call ended, by the file that its hook's payload names."""
    if not call or not os.path.isabs(transcript):
        return None
    for size in _TAILS:
        lines = [line for line in _tail(transcript, size).split(b"\n") if call.encode() in line]
        for record in _records(b"\n".join(lines)):
            payload = record.get("payload")
            item = payload.get("item", payload) if isinstance(payload, dict) else None
            if isinstance(item, dict) and call in (item.get("id"), item.get("call_id")):
                code = item.get("exit_code")
                if isinstance(code, int):
                    return code
    return None


def is_unattended(transcript: str) -> bool:
    """Say whether a program waits for what the session says, by its own file: nobody can be asked there."""
    heads = _records(_head(transcript)) if os.path.isabs(transcript) else ()
    told = (record.get("payload") for record in heads if record.get("type") == "session_meta")
    return any(isinstance(one, dict) and one.get("source") == "exec" for one in told)


def file_of_session(environment: "Mapping[str, str]", session: str) -> str | None:
    """Return the file in which Codex keeps a session; None where it has none of that id."""
    return _find(environment, session) if _is_id(session) else None


def _is_id(text: str) -> bool:
    return len(text) == 36 and all(letter in "0123456789abcdef-" for letter in text)


def _find(environment: "Mapping[str, str]", session: str) -> str | None:
    """Return the session's file: below the day that its id names, else below any other."""
    # both variables are the caller's to set
    told = environment.get("CODEX_HOME")
    homes = (environment.get("HOME") or "/", _account_home())
    tops = [os.path.join(home, "sessions") for home in (told, *(f"{one}/.codex" for one in homes)) if home]
    folders = (folder for find in (_days, _all_days) for top in tops for folder in find(top, session))
    for folder in dict.fromkeys(folders):
        for name in _names(folder):
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


def _days(top: str, session: str) -> "Iterator[str]":
    """Yield the folders of the day on which an id was made, and of its neighbours: the clock may be local."""
    import time

    try:
        made = int(session.replace("-", "")[:12], 16) / 1000
        for at in (made, made - _DAY, made + _DAY):
            yield os.path.join(top, time.strftime("%Y/%m/%d", time.gmtime(at)))
    except (ValueError, OverflowError, OSError):
        return


def _all_days(top: str, _: str) -> "Iterator[str]":
    folders = [top]
    for _ in ("year", "month", "day"):
        folders = [os.path.join(folder, name) for folder in folders for name in _names(folder)]
    yield from folders


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _head(path: str) -> bytes:
    """Return the first line of a regular file; nothing of what is none, such as a pipe that nobody feeds."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.readline(_LONGEST_HEAD)
    except OSError:
        return b""


def _tail(path: str, size: int) -> bytes:
    """Return the last bytes of a regular file; nothing of what is none."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size)
    except OSError:
        return b""


def _records(data: bytes) -> "Iterator[dict[str, Any]]":
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
