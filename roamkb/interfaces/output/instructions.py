"""What waits to become a line of a rule file, and what a human made of it, as text and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import cleaned
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.core.timestamps import iso
from roamkb.interfaces.output import curation as curation_reports
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import as_fraction

if TYPE_CHECKING:
    from roamkb.curation.curate import CurationProposal
    from roamkb.instructions.approve import DecidedProposals
    from roamkb.instructions.proposal import InstructionProposal
    from roamkb.instructions.propose import ProposeResult
    from roamkb.instructions.queue import ReviewQueue
    from roamkb.instructions.queue import WaitingProposal
    from roamkb.instructions.rollback import RolledBack

#: So much of a digest names it.
_DIGEST = 12
_NOTHING = "nothing could be proposed: a rule is verified, 0.80 sure and was said three times"


def proposed(result: "ProposeResult") -> PrintedResult:
    """Say what waits for a human now and what doesn't; or what could be proposed."""
    place = result.place
    where = shown(f"{place.target}, {place.section}" if place.section else place.target)

    def text(_: bool) -> str:
        verb = "would be proposed" if result.dry_run else "waits for a human: roamkb review"
        lines = [f"{one.id} {where}: {one.text}\n  {verb}" for _, one in result.made]
        lines += [f"left: {shown(one.standing.learning.key)}: {shown(one.reason)}" for one in result.left]
        lines += [
            f"- {shown(one.learning.statement)} [{as_fraction(one.confidence):.2f}] {shown(one.learning.key)}"
            for one in result.candidates
        ]
        return cleaned("\n".join(lines))

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.made or result.candidates else 1,
        warnings=() if result.made or result.candidates or result.left else (_nothing(result),),
    )


def _nothing(result: "ProposeResult") -> str:
    waits = "waits" if result.waiting == 1 else "wait"
    return f"nothing new; {result.waiting} {waits} for a human: roamkb review" if result.waiting else _NOTHING


def review(result: "CurationProposal | ReviewQueue | DecidedProposals") -> PrintedResult:
    """Print the queue; or what the editor decided."""
    from roamkb.instructions.approve import DecidedProposals
    from roamkb.instructions.queue import ReviewQueue

    if isinstance(result, ReviewQueue):
        return _queue(result)
    return approve(result) if isinstance(result, DecidedProposals) else curation_reports.review(result)


def _queue(result: "ReviewQueue") -> PrintedResult:
    able = [one for one in result.proposals if not one.problem]

    def text(_: bool) -> str:
        lines = [line for one in result.proposals for line in _waiting(one)]
        if len(able) > 1:
            lines.append(f"all {len(able)}: roamkb approve --all --digest {result.digest[:_DIGEST]}")
        lines += [line for one in result.settled for line in _settled(one)]
        return cleaned("\n".join(lines).rstrip("\n"))

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.proposals or result.settled else 1,
        warnings=() if result.proposals else ("nothing waits for a human",),
    )


def _waiting(one: "WaitingProposal") -> Iterator[str]:
    standing, proposal = one.standing, one.proposal
    place = f"{proposal.target}, {proposal.section}" if proposal.section else proposal.target
    yield f"{proposal.id} {shown(place)}"
    if standing:
        facts = (f"{as_fraction(standing.confidence):.2f}", times(standing.occurrences), *one.risks)
        yield f"  {shown(standing.learning.key)}: {shown(', '.join(facts))}"
    if proposal.state != "pending":
        yield "  a human approved it, and it didn't arrive"
    if one.problem:
        yield f"  can't land: {shown(one.problem)}"
    yield from (f"  {line}" for line in (one.diff or one.text).splitlines())
    name = proposal.id[:8]
    if not one.problem:
        yield f"  roamkb approve {name} --digest {one.digest[:_DIGEST]}"
    yield f"  roamkb reject {name} --reason WHY"
    yield ""


def _settled(one: "InstructionProposal") -> Iterator[str]:
    last = one.history[-1]
    who = shown(last.text("operator")) or "nobody named"
    why = f", because {shown(last.text('reason'))}" if last.text("reason") else ""
    yield f"{one.id} {shown(one.target)}: {one.state.replace('_', ' ')} on {iso(last.ts)[:10]} by {who}{why}"
    yield f"  {shown(one.text)}"


def approve(result: "DecidedProposals") -> PrintedResult:
    """Say what is in which file now, and what never will be."""
    lines = [f"in {shown(one.target)}: {shown(one.text)}" for one in result.applied]
    lines += [f"never again in {shown(one.target)}: {shown(one.text)}" for one in result.rejected]
    lines += [
        f"{one.state.replace('_', ' ')} before; nothing was written: {shown(one.text)}"
        for one in result.known
    ]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines),
        status=0 if lines else 1,
        warnings=() if lines else ("nothing was decided, nothing was written",),
    )


reject = approve


def rollback(result: "RolledBack") -> PrintedResult:
    """Say that it is gone, and print what that changed."""
    one = result.proposal
    said = f"out of {shown(one.target)}" if result.is_new else "taken out before; nothing was written"
    return PrintedResult(result=result, text=lambda _: f"{said}: {shown(one.text)}")
