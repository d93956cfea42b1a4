"""Snippets of entries that match a query: the best lines, and the reasons for the rank."""

import re
import sqlite3
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest
from math import fsum

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import fold_text
from roamkb.core.text import fold_to_line
from roamkb.core.text import shorten_title
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.index.schema import SEPARATOR
from roamkb.kb.search.index.schema import line_numbers
from roamkb.org.excerpt import excerpt_of
from roamkb.org.excerpt import is_prose
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

#: What a phrase is worth to a line: more than any words.
_PHRASE_WORTH = 100.0
#: The rule below a table's header.
_TABLE_RULE = lazily(r"\s*\|[-+]")
#: Letters of a note's title where it is named beside another.
_LONGEST_NAME = 80
#: Lines for programs: `#+keyword: …` and a drawer's; and our links, which say another note's fact.
_MACHINERY = lazily(r"\s*(?:#\+\S+?:|:\S+?:(?:\s|$)|- (?:related|superseded by) :: \[\[id:)")


class SnippetView:
    """The view of an index's entries for the words and phrases of one query."""

    def __init__(
        self,
        db: sqlite3.Connection,
        *,
        words: Sequence[str],
        phrases: Sequence[str],
        weights: Mapping[str, float],
        by_meaning: bool = False,
    ) -> None:
        """Store the query's words and phrases, the weight of each term, and whether a model finds what holds none."""
        self._by_meaning = by_meaning
        self._db = db
        self._words = words
        self._phrases = phrases
        self._weights = weights

    def passage_hit(
        self, key: int, points: float, *, source: int | None = None, signals: RankSignals | None = None
    ) -> PassageHit:
        """Return one entry as a hit; `source` is an entry that links to it."""
        node, file, line, date, replaced, numbers, title, alias, tags, body = self._db.execute(
            "SELECT node, file, line, date, replaced, numbers, title, alias, tags, body "
            "FROM entry JOIN content USING(id) WHERE id = ?",
            (key,),
        ).fetchone()
        lines = self._matching_lines(list(zip(line_numbers(numbers), body.split("\n"), strict=False)))
        if lines and _MACHINERY.match(lines[0][1]) and self._has_term(f"{title} {alias}"):
            # the name says more than an exporter's keyword, or a link to another note
            lines = ()
        return PassageHit(
            id=node,
            title=title,
            aliases=_split_names(alias),
            file=file,
            line=line,
            tags=_split_names(tags),
            date=date,
            score=round(points, 4),
            why=tuple(self._match_reasons(title, alias, tags, bool(lines), bool(replaced), source))
            or ("meaning",) * self._by_meaning,
            lines=lines,
            signals=signals,
        )

    def _match_reasons(
        self, title: str, alias: str, tags: str, in_text: bool, replaced: bool, source: int | None
    ) -> Iterator[str]:
        if self._phrases:
            yield "phrase"
        for name, text in (("title", title), ("alias", alias), ("tag", tags)):
            if text and self._has_term(text):
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
            title, node = (clip_text(shorten_title(text), _LONGEST_NAME) for text in row)
            yield f"linked from {title or node}"

    @cached_property
    def _query_terms(self) -> frozenset[str]:
        return frozenset(term for word in self._words for term in terms_of(word)) | self._weights.keys()

    @cached_property
    def _likely_pattern(self) -> re.Pattern[str] | None:
        """A pattern that matches every line and word with a term: stems are beginnings, but for the last letter."""
        starts = {term[:-1] if len(term) > 3 and term.isascii() else term for term in self._query_terms}
        starts |= {phrase.partition(" ")[0] for phrase in self._phrases}
        # the stem of `way` is `wai`
        starts |= {f"{term[:-1]}y" for term in self._query_terms if len(term) == 3 and term.endswith("i")}
        return re.compile("|".join(map(re.escape, sorted(starts)))) if starts else None

    @cached_property
    def _likely_word_pattern(self) -> re.Pattern[str]:
        """A pattern that matches the likely words of a folded ASCII line, each as a whole."""
        likely = self._likely_pattern.pattern if self._likely_pattern else r"(?!)"
        return re.compile(rf"\b\w*(?:{likely})\w*", re.ASCII)

    def _matching_lines(self, numbered: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        """Return the lines that hold a phrase or a term, those with the heaviest terms first."""
        if self._likely_pattern is None:
            return ()
        rated = [
            (worth, number, line, below)
            for (number, line), (_, below) in zip_longest(numbered, numbered[1:], fillvalue=(0, ""))
            if (worth := self._line_worth(line))
        ]
        best = sorted(
            (_MACHINERY.match(line) is not None, not self._is_saying(line, below, worth), -worth, number, line)
            for worth, number, line, below in rated
        )
        return tuple((number, line) for *_, number, line in best)

    def _is_saying(self, line: str, below: str, worth: float) -> bool:
        """Return whether a line of some worth says a term or a phrase, and doesn't only refer to it or head a table."""
        if worth >= _PHRASE_WORTH:
            return True
        if _TABLE_RULE.match(below) or not is_prose(line):
            return False
        return "[[" not in line or self._line_worth(excerpt_of(line)) > 0

    def _has_term(self, text: str) -> bool:
        """Say whether `text` holds any of the terms."""
        return any(map(self._terms_in_word, split_words(text)))

    def _terms_in_word(self, word: str) -> frozenset[str]:
        """Return the query's terms that a word stands for, cached since lines repeat their words."""
        matched_terms = self._terms_by_word.get(word)
        if matched_terms is None:
            # most words of a likely line are no likely words, and to find a stem takes twenty times as long
            is_likely = self._likely_pattern is not None and self._likely_pattern.search(fold_text(word))
            matched_terms = self._query_terms.intersection(terms_of(word)) if is_likely else frozenset()
            self._terms_by_word[word] = matched_terms
        return matched_terms

    @cached_property
    def _terms_by_word(self) -> dict[str, frozenset[str]]:
        return {}

    def _likely_words(self, line: str) -> Sequence[str]:
        """Return the words of a line that may stand for a term, and perhaps others."""
        if not line.isascii():
            return split_words(line)
        # one look at the line, in place of one at each of its words
        found = self._likely_word_pattern.finditer(line.lower())
        return [line[word.start() : word.end()] for word in found]

    def _line_worth(self, line: str) -> float:
        line_terms = frozenset().union(*map(self._terms_in_word, self._likely_words(line)))
        phrases = sum(phrase in fold_to_line(line) for phrase in self._phrases)
        # a set has another order in each process, which a plain sum of floats would show
        return (
            fsum(self._weights.get(term, 0.0) for term in line_terms) + 0.1 * len(line_terms) + _PHRASE_WORTH * phrases
        )


def _split_names(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(SEPARATOR)) if joined else ()
