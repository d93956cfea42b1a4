"""The search index over a project's log: the same tables and the same ranking as the notes have.

It lies in the log's local state, and is derived: what is new is added, what is gone is
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
from roamkb.core.text import shown
from roamkb.core.timestamps import iso
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index.file import A_MOMENT
from roamkb.kb.search.index.file import IndexFile
from roamkb.kb.search.index.file import in_memory
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.index.schema import SeenFile
from roamkb.kb.search.index.schema import add_note
from roamkb.kb.search.index.schema import create_tables
from roamkb.kb.search.index.schema import fits
from roamkb.kb.search.index.schema import maker
from roamkb.kb.search.index.schema import remove_notes
from roamkb.kb.search.index.schema import summarise
from roamkb.kb.search.index.schema import transaction
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.log.learning import Learning


class LogIndex:
    """The finder over learnings, by their ids."""

    def __init__(
        self,
        folder: Path,
        learnings: Mapping[str, Learning],
        *,
        version: str = "",
        digest: str = "",
        since: Callable[[str], Sequence[str] | None] = lambda _: None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Keep the index in `folder`; `learnings` is all that it should hold.

        `digest` stands for them: an index that was filled by the same one holds the same. Of one that was
        filled by another, `since` says which ids it lacks; None where more may be different.
        """
        self._digest = digest
        self._since = since
        self._file = IndexFile(folder, clock=clock)
        self._learnings = learnings
        self._maker = maker((), version)

    def find(self, query: Query, *, limit: int | None = None) -> tuple[PassageHit, ...]:
        """Return the best `limit` answers to `query`; the `file` of each is the learning's id."""
        with contextlib.closing(self._opened()) as db:
            return tuple(IndexQuery(db, query).answers(limit))

    @contextlib.contextmanager
    def asking(self, query: Query) -> Iterator["LogIndexQuery"]:
        """Give what answers `query`, for who looks closer at a few of the answers only."""
        with contextlib.closing(self._opened()) as db:
            yield LogIndexQuery(IndexQuery(db, query))

    def weigh(self, query: Query) -> TermWeights:
        """Return what each term of `query` weighs among the learnings."""
        with contextlib.closing(self._opened()) as db:
            return IndexQuery(db, query).weigh()

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._kept()
        except (OSError, RoamkbError, sqlite3.Error):
            db = in_memory()
            create_tables(db, self._maker)
            self._fill(db, self._learnings.values())
            return db

    def _kept(self) -> sqlite3.Connection:
        """Return the index of the folder, brought up to date."""
        # what lacks something is looked at once, by who may mend it
        db = None if self._seems_behind() else self._believed()
        if db is not None:
            missing, gone = self._difference(db)
            if not missing and not gone:
                return db
            db.close()
        with self._file.locked(wait=A_MOMENT):
            db = self._believed()
            if db is None:
                with self._file.rebuilt() as made:
                    create_tables(made, self._maker)
                    self._fill(made, self._learnings.values())
                return self._file.open()
            missing, gone = self._difference(db)
            db.close()
            with contextlib.closing(self._file.open(writing=True)) as db:
                self._file.break_seal()
                self._fill(db, (self._learnings[id] for id in missing), gone=gone)
            self._file.seal()
            return self._file.open()

    def _seems_behind(self) -> bool:
        """Say whether the index, if it can be believed, lacks just what was learned last."""
        if not self._digest:
            return False
        try:
            with contextlib.closing(self._file.open()) as db:
                filled = _filled_by(db)
        except sqlite3.Error:
            # there is none yet
            return False
        return filled != self._digest and bool(self._since(filled))

    def _believed(self) -> sqlite3.Connection | None:
        if not self._file.is_sealed():
            return None
        db = self._file.open()
        if fits(db, self._maker):
            return db
        db.close()
        return None

    def _difference(self, db: sqlite3.Connection) -> tuple[list[str], list[str]]:
        """Return the ids that the index lacks, and those that it should lack."""
        filled = _filled_by(db)
        if self._digest and filled == self._digest:
            return [], []
        new = self._since(filled) if filled else None
        if new is not None:
            return list(new), []
        held = dict(db.execute("SELECT file, digest FROM note"))
        wanted = {id: _mark(learning) for id, learning in self._learnings.items()}
        return (
            [id for id, mark in wanted.items() if held.get(id) != mark],
            [id for id, mark in held.items() if wanted.get(id) != mark],
        )

    def _fill(self, db: sqlite3.Connection, new: Iterable[Learning], *, gone: Iterable[str] = ()) -> None:
        with transaction(db):
            if gone := list(gone):
                remove_notes(db, gone)
            for learning in new:
                seen = SeenFile(file=learning.id, stat="", settled=True, digest=_mark(learning))
                add_note(db, seen, _note(learning))
            summarise(db)
            db.execute("INSERT OR REPLACE INTO about VALUES('log', ?)", (self._digest,))


def _filled_by(db: sqlite3.Connection) -> str:
    """Return what stands for the learnings that an index was filled with."""
    found = db.execute("SELECT value FROM about WHERE key = 'log'").fetchone()
    return str(found[0]) if found else ""


class LogIndexQuery:
    """One query put to the index."""

    def __init__(self, question: IndexQuery) -> None:
        self._question = question
        self._keys: dict[str, int] = {}

    def places(self, limit: int | None) -> list[tuple[str, float]]:
        """Return the ids of the best `limit` answers, and their scores."""
        placed = self._question.places(limit)
        self._keys.update((id, key) for key, id, _ in placed)
        return [(id, points) for _, id, points in placed]

    def why(self, id: str) -> tuple[str, ...]:
        """Return what the answer that `places` gave owes its place to."""
        return self._question.why(self._keys[id])


def _mark(learning: Learning) -> bytes:
    """Return that by which what the index has of a learning is known again."""
    told = (learning.content, *_tags(learning), str(learning.ts), *_beside(learning))
    return zlib.crc32("\0".join(told).encode("utf-8", "surrogatepass")).to_bytes(4)


def _tags(learning: Learning) -> Iterator[str]:
    """Yield the type and the tags, as SQLite takes them: without half characters."""
    for tag in dict.fromkeys((learning.canonical_type, *learning.tags)):
        yield tag.encode("utf-8", "replace").decode()


def _note(learning: Learning) -> Note:
    """Return a learning in the shape that the tables take: its content is its title."""
    node = Node(
        id=learning.id,
        file=learning.id,
        line=1,
        pos=1,
        level=0,
        title=learning.content,
        tags=tuple(_tags(learning)),
        properties={"CREATED": f"[{iso(learning.ts)[:10]}]"} if learning.ts else {},
        end_line=1,
    )
    return Note(file=learning.id, text="\n".join(_beside(learning)), title=learning.content, nodes=(node,))


def _beside(learning: Learning) -> Iterator[str]:
    """Yield what one may look for beside the content."""
    for value in (learning.bead, learning.task, learning.category, *learning.files):
        if value:
            yield shown(value)
