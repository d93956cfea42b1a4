"""Candidates for near duplicates of a new text: the entries that hold its rarest words.

A text that says the same has most of them; so those that hold the most are looked at. SQLite's own
ranking isn't asked for: it counts each word in all entries again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from roamkb.core.model import Ref
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.document_frequency import document_frequency
from roamkb.kb.search.index.schema import IS_REPLACED
from roamkb.kb.search.stored_text import SEPARATOR
from roamkb.text import language
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import is_alike
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word

#: Words that a text is looked for by: two at least, and more as long as few entries hold them together.
_LEAST_WORDS = 2
_MOST_WORDS = 8
_FEW = 15_000
#: Words of a new text that are looked at; each costs a look into the vocabulary, and the beginning tells it.
_TELLING = 40
#: Entries that are compared, and the share of the words that one holds at least.
_MOST = 60
_SHARE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NearEntry:
    """A node that shares rare words with a text."""

    node: str
    file: str
    #: Its title and its aliases.
    names: tuple[str, ...]
    #: Its own lines as the index keeps them, the drawer's too.
    body: str


def near_entries(
    db: sqlite3.Connection, title: PreparedText, body: PreparedText | None, *, limit: float
) -> Iterator[NearEntry]:
    """Yield the nodes in force named nearly like `title`, then those whose text may be nearly `body`.

    What was replaced says no longer what it says, and a correction may well be called the same.
    """
    for entry in _entries_with_rarest(db, title.text, "{title alias hidden}"):
        if any(is_alike(title, prepare_text(name), limit=limit) for name in entry.names):
            yield entry
    if body is None:
        return
    has_blanks = not UNSPACED.search(body.text)
    body_words = _lowercase_words(body.text)
    telling = body_words - FUNCTION_WORDS
    for entry in _entries_with_rarest(db, body.text, "{body hidden}"):
        shared = body_words & _lowercase_words(entry.body) if has_blanks else body_words
        # the index keeps more than the text itself, so the exact test is still to come
        if 2 * len(shared & telling) >= len(telling) > 0 or len(shared) >= limit * len(body_words):
            yield entry


def nodes_with_ref(db: sqlite3.Connection, ref: Ref) -> list[tuple[str, str, str]]:
    """Return id, title and file of the nodes that have `ref` and weren't replaced by another."""
    return db.execute(
        "SELECT entry.node, content.title, entry.file FROM reference "
        "JOIN entry ON entry.node = reference.node AND entry.note = reference.note JOIN content USING(id) "
        f"WHERE reference.is_own AND reference.type = ? AND reference.target = ? AND NOT {IS_REPLACED} "
        "ORDER BY entry.file, entry.line",
        (ref.type, ref.ref),
    ).fetchall()


def _lowercase_words(text: str) -> frozenset[str]:
    return frozenset(split_words(text.lower()))


def _entries_with_rarest(db: sqlite3.Connection, text: str, columns: str) -> Iterator[NearEntry]:
    """Yield the nodes in force that hold the most of the rarest words of `text` in `columns`."""
    held_by: Counter[int] = Counter()
    rarest = list(_rarest_terms(db, text))
    for term in rarest:
        matching_rows = db.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'{columns} : "{term}"',))
        held_by.update(chain.from_iterable(matching_rows))
    for id, shared in held_by.most_common(_MOST):
        if _SHARE * shared < len(rarest):
            return
        row = db.execute(
            "SELECT node, file, title, alias, body FROM entry JOIN content USING(id) "
            f"WHERE id = ? AND node IS NOT NULL AND NOT {IS_REPLACED}",
            (id,),
        ).fetchone()
        if row:
            node, file, title, alias, body = row
            names = (title, *alias.split(SEPARATOR)) if alias else (title,)
            yield NearEntry(node=node, file=file, names=names, body=body)


def _rarest_terms(db: sqlite3.Connection, text: str) -> Iterator[str]:
    """Yield the rarest words of `text` that any entry holds, the rarest first."""
    terms = list(dict.fromkeys(_index_terms(text)))
    # small words tell nothing
    telling = [term for term in terms if term not in FUNCTION_WORDS] or terms
    counted_terms = [(count, term) for term in telling if (count := document_frequency(db, term))]
    counted_terms.sort()
    spent = 0
    for place, (doc, term) in enumerate(counted_terms[:_MOST_WORDS]):
        spent += doc
        if spent > _FEW and place >= _LEAST_WORDS:
            break
        yield term


def _index_terms(text: str) -> Iterator[str]:
    """Yield the words of `text` as the index has them."""
    for place, word in enumerate(split_words(text)):
        if place == _TELLING:
            return
        if UNSPACED.match(word):
            yield from language.unspaced_groups(word)[:_TELLING]
        else:
            # SQLite takes an underscore for a blank
            yield from map(stem_word, filter(None, word.split("_")))
