"""Files that only grow: whole lines, no links, and nothing lost that others add."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import DiskError
from roamkb.fs.append import OpenedBytes
from roamkb.fs.append import append_lines
from roamkb.fs.append import open_bytes
from roamkb.fs.append import open_regular_file
from roamkb.fs.append import read_bytes
from roamkb.fs.append import read_lines

#: The kernel calls it a page long, and gives a few bytes.
_CUT_OFF = Path("/sys/kernel/uevent_seqnum")
LINE = st.binary(max_size=20).map(lambda line: line.replace(b"\n", b""))


@given(before=st.binary(max_size=30), added=st.lists(st.lists(LINE, min_size=1, max_size=3), max_size=4))
def test_lines_come_back_after_whatever_was_there(
    before: bytes, added: list[list[bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A torn tail gets its newline first, so that nothing is glued to it."""
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    if before:
        path.write_bytes(before)
    for lines in added:
        append_lines(path, lines)
    there = before.split(b"\n") if before else [b""]
    if added and not there[-1]:
        there.pop()
    expected = there + [line for lines in added for line in lines] + ([b""] if added else [])
    assert expected == list(read_lines(path))


def test_no_file_grows_past_what_can_be_read(tmp_path: Path) -> None:
    """A log that took too much in would be lost with all that it held before."""
    path = tmp_path / "a.jsonl"
    path.touch()
    os.truncate(path, 1024**3 - 1)
    with pytest.raises(DiskError):
        append_lines(path, [b"one more"])
    assert 1024**3 - 1 == path.stat().st_size


def test_a_missing_file_has_nothing_in_it(tmp_path: Path) -> None:
    """And is made by the first line, for its owner alone if need be."""
    path = tmp_path / "a.jsonl"
    assert b"" == read_bytes(path)
    append_lines(path, [b"x"], mode=0o600)
    assert (b"x\n", 0o600) == (read_bytes(path), path.stat().st_mode & 0o777)


def link(path: Path) -> None:
    """Let the name lead elsewhere."""
    (path.parent / "else").write_bytes(b"theirs\n")
    path.symlink_to(path.parent / "else")


def dangling(path: Path) -> None:
    """Let the name lead to a file that isn't there yet."""
    path.symlink_to(path.parent / "not-yet")


@pytest.mark.parametrize("make", [link, dangling, os.mkfifo, Path.mkdir], ids=lambda make: make.__name__)
def test_what_is_no_file_is_neither_read_nor_written(make: Callable[[Path], None], tmp_path: Path) -> None:
    """No link is followed, no FIFO waited for."""
    path = tmp_path / "a.jsonl"
    make(path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DiskError):
        read_bytes(path)
    with pytest.raises(DiskError):
        append_lines(path, [b"x"])
    assert before == sorted(tmp_path.iterdir())
    if make is link:
        assert b"theirs\n" == (tmp_path / "else").read_bytes()


def test_a_file_that_grows_all_the_time_can_be_read(tmp_path: Path) -> None:
    """What is added meanwhile is for the next look; the kernel may show the part of it that a page holds."""
    path = tmp_path / "a.jsonl"
    line = b"y" * 99 + b"\n"
    path.write_bytes(line)
    done = Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not done.is_set():
                file.write(line)

    thread = Thread(target=grow)
    thread.start()
    try:
        for _ in range(50):
            data = read_bytes(path)
            assert data == (line * (len(data) // 100 + 1))[: len(data)] != b""
    finally:
        done.set()
        thread.join()


def test_who_holds_a_file_open_sees_what_is_added_after_it_is_replaced(tmp_path: Path) -> None:
    """A program without our lock may still have it open."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    with open_regular_file(path) as file, path.open("ab", buffering=0) as theirs:
        assert b"one\n" == file.read()
        (tmp_path / "b").write_bytes(b"")
        (tmp_path / "b").replace(path)
        theirs.write(b"two\n")
        assert b"two\n" == file.read()


def test_an_opened_file_is_what_it_was_when_it_was_opened(tmp_path: Path) -> None:
    """What is added later isn't a part of it; another file in its place is none of it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    opened = open_bytes(path)
    assert isinstance(opened, OpenedBytes)
    assert opened.is_unchanged()
    append_lines(path, [b"three"])
    assert not opened.is_unchanged()
    assert (8, b"two\n", b"", b"one\ntwo\n") == (len(opened), opened[4:8], opened[6:2], opened[:99])
    path.write_bytes(b"one\n")
    with pytest.raises(DiskError, match="is being written to"):
        opened[4:8]
    (tmp_path / "b").write_bytes(b"one\ntwo\n")
    (tmp_path / "b").replace(path)
    with pytest.raises(DiskError, match="is being written to"):
        opened[:4]


def test_a_file_beyond_all_bounds_is_not_read(tmp_path: Path) -> None:
    """It would fill the memory."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
    with pytest.raises(DiskError, match="larger than"):
        read_bytes(path)


def test_a_log_is_everybodys_to_read(tmp_path: Path) -> None:
    """It is committed with the project; the umask alone narrows that."""
    before = os.umask(0)
    try:
        append_lines(tmp_path / "a.jsonl", [b"x"])
    finally:
        os.umask(before)
    assert 0o644 == (tmp_path / "a.jsonl").stat().st_mode & 0o777


@pytest.mark.skipif(not _CUT_OFF.exists(), reason="a file of Linux that ends before its size")
def test_a_file_that_always_ends_before_its_size_is_no_log() -> None:
    """A part of a log isn't taken for all of it."""
    with pytest.raises(DiskError, match="is being written to"):
        read_bytes(_CUT_OFF)
