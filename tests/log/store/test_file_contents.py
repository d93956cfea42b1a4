"""A log's file is read once, and what it says when somebody asks."""

from pathlib import Path
from typing import Any

import pytest

from roamkb.log.jsonl import read_learnings
from roamkb.log.store import file_contents as module
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import ParsedLines
from roamkb.log.store.file_contents import read_file_version

ONE, TWO, TORN = b'{"id":"1","content":"a"}\n', b'{"id":"2","content":"b"}\n', b'{"id":"3","con'


def ids(told: ParsedLines) -> list[str]:
    """Return the learnings that were told."""
    return [one.id for one in told.learnings]


def test_what_grew_is_read_from_where_it_grew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who asks each time, and by who asks only at the end; faults have their line's number."""
    path = tmp_path / "knowledge.jsonl"
    read: list[int] = []

    def counted(lines: list[bytes], **how: Any) -> object:
        read.append(len(lines))
        return read_learnings(lines, **how)

    monkeypatch.setattr(module, "read_learnings", counted)
    for asks in (True, False):
        path.write_bytes(b"")
        data, strain = b"", read_file_version(path, is_ledger=False).strain
        for new in (ONE, b"<<<<<<<\n", TWO):
            data += new
            path.write_bytes(data)
            page = read_file_version(path, is_ledger=False)
            assert page.strain is strain
            assert page is read_file_version(path, is_ledger=False)
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
    before = read_file_version(path, is_ledger=False)
    path.write_bytes(data)
    assert read_file_version(path, is_ledger=False).strain is not before.strain


def test_a_torn_line_is_read_again_with_its_end(tmp_path: Path) -> None:
    """What is written behind it belongs to it."""
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(ONE + TORN)
    assert ["1"] == ids(read_file_version(path, is_ledger=False).told)
    path.write_bytes(ONE + TORN + b'tent":"c"}\n')
    assert ["1", "3"] == ids(read_file_version(path, is_ledger=False).told)


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


def test_a_huge_file_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes would lie in memory beside what they say."""
    monkeypatch.setattr(module, "_MOST_KEPT_BYTES", len(ONE))
    path = tmp_path / "knowledge.jsonl"
    path.write_bytes(ONE + TWO)
    assert read_file_version(path, is_ledger=False) is not read_file_version(path, is_ledger=False)
