"""Ignore files of git, read without running git, since git would run what a repository configures."""

import codecs
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.gitignore import last_match
from roamkb.core.model import UnreadableFile
from roamkb.fs import untrusted_files
from roamkb.fs.files import error_reason
from roamkb.fs.files import read_file
from roamkb.fs.worktrees import pointed_folder
from roamkb.fs.worktrees import read_pointer

_IGNORE_FILE = ".gitignore"
_EXCLUDE_FILE = Path("info") / "exclude"


def find_ignoring_file(path: Path, root: Path, *, home: Path) -> Path | None:
    """Return the ignore file by which git ignores `path` in the repository `root`; None if it doesn't.

    A folder that is ignored takes all that it holds with it (gitignore(5)).
    """
    parts = path.relative_to(root).parts
    for end in range(1, len(parts) + 1):
        name = "/".join(parts[:end]) + ("/" if end < len(parts) else "")
        deciding_file: Path | None = None
        for file, base in _ignore_files(root, parts[: end - 1], home):
            is_ignored = last_match(_read_patterns(file), name[len(base) :])
            if is_ignored is not None:
                deciding_file = file if is_ignored else None
        if deciding_file:
            return deciding_file
    return None


def _ignore_files(root: Path, folders: tuple[str, ...], home: Path) -> Iterator[tuple[Path, str]]:
    """Yield each ignore file with the folder that its patterns start from, the weakest first."""
    yield home / ".config" / "git" / "ignore", ""
    yield git_folder(root) / _EXCLUDE_FILE, ""
    base = ""
    yield root / _IGNORE_FILE, base
    for folder in folders:
        base += f"{folder}/"
        yield root / base / _IGNORE_FILE, base


def git_folder(root: Path) -> Path:
    """Return the folder with the git files of the repository at `root`; worktrees share one."""
    git = root / ".git"
    if folder := pointed_folder(str(git)):
        with suppress(OSError, ValueError):
            return Path(folder, read_pointer(str(Path(folder, "commondir"))).strip())
        return Path(folder)
    return git


def _read_patterns(file: Path) -> tuple[str, ...]:
    data = read_file(file)
    if isinstance(data, UnreadableFile):
        return ()
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    # not `splitlines`, which knows more ends of lines than git
    return tuple(line.removesuffix("\r") for line in text.split("\n"))


def exclude_from_git(root: Path, line: bytes) -> Path | None:
    """Have git ignore a line of the checkout at `root`, on this machine alone; return the file unless it had the line.

    Any command can put a link, or a file that names another folder, in the place of what is git's: none is followed.

    Raises:
        DiskError: there is no folder `.git`, or it can't be written.
    """
    exclude = root / ".git" / _EXCLUDE_FILE
    try:
        git_fd = untrusted_files.open_folder(root / ".git", top=".git")
        try:
            with suppress(FileExistsError):
                os.mkdir(exclude.parent.name, dir_fd=git_fd)
        finally:
            os.close(git_fd)
        fd = untrusted_files.open_file(exclude, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644, top=".git")
        with os.fdopen(fd, "r+b") as file:
            content = file.read()
            if line in content.splitlines():
                return None
            file.write((b"\n" if content and not content.endswith(b"\n") else b"") + line + b"\n")
    except OSError as error:
        raise DiskError(exclude, error_reason(error), hint="leave --untracked out") from error
    return exclude
