"""Proposed instructions, and a human's decisions about them, as text and as JSON."""

from collections.abc import Iterator

from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.core.text import times_phrase
from roamkb.core.timestamps import format_iso
from roamkb.curation import curate
from roamkb.instructions import approve as instructions_approve
from roamkb.instructions import proposal as instructions_proposal
from roamkb.instructions import propose
from roamkb.instructions import queue
from roamkb.instructions import rollback as instructions_rollback
from roamkb.instructions import unproven_lines
from roamkb.interfaces.output import curation as curation_reports
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import as_fraction

#: So much of a digest names it.
_DIGEST_LENGTH = 12
_NOTHING_TO_PROPOSE = "nothing could be proposed: a rule is verified, 0.80 sure and was said three times"


def printed_proposals(result: "propose.ProposeResult") -> PrintedResult:
    """Render the lines that now wait for a human, and those that don't; or the candidates."""
    place = result.place
    place_text = one_line(f"{place.target}, {place.section}" if place.section else place.target)

    def render_text(_: bool) -> str:
        verb = "would be proposed" if result.dry_run else "waits for a human: roamkb review"
        lines = [f"{entry.id} {place_text}: {entry.text}\n  {verb}" for _, entry in result.made]
        lines += [f"left: {one_line(entry.standing.learning.key)}: {one_line(entry.reason)}" for entry in result.left]
        lines += [
            f"- {one_line(entry.learning.statement)} [{as_fraction(entry.confidence):.2f}]"
            f" {one_line(entry.learning.key)}"
            for entry in result.candidates
        ]
        return strip_hidden("\n".join(lines))

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.made or result.candidates else 1,
        warnings=() if result.made or result.candidates or result.left else (_nothing_new_warning(result),),
    )


def _nothing_new_warning(result: "propose.ProposeResult") -> str:
    waits = "waits" if result.waiting == 1 else "wait"
    return (
        f"nothing new; {result.waiting} {waits} for a human: roamkb review" if result.waiting else _NOTHING_TO_PROPOSE
    )


def review(
    result: "curate.CurationProposal | queue.ReviewQueue | instructions_approve.DecidedProposals",
) -> PrintedResult:
    """Render the queue, or the decisions made in the editor."""
    if isinstance(result, queue.ReviewQueue):
        return _printed_queue(result)
    return (
        approve(result)
        if isinstance(result, instructions_approve.DecidedProposals)
        else curation_reports.printed_review(result)
    )


def _printed_queue(result: "queue.ReviewQueue") -> PrintedResult:
    able = [proposal for proposal in result.proposals if not proposal.problem]

    def render_text(_: bool) -> str:
        lines = [line for proposal in result.proposals for line in _waiting_lines(proposal)]
        if len(able) > 1:
            lines.append(f"all {len(able)}: roamkb approve --all --digest {result.digest[:_DIGEST_LENGTH]}")
        lines += [line for lapsed in result.lapsed for line in _lapsed_lines(lapsed)]
        lines += [line for proposal in result.settled for line in _settled_lines(proposal)]
        return strip_hidden("\n".join(lines).rstrip("\n"))

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.proposals or result.settled or result.lapsed else 1,
        warnings=() if result.proposals or result.lapsed else ("nothing waits for a human",),
    )


def _waiting_lines(waiting_proposal: "queue.WaitingProposal") -> Iterator[str]:
    learning_state, proposal = waiting_proposal.standing, waiting_proposal.proposal
    place = f"{proposal.target}, {proposal.section}" if proposal.section else proposal.target
    yield f"{proposal.id} {one_line(place)}"
    if learning_state:
        facts = (
            f"{as_fraction(learning_state.confidence):.2f}",
            times_phrase(learning_state.occurrences),
            *waiting_proposal.risks,
        )
        yield f"  {one_line(learning_state.learning.key)}: {one_line(', '.join(facts))}"
    if proposal.state != "pending":
        yield "  a human approved it, and it didn't arrive"
    if waiting_proposal.problem:
        yield f"  can't land: {one_line(waiting_proposal.problem)}"
    yield from (f"  {line}" for line in (waiting_proposal.diff or waiting_proposal.text).splitlines())
    name = proposal.id[:8]
    if not waiting_proposal.problem:
        yield f"  roamkb approve {name} --digest {waiting_proposal.digest[:_DIGEST_LENGTH]}"
    yield f"  roamkb reject {name} --reason WHY"
    yield ""


def _lapsed_lines(line: "unproven_lines.LapsedLine") -> Iterator[str]:
    yield f"{line.proposal} {one_line(line.target)}: {line.reason}, and the line still stands there"
    yield f"  {one_line(line.text)}"
    yield f"  {line.command}"
    yield ""


def _settled_lines(proposal: "instructions_proposal.InstructionProposal") -> Iterator[str]:
    last_event = proposal.history[-1]
    operator = one_line(last_event.text_field("operator")) or "nobody named"
    why = f", because {one_line(last_event.text_field('reason'))}" if last_event.text_field("reason") else ""
    yield (
        f"{proposal.id} {one_line(proposal.target)}: {proposal.state.replace('_', ' ')} on"
        f" {format_iso(last_event.ts)[:10]} by {operator}{why}"
    )
    yield f"  {one_line(proposal.text)}"


def approve(result: "instructions_approve.DecidedProposals") -> PrintedResult:
    """Render the lines that are in files now, and those that never will be."""
    lines = [f"in {one_line(proposal.target)}: {one_line(proposal.text)}" for proposal in result.applied]
    lines += [f"never again in {one_line(proposal.target)}: {one_line(proposal.text)}" for proposal in result.rejected]
    lines += [
        f"{proposal.state.replace('_', ' ')} before; nothing was written: {one_line(proposal.text)}"
        for proposal in result.known
    ]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines),
        status=0 if lines else 1,
        warnings=() if lines else ("nothing was decided, nothing was written",),
    )


reject = approve


def rollback(result: "instructions_rollback.RolledBack") -> PrintedResult:
    """Render the line that was taken out."""
    proposal = result.proposal
    outcome_text = f"out of {one_line(proposal.target)}" if result.is_new else "taken out before; nothing was written"
    return PrintedResult(result=result, text=lambda _: f"{outcome_text}: {one_line(proposal.text)}")
