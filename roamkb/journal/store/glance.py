"""A quick check whether the journal has recorded the notes' folder and the session was told all.

Most turns of an agent change no note, and a whole look takes ten times as long as Python takes to start. A
wrong answer costs only time: whoever isn't sure has somebody look. This imports little.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH118

import os
import time

from roamkb.boundary.store.kb_paths import kb_folders
from roamkb.core.startup import digests
from roamkb.fs.mounts import MountedFolder
from roamkb.fs.tree_digest import KNOWN_FOR
from roamkb.fs.tree_digest import KnownTree
from roamkb.fs.tree_digest import TreeDigest
from roamkb.fs.tree_digest import digest_tree
from roamkb.fs.user_dirs import JOURNAL
from roamkb.fs.user_dirs import JOURNAL_DB
from roamkb.fs.user_dirs import default_state_dir
from roamkb.harnesses.registry import declared
from roamkb.journal.names import session_key

#: Beside the database.
TURNS_FOLDER = "turns"
#: Likewise: what a prompt knows of the notes' folders, so that it needn't ask for each file.
_TREE_FILE = "tree.json"
_TOLD_TREE_QUERY = (
    "SELECT value FROM fact, session WHERE name = 'tree' AND session.id = ? AND told = (SELECT max(id) FROM moment)"
)
#: Letters of a folder's name, as `fs/locks` makes it.
_KEY_LENGTH = 16
#: By which variables harnesses tell their commands the session, and the wall tells them that it is there.
_SESSION_VARIABLES = declared("session_variables")
_BROKER_VARIABLE, _LAUNCHER = b"ROAMKB_BROKER=", b"/wall/shell\0"
_PROC = "/proc"
#: Seconds after which a folder is too large for a glance.
_MAX_GLANCE_SECONDS = 1.0


class QuietJournal:
    """A journal with nothing left to record or to report; no dataclass, see `TreeDigest`."""

    __slots__ = ("folder", "tree")

    def __init__(self, folder: str, tree: TreeDigest) -> None:
        """Take the journal's folder, and the notes' folder as it was found just now."""
        self.folder = folder
        self.tree = tree


def find_quiet_journals(session: str, *, trusts_folders: bool = False) -> list[QuietJournal]:
    """Return the journals of all knowledge bases if all is recorded and nothing is left to report; else none.

    Where it `trusts_folders`, what was written into an old file as it lay there may be left to the next look.
    """
    journals: list[QuietJournal] = []
    for real in kb_folders():
        key = digests.sha256(os.fsencode(real)).hexdigest()[:_KEY_LENGTH]
        folder = os.path.join(default_state_dir(), JOURNAL, key)
        recorded = _told_tree(os.path.join(folder, JOURNAL_DB), session_key(session))
        tree = _find_recorded_tree(folder, real, recorded, session if trusts_folders else None) if recorded else None
        if tree is None:
            return []
        journals.append(QuietJournal(folder, tree))
    return journals


def _find_recorded_tree(folder: str, real: str, recorded: str, trusting_session: str | None) -> TreeDigest | None:
    """Return the notes' digest if it is the recorded one; for a `trusting_session` by the folders where it can be."""
    known = None
    if trusting_session is not None and not _has_background_commands(folder, trusting_session):
        known = _load_known_tree(folder)
    tree = _tree_as_recorded(real, recorded, known) if known else None
    if tree is None and (tree := _tree_as_recorded(real, recorded)):
        _save_known_tree(folder, real, tree)
    return tree


def _tree_as_recorded(real: str, recorded: str, known: KnownTree | None = None) -> TreeDigest | None:
    """Return the folder's digest; None where it isn't the one that was recorded."""
    tree = digest_tree(real, deadline=time.monotonic() + _MAX_GLANCE_SECONDS, known=known)
    return tree if tree is not None and tree.hex == recorded else None


def _load_known_tree(folder: str) -> KnownTree | None:
    try:
        with open(os.path.join(folder, _TREE_FILE), "rb") as file:  # noqa: PTH123
            return KnownTree.from_json(file.read())
    except OSError:
        return None


def _save_known_tree(folder: str, real: str, tree: TreeDigest) -> None:
    """Save the tree for prompts, where the system tells of a change in a folder by the folder's times."""
    path = os.path.join(folder, _TREE_FILE)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        if not MountedFolder(real).is_local:
            return
        try:
            with open(temporary, "x", encoding="utf-8") as file:  # noqa: PTH123
                file.write(tree.to_json())
            os.replace(temporary, path)  # noqa: PTH105
        except OSError:
            os.unlink(temporary)  # noqa: PTH108
    except OSError:
        # without one each file is asked
        return


def _has_background_commands(folder: str, session: str) -> bool:
    """Say whether the session's turn goes on in commands that it left behind."""
    try:
        return bool(os.stat(os.path.join(folder, TURNS_FOLDER, session_key(session))).st_size)  # noqa: PTH116
    except OSError:
        return False


def _told_tree(database: str, session: str) -> str | None:
    """Return the recorded digest of the notes' folder; None where the session wasn't told of all changes."""
    # what `sqlite3` wraps; the dates that it adapts take long to import
    import _sqlite3 as sqlite3

    try:
        db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=0.1)
    except sqlite3.Error:
        return None
    try:
        row = db.execute(_TOLD_TREE_QUERY, (session,)).fetchone()
        return row[0] if row else None
    except sqlite3.Error:
        return None
    finally:
        db.close()


def begin_turn(folder: str, session: str, *, goes_on: bool = False) -> None:
    """Record that a session's agent is at work from now on; a turn that `goes_on`, if there is one, began before."""
    turns = os.path.join(folder, TURNS_FOLDER)
    try:
        os.makedirs(turns, mode=0o700, exist_ok=True)  # noqa: PTH103
        path = os.path.join(turns, session_key(session))
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(path, flags if goes_on else flags | os.O_TRUNC, 0o600)
        try:
            if goes_on:
                # what is older was looked at file by file, and a turn that nobody ended is over after a day
                began = max(os.fstat(fd).st_mtime_ns, time.time_ns() - KNOWN_FOR)
                os.utime(fd, ns=(began, began))
            else:
                os.utime(fd)
        finally:
            os.close(fd)
    except OSError:
        # to lose it costs an explanation, and no note
        return


def end_turn(folder: str, session: str) -> None:
    """Record that the agent waits for its human, or has ended; its background commands remain at work."""
    path = os.path.join(folder, TURNS_FOLDER, session_key(session))
    try:
        if background := " ".join(_background_processes(session)):
            fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.write(fd, background.encode())
            finally:
                os.close(fd)
        else:
            os.unlink(path)  # noqa: PTH108
    except OSError:
        return


def is_process_running(process: str) -> bool:
    """Say whether a process, by its number and start time, still runs."""
    pid, _, start = process.partition(".")
    return pid.isdecimal() and _parent_and_start(pid)[1] == start


def _background_processes(session: str) -> list[str]:
    """Return the processes that a session's commands left behind, outside of the wall.

    The harness gives each command the session's name; what has none of it, or lost it, isn't found.
    """
    own_ancestors, pid = set(), str(os.getpid())
    while pid not in own_ancestors and pid != "0":
        own_ancestors.add(pid)
        pid = _parent_and_start(pid)[0]
    marks = [f"{name}={session}".encode("utf-8", "surrogateescape") for name in _SESSION_VARIABLES]
    processes = []
    for pid in _process_ids() - own_ancestors:
        try:
            with open(f"{_PROC}/{pid}/environ", "rb") as file:  # noqa: PTH123
                variables = file.read().split(b"\0")
            with open(f"{_PROC}/{pid}/cmdline", "rb") as file:  # noqa: PTH123
                is_walled = _LAUNCHER in file.read() or any(
                    variable.startswith(_BROKER_VARIABLE) for variable in variables
                )
        except OSError:
            continue
        if not is_walled and any(mark in variables for mark in marks):
            processes.append(f"{pid}.{_parent_and_start(pid)[1]}")
    return processes


def _process_ids() -> set[str]:
    try:
        return {name for name in os.listdir(_PROC) if name.isdecimal()}  # noqa: PTH208
    except OSError:
        return set()


def _parent_and_start(pid: str) -> tuple[str, str]:
    """Return a process's parent and start time; `0` and nothing for one that is gone."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
        is_dead = fields[0] in (b"Z", b"X")
        return fields[1].decode(), "" if is_dead else fields[19].decode()
    except (OSError, IndexError):
        return "0", ""
