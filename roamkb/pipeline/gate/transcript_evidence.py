"""Evidence for a claim in its session's transcript: its speaker, support and retraction.

A claim counts by its evidence and not by how its sentence is made (D21), so that nothing here knows more of
a language than its negations: a quote is looked up letter by letter, and two texts are about the same where they
share names (code, numbers, files, options) or words.
"""

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.state.learning_state import LearningState
from roamkb.pipeline.gate.sentences import content_terms
from roamkb.pipeline.gate.sentences import correction_of
from roamkb.pipeline.gate.sentences import count_shared
from roamkb.pipeline.gate.sentences import denies
from roamkb.pipeline.gate.sentences import find_denial
from roamkb.pipeline.gate.sentences import is_hearsay
from roamkb.pipeline.gate.sentences import is_taken_back
from roamkb.pipeline.gate.sentences import may_cover
from roamkb.pipeline.gate.sentences import only_asks
from roamkb.pipeline.gate.sentences import own_statements
from roamkb.pipeline.gate.sentences import says_no
from roamkb.pipeline.gate.sentences import sentences_with
from roamkb.pipeline.gate.sentences import statements_after
from roamkb.pipeline.gate.sentences import without_blanks
from roamkb.text.code_identifiers import names_of
from roamkb.text.pasted_blocks import own_words
from roamkb.text.tokenize import SENTENCE_END
from roamkb.text.tokenize import UNSPACED

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
_COMMAND_LENGTH: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAttestation:
    """The speaker of a claim in a transcript, and the other evidence for it."""

    #: human, agent, tool, page, recalled; empty where the quote stands nowhere.
    speaker: str
    #: Whether something that a tool printed before bears out what an agent said.
    is_borne_out: bool = False
    #: Names and numbers of the claim that neither the session nor the project has.
    missing: tuple[str, ...] = ()
    #: Whether the quote says anything about what the claim says.
    is_related: bool = True
    #: Whether the quote, with what it answers, has most of what the claim says.
    is_said: bool = True
    #: Whether the quote only asks.
    is_question: bool = False
    #: Whether the human says it only to deny it, or may do so.
    is_denied: bool = False
    #: Whether the human only repeats it from somebody, supposes it, or tells what was.
    is_hearsay: bool = False
    #: Who took it back, and the words; empty where nobody did.
    taken_back: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it is enough for a verdict: a human's word, or an agent's that a tool's output supports."""
        is_vouched = self.speaker == Speaker.HUMAN or (self.speaker == Speaker.AGENT and self.is_borne_out)
        is_open = self.is_question or self.is_denied or self.is_hearsay
        has_it = self.is_related and self.is_said
        return is_vouched and has_it and not is_open and not self.missing and not self.taken_back

    @property
    def why_not(self) -> str:
        """Return the reason why it isn't good; empty where it is."""
        source = {
            Speaker.TOOL: "a tool's output",
            Speaker.PAGE: "a page or a paste",
            Speaker.RECALLED: "what roamkb showed",
        }
        names = ", ".join(self.missing[:3])
        reasons = (
            (self.taken_back, self.taken_back),
            (not self.speaker, "the session's transcript doesn't have the quote"),
            (self.speaker in source, f"only {source.get(Speaker(self.speaker or Speaker.AGENT))} says so"),
            (not self.is_related, "the quote is about something else"),
            (self.is_question, "the quote is a question"),
            (self.is_denied, "the human says, or may say, that it isn't so"),
            (self.is_hearsay, "the human only repeats or supposes it, or says that it was so"),
            (self.missing, f"neither the session nor the project has {names}"),
            (not self.is_said, "the quote says too little of it"),
            (
                self.speaker == Speaker.AGENT and not self.is_borne_out,
                "nothing that a tool printed bears it out",
            ),
        )
        return next((reason for applies, reason in reasons if applies), "")


def weigh_claim(
    claim: str,
    quote: str,
    passages: Sequence[TranscriptPassage],
    *,
    is_there: Callable[[str], bool] | None = None,
    said_now: bool = False,
) -> ClaimAttestation:
    """Return the attestation of `claim` by `passages`.

    `is_there` says whether the project has a file or symbol of that name. Where it is `said_now`, by a call
    of `learn` or a line that announces it, an agent's claim is its own quote.
    """
    index, speaker = _find_quote(quote or claim, passages)
    if not speaker and said_now and not quote:
        index, speaker = len(passages), Speaker.AGENT
    if not speaker:
        return ClaimAttestation(speaker="")
    names = names_of(claim)
    session_text = _session_text(passages)
    if speaker == Speaker.TOOL and _is_repeated_by_agent(claim, names, passages[index:]):
        # what a tool printed, and the agent then said: it was borne out before it was said
        speaker = Speaker.AGENT
    # whoever quotes a part leaves out what makes it no statement
    sentences = sentences_with(quote or claim, passages[index].text) if speaker == Speaker.HUMAN else ()
    missing = tuple(
        name
        for name in names
        # a word of letters alone may be anybody's for the thing
        if not name.isalpha() and not _is_name_known(name, session_text) and not (is_there and is_there(name))
    )
    return ClaimAttestation(
        speaker=speaker,
        is_borne_out=speaker == Speaker.AGENT
        and _is_borne_out(claim, (*names, *names_of(quote)), passages[: index + 1]),
        missing=missing,
        is_related=not quote or _is_quote_related(claim, quote, passages, index),
        is_said=not quote or _is_said(claim, quote, [name for name in names if name not in missing], passages, index),
        is_question=bool(sentences) and all(only_asks(claim, sentence) for sentence in sentences),
        is_denied=bool(sentences) and all(denies(claim, quote or claim, sentence) for sentence in sentences),
        is_hearsay=bool(sentences) and all(is_hearsay(claim, sentence) for sentence in sentences),
        taken_back=_find_retraction(claim, quote or claim, names, passages, index),
    )


def _negative_reply(claim: str, passages: Sequence[TranscriptPassage], index: int) -> str:
    """Return how a human's next words, if they are about what an agent claims, begin with a no; else nothing."""
    if index >= len(passages) or passages[index].speaker is Speaker.HUMAN:
        return ""
    reply = _next_human_words(passages, index)
    is_denied = says_no(claim, reply) and are_related(claim, reply)
    return SENTENCE_END.split(reply.strip())[0] if is_denied else ""


def _next_human_words(passages: Sequence[TranscriptPassage], index: int) -> str:
    return next((passage.text for passage in passages[index + 1 :] if passage.speaker is Speaker.HUMAN), "")


def _words_against(claim: str, quote: str, passages: Sequence[TranscriptPassage], index: int) -> str:
    """Return what is said of a claim after it that takes it back: in its own message, or by the human; or nothing."""
    at_once = (*_rest_of_message(quote, passages, index)[:1], *own_statements(_next_human_words(passages, index))[:1])
    return (
        next(filter(is_taken_back, at_once), "")
        or find_denial(claim, _statements_later(quote, passages, index))
        or _negative_reply(claim, passages, index)
    )


def _rest_of_message(quote: str, passages: Sequence[TranscriptPassage], index: int) -> Sequence[str]:
    is_message = index < len(passages) and passages[index].is_message
    return statements_after(quote, passages[index].text) if is_message else ()


def _statements_later(quote: str, passages: Sequence[TranscriptPassage], index: int) -> Sequence[str]:
    """Return what follows a quote in its own message, and what the human says afterwards, by sentences."""
    humans = (passage for passage in passages[index + 1 :] if passage.speaker is Speaker.HUMAN)
    return [*_rest_of_message(quote, passages, index), *chain(*(own_statements(passage.text) for passage in humans))]


def correct_claim(claim: str, passages: Sequence[TranscriptPassage]) -> str:
    """Return the last correction of a claim in whole words by what follows it; empty where there is none."""
    index, speaker = _find_quote(claim, passages)
    if speaker not in (Speaker.HUMAN, Speaker.AGENT):
        return ""
    later = _statements_later(claim, passages, index)
    return correction_of(claim, later)


def are_related(left_text: str, right_text: str) -> bool:
    """Say whether two texts may be about one subject: they share a name, words, or no script."""
    if any(
        without_blanks(name) in without_blanks(right_text)
        for name in (*names_of(left_text), *names_of(right_text))
        if name in left_text
    ):
        return True
    mine, theirs = content_terms(left_text), content_terms(right_text)
    shared = len(mine & theirs)
    if shared >= _SHARED_WORDS or (shared and shared >= _SAME_SUBJECT * min(len(mine), len(theirs))):
        return True
    return bool(UNSPACED.search(left_text)) != bool(UNSPACED.search(right_text))


def _find_quote(quote: str, passages: Sequence[TranscriptPassage]) -> tuple[int, str]:
    """Return the first passage with a quote, and its speaker: a human before an agent before a tool.

    What a page or roamkb showed stays theirs, whoever repeats it afterwards.
    """
    squeezed_quote = without_blanks(quote)
    weight = len(squeezed_quote) + 2 * sum(map(len, UNSPACED.findall(squeezed_quote)))
    if weight < _SHORTEST_QUOTE:
        return 0, ""
    occurrences = [
        (index, _speaker_in(passage, squeezed_quote))
        for index, passage in enumerate(passages)
        if squeezed_quote in _passage_without_blanks(passage)
    ]
    first_index = {speaker: index for index, speaker in reversed(occurrences)}
    for tainted in (Speaker.RECALLED, Speaker.PAGE):
        if tainted in first_index and first_index[tainted] <= min(first_index.values()):
            return first_index[tainted], tainted
    for speaker in Speaker:
        if speaker in first_index:
            return first_index[speaker], speaker
    return 0, ""


def _speaker_in(passage: TranscriptPassage, squeezed_quote: str) -> Speaker:
    """Return the speaker of a quote in a passage; what a human pasted or quotes is nobody's here."""
    is_own = passage.speaker is not Speaker.HUMAN or squeezed_quote in without_blanks(own_words(passage.text))
    return passage.speaker if is_own else Speaker.PAGE


def _is_borne_out(claim: str, names: Sequence[str], earlier: Sequence[TranscriptPassage]) -> bool:
    """Say whether tools on this machine printed, or were called with, the claim's names or words."""
    tools = [passage for passage in earlier if passage.speaker is Speaker.TOOL]
    if any(without_blanks(name) in _passage_without_blanks(passage) for passage in tools for name in names):
        return True
    claim_terms = content_terms(claim)
    return bool(claim_terms) and any(
        len(claim_terms & content_terms(f"{passage.command} {passage.text}"))
        >= max(_SHARED_WORDS, _WORDS_BORNE_OUT * len(claim_terms))
        for passage in tools
    )


def _session_text(passages: Iterable[TranscriptPassage]) -> str:
    """Return all passages but pages and roamkb's own output, as one text without blanks."""
    own_passages = (passage for passage in passages if passage.speaker not in (Speaker.PAGE, Speaker.RECALLED))
    return "\n".join(map(_passage_without_blanks, own_passages))


def _is_name_known(name: str, squeezed_text: str) -> bool:
    """Say whether a text without blanks has a name, or each of the parts that strokes join in it."""
    if without_blanks(name) in squeezed_text:
        return True
    parts = [part for part in _STROKES.split(name) if part]
    return len(parts) > 1 and all(without_blanks(part) in squeezed_text for part in parts)


def _is_repeated_by_agent(claim: str, names: Sequence[str], later: Sequence[TranscriptPassage]) -> bool:
    """Say whether an agent later says the claim: one of its names, or half of its words."""
    claim_terms = content_terms(claim)
    for passage in later:
        if passage.speaker is Speaker.AGENT and passage.is_message:
            shared = len(claim_terms & content_terms(passage.text))
            has_name = any(without_blanks(name) in _passage_without_blanks(passage) for name in names)
            if (has_name and shared >= _SHARED_WORDS) or shared >= _WORDS_BORNE_OUT * len(claim_terms):
                return True
    return False


def _is_quote_related(claim: str, quote: str, passages: Sequence[TranscriptPassage], index: int) -> bool:
    """Say whether a quote is about a claim's subject: by itself, or as an answer to its neighbours."""
    return are_related(claim, quote) or _is_answer(claim, quote, passages, index)


def _is_answer(claim: str, quote: str, passages: Sequence[TranscriptPassage], index: int) -> bool:
    """Say whether what a quote answers, or what answers it, has most of what a claim says."""
    nearby_texts = [passage.text for passage in passages[max(0, index - 1) : index + 2] if passage.is_message]
    claim_terms = content_terms(claim)
    shared = len(claim_terms & content_terms(" ".join(nearby_texts)))
    return len(without_blanks(quote)) >= _LONG_QUOTE and shared >= _WORDS_BORNE_OUT * len(claim_terms)


def _is_said(
    claim: str, quote: str, known_names: Sequence[str], passages: Sequence[TranscriptPassage], index: int
) -> bool:
    """Say whether the sentence of a quote has more than half of what a claim says, or answers what has.

    The session or the project has its names. In another language the quote may say the same in other words.
    """
    said = sentences_with(quote, passages[index].text) if index < len(passages) else (quote,)
    claim_terms = content_terms(claim)
    is_told = count_shared(claim_terms, " ".join((*said, *known_names))) > _WORDS_BORNE_OUT * len(claim_terms)
    return is_told or not may_cover(claim, quote) or _is_answer(claim, quote, passages, index)


def _find_retraction(
    claim: str, quote: str, names: Sequence[str], passages: Sequence[TranscriptPassage], index: int
) -> str:
    """Return the later event that refutes a claim made at `index`; empty where there is none.

    That is the next word, or the human's in the claim's own words, that it isn't so; or what the work itself shows:
    an edit that undoes what the claim is about, or a command that fails as it did before, after something was done
    about it that the claim names. A failure that only repeats bears out who described it.
    """
    later = passages[index + 1 :]
    if words := _words_against(claim, quote, passages, index):
        is_own = passages[index : index + 1] and words in passages[index].text
        speaker = passages[index].speaker.value if is_own else Speaker.HUMAN.value
        return f"the {speaker} said afterwards: “{clip_text(one_line(words), _COMMAND_LENGTH)}”"
    for place, passage in enumerate(later, start=index + 1):
        if passage.speaker is not Speaker.TOOL:
            continue
        if passage.has_failed and passage.command and _is_failed_fix(claim, names, passages, index, place):
            return f"“{clip_text(passage.command, _COMMAND_LENGTH)}” failed again after it was said"
        if passage.removed and passage.added:
            undone = next(
                (
                    earlier
                    for earlier in passages[:index]
                    if earlier.edits == passage.edits and _is_revert(passage, earlier)
                ),
                None,
            )
            if undone is not None and _is_about(names, claim, undone):
                return f"what it is about was undone in {passage.edits[0] if passage.edits else 'a file'}"
    return ""


def _is_failed_fix(
    claim: str, names: Sequence[str], passages: Sequence[TranscriptPassage], index: int, failing: int
) -> bool:
    """Say whether a command fails as before the claim, though things that it names were changed since."""
    failing_call = passages[failing]
    same_calls = (earlier for earlier in range(index - 1, -1, -1) if _is_same_call(passages[earlier], failing_call))
    earlier_index = next(same_calls, None)
    if (
        earlier_index is None
        or not passages[earlier_index].has_failed
        or not _has_same_last_line(passages[earlier_index].text, failing_call.text)
    ):
        return False
    changes = (
        change
        for change in passages[earlier_index + 1 : failing]
        if change.speaker is Speaker.TOOL
        and (change.edits or change.is_shell)
        and not _is_same_call(change, failing_call)
    )
    return any(_is_about(names, claim, replace(change, text="")) for change in changes)


def _is_same_call(left_call: TranscriptPassage, right_call: TranscriptPassage) -> bool:
    return left_call.command == right_call.command and left_call.tool == right_call.tool


def recorded_attestation(standing: LearningState) -> ClaimAttestation | None:
    """Return the latest attestation of a learning in the ledger; None where it has none."""
    for step in reversed(standing.history):
        evidence = step.event.fields.get("evidence")
        if step.event.event == "judged" and isinstance(evidence, Mapping):
            is_good = evidence.get("is_good") is True
            return ClaimAttestation(
                speaker=str(evidence.get("speaker") or ""), is_borne_out=is_good, is_related=is_good
            )
    return None


def index_of_claim(claim: str, quote: str, passages: Sequence[TranscriptPassage]) -> int | None:
    """Return the index of the passage that says a claim, or its quote; None where none does."""
    index, speaker = _find_quote(quote or claim, passages)
    return index if speaker else None


def _is_about(names: Sequence[str], claim: str, passage: TranscriptPassage) -> bool:
    text = without_blanks(f"{passage.command} {passage.removed} {passage.added} {passage.text}")
    if names:
        return any(without_blanks(name) in text for name in names)
    return are_related(claim, f"{passage.command} {passage.text[-2000:]}")


def _is_revert(later: TranscriptPassage, earlier: TranscriptPassage) -> bool:
    return later.removed == earlier.added and later.added == earlier.removed


def _has_same_last_line(left_output: str, right_output: str) -> bool:
    """Say whether two outputs end with the same line, numbers aside."""

    def last_line(text: str) -> str:
        lines = [line for line in text.splitlines() if line.strip()]
        return re.sub(r"\d+", "0", lines[-1]).strip() if lines else ""

    return last_line(left_output) == last_line(right_output)


@lru_cache(maxsize=8192)
def _passage_without_blanks(passage: TranscriptPassage) -> str:
    parts = (passage.text, passage.command, passage.removed, passage.added)
    return "\n".join(without_blanks(part) for part in parts if part)
