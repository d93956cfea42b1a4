"""`verify`: put learnings through the gate; what passes is verified, and only that lasts (document 002)."""

import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from typing import Any

from roamkb.core.request import option
from roamkb.core.request import rest
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.harnesses.transcript import Speaker
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.consolidation_plan import ALIKE
from roamkb.pipeline.consolidation_plan import MOST_ALIKE
from roamkb.pipeline.consolidation_plan import MOST_RIVALS
from roamkb.pipeline.consolidation_plan import KnownTexts
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import GateCheck
from roamkb.pipeline.gate.checks import JudgeScores
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import checks
from roamkb.pipeline.gate.checks import verdict
from roamkb.pipeline.gate.judge_protocol import AT_ONCE
from roamkb.pipeline.gate.judge_protocol import Judgement
from roamkb.pipeline.gate.judge_protocol import with_vetoes
from roamkb.pipeline.gate.judges import EVIDENCE
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.text.similarity.containment import CoveringTexts
from roamkb.text.similarity.duplicates import SAYS_THE_SAME
from roamkb.text.similarity.duplicates import DuplicateTexts
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import denies
from roamkb.text.similarity.jaccard import likeness
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.similarity_join import NearTexts


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What `verify` takes."""

    keys: Sequence[str] = rest("The learnings, by key or id.", metavar="KEY...")
    _: KW_ONLY
    batch: bool = switch("--batch", "All that have no verdict yet, or stand otherwise since.")
    task: str | None = option("--task", "With --batch: only those of this task.", metavar="ID")
    judge: str | None = option(
        "--judge", "heuristic, claude, codex, ollama:MODEL, openai:URL#MODEL, or a command.", metavar="MODEL"
    )
    accuracy: str | None = option("--accuracy", "Your own score, 0 to 1.", metavar="N")
    relevance: str | None = option("--relevance", "Your own score, 0 to 1.", metavar="N")
    specificity: str | None = option("--specificity", "Your own score, 0 to 1.", metavar="N")
    by: str | None = option("--by", "Who judges (the agent that is running).", metavar="WHO")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLearning:
    """One learning's way through the gate."""

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
    """What became of the learnings that were looked at."""

    judged: tuple[JudgedLearning, ...]
    #: Learnings of a batch that have a verdict already.
    skipped: int = 0


def _no_attestation(_: LearningState) -> ClaimAttestation | None:
    return None


def _no_hazard(_: LearningState) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """Who judges, and what the project says of each learning."""

    name: str
    #: Says of learnings, in their order, what it thinks of them, as they are asked for.
    judge: Callable[[Sequence[LearningState]], Iterable[Judgement]]
    missing_anchors: Callable[[LearningState], Sequence[str]]
    #: Lines of the files that every session starts with, each with its file.
    boot: Mapping[str, str]
    #: By session, the ids that it was shown.
    shown: Mapping[str, Sequence[str]]
    #: What a session's transcript says of a learning; None where there is none.
    attestation: Callable[[LearningState], ClaimAttestation | None] = _no_attestation
    #: What of it only a human may let pass.
    hazard: Callable[[LearningState], str] = _no_hazard
    #: What a model was told, by its version and digest.
    prompt: str = ""


class Gate:
    """All that a log knows, prepared for checking many learnings.

    What is verified is compared whatever its type: a fact may repeat, or deny, what a pattern says.
    """

    def __init__(self, state: LogState, bench: JudgeContext) -> None:
        self._state = state
        self._bench = bench
        self._boot = KnownTexts(bench.boot)
        self._shapes: dict[str, PreparedText] = {}
        self._verified: NearTexts[str] = NearTexts(ALIKE)
        self._twins: DuplicateTexts[str] = DuplicateTexts(ALIKE)
        self._covering: CoveringTexts[str] = CoveringTexts()
        self._disputes = _disputes(state)
        for standing in state.standings.values():
            if standing.verdict == VERIFIED and standing.status != SUPERSEDED:
                self._add(standing)

    def _add(self, standing: LearningState) -> None:
        if standing.id not in self._shapes:
            self._shapes[standing.id] = one = shape(standing.learning.content)
            self._verified.add(standing.id, one)
            self._twins.add(standing.id, one)
            self._covering.add(standing.id, one)

    def judge(self, standings: Sequence[LearningState]) -> Iterator[JudgedLearning]:
        """Yield what checks and judge say of each learning; a verified one counts for the next."""
        # nobody needs to judge what can't pass
        hopeless = {
            one.id for one in standings if _is_hopeless(checks(one.learning.content, StatementEvidence()))
        }
        told = iter(self._bench.judge([one for one in standings if one.id not in hopeless]))
        for standing in standings:
            yield self._judged(standing, Judgement(scores=None) if standing.id in hopeless else next(told))

    def _judged(self, standing: LearningState, says: Judgement) -> JudgedLearning:
        own = shape(standing.learning.content)
        repeats, rivals = self._near(standing, own)
        evidence = self._evidence(standing, own, repeats, rivals)
        found = checks(standing.learning.content, evidence)
        outcome = with_vetoes(verdict(found, says.scores), says.vetoes)
        if says.trouble and outcome == UNVERIFIED:
            # who couldn't say anything takes nothing back
            outcome = standing.verdict
        if outcome == VERIFIED:
            self._add(standing)
        return JudgedLearning(
            standing=standing,
            verdict=outcome,
            checks=found,
            scores=says.scores,
            judge=self._bench.name if says.scores else "",
            vetoes=says.vetoes,
            prompt=self._bench.prompt if says.scores else "",
            trouble=says.trouble,
            rivals=tuple(rival.id for rival in rivals),
            attestation=evidence.attestation,
        )

    def _evidence(
        self,
        standing: LearningState,
        own: PreparedText,
        repeats: LearningState | None,
        rivals: Sequence[LearningState],
    ) -> StatementEvidence:
        learning = standing.learning
        attestation = self._bench.attestation(standing)
        if attestation and attestation.speaker == Speaker.AGENT and self._bench.name != EVIDENCE:
            # a judge saw what was said and the files: its scores bear it out, or don't
            attestation = replace(attestation, is_borne_out=True)
        shown = self._bench.shown.get(learning.session, ()) if learning.session else ()
        return StatementEvidence(
            repeats=repeats.learning.key if repeats else "",
            contradicts=rivals[0].learning.key if rivals else "",
            boot_file=self._bench.boot.get(self._boot.find(own) or "", ""),
            is_only_recalled=standing.occurrences == 1 and self._was_shown(standing, own, shown),
            has_source=bool(learning.provenance or learning.origin)
            and bool(learning.agent or learning.session or learning.origin or learning.source),
            # what a session's tools printed was there, wherever the project is now
            missing_anchors=() if attestation else tuple(self._bench.missing_anchors(standing)),
            attestation=attestation,
            hazard=""
            if attestation and attestation.speaker == Speaker.HUMAN
            else self._bench.hazard(standing),
        )

    def _near(
        self, standing: LearningState, own: PreparedText
    ) -> tuple[LearningState | None, list[LearningState]]:
        """Return a verified learning that says the same, and those that may say otherwise."""
        rivals = [self._state.standings[id] for id in self._disputes.get(standing.id, ())]
        reworded = []
        # of a template there may be thousands
        for id in islice(self._verified.candidates(own), MOST_ALIKE):
            if id == standing.id or likeness(own, self._shapes[id], limit=ALIKE) in SAYS_THE_SAME:
                continue
            if not denies(own, self._shapes[id], limit=ALIKE):
                reworded.append(id)
            elif len(rivals) < MOST_RIVALS and all(id != rival.id for rival in rivals):
                rivals.append(self._state.standings[id])
        twin = next((self._state.standings[id] for id in self._twins.of(own) if id != standing.id), None)
        if twin is None:
            known = (*reworded, *self._covering.of(own), *self._covering.within(own))
            others = (self._state.standings[id] for id in known if id != standing.id)
            # what is surer isn't kept out by what is less so
            twin = next((other for other in others if _rank(other) <= _rank(standing)), None)
        return twin, rivals

    def _was_shown(self, standing: LearningState, own: PreparedText, shown: Sequence[str]) -> bool:
        others = (self._state.standings.get(id) for id in shown if id != standing.id)
        return KnownTexts(other.learning.content for other in others if other).say(own)


def _disputes(state: LogState) -> dict[str, list[str]]:
    """Return by each learning some that may say otherwise, as the ledger tells of either, and still stand."""
    found: dict[str, list[str]] = {}
    for standing in state.having("contradicts", YES):
        if standing.status != SUPERSEDED and state.is_disputed(standing):
            rival = standing.flags[MAY_CONTRADICT]
            for one, other in ((standing.id, rival), (rival, standing.id)):
                known = found.setdefault(one, [])
                if other not in known and len(known) < MOST_RIVALS:
                    known.append(other)
    return found


def _is_hopeless(found: Iterable[GateCheck]) -> bool:
    return any(not check.ok and check.name in ("no_secret", "no_instruction") for check in found)


#: Why two learnings want a look that only a replacement of one of them settles.
_DISPUTED = "another may say otherwise"
#: Checks that only a human's word can settle.
_HUMAN_ONLY = frozenset({"harmless", "no_token"})
#: So many verdicts, or seconds, go by before they are written: stopped, a batch goes on from there.
_BATCH = 100
_SECONDS = 1.0


def _rank(standing: LearningState) -> tuple[int, int, int, str]:
    return -standing.confidence, -standing.occurrences, -len(standing.learning.content), standing.id


def verify(
    log: Log,
    gate: Gate,
    standings: Sequence[LearningState],
    hand: Author,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[JudgedLearning]:
    """Judge learnings one by one, and record what came of it every now and then."""
    # of several that say the same the surest is to pass, and of those the fullest
    standings = sorted(standings, key=_rank)
    record, waiting = _VerdictRecord(log, hand), list[JudgedLearning]()
    written = time.monotonic()
    try:
        groups = (standings[at : at + AT_ONCE] for at in range(0, len(standings), AT_ONCE))
        for done, judged in enumerate(one for group in groups for one in gate.judge(group)):
            if progress:
                progress(done, len(standings))
            waiting.append(judged)
            yield judged
            if len(waiting) >= _BATCH or time.monotonic() - written > _SECONDS:
                record.add(waiting)
                waiting, written = [], time.monotonic()
    finally:
        # Ctrl-C as well: what was judged is kept
        record.add(waiting)
        if progress:
            progress(len(standings), len(standings))


class _VerdictRecord:
    """Writes verdicts, and reads the log again only where somebody else has written meanwhile."""

    def __init__(self, log: Log, hand: Author) -> None:
        self._log = log
        self._hand = hand
        self._state: LogState | None = None
        self._last = ""
        self._stamp: tuple[object, ...] = ()
        #: Learnings that were put up for a review since the log was read.
        self._disputed: set[str] = set()

    def add(self, judged: Sequence[JudgedLearning]) -> None:
        """Record what came of learnings, each of them for the first time."""
        if not judged:
            return
        with self._log.locked():
            if self._state is None or self._log.stamp() != self._stamp:
                contents = self._log.read()
                self._state, self._last = contents.state(), contents.last_event
                self._disputed = set()
            stamps = EventFactory(self._hand, after=self._last, by="verify")
            events = [event for one in judged for event in _events(one, self._state, stamps, self._disputed)]
            self._log.append(events=events)
            self._last = max((self._last, *(event.id for event in events)))
            self._stamp = self._log.stamp()


def _events(
    judged: JudgedLearning, state: LogState, stamps: EventFactory, disputed: set[str]
) -> Iterator[LedgerEvent]:
    """Yield what the ledger should know; nothing where nothing came of it."""
    now, scores = state.standings[judged.standing.id], judged.scores
    for id in (now.id, *judged.rivals) if judged.rivals else ():
        if id not in disputed and state.standings[id].status != NEEDS_REVIEW:
            disputed.add(id)
            yield stamps.event("curated", id, status=NEEDS_REVIEW, review_reason=_DISPUTED)
    if not judged.rivals and now.status == NEEDS_REVIEW and now.review_reason == _DISPUTED:
        # the other one was replaced meanwhile
        yield stamps.event("curated", now.id, status=ACTIVE, review_reason="nothing says otherwise any more")
        yield stamps.event("flagged", now.id, reason=MAY_CONTRADICT, cleared=True)
    waits = next((one.why for one in judged.checks if not one.ok and one.name in _HUMAN_ONLY), "")
    if waits and now.status == ACTIVE and now.id not in disputed:
        yield stamps.event("curated", now.id, status=NEEDS_REVIEW, review_reason=f"a human decides: {waits}")
    if scores is None and judged.verdict == now.verdict and (judged.trouble or judged.attestation is None):
        return
    failed: list[dict[str, Any]] = [
        {"name": check.name, "why": check.why} for check in judged.checks if not check.ok
    ]
    told = {name: float(getattr(scores, name)) for name in JudgeScores.__slots__} if scores else None
    more: dict[str, Any] = {"vetoes": list(judged.vetoes), "prompt": judged.prompt}
    yield stamps.event(
        "judged",
        now.id,
        verdict=judged.verdict,
        failed=failed,
        scores=told,
        judge=judged.judge,
        confidence=now.confidence,
        evidence=_kept_of(judged.attestation),
        **{name: value for name, value in more.items() if value},
    )


def _kept_of(attestation: ClaimAttestation | None) -> dict[str, object] | None:
    """Return what the ledger keeps of a attestation: who said it, and whether that was enough."""
    return {"speaker": attestation.speaker, "is_good": attestation.is_good} if attestation else None


def wants_judging(standing: LearningState) -> bool:
    """Say whether a batch should look at a learning: it has no verdict, or stands otherwise since."""
    if standing.status == SUPERSEDED:
        return False
    last = next((step.event for step in reversed(standing.history) if step.event.event == "judged"), None)
    if last is None:
        return True
    return last.text("verdict") == "unverified" and last.fields.get("confidence") != standing.confidence
