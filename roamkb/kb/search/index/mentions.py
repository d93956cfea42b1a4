"""Places where a node's title or an alias stands in other notes without a link to it."""

import sqlite3
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_to_line
from roamkb.kb.search.index.match_expressions import adjacent_expression
from roamkb.kb.search.stored_text import line_numbers
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import stands_apart

#: Names of a node that are looked for, and letters of the shortest; scripts without blanks say more by each letter.
_MOST_NAMES = 16
_LEAST_LETTERS, _LEAST_UNSPACED = 3, 2
#: Entries that are read for one name, the latest first, and characters of all of them.
_MOST_ENTRIES = 300
_MOST_TEXT = 2_000_000
#: What leads somewhere already, and what programs read.
_LINK = lazily(r"\[\[[^\[\]]*\](?:\[[^\[\]]*\])?\]|https?://\S+")
_MACHINERY = lazily(r"\s*(?:#\+\S+?:|:\S+?:(?:\s|$))")


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionPlace:
    """A place where a node is named without a link."""

    #: None for text that lies in no node.
    id: str | None
    title: str
    #: Relative to the knowledge base.
    file: str
    line: int
    #: The line as it is written; empty where the title names the node.
    text: str


def find_mentions(db: sqlite3.Connection, id: str, *, file: str, names: Iterable[str]) -> list[MentionPlace]:
    """Return where the node `id` of `file` is named in other notes that don't link to it, the latest notes first."""
    folded_names = [name for name in dict.fromkeys(map(fold_to_line, names)) if _is_telling(name)][:_MOST_NAMES]
    keys = dict.fromkeys(key for name in folded_names for key in _candidate_keys(db, id, file, name))
    return list(_read_mentions(db, list(keys), folded_names))


def _is_telling(name: str) -> bool:
    return len(name) >= (_LEAST_UNSPACED if UNSPACED.search(name) else _LEAST_LETTERS)


def _candidate_keys(db: sqlite3.Connection, id: str, file: str, name: str) -> list[int]:
    """Return the entries that hold the words of a name, the latest first."""
    expression = adjacent_expression(name)
    if not expression:
        return []
    rows = db.execute(
        "SELECT entry.id FROM words CROSS JOIN entry ON entry.id = words.rowid "
        "WHERE words MATCH :expression AND file != :file "
        "AND coalesce(node, '') NOT IN (SELECT source FROM link WHERE dest = :id) "
        "ORDER BY date DESC, file, line LIMIT :most",
        {"expression": expression, "file": file, "id": id, "most": _MOST_ENTRIES},
    )
    return [key for (key,) in rows]


def _read_mentions(db: sqlite3.Connection, keys: Sequence[int], names: Sequence[str]) -> Iterator[MentionPlace]:
    room = _MOST_TEXT
    for key in keys:
        node, file, line, title, numbers, body = db.execute(
            "SELECT node, file, line, title, numbers, body FROM entry JOIN content USING(id) WHERE id = ?", (key,)
        ).fetchone()
        room -= len(body)
        if room < 0:
            return
        place = _find_line(list(zip(line_numbers(numbers), body.split("\n"), strict=False)), body, names)
        if place is not None:
            yield MentionPlace(id=node, title=title, file=file, line=place[0], text=place[1])
        elif _holds_name(title, names):
            yield MentionPlace(id=node, title=title, file=file, line=line, text="")


def _find_line(lines: Sequence[tuple[int, str]], body: str, names: Sequence[str]) -> tuple[int, str] | None:
    """Return the first line that a name stands in, or begins in, since paragraphs are broken anywhere."""
    folded_body = fold_to_line(body)
    if not any(name in folded_body for name in names):
        return None
    for place, (number, line) in enumerate(lines):
        if _MACHINERY.match(line):
            continue
        next_line = lines[place + 1][1] if place + 1 < len(lines) else ""
        if _holds_name(line, names) or (
            next_line.strip() and _holds_name(f"{line} {next_line}", names) and not _holds_name(next_line, names)
        ):
            return number, line
    return None


def _holds_name(text: str, names: Sequence[str]) -> bool:
    folded_text = fold_to_line(_LINK.sub(" \n ", text))
    return any(name in folded_text and stands_apart(name, folded_text) for name in names)
