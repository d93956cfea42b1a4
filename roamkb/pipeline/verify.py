"""`verify`: the gate that learnings pass to count as verified (document 002)."""

import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from typing import Any

from roamkb.core.progress import report_progress
from roamkb.core.request import flag_option
from roamkb.core.request import remaining_arguments
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.worktrees import worktree_name
from roamkb.harnesses.transcript import Speaker
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import RIVALS_FIELD
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_settled
from roamkb.log.state.learning_state import review_rivals
from roamkb.log.store.project_log import Log
from roamkb.models.names import MODEL_NAMES
from roamkb.pipeline import contest
from roamkb.pipeline.consolidation_plan import DUPLICATE_SIMILARITY
from roamkb.pipeline.consolidation_plan import MOST_ALIKE
from roamkb.pipeline.consolidation_plan import MOST_RIVALS
from roamkb.pipeline.consolidation_plan import KnownTexts
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import GateCheck
from roamkb.pipeline.gate.checks import JudgeScores
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import check_statement
from roamkb.pipeline.gate.checks import decide_verdict
from roamkb.pipeline.gate.judge_protocol import JUDGE_BATCH_SIZE
from roamkb.pipeline.gate.judge_protocol import Judgement
from roamkb.pipeline.gate.judge_protocol import apply_vetoes
from roamkb.pipeline.gate.judges import EVIDENCE_JUDGE
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.secrets.detector import withhold_secrets
from roamkb.text.similarity.containment import CoveringTexts
from roamkb.text.similarity.duplicates import DUPLICATE_LIKENESSES
from roamkb.text.similarity.duplicates import DuplicateTexts
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import is_contradiction
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.similarity_join import NearTexts


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Parameters of `verify`."""

    keys: Sequence[str] = remaining_arguments("The learnings, by key or id.", metavar="KEY...", values="keys")
    _: KW_ONLY
    batch: bool = flag_option("--batch", "All that have no verdict yet, or stand otherwise since.")
    task: str | None = text_option("--task", "With --batch: only those of this task.", metavar="ID", values="tasks")
    judge: str | None = text_option(
        "--judge", f"heuristic (the default: by the evidence), {MODEL_NAMES}, or a command.", metavar="MODEL"
    )
    accuracy: str | None = text_option("--accuracy", "Your own score, 0 to 1.", metavar="N")
    relevance: str | None = text_option("--relevance", "Your own score, 0 to 1.", metavar="N")
    specificity: str | None = text_option("--specificity", "Your own score, 0 to 1.", metavar="N")
    by: str | None = text_option("--by", "Who judges (the agent that is running).", metavar="WHO")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLearning:
    """A learning with the gate's checks, scores and verdict."""

    JSON = "standing.id standing.learning.key verdict mean=scores.mean scores judge vetoes checks"
    standing: LearningState
    verdict: str
    checks: tuple[GateCheck, ...]
    scores: JudgeScores | None
    #: Who gave the scores: heuristic, a command, an agent, a human; empty where nobody did.
    judge: str
    #: What the judge said besides its scores.
    vetoes: tuple[str, ...] = ()
    #: What a model that judged was told, by its version and digest.
    prompt: str = ""
    #: What was wrong with the judge's answer.
    trouble: str = ""
    #: Ids of the learnings that may say otherwise.
    rivals: tuple[str, ...] = ()
    attestation: ClaimAttestation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyResult:
    """Judged learnings of one call, and the number of those skipped."""

    judged: tuple[JudgedLearning, ...]
    #: Learnings of a batch that have a verdict already.
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """The judge, and the project's evidence on each learning."""

    name: str
    #: Says of learnings, in their order, what it thinks of them, as they are asked for.
    judge: Callable[[Sequence[LearningState]], Iterable[Judgement]]
    missing_anchors: Callable[[LearningState], Sequence[str]]
    #: Lines of the files that every session starts with, each with its file.
    boot_lines: Mapping[str, str]
    #: By session, the ids that it was shown.
    shown_by_session: Mapping[str, Sequence[str]]
    #: What a session's transcript says of a learning; None where there is none.
    attestation: Callable[[LearningState], ClaimAttestation | None] = lambda _: None
    #: What of it only a human may let pass.
    hazard: Callable[[LearningState], str] = lambda _: ""
    #: What a model was told, by its version and digest.
    prompt: str = ""


class Gate:
    """The log's state, prepared for checking many learnings.

    What is verified is compared whatever its type: a fact may repeat, or deny, what a pattern says.
    """

    def __init__(self, state: LogState, judge_context: JudgeContext) -> None:
        self._state = state
        self._bench = judge_context
        self._boot = KnownTexts(judge_context.boot_lines)
        self._shapes: dict[str, PreparedText] = {}
        self._verified: NearTexts[str] = NearTexts(DUPLICATE_SIMILARITY)
        self._twins: DuplicateTexts[str] = DuplicateTexts(DUPLICATE_SIMILARITY)
        self._covering: CoveringTexts[str] = CoveringTexts()
        self._disputes = _rivals_by_id(state)
        for standing in state.learnings_with("verdict", VERIFIED):
            if standing.status != SUPERSEDED:
                self._add_verified(standing)

    def _add_verified(self, standing: LearningState) -> None:
        if standing.id not in self._shapes:
            self._shapes[standing.id] = prepared = prepare_text(standing.learning.content)
            self._verified.add_text(standing.id, prepared)
            self._twins.add_text(standing.id, prepared)
            self._covering.add_text(standing.id, prepared)

    def judge_learnings(self, standings: Sequence[LearningState]) -> Iterator[JudgedLearning]:
        """Yield each learning with its checks and verdict; a verified one counts for the next."""
        # nobody needs to judge what can't pass
        hopeless = {
            candidate.id
            for candidate in standings
            if _is_hopeless(check_statement(candidate.learning.content, StatementEvidence()))
        }
        judgements = iter(self._bench.judge([candidate for candidate in standings if candidate.id not in hopeless]))
        for standing in standings:
            yield self._apply_judgement(
                standing, Judgement(scores=None) if standing.id in hopeless else next(judgements)
            )

    def _apply_judgement(self, standing: LearningState, judgement: Judgement) -> JudgedLearning:
        prepared = prepare_text(standing.learning.content)
        repeats, rivals = self._duplicate_and_rivals(standing, prepared)
        evidence = self._collect_evidence(standing, prepared, repeats, rivals)
        gate_checks = check_statement(standing.learning.content, evidence)
        outcome = apply_vetoes(decide_verdict(gate_checks, judgement.scores), judgement.vetoes)
        if judgement.trouble and outcome == UNVERIFIED:
            # who couldn't say anything takes nothing back
            outcome = standing.verdict
        if outcome == VERIFIED:
            self._add_verified(standing)
        return JudgedLearning(
            standing=standing,
            verdict=outcome,
            checks=gate_checks,
            scores=judgement.scores,
            judge=self._bench.name if judgement.scores else "",
            vetoes=judgement.vetoes,
            prompt=self._bench.prompt if judgement.scores else "",
            trouble=judgement.trouble,
            rivals=tuple(rival.id for rival in rivals),
            attestation=evidence.attestation,
        )

    def _collect_evidence(
        self,
        standing: LearningState,
        prepared: PreparedText,
        repeats: LearningState | None,
        rivals: Sequence[LearningState],
    ) -> StatementEvidence:
        learning = standing.learning
        attestation = self._bench.attestation(standing)
        if attestation and attestation.speaker == Speaker.AGENT and self._bench.name != EVIDENCE_JUDGE:
            # a judge saw what was said and the files: its scores bear it out, or don't
            attestation = replace(attestation, is_borne_out=True)
        shown_ids = self._bench.shown_by_session.get(learning.session, ()) if learning.session else ()
        return StatementEvidence(
            repeats=repeats.learning.key if repeats else "",
            contradicts=rivals[0].learning.key if rivals else "",
            boot_file=self._bench.boot_lines.get(self._boot.find_covering_text(prepared) or "", ""),
            is_only_recalled=standing.occurrences == 1 and self._was_shown(standing, prepared, shown_ids),
            has_source=bool(learning.provenance or learning.origin)
            and bool(learning.agent or learning.session or learning.origin or learning.source),
            # what a session's tools printed was there, wherever the project is now
            missing_anchors=() if attestation else tuple(self._bench.missing_anchors(standing)),
            attestation=attestation,
            hazard="" if attestation and attestation.speaker == Speaker.HUMAN else self._bench.hazard(standing),
        )

    def _duplicate_and_rivals(
        self, standing: LearningState, prepared: PreparedText
    ) -> tuple[LearningState | None, list[LearningState]]:
        """Return a verified learning that says the same, and the learnings that may contradict it."""
        rivals = [self._state.standings[id] for id in self._disputes.get(standing.id, ())]
        reworded = []
        # of a template there may be thousands
        for id in islice(self._verified.find_alike(prepared), MOST_ALIKE):
            other = self._state.standings[id]
            if (
                id == standing.id
                or text_likeness(prepared, self._shapes[id], limit=DUPLICATE_SIMILARITY) in DUPLICATE_LIKENESSES
            ):
                continue
            if not is_contradiction(prepared, self._shapes[id], limit=DUPLICATE_SIMILARITY):
                reworded.append(id)
            elif len(rivals) < MOST_RIVALS and other not in rivals and not is_settled(other):
                rivals.append(other)
        duplicate = next(
            (self._state.standings[id] for id in self._twins.find_duplicates(prepared) if id != standing.id), None
        )
        if duplicate is None:
            similar_ids = (*reworded, *self._covering.find_covering(prepared), *self._covering.find_covered(prepared))
            others = (self._state.standings[id] for id in similar_ids if id != standing.id)
            # what is surer isn't kept out by what is less so
            duplicate = next(
                (candidate for candidate in others if _surest_first_key(candidate) <= _surest_first_key(standing)), None
            )
        return duplicate, rivals

    def _was_shown(self, standing: LearningState, prepared: PreparedText, shown_ids: Sequence[str]) -> bool:
        others = (self._state.standings.get(id) for id in shown_ids if id != standing.id)
        return KnownTexts(
            shown_standing.learning.content for shown_standing in others if shown_standing
        ).has_covering_text(prepared)


def _rivals_by_id(state: LogState) -> dict[str, list[str]]:
    """Return for each learning in force the ids of some that may contradict it, by the ledger."""
    rivals_by_id: dict[str, list[str]] = {}
    for standing in state.learnings_with("contradicts", YES):
        if rival := state.rival_in_force(standing):
            for learning_id, rival_id in ((standing.id, rival.id), (rival.id, standing.id)):
                rival_ids = rivals_by_id.setdefault(learning_id, [])
                if rival_id not in rival_ids and len(rival_ids) < MOST_RIVALS:
                    rival_ids.append(rival_id)
    return rivals_by_id


def _is_hopeless(gate_checks: Iterable[GateCheck]) -> bool:
    return any(not check.ok and check.name in ("no_secret", "no_instruction") for check in gate_checks)


#: Why two learnings want a look that only a replacement of one of them settles.
_DISPUTED_REASON = "another may say otherwise"
#: Checks that only a human's word can settle.
_HUMAN_ONLY = frozenset({"harmless", "no_token"})
#: So many verdicts, or seconds, go by before they are written: stopped, a batch goes on from there.
_BATCH_SIZE = 100
_BATCH_SECONDS = 1.0


def _surest_first_key(standing: LearningState) -> tuple[int, int, int, str]:
    return -standing.confidence, -standing.occurrences, -len(standing.learning.content), standing.id


def verify(
    log: Log,
    gate: Gate,
    standings: Sequence[LearningState],
    author: Author,
) -> Iterator[JudgedLearning]:
    """Judge learnings one by one, and record the verdicts in batches."""
    # of several that say the same the surest is to pass, and of those the fullest
    standings = sorted(standings, key=_surest_first_key)
    record, pending = _VerdictRecord(log, author), list[JudgedLearning]()
    last_written = time.monotonic()
    try:
        groups = (standings[start : start + JUDGE_BATCH_SIZE] for start in range(0, len(standings), JUDGE_BATCH_SIZE))
        for judged_count, judged in enumerate(
            judged_learning for group in groups for judged_learning in gate.judge_learnings(group)
        ):
            report_progress("judging learnings", judged_count, len(standings))
            pending.append(judged)
            yield judged
            if len(pending) >= _BATCH_SIZE or time.monotonic() - last_written > _BATCH_SECONDS:
                record.add_verdicts(pending)
                pending, last_written = [], time.monotonic()
    finally:
        # Ctrl-C as well: what was judged is kept
        record.add_verdicts(pending)
        report_progress("judging learnings", len(standings), len(standings))


class _VerdictRecord:
    """Writer of verdicts, which reads the log again only after another process has written."""

    def __init__(self, log: Log, author: Author) -> None:
        self._log = log
        self._worktree = worktree_name(str(log.root))
        self._hand = author
        self._state: LogState | None = None
        self._last = ""
        self._stamp: tuple[object, ...] = ()
        #: Learnings that were put up for a review since the log was read, with those that may contradict them.
        self._disputed: dict[str, set[str]] = {}

    def add_verdicts(self, judged: Sequence[JudgedLearning]) -> None:
        """Record the verdicts of learnings, each of them for the first time."""
        if not judged:
            return
        with self._log.append_lock():
            if self._state is None or self._log.files_stamp() != self._stamp:
                contents = self._log.read_contents()
                self._state, self._last = contents.replay_state(), contents.last_event
                self._disputed = {}
            stamps = EventFactory(self._hand, after=self._last, command="verify")
            events = [
                event
                for judged_learning in judged
                for event in _verdict_events(judged_learning, self._state, stamps, self._disputed, self._worktree)
            ]
            self._log.append_entries(events=events)
            self._last = max((self._last, *(event.id for event in events)))
            self._stamp = self._log.files_stamp()


def _verdict_events(
    judged: JudgedLearning, state: LogState, stamps: EventFactory, disputed: dict[str, set[str]], worktree: str
) -> Iterator[LedgerEvent]:
    """Yield the ledger events of a judged learning; none where nothing changed."""
    standing, scores = state.standings[judged.standing.id], judged.scores
    yield from _review_events(judged, state, stamps, disputed)
    if not judged.rivals and standing.status == NEEDS_REVIEW and standing.review_reason == _DISPUTED_REASON:
        # the other one was replaced meanwhile
        yield stamps.new_event("curated", standing.id, status=ACTIVE, review_reason="nothing says otherwise any more")
        yield stamps.new_event("flagged", standing.id, reason=MAY_CONTRADICT, cleared=True)
    pending_reason = next(
        (gate_check.why for gate_check in judged.checks if not gate_check.ok and gate_check.name in _HUMAN_ONLY), ""
    )
    if pending_reason and standing.status == ACTIVE and standing.id not in disputed:
        yield stamps.new_event(
            "curated", standing.id, status=NEEDS_REVIEW, review_reason=f"a human decides: {pending_reason}"
        )
    taken_back = judged.attestation.taken_back if judged.attestation else ""
    if taken_back and contest.is_contestable(standing) and not contest.was_contested(standing):
        yield stamps.new_event("flagged", standing.id, reason=CONTESTED, evidence=withhold_secrets(taken_back))
    if scores is None and judged.verdict == standing.verdict and (judged.trouble or judged.attestation is None):
        return
    failed: list[dict[str, Any]] = [{"name": check.name, "why": check.why} for check in judged.checks if not check.ok]
    score_values = {name: float(getattr(scores, name)) for name in JudgeScores.__slots__} if scores else None
    judge_notes: dict[str, Any] = {"vetoes": list(judged.vetoes), "prompt": judged.prompt, "worktree": worktree}
    yield stamps.new_event(
        "judged",
        standing.id,
        verdict=judged.verdict,
        failed=failed,
        scores=score_values,
        judge=judged.judge,
        confidence=standing.confidence,
        evidence=_attestation_fields(judged.attestation),
        **{name: value for name, value in judge_notes.items() if value},
    )


def _review_events(
    judged: JudgedLearning, state: LogState, stamps: EventFactory, disputed: dict[str, set[str]]
) -> Iterator[LedgerEvent]:
    """Yield the events that put up a judged learning and its rivals for a review, where none is that knows of it."""
    pairs = [(judged.standing.id, judged.rivals), *((id, (judged.standing.id,)) for id in judged.rivals)]
    for id, rival_ids in pairs if judged.rivals else ():
        standing = state.standings[id]
        is_reviewed = standing.status == NEEDS_REVIEW
        known_ids = disputed.setdefault(id, review_rivals(standing) if is_reviewed else set())
        if (known_ids or not is_reviewed) and not known_ids.issuperset(rival_ids):
            known_ids.update(rival_ids)
            about: dict[str, Any] = {"review_reason": _DISPUTED_REASON, RIVALS_FIELD: list(rival_ids)}
            yield stamps.new_event("curated", id, status=NEEDS_REVIEW, **about)


def _attestation_fields(attestation: ClaimAttestation | None) -> dict[str, object] | None:
    """Return the fields of an attestation for the ledger: its speaker, and whether it is enough."""
    return {"speaker": attestation.speaker, "is_good": attestation.is_good} if attestation else None


def needs_judging(standing: LearningState) -> bool:
    """Say whether a batch judges a learning: it has no verdict, or its confidence changed since."""
    if standing.status == SUPERSEDED:
        return False
    last_judgement = next((step.event for step in reversed(standing.history) if step.event.event == "judged"), None)
    if last_judgement is None:
        return True
    return (
        last_judgement.text_field("verdict") == "unverified"
        and last_judgement.fields.get("confidence") != standing.confidence
    )
