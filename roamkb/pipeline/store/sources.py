"""Files that other tools keep for a project: their places, and their lines of any size. Read only.

Only ever read.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import disk_error
from roamkb.fs.files import read_file
from roamkb.fs.git_repository import is_project_root
from roamkb.harnesses.registry import all_harnesses
from roamkb.harnesses.registry import declared
from roamkb.log.jsonl import BadLine
from roamkb.pipeline.ingest.harness_memory import may_be_under

#: What names the file, the first that is set: ours, and Oro's.
PATH_VARIABLES: Final = ("ROAMKB_KNOWLEDGE_FILE", "ORO_KNOWLEDGE_FILE")
#: A line of another tool's holds some KiB; one of so much is no learning, and would fill the memory.
LONGEST_LINE: Final = 8 * 1024 * 1024

_LOG_NAME = "knowledge.jsonl"
_ARCHIVE_NAME = "knowledge.archive.jsonl"
_BEADS_LOG = f".beads/memory/{_LOG_NAME}"
_LOG_PATHS = (_BEADS_LOG, f".lavra/memory/{_LOG_NAME}", f".oro/{_LOG_NAME}")
_ORO_CONFIG = ".oro/config.yaml"
#: One setting of Oro's file; that is no reason to depend on YAML.
_PROJECT_ROOT = lazily(r"^[ \t]*project_root[ \t]*:[ \t]*(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s#\"'][^\n#]*))", re.M)
_CHUNK_SIZE = 1024 * 1024
#: Files and folders of a harness's memory, and bytes of one of its files; some dozens and some KiB are usual.
_MOST_ENTRIES: Final = 5_000
_LONGEST_MEMORY: Final = 1024 * 1024


def find_sources(root: Path, *, file: str | None, environment: Mapping[str, str], base: Path) -> tuple[Path, ...]:
    """Return the files to read for the project at `root`, each archive before its log.

    Several tools may have kept one, and none of them hides another. `file` and what the environment names
    count alone, whether they exist or not; they begin at `base`.
    """
    named_file = next((name for name in (file, *map(environment.get, PATH_VARIABLES)) if name), None)
    if named_file is not None:
        return (*_archive_of(base / named_file), base / named_file)
    configured = _project_root(root)
    places = ([configured / _BEADS_LOG] if configured else []) + [root / place for place in _LOG_PATHS]
    existing = (path for place in places for path in (*_archive_of(place), place) if _is_file(path))
    return tuple(dict.fromkeys(existing))


def _archive_of(log: Path) -> tuple[Path, ...]:
    """Return the archive to which Lavra moves the older half of a long log, if it is there."""
    archive = log.with_name(_ARCHIVE_NAME) if log.name == _LOG_NAME else None
    return (archive,) if archive is not None and _is_file(archive) else ()


def leads_outside(path: Path, root: Path, *, environment: Mapping[str, str]) -> bool:
    """Say whether an unnamed source lies outside the project: its link or setting may lead anywhere."""
    if any(map(environment.get, PATH_VARIABLES)):
        return False
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # what can't be looked at isn't there for us
        return False


def _project_root(root: Path) -> Path | None:
    """Return the folder that Oro's configuration names."""
    text = read_file(root / _ORO_CONFIG)
    if isinstance(text, UnreadableFile):
        return None
    setting = _PROJECT_ROOT.search(text.decode("utf-8", "replace"))
    return root / next(filter(None, setting.groups())).strip() if setting else None


def find_memory(home: Path, root: Path) -> Path | None:
    """Return a harness's memory of the project at `root`; None where none has one."""
    places = (place for harness in all_harnesses() for place in harness.memory_folders(root, home))
    return next((place for place in places if place.is_dir()), None)


def owning_project(path: Path, rule: Rule | BadRule, place: Project) -> Project:
    """Return the project that `path` belongs to, when the log of the project `place` is asked for.

    A harness may keep its memory of a project elsewhere, in a folder that the project's path names,
    with other characters for some: what may be of a work project is taken for one's.
    """
    classified = classify_folder(path, rule)
    real = Path(os.path.realpath(path))
    harness = next((one for one in all_harnesses() if one.project_of(real)), None)
    name = harness.project_of(real) if harness else None
    if harness is None or name is None or classified.kind is ProjectKind.WORK or isinstance(rule, BadRule):
        return classified
    is_own = place.root is not None and name in harness.project_names(str(place.root))
    if is_own and place.kind is ProjectKind.WORK:
        return place
    for entry in rule.work_roots:
        if may_be_under(name, entry):
            reason = f"{path} may be of a project under the work root {entry}"
            return Project(kind=ProjectKind.WORK, root=None, reason=reason, hint="read it in that project")
    return place if is_own else classified


def shares_tree(path: Path, source: Project, place: Project, rule: Rule | BadRule) -> bool:
    """Say whether `path`, by its real name, lies in the tree of `place`, or in a project that holds that."""
    if place.root is None or source is place:
        return source is place
    real = Path(os.path.realpath(path))
    if lies_within(real, place.root):
        return True
    top = classify_folder(real, rule).root
    # what lies beside several projects is none's
    return top is not None and is_project_root(str(top)) and lies_within(place.root, top)


def source_lines(path: Path) -> Iterator[tuple[int, bytes | BadLine]]:
    """Yield each line with its number; one that is too long as a bad line.

    Raises:
        NotFound: it isn't there. DiskError: it is no file, or can't be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(str(path), kind="file", hint="look at its name; nothing was read") from error
    except ValueError as error:
        raise NotFound(str(path), kind="file", hint="no file can have that name") from error
    except OSError as error:
        raise disk_error(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise DiskError(path, "isn't a regular file")
        yield from enumerate(_split_lines(fd), start=1)
    except OSError as error:
        raise disk_error(path, error) from error
    finally:
        # all that was wanted of it was read
        with contextlib.suppress(OSError):
            os.close(fd)


def _split_lines(fd: int) -> Iterator[bytes | BadLine]:
    """Yield the lines, without their newlines; only one at a time is in memory."""
    number, pending, is_too_long = 1, b"", False
    while chunk := os.read(fd, _CHUNK_SIZE):
        *complete_lines, remainder = chunk.split(b"\n")
        for end in complete_lines:
            line = pending + end
            yield _too_long(number) if is_too_long or len(line) > LONGEST_LINE else line
            number, pending, is_too_long = number + 1, b"", False
        pending = b"" if is_too_long else pending + remainder
        if len(pending) > LONGEST_LINE:
            pending, is_too_long = b"", True
    if pending or is_too_long:
        yield _too_long(number) if is_too_long else pending


def _too_long(number: int) -> BadLine:
    return BadLine(line=number, reason=f"it has more than {LONGEST_LINE:,} bytes")


def memory_files(folder: Path) -> Iterator[tuple[str, str | UnreadableFile, float]]:
    """Yield the Markdown files of a harness's memory: name, text and time of change, in seconds.

    Links are left alone: they may lead anywhere.

    Raises:
        DiskError: the folder holds so much that it is no memory; nothing was read.
    """
    for path in sorted(_memory_paths(folder)):
        data = read_file(path, limit=_LONGEST_MEMORY)
        try:
            changed = path.stat().st_mtime
        except OSError:
            changed = 0.0
        text = data if isinstance(data, UnreadableFile) else data.decode("utf-8", "replace")
        yield path.relative_to(folder).as_posix(), text, changed


def _memory_paths(folder: Path) -> Iterator[Path]:
    """Yield the Markdown files below `folder`, where it holds no more than a memory would."""
    remaining = _MOST_ENTRIES
    for place, folders, names in os.walk(folder):
        remaining -= len(folders) + len(names)
        if remaining < 0:
            raise DiskError(
                folder,
                f"holds more than {_MOST_ENTRIES:,} files: no harness's memory does; nothing was read",
                hint=f"name the folder that holds the memory itself: ~/{declared('memory_places')[0]}",
            )
        for name in names:
            path = Path(place, name)
            if name.endswith(".md") and not path.is_symlink() and path.is_file():
                yield path
