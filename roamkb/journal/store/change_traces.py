"""What made a change among the notes, by traces that a stray command doesn't leave; in doubt nobody knows.

roamkb's own record, Syncthing's own account of a file, an Emacs or vim that runs and touched its lock or swap
file after the note, git's own record of what it did; and what a human's hand is like.
"""

import contextlib
import os
import platform
import struct
import time
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import agent_at_work
from roamkb.boundary.human_consent import find_harness
from roamkb.boundary.store.folder_evidence import PROC
from roamkb.boundary.store.processes import commands_of_parents
from roamkb.boundary.store.socket_peers import environment_of
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import digest
from roamkb.fs.files import read_file
from roamkb.journal.human_edits import is_like_a_hands
from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import Content
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.syncthing import Syncthing
from roamkb.journal.store.syncthing import find_syncthing
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.store.own_writes import OwnWrites
from roamkb.kb.notes.store.own_writes import RecordedWrites

#: Notes that a human changes between two looks; more at once are a mass edit, and told.
_MOST_BY_HAND: Final = 10
#: Nanoseconds by which vim's swap file may be older than what vim just wrote.
_VIM_LAGS: Final = 2_000_000_000
#: Of a swap file: its mark; from 16 on the note's time, inode and vim's process, the user, the machine.
_SWAP: Final = struct.Struct("<2s14xIII40s40s")
#: Seconds around a line of git's own record within which it changed files.
_BY_GIT: Final = (5.0, 60.0)
_GIT_DEEDS: Final = (b"pull", b"merge", b"rebase", b"checkout", b"reset", b"revert", b"cherry-pick", b"am")
_REFLOG_TAIL: Final = 16_384
#: Of a line of git's record: when, and what was done.
_REFLOG: Final = lazily(rb"> (\d+) [+-]\d{4}\t(\w[\w-]*)")


class ChangeTraces:
    """The traces in one knowledge base, as they are now; `is_idle` where no agent is at work."""

    def __init__(self, kb: Path, *, own: OwnWrites, home: Path | None, is_idle: bool) -> None:
        self._kb = os.fsencode(os.path.realpath(kb))
        self._own = own
        self._home = home
        self._is_idle = is_idle

    def __call__(self, changes: Sequence[EntryChange], content: Content) -> list[ChangeMaker]:
        """Return for each change what made it."""
        found = [self._by_program(change) for change in changes]
        by_hand = {
            number: by
            for number, change in enumerate(changes)
            if found[number] is ChangeMaker.UNKNOWN and (by := self._by_hand(change, content))
        }
        if sum(changes[number].was is not None for number in by_hand) <= _MOST_BY_HAND:
            found = [by_hand.get(number, by) for number, by in enumerate(found)]
        return [
            self._by_syncthing(change) if by is ChangeMaker.UNKNOWN else by
            for change, by in zip(changes, found, strict=True)
        ]

    def _by_program(self, change: EntryChange) -> ChangeMaker:
        paths = [self._path(entry.path) for entry in (change.was, change.now) if entry]
        if self._is_own(change):
            return ChangeMaker.ROAMKB
        if any(map(self._is_held_by_emacs, paths)):
            return ChangeMaker.EMACS
        if any(map(self._is_held_by_vim, paths)):
            return ChangeMaker.VIM
        if self._is_gits(paths[-1]):
            return ChangeMaker.IDLE if self._is_idle else ChangeMaker.GIT
        return ChangeMaker.UNKNOWN

    def _path(self, relative: bytes) -> bytes:
        return self._kb + b"/" + relative

    # roamkb

    @cached_property
    def _deeds(self) -> RecordedWrites:
        return self._own.read()

    def _is_own(self, change: EntryChange) -> bool:
        was, now = change.was, change.now
        if any(entry and entry.form is not EntryForm.FILE for entry in (was, now)):
            return False
        if change.what is ChangeKind.MOVED and was and now:
            return self._deeds.explain(was.path, was.digest, None) and self._deeds.explain(
                now.path, None, now.digest
            )
        return self._deeds.explain(change.path, was.digest if was else None, now.digest if now else None)

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
        who, _, rest = target.rpartition(".")
        pid = rest.partition(":")[0]
        return _is_here(who.rpartition("@")[2]) and pid.isdecimal() and _is_humans(int(pid[:10]), b"emacs")

    def _is_held_by_vim(self, path: bytes) -> bool:
        """Say whether a human's vim on this machine has the note open, and its swap file is no older."""
        folder, _, name = path.rpartition(b"/")
        swap = folder + b"/." + name + b".swp"
        try:
            with open(swap, "rb") as file:  # noqa: PTH123 - pathlib knows no names that are bytes
                head = file.read(_SWAP.size)
                swapped = os.fstat(file.fileno())
            note = os.lstat(path)
        except OSError:
            return False
        if len(head) < _SWAP.size:
            return False
        mark, _, inode, pid, _, host = _SWAP.unpack(head)
        return (
            mark == b"b0"
            and inode == note.st_ino & 0xFFFFFFFF
            and swapped.st_mtime_ns >= note.st_ctime_ns - _VIM_LAGS
            and _is_here(os.fsdecode(host.rstrip(b"\0")))
            and _is_humans(pid, b"vi")
        )

    def _by_hand(self, change: EntryChange, content: Content) -> ChangeMaker | None:
        """Return what a human made it with, where a hand could have: little of a note is gone."""
        if not is_like_a_hands(change, content):
            return None
        if self._is_idle:
            return ChangeMaker.IDLE
        # saved once in this Emacs, and not touched since
        return ChangeMaker.EMACS if self._home and self._has_backup(change) and self._emacs_runs else None

    def _has_backup(self, change: EntryChange) -> bool:
        if change.what is not ChangeKind.CHANGED or change.was is None or change.was.digest is None:
            return False
        kept = read_file(Path(os.fsdecode(self._path(change.path)) + "~"))
        return not isinstance(kept, UnreadableFile) and digest(kept) == change.was.digest.hex()

    @cached_property
    def _emacs_runs(self) -> bool:
        """Whether an Emacs of this home's human runs; `sed -i~` and `mv -b` leave the same backups."""
        return any(_is_humans(pid, b"emacs", home=self._home) for pid in _processes())

    # Syncthing

    def _by_syncthing(self, change: EntryChange) -> ChangeMaker:
        """Ask the human's own Syncthing whether another machine made the change."""
        if change.what is ChangeKind.ADDED and CONFLICT_MARK.encode() in change.path and self._syncthing:
            return ChangeMaker.SYNCTHING
        syncthing, was, now = self._syncthing, change.was, change.now
        if syncthing is None:
            return ChangeMaker.UNKNOWN
        is_gone = was is not None and (now is None or now.path != was.path)
        if is_gone and was and not syncthing.brought(was, is_there=False):
            return ChangeMaker.UNKNOWN
        return (
            ChangeMaker.UNKNOWN
            if now and not syncthing.brought(now, is_there=True)
            else ChangeMaker.SYNCTHING
        )

    @cached_property
    def _syncthing(self) -> Syncthing | None:
        return find_syncthing(Path(os.fsdecode(self._kb)), home=self._home) if self._home else None

    # git

    @cached_property
    def _git_deeds(self) -> tuple[float, ...]:
        return _git_deeds(Path(os.fsdecode(self._kb)))

    def _is_gits(self, path: bytes) -> bool:
        if not self._git_deeds:
            return False
        try:
            when = os.lstat(path).st_ctime
        except OSError:
            when = time.time()
        before, after = _BY_GIT
        return any(deed - before <= when <= deed + after for deed in self._git_deeds)


def traces_of(journal: Journal, *, home: Path | None) -> ChangeTraces:
    """Return the traces around a journal's notes."""
    own = OwnWrites(kb=journal.kb, folder=journal.folder)
    return ChangeTraces(journal.kb, own=own, home=home, is_idle=not journal.at_work())


def _is_here(host: str) -> bool:
    return bool(host) and host.partition(".")[0] == platform.node().partition(".")[0]


def _is_humans(pid: int, name: bytes, *, home: Path | None = None) -> bool:
    """Say whether a program of that name runs that no agent began, as far as the system tells."""
    try:
        if not (PROC / "self").exists():
            os.kill(pid, 0)
            return pid > 0
        if name not in (PROC / str(pid) / "comm").read_bytes().lower():
            return False
        environment = environment_of(pid, PROC)
    except (OSError, OverflowError):
        return False
    if home is not None and environment.get("HOME") != str(home):
        return False
    return not agent_at_work(environment, find_harness(commands_of_parents(pid, PROC)))


def _processes() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(path.name) for path in PROC.iterdir() if path.name.isdecimal())


def _git_deeds(kb: Path) -> tuple[float, ...]:
    """Return when git lately changed files of the repository that the notes lie in."""
    for folder in (kb, *kb.parents):
        # unlike Path's, it never fails
        if os.path.isdir(folder / ".git"):  # noqa: PTH112
            try:
                with (folder / ".git" / "logs" / "HEAD").open("rb") as file:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - _REFLOG_TAIL))
                    lines = _REFLOG.findall(file.read())
            except OSError:
                return ()
            return tuple(float(when) for when, deed in lines if deed.startswith(_GIT_DEEDS))
    return ()
