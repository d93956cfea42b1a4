"""What is shown of an entry that answers a query: the lines that tell, and what it owes its place to."""

import re
import sqlite3
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.core.text import flat
from roamkb.core.text import folded
from roamkb.core.text import headline
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index.schema import SEPARATOR
from roamkb.kb.search.index.schema import line_numbers
from roamkb.text.tokenize import terms_of
from roamkb.text.tokenize import words

#: Letters of a note's title where it is named beside another.
_LONGEST_NAME = 80
#: Lines for programs: `#+keyword: …` and a drawer's; and our links, which say another note's fact.
_MACHINERY = lazily(r"\s*(?:#\+\S+?:|:\S+?:(?:\s|$)|- (?:related|superseded by) :: \[\[id:)")


class SnippetView:
    """The entries of an index, as a query's words and phrases have them shown."""

    def __init__(
        self,
        db: sqlite3.Connection,
        *,
        words: Sequence[str],
        phrases: Sequence[str],
        weights: Mapping[str, float],
    ) -> None:
        """Take what was asked for, and the weight of each term that the words stand for."""
        self._db = db
        self._words = words
        self._phrases = phrases
        self._weights = weights

    def answer(self, key: int, points: float, *, source: int | None = None) -> PassageHit:
        """Return one entry as it is shown; `source` links to it."""
        node, file, line, date, replaced, numbers, title, alias, tags, body = self._db.execute(
            "SELECT node, file, line, date, replaced, numbers, title, alias, tags, body "
            "FROM entry JOIN content USING(id) WHERE id = ?",
            (key,),
        ).fetchone()
        lines = self._lines(list(zip(line_numbers(numbers), body.split("\n"), strict=False)))
        if lines and _MACHINERY.match(lines[0][1]) and self._tells(f"{title} {alias}"):
            # the name says more than an exporter's keyword, or a link to another note
            lines = ()
        return PassageHit(
            id=node,
            title=title,
            file=file,
            line=line,
            tags=_split(tags),
            date=date,
            score=round(points, 4),
            why=tuple(self._why(title, alias, tags, bool(lines), bool(replaced), source)),
            lines=lines,
        )

    def _why(
        self, title: str, alias: str, tags: str, in_text: bool, replaced: bool, source: int | None
    ) -> Iterator[str]:
        if self._phrases:
            yield "phrase"
        for name, text in (("title", title), ("alias", alias), ("tag", tags)):
            if text and self._tells(text):
                yield name
        if in_text:
            yield "text"
        if replaced:
            yield "superseded"
        yield from self._linked_from(source)

    def _linked_from(self, source: int | None) -> Iterator[str]:
        if source is None:
            return
        row = self._db.execute(
            "SELECT title, node FROM content JOIN entry USING(id) WHERE id = ?", (source,)
        ).fetchone()
        if row is not None:
            title, node = (clipped(headline(text), _LONGEST_NAME) for text in row)
            yield f"linked from {title or node}"

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(term for word in self._words for term in terms_of(word)) | self._weights.keys()

    @cached_property
    def _likely(self) -> re.Pattern[str] | None:
        """What every line matches that holds a term: stems are beginnings, but for their last letter."""
        starts = {term[:-1] if len(term) > 3 and term.isascii() else term for term in self._terms}
        starts |= {phrase.partition(" ")[0] for phrase in self._phrases}
        # the stem of `way` is `wai`
        starts |= {f"{term[:-1]}y" for term in self._terms if len(term) == 3 and term.endswith("i")}
        return re.compile("|".join(map(re.escape, sorted(starts)))) if starts else None

    def _lines(self, numbered: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        """Return the lines that hold a phrase or a term, those with the most telling ones first."""
        if self._likely is None:
            return ()
        likely = [(number, line) for number, line in numbered if self._likely.search(folded(line))]
        rated = [(self._worth(line), number, line) for number, line in likely]
        best = sorted(
            (_MACHINERY.match(line) is not None, -worth, number, line)
            for worth, number, line in rated
            if worth
        )
        return tuple((number, line) for *_, number, line in best)

    def _tells(self, text: str) -> bool:
        """Say whether `text` holds any of the terms."""
        return any(map(self._told, words(text)))

    def _told(self, word: str) -> frozenset[str]:
        """Return which of the terms a word stands for; lines repeat their words."""
        told = self._known.get(word)
        if told is None:
            told = self._known[word] = self._terms.intersection(terms_of(word))
        return told

    @cached_property
    def _known(self) -> dict[str, frozenset[str]]:
        return {}

    def _worth(self, line: str) -> float:
        held = frozenset().union(*map(self._told, words(line)))
        phrases = sum(phrase in flat(line) for phrase in self._phrases)
        return sum(self._weights.get(term, 0.0) for term in held) + 0.1 * len(held) + 100.0 * phrases


def _split(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(SEPARATOR)) if joined else ()
