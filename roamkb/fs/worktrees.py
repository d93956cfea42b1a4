"""Worktrees of a repository share one folder for a project's log: the main checkout, or what stands for it.

A worktree's `.git` is a file that names a folder below the repository's own `worktrees`. Such a file can come
from anywhere with an unpacked archive, so it counts only where that folder names the worktree in return, as git
itself wants it (gitrepository-layout(5): `gitdir` and `commondir`). A jj workspace's `.jj/repo` is such a file, too,
and counts where the repository that it names lists the workspace's folder. Hooks ask at every step, so that this
imports nothing that takes time.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120, PTH121, PTH208

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

#: A path and a word around it.
_MAX_POINTER_BYTES = 16 * 1024
#: Of a repository's configuration.
_MAX_CONFIG_BYTES = 256 * 1024
#: Of the list of a jj repository's workspaces.
_MAX_LIST_BYTES = 256 * 1024
#: Of a number in Protocol Buffers.
_MAX_VARINT_BYTES = 10
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Folders up to the root; no project is nested so deep.
_MAX_DEPTH = 64


def shared_folder(root: str) -> str:
    """Return the folder whose log the checkout at `root` shares with the others of its repository.

    That is `root` itself but for a linked worktree: the main checkout then, or the folder that git calls
    common where there is none. What lies deeper in a worktree shares what lies there in the main checkout.
    """
    folder = root
    for _ in range(_MAX_DEPTH):
        git, jj = os.path.join(folder, ".git"), os.path.join(folder, ".jj", "repo")
        if os.path.lexists(git) or os.path.lexists(jj):
            top = _main_checkout(git) if os.path.lexists(git) else _main_workspace(folder)
            if top is None:
                return root
            inner = os.path.normpath(os.path.join(os.path.realpath(top), os.path.relpath(root, folder)))
            # a branch may have a link there, which leads anywhere
            return inner if os.path.isdir(inner) and os.path.realpath(inner) == inner else top
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return root


def is_linked(folder: str) -> bool:
    """Say whether `folder` has a file that may make it a worktree of a repository elsewhere."""
    return any(os.path.isfile(os.path.join(folder, *names)) for names in ((".git",), (".jj", "repo")))


def is_unlisted_workspace(root: str) -> bool:
    """Say whether `root` names a jj repository elsewhere that doesn't list it among its workspaces."""
    named = os.path.isfile(os.path.join(root, ".jj", "repo")) and not os.path.lexists(os.path.join(root, ".git"))
    return named and _jj_workspace(root) is None


def worktree_name(root: str) -> str:
    """Return the name that git or jj has for the linked worktree at `root`; empty where it is none."""
    admin = _admin_folder(os.path.join(root, ".git"))
    if admin:
        return os.path.basename(admin)
    workspace = _jj_workspace(root)
    return workspace[1] if workspace else ""


def linked_worktrees(root: str) -> tuple[str, ...]:
    """Return the folders of the worktrees that are linked to the main checkout, or bare repository, at `root`."""
    git = os.path.join(root, ".git")
    listed = os.path.join(git if os.path.isdir(git) else root, "worktrees")
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(listed))
    gits = (os.path.join(listed, name, _read_line(os.path.join(listed, name, "gitdir"))) for name in names)
    # a worktree that was removed by hand is listed until git prunes it
    folders = [os.path.dirname(git) for git in gits if _admin_folder(git) is not None]
    repository = os.path.realpath(os.path.join(root, ".jj", "repo"))
    workspaces = (folder for _, folder in _listed_workspaces(repository))
    folders += sorted(folder for folder in workspaces if (_jj_workspace(folder) or ("",))[0] == repository)
    return tuple(dict.fromkeys(folders))


def _main_checkout(git: str) -> str | None:
    """Return the main checkout of the worktree whose `.git` is named; None where it is no linked worktree."""
    admin = _admin_folder(git)
    if admin is None:
        return None
    common = os.path.dirname(os.path.dirname(admin))
    settings = _core_settings(os.path.join(common, "config"))
    if os.path.basename(common) == ".git":
        # a bare repository may be called so
        return common if settings.get("bare", "").lower() == "true" else os.path.dirname(common)
    # a submodule's files lie where its configuration says, if they say so, too
    checkout = os.path.realpath(os.path.join(common, settings.get("worktree", "")))
    return checkout if pointed_folder(os.path.join(checkout, ".git")) == common else common


def _main_workspace(folder: str) -> str | None:
    """Return the main checkout of the jj workspace at `folder`; None where it is no other's."""
    workspace = _jj_workspace(folder)
    if workspace is None:
        return None
    main = os.path.dirname(os.path.dirname(workspace[0]))
    # which may be a worktree of git's in turn
    return _main_checkout(os.path.join(main, ".git")) or main


def _jj_workspace(folder: str) -> tuple[str, str] | None:
    """Return the repository of the jj workspace at `folder`, with its name there; None unless both agree."""
    jj = os.path.realpath(os.path.join(folder, ".jj"))
    line = _read_line(os.path.join(jj, "repo"))
    repository = os.path.realpath(os.path.join(jj, line))
    if not line or not repository.endswith("/.jj/repo"):
        return None
    for name, listed in _listed_workspaces(repository):
        with suppress(OSError):
            if os.path.samefile(listed, folder):
                return repository, name
    return None


def _listed_workspaces(repository: str) -> list[tuple[str, str]]:
    """Return the names and the folders of the workspaces that a jj repository lists; none where it can't be read.

    As jj's `simple_workspace_store` writes them: field 1 of the file for each, of which field 1 is the name and
    field 2 the path, absolute or relative to the repository.
    """
    try:
        data = _read_bytes(os.path.join(repository, "workspace_store", "index"), _MAX_LIST_BYTES + 1)
        if len(data) > _MAX_LIST_BYTES:
            return []
        workspaces = [dict(_fields(body)) for number, body in _fields(data) if number == 1]
        return [
            (os.fsdecode(workspace.get(1, b"")), os.path.realpath(os.path.join(repository, os.fsdecode(workspace[2]))))
            for workspace in workspaces
            if workspace.get(2)
        ]
    except (OSError, ValueError):
        return []


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the texts of a message of Protocol Buffers by their numbers; raise `ValueError` where it is none."""
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        size, place = _read_varint(message, place)
        if tag & 7 == 0:
            # a number, which has been read
            continue
        if tag & 7 != 2 or place + size > len(message):
            raise ValueError("no message")
        yield tag >> 3, message[place : place + size]
        place += size


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift, byte in enumerate(message[place : place + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, place + shift + 1
    raise ValueError("no number")


def _admin_folder(git: str) -> str | None:
    """Return the folder in which the repository keeps the worktree with this `.git`; None unless both agree."""
    admin = pointed_folder(git)
    if admin is None:
        return None
    listed = os.path.dirname(admin)
    common = _read_line(os.path.join(admin, "commondir"))
    if os.path.basename(listed) != "worktrees" or not common:
        return None
    if os.path.realpath(os.path.join(admin, common)) != os.path.dirname(listed):
        return None
    back = _read_line(os.path.join(admin, "gitdir"))
    try:
        agrees = bool(back) and os.path.samefile(os.path.join(admin, back), git)
    except OSError:
        return None
    return admin if agrees else None


def pointed_folder(git: str) -> str | None:
    """Return the real folder that a `.git` file names; None where it is no such file."""
    with suppress(OSError, ValueError):
        return os.path.realpath(named_folder(git, read_pointer(git)))
    return None


def read_pointer(path: str, *, follows_links: bool = False) -> str:
    """Return the one line of a small file that names another place, such as a worktree's `.git` or `commondir`.

    Raises:
        OSError: it can't be read. ValueError: it holds no line, more than one, which git takes for a path, or too
            long a one.
    """
    text = _read_text(path, _MAX_POINTER_BYTES + 1, follows_links=follows_links)
    line = text.strip("\r\n")
    if not line.strip() or "\0" in line or "\n" in line or len(text) > _MAX_POINTER_BYTES:
        raise ValueError("names no repository")
    return line


def named_folder(git: str, line: str) -> str:
    """Return the folder that the line of the `.git` file at `git` names, its links not followed.

    Raises:
        ValueError: it names none.
    """
    if not line.startswith("gitdir:"):
        raise ValueError("names no repository")
    return os.path.join(os.path.realpath(os.path.dirname(git)), line.removeprefix("gitdir:").strip())


def _read_line(path: str) -> str:
    """Return the line of a pointer file; empty where there is none."""
    with suppress(OSError, ValueError):
        return read_pointer(path).strip()
    return ""


def _core_settings(config: str) -> dict[str, str]:
    """Return the settings of the section `core` as git itself writes them, the last of each; names in lower case."""
    settings: dict[str, str] = {}
    section = ""
    text = ""
    with suppress(OSError, ValueError):
        text = _read_text(config, _MAX_CONFIG_BYTES)
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("["):
            section = line.lower()
        elif section == "[core]":
            name, _, value = line.partition("=")
            settings[name.strip().lower()] = value.strip()
    return settings


def _read_text(path: str, limit: int, *, follows_links: bool = False) -> str:
    return os.fsdecode(_read_bytes(path, limit, follows_links=follows_links))


def _read_bytes(path: str, limit: int, *, follows_links: bool = False) -> bytes:
    """Return the beginning of a regular file; raise `OSError` or `ValueError` where there is none."""
    fd = os.open(path, _READ_FLAGS & ~os.O_NOFOLLOW if follows_links else _READ_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("isn't a regular file")
        return os.read(fd, limit)
    finally:
        os.close(fd)
