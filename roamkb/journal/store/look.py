"""One look of the journal: what differs from the last one is read, compared and put down, all or nothing."""

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.journal.moments import FULL_BYTES
from roamkb.journal.moments import KEPT_DAYS
from roamkb.journal.moments import MOST_BYTES
from roamkb.journal.moments import SAFE_DAYS
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import Content
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import JournalSession
from roamkb.journal.moments import changes_between
from roamkb.journal.names import FULL
from roamkb.journal.names import UNREADABLE
from roamkb.journal.store.glance import LIVE
from roamkb.journal.store.tables import WAITING
from roamkb.journal.store.tables import find_content
from roamkb.journal.store.tables import find_live
from roamkb.journal.store.tables import last_moment
from roamkb.journal.store.tables import transaction
from roamkb.journal.store.tables import used_bytes
from roamkb.journal.store.walk import FolderListing
from roamkb.journal.store.walk import Seen
from roamkb.journal.store.walk import list_folder
from roamkb.journal.store.walk import looked_again
from roamkb.journal.store.walk import read_entry

#: Nanoseconds: what changed so shortly before it was read may change again and have the same times.
_SETTLED: Final = 2_000_000_000
#: zlib's own: on real notes level 1 takes a third less time and 5 % more room, level 9 saves nothing.
_LEVEL: Final = 6
#: Bytes read for one transaction, all of which are held in memory.
_BATCH: Final = 32 * 1024**2
_DAY: Final = 86400.0
#: How often what is gone or empty is looked at again before that is believed.
_LOOKS_AGAIN: Final = 3
#: Rows of the past that go at once where there is too much of it.
_SWEPT: Final = 500

#: Says what made each change.
Tracer = Callable[[Sequence[EntryChange], Content], Sequence[ChangeMaker]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRequest:
    """What is looked for whom."""

    #: `mark`, `look` or `restore`: all but a look are remembered even where nothing changed.
    what: str
    session: JournalSession | None = None
    #: Sessions that are at work.
    during: Sequence[str] = ()
    tracer: Tracer | None = None
    #: When to stop reading, by the monotonic clock.
    end: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _DifferingEntry:
    """An entry that differs, as it was listed or read."""

    seen: Seen
    #: What it holds; None where it wasn't read.
    data: bytes | None = None
    digest: bytes | None = None
    #: Why it can't be kept; empty where there was no time to read it.
    why: str = ""

    def entry(self, since: int) -> FolderEntry:
        path, form, mode, size, mtime = self.seen[:5]
        return FolderEntry(
            path=path,
            form=EntryForm(form),
            mode=mode,
            size=size,
            mtime=mtime,
            digest=self.digest,
            why=self.why,
            since=since,
        )


class JournalLook:
    """A look while it is made; the journal's lock is held."""

    def __init__(self, db: sqlite3.Connection, root: bytes, *, now: float, request: LookRequest) -> None:
        self._db = db
        self._root = root
        self._now = now
        self._request = request
        self._last = last_moment(db)
        self._found: dict[bytes, _DifferingEntry] = {}
        #: How many known entries may have changed and weren't read in time.
        self.postponed = 0

    def take(self) -> tuple[EntryChange, ...]:
        """Take in what differs, and return what changed since the last look.

        Raises:
            TooSlow: even the names take too long. OSError: the folder can't be listed.
        """
        lost, new = self._differing()
        if not lost and not new and self._request.what == "look" and self._last:
            return ()
        self._read(new)
        was, now = self._compared(lost, new)
        changes: tuple[EntryChange, ...] = ()
        if self._last:
            changes = self._traced(changes_between(was, now))
        with transaction(self._db):
            if changes or self._request.what != "look" or not self._last:
                self._add_moment()
            self._put_down(lost, was, now)
            self._put_changes(changes)
            swept = self._sweep()
        if swept:
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
        return changes

    def _differing(self) -> tuple[dict[bytes, Seen], dict[bytes, Seen]]:
        """Return what isn't there any more as it was seen, and what is there and isn't known so."""
        live: set[Seen] = set(self._db.execute(LIVE))
        unread: set[Seen] = set(self._db.execute(f"{LIVE} WHERE {WAITING}"))
        listing = list_folder(self._root, deadline=self._request.end)
        lost, new = _differing(live, unread, listing)
        for _ in range(_LOOKS_AGAIN):
            # a syncer unlinks a note before it renames the new one into place, an editor empties it first
            doubtful = {path for path in lost if path not in new}
            doubtful |= {path for path, one in new.items() if one[1] == "file" and not one[3]}
            if not doubtful:
                break
            listing = looked_again(self._root, listing, doubtful)
            lost, new = _differing(live, unread, listing)
        return lost, new

    def _read(self, new: Mapping[bytes, Seen]) -> None:
        """Read what is new in the time that there is, the latest written first."""
        size = 0
        for seen in sorted(new.values(), key=lambda one: one[5], reverse=True):
            has_time = self._request.end is None or time.monotonic() < self._request.end
            found = _DifferingEntry(seen=seen, why="no file" if seen[1] == "other" else "")
            if seen[1] in ("file", "link") and has_time and size < _BATCH:
                now, data = read_entry(self._root, seen)
                if isinstance(data, bytes):
                    found = _DifferingEntry(seen=now, data=data, digest=hashlib.sha256(data).digest())
                else:
                    found = _DifferingEntry(seen=now, why=data)
                size += len(data)
            self._found[seen[0]] = found

    def _compared(
        self, lost: Mapping[bytes, Seen], new: Mapping[bytes, Seen]
    ) -> tuple[dict[bytes, FolderEntry], dict[bytes, FolderEntry]]:
        """Return what the entries that differ were and are, but for those with other times alone."""
        was, now = {}, {}
        for path in lost.keys() | new.keys():
            before = find_live(self._db, path)
            found = self._found.get(path)
            if before and found and found.why == UNREADABLE and _is_same_file(lost.get(path), found.seen):
                # its mode alone keeps us out
                self._found[path] = found = replace(found, digest=before.digest, why=before.why)
            after = found.entry(self._last + 1) if found else None
            if before and after and found:
                if after.is_unread and not after.why and not before.is_unread:
                    # whether it changed at all isn't known; the next look reads it
                    del self._found[path]
                    self.postponed += 1
                    continue
                is_late = before.is_unread and path not in lost and found.seen == new[path]
                if is_late or before.is_as(after):
                    continue
            if before:
                was[path] = before
            if after:
                now[path] = after
        return was, now

    def _traced(self, changes: tuple[EntryChange, ...]) -> tuple[EntryChange, ...]:
        if self._request.tracer is None:
            return changes
        makers = self._request.tracer(changes, self._content)
        return tuple(replace(change, by=by) for change, by in zip(changes, makers, strict=True))

    def _content(self, entry: FolderEntry) -> bytes | None:
        found = self._found.get(entry.path)
        if found and found.data is not None and entry.since > self._last:
            return found.data
        return find_content(self._db, entry.digest)

    # Putting down; a transaction is open

    def _add_moment(self) -> None:
        session = self._request.session
        row = (self._now, self._request.what, session.id if session else "", " ".join(self._request.during))
        self._db.execute("INSERT INTO moment(at, what, session, during) VALUES(?, ?, ?, ?)", row)
        self._last = last_moment(self._db)

    def _put_down(
        self, lost: Iterable[bytes], was: Iterable[bytes], now: Mapping[bytes, FolderEntry]
    ) -> None:
        db = self._db
        for path in was:
            db.execute(
                "INSERT INTO past SELECT path, form, mode, size, digest, why, since, ?, ? FROM live "
                "WHERE path = ?",
                (self._last, self._now, path),
            )
        for path in lost:
            if path in was and path not in now:
                db.execute("DELETE FROM live WHERE path = ?", (path,))
        room = FULL_BYTES - used_bytes(db)
        for path, found in self._found.items():
            if found.data is not None and found.digest is not None:
                size = self._store(found.digest, found.data, room)
                room -= size or 0
                if size is None:
                    found = replace(found, digest=None, why=FULL)
            self._put(found, is_new=path in now)

    def _put(self, found: _DifferingEntry, *, is_new: bool) -> None:
        path, form, mode, size, mtime, ctime, inode = found.seen
        if found.digest and abs(time.time_ns() - ctime) < _SETTLED:
            # another change within the clock's next tick would leave the same times
            ctime = 0
        values = (form, mode, size, mtime, ctime, inode, found.digest, found.why, path)
        columns = "form = ?, mode = ?, size = ?, mtime = ?, ctime = ?, inode = ?, digest = ?, why = ?"
        if is_new:
            self._db.execute("DELETE FROM live WHERE path = ?", (path,))
            self._db.execute(
                "INSERT INTO live(form, mode, size, mtime, ctime, inode, digest, why, path, since) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, self._last),
            )
        else:
            self._db.execute(f"UPDATE live SET {columns} WHERE path = ?", values)

    def _store(self, digest: bytes, data: bytes, room: int) -> int | None:
        """Return how much room a content takes that wasn't kept yet; None where there isn't so much."""
        if self._db.execute("SELECT 1 FROM object WHERE digest = ?", (digest,)).fetchone():
            return 0
        packed = zlib.compress(data, _LEVEL)
        if len(packed) > room:
            return None
        self._db.execute("INSERT INTO object VALUES(?, ?, ?)", (digest, len(data), packed))
        return len(packed)

    def _put_changes(self, changes: Iterable[EntryChange]) -> None:
        for change in changes:
            for path in {entry.path for entry in (change.was, change.now) if entry}:
                row = (self._last, path, change.by.value)
                self._db.execute("INSERT INTO change VALUES(?, ?, ?)", row)

    def _sweep(self) -> bool:
        """Forget what is too old, and where there is too much what isn't safe; say whether anything went."""
        db = self._db
        gone = db.execute("DELETE FROM past WHERE gone_at < ?", (self._now - KEPT_DAYS * _DAY,)).rowcount
        if gone:
            self._drop_objects()
        while used_bytes(db) > MOST_BYTES:
            # what was replaced goes before what has no successor
            swept = db.execute(
                "DELETE FROM past WHERE rowid IN (SELECT past.rowid FROM past LEFT JOIN live USING (path) "
                "WHERE gone_at < ? ORDER BY live.path IS NULL, gone_at LIMIT ?)",
                (self._now - SAFE_DAYS * _DAY, _SWEPT),
            ).rowcount
            if not swept:
                break
            gone += swept
            self._drop_objects()
        old = (self._now - KEPT_DAYS * _DAY, self._last)
        db.execute("DELETE FROM change WHERE moment IN (SELECT id FROM moment WHERE at < ? AND id < ?)", old)
        db.execute("DELETE FROM moment WHERE at < ? AND id < ?", old)
        db.execute("DELETE FROM session WHERE seen < ?", old[:1])
        return gone > 0

    def _drop_objects(self) -> None:
        self._db.execute(
            "DELETE FROM object WHERE NOT EXISTS (SELECT 1 FROM live WHERE live.digest = object.digest) "
            "AND NOT EXISTS (SELECT 1 FROM past WHERE past.digest = object.digest)"
        )


def _differing(
    live: set[Seen], unread: set[Seen], listing: FolderListing
) -> tuple[dict[bytes, Seen], dict[bytes, Seen]]:
    new = {one[0]: one for one in listing.seen - (live - unread)}
    lost = {one[0]: one for one in live - listing.seen if not listing.is_unlisted(one[0])}
    return lost, new


def _is_same_file(before: Seen | None, now: Seen) -> bool:
    """Say whether nobody wrote to a file since it was seen, by its size, time of writing and inode."""
    return before is not None and (before[3], before[4], before[6]) == (now[3], now[4], now[6])
