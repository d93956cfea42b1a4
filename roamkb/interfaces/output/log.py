"""Results of the operations on a project's log, as text and as JSON (docs/json.md)."""

import secrets
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from roamkb.context import brief_text
from roamkb.core import untrusted
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.core.text import times_phrase
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log import init as log_init
from roamkb.log import jsonl
from roamkb.log import learn as log_learn
from roamkb.log import recall as log_recall
from roamkb.log import recall_ranking
from roamkb.log.learning import nearest_type
from roamkb.log.state.confidence import ADOPTED
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import LearningState
from roamkb.pipeline import consolidate as pipeline_consolidate
from roamkb.pipeline import learn_proposals
from roamkb.pipeline import observe as pipeline_observe
from roamkb.pipeline.ingest import ingest as pipeline_ingest

#: A title's worth of a learning; its whole text is there for the asking.
_TITLE_WIDTH = 200


def init(result: "log_init.InitialisedLog") -> PrintedResult:
    """Render the files that were made, with advice on them."""
    warnings = []
    if result.ignored_by:
        warnings.append(f"git ignores the log, by {one_line(str(result.ignored_by))}: it stays on this machine alone")
    elif result.is_in_git and result.made:
        warnings.append(
            "what is committed travels with the repository; where that is public, "
            "keep the log out of it with `roamkb init --untracked`"
        )
    if result.is_unlisted_workspace:
        warnings.append(
            f"the log of this jj workspace is its own: the repository that {one_line(str(result.root))}/.jj/repo names "
            "doesn't list this folder; `jj workspace add` of a present jj does"
        )

    def render_text(_: bool) -> str:
        shared = [f"shared with the worktree {one_line(str(folder))}" for folder in result.worktrees]
        if not result.made:
            return "\n".join([f"{one_line(str(result.folder))} is there already; nothing changed", *shared])
        # a folder that was made says it for all that is in it
        top = [path for path in result.made if path.parent not in result.made]
        lines = [*(f"made {one_line(str(path))}" for path in top), *shared]
        if result.adopted:
            lines.append(
                "what came with the project is told to agents from now on, as nobody's verified word and at "
                f"most {as_fraction(ADOPTED):.2f} sure: {result.adopted}"
            )
            lines += [f"  {statement}" for statement in result.adopted.statements]
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text, warnings=tuple(warnings))


def learn(result: "log_learn.LearnResult | learn_proposals.ProposalOutcomes") -> PrintedResult:
    """Render the learning's new state."""
    if isinstance(result, learn_proposals.ProposalOutcomes):
        return _printed_proposals(result)
    learning = result.learning

    def render_text(_: bool) -> str:
        summary = (
            f"learned {one_line(learning.key)}"
            if result.outcome == "new"
            else f"known already: {one_line(learning.key)}, now {times_phrase(result.occurrences)}"
        )
        if result.superseded:
            summary += f", in place of {one_line(result.superseded.key)}, which is no longer offered"
        alike = (
            f"looks like {one_line(similar.key)}: {_title_text(similar.statement)}" for similar in result.looks_like
        )
        return "\n".join([f"{summary} ({as_fraction(result.confidence):.2f})", *alike])

    return PrintedResult(result=result, text=render_text, warnings=result.complaints)


def extract(result: "learn_proposals.ProposalOutcomes") -> PrintedResult:
    """Render the outcomes of a model's proposals."""
    return _printed_proposals(result)


def _printed_proposals(result: "learn_proposals.ProposalOutcomes") -> PrintedResult:
    """Render the outcome of each proposal."""
    lines = [
        (
            _proposal_line(proposal_outcome, proposal_outcome.standing)
            if proposal_outcome.standing
            else (
                f"{proposal_outcome.outcome}: {one_line(proposal_outcome.text)}:"
                f" {one_line('; '.join(proposal_outcome.why))}"
            )
        )
        for proposal_outcome in result.taken
    ]
    refused = [proposal_outcome for proposal_outcome in result.taken if proposal_outcome.outcome == "refused"]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines) or "nothing was proposed",
        # as for a secret that is said alone: what can't be kept is an error, once nothing was
        status=2 if refused and len(refused) == len(result.taken) else 0,
    )


def _proposal_line(proposal_outcome: "learn_proposals.ProposalOutcome", learning_state: "LearningState") -> str:
    """Return the outcome of one proposal; without a verdict where it isn't offered any more."""
    summary = f"{proposal_outcome.outcome} {one_line(learning_state.learning.key)}"
    why = f"; {one_line('; '.join(proposal_outcome.why))}" if proposal_outcome.why else ""
    if proposal_outcome.outcome == "withdrawn":
        return f"{summary}: no longer offered{why}"
    if proposal_outcome.outcome == "contested":
        return f"{summary}: not offered until that is settled{why}"
    replaced = "".join(f"; {one_line(key)} is replaced and no longer offered" for key in proposal_outcome.replaced)
    return f"{summary}: {learning_state.verdict} ({as_fraction(learning_state.confidence):.2f}){replaced}{why}"


def observe(result: "pipeline_observe.ObserveResult") -> PrintedResult:
    """Render the learnings found in an observation."""
    learned = [learn(entry) for entry in result.learned]
    declined = [f"not kept: {one_line(entry.text)}: {one_line(entry.reason)}" for entry in result.declined]

    def render_text(terminal: bool) -> str:
        recorded = [f"recorded {result.recorded} in {one_line(str(result.path))}"] if result.recorded else []
        return "\n".join([*(printed.text(terminal) for printed in learned), *recorded])

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if learned or result.recorded else 1,
        warnings=(*(warning for entry in learned for warning in entry.warnings), *declined),
    )


#: Faults that a line of text has room for; JSON has them all.
_FAULTS_IN_LINE = 3


def ingest(result: "pipeline_ingest.IngestResult") -> PrintedResult:
    """Render how much of the source the log has now."""
    invalid = [f"line {bad.line}: {one_line(bad.reason)}" for bad in result.invalid]

    def render_text(_: bool) -> str:
        notes = [f"{result.merged} merged"] if result.merged else []
        if result.forgotten:
            notes.append(f"{result.forgotten} forgotten and not taken")
        if invalid:
            more = ["…"] if len(invalid) > _FAULTS_IN_LINE else []
            notes.append(f"{len(invalid)} invalid: {'; '.join([*invalid[:_FAULTS_IN_LINE], *more])}")
        summary = f"{'Would ingest' if result.is_dry_run else 'Ingested'} {result.new} new learning"
        summary += f"{'' if result.new == 1 else 's'} ({result.already - result.forgotten} skipped, already imported)"
        lines = [
            f"  [{one_line(learning.type).upper()}] {_title_text(learning.statement)}" for learning in result.preview
        ]
        return "\n".join(["; ".join([summary, ", ".join(notes)]) if notes else summary, *lines])

    return PrintedResult(
        result=result,
        text=render_text,
        # what holds nothing but what nobody can read is no source
        status=2 if invalid and not (result.new or result.merged or result.already) else 0,
        warnings=tuple(_about_source(result)),
    )


def _about_source(result: "pipeline_ingest.IngestResult") -> Iterator[str]:
    if result.file is None:
        yield "there is nothing to read: no other tool keeps anything here"
    elif result.preview and result.is_dry_run:
        yield "this is only shown; --yes without --dry-run takes it in"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateAnswer:
    """Answer of `consolidate`."""

    consolidated: "tuple[pipeline_consolidate.ConsolidateResult, ...]"


def consolidate(
    result: "tuple[pipeline_consolidate.ConsolidateResult, ...]",
) -> Annotated[PrintedResult, ConsolidateAnswer]:
    """Render the result of each stage."""

    def render_text(_: bool) -> str:
        return "\n".join(map(_stage_line, result)) or "no session is open"

    return PrintedResult(result=ConsolidateAnswer(consolidated=result), text=render_text)


def _stage_line(stage_result: "pipeline_consolidate.ConsolidateResult") -> str:
    counts = [
        f"{count} {name}"
        for name, count in (
            ("new", stage_result.created),
            ("repeated", stage_result.repeated),
            ("superseded", stage_result.superseded),
            ("raised", stage_result.raised),
            *((f"dropped: {reason}", count) for reason, count in stage_result.dropped.items()),
        )
        if count
    ]
    return (
        f"{stage_result.stage} {one_line(stage_result.name)}: {stage_result.processed}"
        f" processed{''.join(f', {count_text}' for count_text in counts)}"
    )


def recall(result: "log_recall.RecallResult | log_recall.LogFigures") -> PrintedResult:
    """Render the answering learnings, or the log's figures."""
    return _printed_figures(result) if isinstance(result, log_recall.LogFigures) else _printed_recall(result)


def _printed_recall(result: "log_recall.RecallResult") -> PrintedResult:
    def render_text(terminal: bool) -> str:
        if result.trace is not None:
            return "\n".join(map(_traced_line, result.trace))
        if result.form == "raw":
            raw = (jsonl.learning_line(recalled.standing.learning).decode() for recalled in result.learnings)
            return "\n".join(map(strip_hidden, raw))
        if result.form == "framed":
            items = ["\n".join(_learning_lines(recalled, in_full=True)) for recalled in result.learnings]
            return untrusted.frame_items(items, source="project log", nonce=secrets.token_hex(4)) if items else ""
        lines = [line for recalled in result.learnings for line in _learning_lines(recalled, in_full=result.in_full)]
        if result.more and terminal:
            lines.append(f"({result.more} more)")
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.learnings else 1,
        warnings=tuple(_unknown_type_warning(result.unknown_type))
    )  # fmt: skip


def _traced_line(traced: "log_recall.TracedLearning") -> str:
    """Return a candidate's line: its score, what made it, and what became of it."""
    marks = [traced.standing.status, *(["preferred"] if traced.preferred else []), *traced.doubts]
    facts = f"match={traced.match:.2f} confidence={traced.confidence:.2f} {', '.join(map(one_line, marks))}"
    text = _title_text(traced.standing.learning.statement)
    return f"{traced.score:.2f} {facts} [{traced.dropped or 'shown'}] {one_line(traced.standing.learning.key)}: {text}"


def _unknown_type_warning(type: str) -> Iterator[str]:
    """Yield a warning about a type that no learning has."""
    if type:
        suggested_type = nearest_type(type)
        yield f"no learning has the type {one_line(type)}" + (
            f"; did you mean {suggested_type}?" if suggested_type else ""
        )


def _learning_lines(recalled: "recall_ranking.RecalledLearning", *, in_full: bool) -> Iterator[str]:
    learning_state = recalled.standing
    learning = learning_state.learning
    state = [] if learning_state.status == ACTIVE else [learning_state.status]
    if learning_state.verdict == INVALIDATED:
        state.append(INVALIDATED)
    waiting = [brief_text.NOT_BORNE_OUT] if brief_text.is_passing(learning_state) else []
    marks = [*state, *waiting, *recalled.doubts]
    marked = f" ({', '.join(map(one_line, marks))})" if marks else ""
    content = strip_hidden(learning.statement).strip() if in_full else _title_text(learning.statement)
    yield f"[{one_line(learning.type).upper()}] {content}{marked}"
    day = datetime.fromtimestamp(learning.ts).date().isoformat() if learning.ts else ""
    about = [
        day,
        f"bead: {one_line(learning.bead)}" if learning.bead else "",
        " ".join(map(one_line, learning.tags)),
        f"{as_fraction(learning_state.confidence):.2f}",
        one_line(str(recalled.path or learning.key)),
    ]
    yield "  " + " | ".join(filter(None, about))


def _title_text(content: str) -> str:
    return clip_text(one_line(content), _TITLE_WIDTH)


_COUNTED_NOTE = "Counted: every learning in the log, superseded ones too (`roamkb stats` counts those that stand)"


def _printed_figures(result: "log_recall.LogFigures") -> PrintedResult:
    def render_text(_: bool) -> str:
        lines = [f"Active entries: {result.active}", f"Archived: {result.archived}", _COUNTED_NOTE, "By type:"]
        lines += [f"{count:6} {one_line(name)}" for name, count in result.by_type]
        lines += ["Top tags:", *(f"{count:6} {one_line(name)}" for name, count in result.top_tags)]
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text)
