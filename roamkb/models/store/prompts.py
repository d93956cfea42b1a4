"""Prompts for language models: versioned files of the package, each known by its name and its digest."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import dataclass

#: Characters of a digest that name it well enough in an event.
_SHORT: Final = 12
_FOLDER = Path(__file__).parents[2] / "data" / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is told before it is shown anything."""

    text: str
    #: Its name and the beginning of its SHA-256, as events have it: `judge-1:0123456789ab`.
    label: str


@lru_cache(maxsize=4)
def prompt(name: str) -> Prompt:
    """Return the prompt `name`; whoever changes its words gives it another number.

    Raises:
        OSError: the package lacks it.
    """
    data = (_FOLDER / f"{name}.txt").read_bytes()
    digest = hashlib.sha256(data).hexdigest()[:_SHORT]
    return Prompt(text=data.decode("utf-8"), label=f"{name}:{digest}")
