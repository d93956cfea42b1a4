"""Checks of `doctor` for the human's org: nodes taken over, encrypted notes, and what org-roam says of the same."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Set
from hashlib import sha1
from pathlib import Path

from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import join_first
from roamkb.install.checks.doctor_report import run_check
from roamkb.install.store.org_roam_db import OrgRoamDatabase
from roamkb.install.store.org_roam_db import OrgRoamNode
from roamkb.install.store.org_roam_db import UnreadableDatabase
from roamkb.install.store.org_roam_db import find_database
from roamkb.kb.agent_notes import nodes_taken_over
from roamkb.kb.encrypted import find_encrypted
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.org.agent_node import is_agent_node
from roamkb.org.escape import unescape_name

#: org-roam's releases by the number of their database's schema.
_VERSIONS = {18: "2.2", 19: "2.2", 20: "2.3"}
#: The first that leads for titles.
_NEWER = 20
_LEADING_VERSION = "where its versions differ, roamkb follows 2.3 for titles, positions and links, 2.2 for all else"


def check_org(notes: Notes, contents: NotesContents, *, home: Path) -> Iterator[DoctorCheck]:
    """Yield the checks of notes that were read."""
    check_functions: tuple[tuple[str, Callable[[], DoctorCheck]], ...] = (
        ("agents' notes", lambda: _check_agent_notes(notes, contents)),
        ("encrypted", lambda: _check_encrypted(notes, contents)),
        ("org-roam", lambda: _check_org_roam(notes, contents, home)),
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
    return DoctorCheck(ok=True, detail=f"{count_phrase(count, 'node')} by agents{taken_over}")


def _check_encrypted(notes: Notes, contents: NotesContents) -> DoctorCheck:
    texts = find_encrypted(notes, contents)
    files = sum(text.line is None for text in texts)
    counts = f"{count_phrase(files, 'file')} and {count_phrase(len(texts) - files, 'heading')}"
    detail = f"{counts} encrypted: not read, and no search finds them" if texts else "no file and no heading is"
    return DoctorCheck(ok=True, detail=detail)


def _check_org_roam(notes: Notes, contents: NotesContents, home: Path) -> DoctorCheck:
    """Compare the nodes with those in the person's own org-roam, of the files that are as it last saw them."""
    try:
        database = find_database(home, notes.kb)
    except UnreadableDatabase as error:
        return DoctorCheck(ok=True, detail=error.message, fix=error.hint, proved=False)
    if database is None:
        detail = f"no database of these notes is at hand to compare with; {_LEADING_VERSION}"
        return DoctorCheck(ok=True, detail=detail, proved=False)
    unchanged = {file.file for file in contents.kb_walk.files if _is_as_indexed(notes, file, database)}
    total, different = _compare_nodes(contents, database, unchanged)
    version = _VERSIONS.get(database.version, f"with a database of version {database.version}")
    detail = f"agrees: {total - len(different):,} of {total:,} nodes, with org-roam {version} ({database.path})"
    absent = [file.file for file in contents.kb_walk.files if file.file not in database.hashes]
    if waiting := len(contents.kb_walk.files) - len(unchanged) - len(absent):
        detail += f"; {count_phrase(waiting, 'note')} changed since it looked"
    if absent:
        detail += (
            f"; not there, and found by agents: {join_first(absent)} (`M-x org-roam-db-sync` adds what is only new)"
        )
    detail += f"; {_LEADING_VERSION}"
    return DoctorCheck(
        ok=not different,
        detail=f"{detail}: {join_first(different)}" if different else detail,
        fix="see the note; TODO words of Emacs' own settings belong into the rule as well" if different else "",
    )


def _compare_nodes(contents: NotesContents, database: OrgRoamDatabase, files: Set[str]) -> tuple[int, list[str]]:
    """Return how many nodes of `files` there are on either side, and a line for each that isn't the same on both."""
    # which of several nodes with one id org-roam has depends on its past
    counts = Counter(node.id for _, node in contents.node_pairs())
    ours = _comparable_nodes(contents, {id for id, count in counts.items() if count == 1}, files)
    agents = {node.id for note, node in contents.node_pairs() if is_agent_node(note, node)}
    theirs = {
        id: _as_given(node) if id in agents else node
        for id, node in database.nodes.items()
        if node.file in files and counts[id] <= 1
    }
    differences: list[str] = []
    for id in sorted({*ours, *theirs}):
        our, their = ours.get(id), theirs.get(id)
        if our and their:
            what = _differing_fields(our, their, is_older=database.version < _NEWER)
        else:
            what = "not in org-roam" if our else "in org-roam alone"
        if what:
            node = our or theirs[id]
            differences.append(f"{shorten_title(node.title)} ({one_line(id)}): {what}")
    return len({*ours, *theirs}), differences


def _as_given(node: OrgRoamNode) -> OrgRoamNode:
    """Return an agent's node with its names as they were given, without the breaks of its file."""
    return replace(node, title=unescape_name(node.title), aliases=frozenset(map(unescape_name, node.aliases)))


def _is_as_indexed(notes: Notes, file: NoteFile, database: OrgRoamDatabase) -> bool:
    """Say whether a file has the content that org-roam indexed; it keeps its SHA-1."""
    indexed = database.hashes.get(file.file)
    data = notes.read_data(file.place) if indexed else None
    return isinstance(data, bytes) and sha1(data, usedforsecurity=False).hexdigest() == indexed


def _comparable_nodes(contents: NotesContents, ids: Set[str], files: Set[str]) -> dict[str, OrgRoamNode]:
    """Return our nodes with one of `ids` in one of `files`, by id."""
    return {
        node.id: OrgRoamNode(
            file=note.file,
            level=node.level,
            title=node.title,
            todo=node.todo or "",
            tags=frozenset(node.tags),
            aliases=frozenset(node.aliases),
            cite_refs=frozenset(ref.ref for ref in node.refs if ref.type == "cite"),
        )
        for note, node in contents.node_pairs()
        if note.file in files and node.id in ids
    }


def _differing_fields(our: OrgRoamNode, their: OrgRoamNode, *, is_older: bool) -> str:
    """Return the names of the fields that differ; empty where none does, but for what versions do by themselves."""
    # 2.2 takes the first line of a title; 2.3 means to take the path where there is none, and by a slip never does
    is_known = our.title.startswith(f"{their.title} ") if is_older else not their.title
    named = replace(their, title=our.title) if is_known and not our.level else their
    return ", ".join(field.name for field in fields(our) if getattr(our, field.name) != getattr(named, field.name))
