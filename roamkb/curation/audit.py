"""`audit`: what the local working set makes of the log, learning by learning, and why (document 003).

The log itself is never touched. Where the source drops, this flags: noise and stale
anchors lower a rank, and nothing else (D8, D20).
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from roamkb.core.request import AsOfOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.fs.private_files import AUDIT
from roamkb.fs.private_files import put_paper
from roamkb.log.jsonl import json_line
from roamkb.log.recall_ranking import place
from roamkb.log.recall_ranking import sense
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.log.store.project_log import LogContents
from roamkb.pipeline.gate.noise import noise_of
from roamkb.pipeline.gate.references import ACTIVE
from roamkb.pipeline.gate.references import NEEDS_REVIEW
from roamkb.pipeline.gate.references import STALE
from roamkb.pipeline.gate.references import AnchorVerdict
from roamkb.pipeline.gate.references import NamedAnchors
from roamkb.pipeline.gate.references import anchors_of
from roamkb.pipeline.gate.references import judged
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.text.similarity.contradiction import differ


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What `audit` takes."""

    _: KW_ONLY
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAction:
    """One thing that the working set does to one line or learning."""

    JSON = "action=name *fields"
    #: The source's own words: filter_noise, dedupe_key, flag_needs_review…
    name: str
    fields: Mapping[str, object] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {"action": self.name, **self.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was done to which key and why; the counts come last."""

    actions: tuple[AuditAction, ...]
    summary: Mapping[str, int]
    #: Where it is kept; None where it isn't.
    path: Path | None


def doubts_about(standing: LearningState, grounds: ProjectReferences) -> Mapping[str, str]:
    """Return why a learning ranks lower: what the ledger says, noise, and files that aren't there."""
    content = standing.learning.content
    doubts = dict(standing.flags)
    if noise := noise_of(content):
        doubts.setdefault("noise", noise)
    verdict = files_verdict(content, grounds)
    if missing := lost_files(verdict):
        doubts.setdefault(verdict.reason, ", ".join(missing))
    return doubts


def files_verdict(content: str, grounds: ProjectReferences) -> AnchorVerdict:
    """Return what the project says of the files that `content` names; symbols are not looked for."""
    anchors = anchors_of(content)
    return judged(anchors, content, files=_there(anchors, grounds), symbols=None)


def lost_files(verdict: AnchorVerdict) -> tuple[str, ...]:
    """Return the files whose absence speaks against a learning; one about a deletion isn't wrong for it."""
    is_doubtful = verdict.status == STALE or bool(verdict.existing_files)
    return verdict.missing_files if is_doubtful else ()


def verdicts(
    standings: Iterable[LearningState], grounds: ProjectReferences
) -> Mapping[str, tuple[NamedAnchors, AnchorVerdict]]:
    """Return what the project says of each learning's anchors, files and symbols, by the learnings' ids."""
    learnings = [standing.learning for standing in standings]
    anchors = {learning.id: anchors_of(learning.content) for learning in learnings}
    # a file decides before any symbol
    symbols = grounds.symbols_among(
        symbol for named in anchors.values() if not named.files for symbol in named.symbols
    )
    return {
        learning.id: (
            anchors[learning.id],
            judged(
                anchors[learning.id],
                learning.content,
                files=_there(anchors[learning.id], grounds),
                symbols=symbols,
            ),
        )
        for learning in learnings
    }


def audit(log: Log, contents: LogContents, grounds: ProjectReferences, *, keep: bool = True) -> Audit:
    """Return what becomes of every line in the working set; `keep` it in the log's local state.

    Raises:
        DiskError: it couldn't be kept.
    """
    state = contents.state()
    invalid = [
        AuditAction(
            name="skip_invalid_json",
            fields={"source": fault.path.name, "line": fault.line, "reason": fault.reason},
        )
        for fault in contents.faults
    ]
    twins = list(_repetitions(contents, state))
    repeated = {action.fields["id"] for action in twins if action.fields["effect"] == _COLLAPSED}
    kept = [one for one in state.standings.values() if one.status != SUPERSEDED and one.id not in repeated]
    noise = list(_noise(kept))
    doubted = list(_doubted(kept, verdicts(kept, grounds)))
    actions = (*invalid, *noise, *twins, *doubted)
    counts = {
        "invalid_json": len(invalid),
        "filtered_noise": len(noise),
        "duplicate_key": sum(one.name == "dedupe_key" for one in twins),
        "duplicate_content": sum(one.name == "dedupe_content" for one in twins),
        "stale_candidate": sum(one.name == "drop_stale_candidate" for one in doubted),
        "needs_review": sum(one.name == "flag_needs_review" for one in doubted),
        # what recall answers from; nothing that is only flagged leaves it
        "active": len(kept),
        "total": len(contents.learnings) + len(contents.archived),
    }
    # nobody reads it back, so it stays where people look for it
    path = log.ignored / AUDIT if keep else None
    if path:
        summary = AuditAction(name="summary", fields=counts)
        with log.locked():
            put_paper(path, b"".join(json_line(action.told()) + b"\n" for action in (*actions, summary)))
    return Audit(actions=actions, summary=counts, path=path)


#: What becomes of a repetition that says the same, and of one that only shares the key.
_COLLAPSED = "collapsed"
_BOTH_KEPT = "both kept, the latest first"


def _repetitions(contents: LogContents, state: LogState) -> Iterator[AuditAction]:
    """Yield each learning that another one stands for, by its key or by what it says."""
    seen: set[str] = set()
    for learning in (*contents.learnings, *contents.archived):
        if learning.id in seen:
            fields = {"key": learning.key, "kept_key": learning.key, "id": f"{learning.id} again"}
            yield AuditAction(
                name="dedupe_key", fields={**fields, "kept_id": learning.id, "effect": _COLLAPSED}
            )
        seen.add(learning.id)
    latest = sorted(state.standings.values(), key=place, reverse=True)
    said: dict[tuple[str, str], list[LearningState]] = {}
    called: dict[str, LearningState] = {}
    for standing in latest:
        learning = standing.learning
        alike = said.setdefault(sense(learning), [])
        # the same words may claim something else: x == 1, x != 1
        twin = next(
            (one for one in alike if not differ(one.learning.statement, learning.statement)), standing
        )
        if twin is standing:
            alike.append(standing)
        namesake = called.setdefault(learning.key.casefold(), standing)
        if twin is standing and namesake is standing:
            continue
        name = "dedupe_content" if namesake is standing else "dedupe_key"
        kept = namesake if twin is standing else twin
        yield AuditAction(
            name=name,
            fields={
                "key": learning.key,
                "kept_key": kept.learning.key,
                "id": standing.id,
                "kept_id": kept.id,
                "effect": _BOTH_KEPT if twin is standing else _COLLAPSED,
            },
        )


def _noise(standings: Iterable[LearningState]) -> Iterator[AuditAction]:
    for standing in standings:
        if reason := noise_of(standing.learning.content):
            fields = {"key": standing.learning.key, "id": standing.id, "reason": reason, "effect": "flagged"}
            yield AuditAction(name="filter_noise", fields=fields)


def _doubted(
    standings: Iterable[LearningState], found: Mapping[str, tuple[NamedAnchors, AnchorVerdict]]
) -> Iterator[AuditAction]:
    for standing in standings:
        anchors, verdict = found[standing.id]
        told = {
            "status": verdict.status,
            "confidence": verdict.confidence,
            "reasons": [verdict.reason],
            "anchors": {
                "files": list(anchors.files),
                "symbols": list(anchors.symbols),
                "existing_files": list(verdict.existing_files),
                "missing_files": list(verdict.missing_files),
            },
            "effect": "flagged",
        }
        who = {"key": standing.learning.key, "id": standing.id}
        if verdict.status == STALE:
            yield AuditAction(name="drop_stale_candidate", fields={**who, **told})
            continue
        reasons = [] if verdict.status == ACTIVE else [verdict.reason]
        reasons += (reason for reason in standing.flags if reason not in reasons)
        if standing.status == NEEDS_REVIEW:
            reasons.append(standing.review_reason or "needs_review")
        if reasons:
            flagged = {**told, "status": NEEDS_REVIEW, "reasons": reasons}
            if standing.flags:
                flagged["evidence"] = dict(standing.flags)
            yield AuditAction(name="flag_needs_review", fields={**who, **flagged})


def _there(anchors: NamedAnchors, grounds: ProjectReferences) -> frozenset[str]:
    return frozenset(file for file in anchors.files if grounds.has_file(file))
