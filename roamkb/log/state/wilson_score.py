"""Wilson's bounds: the reliability of a success rate given the number of trials.

E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
the American Statistical Association 22 (1927), pages 209 to 212. Unlike the plain share, it
doesn't put one success of one above nineteen of twenty.
"""

from math import sqrt
from typing import Final

#: The normal quantile of a two-sided interval of 95 %.
_NORMAL_QUANTILE: Final = 1.959964


def wilson_lower_bound(successes: int, trials: int) -> float:
    """Return the lower 97.5 % bound of the true share of successes, 0 to 1; 0 without trials."""
    if trials <= 0 or successes <= 0:
        return 0.0
    share = min(max(successes / trials, 0.0), 1.0)
    square = _NORMAL_QUANTILE * _NORMAL_QUANTILE
    margin = _NORMAL_QUANTILE * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max((share + square / (2 * trials) - margin) / (1 + square / trials), 0.0)


def wilson_upper_bound(successes: int, trials: int) -> float:
    """Return the upper 97.5 % bound of the true share of successes, 0 to 1; 1 without trials."""
    return 1.0 - wilson_lower_bound(trials - successes, trials)
