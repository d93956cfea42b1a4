"""Confidence of learnings: every number of it, in whole hundredths (docs/architecture.md).

Limits are inclusive: 0.7 + 0.1 is 0.7999… in floats, and one source's own test scores
exactly its limit. The number orders and gates; it never deletes anything.
"""

from roamkb.core.errors import UsageError
from roamkb.core.startup.typing import Annotated
from roamkb.core.startup.typing import Final
from roamkb.core.text import one_line

#: What a human says, and what a human's log is imported as (documents 000 and 003).
HUMAN: Final = 90
#: What an agent proposes, until its evidence bears it out; then it is durable at once (D21).
PROPOSED: Final = 60
#: What consolidation makes of a session's observations; a verified rule (documents 002 and 004).
CONSOLIDATED: Final = 70
#: An explicit write says 50 to 90 (document 002); only a human at a terminal may say more (D17).
MOST_AT_FIRST: Final = HUMAN
#: Without a number, by where it comes from.
BY_PROVENANCE: Final = {"user-stated": HUMAN, "observed": 70, "inferred": 50, "external": 50}
#: What a first word gains where nobody gave a number: of who tests, of what was done more than once,
#: and of a fix that was applied (document 004, FR-5).
QA_BONUS: Final = 10
PATTERN_BONUS: Final = 5
FIX_BONUS: Final = 10
#: What a human gives a learning that he trusts, at least; less is his doubt.
LEAST_TRUSTED: Final = 50
#: At most, of what was in a log before it was adopted (D25).
ADOPTED: Final = 50
#: A line of another tool's that says nothing about itself.
UNSTATED: Final = 70

#: Repeated by `learn`, or reused with success; by distinct sources only (document 004, FR-6).
REPEATED: Final = 5
REUSED: Final = 5
#: Repeated in consolidation, or confirmed by another agent (document 002, stage 1; 004, FR-5).
CONSOLIDATED_AGAIN: Final = 10
VALIDATED: Final = 10
#: An error that didn't happen because of it (document 004, FR-6).
PREVENTED: Final = 15
FAILED: Final = -10
SUPERSEDED: Final = -20
#: Without use, and in rank alone (D8).
_DECAY_DAYS: Final = 30

#: What agents earn stays between these; a human's word may be 100 (D17).
LEAST: Final = 10
MOST: Final = 95

#: Worth keeping for good; and worth a line in a rule file, where it was also seen so often.
DURABLE: Final = 80
PROMOTION_OCCURRENCES: Final = 3


def move_confidence(confidence: int, change: int) -> int:
    """Return `confidence` after a change, within the bounds; a human's value above them stays there."""
    return min(max(confidence + change, min(LEAST, confidence)), max(MOST, confidence))


def bound_confidence(confidence: int, *, human: bool = False) -> int:
    """Return a first confidence within the bounds: up to 100 for a human's word."""
    return min(max(confidence, 0 if human else LEAST), 100 if human else MOST)


def start_confidence(stated: int | None, provenance: str) -> int:
    """Return the confidence that a learning begins with; `stated` is the line's own, in hundredths."""
    if stated is None:
        return BY_PROVENANCE.get(provenance, UNSTATED)
    return bound_confidence(stated, human=provenance == "user-stated")


def first_confidence(provenance: str, *, type: str, agent: str, fix_applied: bool = False) -> int:
    """Return the confidence of a new statement that came without a number."""
    gained = (
        QA_BONUS * ("qa" in agent.casefold().replace("-", "_").split("_"))
        + PATTERN_BONUS * (type == "pattern")
        + FIX_BONUS * fix_applied
    )
    return move_confidence(start_confidence(None, provenance), gained)


def decayed_confidence(confidence: int, *, idle_days: float) -> int:
    """Return the confidence for ranking a learning that was unused for so many days."""
    return max(min(LEAST, confidence), confidence - max(int(idle_days // _DECAY_DAYS), 0))


def as_fraction(hundredths: int) -> float:
    """Return 0.00 to 1.00, as every output shows it."""
    return round(hundredths / 100, 2)


#: A number of hundredths, which JSON has as a fraction.
Hundredths = Annotated[int, as_fraction]


def parse_hundredths(text: str | None) -> int | None:
    """Return a confidence of 0.00 to 1.00 in hundredths."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"{one_line(text)} is no confidence", hint="a number from 0 to 1, such as 0.7")
    return round(value * 100)
