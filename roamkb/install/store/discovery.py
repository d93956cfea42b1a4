"""Notes, projects and harnesses at hand on this machine, for `setup` to ask about; read only."""

import contextlib
import os
import re
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from roamkb.core.errors import DiskError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.registry import all_harnesses
from roamkb.install.store.apply import folders_in
from roamkb.journal.store.syncthing import configured_folders
from roamkb.kb.notes.store.init_files import read_init_files
from roamkb.kb.notes.store.walk import walk_notes
from roamkb.org.emacs_settings import find_roam_folders

#: Below HOME: org-roam's own default first.
USUAL_FOLDERS = ("org-roam", "roam", "org/roam", "notes")
#: Folders in a documents folder that are looked into, the first by name, and characters of the file that names it.
_MOST_DOCUMENT_FOLDERS = 100
_MOST_SETTINGS_BYTES = 64 * 1024
#: Below a folder that Syncthing shares, which holds more than notes.
_SHARED_FOLDERS = (".", *USUAL_FOLDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesAtHand:
    """A folder that holds notes."""

    path: Path
    #: How many files org-roam would read.
    count: int
    #: What names it, in a clause.
    reason: str


def find_notes(home: Path, *, kb: Path) -> tuple[NotesAtHand, ...]:
    """Return the folders of notes on this machine, the likeliest first; `kb` is the rule's own."""
    places: dict[str, NotesAtHand] = {}
    for path, reason in _likely_folders(home, kb):
        real = os.path.realpath(path)
        if real not in places and real != os.path.realpath(home) and (count := count_notes(path)):
            where = f"leads to {real}; {reason}" if path.is_symlink() else reason
            places[real] = NotesAtHand(path=path, count=count, reason=where)
    return tuple(places.values())


def count_notes(folder: Path) -> int:
    """Return how many notes a folder holds, those of its folders included."""
    # what an init file names may be no path, or closed to us, for which Path's raises
    return len(walk_notes(folder).files) if os.path.isdir(folder) else 0  # noqa: PTH112


def _likely_folders(home: Path, kb: Path) -> Iterator[tuple[Path, str]]:
    yield kb, "as the rule says"
    yield from ((folder, "Emacs's org-roam-directory") for folder in _folders_in_emacs(home))
    yield from ((home / name, "a usual place") for name in USUAL_FOLDERS)
    for documents in _document_folders(home):
        inner = sorted(folders_in(documents))[:_MOST_DOCUMENT_FOLDERS]
        yield from ((folder, "in your documents") for folder in inner if _has_note_at_top(folder))
    # one that can't be read names nothing; doctor says so
    with contextlib.suppress(DiskError):
        for shared in configured_folders(home):
            folders = (shared.path / name for name in _SHARED_FOLDERS)
            yield from ((folder, "Syncthing carries it") for folder in folders if _has_note_at_top(folder))


def _document_folders(home: Path) -> Iterator[Path]:
    """Yield where desktops have documents: by the usual name, and as the user's own file names it."""
    yield home / "Documents"
    with contextlib.suppress(OSError, ValueError):
        with (home / ".config/user-dirs.dirs").open(encoding="utf-8") as file:
            text = file.read(_MOST_SETTINGS_BYTES)
        if named := re.search(r'^XDG_DOCUMENTS_DIR="\$HOME/([^"/\n][^"\n]*)"', text, re.MULTILINE):
            yield home / named[1]


def _has_note_at_top(folder: Path) -> bool:
    """Say whether a note lies in the folder itself: what is shared may hold a million other files."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".org") for entry in entries)
    except OSError:
        return False


def _folders_in_emacs(home: Path) -> Iterator[Path]:
    for _, lisp in read_init_files(home):
        yield from map(Path, find_roam_folders(lisp, home=str(home)))


def find_projects(home: Path, *, parents: Iterable[Path], kbs: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders that may be projects: all in `parents`, and the repositories one or two folders below HOME."""
    declared = [folder for parent in parents for folder in ([parent] if is_repository(parent) else folders_in(parent))]
    beside = [
        folder
        for top in folders_in(home)
        for folder in ([top] if is_repository(top) else filter(is_repository, folders_in(top)))
    ]
    notes = [os.path.realpath(kb) for kb in kbs]
    folders = (folder for folder in reversed((*declared, *beside)) if not _is_own_source(folder))
    found = {os.path.realpath(folder): folder for folder in folders}
    return tuple(
        sorted(folder for real, folder in found.items() if not any(f"{kb}/".startswith(f"{real}/") for kb in notes))
    )


def _is_own_source(folder: Path) -> bool:
    """Say whether a folder is a checkout of roamkb, which whoever installs from it works in for this once."""
    return (folder / "roamkb" / "install" / "store" / "discovery.py").is_file()


def is_repository(folder: Path) -> bool:
    """Say whether a folder is the top of a git work tree."""
    return os.path.lexists(folder / ".git")


def find_harnesses(home: Path, search_path: str) -> tuple[str, ...]:
    """Return the names of the harnesses that are here: a program of theirs, or settings."""
    return tuple(
        harness.name
        for harness in all_harnesses()
        if any(which(program, path=search_path) for program in harness.programs)
        or any((home / file.path).exists() for file in harness.settings_files)
    )


def find_unwritable(paths: Iterable[Path]) -> Path | None:
    """Return the first folder in which nothing can be made of what `paths` need; None where all can be."""
    folders = (next(folder for folder in path.parents if folder.is_dir()) for path in paths)
    return next((folder for folder in folders if not os.access(folder, os.W_OK)), None)


def missing_folders(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders above `paths` that aren't there, the innermost first."""
    missing = {folder for path in paths for folder in path.parents if not os.path.lexists(folder)}
    return tuple(sorted(missing, key=lambda folder: -len(folder.parts)))
