"""The walk over a knowledge base: notes, copies and unreadable files (docs/architecture.md)."""

import os
from collections import deque
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from operator import attrgetter
from operator import itemgetter
from pathlib import Path

from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import error_reason
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.file_names import is_copied_note
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.file_names import is_note_folder
from roamkb.kb.notes.file_names import is_note_name

#: Size, times of writing and of any change in nanoseconds, inode, device: another one, another file.
Stat = tuple[int, int, int, int, int]

#: Nanoseconds in which a file may be written to twice and keep its time, on the coarsest file systems.
_UNSETTLED = 2_000_000_000

#: What a note is sorted by.
_FILE_OF: Callable[["NoteFile"], str] = itemgetter(1)

#: Returns the `Stat` in what the system says of a file, most of which is never needed.
stat_of: Callable[[os.stat_result], Stat] = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")


class NoteFile(tuple[str, str, Stat]):
    """A note's path and stat, before it is read; a tuple, since a record takes ten times as long to make."""

    __slots__ = ()

    def __new__(cls, place: str, file: str, stat: Stat) -> "NoteFile":
        """Return the file at `place`, which is `file` in the knowledge base."""
        return tuple.__new__(cls, (place, file, stat))

    @property
    def place(self) -> str:
        """Its absolute path, as a string: a `Path` for each of 100,000 files takes longer than the walk."""
        return self[0]

    @property
    def file(self) -> str:
        """Its path in the knowledge base, with `/`."""
        return self[1]

    @property
    def stat(self) -> Stat:
        """What the system said of it."""
        return self[2]

    @property
    def path(self) -> Path:
        """The file's absolute path."""
        return Path(self.place)

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return self.stat[0]

    @property
    def mtime_ns(self) -> int:
        """The time of the last write as the writer set it: syncers set it, and clocks go back."""
        return self.stat[1]

    @property
    def ctime_ns(self) -> int:
        """The time of the last change of any kind, set by this system."""
        return self.stat[2]

    @property
    def inode(self) -> int:
        """The inode number; another one after each replacement."""
        return self.stat[3]

    @property
    def device(self) -> int:
        """The number of the file system that holds the file."""
        return self.stat[4]

    def is_settled(self, now: int) -> bool:
        """Say whether the stat, taken at `now` in nanoseconds, tells this content from any later one."""
        # the clock of the change is the system's own, and may have been set since
        return abs(now - self.ctime_ns) > _UNSETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesWalk:
    """The result of one walk over a knowledge base, each list sorted."""

    files: tuple[NoteFile, ...]
    conflict_copies: tuple[Path, ...]
    encrypted: tuple[Path, ...]
    unreadable: tuple[UnreadableFile, ...]
    #: Whether a file that is the object of the walk before was not touched since, whatever its stat.
    is_watched: bool = False


def walk_notes(kb: Path) -> NotesWalk:
    """Return the files in `kb`; a bad file or folder is listed and never stops the walk.

    Each file is asked for its stat each time. What the names mean is remembered, and files
    that are as they were are the objects that they were, so that a second walk of this
    process costs what the system takes, and its result is quickly compared.
    """
    previous = _LAST.get(str(kb), _NOTHING)
    walker = NotesWalker(kb, previous.listings)
    for _ in walker.walk_folders():
        pass
    is_same = walker.files == previous.walked_files
    walked = walker.sorted_walk(files=previous.sorted_files if is_same else None)
    # a process seldom has more than one knowledge base, and each takes memory
    _LAST.clear()
    _LAST[str(kb)] = _WalkMemory(listings=walker.listings, walked_files=walker.files, sorted_files=walked.files)
    return walked


def walk_checked(kb: Path) -> NotesWalk:
    """Return the files in `kb`.

    Raises:
        NoKnowledgeBase: it isn't there or not mounted.
    """
    check_kb(kb)
    return walk_notes(kb)


def check_kb(kb: Path) -> None:
    """Raise `NoKnowledgeBase` unless `kb` is a folder that shows that it is mounted."""
    try:
        with os.scandir(kb) as entries:
            if any(entry.name in (".stfolder", ".git") for entry in entries):
                return
    except OSError as error:
        raise NoKnowledgeBase(kb, error_reason(error)) from error
    walker = NotesWalker(kb, {})
    if not any(walker.files for _ in walker.walk_folders()):
        # an unmounted disk looks like an empty folder
        raise NoKnowledgeBase(kb, "it holds no note and neither .stfolder nor .git, as if it weren't mounted")


def kb_fault(kb: Path) -> str:
    """Return the reason why `kb` can't be taken for a knowledge base; empty where it can."""
    try:
        check_kb(kb)
    except NoKnowledgeBase as error:
        return error.why
    return ""


@dataclass(frozen=True, slots=True)
class WalkedFolder:
    """A folder of the walk."""

    place: str
    #: Relative to the knowledge base with a `/` behind; empty for the knowledge base itself.
    prefix: str
    #: Where it really is; None until a link was followed, since everything before lies where it says.
    real: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNames:
    """The regular files of one folder, classified by their names."""

    #: All of them, as the system lists them.
    all: list[str]
    #: The notes, relative to the knowledge base, and where they lie.
    files: list[str]
    places: list[str]
    conflict_copies: list[str]
    encrypted: list[str]
    unreadable: list[UnreadableFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotesListing:
    """The notes of one folder with their stats at the last walk."""

    names: FileNames
    notes: list[NoteFile]
    stats: list[Stat]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WalkMemory:
    """The last walk of a knowledge base, never changed once it is stored: threads may share it."""

    #: By the folders' places.
    listings: Mapping[str, _NotesListing]
    #: The notes in the order of the walk, and in their own.
    walked_files: list[NoteFile]
    sorted_files: tuple[NoteFile, ...]


_NOTHING = _WalkMemory(listings={}, walked_files=[], sorted_files=())
#: The last walk of this process, by its knowledge base.
_LAST: dict[str, _WalkMemory] = {}


class NotesWalker:
    """The walk's queue and its growing lists."""

    def __init__(self, kb: Path, previous: Mapping[str, _NotesListing]) -> None:
        self._before = previous
        self.listings: dict[str, _NotesListing] = {}
        self.files: list[NoteFile] = []
        self.conflict_copies: list[str] = []
        self.encrypted: list[str] = []
        self.unreadable: list[UnreadableFile] = []
        self._root = os.path.realpath(kb)
        self._pending = deque([WalkedFolder(str(kb), "")])
        self._links: list[tuple[os.DirEntry[str], str]] = []
        #: Real paths of what was found through a link: folders, then files.
        self._followed: set[str] = set()

    def walk_folders(self) -> Iterator[None]:
        """Walk one folder a step; links come last, so that a note is listed under its own name."""
        while self._pending or self._links:
            if self._pending:
                self._list_folder(self._pending.pop())
                yield
            else:
                links, self._links = self._links, []
                self._follow_all(sorted(links, key=lambda link: link[0].path))

    def sorted_walk(self, *, files: tuple[NoteFile, ...] | None = None, is_watched: bool = False) -> NotesWalk:
        """Return the result; `files` are its notes where they are sorted already."""
        return NotesWalk(
            files=tuple(sorted(self.files, key=_FILE_OF)) if files is None else files,
            conflict_copies=tuple(map(Path, sorted(self.conflict_copies))),
            encrypted=tuple(map(Path, sorted(self.encrypted))),
            unreadable=tuple(sorted(self.unreadable, key=attrgetter("path"))),
            is_watched=is_watched,
        )

    def _list_folder(self, folder: WalkedFolder) -> None:
        try:
            with os.scandir(folder.place) as entries:
                listed = list(entries)
            # nearly all are of this kind, and need no more questions
            names = [entry.name for entry in listed if entry.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            if not folder.prefix:
                self._add_unreadable(folder.place, "doesn't exist")
            return
        except OSError as error:
            self._add_unreadable(folder.place, error_reason(error))
            return
        self._take_files(folder, names)
        if len(names) < len(listed):
            others = [entry for entry in listed if not entry.is_file(follow_symlinks=False)]
            # the last folder comes first: names that are nearly sorted are soon sorted
            for entry in sorted(others, key=attrgetter("name"), reverse=True):
                self._take_entry(entry, folder)

    def _take_files(self, folder: WalkedFolder, file_names: list[str]) -> None:
        previous = self._before.get(folder.place)
        if previous is None or previous.names.all != file_names:
            previous = _NotesListing(names=_classify_names(folder, file_names), notes=[], stats=[])
        names = previous.names
        try:
            stats = self._read_stats(names)
        except OSError:
            for file, place in zip(names.files, names.places, strict=True):
                self._add_note(place, file)
        else:
            listing = _update_listing(previous, stats)
            self.listings[folder.place] = listing
            self.files += listing.notes
        self.conflict_copies += names.conflict_copies
        self.encrypted += names.encrypted
        self.unreadable += names.unreadable

    def _read_stats(self, names: FileNames) -> list[Stat]:
        return list(map(stat_of, map(os.lstat, names.places)))

    def _take_entry(self, entry: os.DirEntry[str], folder: WalkedFolder) -> None:
        name = entry.name
        if entry.is_symlink():
            # a lock link of Emacs names no file: `.#note.org` -> user@host
            if is_note_folder(name) and not name.startswith("#"):
                self._links.append((entry, folder.prefix))
        elif entry.is_dir(follow_symlinks=False):
            if is_note_folder(name) and self._is_legible(entry):
                real = None if folder.real is None else f"{folder.real}/{name}"
                self._queue_folder(WalkedFolder(entry.path, f"{folder.prefix}{name}/", real))
        elif is_note_name(name):
            self._add_unreadable(entry.path, "isn't a regular file")
        else:
            self._add_other(entry)

    def _queue_folder(self, folder: WalkedFolder) -> None:
        if folder.real is not None:
            if folder.real in self._followed:
                return
            self._followed.add(folder.real)
        self._pending.append(folder)

    def _add_note(self, place: str, file: str) -> None:
        try:
            # through a link, if it was followed
            stat = stat_of(Path(place).stat())
        except FileNotFoundError:
            # a syncer is replacing it; who knows the note looks again
            return
        except OSError as error:
            self._add_unreadable(place, error_reason(error))
            return
        self.files.append(NoteFile(place, file, stat))

    def _add_other(self, entry: os.DirEntry[str]) -> None:
        if CONFLICT_MARK in entry.name:
            if is_copied_note(entry.name):
                self.conflict_copies.append(entry.path)
        elif is_encrypted_name(entry.name):
            self.encrypted.append(entry.path)

    def _follow_all(self, links: list[tuple[os.DirEntry[str], str]]) -> None:
        """Follow folders first: a file that lies in one needs no link of its own."""
        files = []
        for entry, prefix in links:
            if self._is_folder(entry):
                self._follow_folder(entry, prefix)
            elif is_note_name(entry.name):
                files.append((entry, prefix))
            else:
                self._add_other(entry)
        if self._pending:
            self._links += files
            return
        for entry, prefix in files:
            self._follow_file(entry, prefix)

    @staticmethod
    def _is_folder(entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError:
            return False

    def _follow_folder(self, entry: os.DirEntry[str], prefix: str) -> None:
        if not self._is_legible(entry):
            return
        real = os.path.realpath(entry.path)
        inside = self._path_inside(real)
        if inside is None:
            self._add_unreadable(entry.path, "links out of the knowledge base", is_elsewhere=True)
        elif inside and not all(map(is_note_folder, inside.split("/"))):
            # what lies where notes lie anyway is found there
            self._queue_folder(WalkedFolder(entry.path, f"{prefix}{entry.name}/", real))

    def _follow_file(self, entry: os.DirEntry[str], prefix: str) -> None:
        real = os.path.realpath(entry.path)
        inside = self._path_inside(real)
        try:
            entry.stat()
        except OSError:
            # or goes in a circle
            self._add_unreadable(entry.path, "links to nothing")
            return
        if inside is None:
            self._add_unreadable(entry.path, "links out of the knowledge base", is_elsewhere=True)
        elif not is_note(inside) and not self._is_found(real):
            self._followed.add(real)
            if entry.is_file():
                if self._is_legible(entry):
                    self._add_note(entry.path, prefix + entry.name)
            else:
                self._add_unreadable(entry.path, "isn't a regular file")

    def _is_found(self, real: str) -> bool:
        folder, _, name = real.rpartition("/")
        return real in self._followed or (folder in self._followed and is_note_name(name))

    def _path_inside(self, real: str) -> str | None:
        """Return `real` relative to the knowledge base, empty for the base itself; None outside."""
        if real == self._root:
            return ""
        root = self._root.rstrip("/") + "/"
        return real.removeprefix(root) if real.startswith(root) else None

    def _is_legible(self, entry: os.DirEntry[str]) -> bool:
        """Say whether the entry's name is printable on one line; list the entry as unreadable if not."""
        fault = name_fault(entry.name)
        if fault:
            self._add_unreadable(entry.path, fault)
        return not fault

    def _add_unreadable(self, place: str, reason: str, *, is_elsewhere: bool = False) -> None:
        self.unreadable.append(UnreadableFile(path=Path(place), reason=reason, is_elsewhere=is_elsewhere))


def _classify_names(folder: WalkedFolder, file_names: list[str]) -> FileNames:
    """Return the regular files `file_names` in `folder`, classified by their names."""
    names = FileNames(all=file_names, files=[], places=[], conflict_copies=[], encrypted=[], unreadable=[])
    path_prefix = folder.place.rstrip("/") + "/"
    joined = "".join(file_names)
    if joined.isprintable() and CONFLICT_MARK not in joined:
        # nearly all folders, and a call for each name takes as long as the system does for its stat
        plain_names = sorted(name for name in file_names if name.endswith(".org") and name[0] not in ".#")
        names.files.extend(folder.prefix + name for name in plain_names)
        names.places.extend(path_prefix + name for name in plain_names)
        if len(plain_names) < len(file_names):
            names.encrypted.extend(path_prefix + name for name in file_names if is_encrypted_name(name))
        return names
    for name in sorted(file_names):
        if is_note_name(name):
            if fault := name_fault(name):
                names.unreadable.append(UnreadableFile(path=Path(path_prefix + name), reason=fault))
            else:
                names.files.append(folder.prefix + name)
                names.places.append(path_prefix + name)
        elif CONFLICT_MARK in name:
            if is_copied_note(name):
                names.conflict_copies.append(path_prefix + name)
        elif is_encrypted_name(name):
            names.encrypted.append(path_prefix + name)
    return names


def _update_listing(previous: _NotesListing, stats: list[Stat]) -> _NotesListing:
    """Return the listing for `stats`, with the same objects for unchanged notes."""
    if stats == previous.stats:
        return previous
    names = previous.names
    if previous.notes:
        pairs = zip(previous.notes, stats, strict=True)
        notes = [note if note.stat == stat else NoteFile(note.place, note.file, stat) for note, stat in pairs]
    else:
        new_file = tuple.__new__
        notes = [new_file(NoteFile, parts) for parts in zip(names.places, names.files, stats, strict=True)]
    return _NotesListing(names=names, notes=notes, stats=stats)


def name_fault(name: str) -> str:
    """Return the reason why a file's name can't be printed on a line; empty if it can."""
    if name.isprintable():
        return ""
    if "\n" in name or "\r" in name:
        return "its name holds a line break"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name isn't UTF-8"
    return ""
