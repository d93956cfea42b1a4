"""Replace an agent node by a new one; the old one stays, and says what replaced it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from roamkb.actions.agent_nodes import get_agent_node
from roamkb.actions.search import Finder
from roamkb.actions.write import Fact
from roamkb.actions.write import Stamp
from roamkb.actions.write import Written
from roamkb.actions.write import write
from roamkb.core.boundary import WritePermit
from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Candidate
from roamkb.core.text import shown
from roamkb.formats.org.write import append_link
from roamkb.formats.org.write import insert_property
from roamkb.storage import disk
from roamkb.storage.lookup import candidate
from roamkb.storage.nodes import Notes

SUPERSEDED_BY = "SUPERSEDED_BY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """The new node and the one that it replaces."""

    written: Written
    old: Candidate


def supersede(
    notes: Notes,
    finder: Finder,
    permit: WritePermit,
    name: str,
    fact: Fact,
    stamp: Stamp,
    *,
    lock: AbstractContextManager[object],
    project_name: str,
    anyway: bool = False,
    dry_run: bool = False,
    folder: Path | None = None,
) -> Superseded:
    """Write `fact` and mark the agent node called `name` as superseded by it; both or neither.

    Raises:
        UsageError: the old node is the human's, or superseded already.
        ChangedOnDisk: the old node changed meanwhile or is open in Emacs.
        and what `write` raises.
    """
    note, old, data = get_agent_node(notes, name, folder=folder)
    if newer := old.properties.get(SUPERSEDED_BY):
        raise UsageError(
            f"{shown(old.title)} is superseded already", hint=f"supersede {shown(newer)} instead"
        )
    path = notes.path(note)
    text = _exact_text(path, data)
    written = write(
        notes,
        finder,
        permit,
        fact,
        stamp,
        project_name=project_name,
        anyway=anyway,
        dry_run=dry_run,
        folder=folder,
        supersedes=old,
    )
    if not dry_run:
        marked = insert_property(text, SUPERSEDED_BY, written.id)
        marked = append_link(marked, "superseded by", id=written.id, title=written.title)
        try:
            disk.swap(path, marked.encode(), was=disk.digest(data), lock=lock)
        except RoamkbError:
            _take_back(written)
            raise
    return Superseded(written=written, old=candidate(notes, note, old))


def _exact_text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DiskError(path, "isn't valid UTF-8, so roamkb never rewrites it") from error


def _take_back(written: Written) -> None:
    """Remove the new node, unless somebody touched it or the old one points to it already."""
    if disk.read_file(written.path) == written.text.encode():
        disk.discard(written.path)
