"""Checks of `doctor` for what is between agents and the human's org: nodes taken over, encrypted notes."""

from collections.abc import Callable
from collections.abc import Iterator

from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import join_first
from roamkb.install.doctor_report import run_check
from roamkb.kb.agent_notes import nodes_taken_over
from roamkb.kb.encrypted import find_encrypted
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents
from roamkb.org.agent_node import is_agent_node


def check_org(notes: Notes, contents: NotesContents) -> Iterator[DoctorCheck]:
    """Yield the checks of notes that were read."""
    check_functions: tuple[tuple[str, Callable[[], DoctorCheck]], ...] = (
        ("agents' notes", lambda: _check_agent_notes(notes, contents)),
        ("encrypted", lambda: _check_encrypted(notes, contents)),
    )
    for name, run in check_functions:
        yield run_check(name, run)


def _check_agent_notes(notes: Notes, contents: NotesContents) -> DoctorCheck:
    """Count the nodes that agents may change, and name those that became their human's."""
    count = sum(is_agent_node(note, node) for note, node in contents.node_pairs())
    taken = [
        f"{shorten_title(node.title)} ({one_line(str(node.path))}:{node.line}, {node.why})"
        for node in nodes_taken_over(notes, contents)
    ]
    taken_over = f"; the human's now, which no agent changes: {join_first(taken)}" if taken else ""
    return DoctorCheck(name="agents' notes", ok=True, detail=f"{count_phrase(count, 'node')} by agents{taken_over}")


def _check_encrypted(notes: Notes, contents: NotesContents) -> DoctorCheck:
    texts = find_encrypted(notes, contents)
    files = sum(text.line is None for text in texts)
    counts = f"{count_phrase(files, 'file')} and {count_phrase(len(texts) - files, 'heading')}"
    detail = f"{counts} encrypted: not read, and no search finds them" if texts else "no file and no heading is"
    return DoctorCheck(name="encrypted", ok=True, detail=detail)
