"""Killed or failed at any system call, no note is lost, partial or falsely acknowledged."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.core.names import is_note
from roamkb.storage import disk
from roamkb.storage.walk import walk
from tests.faults import program
from tests.faults.sweep import Fault
from tests.faults.sweep import Program
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

NOTE, OTHER = program.NOTE, program.OTHER


@pytest.fixture(scope="module", autouse=True)
def strace(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip, loudly, where strace is missing or may not trace; fail where nothing may be skipped."""
    why = "" if shutil.which("strace") else "strace isn't installed (Debian: apt-get install strace)"
    if not why:
        folder = tmp_path_factory.mktemp("strace")
        taken_name(folder)
        tracee = Program()
        try:
            tracee.run("create", folder, None)
        except RuntimeError as error:
            why = str(error)
        finally:
            tracee.close()
    if why and os.environ.get("ROAMKB_TEST_ALL") == "1":
        pytest.fail(f"the fault sweep did not run: {why}")
    if why:
        pytest.skip(f"THE FAULT SWEEP DID NOT RUN: {why}")


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


def notes(run: Run) -> dict[str, bytes]:
    """Return what a reader of the knowledge base would see."""
    return {note.file: note.path.read_bytes() for note in walk(run.folder / "kb").files}


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
        if not is_note(name) and not (hit and name.startswith(disk.TEMPORARY)):
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
    copies = [(trash.folder / f"{entry.key}.org").read_bytes() for entry in trash.entries()]
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
    Sweep(task="restore", set_up=trashed_note, check=restored),
]


@pytest.mark.parametrize("task", ["bad_in_place", "bad_replace", "bad_deaf"])
def test_the_sweep_catches_a_known_bad_writer(task: str, tmp_path: Path) -> None:
    """A sweep that finds nothing in a writer known to be wrong proves nothing elsewhere."""
    result = Sweep(task=task, set_up=taken_name, check=created).run(tmp_path, most=4)
    assert result.broken


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda s: s.task + "_without_links" * bool(s.standing))
def test_no_fault_breaks_the_promise(
    sweep: Sweep, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Each call, killed, failed once and failed from then on: 0 broken, 0 duds."""
    result = sweep.run(tmp_path)
    record_property("sweep", str(result).splitlines()[0])
    print(f"{sweep.task}: {result}")
    assert result.points >= 7
    assert not result.broken + result.duds, str(result)


@pytest.mark.parametrize(
    "fault",
    [Fault("openat", 2, error) for error in ("EOPNOTSUPP", "EISDIR", "ENOENT", "EINVAL")]
    + [Fault("linkat", 1, error) for error in ("EPERM", "EXDEV", "ENOENT", "EOPNOTSUPP")],
    ids=str,
)
def test_where_there_are_no_unnamed_files_the_note_is_written_beside(fault: Fault, tmp_path: Path) -> None:
    """The fallback gives the same note, with nothing left beside it."""
    run = traced("create", tmp_path, fault)
    assert run.fired
    assert created(run) == ""
    assert run.acknowledged


def test_where_there_are_no_hard_links_the_note_is_renamed_exclusively(tmp_path: Path) -> None:
    """The second fallback gives the same note, and takes no name from another."""
    run = traced("create", tmp_path, *NO_LINKS)
    assert run.fired
    assert created(run) == ""
    assert run.acknowledged


def test_where_nothing_is_exclusive_the_write_is_refused(tmp_path: Path) -> None:
    """A file system with neither links nor exclusive renames gets no note at all."""
    run = traced("create", tmp_path, Fault("renameat2", 1, "EINVAL", lasting=True), standing=NO_LINKS)
    assert run.fired
    assert run.status == 2
    assert "can neither link nor rename" in run.said
    assert notes(run) == {NOTE: program.TAKEN}


def traced(task: str, folder: Path, fault: Fault, standing: tuple[Fault, ...] = ()) -> Run:
    """Return one run of `task` where a first name is taken."""
    taken_name(folder)
    tracee = Program()
    try:
        return tracee.run(task, folder, fault, standing)
    finally:
        tracee.close()
