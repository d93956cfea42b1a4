"""Values that two texts give to one attribute: "Redis runs on port 6380", "Redis runs on port 6390 since Monday".

However much either says beside it. The attribute is what a clause says before its value; what it says after that
may be an addition of one of the two, but no condition of each: on Linux, on macOS.
"""

from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Final
from typing import Generic
from typing import NamedTuple
from typing import TypeVar

from roamkb.core.startup.lazy_regex import lazily
from roamkb.text.similarity.contradiction import ClaimWord
from roamkb.text.similarity.contradiction import claim_of
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.store.lexicons import vocabulary

K = TypeVar("K", bound=Hashable)

#: Words before a value; with fewer it may be anything's: step 1, step 2.
_LEAST_WORDS: Final = 2
#: Characters that are looked at, longer texts are documents.
_LONGEST: Final = 1000
_CLAUSE_END: Final = lazily(r"[,;:.!?–—]\s|[.!?]\Z|[、，；：。！？]|\n|\s(?=[(])")
_DIGIT: Final = lazily(r"\d")
#: Words that put what follows into the past, or into the place of the present value.
_REPLACED: Final = NEGATIONS | vocabulary("replaced")
#: Words that say when, and nothing of what.
_PRESENT: Final = vocabulary("present")


class AttributeValue(NamedTuple):
    """A clause as an attribute, its value, and what stands behind it."""

    attribute: tuple[str, ...]
    value: str
    rest: frozenset[str]


def give_other_values(first_text: str, second_text: str) -> bool:
    """Say whether two texts give other values to one attribute: numbers, or one says that the other's is gone.

    A text with the number of both says when each holds.
    """
    mine, theirs = attribute_values(first_text), attribute_values(second_text)
    return any(
        my_value.attribute == their_value.attribute
        and my_value.value not in _numbers(second_text)
        and their_value.value not in _numbers(first_text)
        and (my_value.rest <= their_value.rest or their_value.rest <= my_value.rest)
        for my_value in mine
        for their_value in theirs
    ) or (_replaces(first_text, second_text) or _replaces(second_text, first_text))


class ValuedTexts(Generic[K]):
    """Texts by key, found by a text that gives another value to one of their attributes."""

    def __init__(self) -> None:
        self._texts: dict[K, str] = {}
        #: Those of which nobody asked yet what they give values to.
        self._unread: list[K] = []
        #: By attribute; by the words that a clause begins with; and so of texts alone that say that something is gone.
        self._valued: dict[tuple[str, ...], list[K]] = {}
        self._begun: dict[tuple[str, ...], list[K]] = {}
        self._denying: dict[tuple[str, ...], list[K]] = {}

    def add_text(self, key: K, text: str) -> None:
        """Add a text."""
        self._texts[key] = text
        self._unread.append(key)

    def find_otherwise_valued(self, text: str, *, most: int) -> Iterator[K]:
        """Yield the keys of texts that give other values than `text`; of each attribute so many are looked at."""
        for key in self._unread:
            self._read_text(key)
        self._unread.clear()
        beginnings, is_denying = _beginnings(text)
        sharing = [self._valued.get(valued.attribute, ()) for valued in attribute_values(text)]
        for begun in (self._denying, self._begun) if is_denying else (self._denying,):
            sharing += (begun.get(beginning, ()) for beginning in beginnings)
        candidates = dict.fromkeys(key for keys in sharing for key in keys[:most])
        yield from (key for key in candidates if give_other_values(text, self._texts[key]))

    def _read_text(self, key: K) -> None:
        for valued in attribute_values(self._texts[key]):
            self._valued.setdefault(valued.attribute, []).append(key)
        beginnings, is_denying = _beginnings(self._texts[key])
        for begun in (self._begun, self._denying) if is_denying else (self._begun,):
            for beginning in beginnings:
                begun.setdefault(beginning, []).append(key)


@lru_cache(maxsize=4096)
def _beginnings(text: str) -> tuple[frozenset[tuple[str, ...]], bool]:
    """Return the words that the clauses of a text begin with, and whether any says that something is gone."""
    beginnings = set()
    is_denying = False
    for words in _clauses(text):
        place = _denied_place(words)
        is_denying |= place < len(words)
        beginnings.add(tuple(islice(_each_root(words[:place]), _LEAST_WORDS)))
    return frozenset(beginning for beginning in beginnings if len(beginning) == _LEAST_WORDS), is_denying


@lru_cache(maxsize=4096)
def attribute_values(text: str) -> tuple[AttributeValue, ...]:
    """Return the numbers that a text gives to attributes, a clause each; what it denies gives none."""
    return tuple(value for words in _clauses(text, with_number=True) if (value := _number_of(words)))


def _numbers(text: str) -> set[str]:
    return {word.root for words in _clauses(text, with_number=True) for word in words if word.is_number}


def _number_of(words: Sequence[ClaimWord]) -> AttributeValue | None:
    place = next((place for place, word in enumerate(words) if word.is_number), len(words))
    attribute = _roots(words[:place])
    if place == len(words) or len(attribute) < _LEAST_WORDS or _denied_place(words) < len(words):
        return None
    return AttributeValue(attribute, words[place].root, frozenset(_roots(words[place + 1 :])))


def _replaces(newer: str, older: str) -> bool:
    """Say whether a text says an older one's clause with another end, and denies its end: "no longer X"."""
    gone: set[str] = set()
    kept: list[tuple[str, ...]] = []
    for words in _clauses(newer):
        place = _denied_place(words)
        gone.update(_roots(words[place:]))
        kept.append(_roots(words[:place]))
    if not gone:
        return False
    return any(_shares_attribute(_roots(words), clause, gone) for words in _clauses(older) for clause in kept)


def _shares_attribute(older: Sequence[str], newer: Sequence[str], gone: set[str]) -> bool:
    shared = next((place for place, (old, new) in enumerate(zip(older, newer, strict=False)) if old != new), 0)
    return shared >= _LEAST_WORDS and older[shared] in gone


def _clauses(text: str, *, with_number: bool = False) -> Iterator[Sequence[ClaimWord]]:
    for clause in _CLAUSE_END.split(text) if len(text) <= _LONGEST else ():
        if not with_number or _DIGIT.search(clause):
            yield claim_of(clause).words


def _denied_place(words: Sequence[ClaimWord]) -> int:
    return next((place for place, word in enumerate(words) if word.plain in _REPLACED), len(words))


def _roots(words: Sequence[ClaimWord]) -> tuple[str, ...]:
    """Return the roots of the words that say what, with numbers."""
    return tuple(_each_root(words))


def _each_root(words: Iterable[ClaimWord]) -> Iterator[str]:
    return (word.root for word in words if (word.is_content or word.is_number) and word.plain not in _PRESENT)
