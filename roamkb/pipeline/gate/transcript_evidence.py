"""What a session's transcript says of a claim: who said it, what bears it out, and who took it back.

A claim counts by its evidence and not by how its sentence is made (D21), so that nothing here knows a
language: a quote is looked up letter by letter, and two texts are about the same where they share names
(code, numbers, files, options) or words.
"""

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.state.learning_state import LearningState
from roamkb.text.code_identifiers import names_of
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import terms

#: Letters of a quote, blanks aside; fewer stand in any text. A letter of Chinese or Thai counts for three.
_SHORTEST_QUOTE: Final = 10
#: How many of a claim's words a tool must have printed to bear it out, where it printed none of its names.
_WORDS_BORNE_OUT: Final = 0.5
#: Letters of a quote that may answer what was said beside it, in other words.
_LONG_QUOTE: Final = 24
_STROKES: Final = lazily(r"[/,|]")
#: Shared words, or the share of the fewer, that make two texts be about one subject.
_SHARED_WORDS: Final = 2
_SAME_SUBJECT: Final = 0.3

#: Letters of a command that are shown.
_COMMAND: Final = 60

_BLANKS: Final = lazily(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAttestation:
    """Who said what a claim says, and what else speaks for it."""

    #: human, agent, tool, page, recalled; empty where the quote stands nowhere.
    speaker: str
    #: Whether something that a tool printed before bears out what an agent said.
    is_borne_out: bool = False
    #: Names and numbers of the claim that neither the session nor the project has.
    missing: tuple[str, ...] = ()
    #: Whether the quote says anything about what the claim says.
    is_related: bool = True
    #: Whether the quote only asks.
    is_question: bool = False
    #: Who took it back, and the words; empty where nobody did.
    taken_back: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it is enough for a verdict: a human said it, or an agent did and was borne out."""
        is_said = self.speaker == Speaker.HUMAN or (self.speaker == Speaker.AGENT and self.is_borne_out)
        is_plain = self.is_related and not self.is_question and not self.missing
        return is_said and is_plain and not self.taken_back

    @property
    def why_not(self) -> str:
        """Return what it lacks; empty where it is good."""
        if self.taken_back:
            return self.taken_back
        if not self.speaker:
            return "the session's transcript doesn't have the quote"
        if self.speaker in (Speaker.TOOL, Speaker.PAGE, Speaker.RECALLED):
            source = {Speaker.TOOL: "a tool's output", Speaker.PAGE: "a page"}
            return f"only {source.get(Speaker(self.speaker), 'what roamkb showed')} says so"
        if not self.is_related:
            return "the quote is about something else"
        if self.is_question:
            return "the quote is a question"
        if self.missing:
            return f"neither the session nor the project has {', '.join(self.missing[:3])}"
        if self.speaker == Speaker.AGENT and not self.is_borne_out:
            return "nothing that a tool printed bears it out"
        return ""


def weigh(
    claim: str,
    quote: str,
    passages: Sequence[TranscriptPassage],
    *,
    is_there: Callable[[str], bool] | None = None,
    said_now: bool = False,
) -> ClaimAttestation:
    """Return what `passages` say of `claim`.

    `is_there` says whether the project has a file or symbol of that name. Where it is `said_now`, by a call
    of `learn` or a line that announces it, an agent's claim is its own quote.
    """
    at, speaker = _place_of(quote or claim, passages)
    if not speaker and said_now and not quote:
        at, speaker = len(passages), Speaker.AGENT
    if not speaker:
        return ClaimAttestation(speaker="")
    names = names_of(claim)
    known = _grounds(passages)
    if speaker == Speaker.TOOL and _is_said_after(claim, names, passages[at:]):
        # what a tool printed, and the agent then said: it was borne out before it was said
        speaker = Speaker.AGENT
    return ClaimAttestation(
        speaker=speaker,
        is_borne_out=speaker == Speaker.AGENT
        and _is_borne_out(claim, (*names, *names_of(quote)), passages[: at + 1]),
        missing=tuple(
            name
            for name in names
            # a word of letters alone may be anybody's for the thing
            if not name.isalpha() and not _is_known(name, known) and not (is_there and is_there(name))
        ),
        is_related=not quote or _is_answered(claim, quote, passages, at),
        is_question=speaker == Speaker.HUMAN and quote.rstrip(" \"'”»").endswith(("?", "？")),
        taken_back=taken_back(claim, names, passages, at),
    )


def are_related(one: str, other: str) -> bool:
    """Say whether two texts may be about the same: they share a name, or words, or no script."""
    if any(_squeezed(name) in _squeezed(other) for name in (*names_of(one), *names_of(other)) if name in one):
        return True
    mine, theirs = _content(one), _content(other)
    shared = len(mine & theirs)
    if shared >= _SHARED_WORDS or (shared and shared >= _SAME_SUBJECT * min(len(mine), len(theirs))):
        return True
    return bool(UNSPACED.search(one)) != bool(UNSPACED.search(other))


def _place_of(quote: str, passages: Sequence[TranscriptPassage]) -> tuple[int, str]:
    """Return where a quote stands and who said it: a human before an agent, before a tool.

    What a page or roamkb showed stays theirs, whoever repeats it afterwards.
    """
    wanted = _squeezed(quote)
    weight = len(wanted) + 2 * sum(map(len, UNSPACED.findall(wanted)))
    if weight < _SHORTEST_QUOTE:
        return 0, ""
    found = [(n, one.speaker) for n, one in enumerate(passages) if wanted in _squeezed_passage(one)]
    first = {speaker: n for n, speaker in reversed(found)}
    for tainted in (Speaker.RECALLED, Speaker.PAGE):
        if tainted in first and first[tainted] <= min(first.values()):
            return first[tainted], tainted
    for speaker in Speaker:
        if speaker in first:
            return first[speaker], speaker
    return 0, ""


def _is_borne_out(claim: str, names: Sequence[str], before: Sequence[TranscriptPassage]) -> bool:
    """Say whether what tools on this machine printed, or were called with, has what the claim is about."""
    tools = [one for one in before if one.speaker is Speaker.TOOL]
    if any(_squeezed(name) in _squeezed_passage(one) for one in tools for name in names):
        return True
    wanted = _content(claim)
    return bool(wanted) and any(
        len(wanted & _content(f"{one.command} {one.text}"))
        >= max(_SHARED_WORDS, _WORDS_BORNE_OUT * len(wanted))
        for one in tools
    )


def _grounds(passages: Iterable[TranscriptPassage]) -> str:
    """Return all that a session said, called and printed, squeezed, but pages and what roamkb showed."""
    own = (one for one in passages if one.speaker not in (Speaker.PAGE, Speaker.RECALLED))
    return "\n".join(map(_squeezed_passage, own))


def _is_known(name: str, known: str) -> bool:
    """Say whether a name stands in a squeezed text, or each of the names that strokes join in it."""
    if _squeezed(name) in known:
        return True
    parts = [part for part in _STROKES.split(name) if part]
    return len(parts) > 1 and all(_squeezed(part) in known for part in parts)


def _is_said_after(claim: str, names: Sequence[str], later: Sequence[TranscriptPassage]) -> bool:
    """Say whether an agent then says what the claim says: one of its names, or half of its words."""
    wanted = _content(claim)
    for passage in later:
        if passage.speaker is Speaker.AGENT and passage.is_message:
            shared = len(wanted & _content(passage.text))
            has_name = any(_squeezed(name) in _squeezed_passage(passage) for name in names)
            if (has_name and shared >= _SHARED_WORDS) or shared >= _WORDS_BORNE_OUT * len(wanted):
                return True
    return False


def _is_answered(claim: str, quote: str, passages: Sequence[TranscriptPassage], at: int) -> bool:
    """Say whether a quote is about what a claim says: by itself, or as an answer to what stands beside it."""
    if are_related(claim, quote):
        return True
    beside = [one.text for one in passages[max(0, at - 1) : at + 2] if one.is_message]
    wanted = _content(claim)
    shared = len(wanted & _content(" ".join(beside)))
    return len(_squeezed(quote)) >= _LONG_QUOTE and shared >= _WORDS_BORNE_OUT * len(wanted)


def taken_back(claim: str, names: Sequence[str], passages: Sequence[TranscriptPassage], at: int) -> str:
    """Return what in the session takes back a claim made at `at`; empty where nothing does.

    Only where the work itself shows it: an edit that undoes what the claim is about, or a command that fails
    as it did before, after something was done about it that the claim names. A failure that only repeats
    bears out who described it.
    """
    later = passages[at + 1 :]
    for place, passage in enumerate(later, start=at + 1):
        if passage.speaker is not Speaker.TOOL:
            continue
        if passage.has_failed and passage.command and _is_in_vain(claim, names, passages, at, place):
            return f"“{clipped(passage.command, _COMMAND)}” failed again after it was said"
        if passage.removed and passage.added:
            undone = next(
                (one for one in passages[:at] if one.edits == passage.edits and _undoes(passage, one)), None
            )
            if undone is not None and _is_about(names, claim, undone):
                return f"what it is about was undone in {passage.edits[0] if passage.edits else 'a file'}"
    return ""


def _is_in_vain(
    claim: str, names: Sequence[str], passages: Sequence[TranscriptPassage], at: int, failing: int
) -> bool:
    """Say whether a command fails as before the claim, though what the claim names was changed since."""
    again = passages[failing]
    alike = (n for n in range(at - 1, -1, -1) if _is_same_call(passages[n], again))
    before = next(alike, None)
    if before is None or not passages[before].has_failed or not _same_end(passages[before].text, again.text):
        return False
    changes = (
        one
        for one in passages[before + 1 : failing]
        if one.speaker is Speaker.TOOL and (one.edits or one.is_shell) and not _is_same_call(one, again)
    )
    return any(_is_about(names, claim, replace(one, text="")) for one in changes)


def _is_same_call(one: TranscriptPassage, other: TranscriptPassage) -> bool:
    return one.command == other.command and one.tool == other.tool


def attestation_of(standing: LearningState) -> ClaimAttestation | None:
    """Return what the ledger remembers of a learning's evidence, the latest; None where it had none."""
    for step in reversed(standing.history):
        told = step.event.fields.get("evidence")
        if step.event.event == "judged" and isinstance(told, Mapping):
            is_good = told.get("is_good") is True
            return ClaimAttestation(
                speaker=str(told.get("speaker") or ""), is_borne_out=is_good, is_related=is_good
            )
    return None


def place_of_claim(claim: str, quote: str, passages: Sequence[TranscriptPassage]) -> int | None:
    """Return the passage in which a claim, or its quote, was said; None where none says it."""
    at, speaker = _place_of(quote or claim, passages)
    return at if speaker else None


def _is_about(names: Sequence[str], claim: str, passage: TranscriptPassage) -> bool:
    text = _squeezed(f"{passage.command} {passage.removed} {passage.added} {passage.text}")
    if names:
        return any(_squeezed(name) in text for name in names)
    return are_related(claim, f"{passage.command} {passage.text[-2000:]}")


def _undoes(later: TranscriptPassage, earlier: TranscriptPassage) -> bool:
    return later.removed == earlier.added and later.added == earlier.removed


def _same_end(one: str, other: str) -> bool:
    """Say whether two outputs end with the same line, numbers aside."""

    def last(text: str) -> str:
        lines = [line for line in text.splitlines() if line.strip()]
        return re.sub(r"\d+", "0", lines[-1]).strip() if lines else ""

    return last(one) == last(other)


@lru_cache(maxsize=8192)
def _squeezed(text: str) -> str:
    return _BLANKS.sub("", text).casefold()


@lru_cache(maxsize=8192)
def _squeezed_passage(passage: TranscriptPassage) -> str:
    parts = (passage.text, passage.command, passage.removed, passage.added)
    return "\n".join(_squeezed(part) for part in parts if part)


@lru_cache(maxsize=8192)
def _content(text: str) -> frozenset[str]:
    """Return the terms of a text that carry a subject."""
    return frozenset(term for term in terms(text) if term not in STOP_WORDS and len(term) > 1)
