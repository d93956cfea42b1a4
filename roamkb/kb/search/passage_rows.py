"""Passages as an index stores them: what is compared with queries, what is shown, and what only the index sees."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

from roamkb.core.model import OUTLINE_STEP
from roamkb.core.model import Node
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_to_line
from roamkb.core.text import strip_points
from roamkb.kb.notes import passages
from roamkb.kb.search import filters
from roamkb.kb.search.stored_text import SEPARATOR
from roamkb.kb.search.stored_text import format_ranges
from roamkb.kb.search.stored_text import storable_text
from roamkb.kb.search.stored_text import tag_set
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.text import language
from roamkb.text.initials import initials_of
from roamkb.text.store.word_vector_file import word_table
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import text_terms
from roamkb.text.tokenize import words_beside_unspaced

#: Characters of a title or an alias, and of all aliases of a node, by which it is found and shown.
LONGEST_NAME = 1_000
_MOST_NAMES = 10_000
#: Of the text of one node; more is somebody's data, and all questions would have to read it.
MOST_TEXT = 500_000
#: Of a line, which is shown as a whole; a longer one is several.
_LONGEST_LINE = 2_000
#: The text of a numbered line.
_TEXT = itemgetter(1)
#: Characters of tags that a heading's entry keeps, far above what anybody writes: each inherits all above it.
_MOST_TAG_TEXT = 1000
#: What `write` says in the drawer of where a node comes from: a project's name tells nothing of what it says.
_PROVENANCE = lazily(r":(?:CREATED|AGENT|PROJECT|SOURCE):\s")
#: Words that are enough to tell a language by, and a subject: with those of a longer text, sets of questions about
#: long messages, sessions and abstracts are answered no better (tests/benchmarks/recall.py), and of messages worse.
_TELLING = 400
#: Words whose terms are remembered, and letters of each.
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """A passage as a table row."""

    line: int
    node: str | None
    date: str
    is_agent: bool
    #: The project that an agent wrote it in; empty for a human's.
    project: str
    #: Words that count for its length.
    length: int
    tag_set: str
    #: The id of the node that replaced it, as it says itself; None where none did.
    successor: str | None
    #: What it is called, folded; the terms of that, of its tags, and of the titles above a heading.
    names: tuple[str, str, str, str]
    #: The titles above a heading, as they are shown.
    outline: str
    numbers: str
    #: Title, aliases, tags, text, and what only the index sees.
    indexed: tuple[str, str, str, str, str]
    is_foreign: bool
    vector: bytes | None
    #: Whether only its beginning is searched by words.
    is_cut: bool


def passage_row(passage: "passages.NotePassage") -> PassageRow:
    """Return a passage as an index stores it."""
    node = passage.node
    title, aliases = passage.title[:LONGEST_NAME], SEPARATOR.join(_kept_names(node)) if node else ""
    is_agent = node is not None and filters.is_agent_passage(passage)
    lines = _kept_lines(passage)
    if is_agent:
        lines = [line for line in lines if not _PROVENANCE.match(line[1])]
    body = "\n".join(map(_TEXT, lines))
    tags = _kept_tags(passage)
    names_and_body = f"{title}\n{aliases}\n{body}"
    passage_words = split_words(names_and_body)
    is_foreign = not language.is_english(passage_words[:_TELLING])
    table = word_table()
    unspaced_tags = SEPARATOR.join(filter(UNSPACED.search, tags))
    hidden_words = (*passage_words, *split_words(unspaced_tags)) if unspaced_tags else passage_words
    hidden = _hidden_terms(f"{names_and_body}\n{unspaced_tags}", hidden_words, is_foreign)
    initials = [letters for name in (title, *aliases.split(SEPARATOR)) for letters in initials_of(name)]
    raw_columns = (title, aliases, SEPARATOR.join(tags), body, " ".join((*hidden, *initials)))
    indexed: tuple[str, str, str, str, str] = tuple(storable_text(text) for text in raw_columns)  # type: ignore[assignment]
    above = [title for title in passage.titles_above if title]
    return PassageRow(
        line=passage.first_line(),
        node=node.id if node else None,
        date=passage.date,
        is_agent=is_agent,
        project=storable_text(filters.project_of_passage(passage)[:LONGEST_NAME]) if is_agent else "",
        length=len(passage_words) + len(hidden) + len(tags),
        tag_set=tag_set(tags),
        numbers=format_ranges([number for number, _ in lines]),
        is_cut=_text_length(passage) > MOST_TEXT,
        successor=_successor_of(node) if node else None,
        names=(*_compared_names(*indexed[:3], initials), _joined_terms(" ".join(above)[:LONGEST_NAME])),
        outline=storable_text(OUTLINE_STEP.join(above)[:LONGEST_NAME]),
        indexed=indexed,
        is_foreign=is_foreign,
        # the table's words are English
        vector=table.text_vector(passage_words[:_TELLING]) if table and not is_foreign else None,
    )


def _successor_of(node: Node) -> str | None:
    """Return the id of the node that is said to replace a node; None where none is, or it names itself."""
    successor = storable_text(node.properties.get(SUPERSEDED_BY, ""))
    return successor if successor and successor != node.id else None


def _compared_names(title: str, aliases: str, tags: str, initials: Sequence[str]) -> tuple[str, str, str]:
    """Return the folded names, their terms and the tags' terms, with which queries are compared."""
    called = map(fold_to_line, (title, *aliases.split(SEPARATOR)) if aliases else (title,))
    return SEPARATOR.join(called), _joined_terms(" ".join((title, aliases, *initials))), _joined_terms(tags)


def _joined_terms(text: str) -> str:
    return storable_text(SEPARATOR.join(dict.fromkeys(text_terms(text))))


def _kept_tags(passage: "passages.NotePassage") -> Sequence[str]:
    """Return the tags to index; of a heading that inherits too many, only the nearest ones."""
    if passage.node is None or not passage.node.level:
        return passage.tags
    room = _MOST_TAG_TEXT
    for place in range(len(passage.tags) - 1, -1, -1):
        room -= len(passage.tags[place]) + 1
        if room < 0:
            return passage.tags[place + 1 :]
    return passage.tags


def _kept_names(node: Node) -> Iterator[str]:
    """Yield the aliases by which a node is found; of very many only the first."""
    room = _MOST_NAMES
    for alias in node.aliases:
        room -= len(alias)
        if room < 0:
            return
        yield alias[:LONGEST_NAME]


def _text_length(passage: "passages.NotePassage") -> int:
    return sum(map(len, map(_TEXT, passage.lines))) + len(passage.lines)


def _kept_lines(passage: "passages.NotePassage") -> Sequence[tuple[int, str]]:
    """Return the lines of a passage that are searched by words; a long line in several pieces."""
    longest = max(map(len, map(_TEXT, passage.lines)), default=0)
    is_whole = longest <= _LONGEST_LINE and _text_length(passage) < MOST_TEXT
    return passage.lines if is_whole else tuple(_cut_lines(passage.lines))


def _cut_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the pieces of lines up to a text's last letter that is searched by words."""
    room = MOST_TEXT
    for number, line in lines:
        line = line[:room]
        room -= len(line) + 1
        while len(line) > _LONGEST_LINE:
            cut = line.rfind(" ", _LONGEST_LINE // 2, _LONGEST_LINE) + 1 or _LONGEST_LINE
            yield number, line[:cut]
            line = line[cut:]
        yield number, line
        if room <= 0:
            return


def _hidden_terms(text: str, words: Sequence[str], is_foreign: bool) -> list[str]:
    """Return the extra terms for the words of a text that SQLite's own tokenizer doesn't split as needed."""
    parts = _HIDDEN_PARTS[is_foreign]
    if len(parts) > _MOST_REMEMBERED:
        parts.clear()
    terms = list(chain.from_iterable(map(parts.__getitem__, words)))
    # SQLite takes a word and the unspaced letters beside it for one word
    return terms + [strip_points(word) for word in words_beside_unspaced(text)]


class _HiddenParts(dict[str, Sequence[str]]):
    """The extra terms for each word; those of words that may come again are remembered."""

    def __init__(self, *, is_foreign: bool) -> None:
        super().__init__()
        self._is_foreign = is_foreign

    def __missing__(self, word: str) -> Sequence[str]:
        if UNSPACED.match(word):
            # a whole sentence, which comes once
            return language.unspaced_groups(word)
        terms = []
        if (plain := strip_points(word)) != word:
            # to SQLite points are letters
            terms.append(plain)
        # SQLite itself takes an underscore for a blank
        if "_" not in word:
            terms += [part for part in identifier_parts(word) if len(part) > 1]
        if self._is_foreign:
            terms += language.letter_groups(word)
        if len(word) <= _LONGEST_REMEMBERED:
            # most words have none, and share that
            self[word] = tuple(terms)
        return terms


#: For texts in English, and in other languages.
_HIDDEN_PARTS = (_HiddenParts(is_foreign=False), _HiddenParts(is_foreign=True))
