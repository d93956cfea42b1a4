"""What a repository is being worked on for: its branch, its last commits' titles, the files that changed.

All of it is read from git's own files. Git isn't asked: a repository's configuration may name programs
that it runs. What can't be read says nothing.
"""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file

_POINTER: Final = 16 * 1024
#: A log of years; only its end is of interest.
_REFLOG: Final = 8 * 1024 * 1024
_INDEX: Final = 32 * 1024 * 1024
#: Files whose stat is compared: some 20 ms.
_MOST_FILES: Final = 5_000
_MOST_CHANGED: Final = 20
_TITLES: Final = 3
#: What a reflog calls a commit: `commit: T`, `commit (amend): T`.
_COMMIT = lazily(r"\tcommit(?: \([a-z]+\))?: (.+)$")
#: Says nothing about the work.
_TRUNKS: Final = frozenset(("main", "master", "trunk", "develop", "dev", "default", "HEAD"))

#: mtime (s, ns), size, mode and flags of an entry of git's index, by their places in it.
_ENTRY: Final = struct.Struct(">8xII8xI8xI20xH")
_EXTENDED: Final = 0x4000
#: Of an entry's mode: a regular file; a link or a submodule isn't looked at.
_REGULAR: Final = 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranch:
    """What a repository says of the work at hand; empty where it doesn't."""

    #: Of the branch's name, for a trunk none.
    words: str = ""
    #: Of the last commits, the latest first.
    titles: tuple[str, ...] = ()
    #: Tracked files that aren't as they were when git last looked, relative to the root.
    changed: tuple[str, ...] = ()


def branch_of(root: Path) -> GitBranch:
    """Return what the git repository whose worktree is `root` says."""
    git = _repository(root / ".git")
    if git is None:
        return GitBranch()
    return GitBranch(words=_words(git), titles=_titles(git), changed=_changed(git, root))


def _repository(git: Path) -> Path | None:
    """Return the folder that holds HEAD: `.git`, or where the file of that name leads."""
    if git.is_dir():
        return git
    pointer = _text(git, _POINTER)
    if not pointer.startswith("gitdir:"):
        return None
    folder = git.parent / pointer.removeprefix("gitdir:").strip()
    return folder if folder.is_dir() else None


def _text(path: Path, limit: int) -> str:
    data = read_file(path, limit=limit)
    return "" if isinstance(data, UnreadableFile) else data.decode("utf-8", "replace")


def _words(git: Path) -> str:
    head = _text(git / "HEAD", _POINTER).strip()
    name = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    return " ".join(word for word in re.split(r"[\W_]+", name) if word and word not in _TRUNKS)


def _titles(git: Path) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for line in reversed(_text(git / "logs" / "HEAD", _REFLOG).splitlines()):
        if match := _COMMIT.search(line):
            found[match[1].strip()] = None
        if len(found) == _TITLES:
            break
    return tuple(found)


def _changed(git: Path, root: Path) -> tuple[str, ...]:
    data = read_file(git / "index", limit=_INDEX)
    if isinstance(data, UnreadableFile):
        return ()
    found: list[str] = []
    try:
        for name, seen in _entries(data):
            if _is_another(root / name, seen):
                found.append(name)
            if len(found) == _MOST_CHANGED:
                break
    except (struct.error, ValueError, IndexError):
        # of an index that is cut off or of another kind, what came before counts
        pass
    return tuple(found)


def _entries(data: bytes) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Yield the files of git's index with mtime (s, ns) and size (gitformat-index, versions 2 to 4)."""
    magic, version, count = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        return
    at, before = 12, b""
    for _ in range(min(count, _MOST_FILES)):
        seconds, nanoseconds, mode, size, flags = _ENTRY.unpack_from(data, at)
        start = at + _ENTRY.size + (2 if flags & _EXTENDED else 0)
        if version == 4:
            strip, start = _varint(data, start)
            end = data.index(b"\0", start)
            name = before[: len(before) - strip] + data[start:end]
            at, before = end + 1, name
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            # filled up to a multiple of eight, with one NUL at least
            at += (end - at + 8) & ~7
        if mode & 0o170000 == _REGULAR and b".." not in name.split(b"/") and not name.startswith(b"/"):
            yield os.fsdecode(name), (seconds, nanoseconds, size)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at`, as git's pack files have offsets, and where it ends."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _is_another(path: Path, seen: tuple[int, int, int]) -> bool:
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return True
    seconds, nanoseconds, size = seen
    is_same_time = status.st_mtime_ns // 10**9 == seconds and (
        not nanoseconds or status.st_mtime_ns % 10**9 == nanoseconds
    )
    return not is_same_time or status.st_size & 0xFFFFFFFF != size
