"""`promote`: verified, durable learnings become nodes of the knowledge base, by the one write path.

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
from contextlib import AbstractContextManager
from contextlib import nullcontext
from enum import StrEnum
from itertools import islice
from typing import Annotated
from typing import Final

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import NotAsMeant
from roamkb.core.errors import NotDurable
from roamkb.core.errors import NotFound
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.errors import tell_progress
from roamkb.core.ids import derived_id
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import NodeCandidate
from roamkb.core.request import AsOfOption
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import remaining_arguments
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.kb.write import NodeContent
from roamkb.kb.write import WrittenNode
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.confidence import DURABLE
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import surest_first
from roamkb.log.store.project_log import Log
from roamkb.pipeline.consolidation_plan import MOST_ALIKE
from roamkb.pipeline.consolidation_plan import is_durable
from roamkb.pipeline.consolidation_plan import learning_category
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import check_statement
from roamkb.pipeline.gate.hazards import hazard_of
from roamkb.text.similarity.contradiction import deny_each_other
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.similarity_join import NearTexts
from roamkb.text.store.lexicons import lexicon

#: A title's worth; a longer statement has its first sentence as title, and itself as text.
_TITLE_LENGTH = 120
#: Candidates that a wrap-up names; more is a list that nobody reads.
ASKED_CANDIDATES: Final = 5
_FIRST_SENTENCE = lazily(r".+?(?:[.!?](?=\s)|;\s|\Z)", re.DOTALL)
#: What an import calls the same (docs/architecture.md), and another wording of it is.
_NEAR_SIMILARITY: Final = 0.70
#: Related nodes that a new one links to.
_MOST_LINKS = 3
_IS_THERE: Final = "it is in the knowledge base, or its human put it into the trash"
#: Checks of a learning's text that are made again, whoever verified it.
_BLOCKING_CHECKS = ("no_secret", "no_instruction", "safe", "harmless")
_NOT_A_TAG = lazily(r"[^\w@#%]+")


@dataclass(frozen=True, slots=True)
class PromoteRequest:
    """Parameters of `promote`."""

    keys: Sequence[str] = remaining_arguments("The learnings, by key or id.", metavar="KEY...", values="keys")
    _: KW_ONLY
    all: bool = flag_option("--all", "Every candidate.")
    ask: bool = flag_option("--ask", "Put the wrap-up's question, with the candidates.")
    dry_run: bool = flag_option("--dry-run", "Show what would be written; write nothing.")
    to: str | None = text_option(
        "--to",
        "Propose them as lines of this file, such as CLAUDE.md, for a human to approve.",
        metavar="FILE",
        values="files",
    )
    section: str | None = text_option(
        "--section", "With --to: the heading that they belong under (the end of the file).", metavar="HEADING"
    )
    session: str | None = text_option("--session", "The session that wraps up.", metavar="S")
    kb: KbOption = None
    as_of: AsOfOption = None


class PromotionHindrance(StrEnum):
    """Reasons that keep a learning out of the knowledge base."""

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
    """A learning that wasn't promoted, and the reason."""

    JSON = "standing.id standing.learning.key reason known"
    standing: LearningState
    reason: str
    #: Nodes that say so already.
    known: tuple[NodeCandidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteResult:
    """The nodes written, and the learnings that weren't promoted."""

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
    """The operations of the knowledge base that promotion needs."""

    #: Writes a fact under an id; the second argument says whether it is a dry run.
    write_node: Callable[[NodeContent, str, bool], WrittenNode]
    #: Ids of nodes that are about what a text says, at most so many.
    related_ids: Callable[[str, int], Sequence[str]]
    #: Whether a node with that id is there, or in the trash.
    has_node: Callable[[str], bool]
    #: The name of the knowledge base; empty for the default one.
    kb_name: str = ""


def promotion_candidates(state: LogState, *, kb_name: str = "") -> list[LearningState]:
    """Return the learnings that may be promoted to that knowledge base, the surest first."""
    verified = state.learnings_with("verdict", VERIFIED)
    return surest_first(standing for standing in verified if not promotion_refusal(standing, kb_name=kb_name))


def has_gained(standing: LearningState, since: str) -> bool:
    """Say whether anything spoke for a learning after the event, or the receipt, with the id `since`."""
    return any(step.effect > 0 and step.event.id > since for step in standing.history)


def count_hindrances(standings: Iterable[LearningState], *, kb_name: str = "") -> Mapping[PromotionHindrance, int]:
    """Return the number of learnings by what keeps them out of the knowledge base, the most first."""
    hindrances = (_first_hindrance(standing, kb_name) for standing in standings)
    return dict(Counter(filter(None, hindrances)).most_common())


def _first_hindrance(standing: LearningState, kb_name: str) -> PromotionHindrance | None:
    """Return the first reason that keeps a learning out of the knowledge base; None where it can go."""
    if standing.node:
        return PromotionHindrance.PROMOTED
    if standing.status == SUPERSEDED:
        return PromotionHindrance.REPLACED
    if standing.status == NEEDS_REVIEW:
        return PromotionHindrance.REVIEW
    if CONTESTED in standing.flags:
        return PromotionHindrance.CONTESTED
    if not standing.learning.may_enter(kb_name):
        return PromotionHindrance.ELSEWHERE
    if standing.verdict != VERIFIED:
        return PromotionHindrance.UNVERIFIED
    if not is_durable(standing):
        return PromotionHindrance.PASSING
    return PromotionHindrance.UNSAFE if _text_fault(standing) else None


def _text_fault(standing: LearningState) -> str:
    """Return the reason why a text is unsafe, whoever verified it; empty where it isn't."""
    # the ledger's word for it may have come with a repository, and authorises nothing
    return _blocking_fault(standing.learning.content)


def _alias_fault(alias: str) -> str:
    return _blocking_fault(alias, hazard_of(alias, acts=lexicon("acts")))


def _blocking_fault(text: str, hazard: str = "") -> str:
    gate_checks = check_statement(text, StatementEvidence(hazard=hazard))
    return next((check.why for check in gate_checks if check.name in _BLOCKING_CHECKS and check.why), "")


def promotion_refusal(standing: LearningState, *, kb_name: str = "") -> str:
    """Return why a learning can't be promoted to the knowledge base; empty where it can."""
    learning = standing.learning
    match _first_hindrance(standing, kb_name):
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
            return f"its session took it back, or another did: {one_line(standing.flags[CONTESTED])}"
        case PromotionHindrance.ELSEWHERE:
            kind_name = learning.kind.value if learning.kind else "unknown"
            article = "an" if kind_name == "unknown" else "a"
            return f"it was learned in {article} {kind_name} project; nothing of that enters the knowledge base"
        case PromotionHindrance.UNVERIFIED:
            return f"it is {standing.verdict}: `roamkb verify {learning.key}` first"
        case PromotionHindrance.PASSING:
            return _passing_reason(standing)
        case PromotionHindrance.UNSAFE:
            return _text_fault(standing)


def _passing_reason(standing: LearningState) -> str:
    """Return why a learning isn't durable, and what would make it so."""
    key = standing.learning.key
    why = f"what is about {learning_category(standing)} seldom lasts"
    if standing.confidence < DURABLE:
        present, least = standing.confidence / 100, DURABLE / 100
        use = f"`roamkb used {key} --outcome success`"
        why = f"its confidence is {present:.2f}, and {least:.2f} is needed; each {use} raises it"
    return f"it isn't durable: {why}; `roamkb pin {key}` says that it lasts"


def node_id(standing: LearningState) -> str:
    """Return the id of the node that a learning becomes."""
    return derived_id(f"node of {standing.id}")


def promote(
    log: Log,
    promotion_context: PromotionContext,
    standings: Sequence[LearningState],
    author: Author,
    *,
    dry_run: bool = False,
    careful: bool = False,
) -> PromoteResult:
    """Write each learning that may go as a node, and record its promotion.

    Where `careful`, since nobody named them, one that may contradict a node is left, and one that says in
    other words what was promoted before.

    One that can't be written is left, with the reason; alone and named, it raises what `write` raises.

    Raises:
        Refused: the session may not write; everything stays. NotDurable: see there.
    """
    nodes: list[tuple[LearningState, WrittenNode]] = []
    not_promoted: list[NotPromoted] = []
    promoted_nodes = _PromotedNodes(log.read_contents().replay_state() if careful else None)
    for number, standing in enumerate(standings):
        refusal = promotion_refusal(standing, kb_name=promotion_context.kb_name)
        if reason := refusal or promoted_nodes.repetition_reason(standing):
            not_promoted.append(NotPromoted(standing=standing, reason=reason))
            continue
        is_alone = len(standings) == 1
        with nullcontext() if is_alone else _telling_progress(number, len(standings)):
            try:
                outcome = _promote_one(log, promotion_context, standing, author, dry_run=dry_run, careful=careful)
            except (Ambiguous, NotAsMeant, NotFound, SecretFound, UsageError) as error:
                # nothing was written of it, and the others may go all the same
                if is_alone and not careful:
                    raise
                outcome = NotPromoted(standing=standing, reason=error.message)
            if isinstance(outcome, WrittenNode) or outcome.reason == _IS_THERE:
                _record_promotion(log, standing, author, kb_name=promotion_context.kb_name, dry_run=dry_run)
                promoted_nodes.add_promoted(standing)
        if isinstance(outcome, WrittenNode):
            nodes.append((standing, outcome))
        else:
            not_promoted.append(outcome)
    return PromoteResult(nodes=tuple(nodes), left=tuple(not_promoted), dry_run=dry_run)


def _telling_progress(number: int, count: int) -> AbstractContextManager[None]:
    return tell_progress(
        lambda: f"{number} of {count} learnings were dealt with",
        hint="call it again for the others; nothing is written twice",
    )


def _promote_one(
    log: Log,
    promotion_context: PromotionContext,
    standing: LearningState,
    author: Author,
    *,
    dry_run: bool,
    careful: bool,
) -> WrittenNode | NotPromoted:
    """Write a learning as a node, or say why not; raise what `write` raises but for a duplicate."""
    if promotion_context.has_node(node_id(standing)):
        # another machine did it, an earlier call was killed, or the ledger was lost
        return NotPromoted(standing=standing, reason=_IS_THERE)
    try:
        fact = _node_content(log.root.name, standing, promotion_context, author)
        written = promotion_context.write_node(fact, node_id(standing), dry_run or careful)
        if careful and written.rivals:
            reason = "a node may say otherwise; promote it by its key to have both"
            return NotPromoted(standing=standing, reason=reason, known=written.rivals)
        if careful and not dry_run:
            written = promotion_context.write_node(fact, node_id(standing), False)
    except NearDuplicate as error:
        return NotPromoted(standing=standing, reason="a node says so already", known=error.candidates)
    except NotDurable:
        # it is there
        _record_promotion(log, standing, author, kb_name=promotion_context.kb_name, dry_run=dry_run)
        raise
    return written


class _PromotedNodes:
    """The promoted learnings of a log, to find one that says nearly the same."""

    def __init__(self, state: LogState | None) -> None:
        self._is_careful = state is not None
        self._near: NearTexts[str] = NearTexts(_NEAR_SIMILARITY)
        self._texts: dict[str, str] = {}
        for standing in state.standings.values() if state else ():
            if standing.node and standing.status != SUPERSEDED:
                self.add_promoted(standing)

    def add_promoted(self, standing: LearningState) -> None:
        """Add a learning to those that were promoted."""
        if self._is_careful:
            self._texts[standing.id] = standing.learning.statement
            self._near.add_text(standing.id, prepare_text(standing.learning.statement))

    def repetition_reason(self, standing: LearningState) -> str:
        """Return the reason why an unnamed learning waits until it is named; empty where it needn't."""
        statement = standing.learning.statement
        # no more than a human would read
        similar_ids = islice(self._near.find_alike(prepare_text(statement)), MOST_ALIKE) if self._texts else ()
        if any(id != standing.id and not deny_each_other(statement, self._texts[id]) for id in similar_ids):
            return "another that was promoted says nearly the same; promote it by its key to have both"
        return ""


def _record_promotion(log: Log, standing: LearningState, author: Author, *, kb_name: str, dry_run: bool) -> None:
    if dry_run:
        return
    place = {"kb": kb_name} if kb_name else {}
    with (
        tell_progress(
            lambda: "the node is there, and the log doesn't know it yet", hint="call it again, and it is recorded"
        ),
        log.append_lock(),
    ):
        stamps = EventFactory(author, after=log.read_contents().last_event, command="promote")
        log.append_entries(events=[stamps.new_event("promoted", standing.id, node=node_id(standing), **place)])


def _node_content(
    project: str, standing: LearningState, promotion_context: PromotionContext, author: Author
) -> NodeContent:
    learning = standing.learning
    content = learning.statement.strip()
    first_sentence = one_line((_FIRST_SENTENCE.match(content) or [content])[0]).rstrip(".;")
    title = clip_text(first_sentence, _TITLE_LENGTH)
    body = "" if title == one_line(content).rstrip(".;") else content
    return NodeContent(
        title=title,
        body="\n\n".join(filter(None, (body, *_provenance_lines(project, standing)))),
        tags=tuple(_node_tags(standing)),
        # no human looks at them one by one, as at the statement
        aliases=tuple(alias for alias in learning.aliases if not _alias_fault(alias)),
        links=tuple(promotion_context.related_ids(content, _MOST_LINKS)),
        source=learning.provenance or "external",
        by=learning.agent or author.agent,
    )


def _provenance_lines(project: str, standing: LearningState) -> Iterator[str]:
    """Yield the learning's origin, in one line for its reader.

    By its project's folder, its own key and without figures: what all nodes shared would make them near duplicates
    of each other.
    """
    about = f", about {', '.join(standing.learning.files)}" if standing.learning.files else ""
    yield f"From the log of {one_line(project)}: {standing.learning.key}{about}."


def _node_tags(standing: LearningState) -> Iterator[str]:
    """Yield the learning's tags and category as tags that org can hold."""
    for tag in dict.fromkeys((*standing.learning.tags, learning_category(standing))):
        if plain := _NOT_A_TAG.sub("_", tag).strip("_"):
            yield plain
