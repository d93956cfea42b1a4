"""A log on the disk: adopted here, added to, rotated, and never less than it was."""

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.fs import append
from roamkb.fs.files import swap_file
from roamkb.log.init import init
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.new_learning import Author
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.log.store import file_contents as pages
from roamkb.log.store import project_log as module
from roamkb.log.store.project_log import ROTATE_AT
from roamkb.log.store.project_log import ROTATED_LINES
from roamkb.log.store.project_log import Log
from roamkb.log.store.receipts import read_receipts
from roamkb.log.store.receipts import save_receipt
from tests.conftest import ROOT


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A project's log, adopted."""
    root = tmp_path / "site"
    root.mkdir()
    init(Log(root, tmp_path / "state"), home=tmp_path, kbs=())
    return Log(root, tmp_path / "state").require_adopted()


def learning(n: int) -> Learning:
    """Return one of many."""
    return Learning(id=f"L{n:06}", key=f"k{n}", type="fact", content=f"Fact number {n}", ts=n)


def lines(*numbers: int) -> bytes:
    """Return the lines of some learnings."""
    return b"".join(learning_line(learning(n)) + b"\n" for n in numbers)


def add(log: Log, *numbers: int) -> None:
    """Add learnings as a command does."""
    with log.append_lock():
        log.read_contents()
        log.append_entries(map(learning, numbers))


def test_what_is_appended_is_read(log: Log) -> None:
    """Learnings and events, and each fault with its file and line."""
    log.knowledge.write_bytes(b"<<<<<<< HEAD\n" + lines(1) + b'{"torn')
    event = LedgerEvent(id="e", ts=5.0, event="pinned", of="L000001")
    log.append_entries([learning(2)], [event])
    contents = log.read_contents()
    assert ((learning(1), learning(2)), (event,)) == (contents.learnings, contents.events)
    assert [(log.knowledge, 1), (log.knowledge, 3)] == [(fault.path, fault.line) for fault in contents.line_faults]
    assert contents.replay_state().standings["L000001"].is_pinned


def test_only_ids_that_can_be_followed_are_followed(log: Log) -> None:
    """Other programs' ids don't count, nor do those at the end of time."""
    good = "01939b7a-0000-7000-8000-000000000000"
    ids = [good, "zzz", "ffffffff-ffff-ffff-ffff-ffffffffffff", "01JXE5ZKQ8M3V6T1Y2W4X7N9AB"]
    log.append_entries(events=[LedgerEvent(id=id, ts=1, event="pinned") for id in ids])
    assert good == log.read_contents().last_event


def test_a_process_that_asks_again_and_again_is_told_what_the_lines_say(log: Log) -> None:
    """A long log's state is kept; who reads it first, who follows it, and what was added in memory."""
    log.knowledge.write_bytes(lines(*range(800)))
    event = LedgerEvent(id="0", ts=5.0, event="repeated", of="L000007", session="s")
    log.append_entries(events=[event])

    def replayed() -> LogState:
        contents = log.read_contents()
        return replay(contents.learnings, contents.events, archived=contents.archived_learnings)

    def forget() -> None:
        module._LogMemory.contents = None
        pages._FileMemory.pages = {}

    assert log.read_contents().replay_state() == replayed()
    forget()
    state = log.read_contents().replay_state()
    assert state.shelf is not None
    added = log.read_contents().plus_lines([learning(801)], [replace(event, id="1", of="L000801")])
    assert "" == added.digest
    assert 2 == added.replay_state().standings["L000801"].occurrences
    assert 801 == len(added.replay_state().standings)
    shelves = []
    for n in range(1000, 1004):
        log.append_entries([learning(n)], [replace(event, id=f"{n}", of=f"L{n:06}")])
        state = log.read_contents().replay_state()
        assert state == replayed()
        assert [f"L{n:06}"] == [one.id for one in state.learnings_with("key", f"k{n}")]
        shelves.append(state.shelf is not None)
    # from the second growth on all of it is in memory
    assert [True, False, False, False] == shelves
    assert [f"L{n:06}"] == list(state.ids_since(f"{state.grown[0]} 4 {n - 1}") or ())
    forget()
    assert log.read_contents().replay_state() == replayed()
    assert 800 == len(log.read_contents().contents_until(802.0).replay_state().standings)


# rotation


def everything(log: Log) -> list[str]:
    """Return what log and archive say, each line once, in order."""
    contents = log.read_contents()
    return sorted({one.id for one in (*contents.learnings, *contents.archived_learnings)})


def test_past_five_thousand_lines_the_oldest_half_moves(log: Log) -> None:
    """At the limit nothing moves, one above it half does."""
    assert (5000, 2500) == (ROTATE_AT, ROTATED_LINES)
    log.knowledge.write_bytes(lines(*range(ROTATE_AT - 1)))
    add(log, ROTATE_AT - 1)
    assert not log.archive.exists()
    add(log, ROTATE_AT)
    assert lines(*range(ROTATED_LINES)) == log.archive.read_bytes()
    assert lines(*range(ROTATED_LINES, ROTATE_AT + 1)) == log.knowledge.read_bytes()
    state = log.read_contents().replay_state()
    assert ROTATE_AT + 1 == len(state.standings)
    assert ROTATED_LINES == sum(one.is_archived for one in state.standings.values())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotate sooner, so that a test can do it often."""
    monkeypatch.setattr(module, "ROTATE_AT", 10)
    monkeypatch.setattr(module, "ROTATED_LINES", 5)


@pytest.mark.usefixtures("small")
def test_many_rotations_lose_nothing_and_double_nothing(log: Log) -> None:
    """Every line is in just one of the files."""
    for n in range(100):
        add(log, n)
    assert [f"L{n:06}" for n in range(100)] == everything(log)
    both = log.archive.read_bytes() + log.knowledge.read_bytes()
    assert lines(*range(100)) == both


@pytest.mark.usefixtures("small")
def test_what_was_archived_before_a_crash_is_not_archived_again(log: Log) -> None:
    """The second attempt adds what is missing."""
    log.knowledge.write_bytes(lines(*range(10)))
    log.archive.write_bytes(lines(*range(3)) + b'{"torn')
    add(log, 10)
    assert lines(*range(3)) + b'{"torn\n' + lines(3, 4) == log.archive.read_bytes()
    assert lines(*range(5, 11)) == log.knowledge.read_bytes()


@pytest.mark.usefixtures("small")
def test_a_rotation_takes_no_memory_for_the_archive(log: Log) -> None:
    """It is compared line by line, however long it has become."""
    log.knowledge.write_bytes(lines(*range(10)))
    log.archive.write_bytes(b"".join(b'{"content":"%0200d"}\n' % n for n in range(60_000)))
    length = log.archive.stat().st_size
    log.read_contents()
    tracemalloc.start()
    add(log, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length + len(lines(*range(5))) == log.archive.stat().st_size
    assert peak < length / 2


def test_a_long_log_is_rotated_a_part_at_a_time(log: Log) -> None:
    """Others' lines may be any number."""
    theirs = [b'{"content":"%0700d"}' % n for n in range(30_000)]
    log.knowledge.write_bytes(b"".join(line + b"\n" for line in theirs))
    length = log.knowledge.stat().st_size
    tracemalloc.start()
    add(log, 30_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert theirs[:27_500] == log.archive.read_bytes().splitlines()
    assert theirs[27_500:] == log.knowledge.read_bytes().splitlines()[:-1]
    assert peak < 3 * length


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_program_that_knows_no_lock_loses_nothing_to_a_rotation(
    log: Log, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it writes before the file is replaced or, having opened it before, right after."""
    log.knowledge.write_bytes(lines(*range(10)))

    def meanwhile(path: Path, data: bytes, **how: Any) -> None:
        with log.knowledge.open("ab", buffering=0) as theirs:
            if moment == "before":
                theirs.write(lines(77))
            swap_file(path, data, **how)
            if moment == "after":
                theirs.write(lines(77))

    monkeypatch.setattr(append, "swap_file", meanwhile)
    add(log, 10)
    assert [*(f"L{n:06}" for n in range(11)), "L000077"] == everything(log)
    assert () == log.read_contents().line_faults


@pytest.mark.usefixtures("small")
def test_a_rotation_that_fails_is_tried_again(log: Log) -> None:
    """What was said is safe without it."""
    log.archive.mkdir()
    log.knowledge.write_bytes(lines(*range(10)))
    log.append_entries([learning(10)])
    assert lines(*range(11)) == log.knowledge.read_bytes()
    log.archive.rmdir()
    add(log, 11)
    assert lines(*range(5)) == log.archive.read_bytes()
    assert lines(*range(5, 12)) == log.knowledge.read_bytes()


def test_a_learning_without_its_events_is_not_called_unwritten(log: Log) -> None:
    """Status 5: saying it again would double it."""
    log.ledger.unlink()
    log.ledger.mkdir()
    with pytest.raises(NotDurable, match="what follows from it isn't there"):
        log.append_entries([learning(1)], [LedgerEvent(id="e", ts=1, event="superseded", of="x")])
    assert lines(1) == log.knowledge.read_bytes()
    with pytest.raises(DiskError) as raised:
        log.append_entries(events=[LedgerEvent(id="e", ts=1, event="superseded", of="x")])
    assert not isinstance(raised.value, NotDurable)


# whose log it is


def test_a_log_counts_only_after_init_on_this_machine(tmp_path: Path) -> None:
    """A cloned one is somebody else's word, until it is adopted."""
    root = tmp_path / "site"
    (root / ".roamkb").mkdir(parents=True)
    with pytest.raises(NoLog, match="nothing is captured"):
        Log(root, tmp_path / "state").require_adopted()
    (root / ".roamkb" / "knowledge.jsonl").write_bytes(lines(1))
    with pytest.raises(NoLog, match="came with the project") as raised:
        Log(root, tmp_path / "state").require_adopted()
    assert "takes it over" in raised.value.hint


def test_a_folder_that_any_command_can_make_adopts_nothing(tmp_path: Path, log: Log) -> None:
    """Its name follows from the machine's key, which is there to be read; the record isn't, or was lost."""
    theirs = Log(tmp_path / "theirs", tmp_path / "state")
    theirs.folder.mkdir(parents=True)
    theirs.knowledge.write_bytes(lines(1))
    theirs.local_folder.mkdir(parents=True)
    assert not theirs.is_adopted
    with pytest.raises(NoLog, match="came with the project"):
        theirs.require_adopted()
    with pytest.raises(UsageError, match="came with the project"):
        init(theirs, home=tmp_path / "home", kbs=())
    assert log.is_adopted
    (tmp_path / "state" / "adopted" / log.local_folder.name).unlink()
    with pytest.raises(NoLog):
        log.require_adopted()


def test_a_repository_cannot_bring_its_own_adoption(tmp_path: Path, log: Log) -> None:
    """Committed with all local state, a clone is a clone: the folder's name is this place's on this machine."""
    log.append_entries([learning(1)])
    save_receipt(log.local_folder, hand(), ["x"], requested_by="recall")
    (log.folder / ".gitignore").unlink()
    git(log.root, "init", "-q")
    git(log.root, "add", "-A", "-f")
    git(log.root, "commit", "-q", "-m", "all of it")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(log.root), str(clone))
    assert (clone / ".roamkb" / "local" / log.local_folder.name / "receipts.jsonl").is_file()
    here, elsewhere = tmp_path / "state", tmp_path / "other machine"
    assert not Log(clone, here).is_adopted
    assert not Log(log.root, elsewhere).is_adopted
    with pytest.raises(UsageError, match="came with the project"):
        init(Log(clone, here), home=tmp_path, kbs=(), led_by="CLAUDECODE is set")
    assert init(Log(clone, here), home=tmp_path, kbs=(), ask=lambda _: "y").adopted is not None
    found = Log(clone, here).require_adopted()
    assert [] == read_receipts(found.local_folder)
    assert found.local_folder.name != log.local_folder.name


def test_what_is_pulled_into_local_state_is_not_read(tmp_path: Path, log: Log) -> None:
    """git overwrites what it ignores without a word."""
    clone = tmp_path / "theirs"
    git(log.root, "init", "-q")
    git(log.root, "add", "-A")
    git(log.root, "commit", "-q", "-m", "a log")
    git(tmp_path, "clone", "-q", str(log.root), str(clone))
    before = snapshot(log.local_folder)
    for path in ("receipts.jsonl", "observations/x.jsonl", "index/index.db", f"{'0' * 16}/receipts.jsonl"):
        forged = clone / ".roamkb" / "local" / path
        forged.parent.mkdir(parents=True, exist_ok=True)
        forged.write_text("forged\n")
    git(clone, "add", "-A", "-f")
    git(clone, "commit", "-q", "-m", "forged")
    git(log.root, "pull", "-q", str(clone), "HEAD")
    assert (log.ignored / "receipts.jsonl").exists()
    assert before == snapshot(log.local_folder)
    assert [] == read_receipts(Log(log.root, tmp_path / "state").require_adopted().local_folder)


def hand() -> Author:
    """Somebody who records."""
    now = datetime(2026, 6, 10)
    return Author(agent="me", session="s", machine="m", kind=ProjectKind.PERSONAL, now=now, new_id=lambda: new_id(now))


def git(folder: Path, *words: str) -> None:
    """Run git there, as nobody in particular."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def to_link(path: Path) -> None:
    """Replace it by a link to where it went."""
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def to_fifo(path: Path) -> None:
    """Replace it by a FIFO."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    os.mkfifo(path)


def to_other(path: Path) -> None:
    """Replace a folder by a file, or a file by a folder."""
    if path.is_dir():
        shutil.rmtree(path)
        path.write_bytes(b"")
    else:
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("change", [to_link, to_fifo, to_other], ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["", "local", "knowledge.jsonl", "ledger.jsonl", "own"])
def test_what_is_not_as_it_should_be_is_refused(log: Log, name: str, change: Callable[[Path], None]) -> None:
    """Nothing is followed, waited for or written."""
    change(log.local_folder if name == "own" else log.folder / name if name else log.folder)
    before = snapshot(log.root.parent)
    with pytest.raises(RoamkbError):
        found = Log(log.root, log.root.parent / "state").require_adopted()
        with found.append_lock():
            found.read_contents()
            found.append_entries([learning(1)], [LedgerEvent(id="e", ts=1, event="pinned")])
    assert before == {name: data for name, data in snapshot(log.root.parent).items() if "log.lock" not in name}


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every regular file below with its bytes."""
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and not p.is_symlink()}


@pytest.mark.parametrize("name", ["log.lock", "index"])
def test_a_link_in_local_state_is_not_followed(log: Log, name: str, tmp_path: Path) -> None:
    """A pull could put one there."""
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    if name == "index":
        shutil.rmtree(log.local_folder / name, ignore_errors=True)
    folder = log.local_folder if name == "index" else log.ignored
    (folder / name).symlink_to(target if name == "index" else target / "made")
    with pytest.raises(RoamkbError):
        found = Log(log.root, log.root.parent / "state").require_adopted()
        with found.append_lock():
            pass
    assert ([], 0o755) == (list(target.iterdir()), target.stat().st_mode & 0o777)


@pytest.mark.parametrize("name", ["imported", "injection-off", "passes", "../observations", "snapshots", "offers"])
def test_a_log_whose_local_state_holds_a_link_is_none_to_use(log: Log, name: str, tmp_path: Path) -> None:
    """Whatever writes there would write, or sweep, where a pull says."""
    (log.local_folder / name).symlink_to(tmp_path / "anywhere")
    with pytest.raises(DiskError):
        Log(log.root, log.root.parent / "state").require_adopted()


# several at once

WORKER = """
import sys
from datetime import datetime
from pathlib import Path
from roamkb.core.ids import new_id, next_id
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
root, me, count = sys.argv[1:]
log = Log(Path(root), Path(root).parent / "state").require_adopted()
now = datetime(2026, 6, 10)
for n in range(int(count)):
    with log.append_lock():
        id = next_id(log.read_contents().last_event, lambda: new_id(now))
        said = Learning(id=f"{me}-{n}", key="k", type="fact", content=f"{me} says {n} " + "x" * (n * 37 % 3000))
        log.append_entries([said], [LedgerEvent(id=id, ts=1.0, event="pinned", of=f"{me}-{n}")])
"""


def test_sixteen_processes_tear_and_lose_nothing(log: Log) -> None:
    """The events' ids rise from line to line, although all clocks say the same."""
    processes, count = 16, 6
    command = [sys.executable, "-c", WORKER, str(log.root)]
    running = [
        subprocess.Popen([*command, str(n), str(count)], env={**os.environ, "PYTHONPATH": str(ROOT)})
        for n in range(processes)
    ]
    assert [0] * processes == [one.wait() for one in running]
    contents = log.read_contents()
    assert () == contents.line_faults
    said = {f"{n}-{m}" for n in range(processes) for m in range(count)}
    assert said == {one.id for one in (*contents.learnings, *contents.archived_learnings)}
    ids = [json.loads(line)["id"] for line in log.ledger.read_bytes().splitlines()]
    assert len(said) == len(ids)
    assert ids == sorted(set(ids))
