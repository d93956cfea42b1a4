"""The search index: derived from the notes, refreshed before each query, and never needed for an answer.

Where it can't be kept, read or believed, the same index is made in memory, so that there
is one meaning of search. A search never answers from a file that is gone.
"""

import contextlib
import math
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from typing import TypeVar

from roamkb.core.errors import RoamkbError
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.index.file import A_MOMENT
from roamkb.kb.search.index.file import PATIENCE
from roamkb.kb.search.index.file import IndexFile
from roamkb.kb.search.index.file import in_memory
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.index.refresh import IndexChanges
from roamkb.kb.search.index.refresh import Progress
from roamkb.kb.search.index.refresh import apply_changes
from roamkb.kb.search.index.refresh import find_changes
from roamkb.kb.search.index.refresh import remember
from roamkb.kb.search.index.refresh import troubles
from roamkb.kb.search.index.schema import create_tables
from roamkb.kb.search.index.schema import fits
from roamkb.kb.search.index.schema import maker
from roamkb.kb.search.index.schema import sums_of
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights

if TYPE_CHECKING:
    from roamkb.kb.search.semantic.cache import SentenceModel

_T = TypeVar("_T")

#: Seconds of reading that are lost where a large index is broken off while it is built.
_STEP = 0.5
#: How many times as long as a copy of the index takes is read into it.
_COPIES = 10


class Index:
    """The finder over one knowledge base."""

    def __init__(
        self,
        notes: Notes,
        folder: Path | None,
        *,
        version: str = "",
        clock: Callable[[], int] = time.time_ns,
        progress: Progress | None = None,
        model: "SentenceModel | None" = None,
    ) -> None:
        """Keep the index in `folder`; without one it lives as long as a query. `version` is the program's."""
        self._notes = notes
        self._file = IndexFile(folder, clock=clock) if folder else None
        self._maker = maker(notes.todo_lines, version, kb=os.path.realpath(notes.kb))
        self._clock = clock
        self._progress = progress
        self._model = model
        self._changes: IndexChanges

    def find(self, query: Query, *, limit: int | None = None) -> PassageHits:
        """Return the best `limit` answers to `query`, from the notes as they are now.

        Raises:
            NoKnowledgeBase: there is nothing to search.
        """
        return self._ask(lambda db, changes: self._answers(db, changes, query, limit))

    def weigh(self, query: Query) -> TermWeights:
        """Return what each term of `query` weighs among the notes as they are now."""
        return self._ask(lambda db, _: IndexQuery(db, query).weigh())

    def advance(self, seconds: float) -> None:
        """Read notes into the kept index for about so many seconds; what is left is for the next time."""
        if self._file is None:
            return
        # another process that reads them is as good
        with contextlib.suppress(OSError, RoamkbError, sqlite3.Error):
            self._refreshed(self._file, None, 0, seconds=seconds).close()

    def waiting(self) -> int:
        """Return how many notes the next question would read first: all, where no index is there."""
        files = self._notes.walk.files
        if self._file is None:
            return len(files)
        try:
            seal = self._file.state()
            db = self._believed(self._file)
        except (OSError, sqlite3.Error):
            return len(files)
        if db is None:
            return len(files)
        with contextlib.closing(db):
            return len(self._compared(db, self._file, seal).to_read)

    def _compared(self, db: sqlite3.Connection, file: IndexFile, seal: str | None) -> IndexChanges:
        """Return how the notes differ from the index; that they don't is remembered by its `seal`."""
        changes = find_changes(db, self._notes, clock=self._clock, seal=seal)
        # of an index that another process changed meanwhile nothing is remembered
        if changes.are_none and seal and not changes.were_none and seal == file.state():
            remember(seal, changes)
        return changes

    def view(self, look: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return what `look` sees in the index, brought up to date."""
        return self._ask(lambda db, _: look(db))

    def sums(self) -> dict[str, int]:
        """Return how many notes, entries and words there are."""
        return self._ask(lambda db, _: sums_of(db), wait=PATIENCE)

    def differences(self) -> int:
        """Return how many entries differ between the index, brought up to date, and one made just now."""
        kept = self._ask(lambda db, _: _dump(db), wait=PATIENCE)
        with contextlib.closing(self._made()) as db:
            return len(kept ^ _dump(db))

    def forget(self) -> None:
        """Have the index built again by the next question."""
        if self._file:
            with contextlib.suppress(OSError):
                self._file.break_seal()

    @property
    def path(self) -> Path | None:
        """Where the index is kept, if it is."""
        return self._file.path if self._file and self._file.path.is_file() else None

    def _answers(
        self, db: sqlite3.Connection, changes: IndexChanges, query: Query, limit: int | None
    ) -> PassageHits:
        return PassageHits(
            answers=tuple(IndexQuery(db, query, model=self._model).answers(limit, linked=True)),
            skipped=(*changes.walk.unreadable, *troubles(db, self._notes.kb)),
            conflict_copies=len(changes.walk.conflict_copies),
        )

    def _ask(
        self, question: Callable[[sqlite3.Connection, IndexChanges], _T], *, wait: float = A_MOMENT
    ) -> _T:
        """Return what `question` finds in an index that is as the notes are.

        `wait` is how many seconds another process may hold the index before one in memory answers.
        """
        # without a knowledge base there is nothing to fall back to
        _ = self._notes.walk
        if self._file:
            for _attempt in range(2):
                try:
                    with contextlib.closing(self._kept(self._file, wait)) as db:
                        return self._put(question, db)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        break
                    # although its seal held
                    with contextlib.suppress(OSError):
                        self._file.break_seal()
                except (OSError, RoamkbError):
                    break
        with contextlib.closing(self._made()) as db:
            return self._put(question, db)

    def _put(self, question: Callable[[sqlite3.Connection, IndexChanges], _T], db: sqlite3.Connection) -> _T:
        db.execute("BEGIN")
        found = question(db, self._changes)
        db.execute("COMMIT")
        return found

    def _kept(self, file: IndexFile, wait: float) -> sqlite3.Connection:
        """Return the kept index, up to date; or a copy of it in memory, where it can't be written to."""
        seal = file.state()
        db = self._believed(file) if seal else None
        if db is not None:
            self._changes = self._compared(db, file, seal)
            if self._changes.are_none:
                return db
        try:
            return self._refreshed(file, db, wait)
        except (OSError, RoamkbError, sqlite3.OperationalError):
            if db is None:
                raise
            return self._copied(db)
        finally:
            if db is not None:
                db.close()

    def _believed(self, file: IndexFile) -> sqlite3.Connection | None:
        """Return the index that is there, if it is as it was left and was made for these notes."""
        if not file.is_sealed():
            return None
        db = file.open()
        if fits(db, self._maker):
            return db
        db.close()
        return None

    def _refreshed(
        self,
        file: IndexFile,
        seen: sqlite3.Connection | None,
        wait: float,
        *,
        seconds: float | None = None,
    ) -> sqlite3.Connection:
        """Return the kept index as the notes are; or where `seconds` are given, with what is read in them.

        It is built in steps, each of which takes the place of the one before: whatever breaks it off,
        what was read until then stays.
        """
        with file.locked(wait=wait):
            # another process may have done it meanwhile
            if seen is None and not self._is_believed(file):
                self._changes = IndexChanges(walk=self._notes.walk, to_read=list(self._notes.walk.files))
                with file.rebuilt() as db:
                    create_tables(db, self._maker)
                    self._apply(db, seconds=_STEP if seconds is None else seconds)
                    if self._changes.are_none:
                        _optimize(db)
            else:
                self._look(file)
                if not self._changes.are_few:
                    self._copy_on(file, seconds)
                elif not self._changes.are_none:
                    self._update(file, seconds)
            while seconds is None and not self._changes.are_none:
                self._copy_on(file, None)
            return self._opened(file)

    def _copy_on(self, file: IndexFile, seconds: float | None) -> None:
        """Take some of the changes into a copy of the kept index, which takes its place."""
        took = time.monotonic()
        with file.rebuilt(goes_on=True) as db:
            took = time.monotonic() - took
            self._apply(db, seconds=max(_STEP, _COPIES * took) if seconds is None else seconds)
            if seconds is None and self._changes.are_none:
                _optimize(db)

    def _is_believed(self, file: IndexFile) -> bool:
        db = self._believed(file)
        if db is not None:
            db.close()
        return db is not None

    def _opened(self, file: IndexFile) -> sqlite3.Connection:
        db = file.open()
        if not fits(db, self._maker):
            db.close()
            raise sqlite3.DatabaseError("another index was put in its place")
        return db

    def _look(self, file: IndexFile) -> None:
        if not file.is_sealed():
            raise sqlite3.DatabaseError("the index changed before its lock was taken")
        with contextlib.closing(file.open()) as db:
            self._changes = find_changes(db, self._notes, clock=self._clock)

    def _update(self, file: IndexFile, seconds: float | None) -> None:
        with contextlib.closing(file.open(writing=True)) as db:
            file.break_seal()
            self._apply(db, seconds=math.inf if seconds is None else seconds)
        file.seal()

    def _copied(self, seen: sqlite3.Connection) -> sqlite3.Connection:
        db = in_memory()
        seen.backup(db)
        # some of what was found before may have been read into it, and not been counted
        self._changes = find_changes(db, self._notes, clock=self._clock)
        self._apply(db)
        return db

    def _made(self) -> sqlite3.Connection:
        db = in_memory()
        self._fill(db)
        return db

    def _fill(self, db: sqlite3.Connection) -> None:
        create_tables(db, self._maker)
        self._changes = IndexChanges(walk=self._notes.walk, to_read=list(self._notes.walk.files))
        self._apply(db)
        _optimize(db)

    def _apply(self, db: sqlite3.Connection, *, seconds: float = math.inf) -> None:
        apply_changes(
            db, self._notes, self._changes, clock=self._clock, progress=self._progress, seconds=seconds
        )


def _optimize(db: sqlite3.Connection) -> None:
    """Put the parts that the words lie in together, which takes a while and makes questions cheaper."""
    db.execute("INSERT INTO words(words) VALUES('optimize')")


#: What SQLite says of a file that isn't as it wrote it.
_DAMAGES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say whether the file is at fault, and neither the query nor another process."""
    # an error without a code comes from what was read, such as text that is none
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    # the higher bits say which damage
    return code & 0xFF in _DAMAGES


def _dump(db: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return all that the index knows, apart from its own numbers."""
    rows = db.execute(
        "SELECT file, line, node, date, agent, length, tag_set, replaced, called, named, tagged, numbers, "
        "title, alias, tags, body, hidden, data FROM entry JOIN content USING(id) LEFT JOIN vector USING(id)"
    )
    return {*rows, *db.execute("SELECT term, entries FROM held")}
