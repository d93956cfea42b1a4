"""Announced statements: `TYPE:` lines of agents, and sentences that a human asks to remember.

Everything else that is worth keeping the agent proposes when it is asked (D22); no list of phrases finds it.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cache

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.text import fold_text
from roamkb.pipeline.extract import markers
from roamkb.text import tokenize
from roamkb.text.pasted_blocks import own_words
from roamkb.text.pasted_blocks import without_blocks
from roamkb.text.similarity import synonyms
from roamkb.text.store.lexicons import lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedStatement:
    """A statement as it was announced."""

    #: An observation type: learned, decision, fact, preference, …
    type: str
    text: str
    provenance: str = "observed"


#: Characters of a message that is read; what goes on is a document.
_LONGEST_MESSAGE: Final = 40_000
#: Nobody types so much: it was pasted.
_LONGEST_PROMPT: Final = 4000
_LONGEST_STATEMENT: Final = 600
#: What a harness puts in a human's place: names with a hyphen, as no page of HTML begins.
NOTICE_START: Final = lazily(r"\s*<[a-z]+(?:-[a-z]+)+[\s>]")
#: The words of a phrase, and the colon that ends some.
_PHRASE_WORD: Final = lazily(r"[^\s,:]+|:")
#: What is no statement by itself, but may point at a thing; and how many words a statement has at least, if the
#: second relates the first to a third.
_THAT: Final = " that"
_LEAST_WORDS: Final = 4
#: Where a sentence ends; an abbreviation or a file name doesn't end one.
_SENTENCE_END: Final = lazily(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*\w)|(?<=[。！？])|\n")
_BULLET: Final = lazily(r"\s*(?:(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s+)*")


def statements_of_agent(message: str) -> Iterator[AnnouncedStatement]:
    """Yield the statements of an agent's message in lines that begin with a type."""
    for captured in markers.captured_from_message(without_blocks(message[:_LONGEST_MESSAGE], keeps_markup=True)):
        yield AnnouncedStatement(type=captured.alias or captured.type, text=captured.text)


def statements_of_human(prompt: str, remember: Sequence[str]) -> Iterator[AnnouncedStatement]:
    """Yield the sentences of a human's prompt that begin or end with one of the phrases `remember`.

    Blocks of code, quotations and what a harness wrote are nobody's words, and a question states nothing.
    """
    # what a notice quotes can look like its end
    if len(prompt) > _LONGEST_PROMPT or not _may_announce(prompt, remember) or NOTICE_START.match(prompt):
        return
    for piece in _SENTENCE_END.split(own_words(prompt)):
        sentence = " ".join(_BULLET.sub("", piece, count=1).split())
        statement = _announced_text(sentence, remember)
        if statement and not sentence.endswith(("?", "？")) and len(statement) <= _LONGEST_STATEMENT:
            yield AnnouncedStatement(type="preference", text=statement, provenance="user-stated")


def _may_announce(prompt: str, remember: Sequence[str]) -> bool:
    """Return whether the words of a phrase stand anywhere in a prompt; most hold none, and nothing is compiled."""
    line = " ".join(prompt.split())
    forms = {fold_text(line), line.casefold(), line}
    return any(all(word in form for word in _PHRASE_WORD.findall(phrase)) for phrase in remember for form in forms)


def _announced_text(sentence: str, remember: Sequence[str]) -> str:
    """Return a sentence's text without the phrase that announces it; empty where none does."""
    plain = fold_text(sentence)
    if len(plain) != len(sentence):
        # a letter that folds into two, or into none
        plain = "".join(folded if len(folded := fold_text(letter)) == 1 else letter for letter in sentence)
    for phrase in remember:
        if announcing := _announcing_pattern(phrase).match(plain):
            text = sentence[announcing.end() :].strip(" ,:：、-–—")
            return "" if phrase.endswith(_THAT) and _is_thing(text) else text
        bare = plain.rstrip(" .!。！")
        if not phrase.isascii() and bare.endswith(phrase):
            return sentence[: len(bare) - len(phrase)].rstrip(" ,、")
    return ""


@cache
def _announcing_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern of a phrase at a sentence's start, with courtesies before, in and behind it."""
    courtesies = rf"(?:{'|'.join(map(re.escape, lexicon('courtesies')))})(?!\w)"
    words = [re.escape(word) for word in _PHRASE_WORD.findall(phrase)]
    # a colon needs no blank before it
    gaps = [rf"(?:[,\s]+{courtesies})*[,\s]{'*' if word == ':' else '+'}{word}" for word in words[1:]]
    is_open = phrase.isascii() and phrase[-1].isalpha()
    end = r"(?!\w)" if is_open else ""
    return re.compile(rf"(?:{courtesies}[,\s]+)*{words[0]}{''.join(gaps)}{end}(?:[,\s]+{courtesies})*")


def _is_thing(text: str) -> bool:
    """Return whether what follows "remember that" is a thing and no statement: "that thing from yesterday"."""
    words = tokenize.split_words(fold_text(text))
    return len(words) < _LEAST_WORDS and not synonyms.RELATING.isdisjoint(words[1:2])
