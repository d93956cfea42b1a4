"""Killed or failed at any system call, no note is lost, partial or falsely acknowledged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import program
from tests.faults.promises import NO_LINKS
from tests.faults.promises import NOTE
from tests.faults.promises import SWEEPS
from tests.faults.promises import created
from tests.faults.promises import notes
from tests.faults.promises import taken_name
from tests.faults.sweep import Fault
from tests.faults.sweep import Program
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

pytestmark = pytest.mark.usefixtures("strace")


@pytest.mark.parametrize("task", ["bad_in_place", "bad_replace", "bad_rename", "bad_deaf"])
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
