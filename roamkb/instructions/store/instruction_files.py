"""Instruction files in a project's tree: found by their real path, replaced whole."""

import contextlib
import os
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.model import UnreadableFile
from roamkb.core.text import one_line
from roamkb.fs.files import MissingFile
from roamkb.fs.files import content_digest
from roamkb.fs.files import read_file
from roamkb.fs.files import require_no_unsaved_changes
from roamkb.fs.files import swap_file

_MARKDOWN_ENDINGS = (".md", ".mdc", ".markdown")
#: Not the project's own text, whatever lies there.
_EXCLUDED_FOLDERS = (".git", ".hg", ".jj", ".roamkb", "node_modules")
#: Far above any file that a session could start with.
_MAX_FILE_BYTES = 1024 * 1024


def find_instruction_file(root: Path, path: Path) -> str:
    """Return the path, from the project's root `root`, of the file that `path` leads to.

    Raises:
        UsageError: it is none of the project's, or not Markdown. NotFound: it isn't there.
    """
    try:
        real, top = Path(os.path.realpath(path)), Path(os.path.realpath(root))
        is_there = path.exists()
    except (OSError, ValueError):
        real, top, is_there = path, root, False
    if not real.is_relative_to(top):
        raise UsageError(
            f"{one_line(str(path))} isn't a file of {one_line(str(root))}",
            hint="name a file in the project's own tree",
        )
    if not is_there:
        raise NotFound(str(path), kind="file", hint="make it first: an empty one will do")
    inside = real.relative_to(top)
    if real.suffix.lower() not in _MARKDOWN_ENDINGS or set(_EXCLUDED_FOLDERS) & set(inside.parts):
        raise UsageError(
            f"{one_line(str(path))} is no file of rules",
            hint="name a Markdown file, such as CLAUDE.md or AGENTS.md",
        )
    # what nobody can print or put into JSON would stand in a committed ledger
    if one_line(str(inside)) != str(inside):
        raise UsageError(f"{one_line(str(inside))} has a name that can't be shown; give it another one")
    return inside.as_posix()


def read_instruction_file(root: Path, target: str) -> bytes:
    """Return the content of a file that `find_instruction_file` named.

    Raises:
        DiskError: it isn't there any more, is a link by now, or can't be read.
    """
    path = _require_own_path(root, target)
    content = read_file(path, limit=_MAX_FILE_BYTES)
    if isinstance(content, MissingFile):
        raise DiskError(path, "doesn't exist any more")
    if isinstance(content, UnreadableFile):
        raise DiskError(path, content.reason)
    return content


def write_instruction_file(root: Path, target: str, data: bytes, *, old_content: bytes) -> None:
    """Replace the content of a file if it is still `old_content`; the log's lock is held.

    Raises:
        ChangedOnDisk: it isn't, or Emacs holds it. DiskError, NotDurable: see there.
    """
    swap_file(
        _require_own_path(root, target),
        data,
        expected_digest=content_digest(old_content),
        lock=contextlib.nullcontext(),
    )


def _require_own_path(root: Path, target: str) -> Path:
    """Return the path of `target` if it is the file itself, and still in the project."""
    path = Path(os.path.realpath(root)) / target
    if find_instruction_file(root, path) != target:
        raise DiskError(path, "is a link by now", hint="name the file that it leads to")
    return path


def require_no_emacs_lock(root: Path, target: str) -> None:
    """Raise `ChangedOnDisk` where Emacs holds unsaved changes to a file."""
    path = _require_own_path(root, target)
    require_no_unsaved_changes(path)
