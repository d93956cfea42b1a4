"""Do two texts say the same? A measure, and a guard that knows when not to believe it (design section 9).

Similarity alone never merges: word overlap calls "enable" and "disable", 30 and 300, or
one name and another duplicates. The guard refuses where numbers differ, one side alone
negates, an opposite is swapped, or each side names something that the other doesn't.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from enum import Enum

from roamkb.core.stem import stem
from roamkb.core.text import folded
from roamkb.core.tokens import STOP_WORDS
from roamkb.core.tokens import UNSPACED
from roamkb.core.tokens import pairs
from roamkb.core.tokens import words

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATIONS = frozenset(
    "no not never none nothing nobody without cannot cant dont doesnt didnt isnt arent wasnt werent "
    "wont shouldnt mustnt neither nor kein keine nicht nie ohne pas jamais sans non não nunca sem не "
    "нет без никогда".split()
)
_OPPOSITES = tuple(
    frozenset(pair.split("/"))
    for pair in (
        "enable/disable enabled/disabled on/off true/false before/after always/never allow/deny "
        "allowed/denied allow/forbid add/remove added/removed start/stop open/close opened/closed "
        "first/last min/max minimum/maximum up/down left/right in/out old/new increase/decrease "
        "increases/decreases read/write push/pull accept/reject accepts/rejects include/exclude "
        "includes/excludes required/optional must/may public/private sync/async client/server "
        "input/output source/target lock/unlock show/hide upper/lower more/less faster/slower "
        "higher/lower larger/smaller success/failure pass/fail passes/fails valid/invalid safe/unsafe "
        "mutable/immutable install/uninstall mount/unmount encode/decode encrypt/decrypt "
        "upgrade/downgrade local/remote development/production staging/production default/custom "
        "ascending/descending"
    ).split()
)
#: Names, quoted words and code: what a sentence is about, as far as form can tell.
_NAMED = re.compile(
    r"`([^`]+)`|\"([^\"]+)\"|[=~]([^\s=~][^=~]*)[=~]|\b([A-Za-z]*[A-Z_][\w.]*|\w+[._]\w[\w.]*)\b"
)


class Likeness(Enum):
    """What two texts are to each other."""

    SAME = "same"
    SIMILAR = "similar"
    #: Nearly the same words, and yet another claim.
    MAY_CONTRADICT = "may_contradict"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Shape:
    """A text, prepared for comparing with many others."""

    text: str
    normal: str
    all_words: frozenset[str]
    content: frozenset[str]
    trigrams: frozenset[str]


def shape(text: str) -> Shape:
    """Return `text` prepared for comparison."""
    normal = " ".join(_plain_words(text))
    all_words = frozenset(normal.split())
    padded = f"  {normal} "
    return Shape(
        text=text,
        normal=normal,
        all_words=all_words,
        content=frozenset(stem(word) for word in all_words - STOP_WORDS) or all_words,
        trigrams=frozenset(padded[n : n + 3] for n in range(len(padded) - 2)),
    )


def _plain_words(text: str) -> list[str]:
    found: list[str] = []
    for word in words(text.replace("'", "").replace("’", "")):
        found += pairs(word) if UNSPACED.match(word) else [folded(word)]
    return found


def similarity(one: Shape, other: Shape) -> float:
    """Return the largest of trigram, content-word and all-word Jaccard, 0 to 1."""
    return max(
        _jaccard(one.trigrams, other.trigrams),
        _jaccard(one.content, other.content),
        _jaccard(one.all_words, other.all_words),
    )


def _jaccard(one: Set[str], other: Set[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def likeness(one: Shape, other: Shape, *, limit: float) -> Likeness:
    """Return what the texts are to each other, `limit` being the least similarity that counts (inclusive)."""
    if not one.normal and not other.normal:
        # emoji and punctuation have no words to compare
        return Likeness.SAME if one.text.strip() == other.text.strip() else Likeness.DIFFERENT
    if one.normal == other.normal:
        return Likeness.SAME
    if similarity(one, other) < limit:
        return Likeness.DIFFERENT
    return Likeness.MAY_CONTRADICT if guarded(one, other) else Likeness.SIMILAR


def guarded(one: Shape, other: Shape) -> bool:
    """Say whether the texts may claim different things although their words are alike."""
    only_one, only_other = one.all_words - other.all_words, other.all_words - one.all_words
    stems_one, stems_other = {stem(word) for word in one.all_words}, {stem(word) for word in other.all_words}
    return (
        sorted(_NUMBER.findall(one.text)) != sorted(_NUMBER.findall(other.text))
        or bool(one.all_words & _NEGATIONS) != bool(other.all_words & _NEGATIONS)
        or any(pair & only_one and pair & only_other for pair in _OPPOSITES)
        or (_names(one.text, stems_one - stems_other) and _names(other.text, stems_other - stems_one))
    )


def _names(text: str, only_here: Set[str]) -> bool:
    """Say whether `text` names something whose stem only this side has."""
    for match in _NAMED.finditer(text):
        name = next(group for group in match.groups() if group)
        # A capital at the start of the text is spelling, not a name.
        if match.start() == 0 and name[1:].islower() and match[4]:
            continue
        if any(stem(word) in only_here for word in _plain_words(name)):
            return True
    return False
