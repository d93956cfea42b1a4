"""The search index over a project's log: the same tables and the same ranking as the notes have.

It lies in the state folder, and is derived: what is new is added, what is gone is
taken out, and what goes by an id that was another's before a merge is both. Where it can't
be kept, it is made in memory.
"""

import contextlib
import sqlite3
import time
import zlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import RoamkbError
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.text import one_line
from roamkb.core.timestamps import format_iso
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index import query as index_queries
from roamkb.kb.search.index.file import SHORT_WAIT
from roamkb.kb.search.index.file import IndexFile
from roamkb.kb.search.index.file import in_memory
from roamkb.kb.search.index.schema import SeenFile
from roamkb.kb.search.index.schema import add_note
from roamkb.kb.search.index.schema import create_tables
from roamkb.kb.search.index.schema import is_made_by
from roamkb.kb.search.index.schema import maker_key
from roamkb.kb.search.index.schema import remove_notes
from roamkb.kb.search.index.schema import store_sums
from roamkb.kb.search.index.schema import transaction
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.log.learning import Learning
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.build_budget import StillBuilding

#: So many learnings are indexed in a moment, and so many in a step.
_MOST_AT_ONCE = 2000
_STEP_LEARNINGS = 500
#: Which kind of digest an index holds of its learnings.
_LAYOUT = 4
#: Before the digest of the learnings that an unfinished index is being filled with.
_PART_MARK = "part "


class LogIndex:
    """The search index over learnings, by their ids."""

    def __init__(
        self,
        folder: Path,
        learnings: Mapping[str, Learning],
        *,
        version: str = "",
        digest: str = "",
        since: Callable[[str], Sequence[str] | None] = lambda _: None,
        budget: BuildBudget | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Keep the index in `folder`; `learnings` are all that it should hold.

        With a budget many of them are indexed as far as that goes, and then a question raises `StillBuilding`.

        `digest` stands for them: an index that was filled by the same one holds the same. Of one that was
        filled by another, `since` says which ids it lacks; None where more may be different.
        """
        self._digest = digest
        self._since = since
        self._file = IndexFile(folder, clock=clock)
        self._part = IndexFile(folder / "part", clock=clock)
        self._budget = budget
        self._learnings = learnings
        self._maker = maker_key((), f"{version} {_LAYOUT}")

    def find_passages(self, query: Query, *, limit: int | None = None) -> tuple[PassageHit, ...]:
        """Return the best `limit` answers to `query`; the `file` of each is the learning's id."""
        with contextlib.closing(self._open_or_build()) as db:
            return tuple(index_queries.IndexQuery(db, query).find_answers(limit))

    @contextlib.contextmanager
    def open_query(self, query: Query) -> Iterator["LogIndexQuery"]:
        """Open a query, for a closer look at a few of its answers only."""
        with contextlib.closing(self._open_or_build()) as db:
            yield LogIndexQuery(index_queries.IndexQuery(db, query))

    def make_ready(self) -> None:
        """Build as much of a long index as the budget allows, so that no question meets it unfinished.

        Raises:
            StillBuilding: it isn't finished.
        """
        if self._budget is not None and self._is_long:
            self._open_or_build().close()

    def find_weighed(self, query: Query, *, limit: int) -> tuple[tuple[PassageHit, ...], TermWeights]:
        """Return the best `limit` answers to `query`, and the weight of each of its terms among all learnings."""
        with contextlib.closing(self._open_or_build()) as db:
            index_query = index_queries.IndexQuery(db, query)
            return tuple(index_query.find_answers(limit)), index_query.term_weights()

    def _open_or_build(self) -> sqlite3.Connection:
        try:
            return self._open_current()
        except StillBuilding:
            raise
        except (OSError, RoamkbError, sqlite3.Error):
            return self._open_in_memory()

    def _open_in_memory(self) -> sqlite3.Connection:
        """Return the index made in memory, of the stored one where there is one: behind the wall none is written."""
        db = in_memory()
        try:
            stored_db = self._open_sealed()
            if stored_db is not None:
                with contextlib.closing(stored_db):
                    stored_db.backup(db)
                missing, stale_ids = self._missing_and_stale(db)
                self._fill_index(db, (self._learnings[id] for id in missing), stale_ids=stale_ids)
                return db
        except (OSError, RoamkbError, sqlite3.Error):
            db.close()
            db = in_memory()
        create_tables(db, self._maker)
        self._fill_index(db, self._learnings.values())
        return db

    def _open_current(self) -> sqlite3.Connection:
        """Return the index of the folder, brought up to date."""
        # what lacks something is looked at once, by who may mend it
        db = None if self._seems_behind() else self._open_sealed()
        if db is not None:
            # what was filled by others, even if they are the same, is compared once
            is_filled = not self._digest or _filled_digest(db) == self._digest
            if is_filled and not any(self._missing_and_stale(db)):
                return db
            db.close()
        with self._file.hold_lock(wait=SHORT_WAIT):
            db = self._open_sealed()
            if db is None:
                if self._budget is not None and self._is_long:
                    self._build_some(self._budget)
                    return self._file.open_connection()
                with self._file.replace_index() as new_db:
                    create_tables(new_db, self._maker)
                    self._fill_index(new_db, self._learnings.values())
                return self._file.open_connection()
            if self._budget is not None and self._is_long and self._is_unlike(db):
                db.close()
                self._build_some(self._budget)
                return self._file.open_connection()
            missing, stale_ids = self._missing_and_stale(db)
            db.close()
            with contextlib.closing(self._file.open_connection(writing=True)) as db:
                self._file.break_seal()
                self._fill_index(db, (self._learnings[id] for id in missing), stale_ids=stale_ids)
            self._file.seal_file()
            return self._file.open_connection()

    @property
    def _is_long(self) -> bool:
        return len(self._learnings) > _MOST_AT_ONCE

    def _is_unlike(self, db: sqlite3.Connection) -> bool:
        """Say whether each learning would have to be compared."""
        filled_digest = _filled_digest(db)
        return bool(self._digest) and filled_digest != self._digest and self._since(filled_digest) is None

    def _build_some(self, budget: BuildBudget) -> None:
        """Build the index anew where the last call left off; the lock is held.

        Raises:
            StillBuilding: it is to be called again, and what was built stays.
        """
        budget.require_rest()
        with self._part.hold_lock(wait=0):
            if not self._goes_on():
                with self._part.replace_index() as new_db:
                    create_tables(new_db, self._maker)
            with contextlib.closing(self._part.open_connection(writing=True)) as db:
                self._part.break_seal()
                db.execute("PRAGMA synchronous = OFF")
                indexed = {id for (id,) in db.execute("SELECT file FROM note")}
                missing = [id for id in self._learnings if id not in indexed]
                for start in range(0, len(missing), _STEP_LEARNINGS):
                    if start:
                        self._seal_unless(budget)
                    chosen = [self._learnings[id] for id in missing[start : start + _STEP_LEARNINGS]]
                    self._fill_index(db, chosen, digest=_PART_MARK + self._digest)
                self._fill_index(db, ())
            self._file.break_seal()
            self._part.path.replace(self._file.path)
            self._file.seal_file()

    def _seal_unless(self, budget: BuildBudget) -> None:
        """Seal what is built, and raise `StillBuilding`, where no further step may be begun."""
        try:
            budget.take_step()
        except StillBuilding:
            self._part.seal_file()
            raise

    def _goes_on(self) -> bool:
        """Say whether an index of these learnings was begun, and left whole."""
        if not self._part.is_sealed():
            return False
        with contextlib.closing(self._part.open_connection()) as db:
            mark = _filled_digest(db)
            filled = mark.removeprefix(_PART_MARK)
            is_same = filled == self._digest or self._since(filled) is not None
            return mark.startswith(_PART_MARK) and is_same and is_made_by(db, self._maker)

    def _seems_behind(self) -> bool:
        """Say whether the index, if it is valid, lacks just the latest learnings."""
        if not self._digest:
            return False
        try:
            with contextlib.closing(self._file.open_connection()) as db:
                filled = _filled_digest(db)
        except sqlite3.Error:
            # there is none yet
            return False
        return filled != self._digest and bool(self._since(filled))

    def _open_sealed(self) -> sqlite3.Connection | None:
        if not self._file.is_sealed():
            return None
        db = self._file.open_connection()
        if is_made_by(db, self._maker):
            return db
        db.close()
        return None

    def _missing_and_stale(self, db: sqlite3.Connection) -> tuple[list[str], list[str]]:
        """Return the ids that the index lacks, and the ids to be removed from it."""
        filled_digest = _filled_digest(db)
        if self._digest and filled_digest == self._digest:
            return [], []
        added_ids = self._since(filled_digest) if filled_digest else None
        if added_ids is not None:
            # what was said again is there already, and now has more words
            return list(added_ids), list(added_ids)
        indexed_marks = dict(db.execute("SELECT file, digest FROM note"))
        expected_marks = {id: _index_digest(learning) for id, learning in self._learnings.items()}
        return (
            [id for id, mark in expected_marks.items() if indexed_marks.get(id) != mark],
            [id for id, mark in indexed_marks.items() if expected_marks.get(id) != mark],
        )

    def _fill_index(
        self,
        db: sqlite3.Connection,
        learnings: Iterable[Learning],
        *,
        stale_ids: Iterable[str] = (),
        digest: str | None = None,
    ) -> None:
        with transaction(db):
            if stale_ids := list(stale_ids):
                remove_notes(db, stale_ids)
            for learning in learnings:
                seen_file = SeenFile(file=learning.id, stat="", settled=True, digest=_index_digest(learning))
                add_note(db, seen_file, _note_of_learning(learning))
            store_sums(db, is_whole=digest is None)
            db.execute("INSERT OR REPLACE INTO about VALUES('log', ?)", (self._digest if digest is None else digest,))


def _filled_digest(db: sqlite3.Connection) -> str:
    """Return the digest of the learnings that an index was filled with."""
    row = db.execute("SELECT value FROM about WHERE key = 'log'").fetchone()
    return str(row[0]) if row else ""


class LogIndexQuery:
    """One query put to the index."""

    def __init__(self, question: "index_queries.IndexQuery") -> None:
        self._question = question
        self._keys: dict[str, int] = {}

    def scored_ids(self, limit: int | None) -> list[tuple[str, float]]:
        """Return the ids of the best `limit` answers, and their scores."""
        placed = self._question.find_places(limit)
        self._keys.update((id, key) for key, id, _ in placed)
        return [(id, points) for _, id, points in placed]

    def match_reasons(self, id: str) -> tuple[str, ...]:
        """Return the reasons for the place of one of the answers given before."""
        return self._question.match_reasons(self._keys[id])


def _index_digest(learning: Learning) -> bytes:
    """Return a checksum of the indexed fields of a learning."""
    parts = (
        learning.content,
        *learning.aliases,
        *_index_tags(learning),
        str(learning.ts),
        *_searchable_fields(learning),
    )
    return zlib.crc32("\0".join(parts).encode("utf-8", "surrogatepass")).to_bytes(4)


def _index_tags(learning: Learning) -> Iterator[str]:
    """Yield the type and the tags, as SQLite takes them: without half characters."""
    for tag in dict.fromkeys((learning.canonical_type, *learning.tags)):
        yield tag.encode("utf-8", "replace").decode()


def _note_of_learning(learning: Learning) -> Note:
    """Return a learning in the form of a note: its content is its title."""
    node = Node(
        id=learning.id,
        file=learning.id,
        line=1,
        pos=1,
        level=0,
        title=learning.content,
        aliases=tuple(alias.encode("utf-8", "replace").decode() for alias in learning.aliases),
        tags=tuple(_index_tags(learning)),
        properties={"CREATED": f"[{format_iso(learning.ts)[:10]}]"} if learning.ts else {},
        end_line=1,
    )
    return Note(file=learning.id, text="\n".join(_searchable_fields(learning)), title=learning.content, nodes=(node,))


def _searchable_fields(learning: Learning) -> Iterator[str]:
    """Yield the searchable fields beside the content."""
    for value in (learning.bead, learning.task, learning.category, *learning.files):
        if value:
            yield one_line(value)
