"""The notes' folder at a past moment, by the looks before and after it.

What a look saw counts from that look on, so that the last look before the moment says what there was. Notes
that came between it and the next one, or before the first, are told from their nodes' dates.
"""

import os
import sqlite3
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from roamkb.core.errors import RoamkbError
from roamkb.core.model import Hit
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.timestamps import format_local_iso
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.tables import find_content
from roamkb.journal.store.tables import swept_until
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.store.past_notes import PastFolder
from roamkb.kb.notes.store.walk import NotesWalk

#: Files at a moment, with what is known of their stats: nothing of those that were others later.
_FILES_QUERY = (
    "SELECT path, digest, NULL, NULL, NULL, NULL FROM past WHERE form = 'file' "
    "AND since > :known AND since <= :moment AND gone > :moment "
    "UNION ALL SELECT path, digest, size, mtime, ctime, inode FROM live WHERE form = 'file' "
    "AND since > :known AND since <= :moment"
)
#: Letters of local ISO up to the minute, in which a node says when it was made.
_MINUTE = len("2026-06-10T12:00")
#: With which a whole day ends.
_LAST_SECOND = "23:59:59"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastView:
    """The notes' folder at a past moment, and what that rests on."""

    folder: PastFolder
    #: A clause for the human.
    basis: str


class _Look(NamedTuple):
    moment: int
    #: Seconds since 1970.
    at: float


class _SeenFile(NamedTuple):
    digest: bytes | None
    #: Size, times of writing and of any change, inode; Nones where it was another file later.
    stat: tuple[int | None, ...]


def read_past_folder(journal: Journal | None, walk: NotesWalk, *, when: float, now: float) -> PastView:
    """Return the difference of the notes' folder at `when` from the present one; both in seconds since 1970.

    The journal is None where it has no place. One that can't be read is no journal, and the view says so.
    """
    until = format_local_iso(when)
    if when >= now:
        unchanged = PastFolder(versions={}, absent=frozenset(), dated={}, until=until)
        return PastView(folder=unchanged, basis="the notes as they are now")
    basis = "there is no journal, so that the notes' dates decide"
    if journal is not None and journal.is_there:
        try:
            with journal.open_for_reading() as db:
                return _read_from_looks(db, journal, walk, when=when, until=until)
        except RoamkbError as error:
            basis = f"the journal can't be read ({error.message}), so that the notes' dates decide"
    dated = dict.fromkeys((file.file for file in walk.files), "")
    return PastView(folder=PastFolder(versions={}, absent=frozenset(), dated=dated, until=until), basis=basis)


def describe_basis(view: PastView, kb: Path, hits: Iterable[Hit]) -> str:
    """Return a line about what an answer rests on, and how many of its `hits` bear no date where that matters."""
    until = view.folder.until
    day, _, clock_time = until.partition("T")
    dated = view.folder.dated
    unknown = {hit.id or hit.path for hit in hits if not hit.date and str(hit.path.relative_to(kb)) in dated}
    undated = f"; {count_phrase(len(unknown), 'hit')} without a date may be newer" if unknown else ""
    return f"as of {day if clock_time == _LAST_SECOND else until.replace('T', ' ')}: {view.basis}{undated}"


def _read_from_looks(db: sqlite3.Connection, journal: Journal, walk: NotesWalk, *, when: float, until: str) -> PastView:
    before, after = _looks_around(db, when)
    there = _files_at(db, before.moment) if before else {}
    present = {file.file: file.stat[:4] for file in walk.files}
    linked = set(_linked_files(db, present))
    came = _files_at(db, after.moment, known=before.moment if before else 0) if after else {}
    came_names = (came if after else present).keys() - there.keys()
    dated = dict.fromkeys(came_names, format_local_iso(before.at)[:_MINUTE] if before else "")
    # the journal follows no link
    dated |= dict.fromkeys(linked, "")
    versions = {
        name: _read_version(db, journal, name, seen_file.digest)
        for name, seen_file in (came | there).items()
        if name not in linked and seen_file.stat != present.get(name)
    }
    absent = frozenset(present.keys() - there.keys() - dated.keys())
    if before:
        basis = f"the journal's look of {_format_minute(before.at)}"
    elif after:
        basis = f"the journal begins {_format_minute(after.at)}, so that the notes' dates decide"
    else:
        basis = "the journal is empty, so that the notes' dates decide"
    return PastView(folder=PastFolder(versions=versions, absent=absent, dated=dated, until=until), basis=basis)


def _looks_around(db: sqlite3.Connection, when: float) -> tuple[_Look | None, _Look | None]:
    """Return the last look until `when` and the first one after it, as far as the past is whole."""
    whole = swept_until(db)
    before = db.execute(
        "SELECT id, at FROM moment WHERE at BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", (whole, when)
    ).fetchone()
    after = db.execute(
        "SELECT id, at FROM moment WHERE id > ? AND at >= ? ORDER BY id LIMIT 1", (before[0] if before else 0, whole)
    ).fetchone()
    return (_Look(*before) if before else None), (_Look(*after) if after else None)


def _files_at(db: sqlite3.Connection, moment: int, *, known: int = 0) -> dict[str, _SeenFile]:
    """Return the notes of the folder at a moment by their names, but for those that were so at a `known` one."""
    rows = db.execute(_FILES_QUERY, {"moment": moment, "known": known})
    files = ((os.fsdecode(path), _SeenFile(digest, tuple(stat))) for path, digest, *stat in rows)
    return {name: seen_file for name, seen_file in files if name.isprintable() and is_note(name)}


def _linked_files(db: sqlite3.Connection, present: Collection[str]) -> Iterator[str]:
    """Yield the present notes that are reached through a link."""
    links = {os.fsdecode(path) for (path,) in db.execute("SELECT path FROM live WHERE form = 'link'")}
    if links:
        folders = tuple(f"{link}/" for link in links)
        yield from (name for name in present if name in links or name.startswith(folders))


def _read_version(db: sqlite3.Connection, journal: Journal, name: str, digest: bytes | None) -> bytes | UnreadableFile:
    data = find_content(db, digest) if digest else None
    if data is not None:
        return data
    return UnreadableFile(path=journal.kb / name, reason="the journal doesn't have what it was")


def _format_minute(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp).isoformat(" ", "minutes")
