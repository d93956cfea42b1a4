"""What a session is told at its start, as facts: bounded, framed, the most important first (design 11).

A person's machine says what the project is; notes and learnings are others' text, each one line; nothing of
it is an order. Only what a human approved stands in a list to be ticked off.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.model import Hit
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.core.untrusted import framed
from roamkb.log.learning import MUST_CHECK
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import VERIFIED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState

#: What harnesses take of a hook's text before they cut it or put it into a file.
LONGEST: Final = 10_000
#: A title's worth of a learning.
_TITLE: Final = 160
#: From here on a pattern is worth a subagent's while (document 004), in hundredths.
WORTHY: Final = 70
#: Notes that aren't indexed yet and are read in a moment; while there are more, no session is told of any.
READ_IN_A_MOMENT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBrief:
    """What is known at a session's start."""

    JSON = (
        "project nodes learnings checklist to_review contradicting conflict_copies troubles left_out=omitted"
    )
    project: Annotated[Project, Keys("kind root")]
    #: None where the rule names none.
    kb: Path | None = None
    #: None where the project has no log of its own.
    log: Path | None = None
    #: Nodes and learnings that fit the work at hand, the best first.
    nodes: Annotated[tuple[Hit, ...], Keys("id title path")] = ()
    learnings: tuple[LearningState, ...] = ()
    #: Learnings that fit and aren't among those.
    more: int = 0
    #: Must-checks that a human approved.
    checklist: tuple[LearningState, ...] = ()
    #: The task that it is for, or that it is for a subagent; empty for a session.
    task: str = ""
    is_for_subagent: bool = False
    #: Learnings that may contradict another, others that want a review; conflict copies of notes.
    to_review: int = 0
    contradicting: int = 0
    conflict_copies: int = 0
    #: What went wrong, one line each.
    troubles: tuple[str, ...] = ()
    #: Lines that there was no room for.
    left_out: int = 0

    @property
    def shown(self) -> tuple[str, ...]:
        """The ids of what is shown."""
        return (
            *(one.id for one in self.checklist),
            *(one.id for one in self.learnings),
            *(hit.id for hit in self.nodes if hit.id),
        )

    @property
    def omitted(self) -> int:
        """How many lines and learnings there are beyond those."""
        return self.left_out + self.more


def is_approved(standing: LearningState) -> bool:
    """Say whether a human at a terminal had the last word on it."""
    said = ("approved", "applied")
    return (
        standing.status == CANONICAL
        or standing.is_overridden
        or any(step.event.event in said for step in standing.history)
    )


def checklist(state: LogState) -> tuple[LearningState, ...]:
    """Return the must-checks that a human approved, the latest first."""
    found = [one for one in state.having("type", MUST_CHECK) if one.status != SUPERSEDED and is_approved(one)]
    return tuple(sorted(found, key=lambda one: (-one.learning.ts, one.id)))


def wants(state: LogState) -> tuple[int, int]:
    """Return how many learnings want a review for other reasons, and how many may contradict another."""
    doubted = [one for one in state.having("contradicts", YES) if one.status != SUPERSEDED]
    waiting = [one for one in state.having("status", NEEDS_REVIEW) if "may_contradict" not in one.flags]
    return sum(not one.is_archived for one in waiting), sum(not one.is_archived for one in doubted)


def told(brief: SessionBrief, *, nonce: str) -> tuple[str, SessionBrief]:
    """Return the text for the prompt, and the brief as far as it is in it: what doesn't fit is left out."""
    while True:
        text = framed(_lines(brief), source="roamkb brief", nonce=nonce)
        if len(text) <= LONGEST:
            return text, brief
        brief = _shorter(brief)


def _shorter(brief: SessionBrief) -> SessionBrief:
    """Return the brief without what matters least of it."""
    left = replace(brief, left_out=brief.left_out + 1)
    if brief.nodes and len(brief.nodes) >= len(brief.learnings):
        return replace(left, nodes=brief.nodes[:-1])
    if brief.learnings:
        return replace(left, learnings=brief.learnings[:-1])
    if brief.checklist:
        return replace(left, checklist=brief.checklist[:-1])
    if brief.troubles:
        return replace(left, troubles=brief.troubles[:-1])
    # a root of thousands of characters
    project = replace(brief.project, root=None, reason=clipped(brief.project.reason, _TITLE), hint="")
    return replace(left, project=project, kb=None, log=None)


def _lines(brief: SessionBrief) -> Iterator[str]:
    if brief.is_for_subagent or brief.task:
        about = f" for {shown(brief.task)}" if brief.task else ""
        yield f"Found {len(brief.learnings)} relevant patterns{about}."
    else:
        yield _standing_of(brief)
    yield from _listed("Checklist, approved by the human:", [f"[ ] {_title(one)}" for one in brief.checklist])
    yield from _listed("From the knowledge base:", [node_line(hit) for hit in brief.nodes])
    yield from _listed("Learned in this project:", [learning_line(one) for one in brief.learnings])
    yield from _counts(brief)
    yield from (f"Trouble: {shown(trouble)}" for trouble in brief.troubles)
    if left := brief.left_out + brief.more:
        yield (
            f"Left out: {left} more that fit; `roamkb recall WORDS` and `roamkb search WORDS` find them, "
            "`roamkb show ID` shows one."
        )


def _standing_of(brief: SessionBrief) -> str:
    project = brief.project
    may = "may write to" if project.kind is ProjectKind.PERSONAL else "may read and not write to"
    base = f"the knowledge base {shown(str(brief.kb))}" if brief.kb else "the knowledge base"
    root = f" {shown(str(project.root))}" if project.root else ""
    reason = shown(project.reason)
    if root and reason.startswith(f"{root[1:]} "):
        reason = f"it{reason[len(root) - 1 :]}"
    article = "an" if project.kind is ProjectKind.UNKNOWN else "a"
    lines = f"This is {article} {project.kind.value} project{root} ({reason}); it {may} {base}."
    if brief.log:
        return f"{lines} What is learned here is kept in {shown(str(brief.log))}."
    return f"{lines} No log of it counts on this machine (`roamkb init`, if your human wants one)."


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield title
        yield from (f"- {item}" for item in items)


def _title(standing: LearningState) -> str:
    return clipped(shown(standing.learning.statement), _TITLE)


def is_borne_out(standing: LearningState) -> bool:
    """Say whether a learning is verified, or a human's word; others are shown last, and marked."""
    is_human = standing.learning.provenance == "user-stated" or standing.is_overridden or standing.is_pinned
    return standing.verdict == VERIFIED or is_human or is_approved(standing)


def learning_line(standing: LearningState) -> str:
    """Return a learning on one line: type, confidence, what it says, its key."""
    learning = standing.learning
    sure = f"{standing.confidence / 100:.2f}{'' if is_borne_out(standing) else ', unverified'}"
    return f"[{shown(learning.canonical_type)} {sure}] {_title(standing)} ({shown(learning.key)})"


def node_line(hit: Hit) -> str:
    """Return a node on one line: its title, the line that fits best, its id."""
    said = next((text for _, text in hit.lines if shown(text) and shown(text) != shown(hit.title)), "")
    title = clipped(shown(hit.title), _TITLE)
    beside = f": {clipped(shown(said), _TITLE)}" if said else ""
    return f"{title}{beside} (id:{shown(hit.id or '')})"


def _counts(brief: SessionBrief) -> Iterator[str]:
    if count := brief.to_review:
        wants = "wants" if count == 1 else "want"
        yield f"{counted(count, 'learning')} {wants} a review (`roamkb audit` says which and why)."
    if count := brief.contradicting:
        yield (
            f"{counted(count, 'learning')} may contradict others (`roamkb audit` says which; "
            "`roamkb learn TEXT --supersedes KEY` settles it)."
        )
    if count := brief.conflict_copies:
        lie = "lies" if count == 1 else "lie"
        yield (
            f"{counted(count, 'conflict copy', 'conflict copies')} {lie} in the knowledge base "
            "(`roamkb conflicts`)."
        )
