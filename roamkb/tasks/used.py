"""`used`: the outcome of a shown learning; only those with a receipt count."""

from typing import Annotated

from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import Option
from roamkb.core.request import SessionOption
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name
from roamkb.log.known_learnings import get_learning
from roamkb.log.new_learning import EventFactory
from roamkb.log.state import confidence
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.receipts import read_receipts
from roamkb.log.verb_context import VerbContext
from roamkb.tasks.stats import MATCH_KINDS
from roamkb.tasks.stats import OUTCOMES


@dataclass(frozen=True, slots=True)
class UsedRequest:
    """Parameters of `used`."""

    name: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    outcome: Annotated[
        str,
        Option(
            "--outcome",
            "success, failure, partial, not_applied, prevented, or validated: "
            "another agent than the one that learned it, in another session, found it true.",
            metavar="O",
            values=OUTCOMES,
        ),
    ]
    task: str | None = text_option("--task", "The task that it was for.", metavar="ID", values="tasks")
    match: str | None = text_option(
        "--match", "How it was found: exact, similar or suggested.", metavar="M", values=MATCH_KINDS
    )
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLearning:
    """The effect of an outcome on a learning."""

    JSON = "standing.id standing.learning.key outcome confidence_before=before confidence=after receipt still"
    standing: LearningState
    outcome: str
    #: In hundredths.
    before: Hundredths
    after: Hundredths
    receipt: str
    #: Why the confidence is what it was; empty where it moved.
    still: OrNull = ""


def used(context: VerbContext, request: UsedRequest) -> UsedLearning:
    """Record whether a learning that was shown helped; being shown alone changes nothing.

    Raises:
        UsageError: no such outcome, or it was never shown. NotFound, Ambiguous, NoLog, Refused.
    """
    task, match, outcome = require_name(request.task or "", "the task"), request.match or "", request.outcome
    log, author = context.log_to_write(request.name), context.author_of(request)
    standing = get_learning(log, log.read_contents().replay_state(), request.name)
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {one_line(outcome)}", hint=f"one of {', '.join(OUTCOMES)}")
    if match and match not in MATCH_KINDS:
        raise UsageError(f"no match {one_line(match)}", hint=f"one of {', '.join(MATCH_KINDS)}")
    receipts = read_receipts(log.local_folder, naming=standing.id)
    shown_to = [receipt for receipt in receipts if standing.id in receipt.shown]
    if author.session:
        shown_to = [receipt for receipt in shown_to if receipt.session in (author.session, "")]
    if not shown_to:
        raise UsageError(
            f"{one_line(standing.learning.key)} wasn't shown to anybody here, so nobody can have used it",
            hint="`roamkb recall` or `roamkb relevant` shows it first",
        )
    receipt = shown_to[-1]
    with log.append_lock():
        contents = log.read_contents()
        stamps = EventFactory(author, after=contents.last_event, command="used")
        outcome_field = {} if outcome == VALIDATED else {"outcome": outcome}
        event = stamps.new_event(
            VALIDATED if outcome == VALIDATED else "reused",
            standing.id,
            task=task or receipt.task,
            **outcome_field,
            receipt=receipt.id,
            **({"match": match} if match else {}),
        )
        log.append_entries(events=[event])
        after = contents.plus_lines(events=[event]).replay_state().standings[standing.id]
    return UsedLearning(
        standing=after,
        outcome=outcome,
        before=standing.confidence,
        after=after.confidence,
        receipt=receipt.id,
        still=_unmoved_reason(standing, after, outcome=outcome, receipt=receipt.id, agent=author.agent),
    )


def _unmoved_reason(before: LearningState, after: LearningState, *, outcome: str, receipt: str, agent: str) -> str:
    """Return the reason why an outcome moved no confidence; empty where it did."""
    if before.confidence != after.confidence:
        return ""
    if outcome not in ("success", "failure", "prevented", VALIDATED):
        return "such an outcome moves nothing"
    if after.is_overridden:
        return "a human said what it counts"
    if outcome == VALIDATED and agent == before.learning.agent:
        return f"{one_line(agent)} learned it; another agent has to validate it"
    if outcome == VALIDATED and (VALIDATED, agent) in before.counted_sources:
        return f"{one_line(agent)} validated it before; it counts once"
    if outcome == VALIDATED and after.confidence < confidence.MOST:
        return "this session learned or validated it before, by whatever name; it counts once"
    if outcome != VALIDATED and ("receipt", receipt) in before.counted_sources:
        return "an outcome was told of this showing before; each counts once"
    if after.confidence in (confidence.LEAST, confidence.MOST):
        return "it goes no further"
    return "who said it told this outcome before; it counts once"
