"""What must hold after any fault, and the knowledge bases that the tasks start from."""

import signal
from pathlib import Path

from roamkb.fs import files as disk
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.store.walk import walk_notes
from tests.faults import program
from tests.faults.sweep import Fault
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

NOTE, OTHER = program.NOTE, program.OTHER


def taken_name(folder: Path) -> None:
    """Lay out a knowledge base in which a new note's first name is taken."""
    (folder / "kb").mkdir()
    (folder / "kb" / NOTE).write_bytes(program.TAKEN)


def one_note(folder: Path) -> None:
    """Lay out a knowledge base with one note."""
    (folder / "kb").mkdir()
    (folder / "kb" / NOTE).write_bytes(program.BODY)


def trashed_note(folder: Path) -> None:
    """Lay out a knowledge base whose one note is in the trash."""
    one_note(folder)
    program.trash(folder)


def half_trashed_note(folder: Path) -> None:
    """Lay out a knowledge base whose one note is in the trash, too, as a call leaves it that was killed midway."""
    trashed_note(folder)
    (folder / "kb" / NOTE).write_bytes(program.BODY)


def notes(run: Run) -> dict[str, bytes]:
    """Return what a reader of the knowledge base would see."""
    return {note.file: note.path.read_bytes() for note in walk_notes(run.folder / "kb").files}


def wrong_manners(run: Run) -> str:
    """Name what no run may do, whatever its task: lie with its status, crash, leave what a reader takes."""
    if run.acknowledged != (run.status == 0):
        return "status and acknowledgement differ"
    if run.status not in (0, 2, 4, 5, 75, -signal.SIGKILL):
        return "not a status that we promise"
    if run.status > 0 and not run.said.startswith("roamkb: "):
        return "failed without a word, or with a traceback"
    return wrong_leftovers(run) or wrong_deafness(run)


def wrong_leftovers(run: Run) -> str:
    """Name a file that is neither a note nor, where the cleaning itself was hit, a temporary one."""
    hit = run.fault is not None and (run.fault.error == "KILL" or run.fault.call.startswith("unlink"))
    for name in (path.name for path in (run.folder / "kb").iterdir()):
        if not is_note(name) and not (hit and name.startswith(disk.TEMPORARY_PREFIX)):
            return f"left {name} behind"
    return ""


def wrong_deafness(run: Run) -> str:
    """Name a success that was declared although the disk said no to a sync."""
    failed = run.fault is not None and run.fault.call == "fsync" and run.fault.error != "KILL"
    return "an error of fsync went unheard" if failed and run.status == 0 else ""


def created(run: Run) -> str:
    """Check a creation: the whole note or none, and the other's note untouched."""
    found = notes(run)
    if found.pop(NOTE, None) != program.TAKEN:
        return "somebody else's note is gone"
    made = found.pop(OTHER, None)
    if made not in (None, program.BODY):
        return f"a partial note of {len(made or b'')} bytes"
    if run.acknowledged != (made is not None) and run.status != -signal.SIGKILL and run.status != 5:
        return "acknowledged and not there, or there and not acknowledged"
    if run.acknowledged and made is None:
        return "acknowledged, not there"
    return f"strange notes {sorted(found)}" if found else wrong_manners(run) or next_write(run)


def next_write(run: Run) -> str:
    """Write again without a fault: what went wrong once must not stand in the way."""
    program.create(run.folder) if not (run.folder / "kb" / OTHER).exists() else None
    return "" if (run.folder / "kb" / OTHER).read_bytes() == program.BODY else "the next write failed"


def swapped(run: Run) -> str:
    """Check a change: the old note or the new one, whole."""
    found = notes(run)
    if list(found) != [NOTE] or found[NOTE] not in (program.BODY, program.NEW_BODY):
        return "the note is neither what it was nor what it should be"
    if run.status in (0, 5) and found[NOTE] != program.NEW_BODY:
        return "acknowledged, not changed"
    if run.status in (2, 4) and found[NOTE] != program.BODY:
        return "said that nothing was changed, and changed it"
    return wrong_manners(run)


def trashed(run: Run) -> str:
    """Check a move to the trash: what is said about the knowledge base is so."""
    still_there = NOTE in notes(run)
    if run.acknowledged and still_there:
        return "acknowledged, still there"
    if run.status in (2, 4) and not still_there:
        return "said that nothing was changed, and took it away"
    return wrong_loss(run) or wrong_manners(run)


def restored(run: Run) -> str:
    """Check a way back: what is said about the knowledge base is so."""
    back = NOTE in notes(run)
    if run.status in (0, 5) and not back:
        return "acknowledged, not there"
    if run.status in (2, 4) and back:
        return "said that nothing was written, and wrote it"
    return wrong_loss(run) or wrong_manners(run)


def wrong_loss(run: Run) -> str:
    """Name a note that is whole neither in its place nor in the trash."""
    trash = program.trash_of(run.folder)
    copies = [(trash.folder / f"{entry.key}.org").read_bytes() for entry in trash.list_entries()]
    copies += notes(run).values()
    if not copies:
        return "lost"
    return "" if set(copies) == {program.BODY} else "a partial note"


#: As on exFAT and some phones' storage.
NO_LINKS = (Fault("linkat", 1, "EPERM", lasting=True),)

SWEEPS = [
    Sweep(task="create", set_up=taken_name, check=created),
    Sweep(task="create_named", set_up=taken_name, check=created),
    Sweep(task="create_named", set_up=taken_name, check=created, standing=NO_LINKS),
    Sweep(task="swap", set_up=one_note, check=swapped),
    Sweep(task="trash", set_up=one_note, check=trashed),
    Sweep(task="trash_again", set_up=half_trashed_note, check=trashed),
    Sweep(task="restore", set_up=trashed_note, check=restored),
]
