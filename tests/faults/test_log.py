"""Killed or failed at any system call, a log loses no line, and what is said about it is so."""

import contextlib
import json
import signal
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from roamkb.core.errors import NotFound
from roamkb.fs import files as disk
from roamkb.log.init import init
from roamkb.log.jsonl import learning_line
from roamkb.log.observation import Observation
from roamkb.log.state.learning_state import ATTEMPTED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.cache.state_cache import StateCache
from roamkb.log.store.observations import record_observation
from roamkb.log.store.project_log import ROTATE_AT
from roamkb.log.store.project_log import Log
from roamkb.remedies.effectiveness import parse_attempts
from roamkb.sharing.snapshot import take_snapshot
from tests.faults import program
from tests.faults.promises import wrong_manners
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

pytestmark = pytest.mark.usefixtures("strace")

#: What is forgotten.
GONE = program.fact(1).content
TORN = b'{"id":"T","content":"never fini'
FULL = [learning_line(program.fact(n)) for n in range(ROTATE_AT)]
LAST = learning_line(program.fact(ROTATE_AT))


def known(folder: Path) -> None:
    """Lay out a log that says one thing and has a torn tail, as a ledger has."""
    empty(folder)
    log = program.log_of(folder)
    log.knowledge.write_bytes(FULL[0] + b"\n" + TORN)
    log.ledger.write_bytes(TORN)


def full(folder: Path) -> None:
    """Lay out a log that the next line makes too long."""
    empty(folder)
    program.log_of(folder).knowledge.write_bytes(b"\n".join(FULL) + b"\n")


def empty(folder: Path) -> None:
    """Lay out a log."""
    (folder / "kb").mkdir()
    root = folder / "state" / "site"
    root.mkdir(parents=True)
    init(Log(root, folder / "state"), home=folder, kbs=())
    # so that a run doesn't make it
    with program.log_of(folder).append_lock():
        pass


def sourced(folder: Path) -> None:
    """Lay out a log, and another tool's with lines that are new, known, repeated and broken."""
    known(folder)
    lines = [learning_line(program.fact(n)) for n in (0, 1, 2, 1)]
    program.source_of(folder).write_bytes(b"\n".join([*lines, TORN, learning_line(program.fact(3))]) + b"\n")


def snapped(folder: Path) -> None:
    """Lay out a log that says two things, a session that repeats one, and a snapshot."""
    two_known(folder)
    log = program.log_of(folder)
    record_observation(log.ignored, Observation(id="1", ts=1.0, type="message", text=GONE, session="s"))
    take_snapshot(log, (), now=datetime(2026, 6, 10), token=lambda: "0" * 8)


def forgotten(run: Run) -> str:
    """Check a line that was forgotten: once its tombstone is there nobody is shown it, and done again it is gone."""
    log = program.log_of(run.folder)
    if not log.knowledge.read_bytes().startswith(FULL[0] + b"\n" + TORN):
        return "what was there isn't"
    contents = log.read_contents()
    if "L1" in contents.tombstones.ids and "L1" in contents.replay_state().standings:
        return "a tombstone that hides nothing"
    if run.acknowledged and (held := holders(run)):
        return f"acknowledged, and {held} hold it"
    if wrong := wrong_manners(run):
        return wrong
    with contextlib.suppress(NotFound):
        # the line is gone, and so is its key
        program.forget(run.folder)
    if held := holders(run):
        return f"done again, {held} hold it"
    return "" if [*log.read_contents().replay_state().standings] == ["L0"] else "another learning is gone"


def holders(run: Run) -> list[str]:
    """Return the files that hold the forgotten text, archives unpacked."""
    log = program.log_of(run.folder)
    held = []
    for path in log.folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                data = b"".join(archive.read(name) for name in archive.namelist())
        held += [path.name] if GONE.encode() in data else []
    return held


def two_known(folder: Path) -> None:
    """Lay out a log that says two things and has a torn tail."""
    known(folder)
    log = program.log_of(folder)
    with log.append_lock():
        log.append_entries([program.fact(1)])


def observed(folder: Path) -> None:
    """Lay out a log and a session that said something."""
    known(folder)
    program.observe(folder)


def unjudged(folder: Path) -> None:
    """Lay out a log of learnings that nobody has judged, two of which contradict each other."""
    observed(folder)
    program.consolidate(folder)


def learned(run: Run) -> str:
    """Check a new learning: all that was there is, and the new one is there if and only if that is said."""
    log = program.log_of(run.folder)
    if not log.knowledge.read_bytes().startswith(FULL[0] + b"\n" + TORN):
        return "what was there isn't"
    state = log.read_contents().replay_state()
    said = [one for one in state.standings.values() if one.learning.content == program.NEW]
    wrong = told_otherwise(run, is_there=bool(said)) or wrong_manners(run)
    if wrong:
        return wrong
    # what went wrong once doesn't stand in the way, and doubles nothing
    program.learn(run.folder)
    contents = log.read_contents()
    again = [one for one in contents.learnings if one.content == program.NEW]
    if len(again) != 1 or program.KNOWN not in {one.content for one in contents.learnings}:
        return f"after the next, it is there {len(again)} times"
    return "" if len(contents.line_faults) <= 3 else "more than one torn line is left"


def replaced(run: Run) -> str:
    """Check one that replaces another: as `learned`, and the other is marked if it was acknowledged."""
    state = program.log_of(run.folder).read_contents().replay_state()
    if run.acknowledged and state.standings["L0"].status != "superseded":
        return "acknowledged, and the other one isn't marked"
    return learned(run)


def repeated(run: Run) -> str:
    """Check a repetition: it is counted if and only if that is said."""
    log = program.log_of(run.folder)
    if log.knowledge.read_bytes() != FULL[0] + b"\n" + TORN:
        return "the log has changed"
    if not log.ledger.read_bytes().startswith(TORN):
        return "what was there isn't"
    count = log.read_contents().replay_state().standings["L0"].occurrences
    wrong = told_otherwise(run, is_there=count == 2) or wrong_manners(run)
    if wrong:
        return wrong
    program.learn_again(run.folder)
    return (
        "" if log.read_contents().replay_state().standings["L0"].occurrences == count + 1 else "the next isn't counted"
    )


def mended(folder: Path) -> None:
    """Lay out a log that tells what fixed an error, as the session's deeds tell."""
    known(folder)
    program.episode(folder)


def techniques(run: Run) -> list[str]:
    """Return what is known against the error."""
    state = program.log_of(run.folder).read_contents().replay_state()
    return [one.technique for one in parse_attempts(state.events_named(ATTEMPTED))]


def episode(run: Run) -> str:
    """Check an episode's record: it is there if and only if that is said, and once however often one looks."""
    if not program.log_of(run.folder).ledger.read_bytes().startswith(TORN):
        return "what was there isn't"
    found = techniques(run)
    if wrong := told_otherwise(run, is_there=len(found) == 1) or wrong_manners(run):
        return wrong
    for _ in range(2):
        program.episode(run.folder)
        if len(techniques(run)) != 1:
            return f"looked at again, it is there {len(techniques(run))} times"
    return ""


def said(run: Run) -> str:
    """Check an agent's words for it: there are the deeds or the words, never both and never neither."""
    found = techniques(run)
    if len(found) != 1:
        return f"there are {len(found)} techniques"
    if wrong := told_otherwise(run, is_there=found == [program.SAID]) or wrong_manners(run):
        return wrong
    program.mend(run.folder)
    program.episode(run.folder)
    return "" if techniques(run) == [program.SAID] else "said again, it isn't what is known"


def told_otherwise(run: Run, *, is_there: bool) -> str:
    """Name a difference between what is there and what was said of it."""
    if run.status in (0, 5) and not is_there:
        return "said to be written, not there"
    if run.status in (2, 4, 75) and is_there:
        return "said not to be written, there"
    return ""


def rotated(run: Run) -> str:
    """Check a rotation: no line is in neither file, and no line is torn."""
    there = lines(run)
    if missing := set(FULL) - set(there):
        return f"{len(missing)} lines are in neither file"
    if set(there) - {*FULL, LAST} and run.status != -signal.SIGKILL:
        return "a line is torn"
    wrong = told_otherwise(run, is_there=LAST in there) or manners_of_rotation(run)
    if wrong:
        return wrong
    program.rotate(run.folder)
    log = program.log_of(run.folder)
    if {*FULL, LAST} - set(lines(run)):
        return "after the next, a line is missing"
    archived = log.archive.read_bytes().splitlines()
    if len(set(archived)) < len(archived):
        return "a line is archived twice"
    return "" if log.knowledge.read_bytes().count(b"\n") <= ROTATE_AT else "the next didn't rotate"


def view(folder: Path) -> dict[tuple[str, str], tuple[object, ...]]:
    """Return what a log amounts to, whatever the ids of its events."""
    state = program.log_of(folder).read_contents().replay_state()
    return {
        (one.id if one.learning.canonical_type != "summary" else "", one.learning.content): (
            one.occurrences,
            one.confidence,
            one.status,
            one.verdict,
            one.scope,
            sorted(one.flags),
        )
        for one in state.standings.values()
    }


def as_undisturbed(run: Run, task: Callable[[Path], str], set_up: Callable[[Path], None]) -> str:
    """Check a task of many steps: done again, it gives what it gives where nothing goes wrong."""
    log = program.log_of(run.folder)
    if not log.knowledge.read_bytes().startswith(FULL[0] + b"\n" + TORN):
        return "what was there isn't"
    with tempfile.TemporaryDirectory() as top:
        set_up(Path(top))
        task(Path(top))
        expected = view(Path(top))
    if run.acknowledged and view(run.folder) != expected:
        return "acknowledged, and not what it should be"
    if wrong := wrong_manners(run):
        return wrong
    for again in ("again", "once more"):
        task(run.folder)
        if view(run.folder) != expected:
            return f"done {again}, it isn't what it should be"
    return ""


def proposed(run: Run, task: Callable[[Path], str]) -> str:
    """Check proposals: acknowledged, all are there and judged; proposed again, each is there once."""
    log = program.log_of(run.folder)
    if not log.knowledge.read_bytes().startswith(FULL[0] + b"\n" + TORN):
        return "what was there isn't"
    if run.acknowledged and (wrong := _unlike_proposed(run.folder, task)):
        return f"acknowledged, and {wrong}"
    if wrong := wrong_manners(run):
        return wrong
    for again in ("again", "once more"):
        task(run.folder)
        if wrong := _unlike_proposed(run.folder, task):
            return f"done {again}, {wrong}"
    return "" if len(log.read_contents().line_faults) <= 3 else "more than one torn line is left"


def _unlike_proposed(folder: Path, task: Callable[[Path], str]) -> str:
    """Name what isn't as the proposals would have it."""
    state = program.log_of(folder).read_contents().replay_state()
    claims = [one["claim"] for one in json.loads(program.PROPOSED)["proposals"] if "claim" in one]
    for claim in claims:
        found = [(one.occurrences, one.verdict) for one in state.standings.values() if one.learning.content == claim]
        if found != [(1, "verified")]:
            return f"{claim} is there as {found}"
    # an extractor replaces nothing
    is_replaced = state.standings["L0"].status == "superseded"
    if is_replaced != (task is program.propose) or "contested" not in state.standings["L1"].flags:
        return "what was known isn't marked"
    return ""


def lines(run: Run) -> list[bytes]:
    """Return what stands in the log and its archive."""
    log = program.log_of(run.folder)
    archived = log.archive.read_bytes() if log.archive.exists() else b""
    return log.knowledge.read_bytes().splitlines() + archived.splitlines()


def manners_of_rotation(run: Run) -> str:
    """As any run's; but what is safe without the rotation is acknowledged whatever becomes of it."""
    hit = run.fault is not None and (run.fault.error == "KILL" or run.fault.call.startswith("unlink"))
    left = [path.name for path in program.log_of(run.folder).folder.glob(f"{disk.TEMPORARY_PREFIX}*")]
    if left and not hit:
        return f"left {left} behind"
    if run.fault is not None and run.fault.call == "fsync" and run.fault.nth > 1:
        run = replace(run, fault=None)
    return wrong_manners(run)


def kept(folder: Path) -> None:
    """Lay out a log whose state is kept, and that says more since: a new learning, and one again."""
    empty(folder)
    log = program.log_of(folder)
    log.knowledge.write_bytes(FULL[0] + b"\n")
    program.amount(folder)
    with log.append_lock():
        log.append_entries([program.fact(1)], [LedgerEvent(id="E1", ts=1.0, event="repeated", of="L0")])


def amounted(run: Run) -> str:
    """Check what is kept: whoever asks is told what the lines say, then and afterwards."""
    contents = program.log_of(run.folder).read_contents()
    state = program.replayed(contents)
    if run.status not in (0, 2, -signal.SIGKILL):
        return "not a status that we promise"
    if run.acknowledged and run.said.split()[1] != program.said_by(state):
        return "answered otherwise"
    store = StateCache(program.log_of(run.folder).cache_folder / "standings", least=0)
    for _ in range(2):
        found = store.load_state(contents.pages, lambda: state)
        if found is not None and found != state:
            return "says otherwise afterwards"
        if found is None:
            store.save_state(contents.pages, state)
    return "" if store.load_state(contents.pages, lambda: state) == state else "isn't kept afterwards"


SWEEPS = [
    Sweep(task="amount", set_up=known, check=amounted, is_lasting=False),
    Sweep(task="amount", set_up=kept, check=amounted, is_lasting=False),
    Sweep(task="learn", set_up=known, check=learned),
    Sweep(task="learn_again", set_up=known, check=repeated, only_writing=True),
    Sweep(task="learn_instead", set_up=known, check=replaced, only_writing=True),
    Sweep(task="episode", set_up=known, check=episode, only_writing=True),
    Sweep(task="mend", set_up=mended, check=said, only_writing=True),
    Sweep(task="rotate", set_up=full, check=rotated, only_writing=True),
    Sweep(task="forget", set_up=snapped, check=forgotten, only_writing=True),
    *(
        Sweep(
            task=task.__name__,
            set_up=set_up,
            check=partial(as_undisturbed, task=task, set_up=set_up),
            only_writing=True,
        )
        for task, set_up in (
            (program.ingest, sourced),
            (program.verify, unjudged),
        )
    ),
    *(
        Sweep(task=task.__name__, set_up=two_known, check=partial(proposed, task=task), only_writing=True)
        for task in (program.propose, program.extract)
    ),
]


@pytest.mark.parametrize(
    "sweep",
    [
        Sweep(task="bad_append", set_up=known, check=learned),
        Sweep(task="bad_rotate", set_up=full, check=rotated),
    ],
    ids=lambda sweep: sweep.task,
)
def test_the_sweep_catches_a_known_bad_logger(sweep: Sweep, tmp_path: Path) -> None:
    """A sweep that finds nothing in a writer known to be wrong proves nothing elsewhere."""
    assert sweep.run(tmp_path, most=3).broken


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: f"{sweep.task}-{sweep.set_up.__name__}")
def test_no_fault_breaks_the_logs_promise(
    sweep: Sweep, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Each call, killed, failed once and failed from then on: 0 broken, 0 duds."""
    result = sweep.run(tmp_path)
    record_property("sweep", str(result).splitlines()[0])
    print(f"{sweep.task}: {result}")
    assert result.points >= (4 if sweep.only_writing else 7)
    assert not result.broken + result.duds, str(result)
