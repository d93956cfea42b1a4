"""`observe`: events are recorded, and learnings that an agent announces are added at once.

Hooks record at every step: what only the other half needs is imported there.
"""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.fs import worktrees
from roamkb.harnesses import transcript
from roamkb.log import learn
from roamkb.log import new_learning
from roamkb.log.observation import Observation
from roamkb.log.store.observations import record_observation
from roamkb.log.store.project_log import Log
from roamkb.pipeline import consolidation_plan
from roamkb.pipeline.extract import attention
from roamkb.pipeline.extract import cue_phrases
from roamkb.pipeline.extract import edited_files
from roamkb.pipeline.extract import markers
from roamkb.pipeline.extract import transcript_formats
from roamkb.pipeline.extract.payloads import PayloadEvent
from roamkb.pipeline.extract.payloads import events_of_payload
from roamkb.secrets.detector import redact_fact
from roamkb.text.similarity import jaccard
from roamkb.text.store.lexicons import lexicon

OUTCOMES = ("", "success", "failure")


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """Parameters of `observe`."""

    text: Annotated[str, Argument("What happened; - reads standard input.", metavar="TEXT|-")]
    _: KW_ONLY
    type: str | None = text_option("--type", "insight (default), decision, discovery, tool_use, …", metavar="T")
    tool: str | None = text_option("--tool", "The tool that it happened with.", metavar="T")
    outcome: str | None = text_option("--outcome", "success or failure.", metavar="O", values=("success", "failure"))
    from_command: bool = flag_option(
        "--from-command", "Learn from a shell command that an agent ran: `bd comments add …`."
    )
    from_message: bool = flag_option("--from-message", "Learn from an agent's message: lines such as `LEARNED: …`.")
    from_payload: bool = flag_option("--from-payload", "Record what a hook's JSON payload tells.")
    from_transcript: bool = flag_option("--from-transcript", "Record what a transcript's JSON lines tell.")
    task: str | None = text_option("--task", "The task that it happened in.", metavar="ID", values="tasks")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclinedText:
    """A statement that wasn't added, and the reason."""

    JSON = "text reason"
    #: One redacted line.
    text: str
    reason: str
    #: Whether the log may not have it; else it is known already.
    is_refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveResult:
    """The learnings added, the statements declined, and the number of observations recorded."""

    JSON = "learned declined recorded"
    learned: "tuple[learn.LearnResult, ...]" = ()
    declined: tuple[DeclinedText, ...] = ()
    #: Raw observations that were recorded, and where.
    recorded: int = 0
    path: Path | None = None


def learn_captured(
    captured: "Iterable[markers.CapturedLearning]",
    add_learning: "Callable[[new_learning.NewLearning], learn.LearnResult]",
    *,
    shown_texts: "consolidation_plan.KnownTexts",
    edited: "edited_files.EditedFiles | None" = None,
    task: str = "",
) -> ObserveResult:
    """Have `add_learning` add each learning; one that can't be kept stops none of the others.

    Who puts a type word before something wants it kept: what seems not worth a second look is flagged.
    Only what holds a secret is refused, and what the session was shown is known. Each is about the files that
    the session `edited`, as far as they are known.

    Raises:
        NoLog, Refused, DiskError, NotDurable: as `add_learning` does.
    """
    learned: list[learn.LearnResult] = []
    declined: list[DeclinedText] = []
    for captured_learning in captured:
        saying = new_learning.NewLearning(
            content=captured_learning.text,
            type=captured_learning.alias or captured_learning.type,
            tags=captured_learning.tags,
            bead=captured_learning.bead,
            task=task or captured_learning.bead,
            files=edited.files_of_statement(captured_learning.text, is_human=False) if edited else (),
        )
        if reason := attention.secret_reason(captured_learning.text):
            declined.append(DeclinedText(text=redact_fact(captured_learning.text), reason=reason, is_refused=True))
            continue
        if reason := _shown_reason(captured_learning.text, shown_texts):
            declined.append(DeclinedText(text=redact_fact(captured_learning.text), reason=reason))
            continue
        saying = replace(saying, thin_reason=attention.neglect_reason(captured_learning.text))
        try:
            learned.append(add_learning(saying))
        except (SecretFound, UsageError) as error:
            declined.append(
                DeclinedText(text=redact_fact(captured_learning.text), reason=error.message, is_refused=True)
            )
    return ObserveResult(learned=tuple(learned), declined=tuple(declined))


def _shown_reason(text: str, shown_texts: "consolidation_plan.KnownTexts") -> str:
    return "the session was told so" if shown_texts.has_covering_text(jaccard.prepare_text(text)) else ""


def events_from_arguments(text: str, *, type: str, tool: str, outcome: str) -> Iterable[PayloadEvent]:
    """Return one observation by its caller's arguments."""
    if not one_line(text):
        raise UsageError("there is nothing to observe", hint="roamkb observe TEXT --type insight")
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {one_line(outcome)}", hint="success or failure")
    return (PayloadEvent(type=type, text=text, tool=tool, outcome=outcome),)


def events_from_payload(
    text: str, author: "new_learning.Author"
) -> "tuple[Iterable[PayloadEvent], new_learning.Author]":
    """Return the events of a hook's payload, and the author with the session that it names."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the payload isn't JSON", hint="give what the harness gives its hooks") from error
    if not isinstance(payload, dict):
        raise UsageError("the payload isn't a JSON object", hint="give what the harness gives its hooks")
    session = payload.get("session_id")
    if isinstance(session, str) and not author.session:
        author = replace(author, session=session)

    return events_of_payload(payload, lambda: lexicon("remember")), author


def events_from_transcript(text: str) -> Iterable[PayloadEvent]:
    """Return the announced statements of a transcript, given as its lines."""
    return announced_events(
        tuple(transcript_formats.passages_of(line.encode("utf-8", "replace") for line in text.split("\n")))
    )


def announced_events(passages: "Sequence[transcript.TranscriptPassage]") -> Iterator[PayloadEvent]:
    """Yield agents' typed lines, and statements that a human asks to keep, of a transcript's messages.

    A line that stands in a tool's output or on a page is not the agent's own, who repeats it.
    """
    unspoken_text = "\n".join("".join(item.text.split()) for item in passages if not item.is_message)
    for passage in passages:
        if not passage.is_message:
            continue
        is_human = passage.speaker is transcript.Speaker.HUMAN
        statements = (
            cue_phrases.statements_of_human(passage.text, lexicon("remember"))
            if is_human
            else cue_phrases.statements_of_agent(passage.text)
        )
        for item in statements:
            if is_human or "".join(item.text.split()) not in unspoken_text:
                yield PayloadEvent(
                    type=item.type,
                    text=item.text,
                    provenance=item.provenance,
                    ts=passage.ts,
                    announced=True,
                )


def record_events(
    log: Log, events: Iterable[PayloadEvent], author: "new_learning.Author", *, task: str = ""
) -> ObserveResult:
    """Append the events to the session's file of observations."""
    path, count = None, 0
    worktree = worktrees.worktree_name(str(log.root))
    for observation in _as_observations(events, author, task):
        path = record_observation(log.observed, replace(observation, worktree=worktree))
        count += 1
    return ObserveResult(recorded=count, path=path)


def _as_observations(events: Iterable[PayloadEvent], author: "new_learning.Author", task: str) -> Iterator[Observation]:
    for event in events:
        yield Observation(
            id=author.new_id(),
            ts=event.ts or author.ts,
            type=event.type,
            text=event.text,
            tool=event.tool,
            outcome=event.outcome,
            session=author.session,
            agent=author.agent,
            task=event.task or task,
            provenance=event.provenance,
            announced=event.announced,
            files=event.files,
        )
