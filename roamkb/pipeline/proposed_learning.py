"""Proposed learnings: a claim, its evidence, and what it supersedes or withdraws (D21, D22)."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.log.state.learning_state import LearningState

#: Of one call; a session has few facts that last.
MOST_PROPOSALS: Final = 20
#: What a line says of the model and the prompt that found it.
EXTRACTED_FIELD: Final = "extracted"
#: Characters of a quote.
LONGEST_QUOTE: Final = 300
_PROPOSAL_FIELDS: Final = (
    "claim",
    "type",
    "aliases",
    "files",
    "task",
    "evidence",
    "supersedes",
    "withdraws",
    "mended",
    # taken, and decides nothing: who spoke the transcript says
    "human_said",
)
_PROPOSAL_HINT: Final = '[{"claim": "…", "type": "fact", "files": ["…"], "evidence": {"quote": "…", "source": "…"}}]'


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedLearning:
    """A learning as an agent or an extractor proposes it."""

    #: Empty where it only withdraws.
    claim: str = ""
    type: str = "learned"
    #: What somebody who lacks it would type when it is needed.
    aliases: tuple[str, ...] = ()
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
    """The evidence in a learning's line: literal text, and its source."""

    quote: str = ""
    source: str = ""
    #: The session in which it was said.
    session: str = ""


def evidence_of(standing: LearningState) -> tuple[QuotedEvidence, ...]:
    """Return the evidence that a learning's line and its repetitions carry, the latest first."""
    learning = standing.learning
    repeated = (step.event for step in reversed(standing.history) if step.event.event == "repeated")
    evidence_and_session = [(event.fields.get("evidence"), event.session) for event in repeated]
    evidence_and_session.append((learning.extra.get("evidence"), learning.session))
    return tuple(
        QuotedEvidence(
            quote=str(evidence.get("quote") or ""), source=str(evidence.get("source") or ""), session=session
        )
        for evidence, session in evidence_and_session
        if isinstance(evidence, Mapping)
    )


def parse_proposals(value: object) -> tuple[ProposedLearning, ...]:
    """Return the proposals of a JSON value: a list, `{"proposals": […]}`, or one object.

    Raises:
        UsageError: it is none of these, or one of them isn't as it should be; it says which and why.
    """
    if isinstance(value, Mapping):
        value = value.get("proposals", [value])
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise UsageError("the proposals are no JSON list", hint=_PROPOSAL_HINT)
    if len(value) > MOST_PROPOSALS:
        raise UsageError(f"{len(value)} proposals at once; at most {MOST_PROPOSALS}", hint="name the few that last")
    return tuple(_parse_proposal(number, item) for number, item in enumerate(value, start=1))


def _parse_proposal(number: int, item: object) -> ProposedLearning:
    if not isinstance(item, Mapping):
        raise UsageError(f"proposal {number} is no JSON object", hint=_PROPOSAL_HINT)
    if unknown := [str(name) for name in item if name not in _PROPOSAL_FIELDS]:
        raise UsageError(
            f"proposal {number} has a field {one_line(unknown[0])}", hint=f"fields: {', '.join(_PROPOSAL_FIELDS)}"
        )
    evidence = item.get("evidence") or {}
    quoted = {"quote": evidence} if isinstance(evidence, str) else evidence
    if not isinstance(quoted, Mapping):
        raise UsageError(f"the evidence of proposal {number} is no object", hint=_PROPOSAL_HINT)
    proposal = ProposedLearning(
        claim=_text_field(number, item, "claim").strip(),
        type=_text_field(number, item, "type").strip() or "learned",
        aliases=tuple(_parse_texts(number, item, "aliases")),
        files=tuple(_parse_texts(number, item, "files")),
        task=_text_field(number, item, "task"),
        quote=_text_field(number, quoted, "quote")[:LONGEST_QUOTE],
        source=_text_field(number, quoted, "source")[:LONGEST_QUOTE],
        supersedes=_text_field(number, item, "supersedes"),
        withdraws=_text_field(number, item, "withdraws"),
        mended=_text_field(number, item, "mended"),
    )
    if not proposal.claim and not proposal.withdraws:
        raise UsageError(f"proposal {number} claims nothing", hint=_PROPOSAL_HINT)
    return proposal


def _text_field(number: int, fields: Mapping[object, object], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{name} of proposal {number} is no text", hint=_PROPOSAL_HINT)
    return value


def _parse_texts(number: int, fields: Mapping[object, object], name: str) -> Sequence[str]:
    value = fields.get(name) or ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{name} of proposal {number} are no list of texts", hint=_PROPOSAL_HINT)
    return texts
