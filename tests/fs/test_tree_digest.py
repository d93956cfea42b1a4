"""A folder's digest: another one after any change that a stat shows, the same one otherwise."""

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.fs.tree_digest import IGNORED_ENDS
from roamkb.fs.tree_digest import IGNORED_STARTS
from roamkb.fs.tree_digest import KnownTree
from roamkb.fs.tree_digest import digest_tree
from roamkb.kb.notes.file_names import is_copied_note
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.file_names import is_note_name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with two notes, one of them deeper, and a hidden folder."""
    top = tmp_path / "kb"
    for name in ("a.org", "sub/b.org", "data/c.png", ".git/config"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("text")
    return top


def hex_of(tree: Path) -> str:
    """The digest, which there is."""
    digest = digest_tree(str(tree))
    assert digest
    return digest.hex


def _rewrite_with_old_times(tree: Path) -> None:
    path = tree / "sub" / "b.org"
    status = path.stat()
    path.write_text("tex7")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _replace_with_old_times(tree: Path) -> None:
    path, other = tree / "a.org", tree.parent / "other"
    status = path.stat()
    other.write_text("tex7")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


_CHANGES: tuple[Callable[[Path], object], ...] = (
    _rewrite_with_old_times,
    _replace_with_old_times,
    lambda tree: (tree / "a.org").write_text(""),
    lambda tree: (tree / "a.org").unlink(),
    lambda tree: (tree / "a.org").rename(tree / "z.org"),
    lambda tree: (tree / "a.org").rename(tree / "sub" / "a.org"),
    lambda tree: (tree / "a.org").chmod(0o600),
    lambda tree: (tree / "sub").chmod(0o700),
    lambda tree: (tree / "sub").rename(tree / "sup"),
    lambda tree: (tree / "new").mkdir(),
    lambda tree: (tree / "sub" / "new.org").write_text(""),
    lambda tree: (tree / "data" / "c.png").write_text("other"),
    lambda tree: (tree / "link.org").symlink_to("a.org"),
    lambda tree: os.mkfifo(tree / "pipe"),
)


@pytest.mark.parametrize("change", _CHANGES)
def test_any_change_that_a_stat_shows_makes_another_digest(tree: Path, change: Callable[[Path], object]) -> None:
    """Of content, name, place, mode or kind, however old the time of writing looks."""
    before = hex_of(tree)
    # the clock of a file system ticks every few milliseconds
    time.sleep(0.02)
    change(tree)
    assert before != hex_of(tree)


def test_what_programs_leave_and_hidden_folders_hold_changes_nothing(tree: Path) -> None:
    """Locks, backups, swap files, git's own files, and the times of folders."""
    before = hex_of(tree)
    for start in IGNORED_STARTS:
        (tree / f"{start}a.org").write_text("")
    for end in IGNORED_ENDS:
        (tree / "sub" / f"a.org{end}").write_text("")
    (tree / ".git" / "config").write_text("other")
    (tree / ".#b.org").symlink_to("human@host.1234")
    (tree / "sub" / "x").write_text("")
    (tree / "sub" / "x").unlink()
    assert before == hex_of(tree)


@pytest.mark.parametrize("name", ["a.org", "a.org.gpg", "a.sync-conflict-20240101-000000.org"])
def test_no_ignored_name_is_one_that_search_looks_for(name: str) -> None:
    """Nor a copy of one, so that the index needs to know none of them."""
    for ignored in (*(start + name for start in IGNORED_STARTS), *(name + end for end in IGNORED_ENDS)):
        assert not (is_note_name(ignored) or is_encrypted_name(ignored) or is_copied_note(ignored)), ignored


def test_links_are_told_of(tree: Path) -> None:
    """What they lead to is in no digest."""
    plain = digest_tree(str(tree))
    assert plain and not plain.has_links
    (tree / "sub" / "link").symlink_to("../data")
    linked = digest_tree(str(tree))
    assert linked and linked.has_links


def test_there_is_none_where_it_would_be_in_doubt(tree: Path) -> None:
    """A folder that is gone or no folder, and one that takes too long."""
    assert digest_tree(str(tree / "gone")) is None
    assert digest_tree(str(tree / "a.org")) is None
    assert digest_tree(str(tree), deadline=-math.inf) is None


def test_names_that_are_no_text_have_a_digest(tree: Path) -> None:
    """Bytes that aren't UTF-8 stand for themselves."""
    before = hex_of(tree)
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff\xfe.org")).write_text("")
    assert before != hex_of(tree) == hex_of(tree)


#: Nanoseconds after which the times of all that was written before are trusted.
_LATER = 3_000_000_000


def known_of(tree: Path, *, later: int = _LATER) -> KnownTree:
    """The folders of a tree that was written so long ago, as another process reads them."""
    digest = digest_tree(str(tree), clock=lambda: time.time_ns() + later)
    assert digest and digest.is_complete
    known = KnownTree.from_json(digest.to_json().encode(), clock=lambda: time.time_ns() + later)
    assert known
    # the clock of a file system ticks every few milliseconds
    time.sleep(0.02)
    return known


@pytest.mark.parametrize(
    "values", [{"folders": None}, {"folders": {"": 1}}, {"folders": {"": [1, "x", [], False]}}, {"recent": [1]}]
)
def test_what_another_program_wrote_in_its_place_is_no_known_tree(tree: Path, values: dict[str, object]) -> None:
    """Each file is asked then, by whoever gets no digest."""
    digest = digest_tree(str(tree), clock=lambda: time.time_ns() + _LATER)
    assert digest
    kept = json.dumps({**json.loads(digest.to_json()), **values}).encode()
    known = KnownTree.from_json(kept, clock=lambda: time.time_ns() + _LATER)
    found = digest_tree(str(tree), known=known)
    assert found is None or found.hex == digest.hex


def hex_by(known: KnownTree, tree: Path) -> str:
    """The digest of a tree whose folders are known."""
    digest = digest_tree(str(tree), known=known)
    assert digest and not digest.is_complete
    return digest.hex


@pytest.mark.parametrize("change", [lambda _: None, *_CHANGES])
def test_known_folders_give_the_digest_of_all_files(tree: Path, change: Callable[[Path], object]) -> None:
    """Of a file that was written lately even where a program wrote into it as it lay there."""
    known = known_of(tree)
    change(tree)
    assert hex_of(tree) == hex_by(known, tree)


def test_what_is_written_into_an_old_file_shows_with_the_next_change_of_its_folder(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an editor's lock file is, or a note that is added: until then the folder is as it was."""
    monkeypatch.setattr("roamkb.fs.tree_digest._MOST_RECENT", 1)
    time.sleep(0.02)
    (tree / "data" / "c.png").write_text("the last one")
    before, known = hex_of(tree), known_of(tree)
    (tree / "a.org").write_text("other")
    assert before == hex_by(known, tree) != hex_of(tree)
    (tree / ".#a.org").symlink_to("human@host.1234")
    assert hex_of(tree) == hex_by(known, tree)


def test_a_folder_that_just_changed_is_not_known(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It might change again and have the same time; so might one of a time to come."""
    monkeypatch.setattr("roamkb.fs.tree_digest._MOST_RECENT", 0)
    for later in (0, -_LATER):
        known = known_of(tree, later=later)
        (tree / "a.org").write_text(f"other {later}")
        assert hex_of(tree) == hex_by(known, tree)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"{}", b'{"taken_at": "", "form": 1}', b"\xff"])
def test_what_is_no_list_of_folders_is_none(data: bytes) -> None:
    """All is looked at then."""
    assert KnownTree.from_json(data) is None


def test_folders_are_known_for_some_minutes(tree: Path) -> None:
    """Neither longer nor from a time to come; nor as another release wrote them."""
    digest = digest_tree(str(tree))
    assert digest
    text, hour = digest.to_json(), 3_600_000_000_000
    assert KnownTree.from_json(text.encode()) is not None
    assert KnownTree.from_json(text.encode(), clock=lambda: time.time_ns() + hour) is None
    assert KnownTree.from_json(text.encode(), clock=lambda: time.time_ns() - hour) is None
    assert KnownTree.from_json(text.replace('"form": 1', '"form": 0').encode()) is None
