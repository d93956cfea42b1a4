"""The similarity of two texts, and a guard that can overrule it (docs/architecture.md).

A measure, and a guard that knows when not to believe it (docs/architecture.md).

Similarity alone never merges: word overlap calls "enable" and "disable", 30 and 300, or
one name and another duplicates. The guard refuses where numbers differ, one side alone
negates, an opposite is swapped, or each side names something that the other doesn't. In a text
of few words a number is so much of it that no measure calls it like one with another number:
there all other words have to be the same.
"""

from collections.abc import Collection
from collections.abc import Sequence
from collections.abc import Set
from enum import Enum
from functools import cached_property
from functools import lru_cache
from typing import Final
from typing import NamedTuple

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import fold_text
from roamkb.text.similarity import contradiction
from roamkb.text.similarity.shell_remnants import without_debris
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import canonical_form
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words


class TextLikeness(Enum):
    """The relation of two texts to each other."""

    SAME = "same"
    SIMILAR = "similar"
    #: Nearly the same words, and yet another claim.
    MAY_CONTRADICT = "may_contradict"
    DIFFERENT = "different"


#: A text has fewer words, so that few share a bit; its letters are told apart well enough.
_SKETCH_BITS: Final = 512
#: What is that little below a limit may be rounded.
_HAIR: Final = 1e-9


class SetSketch(NamedTuple):
    """A set's size and a bit for each member, by which most sets are told apart without a look at their members."""

    size: int
    bits: int


def sketch_of(members: Collection[str]) -> SetSketch:
    """Return the sketch of a set."""
    bits = 0
    for member in members:
        bits |= 1 << hash(member) % _SKETCH_BITS
    return SetSketch(len(members), bits)


def most_shared(first_sketch: SetSketch, second_sketch: SetSketch) -> int:
    """Return a number that two sets share at most: a bit of one alone stands for a member of one alone."""
    return min(
        first_sketch.size - (first_sketch.bits & ~second_sketch.bits).bit_count(),
        second_sketch.size - (second_sketch.bits & ~first_sketch.bits).bit_count(),
    )


def may_reach_jaccard(first_sketch: SetSketch, second_sketch: SetSketch, limit: float) -> bool:
    """Say whether the Jaccard of two sets may be at least `limit`; never no where it is."""
    shared = most_shared(first_sketch, second_sketch)
    return shared >= limit * (first_sketch.size + second_sketch.size - shared) - _HAIR


@dataclass(frozen=True)
class PreparedText:
    """A text prepared for comparison with many others."""

    text: str
    normal: str
    all_words: frozenset[str]
    content: frozenset[str]

    @cached_property
    def trigrams(self) -> frozenset[str]:
        """Every three letters in a row; most comparisons are settled without them."""
        return trigrams_of(self.normal)

    @cached_property
    def word_sketch(self) -> SetSketch:
        """The sketch of all words."""
        return sketch_of(self.all_words)

    @cached_property
    def content_sketch(self) -> SetSketch:
        """The sketch of the content words."""
        return sketch_of(self.content)

    @cached_property
    def letter_sketch(self) -> SetSketch:
        """The sketch of the trigrams, which take a hundred times as much memory."""
        return sketch_of(trigrams_of(self.normal))

    @cached_property
    def counted_roots(self) -> frozenset[str]:
        """The roots of the words that the text's numbers are about; empty where it has no number."""
        return contradiction.counted_roots(self.text)


# who looks for a text adds it next
@lru_cache(maxsize=8)
def trigrams_of(normal: str) -> frozenset[str]:
    """Return every three letters in a row of a `PreparedText.normal`, with a blank around it."""
    padded = f"  {normal} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


def prepare_text(text: str) -> PreparedText:
    """Return `text` prepared for comparison."""
    text = without_debris(text)
    plain = _plain_words(text)
    all_words = frozenset(plain)
    content = frozenset(map(canonical_form, all_words - FUNCTION_WORDS)) or all_words
    return PreparedText(text=text, normal=" ".join(plain), all_words=all_words, content=content)


@lru_cache(maxsize=16_384)
def normal_words(text: str) -> str:
    """Return the words of `text`, folded, as in `PreparedText.normal`."""
    return " ".join(_plain_words(without_debris(text)))


def _plain_words(text: str) -> Sequence[str]:
    text = spelt_out(text)
    if text.isascii():
        return split_words(text.lower())
    plain_words: list[str] = []
    for word in split_words(text):
        plain_words += letter_pairs(word) if UNSPACED.match(word) else [fold_text(word)]
    return plain_words


def text_similarity(first_text: PreparedText, second_text: PreparedText) -> float:
    """Return the largest of trigram, content-word and all-word Jaccard, 0 to 1."""
    return max(
        _jaccard(first_text.trigrams, second_text.trigrams),
        _jaccard(first_text.content, second_text.content),
        _jaccard(first_text.all_words, second_text.all_words),
    )


def may_be_alike(first_text: PreparedText, second_text: PreparedText, *, limit: float) -> bool:
    """Say whether the similarity may be at least `limit`; never no where it is."""
    return (
        may_reach_jaccard(first_text.content_sketch, second_text.content_sketch, limit)
        or may_reach_jaccard(first_text.word_sketch, second_text.word_sketch, limit)
        or may_reach_jaccard(first_text.letter_sketch, second_text.letter_sketch, limit)
    )


def is_alike(first_text: PreparedText, second_text: PreparedText, *, limit: float) -> bool:
    """Say whether the similarity is at least `limit`, with no more work than that takes."""
    return (
        reaches_jaccard(first_text.content, second_text.content, limit)
        or reaches_jaccard(first_text.all_words, second_text.all_words, limit)
        or reaches_jaccard(first_text.trigrams, second_text.trigrams, limit)
    )


def reaches_jaccard(first_set: Set[str], second_set: Set[str], limit: float) -> bool:
    """Say whether the Jaccard of two sets is at least `limit`."""
    mine, theirs = len(first_set), len(second_set)
    # where one is much larger there is nothing to count
    if mine < limit * theirs or theirs < limit * mine:
        return False
    shared = len(first_set & second_set)
    return shared > 0 and shared / (mine + theirs - shared) >= limit


def _jaccard(first_set: Set[str], second_set: Set[str]) -> float:
    shared = len(first_set & second_set)
    return shared / (len(first_set) + len(second_set) - shared) if shared else 0.0


def text_likeness(first_text: PreparedText, second_text: PreparedText, *, limit: float) -> TextLikeness:
    """Return the relation of the texts, `limit` being the least similarity that counts (inclusive)."""
    if not first_text.normal and not second_text.normal:
        # emoji and punctuation have no words to compare
        return TextLikeness.SAME if first_text.text.strip() == second_text.text.strip() else TextLikeness.DIFFERENT
    if first_text.text == second_text.text:
        return TextLikeness.SAME
    if first_text.normal == second_text.normal:
        return TextLikeness.MAY_CONTRADICT if may_contradict(first_text, second_text) else TextLikeness.SAME
    if not is_alike(first_text, second_text, limit=limit):
        return TextLikeness.MAY_CONTRADICT if differ_only_in_number(first_text, second_text) else TextLikeness.DIFFERENT
    return TextLikeness.MAY_CONTRADICT if may_contradict(first_text, second_text) else TextLikeness.SIMILAR


def differ_only_in_number(first_text: PreparedText, second_text: PreparedText) -> bool:
    """Say whether the texts say the same with other numbers, however low their similarity."""
    return (
        bool(first_text.counted_roots)
        and first_text.counted_roots == second_text.counted_roots
        and contradiction.differ_in_number(first_text.text, second_text.text)
    )


def may_contradict(first_text: PreparedText, second_text: PreparedText) -> bool:
    """Say whether the texts may make different claims although their words are alike."""
    return contradiction.differ_in_claim(first_text.text, second_text.text)


def is_contradiction(first_text: PreparedText, second_text: PreparedText, *, limit: float) -> bool:
    """Say whether one of two like texts denies the other, as far as words show it."""
    return text_likeness(
        first_text, second_text, limit=limit
    ) is TextLikeness.MAY_CONTRADICT and contradiction.deny_each_other(first_text.text, second_text.text)
