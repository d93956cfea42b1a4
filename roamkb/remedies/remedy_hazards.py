"""Hazards of remedies: why one is for whoever asks, and told to nobody unasked."""

from collections.abc import Sequence

from roamkb.core.startup.typing import Final
from roamkb.secrets.detector import SECRET_MARK
from roamkb.shell.risky_commands import find_risk
from roamkb.text.unsafe_text import unsafe_reason

#: What a masked secret leaves of a command can't be run.
_MASKED: Final = "a secret was masked in it"


def remedy_hazard(technique: str, steps: Sequence[str]) -> str:
    """Return why a technique with its steps is told to nobody unasked, as a clause; empty where it may be."""
    texts = (technique, *steps)
    if any(_holds_mask(text) for text in texts):
        return _MASKED
    return unsafe_reason(texts) or next(filter(None, map(find_risk, texts)), "")


def _holds_mask(text: str) -> bool:
    # `names[key]` is code
    return any(not text[: mark.start()][-1:].isalnum() for mark in SECRET_MARK.finditer(text))
