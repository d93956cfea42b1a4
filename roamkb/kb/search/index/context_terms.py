"""Terms of a query that an entry owes to what stands around it: links that call it so, and the titles above it."""

import json
import sqlite3
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cached_property
from math import fsum

from roamkb.core.startup.typing import NamedTuple
from roamkb.kb.search.index.match_expressions import word_expressions
from roamkb.kb.search.index.match_expressions import word_terms
from roamkb.kb.search.index.snippets import SnippetView
from roamkb.kb.search.stored_text import SEPARATOR

#: Of the best hits those whose links may call a note by the query's words, and whose notes may have headings that
#: answer it: a hundred gain .006 in MRR on links' texts, and take twice as long.
_MOST_TELLING = 20


class LinkName(NamedTuple):
    """The text of a link to an entry, the query's terms in it, and the weight of those that its names haven't."""

    text: str
    terms: Set[str]
    weight: float


NO_NAME = LinkName("", frozenset(), 0.0)


class HeadingTerms(NamedTuple):
    """The query's terms that a heading's node holds, and those that only the titles above it have."""

    held: Set[str]
    added: Set[str]


class ContextTerms:
    """What is around the best hits of one query, within one read transaction."""

    def __init__(
        self,
        db: sqlite3.Connection,
        points: Mapping[int, float],
        *,
        where: str,
        values: Mapping[str, str | int],
        words: Iterable[str],
        weights: Mapping[str, float],
    ) -> None:
        """Look around the best of the entries that have `points`; `where` with `values` filters what is found there."""
        self._db = db
        self._where = where
        self._values = {"hits": json.dumps(self._best_of(points)), **values}
        self._words = words
        self._weights = weights

    def _best_of(self, points: Mapping[int, float]) -> Sequence[int]:
        """Return the keys of the best entries; of equals those that come first in the order of answers."""
        least = min(sorted(points.values(), reverse=True)[:_MOST_TELLING], default=0.0)
        keys = json.dumps([key for key in points if points[key] >= least])
        # a key says only when a note was last read
        rows = self._db.execute(
            "SELECT id FROM entry WHERE id IN (SELECT value FROM json_each(?)) ORDER BY date DESC, file, line", (keys,)
        )
        return sorted((key for (key,) in rows), key=lambda key: -points[key])[:_MOST_TELLING]

    def link_names(self, view: SnippetView) -> Mapping[int, LinkName]:
        """Return what the best hits call those that they link to, as far as the query says it, by their keys.

        The text of a link names its target in the words of who links there (Craswell, Hawking and Robertson,
        "Effective Site Finding using Link Anchor Information", SIGIR 2001).
        """
        rows = self._db.execute(
            "SELECT entry.id, link.text, content.named FROM entry AS hit "
            "JOIN link ON link.note = hit.note AND link.source = hit.node JOIN entry ON entry.node = link.dest "
            "JOIN content ON content.id = entry.id "
            f"WHERE hit.id IN (SELECT value FROM json_each(:hits)) AND link.text != '' AND {self._where} "
            "GROUP BY entry.id, link.text ORDER BY count(DISTINCT link.note) DESC, link.text",
            self._values,
        )
        names: dict[int, LinkName] = {}
        for key, text, named_terms in rows:
            terms = view.terms_in_name(text)
            weight = self.weight_of(terms.difference(named_terms.split(SEPARATOR)))
            if weight > names.get(key, NO_NAME).weight:
                names[key] = LinkName(text, terms, weight)
        return names

    @cached_property
    def headings(self) -> Mapping[int, HeadingTerms]:
        """The headings in the best hits' notes, in order, with words of the query that the titles above them lack."""
        rows = self._db.execute(
            "SELECT id, above FROM entry JOIN content USING(id) WHERE above != '' AND note IN "
            f"(SELECT note FROM entry WHERE id IN (SELECT value FROM json_each(:hits))) AND {self._where} "
            "ORDER BY file, line",
            self._values,
        )
        above = {key: terms for key, text in rows if (terms := self._weights.keys() & set(text.split(SEPARATOR)))}
        held = self._terms_held(list(above))
        return {
            key: HeadingTerms(held[key], terms - held[key])
            for key, terms in above.items()
            if key in held and held[key] - terms
        }

    def weight_of(self, terms: Iterable[str]) -> float:
        """Return the weight of some terms together."""
        # a set has another order in each process, which a plain sum of floats would show
        return fsum(self._weights.get(term, 0.0) for term in terms)

    def _terms_held(self, keys: Sequence[int]) -> Mapping[int, Set[str]]:
        """Return which of the query's terms those of `keys` hold that hold any."""
        held: dict[int, set[str]] = {}
        for word in dict.fromkeys(self._words if keys else ()):
            rows = self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
                (" AND ".join(word_expressions([word])), json.dumps(keys)),
            )
            for (key,) in rows:
                held.setdefault(key, set()).update(word_terms(word))
        return held
