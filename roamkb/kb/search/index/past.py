"""The search of a past moment, in a copy of the index in which the notes are as they were.

The copy is brought back by the ordinary reading of those notes that differed. What replaced a node
since is told from the marks that `supersede` leaves: a successor that came later is not there yet.
"""

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.core.model import Successor
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.kb.notes.store.past_notes import PastNotes
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.index.refresh import IndexChanges
from roamkb.kb.search.index.refresh import apply_changes
from roamkb.kb.search.index.refresh import faulty_notes
from roamkb.kb.search.index.refresh import files_with_other_setups
from roamkb.kb.search.index.schema import count_copies
from roamkb.kb.search.index.schema import remove_entries
from roamkb.kb.search.index.schema import store_sums
from roamkb.kb.search.index.schema import transaction
from roamkb.kb.search.query import Query

#: The notes whose dates decide, each with the minute since which.
_DATED = "CREATE TEMP TABLE dated(file TEXT PRIMARY KEY, since TEXT) WITHOUT ROWID"
#: Entries of those notes that weren't there; a shorter date is compared as far as it goes.
_NOT_THERE = (
    "SELECT entry.id, entry.note FROM entry JOIN temp.dated USING(file) "
    "WHERE entry.date > :until OR entry.date < substr(since, 1, length(entry.date)) "
    "OR (entry.date = '' AND since != '')"
)


class PastIndex:
    """The search index of one knowledge base at a past moment."""

    def __init__(self, index: Index, notes: PastNotes) -> None:
        """Take the index of the present, which stays as it is, and the notes of the past."""
        self._index = index
        self._notes = notes

    def find_passages(self, query: Query, *, limit: int | None = None, near_best: bool = False) -> PassageHits:
        """Return the best `limit` answers that there were, each with what replaced it since.

        Where `near_best`, those far below the best are left out.

        Raises:
            NoKnowledgeBase: there is nothing to search.
        """
        with contextlib.closing(self._index.open_copy()) as db:
            present = _Successions.read(db)
            bring_back(db, self._notes)
            successions = _Successions.read(db).updated(present)
            index_query = IndexQuery(db, query, model=self._index.model)
            answers = index_query.find_answers(limit, linked=True, near_best=near_best)
            walk = self._notes.kb_walk
            return PassageHits(
                answers=tuple(
                    replace(answer, replaced_by=tuple(successions.follow(answer.id)) if answer.id else ())
                    for answer in answers
                ),
                weights=index_query.term_weights(),
                skipped=(*walk.unreadable, *faulty_notes(db, self._notes.kb)),
                conflict_copies=len(walk.conflict_copies) + count_copies(db),
            )


def bring_back(db: sqlite3.Connection, notes: PastNotes) -> None:
    """Make an index of the present one of the past."""
    changed_files = dict(notes.changed_files)
    stale = files_with_other_setups(db, notes) - changed_files.keys() - notes.past.absent
    to_read = [*changed_files.values(), *(file for file in notes.kb_walk.files if file.file in stale)]
    unchanged = IndexChanges.none_of(notes.kb_walk)
    changes = replace(unchanged, to_read=to_read, missing_files=sorted(notes.past.absent))
    if not changes.are_none:
        apply_changes(db, notes, changes, clock=time.time_ns)
    with transaction(db):
        db.execute(_DATED)
        db.executemany("INSERT INTO dated VALUES(?, ?)", notes.past.dated.items())
        db.execute(f"CREATE TEMP TABLE later AS {_NOT_THERE}", {"until": notes.past.until})
        remove_entries(db, "id IN (SELECT id FROM temp.later)")
        db.execute(
            "UPDATE note SET (entries, words) = (SELECT count(*), coalesce(sum(length), 0) FROM entry "
            "WHERE entry.note = note.id) WHERE id IN (SELECT note FROM temp.later)"
        )
        db.execute("DROP TABLE temp.later")
        store_sums(db, is_whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Successions:
    """The nodes that say that another one replaced them, and what is known of the others."""

    #: The successor's id by the node's.
    marks: Mapping[str, str]
    #: Titles and dates of successors, by their ids.
    facts: Mapping[str, tuple[str, str]]

    @staticmethod
    def read(db: sqlite3.Connection) -> "_Successions":
        rows = db.execute("SELECT node, successor FROM content JOIN entry USING(id) WHERE successor IS NOT NULL")
        marks: dict[str, str] = dict(rows.fetchall())
        facts = db.execute(
            "SELECT node, title, date FROM entry JOIN content USING(id) "
            "WHERE node IN (SELECT value FROM json_each(?)) ORDER BY file DESC, line DESC",
            (json.dumps(list(marks.values())),),
        )
        return _Successions(marks=marks, facts={node: (title, date) for node, title, date in facts})

    def updated(self, newer: "_Successions") -> "_Successions":
        return _Successions(marks={**self.marks, **newer.marks}, facts={**self.facts, **newer.facts})

    def follow(self, node: str) -> Iterator[Successor]:
        """Yield what replaced a node, then what replaced that; what is gone ends it, and a circle its beginning."""
        seen = {node}
        while (successor := self.marks.get(node)) in self.facts.keys() - seen:
            title, date = self.facts[successor]
            yield Successor(id=successor, title=title, date=date)
            seen.add(successor)
            node = successor
