"""How good something is that worked so often of so many times: Wilson's lower bound.

E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
the American Statistical Association 22 (1927), pages 209 to 212. Unlike the plain share, it
doesn't put one success of one above nineteen of twenty.
"""

from math import sqrt
from typing import Final

#: The normal quantile of a two-sided interval of 95 %.
_Z: Final = 1.959964


def lower_bound(successes: int, trials: int) -> float:
    """Return the share of successes, 0 to 1, that the true one is above with 97.5 %; 0 without trials."""
    if trials <= 0 or successes <= 0:
        return 0.0
    share = min(max(successes / trials, 0.0), 1.0)
    square = _Z * _Z
    margin = _Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max((share + square / (2 * trials) - margin) / (1 + square / trials), 0.0)
