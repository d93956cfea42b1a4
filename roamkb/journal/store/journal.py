"""The journal: digests and compressed copies of all that lies in the notes' folder, moment by moment.

One SQLite file in the user's state folder, for its owner alone; a rollback journal and full syncs make each
look all or nothing. What it holds of notes that were destroyed is held nowhere else, so that a damaged file
is put aside and never thrown away.
"""

import contextlib
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
from roamkb.fs.files import disk_error
from roamkb.fs.files import why
from roamkb.fs.locks import lock
from roamkb.fs.locks import private_folder
from roamkb.fs.user_dirs import JOURNAL_DB
from roamkb.journal.moments import EXPLAINED
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import JournalSession
from roamkb.journal.moments import Moment
from roamkb.journal.names import session_key
from roamkb.journal.store.glance import TURNS
from roamkb.journal.store.glance import is_running
from roamkb.journal.store.look import JournalLook
from roamkb.journal.store.look import LookRequest
from roamkb.journal.store.look import Tracer
from roamkb.journal.store.tables import SCHEMA
from roamkb.journal.store.tables import changes_since
from roamkb.journal.store.tables import entries_at
from roamkb.journal.store.tables import find_content
from roamkb.journal.store.tables import last_moment
from roamkb.journal.store.tables import make_tables
from roamkb.journal.store.tables import transaction
from roamkb.journal.store.tables import used_bytes
from roamkb.journal.store.tables import waiting
from roamkb.journal.store.walk import TooSlow
from roamkb.kb.notes.store.walk import check_kb
from roamkb.kb.search.index.file import hardened

#: Seconds that a look waits for another one.
_WAIT: Final = 10.0
#: Seconds after which a turn that nobody ended is over.
_LONGEST_TURN: Final = 86400.0
_CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """What one look found."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHoldings:
    """What the journal holds, in figures."""

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
    def path(self) -> Path:
        """The file that all of it is in."""
        return self.folder / JOURNAL_DB

    @property
    def is_there(self) -> bool:
        """Whether anything was ever taken in."""
        return self.path.exists()

    @property
    def damaged(self) -> tuple[Path, ...]:
        """Journals that could not be read any more and were put aside."""
        return tuple(sorted(self.folder.glob("damaged-*.db")))

    # Taking in

    def look(
        self,
        *,
        what: str = "look",
        session: JournalSession | None = None,
        budget: float | None = None,
        tracer: Tracer | None = None,
        wait: float = _WAIT,
    ) -> LookResult:
        """Take in what changed since the last look; without a `budget` in seconds, all of it.

        Raises:
            NoKnowledgeBase: the folder isn't there, or not mounted; nothing is taken for vanished.
            DiskError, Busy: nothing was taken in.
        """
        end = None if budget is None else time.monotonic() + budget
        # what ends meanwhile may have written since its folder was looked at
        over = [name for name in self.at_work() if self._is_over(name)]
        changes: tuple[EntryChange, ...] = ()
        with self._opened(wait=wait) as db:
            request = LookRequest(what=what, session=session, during=self.at_work(), tracer=tracer, end=end)
            left = None
            while True:
                found, postponed = self._take(db, request)
                changes += found
                still = waiting(db) + postponed
                if end is not None or not still or still == left:
                    break
                left, request = (
                    still,
                    LookRequest(what="look", session=session, during=request.during, tracer=tracer),
                )
            untold = self._untold(db, session, what) if session else ()
            if what == "mark":
                # of a session that was killed, and can't be told any more
                untold = tuple(change for change in changes if not change.is_explained)
            for name in () if postponed else over:
                (self.folder / TURNS / name).unlink(missing_ok=True)
            return LookResult(
                moment=last_moment(db),
                changes=changes,
                untold=untold,
                waiting=still,
                is_cut_short=postponed > 0,
            )

    def _take(self, db: sqlite3.Connection, request: LookRequest) -> tuple[tuple[EntryChange, ...], int]:
        check_kb(self.kb)
        look = JournalLook(db, os.fsencode(os.path.realpath(self.kb)), now=self.clock(), request=request)
        try:
            return look.take(), look.postponed
        except TooSlow:
            return (), 1
        except OSError as error:
            raise NoKnowledgeBase(self.kb, why(error)) from error

    def _untold(self, db: sqlite3.Connection, session: JournalSession, what: str) -> tuple[EntryChange, ...]:
        """Return what the session is to hear of; by then it has."""
        last = last_moment(db)
        row = db.execute("SELECT told FROM session WHERE id = ?", (session.id,)).fetchone()
        if what != "mark" and row and row[0] == last:
            return ()
        found = changes_since(db, row[0]) if row else ()
        values = (session.id, session.kind, session.agent)
        with transaction(db):
            if what == "mark" or row is None:
                db.execute(
                    "INSERT OR REPLACE INTO session VALUES(?, ?, ?, ?, ?, ?)",
                    (*values, last, last, self.clock()),
                )
            else:
                db.execute(
                    "UPDATE session SET told = ?, seen = ? WHERE id = ?", (last, self.clock(), session.id)
                )
        return tuple(change for change in found if not change.is_explained)

    def has_mark(self, session: str) -> bool:
        """Say whether a session has a mark."""
        with self._opened() as db:
            return db.execute("SELECT 1 FROM session WHERE id = ?", (session,)).fetchone() is not None

    # Whose turn it is: files without content, since to lose them costs an explanation and no note

    def at_work(self) -> tuple[str, ...]:
        """Return the sessions whose agents are at work, or had left commands running at the last look."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.folder / TURNS) as turns:
            for turn in turns:
                if time.time() - turn.stat().st_mtime < _LONGEST_TURN:
                    found.append(turn.name)
                else:
                    Path(turn.path).unlink(missing_ok=True)
        return tuple(sorted(found))

    def _is_over(self, turn: str) -> bool:
        """Say whether an agent ended its turn, and so has by now what it left running."""
        try:
            left = (self.folder / TURNS / turn).read_text("ascii", "replace").split()
        except OSError:
            return False
        return bool(left) and not any(map(is_running, left))

    # Reading

    def moments(self) -> tuple[Moment, ...]:
        """Return the moments, the latest first."""
        with self._reading() as db:
            rows = db.execute("SELECT id, kind, agent FROM session")
            sessions = {id: JournalSession(id=id, kind=kind, agent=agent) for id, kind, agent in rows}
            causes: dict[int, list[ChangeMaker]] = {}
            for moment, by in db.execute("SELECT moment, by FROM change"):
                causes.setdefault(moment, []).append(ChangeMaker(by))
            return tuple(
                Moment(
                    id=id,
                    at=at,
                    what=what,
                    session=sessions.get(session) or (JournalSession(id=session) if session else None),
                    during=tuple(sessions.get(one) or JournalSession(id=one) for one in during.split()),
                    changed=len(causes.get(id, ())),
                    unexplained=sum(by not in EXPLAINED for by in causes.get(id, ())),
                )
                for id, at, what, session, during in db.execute(
                    "SELECT id, at, what, session, during FROM moment ORDER BY id DESC"
                )
            )

    def find_moment(self, name: str) -> int:
        """Return the moment called `name`: by its number, or the mark of a session.

        Raises:
            NotFound: there is none.
        """
        with self._reading() as db:
            if name.isascii() and name.isdigit():
                row = db.execute("SELECT id FROM moment WHERE id = ?", (int(name[:18]),)).fetchone()
            else:
                keys = (session_key(name), name)
                row = db.execute("SELECT mark FROM session WHERE id IN (?, ?)", keys).fetchone()
        if row is None:
            raise NotFound(name, what="mark or session", hint="`roamkb journal` lists what there is")
        return int(row[0])

    def usual_moment(self) -> tuple[int, str]:
        """Return the moment that a human most likely wants back, and which it is; 0 where there is none.

        The mark of the session in which something changed last that nothing explains, or the last mark before
        that change where no session was at work. Where nothing is unexplained, the last mark of a session;
        without any, the moment before the last change.
        """
        open_ends = [by.value for by in ChangeMaker if by not in EXPLAINED]
        with self._reading() as db:
            (last,) = db.execute(
                f"SELECT max(moment) FROM change WHERE by IN ({_marks(open_ends)})", open_ends
            ).fetchone()
            if last is None:
                row = db.execute("SELECT mark, id, kind, agent FROM session ORDER BY mark DESC").fetchone()
                if row:
                    return row[0], f"the mark of the last session, {_session_text(row)}"
                (last,) = db.execute("SELECT max(moment) FROM change").fetchone()
                return _before(db, last, "the last change") if last else (last_moment(db), "the last moment")
            session, during = db.execute(
                "SELECT session, during FROM moment WHERE id = ?", (last,)
            ).fetchone()
            names = [session, *during.split()]
            at_work = f"AND id IN ({_marks(names)})"
            for which, values in ((at_work, (last, *names)), ("", (last,))):
                row = db.execute(
                    f"SELECT mark, id, kind, agent FROM session WHERE mark < ? {which} ORDER BY mark DESC",
                    values,
                ).fetchone()
                if row:
                    return row[0], f"the mark of {_session_text(row)}"
            return _before(db, last, "the last change that nothing explains")

    def changes_since(self, moment: int) -> tuple[EntryChange, ...]:
        """Return how the folder, as it was last seen, differs from what it was at a moment."""
        with self._reading() as db:
            return changes_since(db, moment)

    def entries_at(self, moment: int) -> tuple[FolderEntry, ...]:
        """Return what lay in the folder at a moment."""
        with self._reading() as db:
            return entries_at(db, moment)

    @contextlib.contextmanager
    def contents(self) -> Iterator[Callable[[FolderEntry], bytes]]:
        """Give what returns an entry's content, compared with its digest; nobody looks meanwhile.

        It raises `DiskError` where the journal's copy is missing or damaged.
        """
        with self._reading() as db:

            def content(entry: FolderEntry) -> bytes:
                data = find_content(db, entry.digest)
                if data is None:
                    raise DiskError(self.path, "its copy is damaged", hint="`roamkb doctor` says of how many")
                return data

            yield content

    def holdings(self) -> JournalHoldings:
        """Return what the journal holds."""
        with self._reading() as db:
            (entries,) = db.execute("SELECT count(*) FROM live WHERE form <> 'folder'").fetchone()
            contents, size = db.execute("SELECT count(*), coalesce(sum(size), 0) FROM object").fetchone()
            unkept = db.execute("SELECT path, why FROM live WHERE why <> '' ORDER BY path").fetchall()
            last = last_moment(db)
            (at,) = db.execute("SELECT coalesce(max(at), 0) FROM moment WHERE id = ?", (last,)).fetchone()
            return JournalHoldings(
                entries=entries,
                contents=contents,
                size=size,
                stored=used_bytes(db),
                waiting=waiting(db),
                unkept=tuple(unkept),
                last=last,
                at=at,
            )

    def mend(self) -> int:
        """Return how many copies are damaged; what can be read again, the next look reads."""
        with self._opened() as db:
            digests = [digest for (digest,) in db.execute("SELECT digest FROM object").fetchall()]
            damaged = [digest for digest in digests if find_content(db, digest) is None]
            with transaction(db):
                for digest in damaged:
                    db.execute("DELETE FROM object WHERE digest = ?", (digest,))
                    db.execute("UPDATE live SET digest = NULL WHERE digest = ?", (digest,))
            return len(damaged)

    def shown(self) -> int:
        """Return the last moment that a human saw in the journal, or the first that there is."""
        with self._reading() as db:
            row = db.execute(
                "SELECT coalesce((SELECT value FROM fact WHERE name = 'shown'), min(id), 0) FROM moment"
            ).fetchone()
            return int(row[0])

    def keep_shown(self, moment: int) -> None:
        """Remember that a human saw everything up to a moment."""
        with self._opened() as db, transaction(db):
            db.execute("INSERT OR REPLACE INTO fact VALUES('shown', ?)", (moment,))

    # The file

    @contextlib.contextmanager
    def _opened(self, *, wait: float = _WAIT) -> Iterator[sqlite3.Connection]:
        """Give the database, whose lock is held: each look compares with the one before."""
        private_folder(self.folder)
        with lock(self.folder / "journal.lock", wait=wait):
            try:
                db = self._connected()
                try:
                    yield db
                finally:
                    db.close()
            except sqlite3.DatabaseError as error:
                raise self._fault(error) from error

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give the database to read: in an agent's sandbox nothing can be locked, and nobody writes there."""
        with contextlib.ExitStack() as stack:
            try:
                db = stack.enter_context(self._opened())
            except NotWritable:
                if not self.is_there:
                    raise
                db = stack.enter_context(self._read_only())
            yield db

    @contextlib.contextmanager
    def _read_only(self) -> Iterator[sqlite3.Connection]:
        try:
            uri = f"{self.path.as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
                yield hardened(db, writing=False)
        except sqlite3.DatabaseError as error:
            raise DiskError(self.path, str(error)) from error

    def _connected(self) -> sqlite3.Connection:
        try:
            flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(self.path, flags, 0o600))
        except OSError as error:
            raise disk_error(self.path, error) from error
        db = sqlite3.connect(self.path, isolation_level=None)
        try:
            hardened(db, writing=True)
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA journal_mode = TRUNCATE")
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            if schema == 0:
                make_tables(db)
            elif schema != SCHEMA:
                raise DiskError(
                    self.path, "is another roamkb's", hint="use that version, or move the file away"
                )
        except BaseException:
            db.close()
            raise
        return db

    def _is_damaged(self) -> bool:
        """Say whether the file can be read to its end, and is no whole database all the same."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                at = 0
                while chunk := os.pread(fd, _CHUNK, at):
                    at += len(chunk)
            finally:
                os.close(fd)
            with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
                return bool(db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
        except sqlite3.DatabaseError as error:
            return _is_damage(error)
        except OSError:
            return False

    def _fault(self, error: sqlite3.DatabaseError) -> DiskError:
        """Return what is said of an error; a file that is no database any more makes room for a new one."""
        if not (_is_damage(error) and self._is_damaged()):
            return DiskError(
                self.path, str(error), hint="look at the disk and its free space, then try again"
            )
        aside = self.folder / f"damaged-{time.time_ns()}.db"
        with contextlib.suppress(OSError):
            self.path.rename(aside)
        return DiskError(
            self.path, f"is damaged; it is put aside as {aside.name}", hint="the next look begins anew"
        )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say whether SQLite thinks so; it does of some errors of the disk."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _marks(values: list[str]) -> str:
    return ",".join("?" * len(values))


def _session_text(row: tuple[int, str, str, str]) -> str:
    _, id, kind, agent = row
    return str(JournalSession(id=id, kind=kind, agent=agent))


def _before(db: sqlite3.Connection, moment: int, what: str) -> tuple[int, str]:
    (before,) = db.execute("SELECT max(id) FROM moment WHERE id < ?", (moment,)).fetchone()
    return before or 0, f"before {what}"
