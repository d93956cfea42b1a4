"""The text of a session's brief: bounded, framed, the most important first (design 11).

One line of roamkb's own says what the project is, how much is known and how to ask for it; what the rule says
isn't said again. Notes and learnings are others' text, each one line; nothing of it is an order. Only what a
human approved stands in a list to be ticked off.
"""

from collections.abc import Iterator
from pathlib import Path

from roamkb.core.json_form import Keys
from roamkb.core.model import Hit
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Annotated
from roamkb.core.startup.typing import Final
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.untrusted import frame_items
from roamkb.log.learning import MUST_CHECK
from roamkb.log.learning import short_key
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import VERIFIED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState

#: What harnesses take of a hook's text before they cut it or put it into a file.
LONGEST_BRIEF: Final = 10_000
#: A title's worth of a learning.
_LONGEST_TITLE: Final = 160
#: How a learning is marked that is offered to nobody unasked until something bears it out.
NOT_BORNE_OUT: Final = "not borne out yet"
#: From here on a pattern is worth a subagent's while (document 004), in hundredths.
SUBAGENT_CONFIDENCE: Final = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBrief:
    """The facts for a session's start."""

    JSON = (
        "project nodes learnings checklist to_review contradicting contested conflict_copies troubles left_out=omitted"
    )
    project: Annotated[Project, Keys("kind root")]
    #: The names of the further knowledge bases that the session may write to.
    permitted_kbs: tuple[str, ...] = ()
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
    #: What there is to be asked for: notes, and learnings of this project; None where nobody could count.
    note_count: int | None = None
    learning_count: int | None = None
    #: Learnings that want a review, that may contradict another, that were taken back; conflict copies of notes.
    to_review: int = 0
    contradicting: int = 0
    contested: int = 0
    conflict_copies: int = 0
    #: What went wrong, one line each.
    troubles: tuple[str, ...] = ()
    #: Lines that there was no room for.
    left_out: int = 0

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """Ids of the learnings and nodes in the brief."""
        return (
            *(standing.id for standing in self.checklist),
            *(standing.id for standing in self.learnings),
            *(hit.id for hit in self.nodes if hit.id),
        )

    @property
    def omitted(self) -> int:
        """Number of lines and learnings that were left out."""
        return self.left_out + self.more


def is_approved(standing: LearningState) -> bool:
    """Return whether a human at a terminal approved a learning."""
    approval_events = ("approved", "applied")
    return (
        standing.status == CANONICAL
        or standing.is_overridden
        or any(step.event.event in approval_events for step in standing.history)
    )


def approved_checklist(state: LogState) -> tuple[LearningState, ...]:
    """Return the must-checks that a human approved, the latest first."""
    must_checks = [
        standing
        for standing in state.learnings_with("type", MUST_CHECK)
        if standing.status not in (SUPERSEDED, ARCHIVED) and is_approved(standing)
    ]
    return tuple(sorted(must_checks, key=lambda standing: (-standing.learning.ts, standing.id)))


def review_counts(state: LogState) -> tuple[int, int, int]:
    """Return the numbers of learnings that need a review otherwise, may contradict another, and were taken back."""
    contradicting = sum(
        standing.status not in (SUPERSEDED, ARCHIVED) and state.is_disputed(standing)
        for standing in state.learnings_with("contradicts", YES)
    )
    to_review = state.count_learnings(("status", (NEEDS_REVIEW,)), lacking=("contradicts", (YES,)))
    contested = sum(
        standing.status not in (SUPERSEDED, ARCHIVED) for standing in state.learnings_with("contested", YES)
    )
    return to_review, contradicting, contested


def render_brief(brief: SessionBrief, *, nonce: str) -> tuple[str, SessionBrief]:
    """Return the text for the prompt, and the brief as it is in the text; the rest is left out."""
    while True:
        text = frame_items(_brief_lines(brief), source="roamkb brief", nonce=nonce)
        if len(text) <= LONGEST_BRIEF:
            return text, brief
        brief = _shorten_brief(brief)


def _shorten_brief(brief: SessionBrief) -> SessionBrief:
    """Return the brief without its least important part."""
    shortened = replace(brief, left_out=brief.left_out + 1)
    if brief.nodes and len(brief.nodes) >= len(brief.learnings):
        return replace(shortened, nodes=brief.nodes[:-1])
    if brief.learnings:
        return replace(shortened, learnings=brief.learnings[:-1])
    if brief.checklist:
        return replace(shortened, checklist=brief.checklist[:-1])
    # what is left is one line, which always fits
    return replace(shortened, troubles=brief.troubles[:-1])


def _brief_lines(brief: SessionBrief) -> Iterator[str]:
    if brief.is_for_subagent or brief.task:
        about = f" for {one_line(brief.task)}" if brief.task else ""
        yield f"Found {len(brief.learnings)} relevant patterns{about}."
    else:
        yield _project_line(brief)
    if brief.checklist:
        yield "Checklist, approved by the human:"
    yield from (f"- [ ] {_short_statement(standing)}" for standing in brief.checklist)
    yield from (f"- {learning_line(standing)}" for standing in brief.learnings)
    yield from (f"- {node_line(hit)}" for hit in brief.nodes)
    yield from (f"Trouble: {one_line(trouble)}" for trouble in brief.troubles)
    if omitted_count := brief.left_out + brief.more:
        yield f"Left out: {omitted_count} more that fit."


def _project_line(brief: SessionBrief) -> str:
    """Return what the project is, and each command that has something to tell, with how much."""
    kind = brief.project.kind
    may = "may write to" if kind is ProjectKind.PERSONAL else "may only read"
    article = "an" if kind is ProjectKind.UNKNOWN else "a"
    waiting = (
        *([f"{brief.to_review} to review"] if brief.to_review else ()),
        *([f"{brief.contradicting} contradicting"] if brief.contradicting else ()),
        *([f"{brief.contested} contested"] if brief.contested else ()),
    )
    commands = (
        *([f"search ({count_phrase(brief.note_count, 'note')})"] if brief.note_count is not None else ()),
        *([f"recall ({count_phrase(brief.learning_count, 'learning')})"] if brief.learning_count is not None else ()),
        *([] if brief.log else ["init (no log)"]),
        *([f"audit ({', '.join(waiting)})"] if waiting else ()),
        *([f"conflicts ({brief.conflict_copies})"] if brief.conflict_copies else ()),
    )
    asks = f"; roamkb {', '.join(commands)}" if commands else ""
    named = f", and write to {' and '.join(brief.permitted_kbs)} with --kb" if brief.permitted_kbs else ""
    return f"This is {article} {kind.value} project; it {may} the knowledge base{named}{asks}."


def _short_statement(standing: LearningState) -> str:
    return clip_text(one_line(standing.learning.statement), _LONGEST_TITLE)


def is_borne_out(standing: LearningState) -> bool:
    """Return whether a learning is verified, or a human's statement; others are shown last, and marked.

    A pin is anybody's, and so is the word of a caller that its human said it: his own words are observed. Who gives
    little confidence doubts it.
    """
    is_human = standing.learning.provenance == "user-stated" and standing.learning.is_observed
    if standing.is_overridden:
        return standing.confidence >= confidence.LEAST_TRUSTED
    return standing.verdict == VERIFIED or is_human or is_approved(standing)


def is_passing(standing: LearningState) -> bool:
    """Return whether a learning was only announced in passing, and waits until something bears it out.

    That is its session, or another one that says it.
    """
    return standing.learning.is_observed and standing.occurrences == 1 and not is_borne_out(standing)


def learning_line(standing: LearningState) -> str:
    """Return a learning on one line: type, confidence, what speaks against it, statement, key."""
    learning = standing.learning
    doubts = (
        *(() if is_borne_out(standing) else ("unverified",)),
        *(("needs review",) if standing.status == NEEDS_REVIEW else ()),
        *(("may contradict another",) if MAY_CONTRADICT in standing.flags else ()),
    )
    sure = ", ".join((f"{standing.confidence / 100:.2f}", *doubts))
    key = one_line(short_key(learning))
    return f"[{one_line(learning.canonical_type)} {sure}] {_short_statement(standing)} ({key})"


def node_line(hit: Hit) -> str:
    """Return a node on one line: the project that it was learned in, its title, the line that fits best, its id."""
    best_line = next((text for _, text in hit.lines if one_line(text) and one_line(text) != one_line(hit.title)), "")
    title = clip_text(one_line(hit.full_title), _LONGEST_TITLE)
    addition = f": {clip_text(one_line(best_line), _LONGEST_TITLE)}" if best_line else ""
    # "this project" is the one that the agent was in, and the reader's is another, which needn't know where that lies
    project = one_line(hit.project or "").rstrip("/").rpartition("/")[2]
    learned_in = f", learned in {clip_text(project, _LONGEST_TITLE)}" if project else ""
    return f"[node{learned_in}] {title}{addition} (id:{one_line(hit.id or '')})"
