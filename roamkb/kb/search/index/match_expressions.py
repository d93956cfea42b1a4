"""A query as SQLite is asked it: expressions for FTS5, and the filters as SQL."""

import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import fold_text
from roamkb.core.text import strip_points
from roamkb.kb.search import filters
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import is_plain_word
from roamkb.kb.search.stored_text import tag_set
from roamkb.text import language
from roamkb.text.inflection import form_beginning
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word

#: Letters of a word's part that is searched as well.
_SHORTEST_PART = 3


class WantedEntry(NamedTuple):
    """One expression that entries may match, with its cost."""

    #: In FTS5's language.
    expression: str
    #: What it costs is how many entries hold this.
    term: str
    #: The word that it is; empty for a group of letters.
    word: str = ""


def word_terms(word: str) -> list[str]:
    """Return the terms that an entry must hold for a word."""
    return letter_pairs(word) if UNSPACED.match(word) else [stem_word(word)]


def word_spellings(word: str) -> list[str]:
    """Return a word and its parts that are searched as well: of `log4j` the `log`, of `x86` none."""
    # SQLite itself takes an underscore for a blank
    parts = [] if "_" in word else identifier_parts(word)
    return [strip_points(word), *(part for part in parts if len(part) >= _SHORTEST_PART and not part.isdigit())]


def word_expressions(word_list: Iterable[str]) -> list[str]:
    """Return an expression for each word, none twice."""
    expressions: list[str] = []
    for word in word_list:
        if UNSPACED.match(word):
            groups = (group for group in language.unspaced_groups(word) if not group.startswith("x"))
            expressions += [entry.expression for entry in hidden_entries(groups)]
        else:
            expressions.append(quote_word(strip_points(word)))
    return list(dict.fromkeys(expressions))


def quote_word(word: str) -> str:
    """Return `word` quoted for FTS5, as a plain word; words hold no quotes."""
    return f'"{word}"'


def hidden_entries(groups: Iterable[str]) -> list[WantedEntry]:
    """Return what to ask for groups of letters, which stand in a column of their own."""
    # a letter over and over is asked for once: SQLite counts each time it stands there for each
    return [WantedEntry(f"hidden : {quote_word(group)}", group) for group in dict.fromkeys(groups)]


def likely_forms(word: str) -> str:
    """Return an expression for all that may be a form of a word of letters alone."""
    return f"{quote_word(word)} OR {quote_word(form_beginning(fold_text(word)))}*"


_HAS_TAG = "EXISTS (SELECT 1 FROM json_each({}) WHERE instr(entry.tag_set, value))"
#: Of the entries with a word's stem or beginning those that hold the word; the functions are roamkb's.
_HOLDS_FORM = (
    "entry.id NOT IN (SELECT words.rowid FROM words JOIN content ON content.id = words.rowid "
    "WHERE words MATCH likely_forms({0}) "
    "AND holds_form(content.title || ' ' || content.alias || ' ' || content.tags || ' ' || content.body, {0}))"
)
_HAS_REF = "entry.node IN (SELECT node FROM reference WHERE is_own AND instr(type || ':' || target, {}))"
_REFERS_TO = "entry.node IN (SELECT node FROM reference WHERE type = 'cite' AND target = {})"


def sql_filters(query: Query) -> tuple[str, dict[str, str | int]]:
    """Return the query's filters as SQL, and their values."""
    clauses = ["TRUE"]
    values: dict[str, str | int] = {}
    for clause, value in _filter_clauses(query):
        name = f"v{len(values)}"
        clauses.append(clause.format(f":{name}"))
        values[name] = value if isinstance(value, int) else value.encode("utf-8", "replace").decode()
    return " AND ".join(clauses), values


def _filter_clauses(query: Query) -> Iterator[tuple[str, str | int]]:
    """Yield the condition of each filter, with `{}` where its value stands, and the value."""
    for clause, filter_values in (
        (_HAS_TAG, map(_tag_sets, query.tags)),
        (f"NOT {_HAS_TAG}", map(_tag_sets, query.without_tags)),
        ("entry.node IN (SELECT value FROM json_each({}))", (_json_list(query.ids),) if query.ids else ()),
        (_HAS_REF, query.refs),
        (_REFERS_TO, query.cited),
        ("entry.date >= {}", (query.since,) if query.since is not None else ()),
        ("entry.date != '' AND entry.date < {}", (query.before,) if query.before is not None else ()),
        (
            "entry.id NOT IN (SELECT rowid FROM words WHERE words MATCH {})",
            filter(None, (adjacent_expression(piece) for piece in query.without if not is_plain_word(piece))),
        ),
        (_HOLDS_FORM, filter(is_plain_word, query.without)),
    ):
        yield from ((clause, value) for value in filter_values)
    if query.by_agent is not None:
        yield "entry.agent = {}", int(query.by_agent)


def _tag_sets(tag: str) -> str:
    """Return the sets of one tag to look for, one for each spelling."""
    return _json_list(list(dict.fromkeys(tag_set([spelling]) for spelling in filters.tag_spellings(tag))))


def adjacent_expression(piece: str) -> str:
    """Return the expression for a piece of text: its words side by side."""
    piece_words = split_words(piece)
    if any(UNSPACED.match(word) for word in piece_words):
        return " AND ".join(word_expressions(piece_words))
    return quote_word(" ".join(piece_words)) if piece_words else ""


def _json_list(values: Sequence[str]) -> str:
    return json.dumps([value.encode("utf-8", "replace").decode() for value in values])
