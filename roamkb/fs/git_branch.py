"""The work at hand in a git repository: branch name, titles of the last commits, changed files.

All of it is read from git's own files. Git isn't asked: a repository's configuration may name programs
that it runs. What can't be read says nothing.
"""

import os
import re
import struct
from itertools import islice
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.fs.files import read_file
from roamkb.fs.git_index import IndexEntry
from roamkb.fs.git_index import parse_entries
from roamkb.fs.worktrees import pointed_folder

_MAX_POINTER_BYTES: Final = 16 * 1024
#: A log of years; only its end is of interest.
_MAX_REFLOG_BYTES: Final = 8 * 1024 * 1024
_MAX_INDEX_BYTES: Final = 32 * 1024 * 1024
#: Files whose stat is compared: some 20 ms.
_MOST_FILES: Final = 5_000
_MOST_CHANGED: Final = 20
_MAX_TITLES: Final = 3
#: What a reflog calls a commit: `commit: T`, `commit (amend): T`.
_REFLOG_COMMIT = lazily(r"\tcommit(?: \([a-z]+\))?: (.+)$")
#: Says nothing about the work.
_TRUNK_NAMES: Final = frozenset(("main", "master", "trunk", "develop", "dev", "default", "HEAD"))

#: Of an entry's mode: a regular file; a link or a submodule isn't looked at.
_REGULAR_MODE: Final = 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBranch:
    """A repository's branch words, last commit titles and changed files; empty where unknown."""

    #: Of the branch's name, for a trunk none.
    words: str = ""
    #: Of the last commits, the latest first.
    titles: tuple[str, ...] = ()
    #: Tracked files that aren't as they were when git last looked, relative to the root.
    changed: tuple[str, ...] = ()


def read_git_branch(root: Path) -> GitBranch:
    """Return the branch, the last commits and the changed files of the worktree `root`."""
    git = _find_git_folder(root / ".git")
    if git is None:
        return GitBranch()
    return GitBranch(words=_branch_words(git), titles=_commit_titles(git), changed=_changed_files(git, root))


def _find_git_folder(git: Path) -> Path | None:
    """Return the folder that holds HEAD: `.git`, or the folder that the file of that name points to."""
    if git.is_dir():
        return git
    folder = pointed_folder(str(git))
    return Path(folder) if folder and Path(folder).is_dir() else None


def _read_text(path: Path, limit: int) -> str:
    data = read_file(path, limit=limit)
    return "" if isinstance(data, UnreadableFile) else data.decode("utf-8", "replace")


def _branch_words(git: Path) -> str:
    head = _read_text(git / "HEAD", _MAX_POINTER_BYTES).strip()
    name = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    return " ".join(word for word in re.split(r"[\W_]+", name) if word and word not in _TRUNK_NAMES)


def _commit_titles(git: Path) -> tuple[str, ...]:
    titles: dict[str, None] = {}
    for line in reversed(_read_text(git / "logs" / "HEAD", _MAX_REFLOG_BYTES).splitlines()):
        if match := _REFLOG_COMMIT.search(line):
            titles[match[1].strip()] = None
        if len(titles) == _MAX_TITLES:
            break
    return tuple(titles)


def _changed_files(git: Path, root: Path) -> tuple[str, ...]:
    data = read_file(git / "index", limit=_MAX_INDEX_BYTES)
    if isinstance(data, UnreadableFile):
        return ()
    changed_names: list[str] = []
    try:
        for entry in islice(parse_entries(data), _MOST_FILES):
            if _is_changed(root, entry):
                changed_names.append(os.fsdecode(entry.name))
            if len(changed_names) == _MOST_CHANGED:
                break
    except (struct.error, ValueError, IndexError):
        # of an index that is cut off or of another kind, what came before counts
        pass
    return tuple(changed_names)


def _is_changed(root: Path, entry: IndexEntry) -> bool:
    name = entry.name
    if entry.mode & 0o170000 != _REGULAR_MODE or b".." in name.split(b"/") or name.startswith(b"/"):
        return False
    try:
        status = (root / os.fsdecode(name)).lstat()
    except (OSError, ValueError):
        return True
    seconds, nanoseconds = entry.mtime
    is_same_time = status.st_mtime_ns // 10**9 == seconds and (
        not nanoseconds or status.st_mtime_ns % 10**9 == nanoseconds
    )
    return not is_same_time or status.st_size & 0xFFFFFFFF != entry.size
