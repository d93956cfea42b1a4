"""Where a project begins, and which repository it belongs to, read from the files themselves.

Git isn't asked: `GIT_DIR` and its like would answer for another folder, and a project's
own configuration could run a command.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import expanduser
from posixpath import isdir
from posixpath import islink
from posixpath import join
from posixpath import lexists
from posixpath import realpath
from urllib.parse import unquote

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.fs.files import why

#: What makes a folder a project's root; `.git` may be a folder or a file.
MARKS = (".roamkb", ".git", ".jj", ".hg")

#: A path and a word around it.
_POINTER = 16 * 1024
_CONFIG = 1024 * 1024

#: `[remote "name"]`, and what may follow on its line.
_SECTION = lazily(r"^\s*\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)$")
_ENTRY = lazily(r"^\s*([A-Za-z][\w:-]*)\s*=\s*(.*)$")
#: Of a value: a piece in quotes, an escape, a comment, anything else.
_PIECE = lazily(r'"((?:[^"\\]|\\.)*)"|(\\.)|([#;].*)|(.)')
_PLAIN = lazily(r"[^\"\\#;]*")
#: A configuration that includes itself ends somewhere.
_MOST_CONFIGS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPointers:
    """The folders that a repository's files point to, and what couldn't be followed."""

    paths: tuple[str, ...]
    #: Where its remotes are, if that is on this disk; they needn't be there.
    remotes: tuple[str, ...] = ()
    doubt: str | None = None


class _BrokenPointer(Exception):
    """A pointer that leads nowhere, said in a clause."""


def is_marked(folder: str) -> bool:
    """Say whether a project begins at `folder`; raises `OSError` where it can't be looked at.

    A `.git` with nothing in it is none, and git looks further up, too: Codex's sandbox puts one into each
    folder that may be written to, and a command that is killed leaves it there.
    """
    return any(_is_there(join(folder, mark)) and not _is_hollow(join(folder, mark)) for mark in MARKS)


def ties_of(folder: str) -> RepositoryPointers:
    """Return what the marked `folder` is a worktree, a submodule or a share of."""
    found: list[str] = []
    remotes: list[str] = []
    doubt = None
    try:
        remotes += _remotes(folder)
        for path in _followed(folder):
            found.append(path)
            if not lexists(path):
                doubt = f"its repository {path} isn't there"
                break
    except _BrokenPointer as broken:
        doubt = str(broken)
    except OSError as error:
        doubt = f"its repository can't be looked at: {why(error)}"
    return RepositoryPointers(paths=tuple(found), remotes=tuple(remotes), doubt=doubt)


def remote_urls(folder: str) -> tuple[str, ...]:
    """Return where the remotes of `folder`'s repository are, as its configuration says."""
    try:
        settings = [
            one
            for git in _git_folders(folder)
            for config in (join(git, "config"), join(git, "config.worktree"))
            for one in _settings(config)
        ]
    except (_BrokenPointer, OSError):
        return ()
    return tuple(one.value for one in settings if one.is_of("remote", "url", "pushurl"))


def is_bare(folder: str) -> bool:
    """Say whether `folder` is a git repository without a worktree, or the `.git` of one with it."""
    return isdir(join(folder, "objects")) and lexists(join(folder, "HEAD"))


def _remotes(folder: str) -> Iterator[str]:
    """Yield the paths of the remotes that are on this disk, of `folder`'s repository."""
    for git in _git_folders(folder):
        configs = (join(git, "config"), join(git, "config.worktree"))
        settings = [one for config in configs for one in _settings(config)]
        short = {one.value: one.name for one in settings if one.is_of("url", "insteadof", "pushinsteadof")}
        for one in settings:
            if one.is_of("remote", "url", "pushurl"):
                begin = max((head for head in short if one.value.startswith(head)), key=len, default="")
                url = short[begin] + one.value[len(begin) :] if begin else one.value
                yield from _places_on_disk(url, folder)
    for one in _settings(join(folder, ".hg", "hgrc")):
        if one.section == "paths":
            yield from _places_on_disk(one.value, folder)


def _places_on_disk(url: str, folder: str) -> Iterator[str]:
    """Yield the path that a remote's `url` is, as written and with its `%20` read."""
    scheme, has_scheme, rest = url.partition("://")
    if has_scheme and scheme.lower() == "file":
        path = "/" + rest.partition("/")[2]
    elif url.lower().startswith("file:/"):
        path = url[len("file:") :]
    elif has_scheme or ("/" not in url.partition(":")[0] and ":" in url) or not url:
        return
    else:
        path = url
    for spelled in dict.fromkeys((path, unquote(path))):
        if "\0" not in spelled:
            yield _joined(folder, spelled)


def _git_folders(folder: str) -> Iterator[str]:
    """Yield the git folders of the repository that begins at `folder`, or is it."""
    git = join(folder, ".git")
    if is_bare(folder):
        git = folder
    elif _is_file(git):
        git = _joined(folder, _line(git).removeprefix("gitdir:").strip())
    yield git
    common = join(git, "commondir")
    if _is_file(common):
        yield _joined(git, _line(common))
    jj = join(folder, ".jj", "repo")
    if _is_file(jj):
        jj = _joined(dirname(jj), _line(jj))
    target = join(jj, "store", "git_target")
    if _is_file(target):
        yield _joined(dirname(target), _line(target))


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
            raise _BrokenPointer(f"its file {git} names no repository")
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
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {data.path} {data.reason}")
    for line in os.fsdecode(data).split("\n"):
        if line and not line.startswith("#") and "\0" not in line:
            yield _joined(objects, line.strip('"'))


def _worktree(config: str) -> str | None:
    """Return `core.worktree` of a git configuration: where a submodule's files are."""
    found = [one.value for one in _settings(config) if one.is_of("core", "worktree")]
    return found[-1] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _GitSetting:
    """One entry of a configuration: `[section "name"]`, then `key = value`."""

    section: str
    name: str
    key: str
    value: str

    def is_of(self, section: str, *keys: str) -> bool:
        return self.section == section and self.key in keys


def _settings(config: str) -> Iterator[_GitSetting]:
    """Yield the entries of a git configuration, and of those that it includes under whatever condition."""
    waiting = [config]
    for _ in range(_MOST_CONFIGS):
        if not waiting:
            return
        config = waiting.pop(0)
        for one in _entries(config):
            if one.section in ("include", "includeif") and one.key == "path":
                waiting.append(_joined(dirname(config), expanduser(one.value)))
            yield one


def _entries(config: str) -> Iterator[_GitSetting]:
    data = read_file(Path(config), limit=_CONFIG)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {config} {data.reason}")
    section = name = ""
    # a backslash at a line's end joins it with the next
    for line in re.sub(r"\\\r?\n", "", os.fsdecode(data)).splitlines():
        head = _SECTION.match(line)
        if head:
            # `[remote.origin]` is an old way to say `[remote "origin"]`
            section, _, old = head[1].lower().partition(".")
            name, line = re.sub(r"\\(.)", r"\1", head[2] or old), head[3]
        if entry := _ENTRY.match(line):
            yield _GitSetting(section=section, name=name, key=entry[1].lower(), value=_value(entry[2]))


def _value(text: str) -> str:
    """Return a value without its quotes, escapes and comment."""
    if _PLAIN.fullmatch(text):
        return text.strip()
    pieces = []
    for piece in _PIECE.finditer(text.strip()):
        if piece[3]:
            break
        pieces.append(re.sub(r"\\(.)", r"\1", piece[1] or "") or (piece[2] or "")[1:] or piece[4] or "")
    return "".join(pieces).strip()


def _line(path: str) -> str:
    """Return the path that a pointer file holds."""
    data = read_file(Path(path), limit=_POINTER)
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {path} {data.reason}")
    line = os.fsdecode(data).strip("\r\n")
    if not line.strip() or "\0" in line or "\n" in line:
        raise _BrokenPointer(f"its file {path} names no repository")
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
