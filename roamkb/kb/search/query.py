"""The search query: words, phrases, filters; never a syntax error (docs/architecture.md)."""

import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from datetime import date
from datetime import datetime
from datetime import time
from datetime import timedelta
from itertools import pairwise

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.text import language
from roamkb.text.inflection import holds_form
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

#: One piece of a query: -"a phrase", tag:x, a word.
_PIECE = lazily(r'(-?)"([^"]*)"|(\S+)')
#: Only these prefixes are filters; `https:` or `std::move` are words like others.
_FILTER = lazily(r"(-?)(tag|is|before|after|since|id|ref|cite):(.+)", re.DOTALL | re.IGNORECASE)

_FILTER_NAMES = ("tag", "is", "before", "after", "since", "id", "ref", "cite")
#: What looks like a filter of another name.
_UNKNOWN_FILTER = lazily(r"(-?)([a-z]{3,8}):([^\s/:].*)", re.DOTALL)

#: Filters of one kind; who writes more has pasted something else than a query.
_MOST_FILTERS = 64
#: Letters of a small word in Latin letters that isn't asked for: longer ones are verbs, too, which tell a little
#: (nDCG@10 of xquadr-de .838 without them, .844 with them).
_LONGEST_SMALL = 3
#: Letters of a query that are read: many times what an index is asked for.
_LONGEST = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed search. Terms are folded stems; repeats are kept, they weigh more.

    Terms are folded stems; repeats are kept, they weigh more.
    """

    text: str
    terms: tuple[str, ...] = ()
    #: The words that the terms were made of, as written.
    words: tuple[str, ...] = ()
    #: Words that stand side by side and aren't both stop words: worth something as a pair.
    pairs: tuple[tuple[str, str], ...] = ()
    phrases: tuple[str, ...] = ()
    #: No hit holds any of these.
    without: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    #: True for agent nodes, False for human notes, None for both.
    by_agent: bool | None = None
    ids: tuple[str, ...] = ()
    #: Parts of the refs that a node has, as `https://host/page` or `cite:key`; and works that it cites or is about.
    refs: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    #: Inclusive and exclusive; local ISO dates as text, so that they compare as text.
    since: str | None = None
    before: str | None = None
    #: Pieces of a filter's form whose value it doesn't take, which are words.
    slips: tuple[str, ...] = ()
    #: What of the text may be meant otherwise than it was taken.
    hints: tuple[str, ...] = ()

    @property
    def is_plain_word(self) -> bool:
        """Whether its words are a single one, of plain letters, whose forms are known: not the C of `C++`."""
        if len(self.words) != 1 or not is_plain_word(self.words[0]):
            return False
        return len(self.words[0]) > 1 or holds_form(self.text, self.words[0])

    @property
    def is_empty(self) -> bool:
        """Whether the query has neither terms nor phrases."""
        return not (self.terms or self.phrases)


@dataclass(slots=True)
class _QueryPieces:
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    without_tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    by_agent: bool | None = None
    since: str | None = None
    before: str | None = None
    slips: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def is_plain_word(word: str) -> bool:
    """Return whether a word is one of letters alone, whose forms are known."""
    return word.isalpha() and not UNSPACED.match(word)


def parse_query(text: str, *, today: date) -> Query:
    """Parse `text`; a filter with a value that makes no sense is a word, and a slip of the query.

    Raises:
        UsageError: more filters than anybody writes, or one with a day that no calendar has.
    """
    text = _leading_text(text)
    pieces = _QueryPieces()
    for minus, phrase, word in _PIECE.findall(text):
        if word:
            _take_word(word, pieces, today)
        elif phrase.strip():
            (pieces.without if minus else pieces.phrases).append(" ".join(phrase.split()))
    query_words = [word for piece in pieces.words for word in split_words(piece)]
    if not (query_words or _has_conditions(pieces)):
        # arrows and emoji are no words, and still stand in texts
        pieces.phrases += text.replace('"', " ").split()
    return _require_few_filters(_build_query(text, query_words, pieces, stops=_stops_for(query_words)))


def _leading_text(text: str) -> str:
    """Return the part of a text that is read: of a pasted document only the beginning."""
    leading = text[:_LONGEST]
    if text[_LONGEST : _LONGEST + 1].strip():
        # half a word would ask for another one
        leading = next(iter(leading.rsplit(None, 1)), "")
    return leading


def _require_few_filters(query: Query) -> Query:
    """Return `query` if the index can take the number of its filters, or raise `UsageError`."""
    kinds = {
        "tag:": query.tags,
        "-tag:": query.without_tags,
        "-word": query.without,
        "ref:": query.refs,
        "cite:": query.cited,
    }
    for kind, filters in kinds.items():
        if len(filters) > _MOST_FILTERS:
            raise UsageError(
                f"{len(filters)} filters of the kind {kind} are too many",
                hint=f"give {_MOST_FILTERS} at most; --regex takes `-` as it stands",
            )
    return query


#: Letters of a word that a hint shows.
_LONGEST_HINTED = 60
#: Agents ask for commands with their options, `grep -iF` and `set -e`; nobody excludes two letters.
_FLAG = lazily(r"-[A-Za-z0-9]{1,2}")


def _take_word(word: str, pieces: _QueryPieces, today: date) -> None:
    match = _FILTER.fullmatch(word)
    if match and _take_filter(match[1], match[2].lower(), match[3].strip('"'), pieces, today):
        return
    if match:
        pieces.slips.append(word)
    else:
        pieces.hints.extend(_word_hints(word, is_first=not (pieces.words or _has_conditions(pieces))))
    if word.startswith("-") and word[1:2].isalnum() and not _FLAG.fullmatch(word):
        pieces.without.append(word[1:])
    else:
        pieces.words.append(word)


def _word_hints(word: str, *, is_first: bool) -> Iterator[str]:
    """Yield what a word may be meant as: an option of another program, or a filter."""
    shown_word = clip_text(one_line(word), _LONGEST_HINTED)
    if is_first and _FLAG.fullmatch(word):
        yield f"{shown_word} is no option here, and was searched for as a word"
    name = word.lstrip("-")[:-1].lower()
    if word.endswith(":") and name in _FILTER_NAMES:
        yield f"{shown_word} has no value, and was searched for as a word"
    elif (match := _UNKNOWN_FILTER.fullmatch(word)) and (near := _near_filter_name(match[2].lower())):
        yield f"{shown_word} is no filter, and was searched for as words; {near}: is one"


def _near_filter_name(name: str) -> str:
    """Return the filter's name of which `name` has one letter at the end more or less; empty where there is none."""
    return next((near for near in _FILTER_NAMES if name[:-1] == near or near[:-1] == name), "")


def _take_filter(minus: str, name: str, value: str, pieces: _QueryPieces, today: date) -> bool:
    """Add a filter to `pieces`; return False where the piece is no filter."""
    if name == "tag" and value.strip(":"):
        (pieces.without_tags if minus else pieces.tags).append(value.strip(":"))
    elif name == "is" and value in ("agent", "human"):
        pieces.by_agent = (value == "agent") != bool(minus)
    elif name == "id" and not minus:
        pieces.ids.append(value)
    elif name == "ref" and not minus:
        pieces.refs.append(f"cite:{value[1:]}" if value.startswith("@") else value)
    elif name == "cite" and not minus and value.strip("@"):
        pieces.cited.append(value.lstrip("@"))
    elif name in ("before", "after", "since") and not minus and (day := parse_day(value, today=today)):
        if name == "before":
            pieces.before = day
        else:
            pieces.since = day
    elif name in ("before", "after", "since") and not minus and (_DAY.fullmatch(value) or _AGO.fullmatch(value)):
        raise UsageError(f"{name}:{one_line(value)} is no day", hint="say 2026-06-10, 2026-06, today or 7d")
    else:
        return False
    return True


def parse_words(text: str) -> Query:
    """Return a query for the words of `text`, in which nothing is a filter or a phrase."""
    return _build_query(text, split_words(text), _QueryPieces())


def query_of(query_words: Sequence[str]) -> Query:
    """Return a query for words, as `parse_words` does for a text of them."""
    return _build_query(" ".join(query_words), query_words, _QueryPieces())


def _stops_for(query_words: Sequence[str]) -> Set[str]:
    """Return the words that carry no topic in a question of these: in another language than English its own, too."""
    if len(query_words) < 2 or language.english_surplus(query_words) >= 0:
        return STOP_WORDS
    smallest = (word for word in language.OTHER_SMALL_WORDS if len(word) <= _LONGEST_SMALL or not word.isascii())
    return STOP_WORDS.union(smallest)


def _build_query(text: str, query_words: Sequence[str], pieces: _QueryPieces, *, stops: Set[str] = STOP_WORDS) -> Query:
    telling = [word for word in query_words if word.lower() not in stops] or query_words
    return Query(
        text=text,
        terms=tuple(term for word in telling for term in terms_of(word)),
        words=tuple(telling),
        pairs=tuple(_telling_pairs(query_words, stops)),
        phrases=tuple(pieces.phrases),
        without=tuple(pieces.without),
        tags=tuple(pieces.tags),
        without_tags=tuple(pieces.without_tags),
        by_agent=pieces.by_agent,
        ids=tuple(pieces.ids),
        refs=tuple(pieces.refs),
        cited=tuple(pieces.cited),
        since=pieces.since,
        before=pieces.before,
        slips=tuple(pieces.slips),
        hints=tuple(dict.fromkeys(pieces.hints)),
    )


def _has_conditions(pieces: _QueryPieces) -> bool:
    """Say whether the pieces hold any phrase or filter, apart from words."""
    return bool(
        pieces.phrases
        or pieces.without
        or pieces.tags
        or pieces.without_tags
        or pieces.ids
        or pieces.refs
        or pieces.cited
        or pieces.since
        or pieces.before
        or pieces.by_agent is not None
    )


def _telling_pairs(query_words: Sequence[str], stops: Set[str]) -> Iterator[tuple[str, str]]:
    for word, next_word in pairwise(query_words):
        if not {word.lower(), next_word.lower()} <= stops:
            yield word, next_word


_DAY = lazily(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_AGO = lazily(r"(\d{1,4})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def parse_day(text: str, *, today: date) -> str | None:
    """Return the ISO date that `text` names: 2026, 2026-06, 2026-06-10, today, yesterday, 7d, 2w, 3m, 1y."""
    text = text.strip().lower()
    if text in ("today", "yesterday"):
        return (today - timedelta(days=text == "yesterday")).isoformat()
    if match := _AGO.fullmatch(text):
        try:
            return (today - timedelta(days=int(match[1]) * _DAYS[match[2]])).isoformat()
        except OverflowError:
            return None
    if match := _DAY.fullmatch(text):
        try:
            return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).isoformat()
        except ValueError:
            return None
    return None


def parse_moment(option: str, text: str, *, today: date) -> float:
    """Return the moment that `text` names, in seconds since 1970; of a day, its end.

    Raises:
        UsageError: it names none; `option` says whose value it is.
    """
    try:
        moment = datetime.fromisoformat(text)
        is_day = moment.time() == time() and "T" not in text and ":" not in text
    except ValueError:
        day = parse_day(text, today=today)
        if day is None:
            raise UsageError(f"{option} {one_line(text)} is no day", hint="say 2026-06-10 or 7d") from None
        moment, is_day = datetime.fromisoformat(day), True
    try:
        seconds = (moment + timedelta(days=1, milliseconds=-1) if is_day else moment).timestamp()
        # an offset may lead out of what has a local time
        datetime.fromtimestamp(seconds)
        return seconds
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{option} {one_line(text)} is out of the calendar", hint="say 2026-06-10") from None


def narrow_query(
    query: Query,
    *,
    tags: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
    by_agent: bool | None = None,
    since: str | None = None,
    before: str | None = None,
) -> Query:
    """Return `query` with the filters of the command's options added; they are counted with its own."""
    return _require_few_filters(
        replace(
            query,
            tags=query.tags + tags,
            ids=ids or query.ids,
            by_agent=query.by_agent if by_agent is None else by_agent,
            since=since or query.since,
            before=before or query.before,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TermWeights:
    """The weights of a query's terms in one collection of texts."""

    terms: Mapping[str, float]
    #: What a term weighs that a single text holds.
    rarest: float
