"""Curation as an org file to be edited, and the decisions read back from it.

One heading a cluster. What learnings say is others' text in somebody's Emacs: it stands in
list items, with nothing in it that org would take for more than words.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.curation.clusters import CurationCluster
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LearningState
from roamkb.org.report import quote_for_org

_TODO_STATE: Final = "TODO"
_APPROVE_STATE: Final = "APPROVE"
_REJECT_STATE: Final = "REJECT"
#: Characters of one learning that a reviewer reads here; `roamkb explain` has all.
_MAX_TEXT_LENGTH = 600

_KIND_TITLES: Final = {
    "duplicates": "Keep one of several that say the same",
    "replaced": "Keep what replaced others",
    "contradiction": "Mark what may contradict",
    "stale": "Mark what names files that are gone",
}

_HEADING_LINE = lazily(rf"\*+[ \t]+(?:(?P<state>{_TODO_STATE}|{_APPROVE_STATE}|{_REJECT_STATE})[ \t]+)?")
_NUMBER_LINE = lazily(r"[ \t]*:CLUSTER:[ \t]+(\d{1,9})[ \t]*", re.IGNORECASE)
_REASON_LINE = lazily(r"#\+reason:[ \t]*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecisions:
    """The reviewer's decisions on a proposal."""

    #: The numbers of the clusters to be applied.
    approved: frozenset[int]
    reason: str
    #: The numbers of those that are never to be asked about again.
    rejected: frozenset[int] = frozenset()


def render_review(clusters: Iterable[CurationCluster], *, digest: str, reason: str) -> str:
    """Return the file that asks about `clusters`."""
    lines = [
        "#+title: What to make of the project's log",
        f"#+todo: {_TODO_STATE} | {_APPROVE_STATE} {_REJECT_STATE}",
        f"#+reason: {quote_for_org(reason)}",
        "",
        f"# The proposal {digest}",
        f"# Set a heading to {_APPROVE_STATE} (C-c C-t in Emacs) to have it appended to the ledger; the rest stays",
        "# as it is. Say why in the line `#+reason:`. Save and quit; without an approved heading nothing",
        "# happens.",
        "",
    ]
    for cluster in clusters:
        lines += _render_section(cluster)
    return "\n".join(lines)


def parse_review(text: str) -> ReviewDecisions:
    """Return the decisions in the saved file."""
    by_state: dict[str, set[int]] = {_APPROVE_STATE: set(), _REJECT_STATE: set()}
    reason, state = "", ""
    for line in text.splitlines():
        if heading := _HEADING_LINE.match(line):
            state = heading["state"] or ""
        elif (number := _NUMBER_LINE.fullmatch(line)) and state:
            if state in by_state:
                by_state[state].add(int(number[1]))
            # only the first drawer of a heading is its own
            state = ""
        elif (reason_match := _REASON_LINE.fullmatch(line)) and not reason:
            reason = reason_match[1].strip()
    return ReviewDecisions(
        approved=frozenset(by_state[_APPROVE_STATE]), rejected=frozenset(by_state[_REJECT_STATE]), reason=reason
    )


def _render_section(cluster: CurationCluster) -> Iterator[str]:
    title = _KIND_TITLES.get(cluster.kind, quote_for_org(cluster.kind))
    yield f"* {_TODO_STATE} {title} ({quote_for_org(clip_text(cluster.because, _MAX_TEXT_LENGTH))})"
    yield ":PROPERTIES:"
    yield f":CLUSTER:  {cluster.number}"
    yield ":END:"
    if cluster.keeper:
        yield _render_item("keep", cluster.keeper)
    word = "instead of" if cluster.keeper else "look at"
    yield from (_render_item(word, standing) for standing in cluster.others)
    yield ""


def _render_item(word: str, standing: LearningState) -> str:
    learning = standing.learning
    about = f"{as_fraction(standing.confidence):.2f}, {quote_for_org(learning.key)}"
    return f"- {word} :: {quote_for_org(clip_text(learning.statement, _MAX_TEXT_LENGTH))} ({about})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuestion:
    """A proposed line of a rule file, as a reviewer reads it."""

    #: The file, and the section in it.
    place: str
    #: The learning's key, how sure it is, what to look at twice.
    about: str
    #: Why it can't land; empty where it can.
    problem: str
    #: What would change, line by line.
    diff: str


def render_questions(questions: Iterable[ReviewQuestion], *, reason: str) -> str:
    """Return the file that asks about lines of rule files; `parse_review` reads it back by their numbers."""
    lines = [
        "#+title: What to tell every agent here",
        f"#+todo: {_TODO_STATE} | {_APPROVE_STATE} {_REJECT_STATE}",
        f"#+reason: {quote_for_org(reason)}",
        "",
        (
            f"# Set a heading to {_APPROVE_STATE} (C-c C-t in Emacs) to have its line in the file, to {_REJECT_STATE}"
            " to be"
        ),
        "# asked about it never again; that takes a reason, in the line `#+reason:`. What stays TODO waits.",
        "# Save and quit; the terminal then asks once more.",
        "",
    ]
    for number, question in enumerate(questions, start=1):
        lines += [f"* {_TODO_STATE} {quote_for_org(question.place)}", ":PROPERTIES:", f":CLUSTER:  {number}", ":END:"]
        lines.append(f"- {quote_for_org(question.about)}")
        lines += [f"- it can't land: {quote_for_org(question.problem)}"] if question.problem else []
        lines += [f": {line[:1]}{quote_for_org(line[1:])}" for line in question.diff.splitlines()]
        lines.append("")
    return "\n".join(lines)
