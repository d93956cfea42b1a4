"""Text that no agent should be told unasked: it gives orders, or makes something less safe."""

import re
from collections.abc import Iterable
from itertools import chain

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.text import strip_hidden
from roamkb.text.store.lexicons import alternatives_pattern


def hazard_pattern(*kinds: str) -> str:
    """Return a regular expression of the names of these kinds, by `data/hazards.tsv`."""
    return "|".join(pattern for kind, pattern in data_rows("hazards.tsv") if kind in kinds)


#: What makes a project less safe is a human's to decide, true or not: words for it, and names.
_WEAKENING: Final = lazily(alternatives_pattern("weakening"), re.IGNORECASE)
_UNSAFE: Final = lazily(hazard_pattern("unsafe"), re.IGNORECASE)
_NEGATED: Final = lazily(rf"\b{alternatives_pattern('negated')}(?:\s+\w+){{0,3}}\s*\Z", re.IGNORECASE)

#: What tells an agent to do something, beyond how this project is built. None of it is knowledge.
_INSTRUCTIONS: Final = lazily(f"{alternatives_pattern('instructions')}|{hazard_pattern('instruction')}", re.IGNORECASE)


def unsafe_reason(texts: Iterable[str]) -> str:
    """Return why some texts aren't to be told unasked, as a clause; empty where they may be."""
    return next((fault for text in texts if (fault := instruction_fault(text) or safety_fault(text))), "")


def instruction_fault(content: str) -> str:
    """Return what in a text tells an agent to do something, as a clause; empty without any."""
    # what is split by invisible characters or line breaks is read as it would be
    text = " ".join(strip_hidden(content).split())
    matched = _INSTRUCTIONS.search(text) or _INSTRUCTIONS.search(content)
    return f"it tells an agent what to do: “{matched.group()[:60]}”" if matched else ""


def safety_fault(content: str) -> str:
    """Return what in a text makes something less safe, as a clause; empty without any."""
    text = " ".join(strip_hidden(content).split())
    for matched in chain(_WEAKENING.finditer(text), _UNSAFE.finditer(text)):
        if not _NEGATED.search(text[: matched.start()]):
            return f"it makes something less safe: “{matched.group()[:60]}”"
    return ""
