"""The walk of a process that lives on: after the first one, only what the system says was touched is looked at.

Each result is what a new walk would find. Where that isn't certain, a new walk it is: a queue that overflowed,
folders that came or went, another mount, a link that leads elsewhere. Where the system can't tell, as on a network's
file system, every walk is a whole one.
"""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import replace
from roamkb.fs import change_watch
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.file_names import is_note_folder
from roamkb.kb.notes.file_names import is_note_name
from roamkb.kb.notes.store.walk import FileNames
from roamkb.kb.notes.store.walk import NoteFile
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
        """Return the walk, kept up to date or made anew; None where `kb` can't be watched."""
        if self._view is not None:
            found = self._view.look_again(kb)
            if found is not None:
                return found
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
    """One whole walk, and what was touched since."""

    def __init__(self, kb: Path, clock: Callable[[], int]) -> None:
        """Walk `kb` and watch each folder; raise `OSError` where one can't be watched, `NoKnowledgeBase` as a walk."""
        self._kb = kb
        self._clock = clock
        self._watch = change_watch.FolderWatch()
        try:
            self._identity = change_watch.MountedFolder(kb)
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
        self._faulty_places = {str(file.path) for file in walker.unreadable}
        self._shared_files = walker.shared_files
        #: Those of them whose stat may stay while they are written to.
        self._unsettled = {file.file for file in self._shared_notes() if not file.is_settled(now)}

    def close(self) -> None:
        """Watch nothing any more."""
        self._watch.close()

    def look_again(self, kb: Path) -> NotesWalk | None:
        """Return the files in `kb` as they are now; None where only a new walk can tell."""
        try:
            changes = self._watch.read_changes()
            if changes is None or kb != self._kb or self._identity != change_watch.MountedFolder(kb):
                return None
            if any(change_watch.link_target(place) != target for place, target in self._links.items()):
                return None
            touched = self._touched_shared_files()
            for number, name in changes:
                touched |= self._look_at(self._folders[number], name)
        except (OSError, _UnclearChange):
            return None
        if touched:
            files = {file.file: file for file in self.kb_walk.files} | touched
            notes = sorted((file for file in files.values() if file is not None), key=attrgetter("file"))
            if not notes:
                # the folder may have been unmounted
                return None
            self.kb_walk = replace(self.kb_walk, files=tuple(notes))
        return self.kb_walk

    def _look_at(self, folder: WalkedFolder, name: str) -> dict[str, NoteFile | None]:
        """Return the note that was touched as it is now, None for one that is gone; empty for other files.

        Raises:
            _UnclearChange: it may have changed which other files are notes.
            OSError: it can't be looked at.
        """
        place, file = f"{folder.place.rstrip('/')}/{name}", folder.prefix + name
        if name in _MOUNT_MARKS or CONFLICT_MARK in name or is_encrypted_name(name):
            raise _UnclearChange
        is_note = is_note_name(name)
        if not is_note and (not is_note_folder(name) or name.startswith("#")):
            return {}
        if place in self._faulty_places or file in self._shared_files or name_fault(name):
            raise _UnclearChange
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return {file: None} if is_note else {}
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise _UnclearChange
        return {file: NoteFile(place, file, stat_of(status))} if is_note else {}

    def _touched_shared_files(self) -> dict[str, NoteFile | None]:
        """Return the notes with several names whose stat is another, or didn't tell."""
        now = self._clock()
        touched: dict[str, NoteFile | None] = {}
        for note in self._shared_notes():
            # through a link, as in the walk
            status = stat_of(os.stat(note.place))  # noqa: PTH116 - as the walk has it
            if status != note.stat or note.file in self._unsettled:
                new_note = touched[note.file] = NoteFile(note.place, note.file, status)
                self._unsettled.discard(note.file)
                if not new_note.is_settled(now):
                    self._unsettled.add(note.file)
        return touched

    def _shared_notes(self) -> list[NoteFile]:
        return [file for file in self.kb_walk.files if file.file in self._shared_files] if self._shared_files else []


class _UnclearChange(Exception):
    """A change after which only a whole walk tells which files are notes."""
