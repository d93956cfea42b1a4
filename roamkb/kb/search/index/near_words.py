"""Words of the notes that are spelled nearly as a word that no note has: what a typing error may have meant."""

import json
import sqlite3
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.typing import Final
from roamkb.core.text import fold_text
from roamkb.kb.search.hits import UnknownWord
from roamkb.kb.search.index.document_frequency import document_frequency
from roamkb.kb.search.index.match_expressions import quote_word
from roamkb.text.fuzzy import edit_distance
from roamkb.text.inflection import is_form
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word

#: Letters of the shortest word that is told from its neighbours, and of one that two errors leave telling.
_SHORTEST: Final = 4
_LONG: Final = 7
_MOST_ERRORS: Final = 2
#: Words of a query that are looked at, and near words of each.
_MOST_UNKNOWN: Final = 3
_MOST_NEAR: Final = 3
#: Terms with the same first letter that are compared.
_MOST_COMPARED: Final = 50_000
#: Entries that are read for how a term is written, and letters of each.
_MOST_READ: Final = 20
_LETTERS_READ: Final = 100_000


def find_unknown_words(db: sqlite3.Connection, words: Sequence[str]) -> Iterator[UnknownWord]:
    """Yield the words of a query that no entry has but something near, the nearest and most frequent first."""
    unknown = [
        word
        for word in dict.fromkeys(words)
        if len(word) >= _SHORTEST
        and not UNSPACED.match(word)
        and not document_frequency(db, stem_word(word).partition("_")[0])
    ]
    for word in unknown[:_MOST_UNKNOWN]:
        written = dict.fromkeys(_find_surface(db, term, word) for term in _near_terms(db, word))
        # stems may be near where the words aren't: `lerning`, `len`
        most_errors = 1 if len(word) < _LONG else _MOST_ERRORS
        near = [other for other in written if edit_distance(fold_text(word), fold_text(other)) <= most_errors]
        # another form of it is the word, and found
        if near and (word.isascii() or not any(is_form(fold_text(word), fold_text(other)) for other in near)):
            yield UnknownWord(word=word, near=tuple(near))


def _near_terms(db: sqlite3.Connection, word: str) -> list[str]:
    """Return the terms that are a typing error away; the first letter of a word is seldom mistaken."""
    term = stem_word(word)
    most_errors = 1 if len(term) < _LONG else _MOST_ERRORS
    candidates: list[tuple[str, int]] = db.execute(
        "SELECT term, entries FROM held WHERE term >= :first AND term < :after "
        "AND length(term) BETWEEN :shortest AND :longest LIMIT :most",
        {
            "first": term[0],
            "after": chr(ord(term[0]) + 1),
            "shortest": len(term) - most_errors,
            "longest": len(term) + most_errors,
            "most": _MOST_COMPARED,
        },
    ).fetchall()
    # most terms have other letters; counting those that are missing or new is ten times as fast as comparing
    letters = set(term)
    likely = [
        (near, entries)
        for near, entries in candidates
        if len(letters - (others := set(near))) <= most_errors >= len(others - letters)
    ]
    distances = [(edit_distance(term, near), -entries, near) for near, entries in likely]
    nearest = [near for distance, _, near in sorted(distances) if distance <= most_errors]
    # an ending that is misspelt is none, and stays: `optimizaton`
    shorter = db.execute(
        "SELECT term FROM held WHERE term IN (SELECT value FROM json_each(?)) ORDER BY length(term) DESC",
        (json.dumps([term[:length] for length in range(_SHORTEST, len(term) - most_errors)]),),
    )
    return [*nearest, *(near for (near,) in shorter)][:_MOST_NEAR]


def _find_surface(db: sqlite3.Connection, term: str, word: str) -> str:
    """Return the nearest to `word` of the notes' words whose term is `term`, as written; empty where there is none."""
    rows = db.execute(
        "SELECT title, alias, tags, substr(body, 1, :letters) FROM content "
        "WHERE id IN (SELECT rowid FROM words WHERE words MATCH :term LIMIT :most)",
        {"term": quote_word(term), "most": _MOST_READ, "letters": _LETTERS_READ},
    )
    written = {word for row in rows for text in row for word in split_words(text or "")}
    # a stem is the beginning of its words but for the last letter, and to find it takes ten times as long as to compare
    likely = (form for form in written if not form.isascii() or form.lower().startswith(term[:-1]))
    forms = sorted(form for form in likely if stem_word(form) == term)
    return min(forms, key=lambda form: edit_distance(fold_text(word), fold_text(form)), default="")
