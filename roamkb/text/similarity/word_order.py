"""Do the words that two texts share stand in an order that says the same?

*Redis calls celery* and *celery calls redis* have the same words. A clause or an adjunct may move (*when it
fails, restart it* and *restart it when it fails*), a list may be told in any order, and a passive names the
one who acts last. Where two things have changed places around a third, or a small word like *before* stands
before something else, another thing is said.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.text.store.lexicons import vocabulary

if TYPE_CHECKING:
    from roamkb.text.similarity.contradiction import ClaimWord


#: What says how the next word hangs together with the rest.
_HEADS: Final = vocabulary("heads")
_LISTING: Final = vocabulary("listing")
_PASSIVE: Final = vocabulary("passive")
#: What may stand anywhere, or nowhere. Other small words are things where they stand: the *order* table.
_SILENT: Final = _PASSIVE | vocabulary("silent")
_BY: Final = "by"
#: Words of a text whose order is looked at, longer ones are documents; and of what has changed places.
_LONGEST: Final = 400
_LONGEST_APART: Final = 60


@dataclass(frozen=True, slots=True)
class _OrderedWord:
    """One word that counts for the order."""

    key: str
    #: What stands before it and relates it to the rest: *before*, *to*, *only*.
    head: str = ""
    #: Whether a clause may begin here.
    is_first: bool = False
    #: Whether it is one more of a list.
    is_listed: bool = False
    is_exact: bool = False


def changed_places(mine: Sequence["ClaimWord"], theirs: Sequence["ClaimWord"]) -> bool:
    """Say whether *A to B* has become *B to A*."""
    if max(len(mine), len(theirs)) > _LONGEST:
        return False
    if any(word.plain == _BY for word in mine) != any(word.plain == _BY for word in theirs):
        mine, theirs = _active(mine), _active(theirs)
    a, b = _shared(_places(mine), _places(theirs))
    if _keys(a) == _keys(b) and _heads(a) == _heads(b):
        return False
    if _heads_moved(a, b):
        return True
    return _is_exchange(_in_lists_order(a), _in_lists_order(b))


def _places(words: Sequence["ClaimWord"]) -> list[_OrderedWord]:
    """Return what counts for the order of a text; *a switch of branches* is a branch switch."""
    places: list[_OrderedWord] = []
    head, is_first, is_listed, is_owned, is_place = "", True, False, False, False
    for word in words:
        is_first = is_first or word.is_apart
        if word.plain in _HEADS:
            head, is_first = f"{head} {word.plain}".lstrip(), True
        elif word.plain in _LISTING:
            is_listed = True
        elif word.is_content or word.is_number or word.plain not in _SILENT:
            owned = places.pop() if is_owned else None
            place = _OrderedWord(
                word.root, head, is_first, is_listed=is_listed or word.is_apart, is_exact=word.is_exact
            )
            if owned is None:
                places.append(place)
            else:
                places += (
                    replace(place, head=owned.head, is_first=owned.is_first, is_listed=owned.is_listed),
                    replace(owned, head="", is_first=False, is_listed=False),
                )
            head, is_first, is_listed = "", False, False
        # an article may stand between
        is_owned = (word.plain == "of" and is_place) or (is_owned and word.plain in _SILENT)
        is_place = bool(places) and places[-1].key == word.root
    return places


def _active(words: Sequence["ClaimWord"]) -> Sequence["ClaimWord"]:
    """Return a passive's words with the one who acts first: *A calls B* for *B is called by A*."""
    by = next((n for n, word in enumerate(words) if word.plain == _BY), 0)
    start = next((n for n in range(by - 1, -1, -1) if words[n].is_apart), 0)
    before = words[start:by]
    if not any(word.plain in _PASSIVE for word in before):
        return words
    end = next(
        (n for n in range(by + 1, len(words)) if words[n].is_apart or words[n].plain in _HEADS), len(words)
    )
    be = max(n for n, word in enumerate(before) if word.plain in _PASSIVE)
    deed = next((n for n in range(be + 1, len(before)) if before[n].is_content), None)
    if deed is None:
        return words
    rest = [word for n, word in enumerate(before) if n != deed]
    return [*words[:start], *words[by + 1 : end], before[deed], *rest, *words[end:]]


def _shared(
    a: Sequence[_OrderedWord], b: Sequence[_OrderedWord]
) -> tuple[list[_OrderedWord], list[_OrderedWord]]:
    """Return of each what the other says as often; of *A, then A* nobody knows which is which."""
    mine, theirs = Counter(_keys(a)), Counter(_keys(b))
    return [one for one in a if mine[one.key] == theirs[one.key]], [
        one for one in b if mine[one.key] == theirs[one.key]
    ]


def _keys(places: Sequence[_OrderedWord]) -> list[str]:
    return [one.key for one in places]


def _heads(places: Sequence[_OrderedWord]) -> Counter[tuple[str, str]]:
    return Counter((one.head, one.key) for one in places if one.head)


def _heads_moved(a: Sequence[_OrderedWord], b: Sequence[_OrderedWord]) -> bool:
    """Say whether a small word that both have stands before another word than it did."""
    mine, theirs = _heads(a), _heads(b)
    gone, new = {head for head, _ in mine - theirs}, {head for head, _ in theirs - mine}
    return bool(gone & new)


def _in_lists_order(places: Sequence[_OrderedWord]) -> list[_OrderedWord]:
    """Return them with what a list names in the order of the alphabet, where a clause is nothing but it."""
    found = list(places)
    start = 0
    while start < len(found):
        end = start + 1
        while end < len(found) and found[end].is_listed and not found[end].head:
            end += 1
        is_alone = start == 0 or found[start].is_first or end == len(found) or found[end].is_first
        # to Sentry and metrics to Datadog: what a small word stands before goes with it
        if end - start > 1 and is_alone and not found[start].head:
            found[start:end] = sorted(found[start:end], key=lambda one: one.key)
        start = end
    return found


def _is_exchange(a: Sequence[_OrderedWord], b: Sequence[_OrderedWord]) -> bool:
    """Say whether two parts have changed places around a third, or two names that stand side by side."""
    one, other = _keys(a), _keys(b)
    if len(one) != len(other):
        return False
    unlike = [n for n, (x, y) in enumerate(zip(one, other, strict=True)) if x != y]
    if not unlike or unlike[-1] - unlike[0] >= _LONGEST_APART:
        return False
    begin, end = unlike[0], unlike[-1] + 1
    is_whole = begin == 0 and end == len(one)
    a, b, one, other = a[begin:end], b[begin:end], one[begin:end], other[begin:end]
    size = len(one)
    if size == 2:
        are_names = all(place.is_exact for place in a) and not is_whole
        return are_names and not _is_adjunct(a[0], a[1], b[1], b[0])
    if any(one[n:] + one[:n] == other for n in range(1, size)):
        return False
    return any(
        one[size - last :] == other[:last]
        and one[first : size - last] == other[last : size - first]
        and not _is_adjunct(a[0], a[size - last], b[size - first], b[0])
        for first in range(1, size - 1)
        if one[:first] == other[size - first :]
        for last in range(1, size - first)
    )


def _is_adjunct(
    first: _OrderedWord, last: _OrderedWord, first_there: _OrderedWord, last_there: _OrderedWord
) -> bool:
    """Say whether one of two parts, by how each begins in both texts, only stands elsewhere: *in Python*."""
    is_told = first.head == first_there.head and last.head == last_there.head
    return is_told and first.head != last.head
