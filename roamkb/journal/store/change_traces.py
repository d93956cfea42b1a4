"""Makers of changes among the notes, by traces that a stray command doesn't leave; in doubt unknown.

roamkb's own record, Syncthing's own account of a file, an Emacs or vim that runs and touched its lock or swap
file after the note, git's own record of what it did; and what a human's hand is like.
"""

import contextlib
import math
import os
import struct
import time
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import agent_evidence
from roamkb.boundary.human_consent import find_harness
from roamkb.boundary.store import socket_peers
from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.processes import parent_commands
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import content_digest
from roamkb.fs.files import read_file
from roamkb.fs.mounts import MountedFolder
from roamkb.journal.human_edits import is_human_like_edit
from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import ReadContent
from roamkb.journal.store import syncthing
from roamkb.journal.store.journal import Journal
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.store.own_writes import OwnWrites
from roamkb.kb.notes.store.own_writes import RecordedWrites

#: Notes that a human changes between two looks; more at once are a mass edit, and told.
_MAX_HAND_EDITS: Final = 10
#: Nanoseconds by which vim's swap file may be older than what vim just wrote.
_VIM_LAG: Final = 2_000_000_000
#: Of a swap file: its mark; from 16 on the note's time, inode and vim's process, the user, the machine.
_SWAP_HEADER: Final = struct.Struct("<2s14xIII40s40s")
#: Seconds around a line of git's own record within which it changed files.
_GIT_WINDOW: Final = (5.0, 60.0)
_GIT_COMMANDS: Final = (b"pull", b"merge", b"rebase", b"checkout", b"reset", b"revert", b"cherry-pick", b"am")
_REFLOG_TAIL: Final = 16_384
#: Of a line of git's record: when, and what was done.
_REFLOG_LINE: Final = lazily(rb"> (\d+) [+-]\d{4}\t(\w[\w-]*)")


class ChangeTraces:
    """The present traces in one knowledge base; until `idle_end` (`Journal.find_idle_end`) no agent was at work."""

    def __init__(self, kb: Path, *, own_writes: OwnWrites, home: Path | None, idle_end: float) -> None:
        self._kb = os.fsencode(os.path.realpath(kb))
        self._own = own_writes
        self._home = home
        self._idle_end = idle_end

    def __call__(self, changes: Sequence[EntryChange], read_content: ReadContent) -> list[ChangeMaker]:
        """Return the maker of each change."""
        makers = [self._by_program(change) for change in changes]
        by_hand = {
            number: maker
            for number, change in enumerate(changes)
            if makers[number] is ChangeMaker.UNKNOWN and (maker := self._by_hand(change, read_content))
        }
        if sum(changes[number].was is not None for number in by_hand) <= _MAX_HAND_EDITS:
            makers = [by_hand.get(number, maker) for number, maker in enumerate(makers)]
        return [
            self._by_syncthing(change) if maker is ChangeMaker.UNKNOWN else maker
            for change, maker in zip(changes, makers, strict=True)
        ]

    def _by_program(self, change: EntryChange) -> ChangeMaker:
        paths = [self._absolute_path(entry.path) for entry in (change.was, change.now) if entry]
        if self._is_own(change):
            return ChangeMaker.ROAMKB
        if any(map(self._is_held_by_emacs, paths)):
            return ChangeMaker.EMACS
        if any(map(self._is_held_by_vim, paths)):
            return ChangeMaker.VIM
        if self._is_by_git(paths[-1]):
            return ChangeMaker.IDLE if self._is_idle_change(change) else ChangeMaker.GIT
        return ChangeMaker.UNKNOWN

    def _is_idle_change(self, change: EntryChange) -> bool:
        """Say whether no agent was at work when the change was made.

        The look before a turn may leave out what was written into a file as it lay there: its time tells it from
        what is the turn's, by the system's own clock. Another file may come with a folder that was made before.
        """
        if math.isinf(self._idle_end) or not self._is_local:
            return math.isinf(self._idle_end)
        was, now = change.was, change.now
        if change.what is not ChangeKind.CHANGED or was is None or now is None or was.inode != now.inode:
            return False
        try:
            return os.lstat(self._absolute_path(change.path)).st_ctime_ns < self._idle_end
        except OSError:
            return False

    @cached_property
    def _is_local(self) -> bool:
        try:
            return MountedFolder(os.fsdecode(self._kb)).is_local
        except OSError:
            return False

    def _absolute_path(self, relative: bytes) -> bytes:
        return self._kb + b"/" + relative

    # roamkb

    @cached_property
    def _recorded_writes(self) -> RecordedWrites:
        return self._own.read_record()

    def _is_own(self, change: EntryChange) -> bool:
        old_entry, new_entry = change.was, change.now
        if any(entry and entry.form is not EntryForm.FILE for entry in (old_entry, new_entry)):
            return False
        if change.what is ChangeKind.MOVED and old_entry and new_entry:
            return self._recorded_writes.explains_change(
                old_entry.path, old_entry.digest, None
            ) and self._recorded_writes.explains_change(new_entry.path, None, new_entry.digest)
        return self._recorded_writes.explains_change(
            change.path, old_entry.digest if old_entry else None, new_entry.digest if new_entry else None
        )

    # Editors

    def _is_held_by_emacs(self, path: bytes) -> bool:
        """Say whether a human's Emacs on this machine has locked a note since it was last written.

        A save takes the lock away: one that is older holds other changes, which are not on the disk.
        """
        folder, _, name = path.rpartition(b"/")
        lock = folder + b"/.#" + name
        try:
            target = os.fsdecode(os.readlink(lock))  # noqa: PTH115 - names that are bytes
            if os.lstat(lock).st_ctime_ns < os.lstat(path).st_ctime_ns:
                return False
        except OSError:
            return False
        owner, _, process_text = target.rpartition(".")
        pid = process_text.partition(":")[0]
        return (
            _is_this_machine(owner.rpartition("@")[2])
            and pid.isdecimal()
            and _is_human_started(int(pid[:10]), b"emacs")
        )

    def _is_held_by_vim(self, path: bytes) -> bool:
        """Say whether a human's vim on this machine has the note open, and its swap file is no older."""
        folder, _, name = path.rpartition(b"/")
        swap = folder + b"/." + name + b".swp"
        try:
            with open(swap, "rb") as file:  # noqa: PTH123 - pathlib knows no names that are bytes
                head = file.read(_SWAP_HEADER.size)
                swapped = os.fstat(file.fileno())
            note = os.lstat(path)
        except OSError:
            return False
        if len(head) < _SWAP_HEADER.size:
            return False
        mark, _, inode, pid, _, host = _SWAP_HEADER.unpack(head)
        return (
            mark == b"b0"
            and inode == note.st_ino & 0xFFFFFFFF
            and swapped.st_mtime_ns >= note.st_ctime_ns - _VIM_LAG
            and _is_this_machine(os.fsdecode(host.rstrip(b"\0")))
            and _is_human_started(pid, b"vi")
        )

    def _by_hand(self, change: EntryChange, read_content: ReadContent) -> ChangeMaker | None:
        """Return the maker of a change that a human's hand could have made; else None."""
        if not is_human_like_edit(change, read_content):
            return None
        if self._is_idle_change(change):
            return ChangeMaker.IDLE
        # saved once in this Emacs, and not touched since
        return ChangeMaker.EMACS if self._home and self._has_backup(change) and self._is_emacs_running else None

    def _has_backup(self, change: EntryChange) -> bool:
        if change.what is not ChangeKind.CHANGED or change.was is None or change.was.digest is None:
            return False
        backup = read_file(Path(os.fsdecode(self._absolute_path(change.path)) + "~"))
        return not isinstance(backup, UnreadableFile) and content_digest(backup) == change.was.digest.hex()

    @cached_property
    def _is_emacs_running(self) -> bool:
        """Whether an Emacs of this home's human runs; `sed -i~` and `mv -b` leave the same backups."""
        return any(_is_human_started(pid, b"emacs", home=self._home) for pid in _list_processes())

    # Syncthing

    def _by_syncthing(self, change: EntryChange) -> ChangeMaker:
        """Ask the human's own Syncthing whether another machine made the change."""
        if change.what is ChangeKind.ADDED and CONFLICT_MARK.encode() in change.path and self._notes_syncthing:
            return ChangeMaker.SYNCTHING
        notes_syncthing, old_entry, new_entry = self._notes_syncthing, change.was, change.now
        if notes_syncthing is None:
            return ChangeMaker.UNKNOWN
        is_gone = old_entry is not None and (new_entry is None or new_entry.path != old_entry.path)
        if is_gone and old_entry and not notes_syncthing.is_from_elsewhere(old_entry, is_there=False):
            return ChangeMaker.UNKNOWN
        return (
            ChangeMaker.UNKNOWN
            if new_entry and not notes_syncthing.is_from_elsewhere(new_entry, is_there=True)
            else ChangeMaker.SYNCTHING
        )

    @cached_property
    def _notes_syncthing(self) -> "syncthing.Syncthing | None":
        return syncthing.find_syncthing(Path(os.fsdecode(self._kb)), home=self._home) if self._home else None

    # git

    @cached_property
    def _git_times(self) -> tuple[float, ...]:
        return _read_git_times(Path(os.fsdecode(self._kb)))

    def _is_by_git(self, path: bytes) -> bool:
        if not self._git_times:
            return False
        try:
            change_time = os.lstat(path).st_ctime
        except OSError:
            change_time = time.time()
        before, after = _GIT_WINDOW
        return any(git_time - before <= change_time <= git_time + after for git_time in self._git_times)


def find_change_traces(journal: Journal, *, home: Path | None) -> ChangeTraces:
    """Return the traces around a journal's notes."""
    own_writes = OwnWrites(kb=journal.kb, folder=journal.folder)
    return ChangeTraces(journal.kb, own_writes=own_writes, home=home, idle_end=journal.find_idle_end())


def _is_this_machine(host: str) -> bool:
    return bool(host) and host.partition(".")[0] == os.uname().nodename.partition(".")[0]


def _is_human_started(pid: int, name: bytes, *, home: Path | None = None) -> bool:
    """Say whether a program of that name runs that no agent started, as far as the system tells."""
    try:
        if not (PROC / "self").exists():
            os.kill(pid, 0)
            return pid > 0
        if name not in (PROC / str(pid) / "comm").read_bytes().lower():
            return False
        environment = socket_peers.read_environment(pid, PROC)
    except (OSError, OverflowError):
        return False
    if home is not None and environment.get("HOME") != str(home):
        return False
    return not agent_evidence(environment, find_harness(parent_commands(pid, PROC)))


def _list_processes() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(path.name) for path in PROC.iterdir() if path.name.isdecimal())


def _read_git_times(kb: Path) -> tuple[float, ...]:
    """Return the times at which git lately changed files of the notes' repository."""
    for folder in (kb, *kb.parents):
        # unlike Path's, it never fails
        if os.path.isdir(folder / ".git"):  # noqa: PTH112
            try:
                with (folder / ".git" / "logs" / "HEAD").open("rb") as file:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - _REFLOG_TAIL))
                    lines = _REFLOG_LINE.findall(file.read())
            except OSError:
                return ()
            return tuple(float(timestamp) for timestamp, command in lines if command.startswith(_GIT_COMMANDS))
    return ()
