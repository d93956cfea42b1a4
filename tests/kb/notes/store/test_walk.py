"""What a walk finds in a knowledge base, and what it says of the rest."""

import os
import socket
from pathlib import Path

import pytest

from roamkb.core.errors import NoKnowledgeBase
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.kb.notes.store.walk import check_kb
from roamkb.kb.notes.store.walk import walk_notes


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A knowledge base with two notes."""
    folder = tmp_path / "kb"
    put(folder / "b.org")
    put(folder / "daily/a.org")
    return folder


def put(path: Path, text: str = "x") -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def files(kb: Path) -> list[str]:
    """Return the notes' places."""
    return [note.file for note in walk_notes(kb).files]


def complaints(kb: Path) -> dict[str, str]:
    """Return what can't be read, and why."""
    return {
        os.fsencode(each.path).decode("utf-8", "replace")[len(str(kb)) + 1 :]: each.reason
        for each in walk_notes(kb).unreadable
    }


def test_notes_come_in_order_with_their_stat(kb: Path) -> None:
    """Each note has its place, relative and absolute, and what tells a change."""
    first, second = walk_notes(kb).files
    assert (first.file, second.file) == ("b.org", "daily/a.org")
    assert second.path == kb / "daily" / "a.org"
    stat = second.path.stat()
    assert (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) == (
        second.size,
        second.mtime_ns,
        second.ctime_ns,
    )
    assert (stat.st_ino, stat.st_dev) == (second.inode, second.device)


def test_what_isnt_a_note_isnt_listed_and_copies_are_counted(kb: Path) -> None:
    """Droppings are left out; conflict copies and encrypted notes are named."""
    for name in ("b.org~", "#b.org#", ".stversions/b~1.org", "data/x.org", "c.md", ".c.org"):
        put(kb / name)
    (kb / ".#b.org").symlink_to("human@host.1:2")
    copy = put(kb / "b.sync-conflict-20261121-203710-ABCDEF2.org")
    put(kb / "picture.sync-conflict-20261121-203710-ABCDEF2.png")
    put(kb / ".stversions/b.sync-conflict-20261121-203710-ABCDEF2.org")
    secret = put(kb / "daily/s.org.gpg")
    found = walk_notes(kb)
    assert [note.file for note in found.files] == ["b.org", "daily/a.org"]
    assert found.conflict_copies == (copy,)
    assert found.encrypted == (secret,)
    assert found.unreadable == ()


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    """Nothing found is a result."""
    assert walk_notes(tmp_path) == NotesWalk(files=(), conflict_copies=(), encrypted=(), unreadable=())


def test_what_only_has_a_notes_name_is_said(kb: Path) -> None:
    """FIFOs, sockets, folders and names that no line can hold are listed, and never opened."""
    os.mkfifo(kb / "fifo.org")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(kb / "socket.org"))
    put(kb / "folder.org/inside.org")
    put(kb / "two\nlines.org")
    put(Path(os.fsdecode(os.fsencode(kb) + b"/latin-\xe9.org")))
    put(Path(os.fsdecode(os.fsencode(kb) + b"/folder-\xe9/x.org")))
    assert files(kb) == ["b.org", "daily/a.org", "folder.org/inside.org"]
    assert complaints(kb) == {
        "fifo.org": "isn't a regular file",
        "socket.org": "isn't a regular file",
        "two\nlines.org": "its name holds a line break",
        "latin-\ufffd.org": "its name isn't UTF-8",
        "folder-\ufffd": "its name isn't UTF-8",
    }


def test_links_to_what_is_found_anyway_add_nothing(kb: Path) -> None:
    """A note is listed once, under its own name."""
    (kb / "link.org").symlink_to("b.org")
    (kb / "all").symlink_to(kb)
    (kb / "up").symlink_to("..")
    (kb / "daily/again").symlink_to("../daily")
    assert files(kb) == ["b.org", "daily/a.org"]
    assert complaints(kb) == {"up": "links out of the knowledge base"}


def test_links_to_hidden_places_inside_are_followed_once(kb: Path) -> None:
    """What only a link shows is listed under the link's name, however many links and circles there are."""
    put(kb / ".store/s.org")
    put(kb / ".store/deep/t.org")
    put(kb / ".store/u.txt")
    (kb / ".store/circle").symlink_to(".")
    (kb / ".store/deep/back").symlink_to("../..")
    (kb / "one").symlink_to(".store")
    (kb / "two").symlink_to(".store")
    (kb / "three").symlink_to(".store/deep")
    (kb / "s.org").symlink_to(".store/s.org")
    (kb / "u.org").symlink_to(".store/u.txt")
    (kb / "v.org").symlink_to(".store/u.txt")
    assert files(kb) == ["b.org", "daily/a.org", "one/s.org", "three/t.org", "u.org"]
    assert complaints(kb) == {}


def test_links_out_of_the_base_are_said_and_not_followed(kb: Path) -> None:
    """Neither a file nor a folder elsewhere is read through a link, whatever its name is like."""
    put(kb.parent / "kb-secret/x.org")
    (kb / "x.org").symlink_to("../kb-secret/x.org")
    (kb / "folder").symlink_to("../kb-secret")
    (kb / "null.org").symlink_to("/dev/null")
    (kb / "gone.org").symlink_to("nowhere")
    (kb / "circle.org").symlink_to("circle.org")
    (kb / "note.txt").symlink_to("/etc/hostname")
    assert files(kb) == ["b.org", "daily/a.org"]
    assert complaints(kb) == {
        "x.org": "links out of the knowledge base",
        "folder": "links out of the knowledge base",
        "null.org": "links out of the knowledge base",
        "gone.org": "links to nothing",
        "circle.org": "links to nothing",
    }


def test_a_base_that_is_itself_a_link_is_walked(kb: Path) -> None:
    """Where the base really is counts for what lies out of it."""
    link = kb.parent / "link"
    link.symlink_to(kb)
    put(kb / ".store/s.org")
    (kb / "s.org").symlink_to(".store/s.org")
    assert files(link) == ["b.org", "daily/a.org", "s.org"]
    assert walk_notes(link).files[0].path == link / "b.org"


def test_a_deep_tree_ends_where_the_system_ends_it(kb: Path) -> None:
    """200 folders deep is fine, and a path that is too long is said."""
    depth = 200
    fd = os.open(kb, os.O_RDONLY)
    for level in range(depth):
        os.mkdir("d" * 40, dir_fd=fd)
        below = os.open("d" * 40, os.O_RDONLY, dir_fd=fd)
        if level in (50, 199):
            os.close(os.open("deep.org", os.O_CREAT, dir_fd=below))
        os.close(fd)
        fd = below
    os.close(fd)
    found = walk_notes(kb)
    assert len(found.files) == 3
    assert [each.reason for each in found.unreadable] == ["its name is too long for the system"]


def test_a_walk_finds_many(tmp_path: Path) -> None:
    """10,000 notes in ten folders."""
    for folder in range(10):
        (tmp_path / str(folder)).mkdir()
        for number in range(1000):
            os.close(os.open(tmp_path / str(folder) / f"{number}.org", os.O_CREAT))
    assert len(walk_notes(tmp_path).files) == 10_000


@pytest.mark.parametrize("sign", [".stfolder", ".git", "note.org", "deep/er/note.org"])
def test_a_mounted_base_is_known_by_a_sign(sign: str, tmp_path: Path) -> None:
    """A syncer's marker, a repository or one note, however deep."""
    put(tmp_path / sign)
    check_kb(tmp_path)


def test_a_base_that_isnt_there_is_said(tmp_path: Path) -> None:
    """Missing, a file, or empty like the place where a disk should be mounted."""
    with pytest.raises(NoKnowledgeBase, match="doesn't exist"):
        check_kb(tmp_path / "none")
    with pytest.raises(NoKnowledgeBase, match="isn't a folder"):
        check_kb(put(tmp_path / "file"))
    (tmp_path / "kb").mkdir()
    put(tmp_path / "kb/README.md")
    put(tmp_path / "kb/.hidden/a.org")
    with pytest.raises(NoKnowledgeBase, match="as if it weren't mounted"):
        check_kb(tmp_path / "kb")


def test_a_walk_of_nothing_says_so(tmp_path: Path) -> None:
    """A base that vanished is one thing that can't be read."""
    assert [each.reason for each in walk_notes(tmp_path / "none").unreadable] == ["doesn't exist"]


def test_a_second_walk_sees_all_that_the_first_could_not(kb: Path) -> None:
    """What is remembered of names and stats never hides a change: of content, kind, place or time."""
    put(kb / "c.org")
    before = walk_notes(kb)
    assert walk_notes(kb).files is before.files
    stat = (kb / "b.org").stat()
    put(kb / "b.org", "y")
    os.utime(kb / "b.org", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    changed = walk_notes(kb)
    assert [note.file for old, note in zip(before.files, changed.files, strict=True) if old != note] == ["b.org"]
    assert changed.files[1] is before.files[1]
    (kb / "c.org").unlink()
    os.mkfifo(kb / "c.org")
    assert files(kb) == ["b.org", "daily/a.org"]
    assert complaints(kb) == {"c.org": "isn't a regular file"}
    (kb / "c.org").unlink()
    (kb / "c.org").symlink_to("/etc/hostname")
    assert complaints(kb) == {"c.org": "links out of the knowledge base"}
    (kb / "daily").rename(kb / "weekly")
    put(kb / "new.sync-conflict-20261121-203710-ABCDEF2.org")
    found = walk_notes(kb)
    assert [note.file for note in found.files] == ["b.org", "weekly/a.org"]
    assert len(found.conflict_copies) == 1


def test_walks_of_two_bases_in_turn_are_each_its_own(kb: Path, tmp_path: Path) -> None:
    """One base's memory says nothing of another's."""
    other = tmp_path / "other"
    put(other / "b.org")
    for _ in range(2):
        assert files(kb) == ["b.org", "daily/a.org"]
        assert files(other) == ["b.org"]


def test_a_file_that_goes_between_its_name_and_its_stat_is_left_out(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A syncer replaces it; the others are listed, and the next walk has it again."""
    lstat = os.lstat

    def gone(place: str) -> os.stat_result:
        if place.endswith("b.org"):
            (kb / "b.org").unlink(missing_ok=True)
        return lstat(place)

    put(kb / "c.org")
    walk_notes(kb)
    monkeypatch.setattr("os.lstat", gone)
    assert files(kb) == ["c.org", "daily/a.org"]
    monkeypatch.undo()
    put(kb / "b.org")
    assert files(kb) == ["b.org", "c.org", "daily/a.org"]
