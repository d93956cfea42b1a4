"""The journal's database: digests and compressed copies of all files in the notes' folder, by moments.

One SQLite file in the user's state folder, for its owner alone; a rollback journal and full syncs make each
look all or nothing. What it holds of notes that were destroyed is held nowhere else, so that a damaged file
is put aside and never thrown away.
"""

import contextlib
import math
import os
import sqlite3
import time
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.json_form import Rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.standard_library import file_uri
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import error_reason
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder
from roamkb.fs.tree_digest import TreeDigest
from roamkb.fs.user_dirs import JOURNAL_DB
from roamkb.journal.moments import EXPLAINED_MAKERS
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import JournalSession
from roamkb.journal.moments import Moment
from roamkb.journal.names import session_key
from roamkb.journal.store.glance import TURNS_FOLDER
from roamkb.journal.store.glance import is_process_running
from roamkb.journal.store.look import JournalLook
from roamkb.journal.store.look import LookRequest
from roamkb.journal.store.look import Tracer
from roamkb.journal.store.tables import SCHEMA
from roamkb.journal.store.tables import begin_transaction
from roamkb.journal.store.tables import changes_since
from roamkb.journal.store.tables import count_unread
from roamkb.journal.store.tables import entries_at
from roamkb.journal.store.tables import find_content
from roamkb.journal.store.tables import last_moment
from roamkb.journal.store.tables import make_tables
from roamkb.journal.store.tables import used_bytes
from roamkb.journal.store.walk import TooSlow
from roamkb.kb.notes.store.walk import check_kb
from roamkb.kb.search.index.file import harden_connection

#: Seconds that a look waits for another one.
_LOOK_WAIT: Final = 10.0
#: Seconds after which a turn that nobody ended is over.
_MAX_TURN_SECONDS: Final = 86400.0
_CHUNK_SIZE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """The result of one look."""

    #: The last moment, by now.
    moment: int
    #: What changed since the last look, whoever made that.
    changes: tuple[EntryChange, ...] = ()
    #: What nothing explains, and the session didn't hear of yet.
    untold: tuple[EntryChange, ...] = ()
    #: How many contents weren't read in the time that there was.
    waiting: int = 0
    #: Whether something may have changed that there was no time to read.
    is_cut_short: bool = False
    #: The folder as it was found, where nothing in it had changed.
    unchanged_tree: TreeDigest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHoldings:
    """The contents of the journal, in figures."""

    JSON = "files=entries copies=contents bytes=size stored waiting unkept"
    entries: int
    #: Contents and their bytes; and those of the file that has them.
    contents: int
    size: int
    stored: int
    waiting: int
    #: Entries whose content isn't kept, and why.
    unkept: Annotated[tuple[tuple[bytes, str], ...], Rows("path reason")]
    #: The last moment, and when it was in seconds since 1970.
    last: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The journal of one knowledge base; the clock is passed in."""

    kb: Path
    folder: Path
    clock: Callable[[], float] = time.time

    @property
    def database_path(self) -> Path:
        """The file that holds the journal."""
        return self.folder / JOURNAL_DB

    @property
    def is_there(self) -> bool:
        """Whether any look was ever recorded."""
        return self.database_path.exists()

    @property
    def damaged_files(self) -> tuple[Path, ...]:
        """Journals that could no longer be read and were put aside."""
        return tuple(sorted(self.folder.glob("damaged-*.db")))

    # Taking in

    def take_look(
        self,
        *,
        look_kind: str = "look",
        session: JournalSession | None = None,
        budget: float | None = None,
        tracer: Tracer | None = None,
        wait: float = _LOOK_WAIT,
    ) -> LookResult:
        """Record the changes since the last look; without a `budget` in seconds, all of them.

        Raises:
            NoKnowledgeBase: the folder isn't there, or not mounted; nothing is taken for vanished.
            DiskError, Busy: nothing was taken in.
        """
        end = None if budget is None else time.monotonic() + budget
        # what ends meanwhile may have written since its folder was looked at
        ended_turns = [name for name in self.sessions_at_work() if self._is_turn_over(name)]
        changes: tuple[EntryChange, ...] = ()
        with self._open_locked(wait=wait) as db:
            request = LookRequest(
                what=look_kind, session=session, during=self.sessions_at_work(), tracer=tracer, end=end
            )
            unread_before = None
            # a hook's one step is on the disk with its report: to sync takes longer than to look
            with begin_transaction(db) if end is not None else contextlib.nullcontext():
                while True:
                    look = self._take_step(db, request)
                    changes += look.changes
                    unread = count_unread(db) + look.postponed
                    if end is not None or not unread or unread == unread_before:
                        break
                    unread_before, request = (
                        unread,
                        LookRequest(what="look", session=session, during=request.during, tracer=tracer),
                    )
                untold = self._report_untold(db, session, look_kind) if session else ()
            if look_kind == "mark":
                # of a session that was killed, and can't be told any more
                untold = tuple(change for change in changes if not change.is_explained)
            for name in () if look.postponed else ended_turns:
                (self.folder / TURNS_FOLDER / name).unlink(missing_ok=True)
            return LookResult(
                moment=last_moment(db),
                changes=changes,
                untold=untold,
                waiting=unread,
                is_cut_short=look.postponed > 0,
                unchanged_tree=look.unchanged_tree,
            )

    def _take_step(self, db: sqlite3.Connection, request: LookRequest) -> JournalLook:
        check_kb(self.kb)
        look = JournalLook(db, os.fsencode(os.path.realpath(self.kb)), now=self.clock(), request=request)
        try:
            look.record_changes()
        except TooSlow:
            look.postponed = 1
        except OSError as error:
            raise NoKnowledgeBase(self.kb, error_reason(error)) from error
        return look

    def _report_untold(self, db: sqlite3.Connection, session: JournalSession, kind: str) -> tuple[EntryChange, ...]:
        """Return the changes to report to the session, and record that they were reported."""
        newest_moment = last_moment(db)
        row = db.execute("SELECT told FROM session WHERE id = ?", (session.id,)).fetchone()
        if kind != "mark" and row and row[0] == newest_moment:
            return ()
        changes = changes_since(db, row[0]) if row else ()
        values = (session.id, session.kind, session.agent)
        with begin_transaction(db):
            if kind == "mark" or row is None:
                db.execute(
                    "INSERT OR REPLACE INTO session VALUES(?, ?, ?, ?, ?, ?)",
                    (*values, newest_moment, newest_moment, self.clock()),
                )
            else:
                db.execute(
                    "UPDATE session SET told = ?, seen = ? WHERE id = ?", (newest_moment, self.clock(), session.id)
                )
        return tuple(change for change in changes if not change.is_explained)

    def has_mark(self, session: str) -> bool:
        """Say whether a session has a mark."""
        with self._open_locked() as db:
            return db.execute("SELECT 1 FROM session WHERE id = ?", (session,)).fetchone() is not None

    # Whose turn it is: files without content, since to lose them costs an explanation and no note

    def sessions_at_work(self) -> tuple[str, ...]:
        """Return the sessions whose agents are at work, or had background commands at the last look."""
        sessions = []
        with contextlib.suppress(OSError), os.scandir(self.folder / TURNS_FOLDER) as turns:
            for turn in turns:
                if time.time() - turn.stat().st_mtime < _MAX_TURN_SECONDS:
                    sessions.append(turn.name)
                else:
                    Path(turn.path).unlink(missing_ok=True)
        return tuple(sorted(sessions))

    def find_idle_end(self) -> float:
        """Return until when no agent was at work since the last look, in nanoseconds since 1970.

        Infinite where none is now; 0 where commands ran on that an agent left behind, whenever these began.
        """
        idle_end = math.inf
        for name in self.sessions_at_work():
            with contextlib.suppress(FileNotFoundError):
                turn = (self.folder / TURNS_FOLDER / name).stat()
                idle_end = min(idle_end, 0 if turn.st_size else turn.st_mtime_ns)
        return idle_end

    def _is_turn_over(self, turn: str) -> bool:
        """Say whether an agent ended its turn, and its background commands ended as well."""
        try:
            background = (self.folder / TURNS_FOLDER / turn).read_text("ascii", "replace").split()
        except OSError:
            return False
        return bool(background) and not any(map(is_process_running, background))

    # Reading

    def list_moments(self) -> tuple[Moment, ...]:
        """Return the moments, the latest first."""
        with self.open_for_reading() as db:
            rows = db.execute("SELECT id, kind, agent FROM session")
            sessions = {row_id: JournalSession(id=row_id, kind=kind, agent=agent) for row_id, kind, agent in rows}
            causes: dict[int, list[ChangeMaker]] = {}
            for moment, maker in db.execute("SELECT moment, by FROM change"):
                causes.setdefault(moment, []).append(ChangeMaker(maker))
            return tuple(
                Moment(
                    id=row_id,
                    at=timestamp,
                    what=moment_kind,
                    session=sessions.get(session) or (JournalSession(id=session) if session else None),
                    during=tuple(
                        sessions.get(session_id) or JournalSession(id=session_id) for session_id in during.split()
                    ),
                    changed=len(causes.get(row_id, ())),
                    unexplained=sum(maker not in EXPLAINED_MAKERS for maker in causes.get(row_id, ())),
                )
                for row_id, timestamp, moment_kind, session, during in db.execute(
                    "SELECT id, at, what, session, during FROM moment ORDER BY id DESC"
                )
            )

    def find_moment(self, name: str) -> int:
        """Return the moment with that number, or the mark of the session with that name.

        Raises:
            NotFound: there is none.
        """
        with self.open_for_reading() as db:
            if name.isascii() and name.isdigit():
                row = db.execute("SELECT id FROM moment WHERE id = ?", (int(name[:18]),)).fetchone()
            else:
                keys = (session_key(name), name)
                row = db.execute("SELECT mark FROM session WHERE id IN (?, ?)", keys).fetchone()
        if row is None:
            raise NotFound(name, kind="mark or session", hint="`roamkb journal` lists what there is")
        return int(row[0])

    def default_moment(self) -> tuple[int, str]:
        """Return the moment that a human most likely wants back, with a description; 0 without one.

        The mark of the session in which something changed last that nothing explains, or the last mark before
        that change where no session was at work. Where nothing is unexplained, the last mark of a session;
        without any, the moment before the last change.
        """
        open_ends = [maker.value for maker in ChangeMaker if maker not in EXPLAINED_MAKERS]
        with self.open_for_reading() as db:
            (last_change,) = db.execute(
                f"SELECT max(moment) FROM change WHERE by IN ({_sql_placeholders(open_ends)})", open_ends
            ).fetchone()
            if last_change is None:
                row = db.execute("SELECT mark, id, kind, agent FROM session ORDER BY mark DESC").fetchone()
                if row:
                    return row[0], f"the mark of the last session, {_session_text(row)}"
                (last_change,) = db.execute("SELECT max(moment) FROM change").fetchone()
                return (
                    _moment_before(db, last_change, "the last change")
                    if last_change
                    else (last_moment(db), "the last moment")
                )
            session, during = db.execute("SELECT session, during FROM moment WHERE id = ?", (last_change,)).fetchone()
            names = [session, *during.split()]
            at_work = f"AND id IN ({_sql_placeholders(names)})"
            for condition, values in ((at_work, (last_change, *names)), ("", (last_change,))):
                row = db.execute(
                    f"SELECT mark, id, kind, agent FROM session WHERE mark < ? {condition} ORDER BY mark DESC",
                    values,
                ).fetchone()
                if row:
                    return row[0], f"the mark of {_session_text(row)}"
            return _moment_before(db, last_change, "the last change that nothing explains")

    def changes_since(self, moment: int) -> tuple[EntryChange, ...]:
        """Return the changes of the folder since a moment, up to the last look."""
        with self.open_for_reading() as db:
            return changes_since(db, moment)

    def entries_at(self, moment: int) -> tuple[FolderEntry, ...]:
        """Return the entries of the folder at a moment."""
        with self.open_for_reading() as db:
            return entries_at(db, moment)

    @contextlib.contextmanager
    def content_reader(self) -> Iterator[Callable[[FolderEntry], bytes]]:
        """Give a function that returns an entry's content, verified; no look is taken meanwhile.

        It raises `DiskError` where the journal's copy is missing or damaged.
        """
        with self.open_for_reading() as db:

            def read_content(entry: FolderEntry) -> bytes:
                data = find_content(db, entry.digest)
                if data is None:
                    raise DiskError(self.database_path, "its copy is damaged", hint="`roamkb doctor` says of how many")
                return data

            yield read_content

    def read_holdings(self) -> JournalHoldings:
        """Return the contents of the journal, in figures."""
        with self.open_for_reading() as db:
            (entries,) = db.execute("SELECT count(*) FROM live WHERE form <> 'folder'").fetchone()
            contents, size = db.execute("SELECT count(*), coalesce(sum(size), 0) FROM object").fetchone()
            unkept = db.execute("SELECT path, why FROM live WHERE why <> '' ORDER BY path").fetchall()
            newest_moment = last_moment(db)
            (timestamp,) = db.execute(
                "SELECT coalesce(max(at), 0) FROM moment WHERE id = ?", (newest_moment,)
            ).fetchone()
            return JournalHoldings(
                entries=entries,
                contents=contents,
                size=size,
                stored=used_bytes(db),
                waiting=count_unread(db),
                unkept=tuple(unkept),
                last=newest_moment,
                at=timestamp,
            )

    def drop_damaged_copies(self) -> int:
        """Drop damaged copies and return their number; the next look reads again those that it can."""
        with self._open_locked() as db:
            digests = [digest for (digest,) in db.execute("SELECT digest FROM object").fetchall()]
            damaged = [digest for digest in digests if find_content(db, digest) is None]
            with begin_transaction(db):
                for digest in damaged:
                    db.execute("DELETE FROM object WHERE digest = ?", (digest,))
                    db.execute("UPDATE live SET digest = NULL WHERE digest = ?", (digest,))
            return len(damaged)

    def last_shown_moment(self) -> int:
        """Return the last moment that a human saw in the journal, or its first one."""
        with self.open_for_reading() as db:
            row = db.execute(
                "SELECT coalesce((SELECT value FROM fact WHERE name = 'shown'), min(id), 0) FROM moment"
            ).fetchone()
            return int(row[0])

    def save_shown_moment(self, moment: int) -> None:
        """Record that a human saw everything up to a moment."""
        with self._open_locked() as db, begin_transaction(db):
            db.execute("INSERT OR REPLACE INTO fact VALUES('shown', ?)", (moment,))

    # The file

    @contextlib.contextmanager
    def _open_locked(self, *, wait: float = _LOOK_WAIT) -> Iterator[sqlite3.Connection]:
        """Give the database under its lock: each look compares with the one before."""
        make_private_folder(self.folder)
        with hold_lock(self.folder / "journal.lock", wait=wait):
            try:
                db = self._connect_database()
                try:
                    yield db
                finally:
                    db.close()
            except sqlite3.DatabaseError as error:
                raise self._handle_fault(error) from error

    @contextlib.contextmanager
    def open_for_reading(self) -> Iterator[sqlite3.Connection]:
        """Give the database for reading: in an agent's sandbox nothing can be locked, nor written."""
        with contextlib.ExitStack() as stack:
            try:
                db = stack.enter_context(self._open_locked())
            except NotWritable:
                if not self.is_there:
                    raise
                db = stack.enter_context(self._open_read_only())
            yield db

    @contextlib.contextmanager
    def _open_read_only(self) -> Iterator[sqlite3.Connection]:
        try:
            uri = f"{file_uri(self.database_path)}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
                yield harden_connection(db, writing=False)
        except sqlite3.DatabaseError as error:
            raise DiskError(self.database_path, str(error)) from error

    def _connect_database(self) -> sqlite3.Connection:
        with as_disk_error(self.database_path):
            flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(self.database_path, flags, 0o600))
        db = sqlite3.connect(self.database_path, isolation_level=None)
        try:
            harden_connection(db, writing=True)
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA journal_mode = TRUNCATE")
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            if schema == 0:
                make_tables(db)
            elif schema != SCHEMA:
                raise DiskError(
                    self.database_path, "is another roamkb's", hint="use that version, or move the file away"
                )
        except BaseException:
            db.close()
            raise
        return db

    def _is_damaged(self) -> bool:
        """Say whether the file can be read to its end, and yet is no whole database."""
        try:
            fd = os.open(self.database_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                offset = 0
                while chunk := os.pread(fd, _CHUNK_SIZE, offset):
                    offset += len(chunk)
            finally:
                os.close(fd)
            with contextlib.closing(sqlite3.connect(self.database_path, isolation_level=None)) as db:
                return bool(db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
        except sqlite3.DatabaseError as error:
            return _is_damage(error)
        except OSError:
            return False

    def _handle_fault(self, error: sqlite3.DatabaseError) -> DiskError:
        """Return the error to raise; a damaged database is put aside, to make room for a new one."""
        if not (_is_damage(error) and self._is_damaged()):
            return DiskError(self.database_path, str(error), hint="look at the disk and its free space, then try again")
        aside = self.folder / f"damaged-{time.time_ns()}.db"
        with contextlib.suppress(OSError):
            self.database_path.rename(aside)
        return DiskError(
            self.database_path, f"is damaged; it is put aside as {aside.name}", hint="the next look begins anew"
        )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say whether SQLite reports damage; it also does for some errors of the disk."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _sql_placeholders(values: list[str]) -> str:
    return ",".join("?" * len(values))


def _session_text(row: tuple[int, str, str, str]) -> str:
    _, id, kind, agent = row
    return str(JournalSession(id=id, kind=kind, agent=agent))


def _moment_before(db: sqlite3.Connection, moment: int, event: str) -> tuple[int, str]:
    (before,) = db.execute("SELECT max(id) FROM moment WHERE id < ?", (moment,)).fetchone()
    return before or 0, f"before {event}"
