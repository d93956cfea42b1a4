"""A curation as an org file to be read and decided on in an editor, and the decisions back.

One heading a cluster. What learnings say is others' text in somebody's Emacs: it stands in
list items, with nothing in it that org would take for more than words.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.curation.clusters import CurationCluster
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LearningState
from roamkb.org.report import quoted

_TODO: Final = "TODO"
_APPROVE: Final = "APPROVE"
_REJECT: Final = "REJECT"
#: Characters of one learning that a reviewer reads here; `roamkb explain` has all.
_LONGEST = 600

_KINDS: Final = {
    "duplicates": "Keep one of several that say the same",
    "replaced": "Keep what replaced others",
    "contradiction": "Mark what may contradict",
    "stale": "Mark what names files that are gone",
}

_HEADING = lazily(rf"\*+[ \t]+(?:(?P<state>{_TODO}|{_APPROVE}|{_REJECT})[ \t]+)?")
_NUMBER = lazily(r"[ \t]*:CLUSTER:[ \t]+(\d{1,9})[ \t]*", re.IGNORECASE)
_REASON = lazily(r"#\+reason:[ \t]*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecisions:
    """What a reviewer made of a proposal."""

    #: The numbers of the clusters to be applied.
    approved: frozenset[int]
    reason: str
    #: The numbers of those that are never to be asked about again.
    rejected: frozenset[int] = frozenset()


def render_review(clusters: Iterable[CurationCluster], *, digest: str, reason: str) -> str:
    """Return the file that asks about `clusters`."""
    lines = [
        "#+title: What to make of the project's log",
        f"#+todo: {_TODO} | {_APPROVE} {_REJECT}",
        f"#+reason: {quoted(reason)}",
        "",
        f"# The proposal {digest}",
        f"# Set a heading to {_APPROVE} (C-c C-t in Emacs) to have it appended to the ledger; the rest stays",
        "# as it is. Say why in the line `#+reason:`. Save and quit; without an approved heading nothing",
        "# happens.",
        "",
    ]
    for cluster in clusters:
        lines += _section(cluster)
    return "\n".join(lines)


def parse_review(text: str) -> ReviewDecisions:
    """Return what the saved file decides."""
    by_state: dict[str, set[int]] = {_APPROVE: set(), _REJECT: set()}
    reason, state = "", ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            state = heading["state"] or ""
        elif (number := _NUMBER.fullmatch(line)) and state:
            if state in by_state:
                by_state[state].add(int(number[1]))
            # only the first drawer of a heading is its own
            state = ""
        elif (said := _REASON.fullmatch(line)) and not reason:
            reason = said[1].strip()
    return ReviewDecisions(
        approved=frozenset(by_state[_APPROVE]), rejected=frozenset(by_state[_REJECT]), reason=reason
    )


def _section(cluster: CurationCluster) -> Iterator[str]:
    what = _KINDS.get(cluster.kind, quoted(cluster.kind))
    yield f"* {_TODO} {what} ({quoted(clipped(cluster.because, _LONGEST))})"
    yield ":PROPERTIES:"
    yield f":CLUSTER:  {cluster.number}"
    yield ":END:"
    if cluster.keeper:
        yield _item("keep", cluster.keeper)
    word = "instead of" if cluster.keeper else "look at"
    yield from (_item(word, one) for one in cluster.others)
    yield ""


def _item(word: str, standing: LearningState) -> str:
    learning = standing.learning
    about = f"{as_fraction(standing.confidence):.2f}, {quoted(learning.key)}"
    return f"- {word} :: {quoted(clipped(learning.statement, _LONGEST))} ({about})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuestion:
    """A line that might land in a rule file, as a reviewer reads of it."""

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
        f"#+todo: {_TODO} | {_APPROVE} {_REJECT}",
        f"#+reason: {quoted(reason)}",
        "",
        f"# Set a heading to {_APPROVE} (C-c C-t in Emacs) to have its line in the file, to {_REJECT} to be",
        "# asked about it never again; that takes a reason, in the line `#+reason:`. What stays TODO waits.",
        "# Save and quit; the terminal then asks once more.",
        "",
    ]
    for number, one in enumerate(questions, start=1):
        lines += [f"* {_TODO} {quoted(one.place)}", ":PROPERTIES:", f":CLUSTER:  {number}", ":END:"]
        lines.append(f"- {quoted(one.about)}")
        lines += [f"- it can't land: {quoted(one.problem)}"] if one.problem else []
        lines += [f": {line[:1]}{quoted(line[1:])}" for line in one.diff.splitlines()]
        lines.append("")
    return "\n".join(lines)
