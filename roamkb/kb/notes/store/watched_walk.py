"""The walk of a process that lives on: it stays until the system says that a note, a folder or a link was touched.

Each result is what a new walk would find. Where the system can't tell, as on a network's file system, every walk
is a new one.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from roamkb.fs import change_watch
from roamkb.fs.mounts import MountedFolder
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.file_names import is_note_folder
from roamkb.kb.notes.file_names import is_note_name
from roamkb.kb.notes.store.walk import FileNames
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.kb.notes.store.walk import NotesWalker
from roamkb.kb.notes.store.walk import Stat
from roamkb.kb.notes.store.walk import WalkedFolder
from roamkb.kb.notes.store.walk import check_kb
from roamkb.kb.notes.store.walk import name_fault
from roamkb.kb.notes.store.walk import stat_of
from roamkb.kb.notes.store.walk import walk_checked

#: Seconds until it is tried again where folders can't be watched: a try takes as long as a walk.
_RETRY_SECONDS: Final = 60.0
#: By these an empty folder shows that it is a knowledge base (`check_kb`).
_MOUNT_MARKS: Final = (".stfolder", ".git")


class WatchedWalk:
    """The walks over a knowledge base, by several threads in turn."""

    def __init__(self, *, clock: Callable[[], int] = time.time_ns) -> None:
        """Watch nothing yet; `clock` tells the time of files in nanoseconds."""
        self._clock = clock
        self._guard = threading.Lock()
        self._view: _WatchedNotes | None = None
        self._retry_at = 0.0

    def walk(self, kb: Path) -> NotesWalk:
        """Return the files in `kb` as they are now, as `walk_checked` does.

        Raises:
            NoKnowledgeBase: it isn't there or not mounted.
        """
        with self._guard:
            found = self._watched_walk(kb)
        return walk_checked(kb) if found is None else found

    @property
    def is_watching(self) -> bool:
        """Whether the last walk can be kept up to date."""
        return self._view is not None

    def _watched_walk(self, kb: Path) -> NotesWalk | None:
        """Return the walk, or a new one where it isn't what is there; None where `kb` can't be watched."""
        if self._view is not None:
            if self._view.is_current(kb):
                return self._view.kb_walk
            self._view.close()
            self._view = None
        if time.monotonic() < self._retry_at:
            return None
        try:
            self._view = _WatchedNotes(kb, self._clock)
        except (ImportError, OSError):
            # no library, no right, no watch left, or not a folder that the kernel knows all about
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            return None
        return self._view.kb_walk


class _WatchingWalker(NotesWalker):
    """A walk that watches each folder before it lists it."""

    def __init__(self, kb: Path, watch: "change_watch.FolderWatch") -> None:
        super().__init__(kb, {})
        self._watch = watch
        self.folders: dict[int, WalkedFolder] = {}
        #: Where each link of the walk led to.
        self.links: dict[str, object] = {}
        #: Notes that may change without a change in a watched folder, by their names in the knowledge base.
        self.shared_files: set[str] = set()

    def _list_folder(self, folder: WalkedFolder) -> None:
        # of what is gone or forbidden the folder above tells, once it comes back or is allowed
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            number = self._watch.add_folder(folder.place)
            if number in self.folders:
                raise OSError(f"{folder.place} has two names")
            self.folders[number] = folder
        super()._list_folder(folder)

    def _read_stats(self, names: FileNames) -> list[Stat]:
        statuses = list(map(os.lstat, names.places))
        # a hard link may be written to by a name that lies elsewhere
        self.shared_files.update(
            file for file, status in zip(names.files, statuses, strict=True) if status.st_nlink > 1
        )
        return list(map(stat_of, statuses))

    def _follow_all(self, links: "list[tuple[os.DirEntry[str], str]]") -> None:
        self.links.update((entry.path, change_watch.link_target(entry.path)) for entry, _ in links)
        super()._follow_all(links)

    def _add_note(self, place: str, file: str) -> None:
        self.shared_files.add(file)
        super()._add_note(place, file)


class _WatchedNotes:
    """One walk, and whether anything was touched since."""

    def __init__(self, kb: Path, clock: Callable[[], int]) -> None:
        """Walk `kb` and watch each folder; raise `OSError` where one can't be watched, `NoKnowledgeBase` as a walk."""
        self._kb = kb
        self._watch = change_watch.FolderWatch()
        try:
            self._identity = MountedFolder(kb)
            if not self._identity.is_local:
                raise OSError(f"{kb} may be changed by others than this system")
            walker = _WatchingWalker(kb, self._watch)
            now = clock()
            for _ in walker.walk_folders():
                pass
            check_kb(kb)
        except BaseException:
            self._watch.close()
            raise
        self._folders = walker.folders
        self._links = walker.links
        self.kb_walk = walker.sorted_walk(is_watched=True)
        self._shared_notes = [file for file in self.kb_walk.files if file.file in walker.shared_files]
        #: Whether they can't be written to any more and keep their stat.
        self._is_settled = all(file.is_settled(now) for file in self._shared_notes)

    def close(self) -> None:
        """Watch nothing any more."""
        self._watch.close()

    def is_current(self, kb: Path) -> bool:
        """Say whether a new walk would find the same."""
        try:
            changes = self._watch.read_changes()
            return (
                changes is not None
                and self._is_settled
                and kb == self._kb
                and self._identity == MountedFolder(kb)
                and all(change_watch.link_target(place) == target for place, target in self._links.items())
                # through a link, as in the walk
                and all(stat_of(os.stat(note.place)) == note.stat for note in self._shared_notes)  # noqa: PTH116
                and not any(self._may_matter(self._folders[number], name) for number, name in changes)
            )
        except OSError:
            return False

    def _may_matter(self, folder: WalkedFolder, name: str) -> bool:
        """Say whether a file that was touched may be a note, a link to some, or tell what the folder is."""
        if is_note_name(name) or name in _MOUNT_MARKS or CONFLICT_MARK in name or is_encrypted_name(name):
            return True
        if name_fault(name):
            return True
        place = f"{folder.place.rstrip('/')}/{name}"
        return is_note_folder(name) and not name.startswith("#") and os.path.islink(place)  # noqa: PTH114
