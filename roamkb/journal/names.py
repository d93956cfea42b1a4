"""Names of the notes' folder that the journal keeps, and its names for sessions; imports next to nothing."""

from roamkb.core.startup import digests
from roamkb.fs.tree_digest import IGNORED_ENDS
from roamkb.fs.tree_digest import IGNORED_STARTS

#: A note beyond this is known by its stat alone.
MAX_NOTE_BYTES = 16 * 1024**2
#: Any other file of the folder: pictures and attachments, but no films.
MAX_FILE_BYTES = 4 * 1024**2
#: Why a content isn't kept.
TOO_LARGE, UNREADABLE, FULL = "too large", "unreadable", "the journal is full"

#: What programs leave beside notes; never the notes themselves.
_DROPPING_STARTS = (*map(str.encode, IGNORED_STARTS), b"~syncthing~")
_DROPPING_ENDS = tuple(map(str.encode, IGNORED_ENDS))
_CLOSED_FOLDERS = frozenset((b"node_modules", b"__pycache__"))
_NOTE_ENDS = (b".org", b".org.gpg", b".org.age", b".org_archive")
#: As in `kb/notes/file_names`, which takes longer to import than Python to start.
_CONFLICT_MARK = b".sync-conflict-"
_KEY_BYTES = 6


def is_dropping(name: bytes) -> bool:
    """Say whether a program leaves files of that name beside notes."""
    return name.startswith(_DROPPING_STARTS) or name.endswith(_DROPPING_ENDS)


def is_closed(name: bytes) -> bool:
    """Say whether a folder of that name is recorded without its content: `.git`, a package's folder."""
    return name.startswith(b".") or name in _CLOSED_FOLDERS


def max_kept_bytes(path: bytes) -> int:
    """Return the most bytes that a file at `path` may have to be kept."""
    is_note = path.endswith(_NOTE_ENDS) or _CONFLICT_MARK in path
    return MAX_NOTE_BYTES if is_note else MAX_FILE_BYTES


def session_key(session: str) -> str:
    """Return the journal's name for a harness's session, derived from its id."""
    session_bytes = session.encode("utf-8", "surrogatepass")
    return digests.blake2b(session_bytes, digest_size=_KEY_BYTES).hexdigest()
