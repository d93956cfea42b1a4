"""Statements that announce themselves: `TYPE:` lines of agents, and what a human asks to remember.

Everything else that is worth keeping the agent proposes when it is asked (D22); no list of phrases finds it.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import folded
from roamkb.core.untrusted import FRAMED
from roamkb.text.store.lexicons import lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedStatement:
    """One statement, as it was announced."""

    #: An observation type: learned, decision, fact, preference, …
    type: str
    text: str
    provenance: str = "observed"
    tags: tuple[str, ...] = ()
    #: Whether a type word stands before it: somebody wants it kept.
    announced: bool = False


#: Characters of a message that is read; what goes on is a document.
_LONGEST_MESSAGE: Final = 40_000
#: Nobody types so much: it was pasted.
_LONGEST_PROMPT: Final = 4000
_LONGEST: Final = 600
#: A block that a harness or a program wrote.
_TAGGED: Final = lazily(
    r"^[ \t]*<(?P<tag>[A-Za-z][\w-]*)\b[^<>]*>.*?</(?P=tag)\s*>", re.MULTILINE | re.DOTALL
)
#: What a harness puts in a human's place: names with a hyphen, as no page of HTML begins.
NOTICED: Final = lazily(r"\s*<[a-z]+(?:-[a-z]+)+[\s>]")
_QUOTED: Final = lazily(
    r"^[ \t]*(?P<mark>```|~~~).*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)|^[ \t]*>.*?$", re.MULTILINE | re.DOTALL
)
#: What may stand before a sentence that asks for something.
_COURTESIES: Final = lexicon("courtesies")
#: Where a sentence ends; an abbreviation or a file name doesn't end one.
_END: Final = lazily(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*\w)|(?<=[。！？])|\n")
_BULLET: Final = lazily(r"\s*(?:(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s+)*")


def statements_of_agent(message: str) -> Iterator[AnnouncedStatement]:
    """Yield what an agent's message states in lines that begin with a type."""
    from roamkb.pipeline.extract.markers import captured_from_message

    for one in captured_from_message(_own(message[:_LONGEST_MESSAGE])):
        yield AnnouncedStatement(type=one.said or one.type, text=one.text, tags=one.tags, announced=True)


def statements_of_human(prompt: str, remember: Sequence[str]) -> Iterator[AnnouncedStatement]:
    """Yield the sentences of a human's prompt that begin or end with one of the phrases `remember`.

    Blocks of code, quotations and what a harness wrote are nobody's words, and a question states nothing.
    """
    # what a notice quotes can look like its end
    if len(prompt) > _LONGEST_PROMPT or NOTICED.match(prompt):
        return
    for piece in _END.split(_QUOTED.sub("\n\n", _own(prompt))):
        sentence = " ".join(_BULLET.sub("", piece, count=1).split())
        said = _announced(sentence, remember)
        if said and not sentence.endswith(("?", "？")) and len(said) <= _LONGEST:
            yield AnnouncedStatement(type="preference", text=said, provenance="user-stated", announced=True)


def _announced(sentence: str, remember: Sequence[str]) -> str:
    """Return what a sentence says beside the phrase that announces it; nothing where none does."""
    plain = folded(sentence)
    if len(plain) != len(sentence):
        # a letter that folds into two
        plain = sentence.casefold() if len(sentence.casefold()) == len(sentence) else sentence
    start = 0
    while courtesy := next((one for one in _COURTESIES if plain.startswith(f"{one} ", start)), ""):
        start += len(courtesy) + 1
    for phrase in remember:
        if plain.startswith(phrase, start):
            return sentence[start + len(phrase) :].strip(" ,:：、-–—")
        bare = plain.rstrip(" .!。！")
        if not phrase.isascii() and bare.endswith(phrase):
            return sentence[: len(bare) - len(phrase)].rstrip(" ,、")
    return ""


def _own(text: str) -> str:
    """Return `text` without the blocks that others wrote: frames, and what harnesses put between tags."""
    for pattern in (FRAMED, _TAGGED):
        text = pattern.sub("\n\n", text)
    return text
