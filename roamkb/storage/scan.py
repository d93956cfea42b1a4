"""Search by reading the plain files: always right, never stale, and fast enough for a few thousand notes.

The files are read once; only those that hold a letter sequence of some term are parsed.
"""

import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass

from roamkb.core.model import Note
from roamkb.core.model import Unreadable
from roamkb.core.passages import Passage
from roamkb.core.passages import is_agent_node
from roamkb.core.passages import passages
from roamkb.core.query import Query
from roamkb.core.ranking import Collection
from roamkb.core.ranking import Found
from roamkb.core.ranking import mean
from roamkb.core.ranking import ranked
from roamkb.core.text import folded
from roamkb.core.tokens import UNSPACED
from roamkb.core.tokens import terms
from roamkb.storage.nodes import Notes

#: Porter's rules change at most the last letter of what is left of a word ("happy", "happi").
_CHANGED = 1
#: Characters a word, for a length that costs nothing to know.
_WORD = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One passage that a query found."""

    passage: Passage
    found: Found
    score: float
    #: Lines that hold a term, best first; empty where only title, alias or tags do.
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a query found, best first, and what could not be read."""

    answers: tuple[Answer, ...]
    skipped: tuple[Unreadable, ...]
    conflict_copies: int


class Scan:
    """The finder that reads the files themselves."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def find(self, query: Query) -> Answers:
        """Return every passage that answers `query`, best first."""
        reading = _Reading(self._notes, query)
        matches = [match for note in reading.candidates() for match in reading.matches(note)]
        collection = Collection(
            size=max(len(self._notes.walk.files), 1),
            holding=reading.holding,
            mean_length=mean(reading.lengths),
        )
        by_found = {id(found): (passage, lines) for passage, found, lines in matches}
        answers = []
        for found, points in ranked((found for _, found, _ in matches), query, collection):
            passage, lines = by_found[id(found)]
            answers.append(Answer(passage=passage, found=found, score=round(points, 4), lines=lines))
        return Answers(
            answers=tuple(answers),
            skipped=(*self._notes.walk.unreadable, *reading.skipped),
            conflict_copies=len(self._notes.walk.conflict_copies),
        )


_Match = tuple[Passage, Found, tuple[tuple[int, str], ...]]


class _Reading:
    """One pass over the files for one query."""

    def __init__(self, notes: Notes, query: Query) -> None:
        self._notes = notes
        self._query = query
        self._terms = frozenset(query.terms)
        self._likely = _pattern(query)
        self._phrases = tuple(filter(None, map(_flat, query.phrases)))
        self.holding: Counter[str] = Counter()
        self.lengths: list[float] = []
        self.skipped: list[Unreadable] = []

    def candidates(self) -> Iterator[Note]:
        """Yield the notes whose text may hold an answer."""
        for file in self._notes.walk.files:
            text = self._notes.text(file)
            if isinstance(text, Unreadable):
                self.skipped.append(text)
                continue
            self.lengths.append(len(text) / _WORD)
            if (
                self._likely is None
                or self._likely.search(folded(text))
                or self._likely.search(folded(file.file))
            ):
                note = self._notes.parse(file, text)
                if note.fault:
                    self.skipped.append(Unreadable(path=file.path, reason=note.fault))
                yield note

    def matches(self, note: Note) -> Iterator[_Match]:
        """Yield the passages of `note` that answer the query."""
        held: set[str] = set()
        for passage in passages(note):
            match = self._match(passage)
            held |= match[1].matched
            if self._is_wanted(*match):
                yield match
        self.holding.update(held)

    def _match(self, passage: Passage) -> _Match:
        in_text: Counter[str] = Counter()
        lines: list[tuple[int, int, str]] = []
        for number, line in passage.lines:
            if self._terms and self._likely and self._likely.search(folded(line)):
                hits = [term for term in terms(line) if term in self._terms]
                if hits:
                    in_text.update(hits)
                    lines.append((-len(set(hits)), number, line))
        names = (passage.title, *(passage.node.aliases if passage.node else ()))
        whole = _flat(" ".join((*names, *(line for _, line in passage.lines)))) if self._phrases else ""
        flat_names = [_flat(name) for name in names] if self._phrases else []
        found = Found(
            in_title=self._terms & frozenset(terms(passage.title)),
            in_alias=self._terms & frozenset(term for name in names[1:] for term in terms(name)),
            in_tags=self._terms & frozenset(term for tag in passage.tags for term in terms(tag)),
            in_text=in_text,
            length=sum(len(line) for _, line in passage.lines) / _WORD,
            phrases_in_title=sum(phrase in name for phrase in self._phrases for name in flat_names),
            has_phrases=bool(self._phrases) and all(phrase in whole for phrase in self._phrases),
            date=passage.date,
        )
        best = tuple((number, line) for _, number, line in sorted(lines))
        return passage, found, best or self._phrase_lines(passage)

    def _phrase_lines(self, passage: Passage) -> tuple[tuple[int, str], ...]:
        if not self._phrases:
            return ()
        return tuple(
            (number, line) for number, line in passage.lines if any(p in _flat(line) for p in self._phrases)
        )

    def _is_wanted(self, passage: Passage, found: Found, _: object) -> bool:
        query = self._query
        if self._phrases and not found.has_phrases:
            return False
        if query.terms and not found.matched and not self._phrases:
            return False
        return passes_filters(passage, query)


def passes_filters(passage: Passage, query: Query) -> bool:
    """Say whether the passage is one that the query's filters let through."""
    tags = frozenset(folded(tag) for tag in passage.tags)
    node = passage.node
    return (
        all(folded(tag) in tags for tag in query.tags)
        and not any(folded(tag) in tags for tag in query.without_tags)
        and (query.by_agent is None or query.by_agent == (node is not None and is_agent_passage(passage)))
        and (not query.ids or (node is not None and node.id in query.ids))
        and (query.since is None or passage.date >= query.since)
        and (query.before is None or (passage.date != "" and passage.date < query.before))
        and not (query.without and _holds_any(passage, query.without))
    )


def is_agent_passage(passage: Passage) -> bool:
    """Say whether an agent wrote it: its node, or the file node that it stands in."""
    file_node = next((node for node in passage.note.nodes if not node.level), None)
    return file_node is not None and is_agent_node(passage.note, file_node)


def _holds_any(passage: Passage, unwanted: Iterable[str]) -> bool:
    names = (passage.title, *passage.tags, *(passage.node.aliases if passage.node else ()))
    text = "\n".join((*names, *(line for _, line in passage.lines)))
    held = None
    for piece in unwanted:
        if " " in piece:
            if _flat(piece) in _flat(text):
                return True
            continue
        held = held if held is not None else frozenset(terms(text))
        if frozenset(terms(piece)) <= held:
            return True
    return False


def _flat(text: str) -> str:
    return " ".join(folded(text).split())


def _pattern(query: Query) -> re.Pattern[str] | None:
    """Return what some line of every candidate matches; None where every note is one."""
    if query.is_empty:
        return None
    starts = {_start(term) for term in query.terms}
    starts |= {_flat(phrase).partition(" ")[0] for phrase in query.phrases}
    return re.compile("|".join(re.escape(start) for start in sorted(starts, key=len)))


def _start(term: str) -> str:
    """Return letters that every word with this stem begins with."""
    if UNSPACED.match(term) or len(term) < 4 or not (term.isascii() and term.isalpha()):
        return term
    return term[:-_CHANGED]
