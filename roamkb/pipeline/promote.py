"""`promote`: what was verified and lasts becomes a node of the knowledge base, by the one write path.

A deliberate step (D14): the learnings are named, and only those that a personal project learned
can go. The node's id comes from the learning's, so that nothing is promoted twice, whatever
the ledger remembers.
"""

import re
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice
from typing import Annotated
from typing import Final

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import NotAsMeant
from roamkb.core.errors import NotFound
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.ids import derived_id
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.request import AsOfOption
from roamkb.core.request import option
from roamkb.core.request import rest
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.kb.write import NodeContent
from roamkb.kb.write import WrittenNode
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.consolidation_plan import MOST_ALIKE
from roamkb.pipeline.consolidation_plan import category
from roamkb.pipeline.consolidation_plan import is_durable
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import checks
from roamkb.text.similarity.contradiction import oppose
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.similarity_join import NearTexts

#: A title's worth; a longer statement has its first sentence as title, and itself as text.
_TITLE = 120
_FIRST = lazily(r".+?(?:[.!?](?=\s)|;\s|\Z)", re.DOTALL)
#: What an import calls the same (docs/architecture.md), and another wording of it is.
_NEARLY: Final = 0.70
#: Related nodes that a new one links to.
_LINKS = 3
#: Checks of a learning's text that are made again, whoever verified it.
_NEVER_GOES = ("no_secret", "no_instruction", "safe")
_NOT_A_TAG = lazily(r"[^\w@#%]+")


@dataclass(frozen=True, slots=True)
class PromoteRequest:
    """What `promote` takes."""

    keys: Sequence[str] = rest("The learnings, by key or id.", metavar="KEY...")
    _: KW_ONLY
    all: bool = switch("--all", "Every candidate.")
    ask: bool = switch("--ask", "Put the wrap-up's question, with the candidates.")
    dry_run: bool = switch("--dry-run", "Show what would be written; write nothing.")
    to: str | None = option(
        "--to",
        "Propose them as lines of this file, such as CLAUDE.md, for a human to approve.",
        metavar="FILE",
    )
    section: str | None = option(
        "--section", "With --to: the heading that they belong under (the end of the file).", metavar="HEADING"
    )
    session: str | None = option("--session", "The session that wraps up.", metavar="S")
    as_of: AsOfOption = None


class PromotionHindrance(StrEnum):
    """What keeps a learning out of the knowledge base."""

    PROMOTED = "promoted before"
    REPLACED = "replaced by another"
    REVIEW = "in need of a review"
    CONTESTED = "taken back"
    ELSEWHERE = "not learned in a personal project"
    UNVERIFIED = "not verified"
    PASSING = "not durable"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPromoted:
    """A learning that wasn't promoted, and why."""

    JSON = "standing.id standing.learning.key reason known"
    standing: LearningState
    reason: str
    #: Nodes that say so already.
    known: tuple[NodeCandidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteResult:
    """What became nodes, and what stayed."""

    JSON = "promoted=nodes left dry_run"
    nodes: Annotated[
        tuple[tuple[LearningState, WrittenNode], ...],
        Rows("standing node"),
        Keys("node.id node.path node.title standing.learning.key node.related"),
    ] = ()
    left: tuple[NotPromoted, ...] = ()
    #: What could be promoted, where nothing was named.
    candidates: tuple[LearningState, ...] = ()
    #: What keeps how many others from it, where nothing was named; of all if nothing can go.
    hindered: Mapping[PromotionHindrance, int] = field(default_factory=dict)
    #: Whether the question of the wrap-up is to be put.
    asks: bool = False
    #: Whether this session looked anything up.
    consulted: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionContext:
    """What promotion needs of the knowledge base."""

    #: Writes a fact under an id; the second argument says whether it is a dry run.
    write: Callable[[NodeContent, str, bool], WrittenNode]
    #: Ids of nodes that are about what a text says, at most so many.
    related: Callable[[str, int], Sequence[str]]
    #: Whether a node with that id is there, or in the trash.
    has: Callable[[str], bool]


def candidates(state: LogState) -> list[LearningState]:
    """Return what may be promoted, the surest first."""
    found = [one for one in state.having("verdict", VERIFIED) if not why_not(one)]
    return sorted(found, key=lambda one: (-one.confidence, -one.occurrences, -one.learning.ts, one.id))


def hindered(standings: Iterable[LearningState]) -> Mapping[PromotionHindrance, int]:
    """Return what keeps learnings out of the knowledge base, and how many of them, the most first."""
    return dict(Counter(filter(None, map(_hindrance, standings))).most_common())


def _hindrance(standing: LearningState) -> PromotionHindrance | None:
    """Return the first thing that keeps a learning out of the knowledge base; None where it can go."""
    if standing.node:
        return PromotionHindrance.PROMOTED
    if standing.status == SUPERSEDED:
        return PromotionHindrance.REPLACED
    if standing.status == NEEDS_REVIEW:
        return PromotionHindrance.REVIEW
    if CONTESTED in standing.flags:
        return PromotionHindrance.CONTESTED
    if standing.learning.kind is not ProjectKind.PERSONAL:
        return PromotionHindrance.ELSEWHERE
    if standing.verdict != VERIFIED:
        return PromotionHindrance.UNVERIFIED
    if not is_durable(standing):
        return PromotionHindrance.PASSING
    return PromotionHindrance.UNSAFE if _fault(standing) else None


def _fault(standing: LearningState) -> str:
    """Return what is wrong with a text that anybody may have verified; empty where nothing is."""
    # the ledger's word for it may have come with a repository, and authorises nothing
    found = checks(standing.learning.content, StatementEvidence())
    return next((check.why for check in found if check.name in _NEVER_GOES and check.why), "")


def why_not(standing: LearningState) -> str:
    """Return why a learning can't be promoted to the knowledge base; empty where it can."""
    learning = standing.learning
    match _hindrance(standing):
        case None:
            return ""
        case PromotionHindrance.PROMOTED:
            return "it was promoted before"
        case PromotionHindrance.REPLACED:
            return "another replaced it"
        case PromotionHindrance.REVIEW:
            return (
                "it needs a review first: `roamkb explain` says why; where another may say otherwise, "
                "`roamkb learn … --supersedes KEY` settles it, then `roamkb verify`"
            )
        case PromotionHindrance.CONTESTED:
            return f"its session took it back, or another did: {shown(standing.flags[CONTESTED])}"
        case PromotionHindrance.ELSEWHERE:
            said = learning.kind.value if learning.kind else "unknown"
            article = "an" if said == "unknown" else "a"
            return f"it was learned in {article} {said} project; nothing of that enters the knowledge base"
        case PromotionHindrance.UNVERIFIED:
            return f"it is {standing.verdict}: `roamkb verify {learning.key}` first"
        case PromotionHindrance.PASSING:
            return f"it isn't durable: confidence {standing.confidence / 100:.2f}, {category(standing)}"
        case PromotionHindrance.UNSAFE:
            return _fault(standing)


def node_id(standing: LearningState) -> str:
    """Return the id of the node that a learning becomes."""
    return derived_id(f"node of {standing.id}")


def promote(
    log: Log,
    desk: PromotionContext,
    standings: Sequence[LearningState],
    hand: Author,
    *,
    dry_run: bool = False,
    careful: bool = False,
) -> PromoteResult:
    """Write each learning that may go as a node, and remember it.

    Where `careful`, since nobody named them, one that may contradict a node is left, and one that says in
    other words what was promoted before.

    One that can't be written is left, with the reason; alone and named, it raises what `write` raises.

    Raises:
        Refused: the session may not write; everything stays. NotDurable: see there.
    """
    nodes: list[tuple[LearningState, WrittenNode]] = []
    left: list[NotPromoted] = []
    there = _PromotedNodes(log.read().state() if careful else None)
    for standing in standings:
        reason = why_not(standing) or there.why_not(standing)
        if not reason and desk.has(node_id(standing)):
            # another machine did it, or the ledger was lost
            reason = "it is in the knowledge base, or its human put it into the trash"
            _remember(log, standing, hand, dry_run=dry_run)
        if reason:
            left.append(NotPromoted(standing=standing, reason=reason))
            continue
        try:
            fact = _fact(standing, desk, hand)
            written = desk.write(fact, node_id(standing), dry_run or careful)
            if careful and written.rivals:
                reason = "a node may say otherwise; promote it by its key to have both"
                left.append(NotPromoted(standing=standing, reason=reason, known=written.rivals))
                continue
            if careful and not dry_run:
                written = desk.write(fact, node_id(standing), False)
        except NearDuplicate as error:
            left.append(
                NotPromoted(standing=standing, reason="a node says so already", known=error.candidates)
            )
            continue
        except (Ambiguous, NotAsMeant, NotFound, SecretFound, UsageError) as error:
            # nothing was written of it, and the others may go all the same
            if len(standings) == 1 and not careful:
                raise
            left.append(NotPromoted(standing=standing, reason=error.message))
            continue
        nodes.append((standing, written))
        there.add(standing)
        _remember(log, standing, hand, dry_run=dry_run)
    return PromoteResult(nodes=tuple(nodes), left=tuple(left), dry_run=dry_run)


class _PromotedNodes:
    """What a log has in the knowledge base, to find what would say it again."""

    def __init__(self, state: LogState | None) -> None:
        self._is_careful = state is not None
        self._near: NearTexts[str] = NearTexts(_NEARLY)
        self._texts: dict[str, str] = {}
        for standing in state.standings.values() if state else ():
            if standing.node and standing.status != SUPERSEDED:
                self.add(standing)

    def add(self, standing: LearningState) -> None:
        """Count a learning among what is there."""
        if self._is_careful:
            self._texts[standing.id] = standing.learning.statement
            self._near.add(standing.id, shape(standing.learning.statement))

    def why_not(self, standing: LearningState) -> str:
        """Return why a learning that nobody named should wait for somebody who does."""
        said = standing.learning.statement
        # no more than a human would read
        near = islice(self._near.candidates(shape(said)), MOST_ALIKE) if self._texts else ()
        if any(id != standing.id and not oppose(said, self._texts[id]) for id in near):
            return "another that was promoted says nearly the same; promote it by its key to have both"
        return ""


def _remember(log: Log, standing: LearningState, hand: Author, *, dry_run: bool) -> None:
    if dry_run:
        return
    with log.locked():
        stamps = EventFactory(hand, after=log.read().last_event, by="promote")
        log.append(events=[stamps.event("promoted", standing.id, node=node_id(standing))])


def _fact(standing: LearningState, desk: PromotionContext, hand: Author) -> NodeContent:
    learning = standing.learning
    content = learning.statement.strip()
    first = shown((_FIRST.match(content) or [content])[0]).rstrip(".;")
    title = clipped(first, _TITLE)
    body = "" if title == shown(content).rstrip(".;") else content
    return NodeContent(
        title=title,
        body="\n\n".join(filter(None, (body, *_provenance(standing)))),
        tags=tuple(_tags(standing)),
        links=tuple(desk.related(content, _LINKS)),
        source=learning.provenance or "external",
        by=learning.agent or hand.agent,
    )


def _provenance(standing: LearningState) -> Iterator[str]:
    """Yield where the learning comes from, in one line for its reader.

    By its own key and without figures: what all nodes shared would make them near duplicates of each other.
    """
    about = f", about {', '.join(standing.learning.files)}" if standing.learning.files else ""
    yield f"From the project's log: {standing.learning.key}{about}."


def _tags(standing: LearningState) -> Iterator[str]:
    """Yield tags that org can hold."""
    for tag in dict.fromkeys((*standing.learning.tags, category(standing))):
        if plain := _NOT_A_TAG.sub("_", tag).strip("_"):
            yield plain
