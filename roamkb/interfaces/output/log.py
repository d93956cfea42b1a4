"""What the operations of a project's log found and did, as text and as JSON (docs/json.md)."""

import secrets
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.core.untrusted import framed
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import nearest_type
from roamkb.log.state.confidence import ADOPTED
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import LearningState

if TYPE_CHECKING:
    from roamkb.log.init import InitialisedLog
    from roamkb.log.learn import LearnResult
    from roamkb.log.recall import LogFigures
    from roamkb.log.recall import RecallResult
    from roamkb.log.recall_ranking import RecalledLearning
    from roamkb.pipeline.consolidate import ConsolidateResult
    from roamkb.pipeline.ingest.ingest import IngestResult
    from roamkb.pipeline.learn_proposals import ProposalOutcome
    from roamkb.pipeline.learn_proposals import ProposalOutcomes
    from roamkb.pipeline.observe import ObserveResult

#: A title's worth of a learning; its whole text is there for the asking.
_TITLE = 200


def init(result: "InitialisedLog") -> PrintedResult:
    """Say what was made, and what to know about it."""
    warnings = []
    if result.ignored_by:
        warnings.append(
            f"git ignores the log, by {shown(str(result.ignored_by))}: it stays on this machine alone"
        )
    elif result.is_in_git and result.made:
        warnings.append(
            "what is committed travels with the repository; where that is public, "
            "keep the log out of it with `roamkb init --untracked`"
        )

    def text(_: bool) -> str:
        if not result.made:
            return f"{shown(str(result.folder))} is there already; nothing changed"
        # a folder that was made says it for all that is in it
        top = [path for path in result.made if path.parent not in result.made]
        lines = [f"made {shown(str(path))}" for path in top]
        if result.adopted:
            lines.append(
                "what came with the project is told to agents from now on, as nobody's verified word and at "
                f"most {as_fraction(ADOPTED):.2f} sure: {result.adopted}"
            )
            lines += [f"  {statement}" for statement in result.adopted.statements]
        return "\n".join(lines)

    return PrintedResult(result=result, text=text, warnings=tuple(warnings))


def learn(result: "LearnResult | ProposalOutcomes") -> PrintedResult:
    """Say what the log knows now."""
    from roamkb.pipeline.learn_proposals import ProposalOutcomes

    if isinstance(result, ProposalOutcomes):
        return _proposals(result)
    learning = result.learning

    def text(_: bool) -> str:
        what = (
            f"learned {shown(learning.key)}"
            if result.outcome == "new"
            else f"known already: {shown(learning.key)}, now {times(result.occurrences)}"
        )
        if result.superseded:
            what += f", in place of {shown(result.superseded.key)}, which is no longer offered"
        alike = (f"looks like {shown(one.key)}: {_title(one.statement)}" for one in result.looks_like)
        return "\n".join([f"{what} ({as_fraction(result.confidence):.2f})", *alike])

    return PrintedResult(result=result, text=text, warnings=result.complaints)


def extract(result: "ProposalOutcomes") -> PrintedResult:
    """Say what became of what a model proposed."""
    return _proposals(result)


def _proposals(result: "ProposalOutcomes") -> PrintedResult:
    """Say what became of each proposal."""
    lines = [
        _became(one, one.standing)
        if one.standing
        else f"{one.outcome}: {shown(one.text)}: {shown('; '.join(one.why))}"
        for one in result.taken
    ]
    refused = [one for one in result.taken if one.outcome == "refused"]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines) or "nothing was proposed",
        # as for a secret that is said alone: what can't be kept is an error, once nothing was
        status=2 if refused and len(refused) == len(result.taken) else 0,
    )


def _became(taken: "ProposalOutcome", standing: "LearningState") -> str:
    """Say what became of one proposal: of what isn't offered any more, no verdict."""
    what = f"{taken.outcome} {shown(standing.learning.key)}"
    if taken.outcome == "withdrawn":
        return f"{what}: no longer offered"
    if taken.outcome == "contested":
        return f"{what}: not offered until that is settled"
    replaced = "".join(f"; {shown(key)} is replaced and no longer offered" for key in taken.replaced)
    why = f"; {shown('; '.join(taken.why))}" if taken.why else ""
    return f"{what}: {standing.verdict} ({as_fraction(standing.confidence):.2f}){replaced}{why}"


def observe(result: "ObserveResult") -> PrintedResult:
    """Say what was learned of what was said."""
    learned = [learn(one) for one in result.learned]
    declined = [f"not kept: {shown(one.text)}: {shown(one.reason)}" for one in result.declined]

    def text(terminal: bool) -> str:
        recorded = [f"recorded {result.recorded} in {shown(str(result.path))}"] if result.recorded else []
        return "\n".join([*(one.text(terminal) for one in learned), *recorded])

    return PrintedResult(
        result=result,
        text=text,
        status=0 if learned or result.recorded else 1,
        warnings=(*(warning for one in learned for warning in one.warnings), *declined),
    )


#: Faults that a line of text has room for; JSON has them all.
_FAULTS = 3


def ingest(result: "IngestResult") -> PrintedResult:
    """Say how much of the source the log has now."""
    invalid = [f"line {bad.line}: {shown(bad.reason)}" for bad in result.invalid]

    def text(_: bool) -> str:
        told = [f"{result.merged} merged"] if result.merged else []
        if invalid:
            more = ["…"] if len(invalid) > _FAULTS else []
            told.append(f"{len(invalid)} invalid: {'; '.join([*invalid[:_FAULTS], *more])}")
        said = f"{'Would ingest' if result.is_dry_run else 'Ingested'} {result.new} new learning"
        said += f"{'' if result.new == 1 else 's'} ({result.already} skipped, already imported)"
        lines = [f"  [{shown(one.type).upper()}] {_title(one.statement)}" for one in result.preview]
        return "\n".join(["; ".join([said, ", ".join(told)]) if told else said, *lines])

    return PrintedResult(
        result=result,
        text=text,
        # what holds nothing but what nobody can read is no source
        status=2 if invalid and not (result.new or result.merged or result.already) else 0,
        warnings=tuple(_about_source(result)),
    )


def _about_source(result: "IngestResult") -> Iterator[str]:
    if result.file is None:
        yield "there is nothing to read: no other tool keeps anything here"
    elif result.preview and result.is_dry_run:
        yield "this is only shown; --yes without --dry-run takes it in"


def consolidate(result: "tuple[ConsolidateResult, ...]") -> PrintedResult:
    """Say what each stage did."""

    def text(_: bool) -> str:
        return "\n".join(map(_stage, result)) or "no session is open"

    return PrintedResult(result={"consolidated": result}, text=text)


def _stage(done: "ConsolidateResult") -> str:
    counts = [
        f"{count} {name}"
        for name, count in (
            ("new", done.created),
            ("repeated", done.repeated),
            ("superseded", done.superseded),
            ("raised", done.raised),
            *((f"dropped: {reason}", count) for reason, count in done.dropped.items()),
        )
        if count
    ]
    return (
        f"{done.stage} {shown(done.name)}: {done.processed} processed{''.join(f', {one}' for one in counts)}"
    )


def recall(result: "RecallResult | LogFigures") -> PrintedResult:
    """Print what answers, or how much there is."""
    from roamkb.log.recall import LogFigures

    return _figures(result) if isinstance(result, LogFigures) else _recall(result)


def _recall(result: "RecallResult") -> PrintedResult:
    def text(terminal: bool) -> str:
        if result.form == "raw":
            raw = (learning_line(one.standing.learning).decode() for one in result.learnings)
            return "\n".join(map(cleaned, raw))
        if result.form == "framed":
            items = ["\n".join(_lines(one, in_full=True)) for one in result.learnings]
            return framed(items, source="project log", nonce=secrets.token_hex(4)) if items else ""
        lines = [line for one in result.learnings for line in _lines(one, in_full=result.in_full)]
        if result.more and terminal:
            lines.append(f"({result.more} more)")
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.learnings else 1,
        warnings=tuple(_unknown(result.unknown_type))
    )  # fmt: skip


def _unknown(type: str) -> Iterator[str]:
    """Yield what is said of a type that no learning has."""
    if type:
        meant = nearest_type(type)
        yield f"no learning has the type {shown(type)}" + (f"; did you mean {meant}?" if meant else "")


def _lines(found: "RecalledLearning", *, in_full: bool) -> Iterator[str]:
    standing = found.standing
    learning = standing.learning
    state = [] if standing.status == ACTIVE else [standing.status]
    marks = [*state, *found.doubts]
    marked = f" ({', '.join(map(shown, marks))})" if marks else ""
    content = cleaned(learning.statement).strip() if in_full else _title(learning.statement)
    yield f"[{shown(learning.type).upper()}] {content}{marked}"
    day = datetime.fromtimestamp(learning.ts).date().isoformat() if learning.ts else ""
    about = [
        day,
        f"bead: {shown(learning.bead)}" if learning.bead else "",
        " ".join(map(shown, learning.tags)),
        f"{as_fraction(standing.confidence):.2f}",
        shown(str(found.path or learning.key)),
    ]
    yield "  " + " | ".join(filter(None, about))


def _title(content: str) -> str:
    return clipped(shown(content), _TITLE)


_COUNTED = "Counted: every learning in the log, superseded ones too (`roamkb stats` counts those that stand)"


def _figures(result: "LogFigures") -> PrintedResult:
    def text(_: bool) -> str:
        lines = [f"Active entries: {result.active}", f"Archived: {result.archived}", _COUNTED, "By type:"]
        lines += [f"{count:6} {shown(name)}" for name, count in result.by_type]
        lines += ["Top tags:", *(f"{count:6} {shown(name)}" for name, count in result.top_tags)]
        return "\n".join(lines)

    return PrintedResult(result=result, text=text)
