"""Do two texts say the same? A measure, and a guard that knows when not to believe it (docs/architecture.md).

Similarity alone never merges: word overlap calls "enable" and "disable", 30 and 300, or
one name and another duplicates. The guard refuses where numbers differ, one side alone
negates, an opposite is swapped, or each side names something that the other doesn't. In a text
of few words a number is so much of it that no measure calls it like one with another number:
there all other words have to be the same.
"""

from collections.abc import Sequence
from collections.abc import Set
from enum import Enum
from functools import cached_property
from functools import lru_cache

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import folded
from roamkb.text.similarity.contradiction import counted
from roamkb.text.similarity.contradiction import differ
from roamkb.text.similarity.contradiction import differ_in_number
from roamkb.text.similarity.contradiction import oppose
from roamkb.text.similarity.shell_remnants import without_debris
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import canonical
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import pairs
from roamkb.text.tokenize import words


class TextLikeness(Enum):
    """What two texts are to each other."""

    SAME = "same"
    SIMILAR = "similar"
    #: Nearly the same words, and yet another claim.
    MAY_CONTRADICT = "may_contradict"
    DIFFERENT = "different"


@dataclass(frozen=True)
class PreparedText:
    """A text, prepared for comparing with many others."""

    text: str
    normal: str
    all_words: frozenset[str]
    content: frozenset[str]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        """Every three letters in a row; most comparisons are settled without them."""
        return trigrams_of(self.normal)

    @cached_property
    def counted(self) -> frozenset[str]:
        """What the text gives numbers of; empty where it gives none."""
        return counted(self.text)


def trigrams_of(normal: str) -> frozenset[str]:
    """Return every three letters in a row of a `PreparedText.normal`, with a blank around it."""
    padded = f"  {normal} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


def shape(text: str) -> PreparedText:
    """Return `text` prepared for comparison."""
    text = without_debris(text)
    plain = _plain_words(text)
    all_words = frozenset(plain)
    content = frozenset(map(canonical, all_words - FUNCTION_WORDS)) or all_words
    return PreparedText(text=text, normal=" ".join(plain), all_words=all_words, content=content)


@lru_cache(maxsize=16_384)
def normal(text: str) -> str:
    """Return the words of `text`, folded: what is left of it in `shape(text).normal`."""
    return " ".join(_plain_words(without_debris(text)))


def _plain_words(text: str) -> Sequence[str]:
    text = spelt_out(text)
    if text.isascii():
        return words(text.lower())
    found: list[str] = []
    for word in words(text):
        found += pairs(word) if UNSPACED.match(word) else [folded(word)]
    return found


def similarity(one: PreparedText, other: PreparedText) -> float:
    """Return the largest of trigram, content-word and all-word Jaccard, 0 to 1."""
    return max(
        _jaccard(one.trigrams, other.trigrams),
        _jaccard(one.content, other.content),
        _jaccard(one.all_words, other.all_words),
    )


def is_alike(one: PreparedText, other: PreparedText, *, limit: float) -> bool:
    """Say whether the similarity is at least `limit`, without looking further than it takes."""
    return (
        reaches(one.content, other.content, limit)
        or reaches(one.all_words, other.all_words, limit)
        or reaches(one.trigrams, other.trigrams, limit)
    )


def reaches(one: Set[str], other: Set[str], limit: float) -> bool:
    """Say whether the Jaccard of two sets is at least `limit`."""
    mine, theirs = len(one), len(other)
    # where one is much larger there is nothing to count
    if mine < limit * theirs or theirs < limit * mine:
        return False
    shared = len(one & other)
    return shared > 0 and shared / (mine + theirs - shared) >= limit


def _jaccard(one: Set[str], other: Set[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def likeness(one: PreparedText, other: PreparedText, *, limit: float) -> TextLikeness:
    """Return what the texts are to each other, `limit` being the least similarity that counts (inclusive)."""
    if not one.normal and not other.normal:
        # emoji and punctuation have no words to compare
        return TextLikeness.SAME if one.text.strip() == other.text.strip() else TextLikeness.DIFFERENT
    if one.text == other.text:
        return TextLikeness.SAME
    if one.normal == other.normal:
        return TextLikeness.MAY_CONTRADICT if guarded(one, other) else TextLikeness.SAME
    if not is_alike(one, other, limit=limit):
        return TextLikeness.MAY_CONTRADICT if say_other_numbers(one, other) else TextLikeness.DIFFERENT
    return TextLikeness.MAY_CONTRADICT if guarded(one, other) else TextLikeness.SIMILAR


def say_other_numbers(one: PreparedText, other: PreparedText) -> bool:
    """Say whether the texts say the same of other numbers, however little alike that leaves them."""
    return bool(one.counted) and one.counted == other.counted and differ_in_number(one.text, other.text)


def guarded(one: PreparedText, other: PreparedText) -> bool:
    """Say whether the texts may claim different things although their words are alike."""
    return differ(one.text, other.text)


def denies(one: PreparedText, other: PreparedText, *, limit: float) -> bool:
    """Say whether one of two like texts denies the other, as far as words tell, and isn't another wording."""
    return likeness(one, other, limit=limit) is TextLikeness.MAY_CONTRADICT and oppose(one.text, other.text)
