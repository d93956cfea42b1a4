"""A file isn't read whose stat says for certain what it holds; everything else is."""

from pathlib import Path

import pytest

from roamkb.fs.append import OpenedBytes
from roamkb.fs.append import open_bytes
from roamkb.log import jsonl
from roamkb.log.store import file_contents
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import append_known
from roamkb.log.store.file_contents import read_file_version
from roamkb.log.store.file_stamps import FileStamps

LINE = b'{"id":"1","content":"a"}'
DAY = 86_400_000_000_000


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know of no file before each test."""
    monkeypatch.setattr(file_contents._FileMemory, "pages", {})


def stat_of(path: Path) -> tuple[int, ...]:
    """Return a file's stat."""
    data = open_bytes(path)
    assert isinstance(data, OpenedBytes)
    return data.stat


def later(folder: Path) -> FileStamps:
    """Return the stamps as they are read on another day."""
    return FileStamps(folder, least=0, clock=lambda: folder.stat().st_ctime_ns + DAY)


def read(path: Path, stamps: FileStamps) -> FileVersion:
    """Read a file as a new process does."""
    file_contents._FileMemory.pages = {}
    return read_file_version(path, is_ledger=False, stamps=stamps)


def test_a_stat_is_trusted_once_the_file_is_old(tmp_path: Path) -> None:
    """Not within two seconds of its change, and for no other stat."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(LINE + b"\n")
    new, old = FileStamps(tmp_path, least=0), later(tmp_path)
    digest = read(path, new).digest
    assert new.find_blocks(path.name, stat_of(path)) is None
    assert read(path, old).digest == digest
    blocks = old.find_blocks(path.name, stat_of(path))
    assert blocks is not None
    assert FileVersion(path, open_bytes(path), is_ledger=False, blocks=blocks).digest == digest
    path.write_bytes(LINE.replace(b"a", b"b") + b"\n")
    assert old.find_blocks(path.name, stat_of(path)) is None
    assert ["b"] == [one.content for one in read(path, old).told.learnings]


@pytest.mark.parametrize("place", range(0, 200, 7))
def test_a_damaged_stamp_is_none(place: int, tmp_path: Path) -> None:
    """Whatever byte it is; the file is read, and stamped again."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(LINE + b"\n")
    digest = read(path, later(tmp_path)).digest
    stamps = tmp_path / "stamps.json"
    data = bytearray(stamps.read_bytes())
    data[place % len(data)] ^= 0x41
    stamps.write_bytes(data)
    assert read(path, later(tmp_path)).digest == digest
    assert later(tmp_path).find_blocks(path.name, stat_of(path)) is not None


def test_who_appends_says_what_the_file_is(tmp_path: Path) -> None:
    """If it was what this process knew; else the next to ask reads it."""
    path, stamps = tmp_path / "knowledge.jsonl", FileStamps(tmp_path, least=0)
    path.write_bytes(LINE + b"\n" + LINE[:5])
    read(path, later(tmp_path))
    append_known(path, [LINE], stamps)
    blocks = stamps.find_blocks(path.name, stat_of(path))
    # a clock that stands still for long lets nobody be certain
    assert blocks in (None, FileVersion(path, path.read_bytes(), is_ledger=False).blocks)
    path.write_bytes(b"")
    append_known(path, [LINE], stamps)
    assert stamps.find_blocks(path.name, stat_of(path)) is None


def test_a_file_of_several_blocks_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines go on from block to block, and a line without an end isn't taken into the memory."""
    monkeypatch.setattr(file_contents, "_BLOCK_BYTES", 7)
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 30)
    data = b"\n".join([LINE, b"", b"x" * 200, LINE, LINE[:9]])
    page = FileVersion(tmp_path, data, is_ledger=False)
    lines = [*page.raw_lines()]
    assert [LINE, b"", LINE, LINE[:9]] == [lines[n] for n in (0, 1, 3, 4)]
    assert 30 < len(lines[2]) < 50
    for size in range(len(data) + 1):
        part = FileVersion(tmp_path, data[:size], is_ledger=False)
        assert part.digest == page.digest_until(size)
        assert page.begins_with(size, part.digest) == (size in (0, len(data)) or data[size - 1 : size] == b"\n")
        assert page.line_end(size) == (data.find(b"\n", size) + 1 or len(data))


def test_a_file_that_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    """What was opened can't be read any more; who asks again reads what is there."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(LINE + b"\n")
    page = read(path, later(tmp_path))
    path.write_bytes(b"")
    with pytest.raises(Exception, match="is being written to"):
        _ = page.told
    assert () == read(path, later(tmp_path)).told.learnings
