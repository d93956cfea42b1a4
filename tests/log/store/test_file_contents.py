"""A log's file is read once, and what it says when somebody asks."""

import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from roamkb.fs.append import read_bytes
from roamkb.log import jsonl
from roamkb.log.jsonl import read_learnings
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import ParsedLines
from roamkb.log.store.file_contents import file_version
from roamkb.log.store.file_contents import read_file_version
from roamkb.log.store.file_stamps import FileStamps

ONE, TWO, TORN = b'{"id":"1","content":"a"}\n', b'{"id":"2","content":"b"}\n', b'{"id":"3","con'


def read_version(path: Path) -> FileVersion:
    """Return the log's file as it is now."""
    return file_version(path, read_bytes(path), is_ledger=False)


def ids(told: ParsedLines) -> list[str]:
    """Return the learnings that were told."""
    return [one.id for one in told.learnings]


def test_what_grew_is_read_from_where_it_grew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who asks each time, and by who asks only at the end; faults have their line's number."""
    path = tmp_path / "knowledge.jsonl"
    read: list[int] = []

    def counted(lines: Iterable[bytes], **how: Any) -> object:
        listed = list(lines)
        read.append(len(listed))
        return read_learnings(listed, **how)

    monkeypatch.setattr(jsonl, "read_learnings", counted)
    for asks in (True, False):
        path.write_bytes(b"")
        data, strain = b"", read_version(path).strain
        for new in (ONE, b"<<<<<<<\n", TWO):
            data += new
            path.write_bytes(data)
            page = read_version(path)
            assert page.strain is strain
            assert page is read_version(path)
            assert FileVersion(path, data, is_ledger=False).digest == page.digest
            if asks:
                assert ids(page.told)
        assert ["1", "2"] == ids(page.told)
        assert [2] == [fault.line for fault in page.told.faults]
    # an empty end counts as a line
    assert [2, 2, 2, 4] == read


@pytest.mark.parametrize("data", [TWO + ONE, b"", ONE[:-1], ONE[:-2] + b"x\n"])
def test_what_is_not_only_longer_is_another_file(data: bytes, tmp_path: Path) -> None:
    """Sorted, emptied, cut off or edited."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(ONE)
    before = read_version(path)
    path.write_bytes(data)
    assert read_version(path).strain is not before.strain


def test_a_torn_line_is_read_again_with_its_end(tmp_path: Path) -> None:
    """What is written behind it belongs to it."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(ONE + TORN)
    assert ["1"] == ids(read_version(path).told)
    path.write_bytes(ONE + TORN + b'tent":"c"}\n')
    assert ["1", "3"] == ids(read_version(path).told)


def test_beginnings() -> None:
    """Whole lines alone, and just those bytes."""
    page, first = (
        FileVersion(Path("k"), ONE + TWO, is_ledger=False),
        FileVersion(Path("k"), ONE, is_ledger=False),
    )
    assert page.begins_with(len(ONE), first.digest)
    assert page.begins_with(len(ONE + TWO), page.digest)
    assert page.begins_with(0, FileVersion(Path("k"), b"", is_ledger=False).digest)
    assert not page.begins_with(len(ONE), page.digest)
    assert not page.begins_with(len(ONE) - 1, FileVersion(Path("k"), ONE[:-1], is_ledger=False).digest)
    assert not first.begins_with(len(ONE + TWO), page.digest)
    assert ["2"] == ids(page.lines_after(len(ONE)))
    assert ParsedLines() == page.lines_after(len(ONE + TWO))


@pytest.mark.parametrize("stamps", [[], 1, {"a": 1}, {"a": {}}, {"a": {"stat": [9], "settled": True, "blocks": [1]}}])
def test_stamps_that_are_none_say_nothing(stamps: object, tmp_path: Path) -> None:
    """They lie in a project, where anybody may write them; the file is read, and stamped anew."""
    content = json.dumps(stamps)
    (tmp_path / "stamps.json").write_text(json.dumps([1, zlib.crc32(content.encode()), content]))
    known = FileStamps(tmp_path, least=0)
    assert known.find_blocks("a", [9]) is None
    known.save_blocks("a", [9], [b"x"], is_settled=True)
    assert (b"x",) == known.find_blocks("a", [9])


@pytest.mark.parametrize("more", [b"", TWO], ids=["as it was", "grown"])
def test_a_file_that_another_took_the_place_of_is_read(more: bytes, tmp_path: Path) -> None:
    """As git does on each checkout: what this process knew of the old one, and hadn't read yet, is in the new one."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(ONE)
    is_told = read_file_version(path, is_ledger=False).told
    assert ids(is_told) == ["1"]
    for content in (ONE + more, ONE + more + TORN):
        (tmp_path / "new").write_bytes(content)
        (tmp_path / "new").replace(path)
        page = read_file_version(path, is_ledger=False)
    (tmp_path / "new").write_bytes(content)
    (tmp_path / "new").replace(path)
    assert page is read_file_version(path, is_ledger=False)
    assert ids(page.told) == (["1", "2"] if more else ["1"])
