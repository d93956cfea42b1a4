"""Statements worth keeping in what people and agents say: sentences that announce themselves.

"Root cause: …", "It turns out that …", "We decided to …", "Remember that …": who says so means
it. Everything else in a message is the work itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from roamkb.formats.commands import captured_from_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence that says what it is."""

    #: An observation type: insight, decision, discovery, pattern, …
    type: str
    text: str
    provenance: str = "observed"
    tags: tuple[str, ...] = ()


#: How a sentence of an agent's begins that says what was found out; the rest is the statement.
_IS = r"(?: (?:is|was)(?: (?:to|that))?|:)"
_CUES: Final = (
    ("discovery", rf"(?:the )?(?:real |actual |underlying )?root cause{_IS}"),
    ("insight", r"(?:it )?(?:turns|turned) out(?: that|:)?"),
    ("insight", r"i (?:have )?(?:just )?(?:learned|learnt|realised|realized)(?: that|:)"),
    ("insight", rf"(?:key |main |important )?(?:lesson|insight|takeaway|learning)(?: learned)?{_IS}"),
    ("gotcha", rf"(?:a )?(?:gotcha|pitfall|caveat|trap)(?: here)?{_IS}"),
    ("discovery", r"(?:i |we )?(?:discovered|found out|found)(?: that|:)"),
    ("bug_fix", r"(?:the )?(?:actual |real )?(?:fix|solution) (?:is|was)(?: to)?"),
    ("decision", rf"(?:the )?decision{_IS}"),
    ("decision", r"(?:i|we)(?:'ve| have)? (?:decided|chose|agreed|settled)(?: (?:to|on|that))?"),
    ("pattern", rf"(?:the )?(?:convention|pattern|rule)(?: here| in this (?:project|repo|codebase))?{_IS}"),
)
_CUE = re.compile("|".join(f"(?P<c{n}>{cue})" for n, (_, cue) in enumerate(_CUES)), re.IGNORECASE)
#: How a human's sentence begins that is meant for more than this task.
_ASKED: Final = re.compile(
    r"(?:please )?(?:remember|note|keep in mind)(?: that|:)|from now on,?|for the record[,:]"
    r"|(?=(?:we|in this (?:project|repo|codebase)|our [\w-]+(?: [\w-]+)?)[ ,]"
    r".*\b(?:always|never|must|only|not)\b)"
    r"|(?=(?:always|never) \w+)",
    re.IGNORECASE,
)
#: Where a sentence ends; an abbreviation or a file name doesn't end one.
_END = re.compile(
    r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*[A-Z0-9`])|\n\s*\n|\n(?=\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s)"
)
_BULLET = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,2}[.)]|#{1,6})\s+)*")
_FENCED = re.compile(r"^[ \t]*(?P<mark>```|~~~).*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FRAMED = re.compile(r"<untrusted-knowledge\b.*?(?:</untrusted-knowledge[^>]*>|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(.+?)\1")
#: What an agent says that it will do, or did, isn't knowledge.
_OF_THE_MOMENT = re.compile(
    r"(?i)(?:i(?:'ll| will|'m going to| am going to)|let me|let's|next[,:]|now i|the tests? (?:now )?pass"
    r"|(?:all|both) (?:tests?|checks?))\b"
)
_SHORTEST = 20
_LONGEST = 600


def statements_of_agent(message: str) -> Iterator[Statement]:
    """Yield what an agent's message states: `TYPE:` lines, and sentences that announce a finding."""
    marked = captured_from_message(message)
    for one in marked:
        yield Statement(type=one.said or one.type, text=one.text, tags=one.tags)
    taken = " ".join(one.text for one in marked)
    for sentence in _sentences(message):
        cue = _CUE.match(sentence)
        if not cue or _OF_THE_MOMENT.match(sentence):
            continue
        text = _capitalised(sentence[cue.end() :].lstrip(" ,:–—-"))
        if _SHORTEST <= len(text) <= _LONGEST and text not in taken:
            yield Statement(type=_CUES[int((cue.lastgroup or "c0")[1:])][0], text=text)


def statements_of_human(prompt: str) -> Iterator[Statement]:
    """Yield what a human's words state for good, beyond the task at hand."""
    for sentence in _sentences(prompt):
        cue = _ASKED.match(sentence)
        if not cue or sentence.endswith("?"):
            continue
        text = _capitalised(sentence[cue.end() :].lstrip(" ,:–—-"))
        if _SHORTEST <= len(text) <= _LONGEST:
            yield Statement(type="preference", text=text, provenance="user-stated")


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of prose in Markdown; code, quotations and what roamkb showed are left out."""
    for pattern in (_FRAMED, _FENCED, _QUOTED):
        text = pattern.sub("\n\n", text)
    for piece in _END.split(text):
        sentence = _BOLD.sub(r"\2", " ".join(_BULLET.sub("", piece, count=1).split()))
        if sentence:
            yield sentence


def _capitalised(text: str) -> str:
    # code keeps its case
    return text[:1].upper() + text[1:] if text[:1].isalpha() and text[1:2].islower() else text
