"""What in the index may be a near duplicate of a new text: the entries that hold its rarest words.

Of five rare words a text that says the same has most. The rarest of them are asked for one by
one, as long as few entries hold them; the others, two at a time.
"""

import json
import sqlite3
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from roamkb.core.language import unspaced_groups
from roamkb.core.similarity import Shape
from roamkb.core.similarity import is_alike
from roamkb.core.similarity import shape
from roamkb.core.tokens import UNSPACED
from roamkb.core.tokens import stemmed
from roamkb.core.tokens import words
from roamkb.core.wording import FUNCTION_WORDS
from roamkb.storage.index_tables import SEPARATOR

#: Words that a text is looked for by.
_RAREST = 5
#: Entries that may hold a word which is asked for alone, together with those of the rarer ones.
_FEW = 300
#: Words of a new text that are looked at: its beginning tells it.
_TELLING = 400
#: Entries that are compared: what is alike has most of the words, and stands first.
_MOST = 30


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
    db: sqlite3.Connection, title: Shape, body: Shape | None, *, limit: float
) -> Iterator[NearEntry]:
    """Yield the nodes called nearly like `title`, then those whose text may be nearly `body`."""
    for entry in _near(db, title.text, "{title alias hidden}"):
        if any(is_alike(title, shape(name), limit=limit) for name in entry.names):
            yield entry
    if body is None:
        return
    mine = frozenset(body.text.lower().split())
    has_blanks = not UNSPACED.search(body.text)
    for entry in _near(db, body.text, "{body hidden}"):
        # the index keeps more than the text itself, so the exact test is still to come
        if not has_blanks or 2 * len(mine.intersection(entry.body.lower().split())) >= len(mine):
            yield entry


def _near(db: sqlite3.Connection, text: str, columns: str) -> Iterator[NearEntry]:
    expression = _expression(_rarest(db, text))
    if not expression:
        return
    rows = db.execute(
        "SELECT node, file, title, alias, body FROM "
        "(SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?) "
        "JOIN entry USING(id) JOIN content USING(id) WHERE node IS NOT NULL",
        (f"{columns} : ({expression})", _MOST),
    )
    for node, file, title, alias, body in rows:
        names = (title, *alias.split(SEPARATOR)) if alias else (title,)
        yield NearEntry(node=node, file=file, names=names, body=body)


def _rarest(db: sqlite3.Connection, text: str) -> list[tuple[int, str]]:
    """Return the rarest words that any entry holds, each behind the number of those that do."""
    terms = dict.fromkeys(_terms(text))
    rows = db.execute(
        "SELECT term, doc FROM word WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(list(terms)),),
    )
    held = sorted((doc, term) for term, doc in rows)
    telling = [(doc, term) for doc, term in held if term not in FUNCTION_WORDS]
    return (telling or held)[:_RAREST]


def _terms(text: str) -> Iterator[str]:
    """Yield the words of `text` as the index has them."""
    for place, word in enumerate(words(text)):
        if place == _TELLING:
            return
        if UNSPACED.match(word):
            yield from unspaced_groups(word)[:_TELLING]
        else:
            # SQLite takes an underscore for a blank
            yield from map(stemmed, filter(None, word.split("_")))


def _expression(rarest: Sequence[tuple[int, str]]) -> str:
    alone: list[str] = []
    common: list[str] = []
    room = _FEW
    for held, term in rarest:
        room -= held
        (alone if room >= 0 else common).append(f'"{term}"')
    if not alone and len(common) == 1:
        return common[0]
    together = [f"({one} AND {other})" for one, other in combinations(common, 2)]
    return " OR ".join(alone + together)
