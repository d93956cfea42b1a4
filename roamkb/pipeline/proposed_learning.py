"""Learnings as an agent proposes them: a claim, its evidence, what it replaces or takes back (D21, D22)."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shown
from roamkb.log.state.learning_state import LearningState

#: Of one call; a session has few facts that last.
MOST_PROPOSALS: Final = 20
#: What a line says of the model and the prompt that found it.
EXTRACTED: Final = "extracted"
#: Characters of a quote.
LONGEST_QUOTE: Final = 300
_FIELDS: Final = (
    "claim",
    "type",
    "files",
    "task",
    "evidence",
    "supersedes",
    "withdraws",
    "mended",
    # taken, and decides nothing: who spoke the transcript says
    "human_said",
)
_HINT: Final = '[{"claim": "…", "type": "fact", "files": ["…"], "evidence": {"quote": "…", "source": "…"}}]'


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedLearning:
    """One proposal, as an agent or an extractor gave it."""

    #: Empty where it only withdraws.
    claim: str = ""
    type: str = "learned"
    files: tuple[str, ...] = ()
    task: str = ""
    #: Literal text of the session's transcript.
    quote: str = ""
    #: The command or path that the quote comes from.
    source: str = ""
    #: Key or id of the learning that it replaces.
    supersedes: str = ""
    #: Key or id of the learning that it takes back.
    withdraws: str = ""
    #: The error that the claim says how to fix, as an ask names it.
    mended: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedEvidence:
    """The evidence that a learning's line carries: literal text, and where it is from."""

    quote: str = ""
    source: str = ""
    #: The session in which it was said.
    session: str = ""


def evidence_of(standing: LearningState) -> tuple[QuotedEvidence, ...]:
    """Return the evidence that a learning's line, and each repetition with any, carries: the latest first."""
    learning = standing.learning
    repeated = (step.event for step in reversed(standing.history) if step.event.event == "repeated")
    told = [(event.fields.get("evidence"), event.session) for event in repeated]
    told.append((learning.extra.get("evidence"), learning.session))
    return tuple(
        QuotedEvidence(
            quote=str(one.get("quote") or ""), source=str(one.get("source") or ""), session=session
        )
        for one, session in told
        if isinstance(one, Mapping)
    )


def parse_proposals(given: object) -> tuple[ProposedLearning, ...]:
    """Return the proposals of a JSON value: a list, `{"proposals": […]}`, or one object.

    Raises:
        UsageError: it is none of these, or one of them isn't as it should be; it says which and why.
    """
    if isinstance(given, Mapping):
        given = given.get("proposals", [given])
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UsageError("the proposals are no JSON list", hint=_HINT)
    if len(given) > MOST_PROPOSALS:
        raise UsageError(
            f"{len(given)} proposals at once; at most {MOST_PROPOSALS}", hint="name the few that last"
        )
    return tuple(_proposal(number, one) for number, one in enumerate(given, start=1))


def _proposal(number: int, given: object) -> ProposedLearning:
    if not isinstance(given, Mapping):
        raise UsageError(f"proposal {number} is no JSON object", hint=_HINT)
    if unknown := [str(name) for name in given if name not in _FIELDS]:
        raise UsageError(
            f"proposal {number} has a field {shown(unknown[0])}", hint=f"fields: {', '.join(_FIELDS)}"
        )
    evidence = given.get("evidence") or {}
    told = {"quote": evidence} if isinstance(evidence, str) else evidence
    if not isinstance(told, Mapping):
        raise UsageError(f"the evidence of proposal {number} is no object", hint=_HINT)
    files = given.get("files") or ()
    found = ProposedLearning(
        claim=_text(number, given, "claim").strip(),
        type=_text(number, given, "type").strip() or "learned",
        files=tuple(_texts(number, files)),
        task=_text(number, given, "task"),
        quote=_text(number, told, "quote")[:LONGEST_QUOTE],
        source=_text(number, told, "source")[:LONGEST_QUOTE],
        supersedes=_text(number, given, "supersedes"),
        withdraws=_text(number, given, "withdraws"),
        mended=_text(number, given, "mended"),
    )
    if not found.claim and not found.withdraws:
        raise UsageError(f"proposal {number} claims nothing", hint=_HINT)
    return found


def _text(number: int, given: Mapping[object, object], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{name} of proposal {number} is no text", hint=_HINT)
    return value


def _texts(number: int, given: object) -> Sequence[str]:
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Sequence) or not all(isinstance(one, str) for one in found):
        raise UsageError(f"files of proposal {number} are no list of texts", hint=_HINT)
    return found
