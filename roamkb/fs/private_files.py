"""Files of a log's local state that are written anew each time: the audit, a review to be edited.

They lie in a project's tree, which may be somebody else's repository, so no link is followed
(one product's could be used to overwrite a file outside of the project).
"""

import contextlib
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs.files import MissingFile
from roamkb.fs.files import create
from roamkb.fs.files import digest
from roamkb.fs.files import discard
from roamkb.fs.files import read_file
from roamkb.fs.files import swap

AUDIT = "knowledge.audit.jsonl"
REVIEW = "review.org"
_MOST_BYTES = 256 * 1024**2


def put_paper(path: Path, data: bytes) -> None:
    """Make `data` the whole of the file, at once; its owner alone reads it.

    Raises:
        DiskError: it is a link, no file, or can't be written. ChangedOnDisk: somebody else writes to it.
    """
    was = _content(path)
    if was is None:
        create(path.parent, path.name, data, mode=0o600)
    else:
        swap(path, data, was=digest(was), lock=contextlib.nullcontext())


def read_paper(path: Path) -> bytes:
    """Return the whole file; nothing where there is none."""
    return _content(path) or b""


def drop_paper(path: Path) -> None:
    """Remove the file; where that fails it is only in the way."""
    discard(path)


def _content(path: Path) -> bytes | None:
    if path.is_symlink():
        raise DiskError(path, "is a link; roamkb follows none in a project's log", hint="remove it")
    found = read_file(path, limit=_MOST_BYTES)
    if isinstance(found, MissingFile):
        return None
    if isinstance(found, UnreadableFile):
        raise DiskError(path, found.reason)
    return found
