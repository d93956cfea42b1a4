"""`observe`: what happened is recorded; what an agent said in passing is learned at once.

Hooks record at every step: what only the other half needs is imported there.
"""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated

from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.log.observation import Observation
from roamkb.log.store.observations import keep_observation
from roamkb.log.store.project_log import Log
from roamkb.pipeline.extract.payloads import PayloadEvent
from roamkb.pipeline.extract.payloads import happenings_of_payload

if TYPE_CHECKING:
    from roamkb.harnesses.transcript import TranscriptPassage
    from roamkb.log.learn import LearnResult
    from roamkb.log.new_learning import Author
    from roamkb.log.new_learning import NewLearning
    from roamkb.pipeline.consolidation_plan import KnownTexts
    from roamkb.pipeline.extract.markers import CapturedLearning

OUTCOMES = ("", "success", "failure")


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """What `observe` takes."""

    text: Annotated[str, Argument("What happened; - reads standard input.", metavar="TEXT|-")]
    _: KW_ONLY
    type: str | None = option("--type", "insight (default), decision, discovery, tool_use, …", metavar="T")
    tool: str | None = option("--tool", "The tool that it happened with.", metavar="T")
    outcome: str | None = option("--outcome", "success or failure.", metavar="O")
    from_command: bool = switch(
        "--from-command", "Learn from a shell command that an agent ran: `bd comments add …`."
    )
    from_message: bool = switch(
        "--from-message", "Learn from an agent's message: lines such as `LEARNED: …`."
    )
    from_payload: bool = switch("--from-payload", "Record what a hook's JSON payload tells.")
    from_transcript: bool = switch("--from-transcript", "Record what a transcript's JSON lines tell.")
    task: str | None = option("--task", "The task that it happened in.", metavar="ID")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclinedText:
    """What was said and can't be kept."""

    JSON = "text reason"
    #: One redacted line.
    text: str
    reason: str
    #: Whether the log may not have it; else it is known already.
    is_refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveResult:
    """What became of what happened, in its order."""

    JSON = "learned declined recorded"
    learned: "tuple[LearnResult, ...]" = ()
    declined: tuple[DeclinedText, ...] = ()
    #: Raw observations that were recorded, and where.
    recorded: int = 0
    path: Path | None = None


def learn_said(
    said: "Iterable[CapturedLearning]",
    take: "Callable[[NewLearning], LearnResult]",
    *,
    told: "KnownTexts",
    task: str = "",
) -> ObserveResult:
    """Have `take` add each learning; one that can't be kept stops none of the others.

    Who puts a type word before something wants it kept: what seems not worth a second look is flagged.
    Only what holds a secret is refused, and what the session was `told` is known.

    Raises:
        NoLog, Refused, DiskError, NotDurable: as `take` does.
    """
    from roamkb.log.new_learning import NewLearning
    from roamkb.pipeline.extract.attention import neglected
    from roamkb.pipeline.extract.attention import refused
    from roamkb.secrets.detector import redacted

    learned: list[LearnResult] = []
    declined: list[DeclinedText] = []
    for one in said:
        saying = NewLearning(
            content=one.text, type=one.said or one.type, tags=one.tags, bead=one.bead, task=task or one.bead
        )
        if reason := refused(one.text):
            declined.append(DeclinedText(text=redacted(one.text), reason=reason, is_refused=True))
            continue
        if reason := _told(one.text, told):
            declined.append(DeclinedText(text=redacted(one.text), reason=reason))
            continue
        saying = replace(saying, thin=neglected(one.text))
        try:
            learned.append(take(saying))
        except (SecretFound, UsageError) as error:
            declined.append(DeclinedText(text=redacted(one.text), reason=error.message, is_refused=True))
    return ObserveResult(learned=tuple(learned), declined=tuple(declined))


def _told(text: str, told: "KnownTexts") -> str:
    from roamkb.text.similarity.jaccard import shape

    return "the session was told so" if told.say(shape(text)) else ""


def stated(text: str, *, type: str, tool: str, outcome: str) -> Iterable[PayloadEvent]:
    """Return one observation as its caller gives it."""
    if not shown(text):
        raise UsageError("there is nothing to observe", hint="roamkb observe TEXT --type insight")
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {shown(outcome)}", hint="success or failure")
    return (PayloadEvent(type=type, text=text, tool=tool, outcome=outcome),)


def from_payload(text: str, hand: "Author") -> "tuple[Iterable[PayloadEvent], Author]":
    """Return what a hook's payload tells, and the hand of the session that it names."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the payload isn't JSON", hint="give what the harness gives its hooks") from error
    if not isinstance(payload, dict):
        raise UsageError("the payload isn't a JSON object", hint="give what the harness gives its hooks")
    session = payload.get("session_id")
    if isinstance(session, str) and not hand.session:
        hand = replace(hand, session=session)
    from roamkb.text.store.lexicons import lexicon

    return happenings_of_payload(payload, lambda: lexicon("remember")), hand


def from_transcript(text: str) -> Iterable[PayloadEvent]:
    """Return what is announced in a transcript, given as its lines."""
    from roamkb.pipeline.extract.transcript_formats import passages_of

    return announced(tuple(passages_of(line.encode("utf-8", "replace") for line in text.split("\n"))))


def announced(passages: "Sequence[TranscriptPassage]") -> Iterator[PayloadEvent]:
    """Yield what the messages of a transcript announce: agents' typed lines, and what a human asks to keep.

    A line that stands in a tool's output or on a page is not the agent's own, who repeats it.
    """
    from roamkb.harnesses.transcript import Speaker
    from roamkb.pipeline.extract.cue_phrases import statements_of_agent
    from roamkb.pipeline.extract.cue_phrases import statements_of_human
    from roamkb.text.store.lexicons import lexicon

    seen = "\n".join("".join(one.text.split()) for one in passages if not one.is_message)
    for passage in passages:
        if not passage.is_message:
            continue
        is_human = passage.speaker is Speaker.HUMAN
        said = (
            statements_of_human(passage.text, lexicon("remember"))
            if is_human
            else statements_of_agent(passage.text)
        )
        for one in said:
            if is_human or "".join(one.text.split()) not in seen:
                yield PayloadEvent(
                    type=one.type,
                    text=one.text,
                    provenance=one.provenance,
                    tags=one.tags,
                    ts=passage.ts,
                    announced=True,
                )


def record(log: Log, happened: Iterable[PayloadEvent], hand: "Author", *, task: str = "") -> ObserveResult:
    """Add what happened to the session's file of observations."""
    path, count = None, 0
    for one in _observations(happened, hand, task):
        path = keep_observation(log.ignored, one)
        count += 1
    return ObserveResult(recorded=count, path=path)


def _observations(happened: Iterable[PayloadEvent], hand: "Author", task: str) -> Iterator[Observation]:
    for one in happened:
        yield Observation(
            id=hand.new_id(),
            ts=one.ts or hand.ts,
            type=one.type,
            text=one.text,
            tool=one.tool,
            outcome=one.outcome,
            session=hand.session,
            agent=hand.agent,
            task=one.task or task,
            provenance=one.provenance,
            announced=one.announced,
        )
