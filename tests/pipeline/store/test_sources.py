"""Others' files are found where their tools keep them, read line by line, and never changed."""

import os
from pathlib import Path

import pytest

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import load_rule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.log.jsonl import BadLine
from roamkb.pipeline.store.sources import LONGEST_LINE
from roamkb.pipeline.store.sources import find_memory
from roamkb.pipeline.store.sources import find_sources
from roamkb.pipeline.store.sources import memory_files
from roamkb.pipeline.store.sources import owning_project
from roamkb.pipeline.store.sources import source_lines
from tests.conftest import World


def made(path: Path, data: bytes = b"") -> Path:
    """A file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(root: Path, file: str | None = None, **environment: str) -> tuple[Path, ...]:
    """The sources of the project at `root`, for a session in it."""
    return find_sources(root, file=file, environment=environment, base=root)


def test_each_place_is_looked_at_in_its_order(tmp_path: Path) -> None:
    """The option, two variables, Oro's configuration, then all places where beads, Lavra and Oro write."""
    assert () == found(tmp_path)
    oro = made(tmp_path / ".oro" / "knowledge.jsonl")
    assert (oro,) == found(tmp_path)
    lavra = made(tmp_path / ".lavra" / "memory" / "knowledge.jsonl")
    assert (lavra, oro) == found(tmp_path)
    archive = made(lavra.with_name("knowledge.archive.jsonl"))
    assert (archive, lavra, oro) == found(tmp_path)
    beads = made(tmp_path / ".beads" / "memory" / "knowledge.jsonl")
    every = (beads, archive, lavra, oro)
    assert every == found(tmp_path)
    configured = made(tmp_path / "sub" / ".beads" / "memory" / "knowledge.jsonl")
    made(tmp_path / ".oro" / "config.yaml", b"# oro\nproject_root: sub # here\n")
    assert (configured, *every) == found(tmp_path)
    assert (tmp_path / "o",) == found(tmp_path, ORO_KNOWLEDGE_FILE="o")
    both = {"ORO_KNOWLEDGE_FILE": "o", "ROAMKB_KNOWLEDGE_FILE": "r"}
    assert (tmp_path / "r",) == found(tmp_path, **both)
    assert (tmp_path / "f",) == found(tmp_path, "f", **both)
    assert (configured, *every) == found(tmp_path, ROAMKB_KNOWLEDGE_FILE="")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("project_root: sub\n", "sub"),
        ('project_root: "my sub"\n', "my sub"),
        ("a: 1\nproject:\n  project_root: 'sub'\r\n", "sub"),
        ("project_root:   sub   # comment\n", "sub"),
        ("# project_root: sub\n", None),
        ("project_root:\nother: sub\n", None),
        ("project_root: gone\n", None),
        ("\x00\xff", None),
    ],
)
def test_the_one_setting_of_oros_file_is_read(tmp_path: Path, text: str, name: str | None) -> None:
    """As people write it; a folder without a log isn't the end of the search."""
    for folder in ("sub", "my sub"):
        made(tmp_path / folder / ".beads" / "memory" / "knowledge.jsonl")
    made(tmp_path / ".oro" / "config.yaml", text.encode("latin-1"))
    expected = tmp_path / name / ".beads" / "memory" / "knowledge.jsonl" if name else None
    assert ((expected,) if expected else ()) == found(tmp_path)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"a\r\nb\r\n", [b"a\r", b"b\r"]),
        (b"x" * (3 << 20) + b"\ny", [b"x" * (3 << 20), b"y"]),
    ],
)
def test_lines_come_as_they_are(tmp_path: Path, data: bytes, lines: list[bytes]) -> None:
    """With their numbers, across chunks, the last one without a newline as well."""
    path = made(tmp_path / "k", data)
    assert list(enumerate(lines, start=1)) == list(source_lines(path))
    assert data == path.read_bytes()


def test_a_line_without_end_is_skipped(tmp_path: Path) -> None:
    """By its number; it is never held whole, and the next is read."""
    path = made(tmp_path / "k", b"a\n" + b"x" * (LONGEST_LINE + (3 << 20)) + b"\nb\n" + b"y" * (LONGEST_LINE + 1))
    numbers = [(number, line if isinstance(line, bytes) else None) for number, line in source_lines(path)]
    assert [(1, b"a"), (2, None), (3, b"b"), (4, None)] == numbers
    assert [2, 4] == [line.line for _, line in source_lines(path) if isinstance(line, BadLine)]


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    """A missing one, a folder, a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    for name, error in (("gone", NotFound), ("a\0b", NotFound), ("pipe", DiskError), (".", DiskError)):
        with pytest.raises(error):
            list(source_lines(tmp_path / name))


def test_memory_is_found_by_the_projects_path(tmp_path: Path) -> None:
    """With dashes, also where the path has dots."""
    root = Path("/home/u/my.site")
    assert find_memory(tmp_path, root) is None
    folder = tmp_path / ".claude" / "projects" / "-home-u-my-site" / "memory"
    folder.mkdir(parents=True)
    assert folder == find_memory(tmp_path, root)


def test_memory_files_are_listed_without_links(tmp_path: Path) -> None:
    """A link may lead anywhere; what isn't Markdown is no statement."""
    made(tmp_path / "b.md", b"b")
    made(tmp_path / "sub" / "a.md", b"\xff")
    made(tmp_path / "c.txt", b"c")
    (tmp_path / "link.md").symlink_to(tmp_path / "c.txt")
    listed = [(name, text) for name, text, _ in memory_files(tmp_path)]
    assert [("b.md", "b"), ("sub/a.md", "\ufffd")] == listed
    assert not any(isinstance(text, UnreadableFile) for _, text in listed)


def test_a_folder_of_everything_is_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who says `/` means something else; a file of a gigabyte is none of a harness's."""
    monkeypatch.setattr("roamkb.pipeline.store.sources._MOST_ENTRIES", 20)
    for number in range(20):
        made(tmp_path / "many" / f"{number}" / "a.md", b"a")
    with pytest.raises(DiskError, match="no harness's memory does; nothing was read"):
        list(memory_files(tmp_path))
    made(tmp_path / "one" / "big.md", b"x" * (1024 * 1024 + 1))
    ((name, text, _),) = memory_files(tmp_path / "one")
    assert ("big.md", True) == (name, isinstance(text, UnreadableFile))


def test_whose_a_memory_is_goes_by_its_name(world: World) -> None:
    """A work project's, one's own, and one that nobody knows."""
    rule = load_rule(world.home, account_home=world.home)
    here = classify_folder(world.personal, rule)
    for root, kind in (
        (world.personal, ProjectKind.PERSONAL),
        (world.work, ProjectKind.WORK),
        (world.unknown, ProjectKind.UNKNOWN),
    ):
        name = str(root).replace("/", "-").replace("_", "-")
        path = made(world.home / ".claude" / "projects" / name / "memory" / "MEMORY.md")
        assert kind is owning_project(path, rule, here).kind
