"""A glance at the notes' folder: whether it is just as the journal has seen it, and the session was told all.

Most turns of an agent change no note, and a whole look takes ten times as long as Python takes to start. A
wrong answer costs only time: whoever isn't sure has somebody look. This imports little.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH110, PTH118

import os
import time

from roamkb.core.journal_names import session_key
from roamkb.storage.belonging import usual_state
from roamkb.storage.journal_walk import TooSlow
from roamkb.storage.journal_walk import list_folder
from roamkb.storage.kb_names import names_of_kb

#: In the state folder, and in the folder of one knowledge base below it.
JOURNAL, FILE, TURNS = "journal", "journal.db", "turns"
#: Entries as a walk has them; and what hasn't been read.
LIVE = "SELECT path, form, mode, size, mtime, ctime, inode FROM live"
_WAITING = "SELECT 1 FROM live WHERE digest IS NULL AND why IN ('', 'unreadable') AND form <> 'folder'"
#: Letters of a folder's name, as `storage/state` makes it.
_KEY = 16
#: Seconds after which a folder is too large for a glance.
_PATIENCE = 1.0


def find_quiet(session: str) -> str | None:
    """Return the journal's folder if there is nothing that it hasn't seen, and nothing to tell; else None."""
    for name in names_of_kb()[:1]:
        real = os.path.realpath(name)
        key = _sha256(os.fsencode(real))[:_KEY]
        folder = os.path.join(usual_state(), JOURNAL, key)
        if os.path.exists(os.path.join(folder, FILE)) and _is_seen(folder, real, session_key(session)):
            return folder
    return None


def _sha256(data: bytes) -> str:
    """Return what hashlib gives, without the time that OpenSSL takes where Python has its own."""
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256
    return str(sha256(data).hexdigest())


def _is_seen(folder: str, kb: str, session: str) -> bool:
    # what `sqlite3` wraps; the dates that it adapts take long to import
    import _sqlite3 as sqlite3

    try:
        db = sqlite3.connect(f"file:{os.path.join(folder, FILE)}?mode=ro", uri=True, timeout=0.1)
    except sqlite3.Error:
        return False
    try:
        told = db.execute(
            "SELECT told FROM session WHERE id = ? AND told = (SELECT max(id) FROM moment)", (session,)
        ).fetchone()
        if told is None:
            return False
        listing = list_folder(os.fsencode(kb), deadline=time.monotonic() + _PATIENCE)
        seen: set[object] = set(db.execute(LIVE))
        return not listing.unlisted and seen == listing.seen and db.execute(_WAITING).fetchone() is None
    except (sqlite3.Error, OSError, TooSlow):
        return False
    finally:
        db.close()


def begin_turn(folder: str, session: str) -> None:
    """Remember that a session's agent is at work from now on."""
    turns = os.path.join(folder, TURNS)
    try:
        os.makedirs(turns, mode=0o700, exist_ok=True)  # noqa: PTH103
        path = os.path.join(turns, session_key(session))
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        os.utime(path)
    except OSError:
        # to lose it costs an explanation, and no note
        return


def end_turn(folder: str, session: str) -> None:
    """Remember that the agent waits for its human, or is gone."""
    try:
        os.unlink(os.path.join(folder, TURNS, session_key(session)))  # noqa: PTH108
    except OSError:
        return
