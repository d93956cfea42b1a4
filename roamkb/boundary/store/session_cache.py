"""Cached permissions of sessions, kept for some minutes for hooks that run at every step.

To classify a session takes several times as long as Python takes to start. So what was found is kept in the
project's own local folder, and counts while the same session says the same of where it works and the rule's
files are the same; a session's start always looks again. This imports nothing that takes time, and where it
knows no answer somebody else finds one.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH110, PTH116, PTH118, PTH119, PTH120, PTH208

import json
import os
import re
import stat
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.fs import worktrees
from roamkb.fs.untrusted_files import append_file
from roamkb.fs.untrusted_files import list_files
from roamkb.fs.untrusted_files import make_private_folder
from roamkb.fs.untrusted_files import read_file
from roamkb.fs.untrusted_files import remove_file
from roamkb.fs.untrusted_files import remove_old_files
from roamkb.fs.untrusted_files import replace_file
from roamkb.fs.user_dirs import SANDBOX_CALLS
from roamkb.fs.user_dirs import default_state_dir
from roamkb.fs.user_dirs import is_adoption_recorded
from roamkb.fs.user_dirs import local_state_name

#: Seconds after which somebody looks again.
_FRESH_SECONDS = 600
_PASSES_FOLDER = "passes"
_TASK_SUFFIX = ".task"
#: Seconds between the call for a subagent and its start, at most; the human may be asked in between.
_TASK_SECONDS = 60
_MAX_PASS_BYTES = 64 * 1024
#: Seconds after which a session has ended.
_OLD_SECONDS = 86400
#: Folders up to the root; no project is nested so deep.
_MAX_DEPTH = 64

#: Of the local folder: remedies that wait for their outcome; the file that says "put nothing into prompts".
OFFERS_FOLDER = "offers"
#: Calls that a sandbox keeps from the notes: anything in the project may put one there.
SPOOL_FOLDER = "spool"
INJECTION_OFF_FILE = "injection-off"

Evidence = Sequence[str | None]
Pass = Mapping[str, object]


def find_pass(session: str, folder: str, *, evidence: Evidence, rules: Sequence[str]) -> Pass | None:
    """Return the session's cached permissions in the project of `folder`; None without fresh ones."""
    if not is_session_id(session):
        return None
    for local in _local_folders(folder):
        path = os.path.join(local, _PASSES_FOLDER, f"{session}.json")
        try:
            status = os.lstat(path)
            if (
                not stat.S_ISREG(status.st_mode)
                or status.st_size > _MAX_PASS_BYTES
                or abs(time.time() - status.st_mtime) > _FRESH_SECONDS
            ):
                return None
            session_pass = json.loads(read_file(path))
        except (OSError, ValueError, RecursionError):
            return None
        is_same = isinstance(session_pass, dict) and session_pass.get("known by") == _pass_evidence(
            session, evidence, rules
        )
        return session_pass if is_same and session_pass.get("local") == local else None
    return None


def save_pass(
    local: str, session: str, session_pass: Mapping[str, object], *, evidence: Evidence, rules: Sequence[str]
) -> None:
    """Cache in the existing folder `local` what the session may do; a failure to write is ignored."""
    if not is_session_id(session):
        return
    path = os.path.join(local, _PASSES_FOLDER, f"{session}.json")
    session_pass = {**session_pass, "local": local, "known by": _pass_evidence(session, evidence, rules)}
    try:
        remove_old_files(_make_passes_folder(local), _OLD_SECONDS)
        replace_file(path, json.dumps(session_pass).encode())
    except OSError:
        return


def _make_passes_folder(local: str) -> str:
    """Return the folder of passes, created if need be."""
    folder = os.path.join(local, _PASSES_FOLDER)
    make_private_folder(folder)
    return folder


def has_offers(local: str) -> bool:
    """Say whether a session was offered a remedy whose outcome isn't known."""
    return _has_files(os.path.join(local, OFFERS_FOLDER))


def has_calls(local: str) -> bool:
    """Say whether a call waits for a hook outside of its sandbox."""
    return _is_real_folder(os.path.join(local, SPOOL_FOLDER)) or _is_real_folder(
        confirmed_calls(local, default_state_dir())
    )


def confirmed_calls(local: str, state: str) -> str:
    """Return the folder of the calls that a session certainly made, which no command can write."""
    return os.path.join(state, SANDBOX_CALLS, os.path.basename(local))


def has_passes(local: str) -> bool:
    """Say whether a hook served a session of the project in the last day."""
    return _has_files(os.path.join(local, _PASSES_FOLDER))


def _has_files(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def unasked_subjects(local: str, session: str, file: str, names: Sequence[str] = ()) -> list[str]:
    """Return those of a file and of names in it of which the log may know and the session didn't ask yet."""
    if os.path.exists(os.path.join(local, INJECTION_OFF_FILE)):
        return []
    try:
        log_folder = os.path.dirname(os.path.dirname(local))
        log_bytes = read_file(os.path.join(log_folder, "knowledge.jsonl"))
        archive = os.path.join(log_folder, "knowledge.archive.jsonl")
        # rotation moves what is still known
        if os.path.exists(archive):
            log_bytes += read_file(archive)
        subjects = [file] if _may_name_file(log_bytes, file) else []
        subjects += [name for name in names if name.encode() in log_bytes]
        if not subjects or not is_session_id(session):
            return []
        asked_file = os.path.join(_make_passes_folder(local), f"{session}.files")
        # the file is made, so that there is one to read
        append_file(asked_file, b"")
        asked = set(read_file(asked_file).splitlines())
        new_subjects = [subject for subject in subjects if json.dumps(subject).encode() not in asked]
        append_file(asked_file, b"".join(json.dumps(subject).encode() + b"\n" for subject in new_subjects))
    except OSError:
        return []
    return new_subjects


def _may_name_file(log_bytes: bytes, file: str) -> bool:
    """Say whether a learning's files may match: one of them names a part of the path, or has a wildcard."""
    patterns = b" ".join(re.findall(rb'"files": ?\[([^\]]*)', log_bytes))
    return any(mark in patterns for mark in (b"*", b"?", b"[")) or any(
        json.dumps(part)[1:-1].encode() in patterns for part in file.split("/") if part
    )


def keep_subagent_task(local: str, session: str, call: str, task: str) -> None:
    """Keep what a subagent is to do until it starts, which its start doesn't tell; a failure is ignored."""
    if not is_session_id(session) or not call.isascii() or not call.replace("_", "").replace("-", "").isalnum():
        return
    try:
        path = os.path.join(_make_passes_folder(local), f"{session}.{call[:100]}{_TASK_SUFFIX}")
        replace_file(path, task.encode("utf-8", "replace"))
    except OSError:
        return


def take_subagent_task(local: str, session: str) -> str:
    """Return the first kept task of a session's subagents that none has taken yet; empty where there is none.

    Several are often called for at once, and start in that order. What never started, since its human said no, is
    forgotten after a minute.
    """
    folder = os.path.join(local, _PASSES_FOLDER)
    try:
        waiting = [
            (status.st_mtime_ns, os.path.join(folder, name))
            for name, status in list_files(folder)
            if name.startswith(f"{session}.") and name.endswith(_TASK_SUFFIX)
        ]
    except OSError:
        return ""
    task = ""
    for changed_ns, path in sorted(waiting):
        is_old = time.time() - changed_ns / 1e9 > _TASK_SECONDS
        if task and not is_old:
            continue
        try:
            kept_task = read_file(path).decode("utf-8", "replace")
            # another subagent that starts now may have been faster
            remove_file(path)
        except OSError:
            continue
        task = task if is_old else kept_task
    return task


def find_local_folder(folder: str) -> str | None:
    """Return this machine's folder of the log that contains `folder`; None where none was adopted."""
    return next(_local_folders(folder), None)


def _local_folders(folder: str) -> Iterator[str]:
    """Yield this machine's local folder of the nearest `.roamkb` upwards, if none of it is a link.

    That of a worktree is its main checkout's.
    """
    for _ in range(_MAX_DEPTH):
        home = folder
        if worktrees.is_linked(folder) or _is_real_folder(os.path.join(folder, ".roamkb")):
            home = worktrees.shared_folder(folder)
        log = os.path.join(home, ".roamkb")
        if _is_real_folder(log):
            ignored = os.path.join(log, "local")
            state = default_state_dir()
            local_name = local_state_name(home, state) if _is_real_folder(ignored) else ""
            local = os.path.join(ignored, local_name)
            if local_name and _is_real_folder(local) and _is_adopted(state, local_name):
                yield local
            return
        top = os.path.dirname(folder)
        if top == folder:
            return
        folder = top


def _is_adopted(state: str, name: str) -> bool:
    try:
        return is_adoption_recorded(state, name)
    except OSError:
        # nobody can tell
        return False


def _is_real_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_session_id(session: str) -> bool:
    """Say whether a text is a session's id as harnesses make them, and so fit for a file's name."""
    return 0 < len(session) <= 100 and session.isascii() and session.replace("-", "").isalnum()


def _pass_evidence(session: str, evidence: Evidence, rules: Sequence[str]) -> list[object]:
    return [session, list(evidence), [[rule, *_stat_signature(rule)] for rule in rules]]


def _stat_signature(path: str) -> list[int]:
    """Return values that differ once a file, or a link's target, was written to or replaced."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
