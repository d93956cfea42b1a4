"""Files as one release wrote them, which every later one reads to the same: made once, and never again.

    python -m tests.formats.frozen NAME

makes `tests/formats/NAME` with files of the roamkb at hand, where there is no folder of that name.
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from roamkb.core.model import ProjectKind
from roamkb.journal.store.journal import Journal
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import FOLDED_EVENTS
from roamkb.log.state.replay import replay
from roamkb.sharing.bundle_format import Bundle
from roamkb.sharing.bundle_format import bundle_line
from roamkb.sharing.bundle_format import parse_bundle
from roamkb.sharing.bundle_format import render_bundle
from roamkb.sharing.store.snapshot_archive import get_snapshot
from roamkb.sharing.store.snapshot_archive import read_members
from roamkb.sharing.store.snapshot_archive import save_snapshot

FOLDER = Path(__file__).parent
KNOWLEDGE, ARCHIVE, LEDGER = "knowledge.jsonl", "knowledge.archive.jsonl", "ledger.jsonl"
BUNDLE, SNAPSHOT, JOURNAL, CONTENT = "bundle.jsonl", "20260610-120000-00000000", "journal.sql", "content.json"
_NOON = 1781092800.0
_NOTE = b":PROPERTIES:\n:ID:       11111111-2222-4333-8444-555555555555\n:END:\n#+title: Lamps\n\nThey burn.\n"
#: What some events have beside their name.
_FIELDS: dict[str, dict[str, object]] = {
    "reused": {"outcome": "success", "receipt": "r-1"},
    "judged": {"verdict": "verified", "judge": "evidence", "scores": {"accuracy": 0.9}},
    "raised": {"from": "session", "to": "agent"},
    "superseded": {"by_which": "L2", "reason": "rewritten"},
    "flagged": {"reason": "stale", "evidence": "src/a.py is gone"},
    "curated": {"status": "needs_review", "review_reason": "why"},
    "overridden": {"value": 80, "operator": "ann"},
    "preferred": {"preference": "prefers"},
    "promoted": {"node": "11111111-2222-4333-8444-555555555555"},
}


def freeze(folder: Path) -> None:
    """Write the files of a log, a bundle, a snapshot and a journal, and what they say."""
    folder.mkdir()
    lines = {KNOWLEDGE: _learnings()[2:], ARCHIVE: _learnings()[:2]}
    files = {name: b"".join(learning_line(one) + b"\n" for one in said) for name, said in lines.items()}
    files[LEDGER] = b"".join(event_line(event) + b"\n" for event in _events())
    for name, data in files.items():
        (folder / name).write_bytes(data)
    state = replayed(folder)
    bundle_lines = [bundle_line(standing) for standing in state.standings.values()]
    bundle, _ = render_bundle(bundle_lines, project="site", kind=ProjectKind.PERSONAL, created=_NOON)
    (folder / BUNDLE).write_bytes(bundle)
    save_snapshot(folder, files, source="log", id=SNAPSHOT, now=datetime.fromtimestamp(_NOON, UTC))
    (folder / JOURNAL).write_text(_journal_text())
    (folder / CONTENT).write_text(json.dumps(content(folder), indent=1, sort_keys=True) + "\n")


def _learnings() -> list[Learning]:
    return [
        Learning(
            id=f"L{n}",
            key=f"{type}-lamp-{n}",
            type=type,
            content=f"Lamp {n} burns “{n}0” hours\nand no more: {type}\t\u2713",
            ts=_NOON + n,
            tags=(type, "lamps"),
            agent="claude-code",
            session="s-1",
            task="t-1",
            bead="bd-12" if n else "",
            category="bug_fix" if n == 3 else "",
            files=("src/*.py",) if n % 2 else (),
            actions=("UPDATE",) if n % 2 else (),
            provenance="observed",
            origin="knowledge_import:a:1" if n == 1 else "",
            kind=ProjectKind.PERSONAL,
            confidence=60 + n,
            extra={"context": {"why": [1, None, "x"]}} if n == 2 else {},
        )
        for n, type in enumerate(("learned", "decision", "fact", "pattern", "gotcha", "must-check"))
    ]


def _events() -> Iterator[LedgerEvent]:
    for n, name in enumerate((*FOLDED_EVENTS, "task", "attempted", "templated", "undone", "forgotten", "of a plugin")):
        of = {"undone": f"01939b7a-0000-7000-8000-{5:012x}", "forgotten": "L5", "task": ""}.get(name, f"L{n % 5}")
        yield LedgerEvent(
            id=f"01939b7a-0000-7000-8000-{n:012x}",
            ts=_NOON + 60 + n,
            event=name,
            of=of,
            by="used" if name == "reused" else "",
            agent="codex",
            session="s-2",
            task="t-1" if name == "task" else "",
            machine="laptop",
            fields=_FIELDS.get(name, {}),
        )


def _journal_text() -> str:
    """Return a journal of a note that changed, as SQL."""
    with TemporaryDirectory() as top:
        kb, folder = Path(top, "roam"), Path(top, "journal")
        kb.mkdir()
        moments = iter(range(int(_NOON), int(_NOON) + 99))
        journal = Journal(kb=kb, folder=folder, clock=lambda: float(next(moments)))
        for text in (_NOTE, _NOTE + b"No more.\n"):
            (kb / "lamps.org").write_bytes(text)
            journal.take_look()
        with closing(sqlite3.connect(journal.database_path)) as db:
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            return "\n".join([*db.iterdump(), f"PRAGMA user_version = {schema};", ""])


def replayed(folder: Path) -> LogState:
    """Return the state that the files of a log give."""
    said = {
        name: [one.learning for one in read_learnings(lines_of(folder / name)) if isinstance(one, LearningLine)]
        for name in (KNOWLEDGE, ARCHIVE)
    }
    events = [one for one in read_events(lines_of(folder / LEDGER)) if isinstance(one, LedgerEvent)]
    return replay(said[KNOWLEDGE], events, archived=said[ARCHIVE])


def lines_of(path: Path) -> list[bytes]:
    """Return the lines of a file."""
    return path.read_bytes().splitlines()


def content(folder: Path) -> dict[str, Any]:
    """Return all that the frozen files say."""
    bundle = parse_bundle((folder / BUNDLE).read_bytes())
    assert isinstance(bundle, Bundle)
    members = read_members(get_snapshot(folder, SNAPSHOT))
    return {
        "log": [_plain(standing) for standing in replayed(folder).standings.values()],
        "events": [_plain(event) for event in replayed(folder).events],
        "bundle": [_plain(one.learning) for one in bundle.said],
        "snapshot": {name: data.decode() for name, data in members.items()},
        "journal": _journal_content(folder),
    }


def _journal_content(folder: Path) -> dict[str, str]:
    """Return the note's text at each moment."""
    with TemporaryDirectory() as top:
        journal = Journal(kb=Path(top, "roam"), folder=Path(top), clock=lambda: _NOON)
        with closing(sqlite3.connect(journal.database_path)) as db:
            db.executescript((folder / JOURNAL).read_text())
        entries = {moment.id: journal.entries_at(moment.id) for moment in journal.list_moments()}
        with journal.content_reader() as read_content:
            return {
                f"{moment} {entry.path.decode()}": read_content(entry).decode()
                for moment, present in entries.items()
                for entry in present
                if entry.digest
            }


def _plain(value: object) -> object:
    """Return a value as JSON has it, with all its fields."""
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return getattr(value, "value", value)
    return {name: _plain(getattr(value, name)) for name in type(value).__slots__}  # type: ignore[attr-defined]


if __name__ == "__main__":
    freeze(FOLDER / sys.argv[1])
