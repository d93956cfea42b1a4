"""Snippets of entries that match a query: the best lines, and the reasons for the rank."""

import re
import sqlite3
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from math import fsum

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import fold_text
from roamkb.core.text import fold_to_line
from roamkb.core.text import shorten_title
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.index.schema import IS_REPLACED
from roamkb.kb.search.stored_text import SEPARATOR
from roamkb.kb.search.stored_text import line_numbers
from roamkb.org.excerpt import excerpt_of
from roamkb.org.excerpt import is_prose
from roamkb.text.inflection import SHORTEST_COMMON
from roamkb.text.inflection import form_beginning
from roamkb.text.inflection import is_form
from roamkb.text.inflection import is_in_english
from roamkb.text.initials import initials_of
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stands_apart
from roamkb.text.tokenize import stem_word
from roamkb.text.tokenize import terms_of

#: What a phrase is worth to a line: more than any words.
_PHRASE_WORTH = 100.0
#: What it is worth to have a word as it was asked for, and not only one of its stem: less than any other word.
_SPELT_WORTH = 0.05
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
        inflected: Sequence[str] = (),
    ) -> None:
        """Store the query's words and phrases, the weight of each term, and whether a model finds what holds none.

        Those `inflected` of the words have the forms of other languages than English, too.
        """
        self._inflected = inflected
        #: Whether the entry that is looked at is in English; None before it matters.
        self._is_english: bool | None = None
        self._body = ""
        self._by_meaning = by_meaning
        self._db = db
        self._words = words
        self._phrases = phrases
        self._weights = weights

    def passage_hit(
        self,
        key: int,
        points: float,
        *,
        source: int | None = None,
        link_text: str = "",
        signals: RankSignals | None = None,
    ) -> PassageHit:
        """Return one entry as a hit; `source` is an entry that links to it, `link_text` how one calls it there."""
        node, file, line, date, project, replaced, numbers, title, outline, alias, tags, body = self._db.execute(
            f"SELECT node, file, line, date, project, {IS_REPLACED}, numbers, title, outline, alias, tags, body "
            "FROM entry JOIN content USING(id) WHERE id = ?",
            (key,),
        ).fetchone()
        self._body, self._is_english = body, None
        lines = self._matching_lines(list(zip(line_numbers(numbers), body.split("\n"), strict=False)))
        if lines and _MACHINERY.match(lines[0][1]) and self._has_term(f"{title} {alias}"):
            # the name says more than an exporter's keyword, or a link to another note
            lines = ()
        initials, alias_initials = self._initials_said(title), self._initials_said(*_split_names(alias))
        names = f"{title} {initials}", f"{alias} {alias_initials}", link_text, tags
        return PassageHit(
            id=node,
            title=title,
            outline=outline,
            aliases=_split_names(alias),
            link_text=link_text,
            initials=initials or alias_initials,
            file=file,
            line=line,
            tags=_split_names(tags),
            date=date,
            project=project,
            score=round(points, 4),
            why=tuple(self._match_reasons(names, bool(lines), bool(replaced), source))
            or ("meaning",) * self._by_meaning,
            lines=lines,
            signals=signals,
        )

    def _initials_said(self, *names: str) -> str:
        """Return the initials of the names that the query says, or an empty text."""
        said = (letters for name in names for letters in initials_of(name) if letters in self._spellings)
        return next(said, "")

    def _match_reasons(self, names: Sequence[str], in_text: bool, replaced: bool, source: int | None) -> Iterator[str]:
        if self._phrases:
            yield "phrase"
        for name, text in zip(("title", "alias", "link", "tag"), names, strict=True):
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
    def _spellings(self) -> frozenset[str]:
        return frozenset(map(str.lower, self._words))

    @cached_property
    def _likely_pattern(self) -> re.Pattern[str] | None:
        """A pattern that matches every line and word with a term: stems are beginnings, but for the last letter."""
        starts = {term[:-1] if len(term) > 3 and term.isascii() else term for term in self._query_terms}
        starts |= {phrase.partition(" ")[0] for phrase in self._phrases}
        # the stem of `way` is `wai`
        starts |= {f"{term[:-1]}y" for term in self._query_terms if len(term) == 3 and term.endswith("i")}
        starts |= {form_beginning(fold_text(word)) for word in self._inflected}
        return re.compile("|".join(map(re.escape, sorted(starts)))) if starts else None

    @cached_property
    def _likely_word_pattern(self) -> re.Pattern[str]:
        """A pattern that matches the likely words of a folded ASCII text, from the first of its stems in each on."""
        likely = self._likely_pattern.pattern if self._likely_pattern else r"(?!)"
        return re.compile(rf"(?:{likely})\w*", re.ASCII)

    def _matching_lines(self, numbered: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        """Return the lines that hold a phrase or a term, those with the heaviest terms first."""
        if self._likely_pattern is None:
            return ()
        below = [line for _, line in numbered[1:]] + [""]
        best = sorted(
            (_MACHINERY.match(line) is not None, not self._is_saying(line, below[place], worth), -worth, number, line)
            for place, worth in self._rate_lines([line for _, line in numbered])
            for number, line in (numbered[place],)
        )
        return tuple((number, line) for *_, number, line in best)

    def _rate_lines(self, lines: Sequence[str]) -> Iterator[tuple[int, float]]:
        """Yield the place of each line that holds a phrase or a term, and its worth."""
        if self._phrases:
            words_by_place = {place: self._likely_words(line) for place, line in enumerate(lines)}
        else:
            # few lines hold a likely word, and one look at all takes a tenth of the time of one at each
            plain = "\n".join(line if line.isascii() else "" for line in lines)
            words_by_place = dict(self._likely_words_by_line(plain))
            words_by_place |= {
                place: split_words(line)
                for place, line in enumerate(lines)
                if not line.isascii() and self._likely_pattern and self._likely_pattern.search(fold_text(line))
            }
        for place, words in words_by_place.items():
            if worth := self._worth_of(words, lines[place]):
                yield place, worth

    def _likely_words_by_line(self, text: str) -> Mapping[int, Sequence[str]]:
        """Return the likely words of an ASCII text by the place of their line; lines without any are left out."""
        words_by_place: dict[int, list[str]] = {}
        place = counted = 0
        for match in self._likely_word_pattern.finditer(text.lower()):
            begin, end = match.span()
            place += text.count("\n", counted, begin)
            counted = begin
            while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
                begin -= 1
            words_by_place.setdefault(place, []).append(text[begin:end])
        return words_by_place

    def _is_saying(self, line: str, below: str, worth: float) -> bool:
        """Return whether a line of some worth says a term or a phrase, and doesn't only refer to it or head a table."""
        if worth >= _PHRASE_WORTH:
            return True
        if _TABLE_RULE.match(below) or not is_prose(line):
            return False
        if "[[" not in line:
            return True
        excerpt = excerpt_of(line)
        return self._worth_of(self._likely_words(excerpt), excerpt) > 0

    def terms_in_name(self, name: str) -> frozenset[str]:
        """Return the query's terms in what something is called; none where other words make up most of that."""
        self._body, self._is_english = name, None
        terms_by_word = list(map(self._terms_in_word, split_words(name)))
        is_about = 2 * sum(map(bool, terms_by_word)) >= len(terms_by_word)
        return frozenset().union(*terms_by_word) if is_about else frozenset()

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
            if is_likely and not matched_terms:
                matched_terms = self._inflected_terms(word)
            self._terms_by_word[word] = matched_terms
        if matched_terms and word in self._foreign_forms and self._is_in_english():
            return frozenset()
        return matched_terms

    def _inflected_terms(self, word: str) -> frozenset[str]:
        """Return the terms of which a word is a form, if it is one of another language than English."""
        folded = fold_text(word)
        others = self._inflected_words.get(folded[:SHORTEST_COMMON], ())
        terms = frozenset(stem_word(other) for other in others if is_form(folded, fold_text(other)))
        if terms and word.isascii():
            self._foreign_forms.add(word)
        return terms

    @cached_property
    def _foreign_forms(self) -> set[str]:
        """The words that are forms of another only where the text isn't in English."""
        return set()

    def _is_in_english(self) -> bool:
        if self._is_english is None:
            self._is_english = is_in_english(self._body)
        return self._is_english

    @cached_property
    def _inflected_words(self) -> Mapping[str, Sequence[str]]:
        """The words that have forms in other languages, by the letters that these begin with."""
        words_by_beginning: dict[str, list[str]] = {}
        for word in self._inflected:
            words_by_beginning.setdefault(fold_text(word)[:SHORTEST_COMMON], []).append(word)
        return words_by_beginning

    @cached_property
    def _terms_by_word(self) -> dict[str, frozenset[str]]:
        return {}

    def _likely_words(self, line: str) -> Sequence[str]:
        """Return the words of a line that may stand for a term, and perhaps others."""
        return self._likely_words_by_line(line).get(0, ()) if line.isascii() else split_words(line)

    def _worth_of(self, words: Sequence[str], line: str) -> float:
        """Return what a line is worth that has those likely words."""
        line_terms = frozenset().union(*map(self._terms_in_word, words))
        is_spelt_so = any(word.lower() in self._spellings for word in words)
        phrases = sum(stands_apart(phrase, fold_to_line(line)) for phrase in self._phrases)
        # a set has another order in each process, which a plain sum of floats would show
        return (
            fsum(self._weights.get(term, 0.0) for term in line_terms)
            + 0.1 * len(line_terms)
            + (_SPELT_WORTH if is_spelt_so and line_terms else 0.0)
            + _PHRASE_WORTH * phrases
        )


def _split_names(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(SEPARATOR)) if joined else ()
