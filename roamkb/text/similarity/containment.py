"""Does a text say no more than another? What is known already is repeated in part, and in excerpts.

A text covers another that has no content word which it hasn't, words that only press a point aside, and
that negates as often, and that says them of the same things. Unlike `similarity` it needs no measure: nothing
that the shorter one says is lost.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Set
from typing import Final
from typing import Generic
from typing import TypeVar

from roamkb.core.startup.dataclasses import dataclass
from roamkb.text.similarity.contradiction import exchanged
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import canonical
from roamkb.text.store.lexicons import vocabulary

K = TypeVar("K")

#: Words that only press a point, or hang it on another.
_FILLING: Final = frozenset(map(canonical, vocabulary("filling")))
#: Fewer content words are in any long text.
_LEAST: Final = 4


@dataclass(frozen=True, slots=True)
class _StatedText:
    words: Set[str]
    negations: int
    text: str


def _said(one: PreparedText) -> _StatedText:
    negations = sum(word in NEGATIONS for word in one.normal.split())
    return _StatedText(one.content - _FILLING - NEGATIONS, negations, one.text)


def _covers(whole: _StatedText, part: _StatedText) -> bool:
    is_held = whole.negations == part.negations and part.words <= whole.words
    return is_held and not exchanged(whole.text, part.text)


class CoveringTexts(Generic[K]):
    """Texts by key, found by what covers them or what they cover."""

    def __init__(self, shapes: Iterable[tuple[K, PreparedText]] = ()) -> None:
        self._keys: list[K] = []
        self._texts: list[_StatedText] = []
        self._holding: dict[str, list[int]] = {}
        #: By the one word that every text has which covers it: the rarest when it came.
        self._telling: dict[str, list[int]] = {}
        for key, one in shapes:
            self.add(key, one)

    def add(self, key: K, one: PreparedText) -> None:
        """Keep a text; one of very few words is never found."""
        said = _said(one)
        if len(said.words) < _LEAST:
            return
        number = len(self._texts)
        self._keys.append(key)
        self._texts.append(said)
        for word in said.words:
            self._holding.setdefault(word, []).append(number)
        telling = min(sorted(said.words), key=lambda word: len(self._holding[word]))
        self._telling.setdefault(telling, []).append(number)

    def of(self, one: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that say all that `one` says, as they were added."""
        said = _said(one)
        if len(said.words) >= _LEAST:
            held = sorted((self._holding.get(word, []) for word in said.words), key=len)
            for number in held[0]:
                text = self._texts[number]
                if _covers(text, said):
                    yield self._keys[number]

    def within(self, one: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that say nothing that `one` doesn't say, as they were added."""
        said = _said(one)
        numbers = sorted(number for word in said.words for number in self._telling.get(word, ()))
        for number in numbers:
            text = self._texts[number]
            if _covers(said, text):
                yield self._keys[number]
