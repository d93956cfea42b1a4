"""Objects of a git repository, each checked against its own name.

`git cat-file` fetches them, in an empty repository of ours with the project's objects: it reads none of the
project's configuration, which may name programs, and follows no replacement. It isn't believed either: the name
of an object is the SHA-1 of its content, and whoever may write to `.git` can put other bytes under it.
"""

import hashlib
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from roamkb.core.errors import NameTaken
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs.files import create_file
from roamkb.fs.files import make_folder
from roamkb.fs.files import read_file
from roamkb.fs.locks import make_private_folder
from roamkb.fs.worktrees import pointed_folder
from roamkb.log.trust.store.system_programs import find_system_program

_OBJECT_ID = lazily(r"[0-9a-f]{40}")
_REF_NAME = lazily(r"refs/[^\0\n]{1,1000}")
_MAX_POINTER_BYTES: Final = 16 * 1024
_MAX_PACKED_REFS_BYTES: Final = 64 * 1024 * 1024
#: References that name references.
_MOST_REFS: Final = 5
#: Bytes of one object: of a blob, a log's file at most.
_MOST_BYTES: Final = {"commit": 1024 * 1024, "tree": 64 * 1024 * 1024, "blob": 512 * 1024 * 1024}
_MOST_SECONDS: Final = 10
#: The empty repository, in the user's state folder.
EMPTY_REPOSITORY: Final = "git-reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCommit:
    """A commit, and what its signature is over."""

    tree: str
    parents: tuple[str, ...]
    #: Empty where nobody signed it.
    signature: bytes
    payload: bytes


def find_git_folder(folder: Path) -> tuple[Path, Path] | None:
    """Return the top of the checkout that holds `folder`, and the git folder with its HEAD."""
    for top in (folder, *folder.parents):
        git = top / ".git"
        if git.is_dir() and (git / "HEAD").exists():
            return top, git
        if (pointed := pointed_folder(str(git))) and Path(pointed).is_dir():
            return top, Path(pointed)
    return None


def head_commit(git: Path) -> str:
    """Return the id of the commit that is checked out; empty where there is none."""
    text = _read_line(git / "HEAD")
    for _ in range(_MOST_REFS):
        if _OBJECT_ID.fullmatch(text):
            return text
        name = text.removeprefix("ref: ").strip()
        if not _REF_NAME.fullmatch(name) or ".." in name:
            return ""
        text = _read_line(git / name) or _read_line(_common_folder(git) / name) or _packed_ref(git, name)
    return ""


def _packed_ref(git: Path, name: str) -> str:
    data = read_file(_common_folder(git) / "packed-refs", limit=_MAX_PACKED_REFS_BYTES)
    lines = () if isinstance(data, UnreadableFile) else data.decode("utf-8", "replace").splitlines()
    return next((line.split(" ", 1)[0] for line in lines if line.endswith(f" {name}")), "")


def _common_folder(git: Path) -> Path:
    common = _read_line(git / "commondir")
    return git / common if common else git


def _read_line(path: Path) -> str:
    data = read_file(path, limit=_MAX_POINTER_BYTES)
    return "" if isinstance(data, UnreadableFile) else data.decode("utf-8", "replace").partition("\n")[0].strip()


class GitObjects:
    """The objects of one repository; a context, which ends the program that fetches them."""

    def __init__(self, git: Path, state: Path) -> None:
        """Read the repository of the git folder `git`, with an empty one in the state folder.

        Raises:
            DiskError: that can't be made.
        """
        self._objects = _common_folder(git) / "objects"
        self._empty = _make_empty_repository(state)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "GitObjects":
        program = find_system_program("git")
        if program:
            with suppress(OSError):
                self._process = subprocess.Popen(
                    [program, "cat-file", "--batch"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={
                        "PATH": "/usr/bin:/bin",
                        "LC_ALL": "C",
                        "HOME": "/nonexistent",
                        "GIT_DIR": str(self._empty),
                        "GIT_OBJECT_DIRECTORY": str(self._objects.resolve()),
                        "GIT_CONFIG_NOSYSTEM": "1",
                        "GIT_CONFIG_GLOBAL": os.devnull,
                        "GIT_NO_REPLACE_OBJECTS": "1",
                        # a list of none: nothing is fetched from anywhere
                        "GIT_ALLOW_PROTOCOL": "",
                    },
                )
        if self._process is not None:
            # a pipe in place of an object's file would hold it for ever
            self._timer = threading.Timer(_MOST_SECONDS, self._process.kill)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._timer.cancel()
            self._process.kill()
            with self._process:
                pass

    def read_object(self, id: str, kind: str) -> bytes | None:
        """Return the content of the object `id`; None where it is missing, of another kind, or not its own."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None or not _OBJECT_ID.fullmatch(id):
            return None
        try:
            process.stdin.write(f"{id}\n".encode())
            process.stdin.flush()
            found, size = _parse_header(process.stdout.readline(_MAX_POINTER_BYTES))
            if size > _MOST_BYTES[kind]:
                process.kill()
                return None
            # a line end follows
            content = process.stdout.read(size + 1)[:-1] if found else b""
        except OSError:
            return None
        name = hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
        return content if found == kind and name == id else None

    def read_commit(self, id: str) -> SignedCommit | None:
        """Return the commit `id`; None where it is missing, as behind the end of a shallow clone."""
        content = self.read_object(id, "commit")
        return None if content is None else parse_commit(content)

    def read_path(self, tree: str, parts: tuple[str, ...]) -> bytes | None:
        """Return the content of a regular file below a tree, empty where it has none; None where that can't be read."""
        mode, id = "", tree
        for part in parts:
            entries = self._entries(id)
            if entries is None:
                return None
            mode, id = entries.get(os.fsencode(part), ("", ""))
            if not id:
                return b""
        return self.read_object(id, "blob") if mode in ("100644", "100755", "100664") else b""

    def _entries(self, tree: str) -> dict[bytes, tuple[str, str]] | None:
        """Return the mode and the id of each name in a tree; None where it can't be read."""
        content = self.read_object(tree, "tree")
        if content is None:
            return None
        entries, position = {}, 0
        while (end := content.find(b"\0", position)) >= 0 and end + 21 <= len(content):
            mode, _, name = content[position:end].partition(b" ")
            entries[name] = mode.decode("ascii", "replace"), content[end + 1 : end + 21].hex()
            position = end + 21
        return entries


def parse_commit(content: bytes) -> SignedCommit | None:
    """Return a commit's parts; None where it has none that can be told, or more than one signature."""
    head, _, _ = content.partition(b"\n\n")
    signature: list[bytes] = []
    kept: list[bytes] = []
    is_signature = False
    for line in head.split(b"\n"):
        if line.startswith(b"gpgsig"):
            if signature or not line.startswith(b"gpgsig "):
                return None
            is_signature = True
            signature.append(line.removeprefix(b"gpgsig "))
        elif is_signature and line.startswith(b" "):
            signature.append(line[1:])
        else:
            is_signature = False
            kept.append(line)
    fields = list(_header_fields(kept))
    trees = [value for name, value in fields if name == "tree"]
    # a signed tag, or anything else that is signed for git, begins otherwise
    if len(trees) != 1 or fields[0][0] != "tree":
        return None
    return SignedCommit(
        tree=trees[0],
        parents=tuple(value for name, value in fields if name == "parent"),
        signature=b"\n".join(signature),
        payload=b"\n".join(kept) + content[len(head) :],
    )


def _header_fields(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, value = line.decode("utf-8", "replace").partition(" ")
        yield name, value


def _parse_header(line: bytes) -> tuple[str, int]:
    """Return the kind and the size in the first line of an answer; of an object that is missing, nothing."""
    words = line.split()
    return (words[1].decode("ascii", "replace"), int(words[2])) if len(words) == 3 and words[2].isdigit() else ("", 0)


def _make_empty_repository(state: Path) -> Path:
    folder = make_private_folder(state / EMPTY_REPOSITORY)
    for name in ("refs", "objects"):
        if not (folder / name).is_dir():
            make_folder(folder / name, mode=0o700)
    if not (folder / "HEAD").exists():
        with suppress(NameTaken):
            create_file(folder, "HEAD", b"ref: refs/heads/none\n", mode=0o600)
    return folder
