"""What made a change among the notes, by the traces that programs leave; forged ones are believed.

Emacs's locks and backups, vim's swap files, what Syncthing sets and keeps, git's own record of what it did.
"""

import os
import re
import time
from collections.abc import Callable
from collections.abc import Collection
from pathlib import Path
from typing import Final

from roamkb.core.journal import By
from roamkb.core.journal import Change
from roamkb.core.journal import Entry
from roamkb.core.journal import Form
from roamkb.core.journal import What
from roamkb.core.model import Unreadable
from roamkb.core.names import CONFLICT_MARK
from roamkb.core.passages import is_agent_node
from roamkb.storage.disk import digest
from roamkb.storage.disk import read_file

#: Notes that a human saves during one turn of an agent; a mass edit that keeps backups is no human's.
_MOST_BY_HAND: Final = 10
#: Nanoseconds by which a file is older than its name where a syncer put it there.
_SYNCED: Final = 1_000_000_000
#: Seconds around a line of git's own record within which it changed files.
_BY_GIT: Final = (5.0, 60.0)
_GIT_DEEDS: Final = (b"pull", b"merge", b"rebase", b"checkout", b"reset", b"revert", b"cherry-pick", b"am")
_REFLOG_TAIL: Final = 16_384
#: Of a line of git's record: when, and what was done.
_REFLOG: Final = re.compile(rb"> (\d+) [+-]\d{4}\t(\w[\w-]*)")

Content = Callable[[Entry], bytes | None]


class Traces:
    """The traces in one knowledge base, as they are now; `trashed` gives the SHA-256s of roamkb's trash."""

    def __init__(self, kb: Path, *, is_idle: bool, trashed: Callable[[], Collection[str]]) -> None:
        self._kb = os.fsencode(os.path.realpath(kb))
        self._is_idle = is_idle
        self._trashed = trashed
        self._is_synced = any(
            os.path.isdir(os.path.join(folder, b".stfolder"))  # noqa: PTH112, PTH118 - bytes
            for folder in (self._kb, *map(os.fsencode, Path(os.fsdecode(self._kb)).parents))
        )
        self._git_deeds = _git_deeds(Path(os.fsdecode(self._kb)))
        self._by_hand = 0

    def __call__(self, change: Change, content: Content) -> By:
        """Return what made the change."""
        if self._is_idle:
            return By.IDLE
        paths = [self._kb + b"/" + entry.path for entry in (change.was, change.now) if entry]
        for path in paths:
            if by := self._by_editor(path, change):
                return by
        if self._is_synced and self._by_syncthing(change, paths[-1]):
            return By.SYNCTHING
        if self._by_roamkb(change, content):
            return By.ROAMKB
        return By.GIT if self._by_git(paths[-1]) else By.UNKNOWN

    def _by_editor(self, path: bytes, change: Change) -> By | None:
        folder, _, name = path.rpartition(b"/")
        if os.path.lexists(folder + b"/.#" + name) or os.path.lexists(folder + b"/#" + name + b"#"):
            return By.EMACS
        if os.path.lexists(folder + b"/." + name + b".swp"):
            return By.VIM
        if change.what is What.CHANGED and change.was and change.was.digest and self._by_hand < _MOST_BY_HAND:
            kept = read_file(Path(os.fsdecode(path) + "~"))
            if not isinstance(kept, Unreadable) and digest(kept) == change.was.digest.hex():
                self._by_hand += 1
                return By.EMACS
        return None

    def _by_syncthing(self, change: Change, path: bytes) -> bool:
        folder, _, name = path.rpartition(b"/")
        if os.path.lexists(folder + b"/.syncthing." + name + b".tmp"):
            return True
        now = change.now
        if now is None:
            return change.was is not None and self._is_in_versions(change.was)
        if CONFLICT_MARK.encode() in name and change.what is What.ADDED:
            return True
        if now.form is not Form.FILE or change.what not in (What.ADDED, What.CHANGED):
            return False
        try:
            found = os.lstat(path)
        except OSError:
            return False
        is_newer = change.was is None or found.st_mtime_ns > change.was.mtime
        # a syncer gives a file the time at which another machine wrote it; an older version is a backup's
        return is_newer and found.st_ctime_ns - found.st_mtime_ns > _SYNCED

    def _is_in_versions(self, was: Entry) -> bool:
        """Say whether Syncthing keeps what vanished among its old versions."""
        folder, _, name = was.path.rpartition(b"/")
        stem, dot, ending = name.rpartition(b".")
        start = (stem if dot else name) + b"~"
        try:
            with os.scandir(self._kb + b"/.stversions/" + folder) as found:
                kept = [
                    one.path
                    for one in found
                    if one.name.startswith(start) and one.name.endswith(dot + ending)
                ]
        except OSError:
            return False
        for path in sorted(kept, reverse=True)[:3]:
            data = read_file(Path(os.fsdecode(path)))
            if not isinstance(data, Unreadable) and was.digest and digest(data) == was.digest.hex():
                return True
        return False

    def _by_roamkb(self, change: Change, content: Content) -> bool:
        """Say whether it is a change that roamkb's commands make: of agent nodes alone."""
        if change.what is What.MOVED:
            # `conflicts --adopt`
            return change.was is not None and CONFLICT_MARK.encode() in change.was.path
        texts = [content(entry) for entry in (change.was, change.now) if entry]
        if change.what is What.MODE or not all(text and is_agents(text) for text in texts):
            return False
        is_gone = change.now is None and change.was is not None
        return not is_gone or (change.was is not None and _hex(change.was) in self._trashed())

    def _by_git(self, path: bytes) -> bool:
        if not self._git_deeds:
            return False
        try:
            when = os.lstat(path).st_ctime
        except OSError:
            when = time.time()
        before, after = _BY_GIT
        return any(deed - before <= when <= deed + after for deed in self._git_deeds)


def is_agents(data: bytes) -> bool:
    """Say whether all of a note is an agent's node."""
    if b":agent:" not in data.lower():
        return False
    from roamkb.formats.org.decode import decode_note
    from roamkb.formats.org.note import parse_note

    note = parse_note(decode_note(data)[0], file="note.org", setup=lambda _: None)
    return len(note.nodes) == 1 and is_agent_node(note, note.nodes[0])


def _hex(entry: Entry) -> str:
    return entry.digest.hex() if entry.digest else ""


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
