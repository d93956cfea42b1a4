"""Duplicates among many texts, found however many others differ only in a number or a name.

Ten thousand texts that differ in a number or a name are each alike to all others, and none says what
another says. Who looks for a twin must not meet them: a twin has the same numbers and negates as often,
and one of the two has a word for every word of the other (`claim_of`). So only texts are compared of which
one has each word of the other, or a form of it.
"""

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from typing import Generic
from typing import TypeVar

from roamkb.text.similarity.contradiction import Claim
from roamkb.text.similarity.contradiction import are_kin
from roamkb.text.similarity.contradiction import claim_of
from roamkb.text.similarity.contradiction import kinship_keys
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.set_bits import SetBits
from roamkb.text.similarity.set_bits import numbers_of
from roamkb.text.similarity.set_bits import of_size_near
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import NEGATIONS

K = TypeVar("K", bound=Hashable)

_SMALL = FUNCTION_WORDS | NEGATIONS
DUPLICATE_LIKENESSES: Final = (TextLikeness.SAME, TextLikeness.SIMILAR)
#: A compound has no more parts.
_LONGEST_RUN = 3


class _TextVocabulary:
    """The words of texts, and the known words that may stand for each."""

    def __init__(self) -> None:
        self.roots: dict[str, str] = {}
        #: The roots of the known words that are forms of a known one, or slips of the pen.
        self._kin: dict[str, set[str]] = {}
        self._by_key: dict[str, list[str]] = {}

    def add_word(self, word: str, root: str) -> None:
        """Add a word with its root."""
        if word in self.roots:
            return
        for kindred in self._kindred_words(word):
            self._kin.setdefault(word, set()).add(self.roots[kindred])
            self._kin.setdefault(kindred, set()).add(root)
        self.roots[word] = root
        for key in kinship_keys(word):
            self._by_key.setdefault(key, []).append(word)

    def kin_of(self, word: str) -> Collection[str]:
        """Return the roots of the words that `word` may stand for."""
        if word in self.roots:
            return self._kin.get(word, ())
        return {self.roots[kindred] for kindred in self._kindred_words(word)}

    def _kindred_words(self, word: str) -> set[str]:
        near = {known_word for key in kinship_keys(word) for known_word in self._by_key.get(key, ())}
        return {known_word for known_word in near if are_kin(word, known_word)}


@lru_cache(maxsize=4096)
def _word_parts(word: str) -> frozenset[str]:
    """Return the beginnings and the ends of a word."""
    return frozenset(part for n in range(1, len(word)) for part in (word[:n], word[n:]))


class DuplicateTexts(Generic[K]):
    """Texts by key, found by a text at least `limit` alike that makes the same claim."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        self._words = _TextVocabulary()
        #: The roots of each, by what two claims must have in common.
        self._claims: dict[tuple[object, ...], SetBits] = {}
        #: Who has how many content words, words and trigrams.
        self._by_sizes: tuple[dict[int, int], ...] = ({}, {}, {})
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}

    def add_text(self, key: K, shape: PreparedText) -> None:
        """Add a text; one key may have several."""
        number = len(self._keys)
        self._keys.append(key)
        self._shapes.append(shape)
        if not shape.normal:
            self._wordless.setdefault(shape.text.strip(), []).append(number)
            return
        for by_size, size in zip(self._by_sizes, shape.sizes, strict=True):
            by_size[size] = by_size.get(size, 0) | 1 << number
        claim = claim_of(shape.text)
        roots = _content_roots(claim)
        for word, root in roots.items():
            self._words.add_word(word, root)
        self._claims.setdefault(_claim_key(claim), SetBits()).add_set(number, frozenset(roots.values()))

    def find_duplicates(self, shape: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that are the same or similar, in the order of adding."""
        for number in self._candidate_numbers(shape):
            if text_likeness(shape, self._shapes[number], limit=self._limit) in DUPLICATE_LIKENESSES:
                yield self._keys[number]

    def count_candidates(self, shape: PreparedText) -> int:
        """Return the number of texts that a text is compared with."""
        return len(self._candidate_numbers(shape))

    def _candidate_numbers(self, shape: PreparedText) -> Collection[int]:
        if not shape.normal:
            return self._wordless.get(shape.text.strip(), ())
        claim = claim_of(shape.text)
        claims = self._claims.get(_claim_key(claim))
        if claims is None:
            return ()
        roots = _content_roots(claim)
        joined = self._compound_roots(claim)
        needed = [{root, *self._words.kin_of(word), *joined.get(word, ())} for word, root in roots.items()]
        # what has a word for each of this text's, and what this text has a word for each of
        candidates = claims.with_each(needed) | claims.within(set().union(*needed, *joined.values()))
        # most have too few words
        return list(numbers_of(candidates and candidates & self._alike_in_size(shape)))

    def _alike_in_size(self, shape: PreparedText) -> int:
        """Return the texts that could be alike, by how much each has."""
        bits = 0
        for by_size, size in zip(self._by_sizes, shape.sizes, strict=True):
            bits |= of_size_near(by_size, size, self._limit)
        return bits

    def _compound_roots(self, claim: Claim) -> dict[str, set[str]]:
        """Return, by word, the roots of known words that are parts of it or that it is a part of."""
        known_roots = self._words.roots
        roots_by_word: dict[str, set[str]] = {}
        words = [word.plain for word in claim.words]
        for word in set(words):
            if known_parts := known_roots.keys() & _word_parts(word):
                roots_by_word[word] = set(map(known_roots.__getitem__, known_parts))
        for length in range(2, _LONGEST_RUN + 1):
            for run in zip(*(words[start:] for start in range(length)), strict=False):
                if root := known_roots.get("".join(run)):
                    for part in run:
                        roots_by_word.setdefault(part, set()).add(root)
        return roots_by_word


def _claim_key(claim: Claim) -> tuple[object, ...]:
    """Return the key that two claims share where one may stand for the other; *one* is no number."""
    return (*sorted(digits for digits, _ in claim.numbers if digits != "1"), len(claim.negated))


def _content_roots(claim: Claim) -> dict[str, str]:
    """Return the content words and their roots."""
    return {
        word.plain: word.root
        for word in claim.words
        if word.is_content and not word.is_number and word.root and word.plain not in _SMALL and word.root not in _SMALL
    }


def duplicate_groups(texts: Iterable[tuple[K, PreparedText]], limit: float) -> list[list[K]]:
    """Return the groups of texts that are duplicates of another of the group."""
    return join_pairs(_duplicate_pairs(texts, limit))


def _duplicate_pairs(texts: Iterable[tuple[K, PreparedText]], limit: float) -> Iterator[tuple[K, K]]:
    duplicates: DuplicateTexts[K] = DuplicateTexts(limit)
    first_keys: dict[str, K] = {}
    for key, shape in texts:
        earlier_key = first_keys.setdefault(shape.text.strip(), key)
        if earlier_key != key:
            yield earlier_key, key
            continue
        for duplicate_key in duplicates.find_duplicates(shape):
            yield duplicate_key, key
        duplicates.add_text(key, shape)


def join_pairs(pairs: Iterable[tuple[K, K]]) -> list[list[K]]:
    """Return the groups that pairs join, by union and find, each in the order of the pairs."""
    root: dict[K, K] = {}

    def find_root(key: K) -> K:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for first_key, second_key in pairs:
        root.setdefault(first_key, first_key)
        root.setdefault(second_key, second_key)
        root[find_root(second_key)] = find_root(first_key)
    members: dict[K, list[K]] = {}
    for key in root:
        members.setdefault(find_root(key), []).append(key)
    return list(members.values())
