"""A long log's state, built in steps: what was built stays, and who comes next goes on there.

A hook has seconds, and to replay a year takes more. So lines are read into tables beside the cache, some at a
time; then each learning is folded with its own events. The result is what `replay` gives: a test compares the
two after any number of steps.
"""

import json
import sqlite3
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.progress import report_progress
from roamkb.log.learning import Learning
from roamkb.log.state import state_rows as rows
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.adoption import countable_events
from roamkb.log.state.initial_state import initial_state
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import Reach
from roamkb.log.state.replay import FOLDED_EVENTS
from roamkb.log.state.replay import TASK_EVENT
from roamkb.log.state.replay import distinct_learnings
from roamkb.log.state.replay import fold_events
from roamkb.log.state.replay import preferred_event
from roamkb.log.state.replay import undone_ids
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import tombstones_of
from roamkb.log.store.build_budget import STEP_BYTES
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.cache.state_tables import read_reach
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused

TABLES: Final = """
CREATE TABLE progress(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE said(n INTEGER PRIMARY KEY, id BLOB, ts REAL, row BLOB);
CREATE TABLE happened(id BLOB PRIMARY KEY, name TEXT, of BLOB, counts INTEGER, row BLOB) WITHOUT ROWID;
CREATE TABLE tombstone(row BLOB);
"""


class StateBuild:
    """The tables of one build, in a database that nobody else uses meanwhile."""

    def __init__(
        self,
        db: sqlite3.Connection,
        pages: Sequence[FileVersion],
        adopted: AdoptedLines,
        *,
        step_bytes: int = STEP_BYTES,
    ) -> None:
        """Build from a log, its archive and its ledger; a step takes so many bytes, or one learning for each 512."""
        self._db = db
        self._pages = pages
        self._adopted = adopted
        self._step_bytes = step_bytes
        self._step_learnings = max(1, step_bytes // 512)

    def is_about(self, maker: str) -> bool:
        """Say whether the build is of this maker, and what it read are the first lines of the pages."""
        is_ours = self._progress().get("maker") == maker
        return is_ours and all(page.begins_with(*one) for page, one in zip(self._pages, self.reached, strict=True))

    def begin(self, maker: str) -> None:
        """Begin in an empty database."""
        self._db.executescript(TABLES)
        self._save("maker", maker)

    def read_lines(self, budget: BuildBudget) -> None:
        """Read the lines that aren't yet, as long as the budget allows.

        Raises:
            StillBuilding: there are more.
        """
        if "reach" in self._progress():
            # what came since is for who has the state of these
            return
        for number, page in enumerate(self._pages):
            while (start := self.reached[number][0]) < page.size:
                report_progress("reading the log", start, page.size)
                self._read_some(number, start)
                budget.take_step()
            report_progress("reading the log", page.size, page.size)
        self._settle()
        budget.take_step()

    def _read_some(self, number: int, start: int) -> None:
        page = self._pages[number]
        end = page.line_end(start + self._step_bytes)
        with gc_paused():
            parsed = page.lines_between(start, end)
            self._db.execute("BEGIN")
            self._add_events(self._adopted.mark_events(parsed.events))
            self._add_learnings(self._adopted.mark_learnings(parsed.learnings), is_archived=number == 1)
            reached = self.reached
            reached[number] = (end, page.digest_until(end))
            self._save("reached", json.dumps(reached))
            self._db.execute("COMMIT")

    def _add_events(self, events: Iterable[LedgerEvent]) -> None:
        for event in events:
            row = rows.event_row(event)
            if event.event == FORGOTTEN:
                self._db.execute("INSERT INTO tombstone VALUES(?)", (row,))
            values = (event.id.encode(), _stored(event.event), _stored(event.of), any(countable_events((event,))), row)
            if self._db.execute("INSERT OR IGNORE INTO happened VALUES(?, ?, ?, ?, ?)", values).rowcount:
                continue
            known = self._db.execute("SELECT row FROM happened WHERE id = ?", values[:1]).fetchone()
            if preferred_event(rows.read_events(known)[0], event) is event:
                self._db.execute("REPLACE INTO happened VALUES(?, ?, ?, ?, ?)", values)

    def _add_learnings(self, learnings: Iterable[Learning], *, is_archived: bool) -> None:
        self._db.executemany(
            "INSERT INTO said(id, ts, row) VALUES(?, ?, ?)",
            (
                (learning.id.encode(), learning.ts, rows.standing_row(initial_state(learning, is_archived=is_archived)))
                for learning in learnings
            ),
        )

    def _settle(self) -> None:
        """Take out what doesn't count, and find out how far the lines reach."""
        db = self._db
        db.execute("BEGIN")
        tombstones = tombstones_of(rows.read_events(row for (row,) in db.execute("SELECT row FROM tombstone")))
        (last_id,) = db.execute("SELECT max(id) FROM happened").fetchone()
        undone = undone_ids(self._events_named((UNDONE,)), self._event_of)
        missing = {id for id in undone if not self._has("happened", id)}
        self._delete_events(undone, tombstones)
        self._delete_learnings(tombstones)
        db.execute("CREATE INDEX said_id ON said(id)")
        self._part_doubles()
        db.execute("CREATE INDEX happened_of ON happened(of)")
        db.execute("CREATE INDEX said_ts ON said(ts, id)")
        tasks = self._given_tasks()
        unmet = {id for id in (*self._subject_ids(), *tasks) if not self._has("said", id)}
        unmet |= {id for id in missing if not self._has("said", id)} | tombstones.marks
        self._save("reach", json.dumps([(last_id or b"").decode(), sorted(unmet)]))
        db.execute("COMMIT")

    def _delete_events(self, undone: Collection[str], tombstones: Tombstones) -> None:
        forgotten = _stored(FORGOTTEN)
        self._db.executemany(
            "DELETE FROM happened WHERE id = ? AND name != ?",
            ((_stored(id), forgotten) for id in undone),
        )
        self._db.execute("DELETE FROM happened WHERE NOT counts")
        self._db.executemany(
            "DELETE FROM happened WHERE of = ? AND name != ?", ((_stored(id), forgotten) for id in tombstones.ids)
        )

    def _delete_learnings(self, tombstones: Tombstones) -> None:
        if not tombstones:
            return
        covered = [
            (n,)
            for n, row in self._db.execute("SELECT n, row FROM said")
            if tombstones.covers(rows.read_standings((row,))[0].learning)
        ]
        self._db.executemany("DELETE FROM said WHERE n = ?", covered)

    def _part_doubles(self) -> None:
        """Give each of the lines that share an id the one that replay gives it."""
        doubles = "SELECT id FROM said GROUP BY id HAVING count(*) > 1"
        found = self._db.execute(f"SELECT row FROM said WHERE id IN ({doubles}) ORDER BY n").fetchall()
        states = rows.read_standings(row for (row,) in found)
        shared = {state.id for state in states}
        self._db.execute(f"DELETE FROM said WHERE id IN ({doubles})")
        for learning, is_archived in distinct_learnings((state.learning, state.is_archived) for state in states):
            if learning.id in shared or not self._has("said", learning.id):
                self._add_learnings((learning,), is_archived=is_archived)

    def _given_tasks(self) -> Mapping[str, set[str]]:
        """Return the tasks that templates gave learnings to, by the learning's id."""
        tasks: dict[str, set[str]] = {}
        for event in self._events_named((TASK_EVENT,)):
            for id in event.text_list_field("learnings"):
                tasks.setdefault(id, set()).add(event.task)
        return tasks

    def _subject_ids(self) -> Iterator[str]:
        names = ", ".join("?" * len(FOLDED_EVENTS))
        found = self._db.execute(
            f"SELECT DISTINCT of FROM happened WHERE name IN ({names})", [*map(_stored, FOLDED_EVENTS)]
        )
        return (of.decode("utf-8", "surrogatepass") for (of,) in found.fetchall())

    def _events_named(self, names: Sequence[str]) -> Sequence[LedgerEvent]:
        marks = ", ".join("?" * len(names))
        found = self._db.execute(
            f"SELECT row FROM happened WHERE name IN ({marks}) ORDER BY id", [*map(_stored, names)]
        )
        return rows.read_events(row for (row,) in found)

    def _event_of(self, id: str) -> LedgerEvent | None:
        found = self._db.execute("SELECT row FROM happened WHERE id = ?", (_stored(id),)).fetchone()
        return rows.read_events(found)[0] if found else None

    def _has(self, table: str, id: str) -> bool:
        return self._db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (_stored(id),)).fetchone() is not None

    def fold_some(self, store: Callable[[Iterable[LearningState]], None], budget: BuildBudget) -> None:
        """Have `store` take the learnings' states, in order, as long as the budget allows.

        Raises:
            StillBuilding: there are more.
        """
        tasks = self._given_tasks()
        while chosen := self._next_learnings():
            states = rows.read_standings(row for _, _, row in chosen)
            with gc_paused():
                for state in states:
                    found = self._db.execute("SELECT row FROM happened WHERE of = ? ORDER BY id", (state.id.encode(),))
                    events = rows.read_events(row for (row,) in found)
                    fold_events((event for event in events if event.event != TASK_EVENT), {state.id: state}.get)
                    state.tasks |= tasks.get(state.id, set())
            self._db.execute("BEGIN")
            store(states)
            self._save("folded", json.dumps([chosen[-1][0], chosen[-1][1].decode()]))
            self._db.execute("COMMIT")
            budget.take_step()

    def _next_learnings(self) -> list[tuple[float, bytes, bytes]]:
        folded = self._progress().get("folded")
        condition, after = "", []
        if folded:
            ts, id = json.loads(folded)
            condition, after = "WHERE (ts, id) > (?, ?)", [ts, id.encode()]
        chosen = self._db.execute(
            f"SELECT ts, id, row FROM said {condition} ORDER BY ts, id LIMIT {self._step_learnings}", after
        )
        return chosen.fetchall()

    @property
    def reach(self) -> Reach:
        """How far the lines reach, once all are read."""
        return read_reach(self._progress())

    def _progress(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT key, value FROM progress"))

    @property
    def reached(self) -> list[tuple[int, str]]:
        """The size and the digest of what was read of each page."""
        reached = self._progress().get("reached")
        if reached is None:
            return [(0, page.digest_until(0)) for page in self._pages]
        return [(size, digest) for size, digest in json.loads(reached)]

    def _save(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO progress VALUES(?, ?)", (key, value))


def _stored(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
