"""The command `audit`: the log's lines in the working set, each with a reason (document 003).

The log itself is never touched. Where the source drops, this flags: noise and stale
anchors lower a rank, and nothing else (D8, D20).
"""

from collections import Counter
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set
from pathlib import Path

from roamkb.core.request import AsOfOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.timestamps import format_iso
from roamkb.fs.files import write_private_file
from roamkb.log import jsonl
from roamkb.log.recall_ranking import repetition_key
from roamkb.log.recall_ranking import representative_key
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.tombstones import tombstones_of
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.project_log import Log
from roamkb.pipeline.gate.noise import noise_of
from roamkb.pipeline.gate.references import ACTIVE
from roamkb.pipeline.gate.references import NEEDS_REVIEW
from roamkb.pipeline.gate.references import STALE
from roamkb.pipeline.gate.references import AnchorVerdict
from roamkb.pipeline.gate.references import NamedAnchors
from roamkb.pipeline.gate.references import anchor_verdict
from roamkb.pipeline.gate.references import anchors_of
from roamkb.pipeline.gate.references import files_of
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.text.similarity import contradiction

#: Beside the log's local folders.
_AUDIT_FILE = "knowledge.audit.jsonl"


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The options of `audit`."""

    _: KW_ONLY
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAction:
    """An action of the working set on one line or learning."""

    JSON = "action=name *fields"
    #: The source's own words: filter_noise, dedupe_key, flag_needs_review…
    name: str
    fields: Mapping[str, object] = field(default_factory=dict)

    def to_json_object(self) -> dict[str, object]:
        """Return the action as one JSON object."""
        return {"action": self.name, **self.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The actions on all keys, with their reasons and counts."""

    actions: tuple[AuditAction, ...]
    summary: Mapping[str, int]
    #: Where it is kept; None where it isn't.
    path: Path | None


def noise_flags(state: LogState, standing: LearningState, references: ProjectReferences) -> Mapping[str, str]:
    """Return why a learning ranks lower: the ledger's flags, noise, and missing files."""
    content = standing.learning.content
    flags = dict(state.flags_in_force(standing))
    if noise := noise_of(content):
        flags.setdefault("noise", noise)
    verdict = judge_files(content, references)
    if missing := missing_files(verdict):
        flags.setdefault(verdict.reason, ", ".join(missing))
    return flags


def judge_files(content: str, references: ProjectReferences) -> AnchorVerdict:
    """Return the verdict on the files that `content` names; symbols are not looked for."""
    anchors = NamedAnchors(files=files_of(content))
    return anchor_verdict(anchors, content, files=_existing_files(anchors, references), symbols=None)


def missing_files(verdict: AnchorVerdict) -> tuple[str, ...]:
    """Return the missing files that count against a learning; one about a deletion isn't wrong for it."""
    is_doubtful = verdict.status == STALE or bool(verdict.existing_files)
    return verdict.missing_files if is_doubtful else ()


def _named_symbols(standings: Iterable[LearningState], references: ProjectReferences) -> Set[str] | None:
    """Return those of the symbols by which learnings are judged that the project has; None if time ran out."""
    # a file decides before any symbol
    anchors = (anchors_of(standing.learning.content) for standing in standings)
    return references.symbols_among(symbol for named in anchors if not named.files for symbol in named.symbols)


def audit(log: Log, contents: LogContents, references: ProjectReferences, *, keep: bool = True) -> Audit:
    """Return the actions on every line in the working set; `keep` them in the log's local state.

    Raises:
        DiskError: it couldn't be kept.
    """
    state = contents.replay_state()
    invalid = [
        AuditAction(
            name="keep_newer_version" if fault.is_newer else "skip_invalid_json",
            fields={"source": fault.path.name, "line": fault.line, "reason": fault.reason},
        )
        for fault in contents.line_faults
    ]
    numbers_of_id = Counter(learning.id for learning in contents.each_learning())
    repetitions = [*_find_repeated_lines(contents, numbers_of_id), *_find_repetitions(state)]
    repeated = {action.fields["id"] for action in repetitions if action.fields["effect"] == _COLLAPSED_EFFECT}
    active = [
        candidate
        for candidate in state.standings.values()
        if candidate.status != SUPERSEDED and candidate.id not in repeated
    ]
    noise = list(_find_noise(active))
    doubtful = list(_find_doubtful(active, references))
    forgotten = list(_find_forgotten(contents, state))
    actions = (*invalid, *forgotten, *noise, *repetitions, *doubtful)
    counts = {
        "invalid_json": sum(not fault.is_newer for fault in contents.line_faults),
        "newer_version": sum(fault.is_newer for fault in contents.line_faults),
        "forgotten": len(forgotten),
        "filtered_noise": len(noise),
        "duplicate_key": sum(candidate.name == "dedupe_key" for candidate in repetitions),
        "duplicate_content": sum(candidate.name == "dedupe_content" for candidate in repetitions),
        "stale_candidate": sum(candidate.name == "drop_stale_candidate" for candidate in doubtful),
        "needs_review": sum(candidate.name == "flag_needs_review" for candidate in doubtful),
        # what recall answers from; nothing that is only flagged leaves it
        "active": len(active),
        "total": numbers_of_id.total(),
    }
    # nobody reads it back, so it stays where people look for it
    path = log.ignored / _AUDIT_FILE if keep else None
    if path:
        summary = AuditAction(name="summary", fields=counts)
        with log.append_lock():
            write_private_file(
                path, b"".join(jsonl.json_line(action.to_json_object()) + b"\n" for action in (*actions, summary))
            )
    return Audit(actions=actions, summary=counts, path=path)


#: What becomes of a repetition that says the same, and of one that only shares the key.
_COLLAPSED_EFFECT = "collapsed"
_BOTH_KEPT_EFFECT = "both kept, the latest first"


def _find_repeated_lines(contents: LogContents, numbers_of_id: Counter[str]) -> Iterator[AuditAction]:
    """Yield each line with the id of an earlier one."""
    if len(numbers_of_id) == numbers_of_id.total():
        return
    seen_ids: set[str] = set()
    for learning in contents.each_learning():
        if learning.id in seen_ids:
            fields = {"key": learning.key, "kept_key": learning.key, "id": f"{learning.id} again"}
            yield AuditAction(name="dedupe_key", fields={**fields, "kept_id": learning.id, "effect": _COLLAPSED_EFFECT})
        seen_ids.add(learning.id)


def _find_repetitions(state: LogState) -> Iterator[AuditAction]:
    """Yield each learning that another one stands for, by its key or by its content."""
    latest = sorted(state.standings.values(), key=representative_key, reverse=True)
    standings_by_sense: dict[tuple[str, str], list[LearningState]] = {}
    standing_by_key: dict[str, LearningState] = {}
    for standing in latest:
        learning = standing.learning
        same_sense = standings_by_sense.setdefault(repetition_key(learning), [])
        # the same words may claim something else: x == 1, x != 1
        duplicate = next(
            (
                earlier
                for earlier in same_sense
                if not contradiction.differ_in_claim(earlier.learning.statement, learning.statement)
            ),
            standing,
        )
        if duplicate is standing:
            same_sense.append(standing)
        namesake = standing_by_key.setdefault(learning.key.casefold(), standing)
        if duplicate is standing and namesake is standing:
            continue
        name = "dedupe_content" if namesake is standing else "dedupe_key"
        kept_standing = namesake if duplicate is standing else duplicate
        yield AuditAction(
            name=name,
            fields={
                "key": learning.key,
                "kept_key": kept_standing.learning.key,
                "id": standing.id,
                "kept_id": kept_standing.id,
                "effect": _BOTH_KEPT_EFFECT if duplicate is standing else _COLLAPSED_EFFECT,
            },
        )


def _find_forgotten(contents: LogContents, state: LogState) -> Iterator[AuditAction]:
    """Yield each tombstone, with the lines that it hides and that are still there, by a merge or by hand."""
    events = state.events_named(FORGOTTEN)
    tombstones = {event.id: tombstones_of([event]) for event in events}
    all_tombstones = tombstones_of(events)
    raw_learnings = [
        learning for page in contents.pages[:2] for learning in page.each_learning() if all_tombstones.covers(learning)
    ]
    for event in events:
        fields = {
            "id": event.of,
            "event": event.id,
            "ts": format_iso(event.ts),
            "operator": event.text_field("operator"),
            "hidden_lines": sum(tombstones[event.id].covers(learning) for learning in raw_learnings),
            "effect": "hidden",
        }
        yield AuditAction(name="forgotten", fields=fields)


def _find_noise(standings: Iterable[LearningState]) -> Iterator[AuditAction]:
    for standing in standings:
        if reason := noise_of(standing.learning.content):
            fields = {"key": standing.learning.key, "id": standing.id, "reason": reason, "effect": "flagged"}
            yield AuditAction(name="filter_noise", fields=fields)


def _find_doubtful(standings: Collection[LearningState], references: ProjectReferences) -> Iterator[AuditAction]:
    symbols = _named_symbols(standings, references)
    for standing in standings:
        content = standing.learning.content
        anchors = anchors_of(content)
        verdict = anchor_verdict(anchors, content, files=_existing_files(anchors, references), symbols=symbols)
        anchor_fields = {
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
        learning_fields = {"key": standing.learning.key, "id": standing.id}
        if verdict.status == STALE:
            yield AuditAction(name="drop_stale_candidate", fields={**learning_fields, **anchor_fields})
            continue
        reasons = [] if verdict.status == ACTIVE else [verdict.reason]
        reasons += (reason for reason in standing.flags if reason not in reasons)
        if standing.status == NEEDS_REVIEW:
            reasons.append(standing.review_reason or "needs_review")
        if reasons:
            flagged = {**anchor_fields, "status": NEEDS_REVIEW, "reasons": reasons}
            if standing.flags:
                flagged["evidence"] = dict(standing.flags)
            yield AuditAction(name="flag_needs_review", fields={**learning_fields, **flagged})


def _existing_files(anchors: NamedAnchors, references: ProjectReferences) -> frozenset[str]:
    return frozenset(file for file in anchors.files if references.has_file(file))
