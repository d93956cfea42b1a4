"""How many examples a property is tried on: all that were thought needed, or few where an answer is wanted soon."""

import os

#: Set by `make unit`.
IS_QUICK = "ROAMKB_TEST_QUICK" in os.environ
#: Set by `make reliability`, which has an hour.
IS_THOROUGH = "ROAMKB_TEST_THOROUGH" in os.environ
_QUICK = 10


def examples(number: int) -> int:
    """Return on how many examples a property is tried that deserves `number`."""
    return min(number, _QUICK) if IS_QUICK else number
