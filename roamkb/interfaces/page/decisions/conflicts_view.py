"""Conflicts: versions of a note that a syncer put aside, or that share an id, side by side and chosen hunk by hunk."""

import shlex
import subprocess
import threading
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote
from urllib.parse import urlencode

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.change_plan import MIN_DIGEST_LENGTH
from roamkb.core.change_plan import matches_digest
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.text import shorten_title
from roamkb.interfaces.page.decisions.forms import FormAction
from roamkb.interfaces.page.decisions.forms import FormFields
from roamkb.interfaces.page.decisions.forms import tell_result
from roamkb.interfaces.page.decisions.outcomes import FormOutcome
from roamkb.interfaces.page.hits import node_href
from roamkb.interfaces.page.hits import place_href
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.hygiene import DuplicateNodes
from roamkb.kb.notes.versions import FIRST
from roamkb.kb.notes.versions import VersionComparison
from roamkb.kb.write import WrittenNode
from roamkb.kb.write import find_written_before

_MOST_ROWS = 100
#: Lines that are alike on both sides and shown around a difference.
_CONTEXT_LINES = 3
#: Within so many seconds an Emacs that runs answers.
_EMACS_SECONDS = 20
#: Held while a merged note is looked for and written: a button is pressed twice at once.
_ONE_MERGE: Final = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """A conflict for a template."""

    title: str
    #: The files, below the knowledge base.
    first: str
    second: str
    #: Where both are shown side by side; empty where one of them can't be.
    href: str
    about: tuple[str, ...]
    #: The file that may be given a name of its own; empty where it may not.
    adoptable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRun:
    """A run of lines of two versions for a template."""

    #: From 1, of one that differs; 0 for lines that are alike.
    number: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    #: Lines that are alike and left out before the last ones of `first`.
    hidden: int = 0


def view_conflicts(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of all conflict copies, and of notes that share an id."""
    copies_found, duplicates = kb.list_versions()
    copies = [_copy_row(kb.rule.kb, copy) for copy in copies_found]
    shown_copies, more_copies = first_rows(copies, _MOST_ROWS)
    shown_equal, more_equal = first_rows([*_equal_id_rows(kb.rule.kb, duplicates)], _MOST_ROWS)
    return 200, render_page(
        "conflicts.html",
        parts=[
            ("Conflict copies", "a syncer put them aside: two machines changed one note", shown_copies),
            ("Notes with one id", "Emacs and roamkb each take one of them", shown_equal),
        ],
        more=more_copies + more_equal,
    )


def _copy_row(folder: Path, copy: ConflictCopy) -> ConflictRow:
    second = _file_in(folder, copy.path)
    first = _file_in(folder, copy.original) if copy.original else ""
    is_comparable = copy.lines_added is not None
    facts = [f"{count_phrase(copy.lines_added or 0, 'line')} more, {copy.lines_removed} fewer"] if is_comparable else []
    return ConflictRow(
        title=shorten_title(copy.title) or second,
        first=first,
        second=second,
        # a project's log lies elsewhere
        href=_conflict_href(first, second) if is_comparable and copy.path.is_relative_to(folder) else "",
        about=tuple(filter(None, (*facts, copy.obstacle))),
        adoptable="" if copy.obstacle else str(copy.path),
    )


def _equal_id_rows(folder: Path, all_duplicates: Iterable[DuplicateNodes]) -> Iterator[ConflictRow]:
    for duplicates in all_duplicates:
        # each beside the one that roamkb takes
        first, *others = dict.fromkeys(_file_in(folder, node.path) for node in duplicates.nodes)
        for second in others:
            yield ConflictRow(
                title=shorten_title(duplicates.first.title) or first,
                first=first,
                second=second,
                href=_conflict_href(first, second),
                about=(f"both have the id {duplicates.first.id}",),
            )


def _file_in(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _conflict_href(first: str, second: str) -> str:
    return f"/conflict?{urlencode({'first': first, 'second': second})}"


def view_conflict(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the versions `first` and `second` of a note, side by side."""
    comparison = kb.compare_versions(request.query_params.get("first", ""), request.query_params.get("second", ""))
    first, second = comparison.first, comparison.second
    return 200, render_page(
        "conflict.html",
        comparison=comparison,
        title=shorten_title(first.node.title or second.node.title) or first.file,
        runs=[*_side_runs(comparison)],
        digest=comparison.digest[:MIN_DIGEST_LENGTH],
        back=_conflict_href(first.file, second.file),
        note_href=node_href(first.node.id) if first.node.id else place_href(first.file),
        emacs=f"org-protocol://roam-node?node={quote(first.node.id, safe='')}" if first.node.id else "",
    )


def _ediff_command(first: Path, second: Path) -> Sequence[str]:
    """Return the command that has two files merged in the Emacs that runs."""
    names = ('"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"' for path in (first, second))
    return ["emacsclient", "-c", "-n", "-e", f"(ediff-files {' '.join(names)})"]


def _side_runs(comparison: VersionComparison) -> Iterator[SideRun]:
    last = len(comparison.runs) - 1
    for index, (first, second) in enumerate(comparison.runs):
        if index % 2:
            yield SideRun(number=index // 2 + 1, first=first, second=second)
            continue
        # what follows a difference is its context as well, and so is what comes before the next one
        if len(first) <= 2 * _CONTEXT_LINES + 1 and first:
            yield SideRun(number=0, first=first, second=first)
            continue
        after = first[:_CONTEXT_LINES] if index else ()
        before = first[len(after) :][-_CONTEXT_LINES:] if index != last else ()
        hidden = len(first) - len(after) - len(before)
        if after:
            yield SideRun(number=0, first=after, second=after)
        if before or hidden:
            yield SideRun(number=0, first=before, second=before, hidden=hidden)


def write_merged(kb: "server.ServedKnowledgeBase", fields: FormFields) -> FormOutcome:
    """Write what was chosen of two versions as a new agent node that links to the first one.

    Raises:
        Refused: the project may write no note. ChangedOnDisk: a version isn't as it was shown.
        UsageError: the title or a choice is missing, or the very same note was written before.
    """
    title = fields.get("title", "").strip()
    if not title:
        raise UsageError("the new note has no title", hint="say what it is called")
    # before anything is kept: what is refused here isn't a fact of the project's
    kb.require_write_permit(title)
    comparison = kb.compare_versions(fields.get("first", ""), fields.get("second", ""))
    if not matches_digest(comparison.digest, fields.get("digest", "")):
        raise ChangedOnDisk(comparison.first.path, "one of the versions isn't as it was shown")
    choices = [fields.get(f"choice-{number}", FIRST) for number in range(1, comparison.differences + 1)]
    original = comparison.first
    # an id that two notes have names neither of them
    link = original.node.id if original.node.level else str(original.path)
    written = _write_once(partial(kb.write, title, body=comparison.merge(choices), links=(link,)))
    outcome = tell_result("write", written)
    new_id = written.id
    return FormOutcome(
        text=outcome.text,
        warnings=outcome.warnings,
        href=node_href(new_id),
        reverse="trash",
        reverse_label="To the trash again",
        fields={"name": new_id},
    )


def _write_once(write: Callable[..., WrittenNode]) -> WrittenNode:
    """Write a note that is like others; raise `UsageError` where one is there that says the very same."""
    with _ONE_MERGE:
        try:
            write(dry_run=True)
        except NearDuplicate as error:
            if earlier := find_written_before(write(anyway=True, dry_run=True), error.candidates):
                raise UsageError(
                    f"nothing was written: {shorten_title(earlier.title)} was written before, with the same text",
                    hint=f"`roamkb show {earlier.id}` shows it; for another one, choose otherwise or call it otherwise",
                ) from None
        return write(anyway=True)


def merge_in_emacs(kb: "server.ServedKnowledgeBase", fields: FormFields) -> FormOutcome:
    """Hand two versions to the human's Emacs, where the files themselves are merged.

    Raises:
        Refused: the project may write no note. UsageError: no Emacs took them.
    """
    comparison = kb.compare_versions(fields.get("first", ""), fields.get("second", ""))
    kb.require_write_permit(comparison.first.file)
    command = _ediff_command(comparison.first.path, comparison.second.path)
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_EMACS_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        hint = f"`M-x server-start` in yours, or run `{shlex.join(command)}`"
        raise UsageError("no Emacs answers here that could take the two files", hint=hint) from error
    return FormOutcome(text="Emacs has both versions in a new frame")


#: What can be done about a conflict beside what other views do, by the last part of its address.
CONFLICT_FORMS: Final[Mapping[str, FormAction]] = {"merge": write_merged, "ediff": merge_in_emacs}
