"""The gate: named checks and scores that must both hold before a learning counts as verified.

The verdict comes from the scores' mean and the least of them (document 002, stage 4; D6), never
from a model's own word, and at the exact limits: scores are decimals. A secret or an instruction
is invalid whatever the mean.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from decimal import Decimal
from decimal import InvalidOperation
from typing import Annotated
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.gate.noise import noise_of
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.secrets.detector import SECRET_MARK
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import has_high_entropy
from roamkb.text.code_identifiers import names_of
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.unsafe_text import instruction_fault
from roamkb.text.unsafe_text import safety_fault

VERIFIED: Final = "verified"

#: Of the mean, inclusive and exclusive (document 002).
VERIFIED_FROM: Final = Decimal("0.6")
_INVALIDATED_BELOW: Final = Decimal("0.3")
#: Of each score, inclusive: a mean must not hide a no (D6).
NO_SCORE_UNDER: Final = Decimal("0.5")

_LEAST_WORDS = 4
_MOST_CHARACTERS = 2000
_MOST_SENTENCES = 8
_SENTENCE_END = lazily(r"[.!?](?:\s|\Z)")
_MARKER_LINES = lazily(r"^(?:LEARNED|DECISION|FACT|PATTERN|INVESTIGATION|DEVIATION|GOTCHA|MUST-CHECK):", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One named check, and its outcome."""

    name: str
    ok: bool
    #: Empty where it holds.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScores:
    """A judge's scores, each 0 to 1."""

    accuracy: Annotated[Decimal, float]
    relevance: Annotated[Decimal, float]
    specificity: Annotated[Decimal, float]

    @property
    def mean(self) -> Annotated[Decimal, float]:
        """Their mean, to four digits; the limits are compared exactly."""
        return ((self.accuracy + self.relevance + self.specificity) / 3).quantize(Decimal("0.0001"))

    def mean_reaches(self, limit: Decimal) -> bool:
        """Say whether the exact mean is at least `limit`."""
        return self.accuracy + self.relevance + self.specificity >= 3 * limit

    @property
    def too_low(self) -> tuple[str, ...]:
        """Names of the scores that keep a learning from being verified by themselves."""
        return tuple(name for name in self.__slots__ if getattr(self, name) < NO_SCORE_UNDER)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementEvidence:
    """Evidence on a statement beside its text; empty texts and False mean that nothing is wrong."""

    #: What it nearly repeats, or says in part or with an addition: a verified learning.
    repeats: str = ""
    #: What it may contradict: a verified learning, or one that the ledger names.
    contradicts: str = ""
    #: The file that every session starts with and that says so.
    boot_file: str = ""
    is_only_recalled: bool = False
    has_source: bool = True
    #: What it names and the project hasn't.
    missing_anchors: tuple[str, ...] = ()
    #: What a session's transcript says of it; None where no transcript was asked.
    attestation: ClaimAttestation | None = None
    #: What only a human may let pass.
    hazard: str = ""


def check_statement(content: str, evidence: StatementEvidence) -> tuple[GateCheck, ...]:
    """Return every check of a statement, in the order in which people read them."""
    restates = f"{evidence.boot_file}, with which every session starts, says so" if evidence.boot_file else ""
    recalled = "it was shown to the session that says it" if evidence.is_only_recalled else ""
    return tuple(
        GateCheck(name=name, ok=not why, why=why)
        for name, why in (
            ("substantial", _min_size_fault(content)),
            ("no_noise", noise_of(content)),
            ("size", _max_size_fault(content)),
            ("one_statement", _several_fault(content)),
            ("no_secret", _secret_fault(content)),
            ("no_instruction", instruction_fault(content)),
            ("safe", safety_fault(content)),
            ("not_in_boot_file", restates),
            ("not_repeated", f"{evidence.repeats} says so and is verified" if evidence.repeats else ""),
            ("no_contradiction", f"{evidence.contradicts} may say otherwise" if evidence.contradicts else ""),
            ("anchored", _anchor_fault(evidence.missing_anchors)),
            ("sourced", "" if evidence.has_source else "nobody knows who said it, and from where"),
            ("not_only_recalled", recalled),
            ("borne_out", evidence.attestation.why_not if evidence.attestation else ""),
            ("harmless", evidence.hazard),
            ("no_token", _token_fault(content)),
        )
    )


def decide_verdict(gate_checks: Iterable[GateCheck], scores: JudgeScores | None) -> str:
    """Return the verdict by checks and scores; without scores a learning stays unverified."""
    failed = {check.name for check in gate_checks if not check.ok}
    if failed & {"no_secret", "no_instruction"}:
        return INVALIDATED
    if scores is None:
        return UNVERIFIED
    if not scores.mean_reaches(_INVALIDATED_BELOW):
        return INVALIDATED
    is_convinced = scores.mean_reaches(VERIFIED_FROM) and not scores.too_low
    return VERIFIED if is_convinced and not failed else UNVERIFIED


def parse_scores(answer: Mapping[str, object]) -> JudgeScores | None:
    """Return the three scores of a judge's answer; None where one is missing or no number from 0 to 1."""
    values = [_parse_score(answer.get(name)) for name in ("accuracy", "relevance", "specificity")]
    accuracy, relevance, specificity = values
    if accuracy is None or relevance is None or specificity is None:
        return None
    return JudgeScores(accuracy=accuracy, relevance=relevance, specificity=specificity)


def _parse_score(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number <= 1 else None


def scores_by_evidence(
    content: str, attestation: ClaimAttestation | None, *, category: str, agreeing: int = 0
) -> JudgeScores | None:
    """Return the scores that evidence gives (D6); None where there is no evidence.

    Accuracy by who said it and what bears it out, or by the number of other sources that agree: sessions
    that repeated it, agents that validated it, uses that succeeded. Relevance by whether it names things of
    the project, or is of a category that lasts; specificity by what it names and by its words.
    """
    if attestation is None and not agreeing:
        return None
    accuracy = min(Decimal("0.9"), Decimal("0.45") + Decimal("0.15") * agreeing)
    if attestation is not None and attestation.is_good:
        accuracy = max(accuracy, _SPEAKER_ACCURACY[attestation.speaker])
    names = len(names_of(content))
    lasts = names or category in DURABLE_CATEGORIES
    count = sum(1 for _ in split_words(content)) + sum(map(len, UNSPACED.findall(content))) // 2
    return JudgeScores(
        accuracy=accuracy,
        relevance=Decimal("0.8") if lasts else Decimal("0.6"),
        specificity=min(Decimal(1), Decimal("0.5") + Decimal("0.1") * names + Decimal(count) / 100),
    )


#: A human's own words, and an agent's that a tool's output bears out.
_SPEAKER_ACCURACY: Final = {"human": Decimal("0.9"), "agent": Decimal("0.8")}


def _min_size_fault(content: str) -> str:
    count = sum(1 for _ in split_words(content))
    # one run of Chinese or Thai is a sentence to its reader
    return "" if count >= _LEAST_WORDS or len(content.strip()) >= 3 * _LEAST_WORDS else "it is too short"


def _max_size_fault(content: str) -> str:
    return f"it has more than {_MOST_CHARACTERS:,} characters" if len(content) > _MOST_CHARACTERS else ""


def _several_fault(content: str) -> str:
    if len(_MARKER_LINES.findall(content)) > 1:
        return "it holds several learnings"
    sentences = len(_SENTENCE_END.findall(content))
    return f"it has {sentences} sentences" if sentences > _MOST_SENTENCES else ""


def _secret_fault(content: str) -> str:
    secret = find_secret(content)
    if secret:
        return f"it holds a secret ({secret.kind})"
    return "it held a secret" if SECRET_MARK.search(content) else ""


def _token_fault(content: str) -> str:
    is_token = has_high_entropy(content)
    return "a word in it looks like a token of an unknown form" if is_token else ""


def _anchor_fault(missing: tuple[str, ...]) -> str:
    return f"the project has no {', '.join(missing)}" if missing else ""


def failed_checks(gate_checks: Iterable[GateCheck]) -> Iterator[GateCheck]:
    """Yield the checks that failed."""
    yield from (check for check in gate_checks if not check.ok)
