"""Prompts for language models: versioned files of the package, each known by its name and its digest."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import dataclass

#: Characters of a digest that name it well enough in an event.
_DIGEST_LENGTH: Final = 12
_PROMPTS_FOLDER = Path(__file__).parents[2] / "data" / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The instructions that a model reads before its data."""

    text: str
    #: Its name and the beginning of its SHA-256, as events have it: `judge-1:0123456789ab`.
    label: str


@lru_cache(maxsize=4)
def read_prompt(name: str) -> Prompt:
    """Return the prompt `name`; a changed text needs another number in its name.

    Raises:
        OSError: the package lacks it.
    """
    data = (_PROMPTS_FOLDER / f"{name}.txt").read_bytes()
    digest = hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]
    return Prompt(text=data.decode("utf-8"), label=f"{name}:{digest}")
