"""What is kept of a log's state says what its lines say, whatever happens to either."""

import gc
import json
import os
import random
import shutil
import sqlite3
import sys
import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.log.state import state_rows as rows
from roamkb.log.state.learning_state import LISTED_TRAITS
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay
from roamkb.log.state.state_rows import read_standings
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.build_budget import StillBuilding
from roamkb.log.store.cache import cached_states
from roamkb.log.store.cache import state_cache as module
from roamkb.log.store.cache.log_extents import learnings_digest
from roamkb.log.store.cache.state_cache import StateCache
from roamkb.log.store.file_contents import FileVersion
from tests.examples import examples

Lines = tuple[list[bytes], list[bytes], list[bytes]]


def pages(lines: Lines, folder: Path = Path("/nowhere")) -> tuple[FileVersion, FileVersion, FileVersion]:
    """Return a log, its archive and its ledger, as if they had been read."""
    knowledge, archive, ledger = (b"".join(line + b"\n" for line in one) for one in lines)
    return (
        FileVersion(folder / "knowledge.jsonl", knowledge, is_ledger=False),
        FileVersion(folder / "knowledge.archive.jsonl", archive, is_ledger=False),
        FileVersion(folder / "ledger.jsonl", ledger, is_ledger=True),
    )


def replayed(read: tuple[FileVersion, FileVersion, FileVersion]) -> LogState:
    """Return what the pages amount to, from their lines."""
    knowledge, archive, ledger = read
    state = replay(knowledge.told.learnings, ledger.told.events, archived=archive.told.learnings)
    return replace(state, digest=learnings_digest(read))


def never() -> LogState:
    """Stand for the lines where they aren't needed."""
    raise AssertionError("the lines are read again")


def kept(folder: Path, *, longest_tail: int = 0) -> StateCache:
    """Return what keeps states of any size there, and takes in what was added at once or later."""
    return StateCache(folder / "standings", least=0, longest_tail=longest_tail)


def build(folder: Path, read: tuple[FileVersion, FileVersion, FileVersion], *, step_bytes: int = 1) -> int:
    """Build the state of the pages by one step a call; return how many calls that took."""
    for calls in count(1):
        cache = StateCache(folder / "standings", least=0, step_bytes=step_bytes, budget=BuildBudget(steps=1))
        try:
            cache.build_state(read)
        except StillBuilding:
            continue
        return calls
    raise AssertionError


def said(n: int, **more: object) -> bytes:
    """Return the line of a learning."""
    return json.dumps(
        {"id": f"L{n}", "type": "fact", "content": f"fact {n}", "ts": n, **more}, ensure_ascii=False
    ).encode("utf-8", "surrogatepass")


def happened(n: int, event: str, of: str, **more: object) -> bytes:
    """Return the line of an event."""
    return json.dumps({"id": f"E{n:09}", "ts": n, "event": event, "of": of, **more}).encode()


FEW: Lines = (
    [said(1), said(2, type="gotcha", files=["a.py"]), said(3, mood={"deep": [1, None, "x"]})],
    [said(0)],
    [happened(1, "repeated", "L1", agent="a", session="s"), happened(2, "promoted", "L2", node="N")],
)


def alike(one: LogState, other: LogState) -> bool:
    """Say whether two states answer all questions alike."""
    values = {name: {told(standing) for standing in other.standings.values()} for name, told in TRAITS.items()}
    return (
        list(one.standings) == list(other.standings)
        and one == other
        and (one.digest, one.reach) == (other.digest, other.reach)
        and all(one.learnings_with(name, *some) == other.learnings_with(name, *some) for name, some in values.items())
        and all(
            one.learnings_with(name, value) == other.learnings_with(name, value)
            for name in values
            for value in values[name]
        )
        and all(one.events_named(event.event) == other.events_named(event.event) for event in other.events)
        and all(
            one.events_named(event.event, "x", latest=2) == other.events_named(event.event, "x", latest=2)
            for event in other.events
        )
        and all(
            one.learnings_having(name, bool) == other.learnings_having(name, bool)
            and one.learnings_having(name, lambda parts: "L3" in parts or "a.py" in parts)
            == other.learnings_having(name, lambda parts: "L3" in parts or "a.py" in parts)
            for name in LISTED_TRAITS
        )
        and all(
            one.learnings_beginning(name, value[:end]) == other.learnings_beginning(name, value[:end])
            for name in LISTED_TRAITS
            for value in values[name]
            for end in (1, 2, None)
        )
        and all(
            one.count_learnings((name, some), lacking=("type", ("fact",)))
            == other.count_learnings((name, some), lacking=("type", ("fact",)))
            for name, some in values.items()
        )
        and len(one.standings) == len(other.standings)
        and len(one.events) == len(other.events)
        and one.standings.get("nobody's") is one.standings.get("\ud800") is None
    )


def test_what_was_kept_is_found_without_the_lines(tmp_path: Path) -> None:
    """All of it, and one by one."""
    read = pages(FEW)
    state = replayed(read)
    kept(tmp_path).save_state(read, state)
    found = kept(tmp_path).load_state(pages(FEW), never)
    assert found is not None
    assert alike(found, state)
    assert found.standings["L1"] is found.standings["L1"]
    assert ["L2"] == [one.id for one in found.learnings_with("node", "N", "other")]
    assert state.standings["L2"] == found.standings["L2"]


def test_few_are_read_where_few_are_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By id and by each trait: what is asked for, and no more."""
    learnings = (
        said(n, key=f"k{n}", task=f"t{n}", bead=f"b{n}", type=f"x{n}", files=[f"{n}.py", "x"]) for n in range(50)
    )
    read = pages(([*learnings], [], []))
    state = replayed(read)
    kept(tmp_path).save_state(read, state)
    counts: list[int] = []

    def counted(rows: list[bytes]) -> object:
        few = read_standings(rows)
        counts.append(len(few))
        return few

    monkeypatch.setattr(rows, "read_standings", counted)
    for trait in ("key", "type", "said", "task", "bead"):
        found = kept(tmp_path).load_state(read, never)
        assert found is not None
        assert ["L7"] == [one.id for one in found.learnings_with(trait, TRAITS[trait](state.standings["L7"]))]
    assert found is not None
    for trait in ("verdict", "status", "node", "files", "contradicts"):
        assert [] == found.learnings_with(trait, "nobody's")
    assert found.standings["L8"] == state.standings["L8"]
    assert [1] * 5 + [0] * 5 + [1] == counts
    counts.clear()
    found = kept(tmp_path).load_state(read, never)
    assert found is not None
    assert ["L9"] == [one.id for one in found.learnings_having("files", lambda parts: parts == ["9.py", "x"])]
    assert 50 == found.count_learnings(("status", ("active",)), lacking=("type", ("x",)))
    assert [1] == counts
    counts.clear()
    found = kept(tmp_path).load_state(read, never)
    assert found is not None
    assert [] == found.learnings_beginning("key", "k77")
    assert ["L7"] == [one.id for one in found.learnings_beginning("key", "k7")]
    assert [0, 1] == counts


def test_a_short_log_is_not_kept(tmp_path: Path) -> None:
    """It is read as fast."""
    read = pages(FEW)
    small = StateCache(tmp_path / "standings")
    small.save_state(read, replayed(read))
    assert small.load_state(read, never) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("longest_tail", [0, 300, 1000])
def test_lines_that_were_added_are_all_that_is_read(longest_tail: int, tmp_path: Path) -> None:
    """By who asks next; an index knows what came since it last looked, some steps back."""
    read = pages(FEW)
    first = replayed(read)
    kept(tmp_path).save_state(read, first)
    more: Lines = ([*FEW[0], said(9), said(8)], FEW[1], [*FEW[2], happened(3, "repeated", "L9")])
    most: Lines = (
        [*more[0], said(10)],
        FEW[1],
        [*more[2], happened(4, "pinned", "L2"), happened(5, "x", "\ud800")],
    )
    for lines in (more, most):
        found = kept(tmp_path, longest_tail=longest_tail).load_state(pages(lines), never)
        assert found is not None
        assert alike(found, replayed(pages(lines)))
    assert found is not None
    assert ("L9", "L8", "L10") == found.ids_since(first.index_digest)
    assert ("L10",) == found.ids_since(replayed(pages(more)).index_digest)
    assert () == found.ids_since(found.index_digest)
    assert found.ids_since("something else") is None


def test_a_build_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """A step a call; lines that come meanwhile are read afterwards, and a build that was spoiled begins anew."""
    read = pages(FEW)
    calls = build(tmp_path, read)
    assert calls > sum(map(len, FEW))
    found = kept(tmp_path).load_state(read, never)
    assert found is not None
    assert alike(found, replayed(read))
    shutil.rmtree(tmp_path / "standings")
    for damage in (None, spoil, Path.unlink):
        begun = StateCache(tmp_path / "standings", least=0, step_bytes=1, budget=BuildBudget(steps=calls - 2))
        with pytest.raises(StillBuilding):
            begun.build_state(read)
        with pytest.raises(StillBuilding):
            # one that is spent builds nothing
            begun.build_state(read)
        if damage:
            damage(tmp_path / "standings" / "part" / "index.db")
        more = pages(([*FEW[0], said(7)], FEW[1], FEW[2]))
        assert build(tmp_path, more) == (2 if damage is None else calls + (2 if damage else 0))
        found = kept(tmp_path).load_state(more, never)
        assert found is not None
        assert alike(found, replayed(more))
        shutil.rmtree(tmp_path / "standings")


def test_a_build_that_cannot_be_kept_is_never_done(tmp_path: Path) -> None:
    """A file where its folder should be: who can wait replays the lines."""
    (tmp_path / "standings").write_text("")
    cache = StateCache(tmp_path / "standings", least=0, least_built=0, budget=BuildBudget())
    assert cache.is_to_be_built(pages(FEW))
    with pytest.raises(StillBuilding):
        cache.build_state(pages(FEW))


@pytest.mark.parametrize(
    "lines",
    [
        ([*FEW[0], said(1, content="said otherwise")], FEW[1], FEW[2]),
        (FEW[0][2:], [*FEW[1], FEW[0][1], FEW[0][0]], FEW[2]),
        ([FEW[0][0], *FEW[0][2:]], [*FEW[1], FEW[0][1]], FEW[2]),
        ([*FEW[0][1:], FEW[0][0]], [*FEW[1], FEW[0][0]], FEW[2]),
        (FEW[0][1:], [*FEW[1], FEW[0][0]], []),
        (FEW[0][::-1], FEW[1], FEW[2]),
        (FEW[0], FEW[1], [*FEW[2], happened(9, "undone", "E000000001")]),
        (FEW[0], FEW[1], [*FEW[2], happened(0, "pinned", "L1")]),
        (FEW[0], FEW[1], []),
    ],
    ids=[
        "an id again",
        "archived in another order",
        "archived from the middle",
        "archived and said again",
        "archived, and events lost",
        "another order",
        "undone",
        "a merge",
        "emptied",
    ],
)
def test_what_takes_all_lines_is_made_from_them(lines: Lines, tmp_path: Path) -> None:
    """And kept anew."""
    read = pages(FEW)
    kept(tmp_path).save_state(read, replayed(read))
    other = pages(lines)
    assert kept(tmp_path).load_state(other, never) is None
    kept(tmp_path).save_state(other, replayed(other))
    found = kept(tmp_path).load_state(other, never)
    assert found is not None
    assert alike(found, replayed(other))


ROTATED: Lines = (
    [FEW[0][2], said(8)],
    [*FEW[1], *FEW[0][:2]],
    [*FEW[2], happened(5, "reused", "L1", outcome="success"), happened(6, "pinned", "L8")],
)


@pytest.mark.parametrize("longest_tail", [0, 10_000])
def test_a_rotation_reads_only_what_moved(longest_tail: int, tmp_path: Path) -> None:
    """Its learnings are archived from then on; an index that was filled before lacks only what was said since."""
    before, after = pages(FEW), pages(ROTATED)
    kept(tmp_path).save_state(before, replayed(before))
    for _ in range(2):
        found = kept(tmp_path, longest_tail=longest_tail).load_state(after, never)
        assert found is not None
        assert alike(found, replayed(after))
        assert ("L8",) == found.ids_since(replayed(before).index_digest)
        assert [True, True, False] == [found.standings[id].is_archived for id in ("L1", "L2", "L3")]
    # and again, with what the first one left
    later: Lines = ([said(9)], [*ROTATED[1], *ROTATED[0]], ROTATED[2])
    found = kept(tmp_path, longest_tail=longest_tail).load_state(pages(later), never)
    assert found is not None
    assert alike(found, replayed(pages(later)))
    assert ("L9",) == found.ids_since(replayed(after).index_digest)
    assert found.ids_since(replayed(before).index_digest) is None


def test_a_rotation_of_any_size_is_followed_a_part_at_a_time(tmp_path: Path) -> None:
    """A log that others wrote may be a gigabyte long until somebody adds to it."""
    long = [said(n, content=f"{n} {'x' * 1_000_000}") for n in range(40)]
    before, after = pages((long, [], FEW[2])), pages((long[38:], long[:38], FEW[2]))
    kept(tmp_path).save_state(before, replayed(before))
    tracemalloc.start()
    found = kept(tmp_path).load_state(after, never)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None
    assert alike(found, replayed(after))
    assert peak < len(b"".join(long)) / 2


def test_a_rotation_of_a_log_with_an_id_twice_is_replayed(tmp_path: Path) -> None:
    """Which of two lines of one id counts is for replay to say."""
    twice: Lines = ([*FEW[0], said(1, content="said otherwise", ts=0)], FEW[1], FEW[2])
    before, after = pages(twice), pages((twice[0][1:], [*twice[1], twice[0][0]], twice[2]))
    kept(tmp_path).save_state(before, replayed(before))
    assert kept(tmp_path).load_state(after, never) is None


def load_until_killed(folder: Path, calls: int) -> bool:
    """Follow a rotation in a process that ends without a word after so many calls; say whether it came to its end."""
    child = os.fork()
    if child == 0:
        left = count(calls, -1)

        def count_call(_frame: object, _event: str, _argument: object) -> None:
            if next(left) == 0:
                os._exit(9)

        sys.setprofile(count_call)
        kept(folder).load_state(pages(ROTATED), never)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_killed_while_it_follows_a_rotation_the_cache_says_nothing_wrong(tmp_path: Path) -> None:
    """Wherever that is: what is left is the state of the lines, or is thrown away."""
    outcomes = set()
    for number in count():
        folder = tmp_path / str(number)
        before, after = pages(FEW), pages(ROTATED)
        kept(folder).save_state(before, replayed(before))
        is_done = load_until_killed(folder, number * 149)
        found = kept(folder).load_state(after, never)
        outcomes.add(found is not None)
        assert found is None or alike(found, replayed(after))
        if is_done:
            break
    assert outcomes == {True, False}


def test_a_torn_line_is_no_line_to_go_on_from(tmp_path: Path) -> None:
    """What is written behind it may be glued to it."""
    torn = FileVersion(Path("k"), said(1)[:-1], is_ledger=False)
    read = (torn, *pages(([], [], []))[1:])
    kept(tmp_path).save_state(read, replayed(read))
    whole = (FileVersion(Path("k"), said(1) + b"\n", is_ledger=False), *read[1:])
    assert kept(tmp_path).load_state(whole, never) is None


def spoil(path: Path) -> None:
    """Change a byte in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("how", [spoil, Path.unlink, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("name", ["index.db", "index.seal"])
def test_what_is_not_as_it_was_left_is_not_believed(name: str, how: Callable[[Path], None], tmp_path: Path) -> None:
    """Nor the file without its seal; then it is made again."""
    read = pages(FEW)
    kept(tmp_path).save_state(read, replayed(read))
    how(tmp_path / "standings" / name)
    assert kept(tmp_path).load_state(read, never) is None
    kept(tmp_path).save_state(read, replayed(read))
    assert kept(tmp_path).load_state(read, never) is not None


@pytest.mark.parametrize("name", ["SCHEMA", "_MAKER_FILES"])
def test_other_code_makes_its_own(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its number, and by the files that it lies in."""
    read = pages(FEW)
    kept(tmp_path).save_state(read, replayed(read))
    *others, file = module._MAKER_FILES
    other = tmp_path / file.name
    other.write_text(file.read_text() + "# another\n")
    monkeypatch.setattr(module, name, 0 if name == "SCHEMA" else [*others, other])
    assert kept(tmp_path).load_state(read, never) is None
    more = pages(([*FEW[0], said(9)], FEW[1], FEW[2]))
    assert kept(tmp_path).load_state(more, never) is None


def advance(folder: Path) -> None:
    """Have somebody else take in a line."""
    found = kept(folder).load_state(pages(([*FEW[0], said(9)], FEW[1], [*FEW[2], happened(7, "pinned", "L1")])), never)
    assert found is not None


def rebuild(folder: Path) -> None:
    """Have somebody else make it of other lines."""
    read = pages(([said(5)], [], []))
    kept(folder).save_state(read, replayed(read))


def empty(folder: Path) -> None:
    """Have another program write into the file itself."""
    with sqlite3.connect(folder / "standings" / "index.db") as db:
        db.execute("UPDATE standing SET row = x'00'")
        db.execute("UPDATE event SET row = x'00'")
    db.close()


def remove(folder: Path) -> None:
    """Have somebody remove all of it."""
    shutil.rmtree(folder / "standings")


ASKED: dict[str, Callable[[LogState], object]] = {
    "one": lambda state: state.standings["L1"],
    "none": lambda state: state.standings.get("L9"),
    "all": lambda state: dict(state.standings),
    "events": lambda state: [*state.events],
    "trait": lambda state: state.learnings_with("type", "gotcha", "fact"),
    "name": lambda state: state.events_named("repeated"),
    "unshelved": lambda state: state.load_all(),
}


@pytest.mark.parametrize("meanwhile", [advance, rebuild, empty, remove], ids=lambda one: one.__name__)
@pytest.mark.parametrize("asked", ASKED)
def test_a_state_stays_what_it_was_found_to_be(asked: str, meanwhile: Callable[[Path], None], tmp_path: Path) -> None:
    """Whatever becomes of the file before it is asked."""
    read = pages(FEW)
    state = replayed(read)
    kept(tmp_path).save_state(read, state)
    found = kept(tmp_path).load_state(read, lambda: replayed(pages(FEW)))
    assert found is not None
    meanwhile(tmp_path)
    assert ASKED[asked](state) == ASKED[asked](found)
    assert alike(found, state)


def test_what_is_added_to_a_kept_state_gives_what_all_lines_give(tmp_path: Path) -> None:
    """New learnings, early ones too, and events of old and new; what was found stays as it was."""
    read = pages(FEW)
    state = replayed(read)
    kept(tmp_path).save_state(read, state)
    new: Lines = (
        [said(5, type="gotcha"), said(-1, content="without a time")],
        [],
        [happened(7, "repeated", "L1", agent="b"), happened(8, "pinned", "L5"), happened(9, "x", "nobody")],
    )
    learnings, events = pages(new)[0].told.learnings, pages(new)[2].told.events
    for some, then in ((learnings, events), (learnings[:1], ()), ((), events), ((), ())):
        found = kept(tmp_path).load_state(read, never)
        assert found is not None
        one, other = advance_state(found, some, then), advance_state(state, some, then)
        assert one is not None
        assert other is not None
        assert len(one.standings) == len(other.standings)
        assert one.standings.get("L5") == other.standings.get("L5")
        assert alike(replace(one, digest="d"), replace(other, digest="d"))
        assert [one.events[0], one.events[-1]] == [other.events[0], other.events[-1]]
        assert one.ids_since(state.digest) is None
        assert alike(found, state)
        assert alike(found.load_all(), state)
        assert found.load_all().shelf is None
        # and once more on top of that
        last = happened(10, "repeated", "L1", agent="c")
        twice = advance_state(one, (), pages(([], [], [last]))[2].told.events)
        assert twice == advance_state(other, (), pages(([], [], [last]))[2].told.events)
    assert found is not None
    assert advance_state(found, (), pages(([], [], [happened(1, "pinned", "L1")]))[2].told.events) is None


def test_threads_ask_the_same_state(tmp_path: Path) -> None:
    """A server has one for all of them, and none reads the lines again."""
    lines: Lines = ([said(n) for n in range(200)], [], [])
    read = pages(lines)
    kept(tmp_path).save_state(read, replayed(read))
    found = kept(tmp_path).load_state(read, never)
    assert found is not None
    wrong: list[object] = []

    def ask() -> None:
        for n in random.sample(range(200), 200):
            try:
                if found.standings[f"L{n}"].learning.content != f"fact {n}":
                    wrong.append(n)
            except BaseException as error:  # noqa: BLE001 - a thread's own would be lost
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong


ANY = st.text(st.characters(), max_size=8)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ANY, inner, max_size=2),
    max_leaves=4,
)
LEARNING = st.fixed_dictionaries(
    {"content": ANY.filter(str.strip)},
    optional={
        "id": st.sampled_from(["L0", "L1", "L2", "L3", "é", "\ud800"]),
        "ts": st.integers(0, 5) | st.floats(0, 5) | ANY,
        "type": st.sampled_from(["fact", "lesson", "gotcha"]) | ANY,
        "key": ANY,
        "tags": st.lists(ANY, max_size=2),
        "task": ANY,
        "agent": st.sampled_from(["a", "b"]),
        "kind": st.sampled_from(["work", "personal", "x"]),
        "confidence": st.floats(0, 1),
        "supersedes": st.lists(ANY, max_size=2),
        "extra": VALUE,
    },
)
NAMES = [
    "repeated",
    "reused",
    "pinned",
    "superseded",
    "validated",
    "preferred",
    "flagged",
    "curated",
    "promoted",
]
EVENT = st.fixed_dictionaries(
    {
        "id": st.sampled_from([f"E{n}" for n in range(12)]),
        "event": st.sampled_from([*NAMES, "undone", "task", "overridden", "judged", "attempted"]),
        "of": st.sampled_from(["L0", "L1", "L2", "L3", "E1", "E5", "\ud800"]),
    },
    optional={
        "ts": st.integers(0, 9),
        "agent": st.sampled_from(["a", "b"]),
        "session": st.sampled_from(["s", "t"]),
        "task": st.sampled_from(["t1", "t2"]),
        "outcome": st.sampled_from(["success", "failure", "done"]),
        "preference": st.just("prefers"),
        "reason": ANY,
        "value": st.integers(0, 100),
        "verdict": st.sampled_from(["verified", "invalidated"]),
        "status": st.sampled_from(["canonical", "active"]),
        "node": ANY,
        "learnings": st.lists(st.sampled_from(["L0", "L3", "nobody"]), max_size=2),
        "merged_from": st.lists(ANY, max_size=2),
        "extra": VALUE,
    },
)


def line(told: object) -> bytes:
    """Return the line of an object, half characters as they are."""
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")


RAW = st.sampled_from([b'{"torn', b"<<<<<<< HEAD", b"", b"[1]", b'{"content":"\xed\xa0\xbd\xed\xb8\x80"}'])
STEP = st.tuples(
    st.lists(LEARNING.map(line) | RAW, max_size=3),
    st.lists(EVENT.map(line) | RAW, max_size=3),
    st.sampled_from(["grow", "grow", "grow", "rotate", "archive", "sort", "shrink", "lose"]),
)


@given(
    steps=st.lists(STEP, min_size=1, max_size=5),
    is_in_order=st.booleans(),
    longest_tail=st.sampled_from([0, 200, 2000]),
    is_built=st.booleans(),
)
@settings(max_examples=examples(200))
def test_any_log_and_any_change_answers_the_same(
    steps: list[tuple[list[bytes], list[bytes], str]],
    is_in_order: bool,
    longest_tail: int,
    is_built: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """With what is kept and without; lines come at the end, move to the archive, are sorted or lost."""
    folder = tmp_path_factory.mktemp("log")
    knowledge: list[bytes] = []
    archive: list[bytes] = []
    ledger: list[bytes] = []
    states: dict[str, set[str]] = {}
    for n, (learnings, events, how) in enumerate(steps):
        if how == "rotate":
            archive, knowledge = [*archive, *knowledge[:2]], knowledge[2:]
        elif how == "archive":
            archive, learnings = [*archive, *learnings], []
        elif how == "sort":
            knowledge.sort()
            ledger.sort()
        elif how == "shrink":
            ledger = ledger[:-1]
        elif how == "lose":
            shutil.rmtree(folder / "standings", ignore_errors=True)
        knowledge += learnings
        # as they come, or as `append` gives them: each later than all that there were
        ledger += [one.replace(b'"E', b'"F%d' % n, 1) for one in events] if is_in_order else events
        read = pages((knowledge, archive, ledger))
        state = replayed(pages((knowledge, archive, ledger)))
        found = kept(folder, longest_tail=longest_tail).load_state(read, never)
        if found is None:
            if is_built:
                build(folder, read)
            else:
                kept(folder).save_state(read, state)
            found = kept(folder, longest_tail=longest_tail).load_state(read, never)
        assert found is not None
        assert alike(found, state)
        for digest, ids in states.items():
            if (since := found.ids_since(digest)) is not None:
                assert set(since) == state.standings.keys() - ids
        states[state.digest] = set(state.standings)


@pytest.mark.parametrize("link", ["standings", "standings/part"])
def test_a_build_touches_nothing_behind_a_link(link: str, tmp_path: Path) -> None:
    """The folder lies in a project: who writes there could have a hook remove what lies elsewhere."""
    notes = tmp_path / "notes"
    notes.mkdir(mode=0o750)
    (notes / "a.org").write_text("mine")
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(notes)
    lines: Lines = ([b'{"id":"a","type":"learned","content":"x","ts":1,"v":1}'], [], [])
    with pytest.raises(StillBuilding):
        kept(tmp_path).build_state(pages(lines))
    assert (["a.org"], 0o750) == ([path.name for path in notes.iterdir()], notes.stat().st_mode & 0o777)


def test_a_build_removes_nothing_that_is_not_its_own(tmp_path: Path) -> None:
    """Whoever put it there."""
    (tmp_path / "standings" / "part").mkdir(parents=True)
    (tmp_path / "standings" / "part" / "a.org").write_text("mine")
    lines: Lines = ([b'{"id":"a","type":"learned","content":"x","ts":1,"v":1}'], [], [])
    kept(tmp_path).build_state(pages(lines))
    assert "mine" == (tmp_path / "standings" / "part" / "a.org").read_text()
    assert not (tmp_path / "standings" / "part" / "index.db").exists()


def test_a_log_that_is_read_learning_by_learning_is_never_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is for its search index, whose build took five bytes of memory for each byte of the log."""
    monkeypatch.setattr(cached_states, "_MOST_MET", 8)
    lines = [json.dumps({"id": f"L{n}", "key": f"k{n}", "content": f"lamp {n}", "ts": n}).encode() for n in range(200)]
    read = pages((lines, [], []))
    kept(tmp_path).save_state(read, replayed(read))
    state = kept(tmp_path).load_state(read, never)
    assert state is not None
    before = sum(isinstance(one, LearningState) for one in gc.get_objects())
    for n in [*range(200), 3, 150, 3]:
        assert f"lamp {n}" == state.learnings[f"L{n}"].content
    assert sum(isinstance(one, LearningState) for one in gc.get_objects()) <= before + 8
    assert 200 == len(state.standings.values())
