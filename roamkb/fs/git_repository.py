"""Project roots and the repositories they belong to, read from the files themselves.

Git isn't asked: `GIT_DIR` and its like would answer for another folder, and a project's
own configuration could run a command.
"""

import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import expanduser
from posixpath import isdir
from posixpath import islink
from posixpath import join
from posixpath import lexists
from posixpath import realpath

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs import worktrees
from roamkb.fs.files import MissingFile
from roamkb.fs.files import error_reason
from roamkb.fs.files import read_file

#: What makes a folder a project's root; `.git` may be a folder or a file.
ROOT_MARKS = (".roamkb", ".git", ".jj", ".hg")

_MAX_CONFIG_BYTES = 1024 * 1024

#: `[remote "name"]`, of which several may stand in a line, and an entry behind them.
_SECTION = lazily(r"\s*\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_ENTRY = lazily(r"\s*([A-Za-z][\w:-]*)\s*=\s*(.*)$")
#: Of a value: a piece in quotes, an escape, a comment, anything else.
_VALUE_PIECE = lazily(r'"((?:[^"\\]|\\.)*)"|(\\.)|([#;].*)|(.)')
#: Of a line: an escape, a quote, a comment, anything else.
_LINE_PIECE = lazily(r"\\.|(\")|([#;])|[^\"\\#;]+|\\$")
_PLAIN_VALUE = lazily(r"[^\"\\#;]*")
#: The program that serves a repository, by whatever path.
_PLAIN_SERVICE = lazily(r"(?:[\w./~+-]*/)?git-(?:upload|receive)-pack")
#: A configuration that includes itself ends somewhere.
_MOST_CONFIGS = 32
#: Of one repository, with those that a configuration may rewrite them to.
_MOST_URLS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPointers:
    """The folders that a repository's files point to, with what couldn't be followed."""

    paths: tuple[str, ...]
    #: Of its remotes, as written and as a configuration may rewrite them.
    urls: tuple[str, ...] = ()
    #: `core.sshCommand` and `core.gitProxy` of the repository itself, and of the user: the key and the command.
    commands: tuple[tuple[str, str], ...] = ()
    user_commands: tuple[tuple[str, str], ...] = ()
    doubt: str | None = None


class _BrokenPointer(Exception):
    """A pointer to a missing or unusable repository; the message is a clause."""


def is_project_root(folder: str) -> bool:
    """Say whether `folder` is a project's root; raises `OSError` where it can't be looked at.

    A `.git` with nothing in it is none, and git looks further up, too: a harness's sandbox puts one into each
    folder that may be written to, and a command that is killed leaves it there.
    """
    return any(_path_exists(join(folder, mark)) and not _is_empty_git_folder(join(folder, mark)) for mark in ROOT_MARKS)


def read_repository_pointers(
    folder: str, *, user_configs: Sequence[str] = (), homes: Sequence[str] = ()
) -> RepositoryPointers:
    """Return the repositories that `folder` is a worktree, a submodule or a share of, and the URLs of its remotes.

    `user_configs` are the files in which git finds what it does with URLs in every repository, and `homes` what `~` is.
    """
    paths: list[str] = []
    urls: dict[str, None] = {}
    remotes = _Remotes()
    doubt = None
    try:
        remotes.read(folder, user_configs, homes)
        doubt = remotes.doubt
        for url in remotes.urls_in_force():
            urls[url] = None
            if len(urls) > _MOST_URLS:
                raise _BrokenPointer(f"it has more than {_MOST_URLS} remotes")
        for path in _linked_folders(folder):
            paths.append(path)
            if not lexists(path):
                doubt = f"its repository {path} isn't there"
                break
    except _BrokenPointer as broken:
        doubt = str(broken)
    except OSError as error:
        doubt = f"its repository can't be looked at: {error_reason(error)}"
    return RepositoryPointers(
        paths=tuple(paths),
        urls=tuple(urls),
        commands=_transport_commands(remotes.settings),
        user_commands=_transport_commands(remotes.user_settings),
        doubt=doubt,
    )


def remote_urls(folder: str) -> tuple[str, ...]:
    """Return the URLs of the remotes of `folder`'s repository, as its configuration says."""
    try:
        settings = [
            setting
            for git in _git_folders(folder)
            for config in (join(git, "config"), join(git, "config.worktree"))
            for setting in _read_settings(config)
        ]
    except (_BrokenPointer, OSError):
        return ()
    return tuple(setting.value for setting in settings if setting.is_of("remote", "url", "pushurl"))


def is_bare_repository(folder: str) -> bool:
    """Say whether `folder` is a git repository without a worktree, or the `.git` of one with it."""
    return isdir(join(folder, "objects")) and lexists(join(folder, "HEAD"))


class _Remotes:
    """The remotes of one repository, and what the configuration says of them."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.settings: list[_GitSetting] = []
        self.user_settings: list[_GitSetting] = []
        self.doubt: str | None = None

    def read(self, folder: str, user_configs: Sequence[str], homes: Sequence[str]) -> None:
        """Read the remotes of `folder`'s repository, and the user's configuration where there are some."""
        for git in _git_folders(folder):
            settings = [
                setting for name in ("config", "config.worktree") for setting in _read_settings(join(git, name), homes)
            ]
            self.urls += (*_configured_urls(settings), *_urls_in_files(git))
            self.settings += settings
        hgrc = _read_settings(join(folder, ".hg", "hgrc"), homes)
        self.urls += (setting.value for setting in hgrc if setting.section == "paths")
        for config in user_configs if self.urls else ():
            try:
                self.user_settings += _read_settings(config, homes)
            except _BrokenPointer as broken:
                # git, too, does without a user's file that it may not read
                self.doubt = str(broken) if os.access(config, os.R_OK) else self.doubt

    def urls_in_force(self) -> Iterator[str]:
        """Yield the URLs as written, and as they may be rewritten."""
        names: dict[str, set[str]] = {}
        for setting in (*self.settings, *self.user_settings):
            if setting.is_of("url", "insteadof", "pushinsteadof"):
                names.setdefault(setting.value, set()).add(setting.name)
        # there are few lengths, whatever the number of heads
        lengths = sorted({len(head) for head in names})
        urls = list(dict.fromkeys(self.urls))
        yield from urls
        for url in urls[:_MOST_URLS]:
            for length in lengths:
                yield from (name + url[length:] for name in sorted(names.get(url[:length], ())) if length <= len(url))


def _transport_commands(settings: Sequence["_GitSetting"]) -> tuple[tuple[str, str], ...]:
    commands = (s for s in settings if s.is_of("core", "sshcommand", "gitproxy"))
    return tuple(dict.fromkeys((setting.key, setting.value) for setting in commands))


def _configured_urls(settings: Sequence["_GitSetting"]) -> Iterator[str]:
    """Yield the URLs that a configuration names; where a remote's name may stand, a URL or path may, too."""
    helper_of = {setting.name: setting.value for setting in settings if setting.is_of("remote", "vcs")}
    names = {setting.name for setting in settings if setting.section == "remote"}
    for setting in settings:
        # of a submodule, the files lie in this repository's folder
        if setting.is_of("svn-remote", "url", "pushurl") or setting.is_of("submodule", "url"):
            yield setting.value
        elif setting.is_of("remote", "url", "pushurl"):
            helper = helper_of.get(setting.name)
            yield f"{helper}::{setting.value}" if helper else setting.value
        elif setting.is_of("remote", "uploadpack", "receivepack") and not _PLAIN_SERVICE.fullmatch(setting.value):
            # of a remote that is a path, it runs here
            yield f"ext::{setting.value}"
        elif (
            setting.is_of("branch", "remote", "pushremote") or setting.is_of("remote", "pushdefault")
        ) and setting.value not in names:
            yield setting.value


def _urls_in_files(git: str) -> Iterator[str]:
    """Yield the URLs of the old files of remotes: `URL: …` in git's `remotes`, `URL#BRANCH` in its `branches`."""
    for name in ("remotes", "branches"):
        try:
            files = sorted(os.listdir(join(git, name)))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            continue
        for file in files[:_MOST_CONFIGS]:
            data = read_file(Path(git, name, file), limit=_MAX_CONFIG_BYTES)
            if isinstance(data, UnreadableFile):
                raise _BrokenPointer(f"its file {data.path} {data.reason}")
            for line in os.fsdecode(data).split("\n"):
                if name == "branches":
                    yield line.partition("#")[0].strip()
                elif line.startswith(("URL:", "Push-URL:")):
                    yield line.partition(":")[2].strip()


def _git_folders(folder: str) -> Iterator[str]:
    """Yield the git folders of the repository whose root or git folder `folder` is."""
    git = join(folder, ".git")
    if _is_file(git):
        git = _named_git_folder(git)
    for git_folder in (git, folder) if is_bare_repository(folder) else (git,):
        yield git_folder
        common = join(git_folder, "commondir")
        if _is_file(common):
            yield _join_real_folder(git_folder, _read_pointer(common))
    jj = join(folder, ".jj", "repo")
    if _is_file(jj):
        jj = _join_real_folder(dirname(jj), _read_pointer(jj))
    target = join(jj, "store", "git_target")
    if _is_file(target):
        yield _join_real_folder(dirname(target), _read_pointer(target))


def _linked_folders(folder: str) -> Iterator[str]:
    """Yield each folder that `folder`'s repository files lead to."""
    for mark in ROOT_MARKS:
        path = join(folder, mark)
        if islink(path):
            yield realpath(path)
    git = join(folder, ".git")
    if _path_exists(git):
        yield from _git_linked_folders(git)
    if is_bare_repository(folder):
        yield from _git_linked_folders(folder)
    jj = join(folder, ".jj", "repo")
    if _is_file(jj):
        # a second workspace: the file holds the path of the first one's
        jj = _join_real_folder(dirname(jj), _read_pointer(jj))
        yield jj
    target = join(jj, "store", "git_target")
    if _is_file(target):
        yield _join_real_folder(dirname(target), _read_pointer(target))
    shared = join(folder, ".hg", "sharedpath")
    if _is_file(shared):
        yield _join_real_folder(dirname(shared), _read_pointer(shared))


def _git_linked_folders(git: str) -> Iterator[str]:
    """Yield the folders of a worktree, a submodule, or a repository made of links."""
    if _is_file(git):
        git = _named_git_folder(git)
        yield git
    common = join(git, "commondir")
    folders = [git]
    if _is_file(common):
        folders.append(_join_real_folder(git, _read_pointer(common)))
        yield folders[-1]
    for folder in folders:
        # `git-new-workdir` and `repo` build a repository from links into another one
        for part in ("config", "objects", "refs"):
            path = join(folder, part)
            if islink(path):
                yield realpath(path)
        yield from _alternate_stores(join(folder, "objects"))
        for name in ("config", "config.worktree"):
            worktree = _configured_worktree(join(folder, name))
            if worktree:
                yield _join_real_folder(folder, worktree)


def _alternate_stores(objects: str) -> Iterator[str]:
    """Yield the object stores that a shared clone reads from, as if they were its own."""
    data = read_file(Path(objects, "info", "alternates"), limit=_MAX_CONFIG_BYTES)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {data.path} {data.reason}")
    for line in os.fsdecode(data).split("\n"):
        if line and not line.startswith("#") and "\0" not in line:
            yield _join_real_folder(objects, line.strip('"'))


def _configured_worktree(config: str) -> str | None:
    """Return `core.worktree` of a git configuration: the folder of a submodule's files."""
    values = [setting.value for setting in _read_settings(config) if setting.is_of("core", "worktree")]
    return values[-1] if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _GitSetting:
    """One entry of a configuration: `[section "name"]`, then `key = value`."""

    section: str
    name: str
    key: str
    value: str

    def is_of(self, section: str, *keys: str) -> bool:
        return self.section == section and self.key in keys


def _read_settings(config: str, homes: Sequence[str] = ()) -> Iterator[_GitSetting]:
    """Yield the entries of a git configuration, and of those that it includes under whatever condition."""
    first, pending_configs = config, [config]
    visited: set[str] = set()
    while pending_configs:
        config = pending_configs.pop(0)
        if config in visited:
            continue
        if len(visited) == _MOST_CONFIGS:
            raise _BrokenPointer(f"more than {_MOST_CONFIGS} files belong to the configuration {first}")
        visited.add(config)
        for setting in _parse_settings(config):
            if setting.section in ("include", "includeif") and setting.key == "path":
                pending_configs += (
                    _join_real_folder(dirname(config), path) for path in _expand_home(setting.value, homes)
                )
            yield setting


def _expand_home(path: str, homes: Sequence[str]) -> Iterator[str]:
    """Yield what a path may be that begins with `~/`: in each of the homes."""
    if path.startswith("~/") and homes:
        yield from (join(home, path[2:]) for home in homes)
    else:
        yield expanduser(path)


def _parse_settings(config: str) -> Iterator[_GitSetting]:
    data = read_file(Path(config), limit=_MAX_CONFIG_BYTES)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {config} {data.reason}")
    section = name = ""
    for line in _joined_lines(os.fsdecode(data.removeprefix(BOM_UTF8))):
        start = 0
        while header := _SECTION.match(line, start):
            # `[remote.origin]` is an old way to say `[remote "origin"]`
            section, _, dotted_name = header[1].lower().partition(".")
            name, start = re.sub(r"\\(.)", r"\1", header[2] or dotted_name), header.end()
        if entry := _ENTRY.match(line, start):
            yield _GitSetting(section=section, name=name, key=entry[1].lower(), value=_unquote_value(entry[2]))


def _joined_lines(text: str) -> Iterator[str]:
    """Yield the lines of a configuration; a backslash at the end of one joins it with the next, but in a comment."""
    parts: list[str] = []
    is_quoted = False
    # not `splitlines`, which knows more ends of lines than git
    for line in text.split("\n"):
        part = line.removesuffix("\r")
        if (len(part) - len(part.rstrip("\\"))) % 2 and not (pieces := _LinePieces(part, is_quoted)).has_comment:
            parts.append(part[:-1])
            is_quoted = pieces.ends_quoted
            continue
        yield "".join((*parts, part))
        parts.clear()
        is_quoted = False
    yield "".join(parts)


class _LinePieces:
    """What a line that may be continued says of the next one."""

    def __init__(self, line: str, is_quoted: bool) -> None:
        self.has_comment = False
        self.ends_quoted = is_quoted
        for piece in _LINE_PIECE.finditer(line):
            if piece[1]:
                self.ends_quoted = not self.ends_quoted
            elif piece[2] and not self.ends_quoted:
                self.has_comment = True


def _unquote_value(text: str) -> str:
    """Return a value without its quotes, escapes and comment."""
    if _PLAIN_VALUE.fullmatch(text):
        return text.strip()
    pieces = []
    for piece in _VALUE_PIECE.finditer(text.strip()):
        if piece[3]:
            break
        pieces.append(re.sub(r"\\(.)", r"\1", piece[1] or "") or (piece[2] or "")[1:] or piece[4] or "")
    return "".join(pieces).strip()


def _named_git_folder(git: str) -> str:
    """Return the folder that a `.git` file names."""
    try:
        return worktrees.named_folder(git, _read_pointer(git))
    except ValueError as error:
        raise _BrokenPointer(f"its file {git} {error}") from error


def _read_pointer(path: str) -> str:
    """Return the line that a pointer file holds."""
    try:
        return worktrees.read_pointer(path, follows_links=True)
    except OSError as error:
        raise _BrokenPointer(f"its file {path} {error_reason(error)}") from error
    except ValueError as error:
        raise _BrokenPointer(f"its file {path} {error}") from error


def _join_real_folder(folder: str, path: str) -> str:
    """Return `path` relative to the real `folder`; its links are left for the judge."""
    return join(realpath(folder), path)


def _is_empty_git_folder(path: str) -> bool:
    """Say whether a mark is a `.git` folder of its own with nothing in it."""
    if basename(path) != ".git" or islink(path) or not isdir(path):
        return False
    try:
        with os.scandir(path) as inside:
            return next(inside, None) is None
    except PermissionError:
        return False


def _path_exists(path: str) -> bool:
    """Say whether anything exists at `path`, a broken link included."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_file(path: str) -> bool:
    """Say whether `path` is a regular file, through links; raises `OSError` where that is unknown."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
