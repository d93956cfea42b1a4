"""The similarity of two texts, and a guard that can overrule it (docs/architecture.md).

Similarity alone never merges: word overlap calls "enable" and "disable", 30 and 300, or
one name and another duplicates. The guard refuses where numbers differ, one side alone
negates, an opposite is swapped, or each side names something that the other doesn't. In a text
of few words a number or a "not" is so much of it that no measure calls it like one without:
there all other words have to be the same.
"""

from collections.abc import Sequence
from collections.abc import Set
from enum import Enum
from functools import cache
from functools import cached_property
from functools import lru_cache

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import fold_text
from roamkb.text.similarity import contradiction
from roamkb.text.similarity.shell_remnants import without_debris
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import NEGATIONS
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


#: Several times as many as most learnings have trigrams.
_MASK_BITS = 1024


@dataclass(frozen=True)
class PreparedText:
    """A text prepared for comparison with many others."""

    text: str
    normal: str
    all_words: frozenset[str]
    content: frozenset[str]

    @property
    def trigrams(self) -> frozenset[str]:
        """Every three letters in a row; most comparisons are settled without them."""
        return _trigrams_of(self.normal)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """How many content words, words and trigrams there are."""
        return len(self.content), len(self.all_words), len(self.trigrams)

    @cached_property
    def letter_mask(self) -> int:
        """A bit for each trigram, which a few of them share."""
        mask = 0
        for trigram in self.trigrams:
            mask |= 1 << hash(trigram) % _MASK_BITS
        return mask

    @cached_property
    def counted_roots(self) -> frozenset[str]:
        """The roots of the words that the text's numbers are about; empty where it has no number."""
        return contradiction.counted_roots(self.text)

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """The content without what negates: the same in a statement and in its denial."""
        return self.content - _negating_forms()


# few texts are compared so far, and none in most hooks
@cache
def _negating_forms() -> frozenset[str]:
    return frozenset(map(canonical_form, NEGATIONS))


# as many as one text is compared with in a row; those of all texts would take more room than all else
@lru_cache(maxsize=1024)
def _trigrams_of(normal: str) -> frozenset[str]:
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


def is_alike(first_text: PreparedText, second_text: PreparedText, *, limit: float) -> bool:
    """Say whether the similarity is at least `limit`, with no more work than that takes."""
    return (
        reaches_jaccard(first_text.content, second_text.content, limit)
        or reaches_jaccard(first_text.all_words, second_text.all_words, limit)
        or reaches_jaccard(first_text.trigrams, second_text.trigrams, limit)
    )


def is_spelt_alike(first_text: PreparedText, second_text: PreparedText, limit: float) -> bool:
    """Say whether the Jaccard of the trigrams is at least `limit`."""
    # what differs in the masks differs in the sets, which take most of the time (Sandes and others, "Bitmap Filter:
    # Speeding up Exact Set Similarity Joins with Bitwise Operations", Information Systems 88, 2020)
    unlike = (first_text.letter_mask ^ second_text.letter_mask).bit_count()
    most_unlike = (1 - limit) / (1 + limit) * (first_text.sizes[2] + second_text.sizes[2])
    return unlike <= most_unlike + 1e-9 and reaches_jaccard(first_text.trigrams, second_text.trigrams, limit)


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
        return TextLikeness.MAY_CONTRADICT if differ_in_little(first_text, second_text) else TextLikeness.DIFFERENT
    return TextLikeness.MAY_CONTRADICT if may_contradict(first_text, second_text) else TextLikeness.SIMILAR


def differ_in_little(first_text: PreparedText, second_text: PreparedText) -> bool:
    """Say whether the texts differ in a number or a negation alone, however low their similarity."""
    return differ_only_in_number(first_text, second_text) or differ_only_in_negation(first_text, second_text)


def differ_only_in_negation(first_text: PreparedText, second_text: PreparedText) -> bool:
    """Say whether one text denies what the other affirms, in the same words."""
    return (
        # of one word alone it may be anything
        len(first_text.affirmed) > 1
        and first_text.affirmed == second_text.affirmed
        and contradiction.differ_in_negation(first_text.text, second_text.text)
    )


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
    return differ_in_little(first_text, second_text) or (
        text_likeness(first_text, second_text, limit=limit) is TextLikeness.MAY_CONTRADICT
        and contradiction.deny_each_other(first_text.text, second_text.text)
    )
