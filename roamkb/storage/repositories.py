"""Where a project begins, and which repository it belongs to, read from the files themselves.

Git isn't asked: `GIT_DIR` and its like would answer for another folder, and a project's
own configuration could run a command.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import isdir
from posixpath import islink
from posixpath import join
from posixpath import lexists
from posixpath import realpath

from roamkb.core.model import Unreadable
from roamkb.storage.disk import Missing
from roamkb.storage.disk import read_file
from roamkb.storage.disk import why

#: What makes a folder a project's root; `.git` may be a folder or a file.
MARKS = (".roamkb", ".git", ".jj", ".hg")

#: A path and a word around it.
_POINTER = 16 * 1024
_CONFIG = 1024 * 1024

_SECTION = re.compile(r"^\s*\[\s*([^\]]*?)\s*\]\s*(.*)$")
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.*?)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """The folders that a repository's files point to, and what couldn't be followed."""

    paths: tuple[str, ...]
    doubt: str | None = None


class _Broken(Exception):
    """A pointer that leads nowhere, said in a clause."""


def is_marked(folder: str) -> bool:
    """Say whether a project begins at `folder`; raises `OSError` where it can't be looked at.

    A `.git` with nothing in it is none, and git looks further up, too: Codex's sandbox puts one into each
    folder that may be written to, and a command that is killed leaves it there.
    """
    return any(_is_there(join(folder, mark)) and not _is_hollow(join(folder, mark)) for mark in MARKS)


def ties_of(folder: str) -> Ties:
    """Return what the marked `folder` is a worktree, a submodule or a share of."""
    found: list[str] = []
    try:
        for path in _followed(folder):
            found.append(path)
            if not lexists(path):
                return Ties(paths=tuple(found), doubt=f"its repository {path} isn't there")
    except _Broken as broken:
        return Ties(paths=tuple(found), doubt=str(broken))
    except OSError as error:
        return Ties(paths=tuple(found), doubt=f"its repository can't be looked at: {why(error)}")
    return Ties(paths=tuple(found))


def _followed(folder: str) -> Iterator[str]:
    """Yield each folder that `folder`'s repository files lead to."""
    for mark in MARKS:
        path = join(folder, mark)
        if islink(path):
            yield realpath(path)
    git = join(folder, ".git")
    if _is_there(git):
        yield from _git(git)
    jj = join(folder, ".jj", "repo")
    if _is_file(jj):
        # a second workspace: the file holds the path of the first one's
        jj = _joined(dirname(jj), _line(jj))
        yield jj
    target = join(jj, "store", "git_target")
    if _is_file(target):
        yield _joined(dirname(target), _line(target))
    shared = join(folder, ".hg", "sharedpath")
    if _is_file(shared):
        yield _joined(dirname(shared), _line(shared))


def _git(git: str) -> Iterator[str]:
    """Yield the folders of a worktree, a submodule, or a repository made of links."""
    if _is_file(git):
        line = _line(git)
        if not line.startswith("gitdir:"):
            raise _Broken(f"its file {git} names no repository")
        git = _joined(dirname(git), line.removeprefix("gitdir:").strip())
        yield git
    common = join(git, "commondir")
    folders = [git]
    if _is_file(common):
        folders.append(_joined(git, _line(common)))
        yield folders[-1]
    for folder in folders:
        # `git-new-workdir` and `repo` build a repository from links into another one
        for part in ("config", "objects", "refs"):
            path = join(folder, part)
            if islink(path):
                yield realpath(path)
        yield from _alternates(join(folder, "objects"))
        for name in ("config", "config.worktree"):
            worktree = _worktree(join(folder, name))
            if worktree:
                yield _joined(folder, worktree)


def _alternates(objects: str) -> Iterator[str]:
    """Yield the object stores that a shared clone reads from, as if they were its own."""
    data = read_file(Path(objects, "info", "alternates"), limit=_CONFIG)
    if isinstance(data, Missing):
        return
    if isinstance(data, Unreadable):
        raise _Broken(f"its file {data.path} {data.reason}")
    for line in os.fsdecode(data).split("\n"):
        if line and not line.startswith("#") and "\0" not in line:
            yield _joined(objects, line.strip('"'))


def _worktree(config: str) -> str | None:
    """Return `core.worktree` of a git configuration: where a submodule's files are."""
    data = read_file(Path(config), limit=_CONFIG)
    if isinstance(data, Missing):
        return None
    if isinstance(data, Unreadable):
        raise _Broken(f"its file {config} {data.reason}")
    section, found = "", None
    for line in os.fsdecode(data).splitlines():
        head = _SECTION.match(line)
        if head:
            section, line = head[1].lower(), head[2]
        entry = _WORKTREE.match(line) if section == "core" else None
        if entry:
            found = re.sub(r"\\(.)", r"\1", entry[1].strip('"'))
    return found


def _line(path: str) -> str:
    """Return the path that a pointer file holds."""
    data = read_file(Path(path), limit=_POINTER)
    if isinstance(data, Unreadable):
        raise _Broken(f"its file {path} {data.reason}")
    line = os.fsdecode(data).strip("\r\n")
    if not line.strip() or "\0" in line or "\n" in line:
        raise _Broken(f"its file {path} names no repository")
    return line


def _joined(folder: str, path: str) -> str:
    """Return where `path`, written down in `folder`, leads; its links stay for the judge."""
    return join(realpath(folder), path)


def _is_hollow(path: str) -> bool:
    """Say whether a mark is a `.git` folder of its own with nothing in it."""
    if basename(path) != ".git" or islink(path) or not isdir(path):
        return False
    try:
        with os.scandir(path) as inside:
            return next(inside, None) is None
    except PermissionError:
        return False


def _is_there(path: str) -> bool:
    """Say whether anything goes by `path`, a broken link included."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_file(path: str) -> bool:
    """Say whether a regular file goes by `path`, through links; raises `OSError` where that can't be told."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
