"""The journal under fire: killed or failed at any system call, it keeps what was destroyed, and gives it back."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.journal.moments import ChangeKind
from tests.faults import program
from tests.faults.promises import NOTE
from tests.faults.promises import OTHER
from tests.faults.promises import notes
from tests.faults.promises import wrong_manners
from tests.faults.sweep import ERRNOS
from tests.faults.sweep import OF_SQLITE
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

pytestmark = pytest.mark.usefixtures("strace")


def destroyed(folder: Path) -> None:
    """Lay out two notes that the journal has; one is gone since, the other another."""
    kb = folder / "kb"
    kb.mkdir()
    for name in (NOTE, OTHER):
        (kb / name).write_bytes(program.BODY)
    (kb / "witness.org").write_bytes(program.TAKEN)
    program.keeper_of(folder).journal.take_look(look_kind="mark")
    (kb / NOTE).unlink()
    (kb / OTHER).write_bytes(program.NEW_BODY)


def destroyed_and_seen(folder: Path) -> None:
    """Lay out the same, and the journal has seen it."""
    destroyed(folder)
    program.journal_look(folder)
    (folder / "state" / "journal").rename(folder / "journal")


def looked(run: Run) -> str:
    """Check a look: all or nothing of it, and what it had before in any case."""
    if notes(run) != {OTHER: program.NEW_BODY, "witness.org": program.TAKEN}:
        return "a look changed the notes"
    journal = program.keeper_of(run.folder).journal
    if run.acknowledged and journal.read_holdings().last < 2:
        return "acknowledged, and not put down"
    return kept(run) or wrong_manners(run)


def kept(run: Run) -> str:
    """Look again without a fault, and check that both notes are held as they were and as they are."""
    journal = program.keeper_of(run.folder).journal
    journal.take_look()
    if journal.damaged_files:
        return "a failing disk is taken for a damaged journal"
    changes = journal.changes_since(1)
    if [(one.what, one.path) for one in changes] != [
        (ChangeKind.CHANGED, OTHER.encode()),
        (ChangeKind.VANISHED, NOTE.encode()),
    ]:
        return f"the journal says {changes}"
    with journal.content_reader() as content:
        if any(content(one.was) != program.BODY for one in changes if one.was):
            return "what was destroyed is lost"
        is_there = all(content(one.now) == program.NEW_BODY for one in changes if one.now)
    return "" if is_there else "what is there was not taken in"


def restored(run: Run) -> str:
    """Check a restore: each note whole, old or new; what is said about it is so; the next one does the rest."""
    found = notes(run)
    if found.get(NOTE, program.BODY) != program.BODY or found.get(OTHER) not in (
        program.BODY,
        program.NEW_BODY,
    ):
        return "a note is neither what it was nor what it is"
    is_back = found == {NOTE: program.BODY, OTHER: program.BODY, "witness.org": program.TAKEN}
    if run.acknowledged and not is_back:
        return "acknowledged, and not back"
    if wrong := wrong_manners(run):
        return wrong
    program.keeper_of(run.folder, place="journal").journal.take_look()
    if run.status == -signal.SIGKILL or not is_back:
        # what the dead one restored is what the mark has, and nothing to restore
        program.journal_restore(run.folder)
    again = {NOTE: program.BODY, OTHER: program.BODY, "witness.org": program.TAKEN}
    return "" if notes(run) == again else "the next restore failed"


@pytest.mark.parametrize(
    "sweep",
    [
        Sweep(task="journal_look", set_up=destroyed, check=looked, is_lasting=False, errnos=ERRNOS | OF_SQLITE),
        Sweep(
            task="journal_restore",
            set_up=destroyed_and_seen,
            check=restored,
            is_lasting=False,
            errnos=ERRNOS | OF_SQLITE,
        ),
    ],
    ids=lambda sweep: sweep.task,
)
def test_no_fault_costs_a_note(sweep: Sweep, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Each call, killed, failed once and failed from then on: 0 broken, 0 duds."""
    result = sweep.run(tmp_path)
    record_property("sweep", str(result).splitlines()[0])
    print(f"{sweep.task}: {result}")
    assert result.points >= 20
    assert not result.broken + result.duds, str(result)
