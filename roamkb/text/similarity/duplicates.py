"""Which of many texts say the same, however many more are alike and say something else.

Ten thousand texts that differ in a number or a name are each alike to all others, and none says what
another says. Who looks for a twin must not meet them: a twin has the same numbers and negates as often,
and one of the two has a word for every word of the other (`claims`). So only texts are compared that
share the rarest word of one of them, or a form of it.
"""

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set
from functools import lru_cache
from typing import Final
from typing import Generic
from typing import TypeVar

from roamkb.text.similarity.contradiction import Claim
from roamkb.text.similarity.contradiction import are_kin
from roamkb.text.similarity.contradiction import claim_of
from roamkb.text.similarity.contradiction import kinships
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import likeness
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import NEGATIONS

K = TypeVar("K", bound=Hashable)

_SMALL = FUNCTION_WORDS | NEGATIONS
SAYS_THE_SAME: Final = (TextLikeness.SAME, TextLikeness.SIMILAR)
#: A compound has no more parts.
_LONGEST_RUN = 3


class _TextVocabulary:
    """The words of texts, and what may stand for each."""

    def __init__(self) -> None:
        self.roots: dict[str, str] = {}
        #: The roots of the known words that are forms of a known one, or slips of the pen.
        self._kin: dict[str, set[str]] = {}
        self._by_key: dict[str, list[str]] = {}

    def add(self, word: str, root: str) -> None:
        """Keep a word."""
        if word in self.roots:
            return
        for other in self._found(word):
            self._kin.setdefault(word, set()).add(self.roots[other])
            self._kin.setdefault(other, set()).add(root)
        self.roots[word] = root
        for key in kinships(word):
            self._by_key.setdefault(key, []).append(word)

    def kin_of(self, word: str) -> Collection[str]:
        """Return the roots of the words that `word` may stand for."""
        if word in self.roots:
            return self._kin.get(word, ())
        return {self.roots[other] for other in self._found(word)}

    def _found(self, word: str) -> set[str]:
        near = {other for key in kinships(word) for other in self._by_key.get(key, ())}
        return {other for other in near if are_kin(word, other)}


@lru_cache(maxsize=4096)
def _parts(word: str) -> tuple[str, ...]:
    """Return what a word begins and ends with."""
    return tuple(part for n in range(1, len(word)) for part in (word[:n], word[n:]))


class _ClaimIndex:
    """Claims by number, with the same numbers and as many negations."""

    def __init__(self) -> None:
        self._roots: dict[int, frozenset[str]] = {}
        self._holding: dict[str, list[int]] = {}
        #: By the rarest of the words of each when it came; empty where it has small words alone.
        self._filed: dict[str, list[int]] = {}

    def add(self, number: int, roots: frozenset[str]) -> None:
        self._roots[number] = roots
        for root in roots:
            self._holding.setdefault(root, []).append(number)
        rarest = min(sorted(roots), key=lambda root: len(self._holding[root]), default="")
        self._filed.setdefault(rarest, []).append(number)

    def with_word_for_each(self, needed: Sequence[Set[str]]) -> Set[int]:
        """Return those that have one of the words of each set."""
        lists = ([self._holding[root] for root in roots if root in self._holding] for roots in needed)
        rarest = min(lists, key=lambda held: sum(map(len, held)), default=None)
        # of small words alone there is no rarest
        numbers = self._roots if rarest is None else set().union(*rarest)
        return {number for number in numbers if not any(map(self._roots[number].isdisjoint, needed))}

    def within(self, roots: Set[str]) -> Set[int]:
        """Return those that have no other words than `roots`."""
        filed = (self._filed[root] for root in (*roots, "") if root in self._filed)
        return {number for numbers in filed for number in numbers if self._roots[number] <= roots}


class DuplicateTexts(Generic[K]):
    """Texts by key, added one by one, and found by what is at least `limit` alike and claims the same."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        self._words = _TextVocabulary()
        self._claims: dict[tuple[object, ...], _ClaimIndex] = {}
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}

    def add(self, key: K, shape: PreparedText) -> None:
        """Keep a text; the same key may be kept for several."""
        number = len(self._keys)
        self._keys.append(key)
        self._shapes.append(shape)
        if not shape.normal:
            self._wordless.setdefault(shape.text.strip(), []).append(number)
            return
        claim = claim_of(shape.text)
        roots = _roots(claim)
        for word, root in roots.items():
            self._words.add(word, root)
        self._claims.setdefault(_kind(claim), _ClaimIndex()).add(number, frozenset(roots.values()))

    def of(self, shape: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that are the same or similar, as they were added."""
        for number in sorted(self._candidates(shape)):
            if likeness(shape, self._shapes[number], limit=self._limit) in SAYS_THE_SAME:
                yield self._keys[number]

    def compared(self, shape: PreparedText) -> int:
        """Return with how many texts one is compared."""
        return len(self._candidates(shape))

    def _candidates(self, shape: PreparedText) -> Collection[int]:
        if not shape.normal:
            return self._wordless.get(shape.text.strip(), ())
        claim = claim_of(shape.text)
        held = self._claims.get(_kind(claim))
        if held is None:
            return ()
        roots = _roots(claim)
        joined = self._joined(claim)
        needed = [{root, *self._words.kin_of(word), *joined.get(word, ())} for word, root in roots.items()]
        return held.with_word_for_each(needed) | held.within(set().union(*needed, *joined.values()))

    def _joined(self, claim: Claim) -> dict[str, set[str]]:
        """Return by each word the roots of known words that it is a part of, or that are parts of it."""
        known = self._words.roots
        found: dict[str, set[str]] = {}
        words = [word.plain for word in claim.words]
        for place, word in enumerate(words):
            for part in _parts(word):
                if part in known:
                    found.setdefault(word, set()).add(known[part])
            for length in range(2, _LONGEST_RUN + 1):
                run = words[place : place + length]
                if len(run) == length and (whole := "".join(run)) in known:
                    for part in run:
                        found.setdefault(part, set()).add(known[whole])
        return found


def _kind(claim: Claim) -> tuple[object, ...]:
    """Return what two claims have in common where one may stand for the other; *one* counts as no number."""
    return (*sorted(digits for digits, _ in claim.numbers if digits != "1"), len(claim.negated))


def _roots(claim: Claim) -> dict[str, str]:
    """Return the words that only a form of them, a synonym or a compound stands for, and their roots."""
    return {
        word.plain: word.root
        for word in claim.words
        if word.is_content and not word.is_number and word.root and not {word.plain, word.root} & _SMALL
    }


def families(texts: Iterable[tuple[K, PreparedText]], limit: float) -> list[list[K]]:
    """Return the groups of texts that say the same as one of the group."""
    return united(_same(texts, limit))


def _same(texts: Iterable[tuple[K, PreparedText]], limit: float) -> Iterator[tuple[K, K]]:
    twins: DuplicateTexts[K] = DuplicateTexts(limit)
    first: dict[str, K] = {}
    for key, shape in texts:
        before = first.setdefault(shape.text.strip(), key)
        if before != key:
            yield before, key
            continue
        for other in twins.of(shape):
            yield other, key
        twins.add(key, shape)


def united(pairs: Iterable[tuple[K, K]]) -> list[list[K]]:
    """Return the groups that pairs join, by union and find, each in the order of the pairs."""
    root: dict[K, K] = {}

    def find(key: K) -> K:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for one, other in pairs:
        root.setdefault(one, one)
        root.setdefault(other, other)
        root[find(other)] = find(one)
    members: dict[K, list[K]] = {}
    for key in root:
        members.setdefault(find(key), []).append(key)
    return list(members.values())
