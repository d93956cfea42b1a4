"""A look of the journal: differences from the last look, read, compared and stored, all or nothing."""

import os
import sqlite3
import time
import zlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Final

from roamkb import lazy_module
from roamkb.core.progress import counted
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.tree_digest import TreeDigest
from roamkb.fs.tree_digest import digest_tree
from roamkb.journal.moments import MAX_STORED_BYTES
from roamkb.journal.moments import MIN_RETENTION_DAYS
from roamkb.journal.moments import REFUSAL_BYTES
from roamkb.journal.moments import RETENTION_DAYS
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import JournalSession
from roamkb.journal.moments import ReadContent
from roamkb.journal.moments import changes_between
from roamkb.journal.names import FULL
from roamkb.journal.names import UNREADABLE
from roamkb.journal.store.tables import UNREAD_CONDITION
from roamkb.journal.store.tables import begin_transaction
from roamkb.journal.store.tables import find_content
from roamkb.journal.store.tables import find_live
from roamkb.journal.store.tables import find_recorded_tree
from roamkb.journal.store.tables import last_moment
from roamkb.journal.store.tables import note_swept
from roamkb.journal.store.tables import record_tree
from roamkb.journal.store.tables import used_bytes
from roamkb.journal.store.walk import FolderListing
from roamkb.journal.store.walk import SeenEntry
from roamkb.journal.store.walk import list_folder
from roamkb.journal.store.walk import read_entry
from roamkb.journal.store.walk import recheck_names

if TYPE_CHECKING:
    import hashlib
else:
    # OpenSSL takes a quarter of Python's start to load, and most looks find nothing that changed
    hashlib = lazy_module("hashlib")

#: Nanoseconds: what changed so shortly before it was read may change again and have the same times.
_SETTLING_TIME: Final = 2_000_000_000
#: zlib's own: on real notes level 1 takes a third less time and 5 % more room, level 9 saves nothing.
_COMPRESSION_LEVEL: Final = 6
#: Bytes read for one transaction, all of which are held in memory.
_MAX_BATCH_BYTES: Final = 32 * 1024**2
_DAY_SECONDS: Final = 86400.0
#: How often what is gone or empty is looked at again before that is believed.
_MAX_RECHECKS: Final = 3
#: Rows of the past that go at once where there is too much of it.
_SWEEP_BATCH: Final = 500

#: Entries as a walk has them.
_LIVE_QUERY: Final = "SELECT path, form, mode, size, mtime, ctime, inode FROM live"
#: Says what made each change.
Tracer = Callable[[Sequence[EntryChange], ReadContent], Sequence[ChangeMaker]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRequest:
    """The request of a look: its kind, its session, and its time limit."""

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
    """An entry that differs from the last look, as it was listed or read."""

    seen: SeenEntry
    #: What it holds; None where it wasn't read.
    data: bytes | None = None
    digest: bytes | None = None
    #: Why it can't be kept; empty where there was no time to read it.
    why: str = ""

    def to_folder_entry(self, since: int) -> FolderEntry:
        path, form, mode, size, mtime, _, inode = self.seen
        return FolderEntry(
            path=path,
            form=EntryForm(form),
            mode=mode,
            size=size,
            mtime=mtime,
            inode=inode,
            digest=self.digest,
            why=self.why,
            since=since,
        )


class JournalLook:
    """A look in progress; the journal's lock is held."""

    def __init__(self, db: sqlite3.Connection, root: bytes, *, now: float, request: LookRequest) -> None:
        self._db = db
        self._root = root
        self._now = now
        self._request = request
        self._last = last_moment(db)
        self._found: dict[bytes, _DifferingEntry] = {}
        #: The digest of the folder just before it was listed; empty where it can't stand for the entries.
        self._tree = ""
        #: The changes since the last look.
        self.changes: tuple[EntryChange, ...] = ()
        #: The folder as it was found, where nothing in it had changed.
        self.unchanged_tree: TreeDigest | None = None
        #: How many known entries may have changed and weren't read in time.
        self.postponed = 0

    def record_changes(self) -> None:
        """Record the differences; `changes` has those since the last look.

        Raises:
            TooSlow: even the names take too long. OSError: the folder can't be listed.
        """
        lost, added = self._find_differing()
        if not lost and not added and self._request.what == "look" and self._last:
            if self._tree and self.unchanged_tree is None:
                # a syncer's leftover, or the folder is mounted anew: each later hook would compare everything
                record_tree(self._db, self._tree)
            return
        self._read_new(added)
        old_entries, new_entries = self._compare_entries(lost, added)
        if self._last:
            self.changes = self._trace_makers(changes_between(old_entries, new_entries))
        with begin_transaction(self._db):
            if self.changes or self._request.what != "look" or not self._last:
                self._add_moment()
            self._store_entries(lost, old_entries, new_entries)
            # what changed since it was made has another time than it knows, and so it never holds again
            record_tree(self._db, "" if self.postponed else self._tree)
            self._store_changes(self.changes)
            has_deleted = self._delete_expired()
        if has_deleted:
            self._db.execute("PRAGMA incremental_vacuum").fetchall()

    def _find_differing(self) -> tuple[dict[bytes, SeenEntry], dict[bytes, SeenEntry]]:
        """Return the entries that vanished or changed as they were, and the present ones that differ."""
        tree = digest_tree(os.fsdecode(self._root), deadline=self._request.end)
        self._tree = tree.hex if tree else ""
        if tree is not None and tree.hex == find_recorded_tree(self._db):
            self.unchanged_tree = tree
            return {}, {}
        live: set[SeenEntry] = set(self._db.execute(_LIVE_QUERY))
        unread: set[SeenEntry] = set(self._db.execute(f"{_LIVE_QUERY} WHERE {UNREAD_CONDITION}"))
        listing = list_folder(self._root, deadline=self._request.end)
        lost, added = _diff_listing(live, unread, listing)
        for _ in range(_MAX_RECHECKS):
            # a syncer unlinks a note before it renames the new one into place, an editor empties it first
            doubtful = {path for path in lost if path not in added}
            doubtful |= {path for path, seen_entry in added.items() if seen_entry[1] == "file" and not seen_entry[3]}
            if not doubtful:
                break
            listing = recheck_names(self._root, listing, doubtful)
            lost, added = _diff_listing(live, unread, listing)
        return lost, added

    def _read_new(self, added: Mapping[bytes, SeenEntry]) -> None:
        """Read the new entries in the time that there is, the latest written first."""
        size = 0
        newest_first = sorted(added.values(), key=lambda entry_seen: entry_seen[5], reverse=True)
        for seen_entry in counted(newest_first, "reading notes"):
            has_time = self._request.end is None or time.monotonic() < self._request.end
            differing = _DifferingEntry(seen=seen_entry, why="no file" if seen_entry[1] == "other" else "")
            if seen_entry[1] in ("file", "link") and has_time and size < _MAX_BATCH_BYTES:
                seen_now, data = read_entry(self._root, seen_entry)
                if isinstance(data, bytes):
                    differing = _DifferingEntry(seen=seen_now, data=data, digest=hashlib.sha256(data).digest())
                else:
                    differing = _DifferingEntry(seen=seen_now, why=data)
                size += len(data)
            self._found[seen_entry[0]] = differing

    def _compare_entries(
        self, lost: Mapping[bytes, SeenEntry], added: Mapping[bytes, SeenEntry]
    ) -> tuple[dict[bytes, FolderEntry], dict[bytes, FolderEntry]]:
        """Return the old and new states of entries that changed in more than their times."""
        old_entries, new_entries = {}, {}
        for path in lost.keys() | added.keys():
            old_entry = find_live(self._db, path)
            differing = self._found.get(path)
            if (
                old_entry
                and differing
                and differing.why == UNREADABLE
                and _is_same_file(lost.get(path), differing.seen)
            ):
                # its mode alone keeps us out
                self._found[path] = differing = replace(differing, digest=old_entry.digest, why=old_entry.why)
            new_entry = differing.to_folder_entry(self._last + 1) if differing else None
            if old_entry and new_entry and differing:
                if new_entry.is_unread and not new_entry.why and not old_entry.is_unread:
                    # whether it changed at all isn't known; the next look reads it
                    del self._found[path]
                    self.postponed += 1
                    continue
                is_late = old_entry.is_unread and path not in lost and differing.seen == added[path]
                if is_late or old_entry.is_same_state(new_entry):
                    continue
            if old_entry:
                old_entries[path] = old_entry
            if new_entry:
                new_entries[path] = new_entry
        return old_entries, new_entries

    def _trace_makers(self, changes: tuple[EntryChange, ...]) -> tuple[EntryChange, ...]:
        if self._request.tracer is None:
            return changes
        makers = self._request.tracer(changes, self._read_content)
        return tuple(replace(change, by=maker) for change, maker in zip(changes, makers, strict=True))

    def _read_content(self, entry: FolderEntry) -> bytes | None:
        differing = self._found.get(entry.path)
        if differing and differing.data is not None and entry.since > self._last:
            return differing.data
        return find_content(self._db, entry.digest)

    # Putting down; a transaction is open

    def _add_moment(self) -> None:
        session = self._request.session
        row = (self._now, self._request.what, session.id if session else "", " ".join(self._request.during))
        self._db.execute("INSERT INTO moment(at, what, session, during) VALUES(?, ?, ?, ?)", row)
        self._last = last_moment(self._db)

    def _store_entries(
        self, lost: Iterable[bytes], changed_paths: Iterable[bytes], new_entries: Mapping[bytes, FolderEntry]
    ) -> None:
        db = self._db
        for path in changed_paths:
            db.execute(
                "INSERT INTO past SELECT path, form, mode, size, digest, why, since, ?, ? FROM live WHERE path = ?",
                (self._last, self._now, path),
            )
        for path in lost:
            if path in changed_paths and path not in new_entries:
                db.execute("DELETE FROM live WHERE path = ?", (path,))
        room = REFUSAL_BYTES - used_bytes(db)
        for path, differing in self._found.items():
            if differing.data is not None and differing.digest is not None:
                size = self._store_content(differing.digest, differing.data, room)
                room -= size or 0
                if size is None:
                    differing = replace(differing, digest=None, why=FULL)
            self._store_live(differing, is_new=path in new_entries)

    def _store_live(self, differing: _DifferingEntry, *, is_new: bool) -> None:
        path, form, mode, size, mtime, ctime, inode = differing.seen
        if differing.digest and abs(time.time_ns() - ctime) < _SETTLING_TIME:
            # another change within the clock's next tick would leave the same times
            ctime, self._tree = 0, ""
        if differing.digest is None and differing.why in ("", UNREADABLE) and form in ("file", "link"):
            self._tree = ""
        values = (form, mode, size, mtime, ctime, inode, differing.digest, differing.why, path)
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

    def _store_content(self, digest: bytes, data: bytes, room: int) -> int | None:
        """Store a content that is new; return the room that it takes, None where there is too little."""
        if self._db.execute("SELECT 1 FROM object WHERE digest = ?", (digest,)).fetchone():
            return 0
        packed = zlib.compress(data, _COMPRESSION_LEVEL)
        if len(packed) > room:
            return None
        self._db.execute("INSERT INTO object VALUES(?, ?, ?)", (digest, len(data), packed))
        return len(packed)

    def _store_changes(self, changes: Iterable[EntryChange]) -> None:
        for change in changes:
            for path in {entry.path for entry in (change.was, change.now) if entry}:
                row = (self._last, path, change.by.value)
                self._db.execute("INSERT INTO change VALUES(?, ?, ?)", row)

    def _delete_expired(self) -> bool:
        """Delete expired history, and more of it where there is too much; say whether any was deleted."""
        db = self._db
        deleted = db.execute(
            "DELETE FROM past WHERE gone_at < ?", (self._now - RETENTION_DAYS * _DAY_SECONDS,)
        ).rowcount
        if deleted:
            self._drop_objects()
        while used_bytes(db) > MAX_STORED_BYTES:
            # what was replaced goes before what has no successor
            oldest = (
                "SELECT past.rowid FROM past LEFT JOIN live USING (path) "
                "WHERE gone_at < ? ORDER BY live.path IS NULL, gone_at LIMIT ?"
            )
            limits = (self._now - MIN_RETENTION_DAYS * _DAY_SECONDS, _SWEEP_BATCH)
            note_swept(db, f"SELECT max(gone_at) FROM past WHERE rowid IN ({oldest})", limits)
            swept = db.execute(f"DELETE FROM past WHERE rowid IN ({oldest})", limits).rowcount
            if not swept:
                break
            deleted += swept
            self._drop_objects()
        expiry = (self._now - RETENTION_DAYS * _DAY_SECONDS, self._last)
        db.execute("DELETE FROM change WHERE moment IN (SELECT id FROM moment WHERE at < ? AND id < ?)", expiry)
        db.execute("DELETE FROM moment WHERE at < ? AND id < ?", expiry)
        db.execute("DELETE FROM session WHERE seen < ?", expiry[:1])
        return deleted > 0

    def _drop_objects(self) -> None:
        self._db.execute(
            "DELETE FROM object WHERE NOT EXISTS (SELECT 1 FROM live WHERE live.digest = object.digest) "
            "AND NOT EXISTS (SELECT 1 FROM past WHERE past.digest = object.digest)"
        )


def _diff_listing(
    live: set[SeenEntry], unread: set[SeenEntry], listing: FolderListing
) -> tuple[dict[bytes, SeenEntry], dict[bytes, SeenEntry]]:
    added = {seen_entry[0]: seen_entry for seen_entry in listing.seen - (live - unread)}
    lost = {seen_entry[0]: seen_entry for seen_entry in live - listing.seen if not listing.is_unlisted(seen_entry[0])}
    return lost, added


def _is_same_file(before: SeenEntry | None, after: SeenEntry) -> bool:
    """Say whether a file is unwritten since it was seen, by its size, time of writing and inode."""
    return before is not None and (before[3], before[4], before[6]) == (after[3], after[4], after[6])
