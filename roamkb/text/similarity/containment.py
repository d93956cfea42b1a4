"""Containment of texts: whether one text says everything that another says.

What is known already is repeated in part, and in excerpts.

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
from roamkb.text.similarity.contradiction import differ_in_subject
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import canonical_form
from roamkb.text.store.lexicons import vocabulary

K = TypeVar("K")

#: Words that only press a point, or hang it on another.
_FILLING: Final = frozenset(map(canonical_form, vocabulary("filling")))
#: Fewer content words are in any long text.
_LEAST: Final = 4


@dataclass(frozen=True, slots=True)
class _StatedText:
    words: Set[str]
    negations: int
    text: str


def _stated_text(prepared: PreparedText) -> _StatedText:
    negations = sum(word in NEGATIONS for word in prepared.normal.split())
    return _StatedText(prepared.content - _FILLING - NEGATIONS, negations, prepared.text)


def _covers_text(longer: _StatedText, shorter: _StatedText) -> bool:
    is_held = longer.negations == shorter.negations and shorter.words <= longer.words
    return is_held and not differ_in_subject(longer.text, shorter.text)


class CoveringTexts(Generic[K]):
    """Texts by key, found by texts that cover them or that they cover."""

    def __init__(self, shapes: Iterable[tuple[K, PreparedText]] = ()) -> None:
        self._keys: list[K] = []
        self._texts: list[_StatedText] = []
        self._holding: dict[str, list[int]] = {}
        #: By the one word that every text has which covers it: the rarest when it came.
        self._telling: dict[str, list[int]] = {}
        for key, prepared in shapes:
            self.add_text(key, prepared)

    def add_text(self, key: K, prepared: PreparedText) -> None:
        """Add a text; a text of very few words is never found."""
        stated = _stated_text(prepared)
        if len(stated.words) < _LEAST:
            return
        number = len(self._texts)
        self._keys.append(key)
        self._texts.append(stated)
        for word in stated.words:
            self._holding.setdefault(word, []).append(number)
        telling = min(sorted(stated.words), key=lambda word: len(self._holding[word]))
        self._telling.setdefault(telling, []).append(number)

    def find_covering(self, prepared: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that say everything that `prepared` says, in the order of adding."""
        stated = _stated_text(prepared)
        if len(stated.words) >= _LEAST:
            number_lists = sorted((self._holding.get(word, []) for word in stated.words), key=len)
            for number in number_lists[0]:
                text = self._texts[number]
                if _covers_text(text, stated):
                    yield self._keys[number]

    def find_covered(self, prepared: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts whose whole claim `prepared` makes, too, in the order of adding."""
        stated = _stated_text(prepared)
        numbers = sorted(number for word in stated.words for number in self._telling.get(word, ()))
        for number in numbers:
            text = self._texts[number]
            if _covers_text(stated, text):
                yield self._keys[number]
