"""Is it worth an interruption? A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute:
how much of what the words tell is in the answer, in words so rare that one text of the whole base has each.
Measured on the prompts of tests/interfaces/prompts.py: of what is shown 0.92 is to the point, and of the
prompts that something helps with 0.94 are answered (the limits were chosen on the same prompts).
"""

from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

#: Rarest words' worth that a name has to share, those of the text beside it counting a quarter.
_LEAST: Final = 1.5
_BESIDE: Final = 0.25
#: The share of the words' whole weight, of the heaviest few in a long prompt.
_SHARE: Final = 0.25
_HEAVIEST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What the terms of a query tell in one collection of texts."""

    terms: Mapping[str, float]
    #: What a term weighs that a single text holds.
    rarest: float


def is_worth(weights: Weights, *, name: Set[str], text: Set[str]) -> bool:
    """Say whether an answer clears the floor: `name` and `text` are the terms of each."""
    named = sum(weight for term, weight in weights.terms.items() if term in name)
    beside = sum(weight for term, weight in weights.terms.items() if term in text and term not in name)
    whole = sum(_heaviest(weights))
    if not named or not whole:
        return False
    return named + _BESIDE * beside >= _LEAST * weights.rarest and named + beside >= _SHARE * whole


def is_about(weights: Weights, *, name: Set[str]) -> bool:
    """Say whether a name shares at least one rare word's worth with the query."""
    return sum(weight for term, weight in weights.terms.items() if term in name) >= weights.rarest - 1e-9


def _heaviest(weights: Weights) -> Sequence[float]:
    return sorted(weights.terms.values(), reverse=True)[:_HEAVIEST]
