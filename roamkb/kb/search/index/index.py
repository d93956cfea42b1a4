"""The search index: derived from the notes and refreshed before each query.

Where it can't be kept, read or believed, the same index is made in memory, so that there
is one meaning of search. A search never answers from a file that is gone.
"""

import contextlib
import math
import os
import sqlite3
import time
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import Busy
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import TypeVar
from roamkb.fs.tree_digest import TreeDigest
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.index import near_words
from roamkb.kb.search.index import query as index_queries
from roamkb.kb.search.index.document_frequency import has_uncounted
from roamkb.kb.search.index.file import LONG_WAIT
from roamkb.kb.search.index.file import SHORT_WAIT
from roamkb.kb.search.index.file import AgreedTree
from roamkb.kb.search.index.file import IndexFile
from roamkb.kb.search.index.file import in_memory
from roamkb.kb.search.index.refresh import IndexChanges
from roamkb.kb.search.index.refresh import agreed_files
from roamkb.kb.search.index.refresh import apply_changes
from roamkb.kb.search.index.refresh import faulty_notes
from roamkb.kb.search.index.refresh import files_with_other_setups
from roamkb.kb.search.index.refresh import find_changes
from roamkb.kb.search.index.refresh import has_changed_file
from roamkb.kb.search.index.refresh import has_unread_notes
from roamkb.kb.search.index.refresh import remember_agreed_files
from roamkb.kb.search.index.schema import count_copies
from roamkb.kb.search.index.schema import create_tables
from roamkb.kb.search.index.schema import is_made_by
from roamkb.kb.search.index.schema import maker_key
from roamkb.kb.search.index.schema import sums_of
from roamkb.kb.search.query import Query
from roamkb.kb.search.semantic import cache

_T = TypeVar("_T")

#: Seconds of reading that are lost where a large index is broken off while it is built.
_STEP = 0.5
#: Words of a query of which each was meant.
_MOST_EXPLAINED = 3
#: How many times as long as a sealed copy of the index takes is read into it.
_COPIES = 20


class Index:
    """The search index of one knowledge base."""

    def __init__(
        self,
        notes: Notes,
        folder: Path | None,
        *,
        version: str = "",
        clock: Callable[[], int] = time.time_ns,
        model: "cache.SentenceModel | None" = None,
    ) -> None:
        """Store the index in `folder`, or in memory for one query; `version` is the program's."""
        self._notes = notes
        self._file = IndexFile(folder, clock=clock) if folder else None
        self._maker = maker_key(notes.todo_lines, version, kb=os.path.realpath(notes.kb))
        self._clock = clock
        #: Rates nearness in meaning, if there is one.
        self.model = model
        self._changes: IndexChanges
        #: Whether the index that answers is made for this one query.
        self._is_made_for_one = False
        #: What the last copy took from its last note on: to sync it, and to read it for its digest.
        self._sealing_seconds = 0.0

    def find_passages(self, query: Query, *, limit: int | None = None, near_best: bool = False) -> PassageHits:
        """Return the best `limit` answers to `query`, from the notes as they are now.

        Where `near_best`, those far below the best are left out.

        Raises:
            NoKnowledgeBase: there is nothing to search.
        """

        def find_answers(db: sqlite3.Connection, changes: IndexChanges) -> tuple[PassageHits, bool]:
            passages = self._find_answers(db, changes, query, limit, near_best)
            files = (answer.file for answer in passages.answers) if self._notes.trusts_folders else ()
            return passages, has_changed_file(db, self._notes, files)

        passages, is_stale = self._query_fresh_index(find_answers)
        if is_stale:
            self._notes.ask_each_file()
            passages, _ = self._query_fresh_index(find_answers)
        return passages

    def read_ahead(self, seconds: float) -> None:
        """Read notes into the stored index for about `seconds` seconds; leave the rest for the next time."""
        if self._file is None:
            return
        # another process that reads them is as good
        with contextlib.suppress(OSError, RoamkbError, sqlite3.Error):
            self._open_refreshed(self._file, None, 0, seconds=seconds).close()

    def is_built(self) -> bool:
        """Say whether the stored index was built to its end; where none can be kept, there is nothing to build."""
        if self._file is None:
            return True
        with contextlib.suppress(OSError, sqlite3.Error):
            if db := self._open_valid(self._file):
                with contextlib.closing(db):
                    return not has_uncounted(db)
        return False

    def build(self) -> None:
        """Bring the stored index up to date, however long another process takes that does; where it can be kept."""
        self._query_stored_index(lambda *_: None, LONG_WAIT)

    def count_unread_notes(self) -> int:
        """Return the number of notes that the next query would read first: all, where there is no index."""
        return len(self.find_unread_notes().to_read)

    def find_unread_notes(self) -> IndexChanges:
        """Return what the next query would read first: all, where there is no index.

        Raises:
            NoKnowledgeBase: there is nothing to search.
        """
        self._notes.require_kb()
        try:
            seal = self._file.sealed_digest() if self._file else None
            db = self._open_valid(self._file) if self._file else None
        except (OSError, sqlite3.Error):
            db = None
        if self._file is None or db is None:
            return IndexChanges.all_of(self._notes.kb_walk)
        with contextlib.closing(db):
            changes = self._compare_notes(db, self._file, seal)
            return replace(changes, conflict_copies=changes.conflict_copies + count_copies(db))

    def _compare_notes(self, db: sqlite3.Connection, file: IndexFile, seal: str | None) -> IndexChanges:
        """Return the changes of the notes since the index was sealed.

        What agreed with an index in the state `seal` once agrees with it again. A process that lives on knows
        the files of its last walk, of which most are the objects that they were; any other one knows the digest
        of the folder.
        """
        if seal is None:
            return find_changes(db, self._notes, clock=self._clock)
        tree = self._notes.tree_before_walk()
        return self._compare_files(db, file, seal) if tree is None else self._compare_tree(db, file, seal, tree)

    def _compare_files(self, db: sqlite3.Connection, file: IndexFile, seal: str) -> IndexChanges:
        """Return the changes of the files that are others than those which agreed with the index."""
        agreed = agreed_files(seal)
        changes = find_changes(db, self._notes, clock=self._clock, agreed=agreed)
        files = self._notes.kb_walk.files
        # of an index that another process changed meanwhile nothing is remembered
        if changes.are_none and agreed is not files and seal == file.sealed_digest():
            remember_agreed_files(seal, files)
        return changes

    def _compare_tree(self, db: sqlite3.Connection, file: IndexFile, seal: str, tree: TreeDigest) -> IndexChanges:
        """Return the changes of the folder, none where its digest is that which agreed with the index.

        Links lead to what the digest says nothing about.
        """
        agreed = file.find_agreed_tree()
        is_agreed = agreed is not None and (agreed.seal, agreed.tree) == (seal, tree.hex)
        if agreed and is_agreed and not files_with_other_setups(db, self._notes):
            return IndexChanges(notes=agreed.notes, conflict_copies=agreed.conflict_copies)
        if self._notes.trusts_folders:
            each_tree = self._notes.ask_each_file()
            return self._compare_tree(db, file, seal, each_tree) if each_tree else self._compare_files(db, file, seal)
        changes = find_changes(db, self._notes, clock=self._clock)
        is_whole = changes.are_none and not changes.unreadable and not tree.has_links
        # as above
        if is_whole and seal == file.sealed_digest():
            agreed = AgreedTree(seal=seal, tree=tree.hex, notes=changes.notes, conflict_copies=changes.conflict_copies)
            with contextlib.suppress(OSError):
                file.save_agreed_tree(agreed)
        return changes

    def read_view(self, look: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return the result of `look` on the index, brought up to date."""
        return self._query_fresh_index(lambda db, _: look(db))

    def read_near_view(self, look: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Return the result of `look` on the stored index, brought up to date; None where that would take long."""
        self._notes.require_kb()
        answers = self._query_stored_index(lambda db, _: look(db), SHORT_WAIT, is_patient=False)
        return answers[0] if answers else None

    def open_copy(self) -> sqlite3.Connection:
        """Return a copy in memory of the index, brought up to date, for its caller to change and to close."""

        def copy_index(db: sqlite3.Connection) -> sqlite3.Connection:
            memory_db = in_memory()
            db.backup(memory_db)
            return memory_db

        return self.read_view(copy_index)

    def content_counts(self) -> dict[str, int]:
        """Return the numbers of notes, entries and words."""
        return self._query_fresh_index(lambda db, _: sums_of(db), wait=LONG_WAIT)

    def count_differences(self) -> int:
        """Return the number of entries that differ between the refreshed index and a new one."""
        stored_entries = self._query_fresh_index(lambda db, _: _dump_entries(db), wait=LONG_WAIT)
        with contextlib.closing(self._build_in_memory()) as db:
            return len(stored_entries ^ _dump_entries(db))

    def discard_seal(self) -> None:
        """Make the next query build the index again."""
        if self._file:
            with contextlib.suppress(OSError):
                self._file.break_seal()

    @property
    def file_path(self) -> Path | None:
        """The path of the stored index; None where there is no file."""
        return self._file.path if self._file and self._file.path.is_file() else None

    def _find_answers(
        self, db: sqlite3.Connection, changes: IndexChanges, query: Query, limit: int | None, near_best: bool
    ) -> PassageHits:
        index_query = index_queries.IndexQuery(db, query, model=self.model)
        answers = tuple(index_query.find_answers(limit, linked=True, near_best=near_best))
        return PassageHits(
            answers=answers,
            weights=index_query.term_weights(),
            skipped=(*changes.unreadable, *faulty_notes(db, self._notes.kb)),
            conflict_copies=changes.conflict_copies + count_copies(db),
            left_out=index_query.left_out,
            read_without_index=changes.notes if self._is_made_for_one else 0,
            # of a question some words are seldom in any note
            unknown=tuple(near_words.find_unknown_words(db, query.words))
            if near_best and (not answers or len(query.words) <= _MOST_EXPLAINED) and not _is_held(query, answers)
            else (),
        )

    def _query_fresh_index(
        self, question: Callable[[sqlite3.Connection, IndexChanges], _T], *, wait: float = SHORT_WAIT
    ) -> _T:
        """Return the result of `question` on an index that agrees with the notes.

        `wait` is how many seconds another process may hold the index before one in memory answers.
        """
        # without a knowledge base there is nothing to fall back to
        self._notes.require_kb()
        for answer in self._query_stored_index(question, wait):
            return answer
        self._is_made_for_one = True
        with contextlib.closing(self._build_in_memory()) as db:
            return self._run_in_transaction(question, db)

    def _query_stored_index(
        self, question: Callable[[sqlite3.Connection, IndexChanges], _T], wait: float, *, is_patient: bool = True
    ) -> list[_T]:
        """Return the result of `question` on the stored index; nothing where it can't be kept, read or believed.

        Nothing, too, where many notes would have to be read first and it isn't `is_patient`.
        """
        file = self._file
        if file is None:
            return []
        for _attempt in range(2):
            try:
                with contextlib.closing(self._open_fresh(file, wait, is_patient=is_patient)) as db:
                    return [self._run_in_transaction(question, db)]
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    break
                # although its seal held
                with contextlib.suppress(OSError):
                    file.break_seal()
            except (OSError, RoamkbError):
                break
        return []

    def _run_in_transaction(
        self, question: Callable[[sqlite3.Connection, IndexChanges], _T], db: sqlite3.Connection
    ) -> _T:
        db.execute("BEGIN")
        answer = question(db, self._changes)
        db.execute("COMMIT")
        return answer

    def _open_fresh(self, file: IndexFile, wait: float, *, is_patient: bool) -> sqlite3.Connection:
        """Return the stored index, up to date; or a copy of it in memory, where it can't be written to.

        Raises:
            Busy: it isn't `is_patient`, and many notes would have to be read first.
        """
        seal = file.sealed_digest()
        db = self._open_sealed(file) if seal else None
        if db is not None:
            self._changes = self._compare_notes(db, file, seal)
            if self._changes.are_none:
                return db
        try:
            if not is_patient and (db is None or self._changes.has_uncounted or not self._changes.are_few):
                raise Busy(file.path)
            return self._open_refreshed(file, db, wait)
        except (OSError, RoamkbError, sqlite3.OperationalError):
            if db is None or not is_patient:
                raise
            return self._copy_to_memory(db)
        finally:
            if db is not None:
                db.close()

    def _open_valid(self, file: IndexFile) -> sqlite3.Connection | None:
        """Return the stored index if its seal holds and it was made for these notes."""
        return self._open_sealed(file) if file.is_sealed() else None

    def _open_sealed(self, file: IndexFile) -> sqlite3.Connection | None:
        """Return the stored index, whose seal holds, if it was made for these notes."""
        db = file.open_connection()
        if is_made_by(db, self._maker):
            return db
        db.close()
        return None

    def _open_refreshed(
        self,
        file: IndexFile,
        valid_db: sqlite3.Connection | None,
        wait: float,
        *,
        seconds: float | None = None,
    ) -> sqlite3.Connection:
        """Return the refreshed index; where `seconds` are given, with the notes that were read in them.

        It is built in steps, each of which takes the place of the one before: whatever breaks it off,
        what was read until then stays.
        """
        with file.hold_lock(wait=wait):
            # another process may have done it meanwhile
            if valid_db is None and not self._is_valid(file):
                self._changes = IndexChanges.all_of(self._notes.kb_walk)
                with file.replace_index() as db:
                    create_tables(db, self._maker)
                    self._apply_changes(db, seconds=_STEP if seconds is None else seconds)
                    if self._changes.are_none:
                        _optimize_words(db)
            else:
                self._find_changes(file)
                if not self._changes.are_few:
                    self._copy_on(file, seconds)
                elif not self._changes.are_none:
                    self._update_in_place(file, seconds)
            while seconds is None and not self._changes.are_none:
                self._copy_on(file, None)
            db = self._open_checked(file)
            self._remember_refreshed(db, file)
            return db

    def _remember_refreshed(self, db: sqlite3.Connection, file: IndexFile) -> None:
        """Remember what was read just now, where a file that is touched from now on is another object."""
        kb_walk = self._notes.kb_walk
        is_known = self._changes.are_none and kb_walk.is_watched and not has_unread_notes(db)
        if is_known and (seal := file.written_digest or file.sealed_digest()):
            remember_agreed_files(seal, kb_walk.files)

    def _copy_on(self, file: IndexFile, seconds: float | None) -> None:
        """Take some of the changes into a copy of the kept index, which takes its place."""
        begin = time.monotonic()
        with file.replace_index(goes_on=True) as db:
            # to seal a copy takes longer than to make it
            step = max(_STEP, _COPIES * (time.monotonic() - begin + self._sealing_seconds))
            self._apply_changes(db, seconds=step if seconds is None else seconds)
            if seconds is None and self._changes.are_none:
                _optimize_words(db)
            end = time.monotonic()
        self._sealing_seconds = time.monotonic() - end

    def _is_valid(self, file: IndexFile) -> bool:
        db = self._open_valid(file)
        if db is not None:
            db.close()
        return db is not None

    def _open_checked(self, file: IndexFile) -> sqlite3.Connection:
        db = file.open_connection()
        if not is_made_by(db, self._maker):
            db.close()
            raise sqlite3.DatabaseError("another index was put in its place")
        return db

    def _find_changes(self, file: IndexFile) -> None:
        seal = file.sealed_digest()
        if seal is None:
            raise sqlite3.DatabaseError("the index changed before its lock was taken")
        with contextlib.closing(file.open_connection()) as db:
            self._changes = find_changes(db, self._notes, clock=self._clock, agreed=agreed_files(seal))

    def _update_in_place(self, file: IndexFile, seconds: float | None) -> None:
        with contextlib.closing(file.open_connection(writing=True)) as db:
            file.break_seal()
            self._apply_changes(db, seconds=math.inf if seconds is None else seconds)
        file.seal_file()

    def _copy_to_memory(self, valid_db: sqlite3.Connection) -> sqlite3.Connection:
        db = in_memory()
        valid_db.backup(db)
        # some of what was found before may have been read into it, and not been counted
        self._changes = find_changes(db, self._notes, clock=self._clock)
        self._apply_changes(db)
        return db

    def _build_in_memory(self) -> sqlite3.Connection:
        db = in_memory()
        self._fill_index(db)
        return db

    def _fill_index(self, db: sqlite3.Connection) -> None:
        create_tables(db, self._maker)
        self._changes = IndexChanges.all_of(self._notes.kb_walk)
        self._apply_changes(db)
        _optimize_words(db)

    def _apply_changes(self, db: sqlite3.Connection, *, seconds: float = math.inf) -> None:
        apply_changes(db, self._notes, self._changes, clock=self._clock, seconds=seconds)


def _optimize_words(db: sqlite3.Connection) -> None:
    """Merge the segments of the word index, which takes a while and makes queries cheaper."""
    db.execute("INSERT INTO words(words) VALUES('optimize')")


def _is_held(query: Query, answers: Sequence[PassageHit]) -> bool:
    """Return whether an answer holds the only word in some form."""
    return query.is_plain_word and any(answer.signals and answer.signals.all_words for answer in answers)


#: What SQLite says of a file that isn't as it wrote it.
_DAMAGES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say whether the file is at fault, and neither the query nor another process."""
    # an error without a code comes from what was read, such as text that is none
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    # the higher bits say which damage
    return code & 0xFF in _DAMAGES


def _dump_entries(db: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return the content of the index, apart from its own numbers."""
    rows = db.execute(
        "SELECT file, line, node, date, agent, project, length, tag_set, successor, called, named, tagged, numbers, "
        "title, alias, tags, body, hidden, data FROM entry JOIN content USING(id) LEFT JOIN vector USING(id)"
    )
    return {*rows, *db.execute("SELECT term, entries FROM held")}
