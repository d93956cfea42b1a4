"""The order of the words that two texts share: whether it changes the claim.

*Redis calls celery* and *celery calls redis* have the same words. A clause or an adjunct may move (*when it
fails, restart it* and *restart it when it fails*), a list may be told in any order, and a passive names the
one who acts last. Where two things have changed places around a third, or a small word like *before* stands
before something else, another thing is said.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.text.similarity import contradiction
from roamkb.text.store.lexicons import vocabulary

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
    """A word that counts for the order."""

    key: str
    #: What stands before it and relates it to the rest: *before*, *to*, *only*.
    head: str = ""
    #: Whether a clause may begin here.
    is_first: bool = False
    #: Whether it is one more of a list.
    is_listed: bool = False
    is_exact: bool = False


def changed_places(mine: Sequence["contradiction.ClaimWord"], theirs: Sequence["contradiction.ClaimWord"]) -> bool:
    """Say whether *A to B* has become *B to A*."""
    if max(len(mine), len(theirs)) > _LONGEST:
        return False
    if any(word.plain == _BY for word in mine) != any(word.plain == _BY for word in theirs):
        mine, theirs = _active_order(mine), _active_order(theirs)
    my_places, their_places = _shared_places(_order_places(mine), _order_places(theirs))
    if _place_keys(my_places) == _place_keys(their_places) and _head_counts(my_places) == _head_counts(their_places):
        return False
    if _heads_moved(my_places, their_places):
        return True
    return _is_exchange(_sort_lists(my_places), _sort_lists(their_places))


def _order_places(words: Sequence["contradiction.ClaimWord"]) -> list[_OrderedWord]:
    """Return the words of a text that count for the order; *a switch of branches* is a branch switch."""
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


def _active_order(words: Sequence["contradiction.ClaimWord"]) -> Sequence["contradiction.ClaimWord"]:
    """Return a passive's words with the agent first: *A calls B* for *B is called by A*."""
    by_place = next((n for n, word in enumerate(words) if word.plain == _BY), 0)
    start = next((n for n in range(by_place - 1, -1, -1) if words[n].is_apart), 0)
    words_before = words[start:by_place]
    if not any(word.plain in _PASSIVE for word in words_before):
        return words
    end = next(
        (n for n in range(by_place + 1, len(words)) if words[n].is_apart or words[n].plain in _HEADS), len(words)
    )
    be = max(n for n, word in enumerate(words_before) if word.plain in _PASSIVE)
    deed = next((n for n in range(be + 1, len(words_before)) if words_before[n].is_content), None)
    if deed is None:
        return words
    remaining = [word for n, word in enumerate(words_before) if n != deed]
    return [*words[:start], *words[by_place + 1 : end], words_before[deed], *remaining, *words[end:]]


def _shared_places(
    first_places: Sequence[_OrderedWord], second_places: Sequence[_OrderedWord]
) -> tuple[list[_OrderedWord], list[_OrderedWord]]:
    """Return the words of each that the other has as often; repeats can't be told apart."""
    mine, theirs = Counter(_place_keys(first_places)), Counter(_place_keys(second_places))
    return [place for place in first_places if mine[place.key] == theirs[place.key]], [
        place for place in second_places if mine[place.key] == theirs[place.key]
    ]


def _place_keys(places: Sequence[_OrderedWord]) -> list[str]:
    return [place.key for place in places]


def _head_counts(places: Sequence[_OrderedWord]) -> Counter[tuple[str, str]]:
    return Counter((place.head, place.key) for place in places if place.head)


def _heads_moved(first_places: Sequence[_OrderedWord], second_places: Sequence[_OrderedWord]) -> bool:
    """Say whether a small word that both have stands before another word than it did."""
    mine, theirs = _head_counts(first_places), _head_counts(second_places)
    heads_gone, heads_new = {head for head, _ in mine - theirs}, {head for head, _ in theirs - mine}
    return bool(heads_gone & heads_new)


def _sort_lists(places: Sequence[_OrderedWord]) -> list[_OrderedWord]:
    """Return the words with the members of each list sorted, where the clause is nothing but a list."""
    ordered = list(places)
    start = 0
    while start < len(ordered):
        end = start + 1
        while end < len(ordered) and ordered[end].is_listed and not ordered[end].head:
            end += 1
        is_alone = start == 0 or ordered[start].is_first or end == len(ordered) or ordered[end].is_first
        # to Sentry and metrics to Datadog: what a small word stands before goes with it
        if end - start > 1 and is_alone and not ordered[start].head:
            ordered[start:end] = sorted(ordered[start:end], key=lambda place: place.key)
        start = end
    return ordered


def _is_exchange(first_places: Sequence[_OrderedWord], second_places: Sequence[_OrderedWord]) -> bool:
    """Say whether two parts have changed places around a third, or two names that stand side by side."""
    first_keys, second_keys = _place_keys(first_places), _place_keys(second_places)
    if len(first_keys) != len(second_keys):
        return False
    unlike = [n for n, (x, y) in enumerate(zip(first_keys, second_keys, strict=True)) if x != y]
    if not unlike or unlike[-1] - unlike[0] >= _LONGEST_APART:
        return False
    begin, end = unlike[0], unlike[-1] + 1
    is_whole = begin == 0 and end == len(first_keys)
    first_places, second_places, first_keys, second_keys = (
        first_places[begin:end],
        second_places[begin:end],
        first_keys[begin:end],
        second_keys[begin:end],
    )
    size = len(first_keys)
    if size == 2:
        are_names = all(place.is_exact for place in first_places) and not is_whole
        return are_names and not _is_adjunct(first_places[0], first_places[1], second_places[1], second_places[0])
    if any(first_keys[n:] + first_keys[:n] == second_keys for n in range(1, size)):
        return False
    return any(
        first_keys[size - tail_size :] == second_keys[:tail_size]
        and first_keys[head_size : size - tail_size] == second_keys[tail_size : size - head_size]
        and not _is_adjunct(
            first_places[0], first_places[size - tail_size], second_places[size - head_size], second_places[0]
        )
        for head_size in range(1, size - 1)
        if first_keys[:head_size] == second_keys[size - head_size :]
        for tail_size in range(1, size - head_size)
    )


def _is_adjunct(
    first_part: _OrderedWord, last_part: _OrderedWord, first_there: _OrderedWord, last_there: _OrderedWord
) -> bool:
    """Say whether one of two parts is an adjunct, which may move: *in Python*."""
    is_told = first_part.head == first_there.head and last_part.head == last_there.head
    return is_told and first_part.head != last_part.head
