"""Project roots and the repositories they belong to, read from the files themselves.

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

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs import worktrees
from roamkb.fs.files import MissingFile
from roamkb.fs.files import error_reason
from roamkb.fs.files import read_file

if TYPE_CHECKING:
    from urllib import parse as url_parse
else:
    # it takes a tenth of the time of Python's start, for the few remotes that are files
    url_parse = lazy_module("urllib.parse")

#: What makes a folder a project's root; `.git` may be a folder or a file.
ROOT_MARKS = (".roamkb", ".git", ".jj", ".hg")

_MAX_CONFIG_BYTES = 1024 * 1024

#: `[remote "name"]`, and what may follow on its line.
_SECTION_LINE = lazily(r"^\s*\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)$")
_ENTRY_LINE = lazily(r"^\s*([A-Za-z][\w:-]*)\s*=\s*(.*)$")
#: Of a value: a piece in quotes, an escape, a comment, anything else.
_VALUE_PIECE = lazily(r'"((?:[^"\\]|\\.)*)"|(\\.)|([#;].*)|(.)')
_PLAIN_VALUE = lazily(r"[^\"\\#;]*")
_PORT = lazily(r":\d*$")
#: A configuration that includes itself ends somewhere.
_MOST_CONFIGS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPointers:
    """The folders that a repository's files point to, with what couldn't be followed."""

    paths: tuple[str, ...]
    #: Where its remotes are, if that is on this disk; they needn't be there.
    remotes: tuple[str, ...] = ()
    #: Host and owner of its remotes elsewhere, `HOST/OWNER`.
    owners: tuple[str, ...] = ()
    doubt: str | None = None


class _BrokenPointer(Exception):
    """A pointer to a missing or unusable repository; the message is a clause."""


def is_project_root(folder: str) -> bool:
    """Say whether `folder` is a project's root; raises `OSError` where it can't be looked at.

    A `.git` with nothing in it is none, and git looks further up, too: a harness's sandbox puts one into each
    folder that may be written to, and a command that is killed leaves it there.
    """
    return any(_path_exists(join(folder, mark)) and not _is_empty_git_folder(join(folder, mark)) for mark in ROOT_MARKS)


def read_repository_pointers(folder: str) -> RepositoryPointers:
    """Return the repositories that `folder` is a worktree, a submodule or a share of."""
    paths: list[str] = []
    remotes: list[str] = []
    owners: list[str] = []
    doubt = None
    try:
        for url in _remotes_in_force(folder):
            remotes += _local_paths(url, folder)
            owners += _remote_owners(url)
        for path in _linked_folders(folder):
            paths.append(path)
            if not lexists(path):
                doubt = f"its repository {path} isn't there"
                break
    except _BrokenPointer as broken:
        doubt = str(broken)
    except OSError as error:
        doubt = f"its repository can't be looked at: {error_reason(error)}"
    return RepositoryPointers(paths=tuple(paths), remotes=tuple(remotes), owners=tuple(owners), doubt=doubt)


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


def _remotes_in_force(folder: str) -> Iterator[str]:
    """Yield the URLs of the remotes of `folder`'s repository, as its configuration rewrites them."""
    for git in _git_folders(folder):
        configs = (join(git, "config"), join(git, "config.worktree"))
        settings = [setting for config in configs for setting in _read_settings(config)]
        name_of_prefix = {
            setting.value: setting.name for setting in settings if setting.is_of("url", "insteadof", "pushinsteadof")
        }
        for setting in settings:
            if setting.is_of("remote", "url", "pushurl"):
                prefix = max((head for head in name_of_prefix if setting.value.startswith(head)), key=len, default="")
                yield name_of_prefix[prefix] + setting.value[len(prefix) :] if prefix else setting.value
    for setting in _read_settings(join(folder, ".hg", "hgrc")):
        if setting.section == "paths":
            yield setting.value


def _remote_owners(url: str) -> Iterator[str]:
    """Yield the host of a remote and the first name of its path there: whose it is, on a host that many share."""
    scheme, has_scheme, address = url.partition("://")
    if has_scheme and scheme.lower() != "file":
        authority, _, path = address.partition("/")
        host = _PORT.sub("", authority.rpartition("@")[2])
    elif not has_scheme and ":" in url and "/" not in url.partition(":")[0] and not url.lower().startswith("file:"):
        authority, _, path = url.partition(":")
        host = authority.rpartition("@")[2]
    else:
        return
    owner, has_name, _ = path.strip("/").partition("/")
    # without an owner the whole host is one's
    yield f"{host}/{owner if has_name else ''}".casefold()


def _local_paths(url: str, folder: str) -> Iterator[str]:
    """Yield the local path that a remote's `url` is, as written and with its `%20` decoded."""
    scheme, has_scheme, address = url.partition("://")
    if has_scheme and scheme.lower() == "file":
        path = "/" + address.partition("/")[2]
    elif url.lower().startswith("file:/"):
        path = url[len("file:") :]
    elif has_scheme or ("/" not in url.partition(":")[0] and ":" in url) or not url:
        return
    else:
        path = url
    for spelled in dict.fromkeys((path, url_parse.unquote(path)) if "%" in path else (path,)):
        if "\0" not in spelled:
            yield _join_real_folder(folder, spelled)


def _git_folders(folder: str) -> Iterator[str]:
    """Yield the git folders of the repository whose root or git folder `folder` is."""
    git = join(folder, ".git")
    if is_bare_repository(folder):
        git = folder
    elif _is_file(git):
        git = _named_git_folder(git)
    yield git
    common = join(git, "commondir")
    if _is_file(common):
        yield _join_real_folder(git, _read_pointer(common))
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


def _read_settings(config: str) -> Iterator[_GitSetting]:
    """Yield the entries of a git configuration, and of those that it includes under whatever condition."""
    pending_configs = [config]
    for _ in range(_MOST_CONFIGS):
        if not pending_configs:
            return
        config = pending_configs.pop(0)
        for setting in _parse_settings(config):
            if setting.section in ("include", "includeif") and setting.key == "path":
                pending_configs.append(_join_real_folder(dirname(config), expanduser(setting.value)))
            yield setting


def _parse_settings(config: str) -> Iterator[_GitSetting]:
    data = read_file(Path(config), limit=_MAX_CONFIG_BYTES)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise _BrokenPointer(f"its file {config} {data.reason}")
    section = name = ""
    # a backslash at a line's end joins it with the next
    for line in re.sub(r"\\\r?\n", "", os.fsdecode(data)).splitlines():
        section_line = _SECTION_LINE.match(line)
        if section_line:
            # `[remote.origin]` is an old way to say `[remote "origin"]`
            section, _, dotted_name = section_line[1].lower().partition(".")
            name, line = re.sub(r"\\(.)", r"\1", section_line[2] or dotted_name), section_line[3]
        if entry := _ENTRY_LINE.match(line):
            yield _GitSetting(section=section, name=name, key=entry[1].lower(), value=_unquote_value(entry[2]))


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
