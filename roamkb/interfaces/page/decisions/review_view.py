"""Review: what waits for a decision, each as the change that it would make, the harmless first."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.change_plan import MIN_DIGEST_LENGTH
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.text import times_phrase
from roamkb.curation.clusters import CONTRADICTION
from roamkb.curation.clusters import DUPLICATES
from roamkb.curation.clusters import REPLACED
from roamkb.curation.clusters import STALE
from roamkb.curation.clusters import CurationCluster
from roamkb.curation.curate import CurationProposal
from roamkb.curation.refine import Refinement
from roamkb.curation.refine import RoughLearning
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.queue import ReviewQueue
from roamkb.instructions.queue import WaitingProposal
from roamkb.instructions.unproven_lines import LapsedLine
from roamkb.interfaces.page.learnings_view import LearningRow
from roamkb.interfaces.page.learnings_view import learning_href
from roamkb.interfaces.page.learnings_view import learning_row
from roamkb.interfaces.page.learnings_view import local_day
from roamkb.interfaces.page.templating import render_page
from roamkb.log.jsonl import event_line
from roamkb.pipeline.promote import PromoteResult

#: Proposals of a part of the page; the command has all.
_MOST_PROPOSALS = 40
#: What a decision on a cluster does, the harmless first.
_CLUSTER_TITLES = {
    DUPLICATES: "Keep one of several that say the same",
    REPLACED: "Keep what replaced others",
    STALE: "Mark what names files that are gone",
    CONTRADICTION: "Mark what may contradict",
}
#: The field for what a decision needs to be told, and its label.
_REASON = ("reason", "Why")
#: What a line of a difference is, by its first character.
_LINE_KINDS = {"+": "added", "-": "removed", "@": "place"}


class HumanAct(NamedTuple):
    """What takes a human's yes: its form, its button, its command, what the form holds, and what the human fills in."""

    name: str
    label: str
    command: str
    fields: Mapping[str, str]
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One proposal for a template."""

    title: str
    #: The page of the learning that it is about.
    href: str = ""
    #: What to know of it, and what to look at twice.
    about: tuple[str, ...] = ()
    #: Why nothing can be decided now; empty where something can.
    problem: str = ""
    #: The change, each line with its kind.
    lines: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    #: What only a person does.
    human_acts: tuple[HumanAct, ...] = ()
    #: Forms that need no person's proof: name, label, and fields.
    acts: tuple[tuple[str, str, dict[str, str]], ...] = ()
    #: A learning to be said better, and its type.
    reworded: tuple[LearningRow, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPart:
    """Proposals of one kind."""

    title: str
    hint: str
    items: Sequence[ReviewItem] = ()
    more: int = 0
    #: The command that has all of them, or decides about all at once.
    command: str = ""
    problem: RoamkbError | None = field(default=None, compare=False)


def view_review(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of all that waits for a decision."""
    try:
        kb.log.log_to_read()
    except NoLog as error:
        return 200, render_page("review.html", parts=(), problem=error, digest_length=MIN_DIGEST_LENGTH)
    source = _ProposalSource(kb)
    parts = [_make_part(source, *part) for part in _PARTS]
    return 200, render_page("review.html", parts=parts, problem=None, digest_length=MIN_DIGEST_LENGTH)


class _ProposalSource:
    """What the parts of the page are listed from; the queue of lines is read once."""

    def __init__(self, kb: "server.ServedKnowledgeBase") -> None:
        self.kb = kb

    @cached_property
    def queue(self) -> ReviewQueue:
        """Return the lines for rule files, those that landed too."""
        queue = self.kb.log.review(all=True)
        assert isinstance(queue, ReviewQueue)
        return queue


#: Gives the first proposals of a kind, how many there are in all, and the command for them.
_Listing = Callable[[_ProposalSource], tuple[Sequence[ReviewItem], int, str]]


def _make_part(source: _ProposalSource, title: str, hint: str, list_items: _Listing) -> ReviewPart:
    try:
        items, count, command = list_items(source)
    except RoamkbError as error:
        return ReviewPart(title=title, hint=hint, problem=error)
    return ReviewPart(title=title, hint=hint, items=items, more=count - len(items), command=command)


def _instruction_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    queue = source.queue
    able = sum(not waiting.problem for waiting in queue.proposals)
    command = f"roamkb approve --all --digest {queue.digest[:MIN_DIGEST_LENGTH]}" if able > 1 else "roamkb review"
    shown = queue.proposals[:_MOST_PROPOSALS]
    return [_instruction_item(waiting) for waiting in shown], len(queue.proposals), command


def _instruction_item(waiting: WaitingProposal) -> ReviewItem:
    proposal, standing = waiting.proposal, waiting.standing
    name, digest = proposal.id[:8], waiting.digest[:MIN_DIGEST_LENGTH]
    command = f"roamkb approve {name} --digest {digest}"
    fields = {"id": proposal.id, "digest": waiting.digest}
    approval = () if waiting.problem else (HumanAct("approve", "Approve", command, fields),)
    rejection = HumanAct("reject", "Reject", f"roamkb reject {name} --reason WHY", {"id": proposal.id}, _REASON)
    # a low confidence is a risk, and is said there
    is_sure = not any("confidence" in risk for risk in waiting.risks)
    certainty = [f"{standing.confidence} %"] * is_sure if standing else []
    certainty += [f"said {times_phrase(standing.occurrences)}"] if standing else []
    return ReviewItem(
        title=_place_title(proposal),
        href=learning_row(standing).href if standing else "",
        about=(*certainty, *waiting.risks),
        problem=waiting.problem,
        lines=diff_lines(waiting.diff or f"+{waiting.text}"),
        digest=waiting.digest,
        human_acts=(*approval, rejection),
    )


def _landed_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    landed = [proposal for proposal in source.queue.settled if proposal.state == APPLIED][::-1]
    return [*map(_landed_item, landed[:_MOST_PROPOSALS])], len(landed), "roamkb review --all"


def _landed_item(proposal: InstructionProposal) -> ReviewItem:
    applied = next(event for event in reversed(proposal.history) if event.event == "applied")
    return ReviewItem(
        title=_place_title(proposal),
        href=learning_href(proposal.learning),
        about=(f"since {local_day(applied.ts)}",),
        lines=diff_lines(f"-{applied.text_field('text')}"),
        human_acts=(_rollback(proposal.id),),
    )


def _lapsed_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    lapsed = source.queue.lapsed
    return [*map(_lapsed_item, lapsed[:_MOST_PROPOSALS])], len(lapsed), "roamkb review"


def _lapsed_item(line: LapsedLine) -> ReviewItem:
    return ReviewItem(
        title=line.target,
        href=learning_href(line.learning),
        about=(line.reason,),
        lines=diff_lines(f"-{line.text}"),
        human_acts=(_rollback(line.proposal),),
    )


def _rollback(id: str) -> HumanAct:
    return HumanAct("rollback", "Take it out", f"roamkb rollback {id[:8]} --reason WHY", {"id": id}, _REASON)


def _place_title(proposal: InstructionProposal) -> str:
    return f"{proposal.target}, {proposal.section}" if proposal.section else proposal.target


def _curation_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    proposal: CurationProposal = source.kb.log.curate()
    events = iter(proposal.events)
    items = {
        cluster.number: _cluster_item(
            cluster, [event_line(next(events)).decode().rstrip() for _ in cluster.changes], proposal.digest
        )
        for cluster in proposal.clusters
    }
    ranks = [*_CLUSTER_TITLES]
    ordered = sorted(proposal.clusters, key=lambda cluster: (ranks.index(cluster.kind), cluster.number))
    shown = ordered[:_MOST_PROPOSALS]
    return [items[cluster.number] for cluster in shown], len(ordered), "roamkb review --curate"


def _cluster_item(cluster: CurationCluster, lines: Sequence[str], digest: str) -> ReviewItem:
    kept = [f"keep: {cluster.keeper.learning.statement}"] if cluster.keeper else []
    word = "instead of" if cluster.keeper else "look at"
    others = [f"{word}: {standing.learning.statement}" for standing in cluster.others]
    command = f"roamkb curate --apply {digest[:MIN_DIGEST_LENGTH]} --reason WHY"
    return ReviewItem(
        title=_CLUSTER_TITLES[cluster.kind],
        href=learning_row(cluster.keeper or cluster.others[0]).href,
        about=(cluster.because.replace("_", " "), *kept, *others),
        lines=diff_lines("\n".join(f"+{line}" for line in lines)),
        digest=digest,
        human_acts=(HumanAct("curate", "Approve all", command, {"apply": digest}, _REASON),),
    )


def _promotion_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    result = source.kb.log.promote()
    candidates = result.candidates if isinstance(result, PromoteResult) else ()
    shown = candidates[:_MOST_PROPOSALS]
    items = [_promotion_item(source.kb, learning_row(standing)) for standing in shown]
    return items, len(candidates), "roamkb promote --all"


def _promotion_item(kb: "server.ServedKnowledgeBase", row: LearningRow) -> ReviewItem:
    planned = kb.log.promote((row.id,), dry_run=True)
    if not isinstance(planned, PromoteResult):
        return ReviewItem(title=row.content, href=row.href)
    text = "\n".join(f"+{line}" for _, node in planned.nodes for line in node.text.rstrip("\n").split("\n"))
    problem = "; ".join(left.reason for left in planned.left)
    return ReviewItem(
        title=row.content,
        href=row.href,
        about=(f"{row.confidence} %", row.kind, row.key),
        problem=problem,
        lines=diff_lines(text),
        acts=() if problem else (("promote", "Write it as a note", {"keys": row.id}),),
    )


def _rough_items(source: _ProposalSource) -> tuple[Sequence[ReviewItem], int, str]:
    refinement: Refinement = source.kb.log.refine()
    shown = refinement.learnings[:_MOST_PROPOSALS]
    return [_rough_item(rough) for rough in shown], len(refinement.learnings), "roamkb refine"


def _rough_item(rough: RoughLearning) -> ReviewItem:
    row = learning_row(rough.standing)
    type = rough.standing.learning.canonical_type
    return ReviewItem(title=row.content, href=row.href, about=(*rough.reasons, row.key), reworded=(row, type))


_PARTS: tuple[tuple[str, str, _Listing], ...] = (
    ("Lines for every session", "Agents proposed them for files like CLAUDE.md.", _instruction_items),
    (
        "Lines that don’t hold any more",
        "Their learning was replaced, refuted or forgotten.",
        _lapsed_items,
    ),
    ("Notes", "Verified learnings that could become agents’ notes.", _promotion_items),
    ("The log", "What curation would append to the ledger; nothing is taken away.", _curation_items),
    ("Say it better", "Terse, untagged or noisy learnings; a new wording replaces the old one.", _rough_items),
    ("Lines that landed", "A human let them in; what is taken out stays out.", _landed_items),
)


def diff_lines(text: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of a difference, each with its kind: added, removed, place or same."""
    return tuple(_kinded_lines(text))


def _kinded_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        is_head = line.startswith(("+++ ", "--- "))
        yield ("place" if is_head else _LINE_KINDS.get(line[:1], "same")), line
