"""Needs: what a base knows, prompts that one thing of it helps with, and prompts that nothing helps with.

A file for each language, in lines: `= ID KIND` begins a fact, followed by its text (a note's as `Title | body`)
and by the prompts that need it, `? PROMPT`; `- PROMPT` needs nothing. All of it was written, and split in two by
a hash, before what is shown was measured on any: the threshold is tuned on one half, and held to the other.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "fr", "es", "ja")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a base knows, and the prompts that need it."""

    id: str
    is_note: bool
    text: str
    prompts: tuple[str, ...]

    @property
    def is_held_out(self) -> bool:
        """Whether its prompts are none to tune on."""
        return is_held_out(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What was written in one language."""

    facts: tuple[Fact, ...]
    #: Prompts that need nothing.
    noise: tuple[str, ...]


def is_held_out(text: str) -> bool:
    """Say whether what `text` names is held out: about half of all is."""
    return zlib.crc32(text.encode()) % 2 == 1


def read_needs(language: str) -> Needs:
    """Return the needs of one language."""
    lines = (Path(__file__).parent / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    facts: list[Fact] = []
    for place, line in enumerate(lines):
        if line.startswith("= "):
            id, kind = line[2:].split()
            prompts = []
            for said in lines[place + 2 :]:
                if not said.startswith("? "):
                    break
                prompts.append(said[2:])
            facts.append(Fact(id=id, is_note=kind == "note", text=lines[place + 1], prompts=tuple(prompts)))
    noise = tuple(line[2:].replace("\\n", "\n") for line in lines if line.startswith("- "))
    return Needs(facts=tuple(facts), noise=noise)
