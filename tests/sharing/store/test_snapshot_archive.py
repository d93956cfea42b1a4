"""Snapshots: what goes in comes out, byte for byte or not at all, and the latest seven are kept."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import datetime
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotFound
from roamkb.sharing.store.snapshot_archive import MAX_SNAPSHOTS
from roamkb.sharing.store.snapshot_archive import Snapshot
from roamkb.sharing.store.snapshot_archive import get_snapshot
from roamkb.sharing.store.snapshot_archive import has_snapshot_of_day
from roamkb.sharing.store.snapshot_archive import list_archives
from roamkb.sharing.store.snapshot_archive import read_members
from roamkb.sharing.store.snapshot_archive import save_snapshot
from roamkb.sharing.store.snapshot_archive import snapshot_id
from tests.examples import examples

NOON = datetime(2026, 6, 10, 12, 0, 0)
MEMBERS = {"knowledge.jsonl": b"one\ntwo\n", "sub/caf\u00e9 \u65e5\u672c.org": bytes(range(256)) * 40}


def kept(folder: Path, members: dict[str, bytes] = MEMBERS, *, day: int = 0, token: str = "0" * 8) -> Snapshot:
    """A new snapshot of a day."""
    now = NOON + timedelta(days=day)
    found = save_snapshot(folder, members, source="log", id=snapshot_id(now, token), now=now)
    assert found is not None
    return found


@settings(max_examples=examples(30), deadline=None)
@given(st.dictionaries(st.text(), st.binary(max_size=200), min_size=1, max_size=5), st.integers(0, 16**8 - 1))
def test_what_goes_in_comes_out(tmp_path: Path, members: dict[str, bytes], token: int) -> None:
    """Whatever the names and the bytes."""
    folder = tmp_path / f"{token:08x}"
    if not folder.exists():
        one = kept(folder, members, token=f"{token:08x}")
        assert members == read_members(one)
        assert (one,) == tuple(list_archives(folder))


def test_it_is_for_its_owner_alone_and_never_overwrites(tmp_path: Path) -> None:
    """Two of one moment and token: the second is told."""
    one = kept(tmp_path / "s")
    assert (0o700, 0o600) == tuple(path.stat().st_mode & 0o777 for path in (tmp_path / "s", one.path))
    before = one.path.read_bytes()
    with pytest.raises(NameTaken):
        kept(tmp_path / "s", {"other": b""})
    assert before == one.path.read_bytes()


def test_seven_are_kept(tmp_path: Path) -> None:
    """The latest; and what is somebody else's is left alone."""
    (tmp_path / "mine.zip").write_bytes(b"mine")
    for day in range(MAX_SNAPSHOTS + 3):
        kept(tmp_path, {"n": str(day).encode()}, day=day)
    found = list_archives(tmp_path)
    assert [b"9", b"8", b"7", b"6", b"5", b"4", b"3"] == [read_members(one)["n"] for one in found]
    assert (tmp_path / "mine.zip").exists()


def test_the_one_just_made_stays_whatever_the_clock_says(tmp_path: Path) -> None:
    """A clock that went back by a year makes the oldest name."""
    for day in range(MAX_SNAPSHOTS):
        kept(tmp_path, {"n": str(day).encode()}, day=day)
    back = kept(tmp_path, day=-365)
    assert MAX_SNAPSHOTS == len(list_archives(tmp_path))
    assert MEMBERS == read_members(back)


def test_the_same_again_is_not_kept_twice(tmp_path: Path) -> None:
    """A day without work pushes nothing out."""
    one = kept(tmp_path)
    assert save_snapshot(tmp_path, MEMBERS, source="log", id=snapshot_id(NOON, "1" * 8), now=NOON) is None
    assert [one] == list_archives(tmp_path)


def test_a_damaged_latest_does_not_stand_for_what_is_there(tmp_path: Path) -> None:
    """The next one is made."""
    one = kept(tmp_path)
    one.path.write_bytes(one.path.read_bytes()[:-30])
    assert kept(tmp_path, day=1).path.exists()


def test_of_the_day(tmp_path: Path) -> None:
    """By its name alone."""
    assert not has_snapshot_of_day(tmp_path / "none", NOON)
    kept(tmp_path)
    assert (True, False) == (
        has_snapshot_of_day(tmp_path, NOON),
        has_snapshot_of_day(tmp_path, NOON + timedelta(days=1)),
    )


def test_by_its_id(tmp_path: Path) -> None:
    """Or not at all."""
    one = kept(tmp_path)
    assert one == get_snapshot(tmp_path, one.id)
    for id in ("", "../x", one.id[:-1], "nope"):
        with pytest.raises(NotFound):
            get_snapshot(tmp_path, id)


def rezipped(data: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """The archive with other members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def manifest(**changes: object) -> Callable[[dict[str, bytes]], None]:
    """A change of the manifest."""

    def change(members: dict[str, bytes]) -> None:
        members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), **changes}).encode()

    return change


DAMAGES: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("cut", lambda data: data[: len(data) // 2]),
    ("empty", lambda _: b""),
    ("another thing", lambda _: b"PK\x03\x04 not a zip"),
    ("a member changed", lambda data: rezipped(data, lambda m: m.update({"files/0": b"one\nTWO\n"}))),
    ("a member more", lambda data: rezipped(data, lambda m: m.update({"files/9": b"x"}))),
    ("a member less", lambda data: rezipped(data, lambda m: m.pop("files/1"))),
    ("no manifest", lambda data: rezipped(data, lambda m: m.pop("manifest.json"))),
    (
        "a manifest of nonsense",
        lambda data: rezipped(data, lambda m: m.update({"manifest.json": b"[" * 99_999})),
    ),
    ("another schema", lambda data: rezipped(data, manifest(schema=2))),
    ("another program's", lambda data: rezipped(data, manifest(snapshot="other"))),
    ("no files", lambda data: rezipped(data, manifest(files=7))),
    ("files without digests", lambda data: rezipped(data, manifest(files={"a": 1, "b": []}))),
]


@pytest.mark.parametrize(("what", "damage"), DAMAGES, ids=[what for what, _ in DAMAGES])
def test_a_damaged_one_is_refused_and_listed(tmp_path: Path, what: str, damage: Callable[[bytes], bytes]) -> None:
    """Nothing is taken from it, and the others are there."""
    good, bad = kept(tmp_path), kept(tmp_path, {**MEMBERS, "new": b""}, day=1)
    bad.path.write_bytes(damage(bad.path.read_bytes()))
    with pytest.raises(DiskError, match="damaged"):
        read_members(bad)
    first, second = list_archives(tmp_path)
    assert (bad.id, "is damaged", good) == (first.id, first.fault, second), what


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_no_flipped_byte_gives_other_members(tmp_path: Path, data: st.DataObject) -> None:
    """It is refused, or it says the same."""
    folder = tmp_path / "s"
    one = (list_archives(folder) or [kept(folder)])[0]
    good = one.path.read_bytes()
    position = data.draw(st.integers(0, len(good) - 1))
    flip = data.draw(st.integers(1, 255))
    one.path.write_bytes(good[:position] + bytes([good[position] ^ flip]) + good[position + 1 :])
    try:
        assert MEMBERS == read_members(one)
    except DiskError:
        pass
    finally:
        one.path.write_bytes(good)


def test_a_small_file_of_a_large_nothing_fills_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What all members would unpack to is bounded, and each is read no further than the manifest says."""
    one = kept(tmp_path, {"zeros": b"\0" * 3_000_000, "more": b"\0" * 3_000_000})
    assert one.size < 20_000
    other = kept(tmp_path, {"small": b"x"}, day=1)
    liar = rezipped(other.path.read_bytes(), lambda m: m.update({"files/0": b"\0" * 200_000_000}))
    assert len(liar) < 300_000
    other.path.write_bytes(liar)
    tracemalloc.start()
    with pytest.raises(DiskError, match="damaged"):
        read_members(other)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    monkeypatch.setattr("roamkb.sharing.store.snapshot_archive._MAX_ARCHIVE_BYTES", 5_000_000)
    with pytest.raises(DiskError, match="would unpack to more than"):
        read_members(one)
    assert ["is damaged", "would unpack to more than 268,435,456 bytes"] == [
        listed.fault for listed in list_archives(tmp_path)
    ]
    with pytest.raises(DiskError, match="gets no snapshot"):
        kept(tmp_path, {"zeros": b"\0" * 6_000_000}, day=2)


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither a folder that is one nor an archive."""
    one = kept(tmp_path / "there")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    for ask in (
        lambda: list_archives(tmp_path / "link"),
        lambda: kept(tmp_path / "link", day=1),
        lambda: has_snapshot_of_day(tmp_path / "link", NOON),
    ):
        with pytest.raises(DiskError, match="link"):
            ask()
    other = tmp_path / "other"
    other.mkdir()
    (other / one.path.name).symlink_to(one.path)
    assert ["can't be read"] == [found.fault for found in list_archives(other)]
    with pytest.raises(DiskError, match="can't be read"):
        read_members(list_archives(other)[0])
