"""Private files of a log's local state that are rewritten whole: the audit, a review to be edited.

They lie in a project's tree, which may be somebody else's repository, so no link is followed
(one product's could be used to overwrite a file outside of the project).
"""

import contextlib
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs.files import MissingFile
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import discard_file
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file

AUDIT_FILE = "knowledge.audit.jsonl"
REVIEW_FILE = "review.org"
_MAX_FILE_BYTES = 256 * 1024**2


def write_private_file(path: Path, data: bytes) -> None:
    """Replace the whole file by `data`, readable by its owner alone.

    Raises:
        DiskError: it is a link, no file, or can't be written. ChangedOnDisk: somebody else writes to it.
    """
    old_content = _read_content(path)
    if old_content is None:
        create_file(path.parent, path.name, data, mode=0o600)
    else:
        swap_file(path, data, expected_digest=content_digest(old_content), lock=contextlib.nullcontext())


def read_private_file(path: Path) -> bytes:
    """Return the whole content of the file; empty if it doesn't exist."""
    return _read_content(path) or b""


def discard_private_file(path: Path) -> None:
    """Remove the file; where that fails it is only in the way."""
    discard_file(path)


def _read_content(path: Path) -> bytes | None:
    if path.is_symlink():
        raise DiskError(path, "is a link; roamkb follows none in a project's log", hint="remove it")
    content = read_file(path, limit=_MAX_FILE_BYTES)
    if isinstance(content, MissingFile):
        return None
    if isinstance(content, UnreadableFile):
        raise DiskError(path, content.reason)
    return content
