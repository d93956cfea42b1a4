"""What is there of the notes and of what keeps them, and what of it a command changed."""

import hashlib
import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from pathlib import PurePosixPath

from roamkb.boundary.store.kb_paths import KEPT_NAMES_FILE
from roamkb.fs.user_dirs import ADOPTIONS_FOLDER
from roamkb.fs.user_dirs import MACHINE_KEY
from roamkb.fs.user_dirs import SHARED_FOLDER
from roamkb.fs.user_dirs import TRUST_FOLDER
from tests.wall.house import KB


class Part(Enum):
    """What may not be written."""

    NOTES = "notes"
    RULE = "rule"
    SETTINGS = "settings"
    PROGRAM = "program"
    STATE = "state"


_STATE = (".local", "state", "roamkb")
#: By the beginning of a path below HOME, the longest first. A second name of a note that lies elsewhere is the
#: human's own file; what it holds is the note's, where it is looked at.
_PARTS = {
    (".claude", "rules"): Part.RULE,
    (".local", "share", "roamkb", "rules"): Part.RULE,
    (".claude", "settings.json"): Part.SETTINGS,
    (".codex", "config.toml"): Part.SETTINGS,
    (".codex", "hooks.json"): Part.SETTINGS,
    (".local", "bin", "roamkb"): Part.PROGRAM,
    (".local", "share", "roamkb"): Part.PROGRAM,
    (*_STATE, "journal"): Part.STATE,
    (*_STATE, KEPT_NAMES_FILE): Part.STATE,
    (*_STATE, MACHINE_KEY): Part.STATE,
    (*_STATE, TRUST_FOLDER): Part.STATE,
    (*_STATE, ADOPTIONS_FOLDER): Part.STATE,
    (*_STATE, SHARED_FOLDER): Part.STATE,
    KB.parts: Part.NOTES,
}
#: The folders above the notes, of which only they themselves count.
_ABOVE = {KB.parts[:n] for n in range(1, len(KB.parts))}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link: what it holds, and what is only known of it."""

    content: str
    mode: int
    mtime: int
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one path."""

    part: Part
    path: str
    #: `gone`, `new`, `other content` or `metadata`.
    what: str

    @property
    def is_of_content(self) -> bool:
        """Whether more than what is known of a file changed."""
        return self.what != "metadata"


#: All that is protected in a HOME, by its path below it.
Inventory = dict[PurePosixPath, Entry]


def part_of(path: PurePosixPath) -> Part | None:
    """Return to what a path below HOME belongs; None where anybody may write."""
    if "__pycache__" in path.parts:
        return None
    if path.parts in _ABOVE:
        return Part.NOTES
    return next((_PARTS[path.parts[:n]] for n in range(len(path.parts), 0, -1) if path.parts[:n] in _PARTS), None)


def entry_of(path: Path) -> Entry:
    """Return what a path is and holds."""
    known = path.lstat()
    kind = stat.S_IFMT(known.st_mode)
    content = f"{kind:o}"
    if kind == stat.S_IFLNK:
        content = f"-> {path.readlink()}"
    elif kind == stat.S_IFREG:
        content = _digest(path, known.st_mode)
    # a folder's time says what its entries say
    mtime = known.st_mtime_ns if kind == stat.S_IFREG else 0
    attributes = tuple(sorted(os.listxattr(path, follow_symlinks=False)))
    return Entry(content, stat.S_IMODE(known.st_mode), mtime, attributes)


def _digest(path: Path, mode: int) -> str:
    if not os.access(path, os.R_OK):
        path.chmod(mode | stat.S_IRUSR)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compare(before: Inventory, after: Inventory) -> tuple[Change, ...]:
    """Return what became of each path that isn't as it was."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        was, is_now = before.get(path), after.get(path)
        if was == is_now:
            continue
        part = part_of(path)
        assert part is not None, path
        if was is None:
            # a program may keep more than it did; nothing is forged by that
            if part is not Part.STATE:
                changes.append(Change(part, str(path), "new"))
        elif is_now is None:
            changes.append(Change(part, str(path), "gone"))
        else:
            what = "metadata" if was.content == is_now.content else "other content"
            if part is not Part.STATE or what != "metadata":
                changes.append(Change(part, str(path), what))
    return tuple(changes)
