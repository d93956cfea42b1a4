"""Statements worth keeping in what people and agents say: sentences that announce themselves.

"Root cause: …", "It turns out that …", "We decided to …", "Remember that …": who says so means
it. Everything else in a message is the work itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from roamkb.core.expressions import lazily


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence that says what it is."""

    #: An observation type: insight, decision, discovery, pattern, …
    type: str
    text: str
    provenance: str = "observed"
    tags: tuple[str, ...] = ()
    #: Whether a type word stands before it: somebody wants it kept.
    announced: bool = False


#: How a sentence of an agent's begins that says what was found out; the rest is the statement.
_IS = r"(?: (?:is|was)(?: (?:to|that))?|:)"
_FAILED = r"(?:it|this|that) (?:happen|fail|break|crash)(?:s|ed)|(?:it|this|that) broke"
_CUES: Final = (
    (
        "investigation",
        r"(?:the )?(?:real |actual |underlying |main )?(?:(?:root )?cause|culprit|reason)"
        rf"(?: (?:behind|why|for|of) (?:this|it|that)| {_FAILED})?{_IS}",
    ),
    (
        "investigation",
        rf"(?:what (?:actually |really )?(?:broke|caused) (?:it|this|that)|why {_FAILED}){_IS}",
    ),
    ("insight", r"(?:it )?(?:turns|turned) out(?: that|:)?"),
    ("insight", r"(?:i|we)(?:'ve| have)? (?:just )?(?:learned|learnt|realised|realized)(?: that|:)"),
    ("insight", rf"(?:key |main |important )?(?:lesson|insight|takeaway|learning)(?: learned| learnt)?{_IS}"),
    ("insight", r"(?:til|good to know|worth (?:noting|knowing|remembering))(?: that|[:,])"),
    ("insight", rf"one thing (?:i|we)(?:'ve)? (?:noticed|learned|learnt|found)(?: out)?{_IS}"),
    ("gotcha", rf"(?:a |one |the )?(?:gotcha|pitfall|caveat|trap|footgun)(?: here)?{_IS}"),
    ("gotcha", r"(?:watch out|beware|heads[- ]?up)(?: that|:)"),
    ("discovery", r"(?:i |we )?(?:discovered|found out|found|noticed)(?: that|:)"),
    ("discovery", r"(?:i |we )?(?:confirmed|verified|observed|measured|determined|established)(?: that|:)"),
    ("bug_fix", r"(?:the )?(?:actual |real )?(?:fix|solution|workaround) (?:is|was)(?: to)?"),
    ("discovery", r"(?:discovery|discovered|(?:key |main )?finding):"),
    ("decision", rf"(?:the )?decision{_IS}"),
    ("decision", r"decided:"),
    (
        "decision",
        r"(?:i|we)(?:'ve| have)?"
        r" (?:decided (?:to|on|that|against)|chose (?:to )?|agreed (?:to|on|that)|settled on|opted (?:for|to)"
        r"|went with)(?: (?:this|the following)(?=:))?",
    ),
    ("pattern", rf"(?:the )?(?:convention|pattern|rule)(?: here| in this (?:project|repo|codebase))?{_IS}"),
    ("pattern", r"(?:rule of thumb|for future (?:reference|sessions|work))[,:]"),
)
_CUE = lazily("|".join(f"(?P<c{n}>(?:{cue})(?!\\w))" for n, (_, cue) in enumerate(_CUES)), re.IGNORECASE)
#: What an agent decides on for the next minutes.
_NEXT_STEP: Final = lazily(
    r"(?i)(?:start|begin|wait|continue|go on|proceed|carry on|hold off|try|stop here|the approach|ask"
    r"|leave it)\b|.*\b(?:first|now|next|again|instead)[.!]?\Z|.*\bI(?:'ll| will|'m)\b"
)
#: How a human's sentence begins that is meant for more than this task.
_ASKED: Final = lazily(
    r"(?:please )?(?:(?:do )?(?:remember|note|keep in mind|bear in mind)(?: that|:)|from now on,?"
    r"|for the record[,:]|(?:in (?:the )?future|(?:going|moving) forward|from here on(?: out)?|henceforth),)"
    r"|(?=(?:please )?(?:remember to )?(?:always|never) \w+)"
    r"|(?=(?:please )?(?:don['’]?t|do not) ever \w+)"
    r"|(?=(?:here,? |in general,? |as a rule,? )?we"
    r" (?:always|never|must|only|don't|do not|should (?:always|never))\b)"
    r"|(?=in this (?:project|repo|repository|codebase)\b)"
    r"|(?=our [\w-]+(?: [\w-]+)? (?:must|always|never|should (?:always|never))\b)",
    re.IGNORECASE,
)
_PLEASE: Final = lazily(r"(?:please )?(?:remember to (?=always|never))?", re.IGNORECASE)
#: "Never mind", "always happy to help": no rule.
_PHRASES: Final = lazily(
    r"(?:always|never) (?:mind|ever|happy|glad|nice|good|great|fun|again|thought|knew|seen|heard|said|asked"
    r"|wanted|liked|been|was|had|worked|a|an|the|my|your|worry|fear|know|sure|funny|wondered)\b"
    r"|\bever (?:give up|mind|worry|change|leave me)\b",
    re.IGNORECASE,
)
#: What was, what one does once, and what is still in the air.
_ONCE: Final = lazily(
    r"\b(?:yet|ago|happened|forget to|got|went|did|today|currently|now|there (?:was|were)"
    r"|you (?:can|may|should|could)|I)\b|\b(?:failed|broke|crashed)\b(?! (?:tests?|builds?|jobs?))"
    r"|\b(?:this|that) (?:ticket|issue|pr|pull request|branch|bug|one|commit|change|file|function|test)\b"
    r"|\b(?:the|a) (?:prototype|demo|bug)\b",
    re.IGNORECASE,
)
#: A line that hands on somebody else's words.
_SOURCE = (
    r"(?:pages?|issues?|comments?|files?|read ?me|outputs?|logs?|texts?|messages?|articles?|docs?"
    r"|documentation|e-?mails?|tickets?|prompts?|authors?|reporters?|posts?|reports?|reviews?|answers?"
    r"|snippets?|errors?|traces?|tracebacks?|websites?|repl(?:y|ies)|threads?|chats?|customers?|bots?)"
)
_AGENT_HANDS_ON = lazily(
    rf"(?im)^[^\n]*\b{_SOURCE}\b[^\n:]{{0,60}}\b(?:says?|said|was|were|reads?|contain(?:s|ed)?|stat(?:es|ed)"
    r"|wrote|writes|tells?|told|asks?|asked|claim(?:s|ed)|includ(?:es|ed)|show(?:s|ed)|suggest(?:s|ed)"
    r"|recommend(?:s|ed)|instructs?)[^\n:]{0,20}:[ \t]*\n\s*(?:[^\n]+(?:\n|\Z))*"
)
_HUMAN_HANDS_ON = lazily(
    rf"(?ims)^[^\n]*\b(?:{_SOURCE}|got|get|says?|said|wrote|found|below|following)\b[^\n:]{{0,80}}:"
    r"[ \t]*(?:\n|\Z).*"
)
#: A block that a harness or a program wrote.
_TAGGED = lazily(r"^[ \t]*<(?P<tag>[A-Za-z][\w-]*)\b[^<>]*>.*?</(?P=tag)\s*>", re.MULTILINE | re.DOTALL)
#: What a harness puts in a human's place: names with a hyphen, as no page of HTML begins.
_NOTICE = lazily(r"\s*<[a-z]+(?:-[a-z]+)+[\s>]")
#: A closing message that goes on is a document.
_LONGEST_MESSAGE = 40_000
#: Nobody types so much: it was pasted.
_LONGEST_PROMPT = 4000
#: Where a sentence ends; an abbreviation or a file name doesn't end one.
_END = lazily(
    r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*[A-Z0-9`])|\n\s*\n|\n(?=\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s)"
)
_BULLET = lazily(r"\s*(?:(?:[-*+•>]|\d{1,2}[.)]|#{1,6})\s+)*")
_FENCED = lazily(r"^[ \t]*(?P<mark>```|~~~).*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
#: To the last closing tag: one that stands within was said by what the frame holds.
_FRAMED = lazily(r"<untrusted-knowledge\b.*(?:</untrusted-knowledge[^>]*>|\Z)", re.DOTALL)
_QUOTED = lazily(r"^[ \t]*>.*$", re.MULTILINE)
_BOLD = lazily(r"(\*\*|__)(.+?)\1")
#: What an agent says that it will do, or did, isn't knowledge.
_OF_THE_MOMENT = lazily(
    r"(?i)(?:i(?:'ll| will|'m going to| am going to)|let me|let's|next[,:]|now i|the tests? (?:now )?pass"
    r"|(?:all|both) (?:tests?|checks?))\b"
)
_SHORTEST = 20
_LONGEST = 600


def statements_of_agent(message: str) -> Iterator[Statement]:
    """Yield what an agent's message states: `TYPE:` lines, and sentences that announce a finding."""
    from roamkb.formats.commands import read_message

    marked, rest = read_message(_AGENT_HANDS_ON.sub("\n\n", _own(message[:_LONGEST_MESSAGE])))
    for one in marked:
        yield Statement(type=one.said or one.type, text=one.text, tags=one.tags, announced=True)
    taken = " ".join(one.text for one in marked).casefold()
    for sentence in _sentences(rest):
        cue = _CUE.match(sentence)
        if not cue or _OF_THE_MOMENT.match(sentence):
            continue
        text = _capitalised(sentence[cue.end() :].lstrip(" ,:–—-"))
        type = _CUES[int((cue.lastgroup or "c0")[1:])][0]
        if type == "decision" and _NEXT_STEP.match(text):
            continue
        if "against" in cue.group().lower():
            text = _capitalised(sentence[cue.end() - len("against") :])
        if _SHORTEST <= len(text) <= _LONGEST and text.casefold() not in taken:
            yield Statement(type=type, text=text)


def statements_of_human(prompt: str) -> Iterator[Statement]:
    """Yield what a human's words state for good, beyond the task at hand and not handed on from elsewhere."""
    # what a notice quotes can look like its end
    if len(prompt) > _LONGEST_PROMPT or _NOTICE.match(prompt):
        return
    for sentence in _sentences(_HUMAN_HANDS_ON.sub("\n\n", _own(prompt))):
        cue = _ASKED.match(sentence)
        if not cue or sentence.endswith("?") or _PHRASES.search(sentence):
            continue
        # few say anything for good, and hooks read every prompt
        from roamkb.core.moments import of_the_moment
        from roamkb.core.moments import passing

        said = sentence[cue.end() :].lstrip(" ,:–—-")
        text = _capitalised(_PLEASE.sub("", said, count=1))
        if of_the_moment(text) or passing(text) or _ONCE.search(text):
            continue
        if _SHORTEST <= len(text) <= _LONGEST:
            yield Statement(type="preference", text=text, provenance="user-stated")


def _own(text: str) -> str:
    """Return `text` without the blocks that others wrote: frames, and what harnesses put between tags."""
    for pattern in (_FRAMED, _TAGGED):
        text = pattern.sub("\n\n", text)
    return text


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of prose in Markdown; code, quotations and what roamkb showed are left out."""
    for pattern in (_FENCED, _QUOTED):
        text = pattern.sub("\n\n", text)
    for piece in _END.split(text):
        sentence = _BOLD.sub(r"\2", " ".join(_BULLET.sub("", piece, count=1).split()))
        if sentence:
            yield sentence


def _capitalised(text: str) -> str:
    # code keeps its case
    return text[:1].upper() + text[1:] if text[:1].isalpha() and text[1:2].islower() else text
