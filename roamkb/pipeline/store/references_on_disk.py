"""Lookup of the files and symbols that learnings name in a project, with bounded work.

A path is looked up as written from the root, then as the end of a longer path: people
leave the first folders out. Symbols are looked for in one pass over the project's own text
files; what git ignores, and other tools' memories, say nothing. Where a bound was met,
nothing is called missing.
"""

import os
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from roamkb.core.gitignore import compile_ignore_test
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file
from roamkb.fs.git_repository import is_bare_repository
from roamkb.fs.worktrees import linked_worktrees
from roamkb.fs.worktrees import shared_folder
from roamkb.pipeline.gate.references import last_part

#: Files that are looked at: more than all but the largest projects have.
_MOST_FILES = 50_000
#: No hand-written source is larger.
_MOST_BYTES = 512 * 1024
#: Seconds that the pass over the texts may take.
_MOST_SECONDS = 5.0
#: Folders of machines, and of memories that repeat what a learning says.
_SKIPPED_FOLDERS = frozenset(
    ".git .hg .jj .svn .roamkb .lavra .beads .oro .venv venv node_modules __pycache__ .mypy_cache "
    ".ruff_cache .pytest_cache .tox .cache".split()
)
_IGNORE_FILE = ".gitignore"
_NAME = lazily(rb"[A-Za-z_$][\w$]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProjectTree:
    """The project's files, as far as they were listed."""

    #: Relative to the root, with `/`.
    files: tuple[str, ...]
    is_whole: bool


def references_of_checkouts(root: Path) -> "ProjectReferences":
    """Return the project at `root`, in which a file is missing only where no checkout of its repository has it.

    What is judged is kept in the log that all of them share, and a branch that lacks a file refutes nothing.
    """
    home = shared_folder(str(root))
    checkouts = dict.fromkeys((*([] if is_bare_repository(home) else [home]), *linked_worktrees(home)))
    others = [ProjectReferences(Path(checkout)) for checkout in checkouts if Path(checkout) != root]
    return ProjectReferences(root, others=others)


class ProjectReferences:
    """The project at `root`, searched for files and symbols."""

    def __init__(
        self, root: Path, *, others: Sequence["ProjectReferences"] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._root = root
        self._real = root.resolve()
        self._others = others
        self._clock = clock

    def has_file(self, path: str) -> bool:
        """Say whether `path`, relative and normal, is there, at the root or below some folder of it, or in `others`."""
        return (
            self._exists_in_project(path)
            or not self._project_tree.is_whole
            or self._is_path_suffix(path)
            or any(other.has_file(path) for other in self._others)
        )

    def symbols_among(self, symbols: Iterable[str]) -> frozenset[str] | None:
        """Return those of the dotted names that the project's texts have; None if time ran out."""
        by_name: dict[bytes, list[str]] = {}
        for symbol in symbols:
            by_name.setdefault(last_part(symbol).encode(), []).append(symbol)
        missing = set(by_name)
        end = self._clock() + _MOST_SECONDS
        for file in self._walk_tracked():
            if not missing:
                break
            if self._clock() > end:
                return None
            data = read_file(self._root / file, limit=_MOST_BYTES)
            if not isinstance(data, UnreadableFile) and b"\0" not in data[:1024]:
                missing.difference_update(_NAME.findall(data))
        if missing and not self._project_tree.is_whole:
            return None
        return frozenset(symbol for name in by_name.keys() - missing for symbol in by_name[name])

    def text_of(self, path: str) -> str:
        """Return the text of the tracked file that `path` names; empty where git ignores it or several match.

        What git leaves out is where people keep what isn't for others.
        """
        matching_files = (
            [path]
            if path in self._tracked_files
            else [file for file in self._tracked_files if file.endswith(f"/{path}")]
        )
        if len(matching_files) != 1 or not self._exists_in_project(matching_files[0]):
            return ""
        data = read_file(self._root / matching_files[0], limit=_MOST_BYTES)
        return "" if isinstance(data, UnreadableFile) or b"\0" in data[:1024] else data.decode("utf-8", "replace")

    @cached_property
    def _tracked_files(self) -> frozenset[str]:
        return frozenset(self._walk_tracked())

    def _is_path_suffix(self, path: str) -> bool:
        namesakes = self._files_by_name.get(path.rpartition("/")[2], ())
        return any(file.endswith(f"/{path}") for file in namesakes)

    def _exists_in_project(self, path: str) -> bool:
        place = self._root / path
        try:
            # no link leads the look out of the project
            return place.exists() and place.resolve().is_relative_to(self._real)
        except (OSError, ValueError):
            return False

    @cached_property
    def _project_tree(self) -> _ProjectTree:
        file_paths: list[str] = []
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
            inside = os.path.relpath(folder, self._root)
            prefix = "" if inside == os.curdir else inside.replace(os.sep, "/") + "/"
            file_paths += (prefix + name for name in sorted(files))
            if len(file_paths) > _MOST_FILES:
                return _ProjectTree(files=tuple(file_paths[:_MOST_FILES]), is_whole=False)
        return _ProjectTree(files=tuple(file_paths), is_whole=True)

    @cached_property
    def _files_by_name(self) -> Mapping[str, Sequence[str]]:
        files_by_name: dict[str, list[str]] = {}
        for file in self._project_tree.files:
            files_by_name.setdefault(file.rpartition("/")[2], []).append(file)
        return files_by_name

    def _walk_tracked(self) -> Iterator[str]:
        """Yield the files that the ignore files of the root and the folders on the way let through."""
        ignores: dict[str, Callable[[str], bool]] = {}
        for file in self._project_tree.files:
            folder, _, name = file.rpartition("/")
            if name == _IGNORE_FILE:
                data = read_file(self._root / file, limit=_MOST_BYTES)
                if not isinstance(data, UnreadableFile):
                    ignores[folder] = compile_ignore_test(data.decode("utf-8", "replace").splitlines())
        for file in self._project_tree.files:
            if not any(
                matches(file[len(base) + 1 :] if base else file)
                for base, matches in ignores.items()
                if not base or file.startswith(base + "/")
            ):
                yield file
