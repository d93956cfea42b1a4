"""The index under fire: damaged in a thousand ways, killed at each step, taken away while it is read."""

import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.index import refresh as index_refresh
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.schema import transaction
from roamkb.kb.search.query import parse_query
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base

_QUERIES = ("zebra stripe", '"confuse flies"', "streifen der nicht tag:animal 縞馬")
#: Each with 125 seeds: a thousand damages.
_KINDS = ("flip", "cut", "zero", "stranger", "journal", "write-ahead", "neighbour", "seal")
_SEEDS = 125


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """Notes in some languages, enough for an index of some pages."""
    base = Base(tmp_path).animals()
    for number in range(4):
        base.note(f"{number}.org", f"Filler {number}", f"quiet words {number} that say nothing of zebras\n" * 20)
    base.note("de.org", "Streifen", "Die Streifen der Tiere sind nicht von hier, wie wir sagen.")
    base.note("ja.org", "縞", "縞馬がいる")
    return base


def found(index: Index) -> list[PassageHits]:
    """What the queries find."""
    return [index.find_passages(parse_query(text, today=TODAY)) for text in _QUERIES]


def right(base: Base) -> list[PassageHits]:
    """What an index that nothing happened to finds."""
    return found(Index(Notes(base.kb), None))


@pytest.mark.parametrize("kind", _KINDS)
def test_no_damage_is_ever_answered_from(base: Base, tmp_path: Path, kind: str) -> None:
    """After each of a hundred and twenty-five damages the answers are a fresh index's."""
    expected = right(base)
    assert expected == found(base.index())
    whole = tmp_path / "whole"
    shutil.copytree(base.cache, whole)
    other = neighbour(tmp_path)
    for seed in range(_SEEDS):
        shutil.rmtree(base.cache)
        shutil.copytree(whole, base.cache)
        if seed % 2:
            # the seal of a copy is another until it was seen once
            base.index().find_passages(parse_query("zebra", today=TODAY))
        damage(base.cache, kind, random.Random(f"{kind} {seed}"), other)
        assert expected == found(base.index()), (kind, seed)
        names = {path.name for path in base.cache.iterdir()}
        assert {"index.db", "index.seal", "index.lock"} == names - {"index.tree"}


def neighbour(folder: Path) -> Path:
    """Another base's whole index, whose notes have the same names."""
    other = Base(folder / "other").animals()
    for path in other.kb.glob("*.org"):
        path.write_text(path.read_text().replace("zebra", "quagga").replace("They", "Zebra"))
    other.titles("zebra")
    return other.cache


def damage(cache: Path, kind: str, dice: random.Random, other: Path) -> None:
    """Do to the index what disks, programs and people do."""
    path = cache / "index.db"
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data))
    match kind:
        case "flip":
            for _ in range(dice.choice((1, 1, 2, 64))):
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        case "cut":
            del data[at:]
        case "zero":
            page = at - at % 4096
            data[page : page + 4096 * dice.randint(1, 4)] = bytes(4096)
        case "stranger":
            data = bytearray(dice.choice((b"", b"not an index\n", b"SQLite format 3\0", dice.randbytes(9000))))
        case "journal":
            beside = cache / "index.db-journal"
            beside.write_bytes(journal(data, dice, folder=other.parent))
            return
        case "write-ahead":
            # the old frames of any database of this page size fit any other's
            (cache / "index.db-wal").write_bytes(write_ahead(dice, folder=other.parent))
            (cache / "index.db-shm").write_bytes(dice.choice((b"", dice.randbytes(32768))))
            return
        case "neighbour":
            names = dice.choice((("index.db",), ("index.db", "index.seal"), ("index.seal",)))
            for name in names:
                shutil.copyfile(other / name, cache / name)
            return
        case "seal":
            seal = cache / "index.seal"
            written = bytearray(seal.read_bytes())
            written[dice.randrange(len(written))] ^= 1 << dice.randrange(8)
            seal.write_bytes(dice.choice((written, written[: dice.randrange(len(written))], b"null", b"[]")))
            return
    if dice.random() < 0.3:
        # as programs that replace a file do
        path.unlink()
    path.write_bytes(data)


def journal(data: bytes | bytearray, dice: random.Random, *, folder: Path) -> bytes:
    """Return a rollback journal: of this very file in an older state, or noise."""
    if dice.random() < 0.3:
        return dice.randbytes(5000)
    path = folder / "half.db"
    path.write_bytes(data)
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("PRAGMA cache_spill = 1")
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("UPDATE content SET body = 'a zebra in a journal', title = title || ?", (dice.random(),))
        written = Path(f"{path}-journal").read_bytes()
        db.execute("ROLLBACK")
    db.close()
    # the pages that it would bring back say something else
    return written.replace(b"quiet words", b"zebra words")


def write_ahead(dice: random.Random, *, folder: Path) -> bytes:
    """Return a write-ahead log: of another database, or noise."""
    if dice.random() < 0.3:
        return dice.randbytes(5000)
    path = folder / "ahead.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE note(file)")
        db.execute("INSERT INTO note VALUES(?)", (dice.randbytes(dice.randrange(1, 9000)),))
        written = Path(f"{path}-wal").read_bytes()
    db.close()
    return written


@pytest.mark.parametrize("kind", ["build", "refresh", "rebuild"])
def test_a_kill_at_any_step_leaves_nothing_wrong(
    base: Base, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL before and after each commit and at each file that is opened, moved or removed; then asked again."""
    # nobody saves meanwhile
    monkeypatch.setattr(index_refresh, "_SAVE", 0.001)
    prepared = tmp_path / "prepared"
    base.cache.mkdir(parents=True)
    if kind != "build":
        base.titles("zebra")
        base.note("0.org", "Changed", "zebra zebra")
        base.note("new.org", "New", "a zebra more")
        (base.kb / "1.org").unlink()
    if kind == "rebuild":
        base.file.write_bytes(b"damaged")
    shutil.copytree(base.cache, prepared)
    expected = right(base)
    for steps in range(200):
        shutil.rmtree(base.cache)
        shutil.copytree(prepared, base.cache)
        died = in_a_child(lambda: found(base.index()), at=steps, what=kill)
        assert expected == found(base.index()), (kind, steps)
        assert 0 == base.index().count_differences()
        if list(base.cache.glob("*.tmp*")):
            # who took the dead one's index as it was had nothing to change
            base.index().discard_seal()
            base.titles("zebra")
        assert not list(base.cache.glob("*.tmp*"))
        if not died:
            assert steps > 10
            return
    raise AssertionError("it never came to an end")


@pytest.mark.parametrize("harm", ["gone", "replaced", "neighbour", "folder gone", "seal gone"])
def test_an_index_that_goes_while_it_is_asked_costs_no_answer(base: Base, harm: str, tmp_path: Path) -> None:
    """At each step of a query and of a refresh somebody takes the file away or puts another there."""
    other = neighbour(tmp_path)
    base.titles("zebra")
    whole = tmp_path / "whole"
    shutil.copytree(base.cache, whole)
    base.note("0.org", "Changed", "zebra stripe")
    expected = right(base)

    def strike() -> None:
        match harm:
            case "gone":
                base.file.unlink(missing_ok=True)
            case "replaced":
                (base.cache / "other").write_bytes(b"a stranger's file")
                (base.cache / "other").replace(base.file)
            case "neighbour":
                for name in ("index.db", "index.seal"):
                    shutil.copyfile(other / name, base.cache / "other")
                    (base.cache / "other").replace(base.cache / name)
            case "folder gone":
                shutil.rmtree(base.cache, ignore_errors=True)
            case "seal gone":
                (base.cache / "index.seal").unlink(missing_ok=True)

    def asked() -> bool:
        return expected == found(base.index())

    for steps in range(200):
        shutil.rmtree(base.cache, ignore_errors=True)
        shutil.copytree(whole, base.cache)
        reached = in_a_child(asked, at=steps, what=strike)
        assert expected == found(base.index()), (harm, steps)
        if not reached:
            assert steps > 10
            return
    raise AssertionError("it never came to an end")


def test_processes_that_build_at_once_answer_alike(base: Base) -> None:
    """Six of them on an empty cache, and again after a change; each answers right, one index is left."""

    def asked() -> bool:
        return right(base) == found(base.index())

    for _ in range(3):
        children = [fork(asked) for _ in range(6)]
        assert [0] * 6 == [os.waitpid(child, 0)[1] for child in children]
        assert 0 == base.index().count_differences()
        names = {path.name for path in base.cache.iterdir()}
        assert {"index.db", "index.seal", "index.lock"} == names - {"index.tree"}
        base.note("0.org", "Changed", "zebra " * random.Random(7).randrange(9))


def kill() -> None:
    """Die as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


def fork(call: Callable[[], object]) -> int:
    """Run `call` in a process of its own, whose status is 0 if the call was; return its number."""
    if child := os.fork():
        return child
    status = 9
    try:
        status = 0 if call() else 1
    finally:
        os._exit(status)


def in_a_child(call: Callable[[], object], *, at: int, what: Callable[[], None]) -> bool:
    """Run `call` in a process where `what` happens once, at step `at`; say whether it came to that."""
    reader, writer = os.pipe()

    def stepping() -> object:
        left = iter(range(at))
        done = False

        def step() -> None:
            nonlocal done
            if not done and next(left, None) is None:
                done = True
                os.write(writer, b"x")
                what()

        with steps(step):
            return call()

    child = fork(stepping)
    os.close(writer)
    reached = bool(os.read(reader, 1))
    os.close(reader)
    _, status = os.waitpid(child, 0)
    assert status == 0 or (reached and os.WIFSIGNALED(status)), status
    return reached


@contextmanager
def steps(step: Callable[[], None]) -> Iterator[None]:
    """Call `step` at each commit, and at each file that Python opens, moves or removes."""

    @contextmanager
    def stepped(db: sqlite3.Connection) -> Iterator[None]:
        with transaction(db):
            yield
            step()
        step()

    busy = False

    def watch(event: str, _: tuple[object, ...]) -> None:
        nonlocal busy
        if event in ("open", "os.rename", "os.remove", "sqlite3.connect") and not busy:
            busy = True
            try:
                step()
            finally:
                busy = False

    mock.patch.object(index_refresh, "transaction", stepped).start()
    index_refresh._BATCH = 2
    # a hook can't be taken away; the process ends with it
    sys.addaudithook(watch)
    yield
