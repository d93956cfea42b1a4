"""Files read whole, created once, changed only while they are what was read."""

import contextlib
import errno
import itertools
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import threading
import uuid
from collections.abc import Callable
from collections.abc import Iterator
from datetime import datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from roamkb.core.errors import Busy
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotDurable
from roamkb.core.model import UnreadableFile
from roamkb.fs import files as disk
from roamkb.fs.locks import hold_lock
from roamkb.kb.notes.file_names import note_names

FREE = contextlib.nullcontext()
OLD = b"#+title: old\n"
NEW = b"#+title: new\n"


def names_in(folder: Path) -> set[str]:
    """Return all that lies in `folder`, hidden or not."""
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """A note that may be changed."""
    path = tmp_path / "note.org"
    path.write_bytes(OLD)
    return path


@pytest.mark.parametrize("data", [b"", b"x", b"\xff\xfe\x00", b"line\r\n" * 50_000])
def test_a_file_is_read_whole(data: bytes, tmp_path: Path) -> None:
    """Any bytes come back as they are."""
    (tmp_path / "a.org").write_bytes(data)
    assert data == disk.read_file(tmp_path / "a.org")


def test_what_isnt_there_is_missing(tmp_path: Path) -> None:
    """A name that is gone is told apart from what can't be read: a syncer may be at work."""
    assert isinstance(disk.read_file(tmp_path / "a.org"), disk.MissingFile)
    (tmp_path / "file").touch()
    assert isinstance(disk.read_file(tmp_path / "file" / "a.org"), disk.MissingFile)


def test_what_isnt_a_file_is_never_waited_for(tmp_path: Path) -> None:
    """Folders, FIFOs, sockets, devices and circles are values, at once."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    for name in ("folder", "fifo", "null", "circle", "socket", "nul\0", "n" * 300):
        found = disk.read_file(tmp_path / name)
        assert isinstance(found, UnreadableFile), name
        assert not isinstance(found, disk.MissingFile), name
        assert found.reason


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A gigabyte costs no memory."""
    with (tmp_path / "huge.org").open("wb") as file:
        file.truncate(1 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert disk.read_file(tmp_path / "huge.org") == UnreadableFile(
        path=tmp_path / "huge.org", reason="is larger than 8,388,608 bytes"
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_file_that_comes_in_parts_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a network: a short read isn't the end."""
    path = tmp_path / "a.org"
    path.write_bytes(b"in several parts")
    read = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: read(fd, min(size, 5)))
    assert b"in several parts" == disk.read_file(path)


@pytest.mark.parametrize("saves", [1, 3, 4])
@pytest.mark.parametrize("save", [b"longer than before", b"0" * 9], ids=["longer", "as long"])
def test_a_file_that_changes_while_it_is_read_is_read_again(
    saves: int, save: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mix of two versions is returned; what never comes to rest is said to be written to."""
    path = tmp_path / "a.org"
    path.write_bytes(b"as before")
    os.utime(path, (1, 1))
    read = os.read
    left = iter(range(saves))

    def read_and_be_overtaken(fd: int, size: int) -> bytes:
        data = read(fd, size)
        for _ in itertools.islice(left, 1):
            path.write_bytes(save)
        return data

    monkeypatch.setattr(os, "read", read_and_be_overtaken)
    found = disk.read_file(path)
    if saves < 4:
        assert found == save
    else:
        assert found == UnreadableFile(path=path, reason="is being written to")


@pytest.mark.parametrize("start", [b"", None], ids=["empty", "missing"])
def test_who_is_patient_sees_the_end_of_a_save(start: bytes | None, tmp_path: Path) -> None:
    """A file that is gone or empty for a moment is looked at again."""
    path = tmp_path / "a.org"
    if start is not None:
        path.write_bytes(start)
    saver = threading.Timer(0.2, path.write_bytes, [NEW])
    saver.start()
    assert NEW == disk.read_file(path, patience=5)
    saver.join()


def test_patience_ends(tmp_path: Path) -> None:
    """What stays empty is empty."""
    (tmp_path / "a.org").touch()
    assert disk.read_file(tmp_path / "a.org", patience=0.2) == b""


def test_a_created_file_is_whole_and_alone(tmp_path: Path) -> None:
    """The content is there, the mode is a note's, and nothing else was left."""
    os.umask(0o022)
    path = disk.create_file(tmp_path, "a.org", NEW)
    assert path == tmp_path / "a.org"
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o644
    assert names_in(tmp_path) == {"a.org"}


@pytest.mark.parametrize("occupy", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_nothing_is_overwritten(occupy: Callable[[Path], None], tmp_path: Path) -> None:
    """A file, a folder or a dangling link keeps its name."""
    occupy(tmp_path / "a.org")
    before = (tmp_path / "a.org").lstat()
    with pytest.raises(NameTaken, match=r"a\.org: a file of that name is there already; nothing was written"):
        disk.create_file(tmp_path, "a.org", NEW)
    assert (tmp_path / "a.org").lstat().st_ino == before.st_ino
    assert names_in(tmp_path) == {"a.org"}


def test_the_first_free_name_is_taken(tmp_path: Path) -> None:
    """Of several names the first that nobody has; with none left, NameTaken."""
    disk.create_file(tmp_path, "a.org", OLD)
    assert disk.create_unique(tmp_path, iter(["a.org", "b.org", "c.org"]), NEW) == tmp_path / "b.org"
    with pytest.raises(NameTaken):
        disk.create_unique(tmp_path, ["a.org", "b.org"], NEW)
    assert names_in(tmp_path) == {"a.org", "b.org"}


@pytest.mark.parametrize("name", ["", ".", "..", "../a.org", "/tmp/a.org", "a/b.org", "a\0.org", "half-\ud83d.org"])
def test_a_name_is_one_part(name: str, tmp_path: Path) -> None:
    """Nothing is created anywhere else than in the folder that was named."""
    with pytest.raises(DiskError, match="isn't the name of a file"):
        disk.create_file(tmp_path, name, NEW)


def test_a_folder_that_isnt_there_isnt_made(tmp_path: Path) -> None:
    """An unmounted disk looks like a missing folder, and must stay one."""
    with pytest.raises(DiskError, match="kb: doesn't exist"):
        disk.create_file(tmp_path / "kb", "a.org", NEW)
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="file: isn't a folder"):
        disk.create_file(tmp_path / "file", "a.org", NEW)
    assert names_in(tmp_path) == {"file"}


def test_without_unnamed_files_the_note_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: written beside under a name that Syncthing ignores, linked, removed."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    os.umask(0o022)
    path = disk.create_file(tmp_path, "a.org", NEW, token=lambda: "x")
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.stat().st_nlink == 1
    assert names_in(tmp_path) == {"a.org"}
    with pytest.raises(NameTaken):
        disk.create_file(tmp_path, "a.org", OLD)


WHEN = datetime(2026, 6, 10, 14, 29)
PROCESSES, NOTES = 32, 50


def create_ours(folder: Path, id: str) -> None:
    """Create a note with the title that all others have as well."""
    disk.create_unique(folder, note_names(WHEN, "same_title", id), id.encode())


def write_all(create: Callable[[Path, str], None], folder: Path, ids: list[str], start: Barrier) -> None:
    """Write a note for each of `ids`, from the same moment on as all others."""
    start.wait()
    for id in ids:
        create(folder, id)


def lost(create: Callable[[Path, str], None], folder: Path) -> int:
    """Return how many of 1,600 notes with one title and one second aren't there afterwards."""
    ids = [str(uuid.uuid4()) for _ in range(PROCESSES * NOTES)]
    fork = multiprocessing.get_context("fork")
    start = fork.Barrier(PROCESSES)
    writers = [
        fork.Process(target=write_all, args=(create, folder, ids[n::PROCESSES], start)) for n in range(PROCESSES)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    return len(set(ids) - {path.read_text() for path in folder.iterdir()})


def test_32_writers_of_one_title_lose_nothing(tmp_path: Path) -> None:
    """1,600 notes of one second and one title are 1,600 files, and nothing else is there."""
    assert lost(create_ours, tmp_path) == 0
    assert len(names_in(tmp_path)) == PROCESSES * NOTES
    assert all(name.endswith(".org") for name in names_in(tmp_path))


def test_32_naive_writers_lose_notes(tmp_path: Path) -> None:
    """The test above can fail: who looks first and writes then loses what others wrote meanwhile."""
    all_have_looked = multiprocessing.get_context("fork").Barrier(PROCESSES)

    def create_naively(folder: Path, id: str) -> None:
        """Create one as most programs do, at the worst of moments."""
        path = next(path for name in note_names(WHEN, "same_title", id) if not (path := folder / name).exists())
        all_have_looked.wait()
        path.write_bytes(id.encode())

    assert PROCESSES - 1 <= lost(create_naively, tmp_path)


@contextlib.contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    """Give a file system of `size`, or skip where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"THE FULL DISK WAS NOT TESTED: {mounted.stderr.splitlines()[0]} (it needs root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("size", ["64k", "128k", "256k", "1m"])
@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed", "named"])
def test_a_full_disk_keeps_what_is_there(
    size: str, unnamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was acknowledged stays whole, what wasn't leaves nothing, and with space it goes on."""
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    body = b"x" * 9_000
    with tmpfs(tmp_path / "kb", size) as kb:
        written: list[Path] = []
        with pytest.raises(DiskError, match="the disk is full") as full:
            written.extend(disk.create_file(kb, f"{number}.org", body) for number in itertools.count())
        assert full.value.hint == "free some space and try again"
        assert written
        assert names_in(kb) == {path.name for path in written}
        assert {path.read_bytes() for path in written} == {body}
        with pytest.raises(DiskError, match="the disk is full"):
            disk.swap_file(written[0], body * 2, expected_digest=disk.content_digest(body), lock=FREE)
        assert written[0].read_bytes() == body
        assert names_in(kb) == {path.name for path in written}
        written.pop().unlink()
        assert disk.create_file(kb, "again.org", body).read_bytes() == body


def test_a_limit_on_file_size_leaves_nothing(tmp_path: Path) -> None:
    """A write that is cut short by the system is no note."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            disk.create_file(tmp_path, "a.org", b"x" * 10_000)
        except DiskError as error:
            os._exit(0 if "larger than is allowed" in str(error) else 1)
        os._exit(2)

    child = multiprocessing.get_context("fork").Process(target=limited)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert names_in(tmp_path) == set()


def test_a_read_only_file_system_is_named(tmp_path: Path) -> None:
    """Nothing is written, and the reason is said."""
    with tmpfs(tmp_path / "kb", "64k") as kb:
        disk.create_file(kb, "a.org", OLD)
        subprocess.run(["mount", "-o", "remount,ro", kb], check=True)
        with pytest.raises(DiskError, match="the file system is read-only") as found:
            disk.create_file(kb, "b.org", NEW)
        assert "sandbox" in found.value.hint
        with pytest.raises(DiskError, match="the file system is read-only"):
            disk.swap_file(kb / "a.org", NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
        assert disk.read_file(kb / "a.org") == OLD


@pytest.mark.skipif(os.geteuid() == 0, reason="permission bits stop nobody who is root; the sweep injects EACCES")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    """Nothing is written, and the reason is said."""
    tmp_path.chmod(0o500)
    with pytest.raises(DiskError, match="permission denied"):
        disk.create_file(tmp_path, "a.org", NEW)
    tmp_path.chmod(0o700)
    assert names_in(tmp_path) == set()


def test_a_note_is_replaced_at_once(note: Path) -> None:
    """The new content is there under the old name and mode, as another file."""
    note.chmod(0o664)
    before = note.stat().st_ino
    os.umask(0o077)
    disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
    os.umask(0o022)
    assert note.read_bytes() == NEW
    assert note.stat().st_mode & 0o777 == 0o664
    assert note.stat().st_ino != before
    assert names_in(note.parent) == {"note.org"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file somebody else's")
def test_a_note_stays_its_owners(note: Path) -> None:
    """Root, who changes somebody's note, leaves it theirs."""
    os.chown(note, 12345, 12346)
    disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
    assert (note.stat().st_uid, note.stat().st_gid) == (12345, 12346)


def change(note: Path) -> None:
    """Save the note as an editor does."""
    note.write_bytes(b"by hand\n")


def hold(note: Path) -> None:
    """Begin an edit in Emacs, here or on another machine."""
    (note.parent / ".#note.org").symlink_to("someone@elsewhere.1:2")


def auto_save(note: Path) -> None:
    """Edit the note in an Emacs without lock files, which saved its text elsewhere since."""
    saved = note.parent / "#note.org#"
    saved.write_bytes(b"by hand\n")
    os.utime(saved, ns=(0, note.stat().st_mtime_ns + 1))


REFUSALS = [
    (change, "changed on disk"),
    (hold, r"unsaved changes in Emacs \(someone@elsewhere\.1:2\)"),
    (auto_save, "#note.org#"),
    (Path.unlink, "is gone"),
]


@pytest.mark.parametrize(("human", "reason"), REFUSALS, ids=["changed", "held", "auto-saved", "gone"])
def test_what_the_human_did_is_kept(human: Callable[[Path], None], reason: str, note: Path) -> None:
    """Neither a change nor a move touches a note that isn't what was read."""
    human(note)
    before = {name: (note.parent / name).lstat().st_mtime_ns for name in names_in(note.parent)}
    (note.parent / "trash").mkdir()
    with pytest.raises(ChangedOnDisk, match=reason):
        disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
    with pytest.raises(ChangedOnDisk, match=reason):
        disk.move_file(note, note.parent / "trash" / "note.org", expected_digest=disk.content_digest(OLD), lock=FREE)
    assert names_in(note.parent / "trash") == set()
    (note.parent / "trash").rmdir()
    assert before == {name: (note.parent / name).lstat().st_mtime_ns for name in names_in(note.parent)}


def test_a_stale_lock_is_named_with_a_way_out(note: Path) -> None:
    """A lock without its holder, as where a disk has no links, and an auto-save file that the note outlived."""
    auto_save(note)
    os.utime(note.parent / "#note.org#", ns=(0, note.stat().st_mtime_ns))
    (note.parent / ".#note.org").write_text("x")
    with pytest.raises(ChangedOnDisk, match="unsaved changes in Emacs, or was") as caught:
        disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
    assert f"delete {note.parent / '.#note.org'}" in caught.value.hint
    (note.parent / ".#note.org").unlink()
    disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)


@pytest.mark.parametrize("human", [change, hold, Path.unlink])
def test_what_the_human_did_meanwhile_is_kept(human: Callable[[Path], None], note: Path) -> None:
    """A save that falls between our reading and our renaming wins."""

    def meanwhile() -> str:
        # asked for when the note was compared and the new content isn't written yet
        human(note)
        return "x"

    with pytest.raises(ChangedOnDisk):
        disk.swap_file(note, NEW, expected_digest=disk.content_digest(OLD), lock=FREE, token=meanwhile)
    assert not note.exists() or note.read_bytes() in (OLD, b"by hand\n")
    assert names_in(note.parent) <= {"note.org", ".#note.org"}


@pytest.mark.parametrize("human", [change, hold, Path.unlink])
def test_what_the_human_does_to_a_note_on_its_way_is_kept(
    human: Callable[[Path], None], note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save that falls between our copying and our removing wins, and no second copy stays."""
    trash = note.parent / "trash"
    trash.mkdir()
    fsync = os.fsync
    humans = iter([human])

    def fsync_and_be_overtaken(fd: int) -> None:
        fsync(fd)
        for act in humans:
            act(note)

    monkeypatch.setattr(os, "fsync", fsync_and_be_overtaken)
    with pytest.raises(ChangedOnDisk):
        disk.move_file(note, trash / "note.org", expected_digest=disk.content_digest(OLD), lock=FREE)
    if human is Path.unlink:
        # removed by somebody else at that moment: ours is the only copy left
        assert (trash / "note.org").read_bytes() == OLD
    else:
        assert note.read_bytes() == (b"by hand\n" if human is change else OLD)
        assert names_in(trash) == set()


def test_a_copy_that_may_not_last_is_no_copy(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk won't promise to keep the copy, the note stays and the copy goes."""
    trash = note.parent / "trash"
    trash.mkdir()
    answers = iter([None, OSError(errno.EIO, "no promise")])

    def fsync(_: int) -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DiskError, match="nothing was moved"):
        disk.move_file(note, trash / "note.org", expected_digest=disk.content_digest(OLD), lock=FREE)
    assert note.read_bytes() == OLD
    assert names_in(trash) == set()


def test_a_copy_that_reads_otherwise_is_no_copy(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a disk garbles what it's given, the note stays and the copy goes."""
    trash = note.parent / "trash"
    trash.mkdir()
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, b"?" * len(data)))
    with pytest.raises(DiskError, match="something else than was written"):
        disk.move_file(note, trash / "note.org", expected_digest=disk.content_digest(OLD), lock=FREE)
    assert note.read_bytes() == OLD
    assert names_in(trash) == set()


def test_a_note_isnt_changed_while_another_roamkb_is_at_it(note: Path, tmp_path: Path) -> None:
    """Both a change and a move take the lock that they are given."""
    with hold_lock(tmp_path / "lock"):
        with pytest.raises(Busy):
            disk.swap_file(
                note, NEW, expected_digest=disk.content_digest(OLD), lock=hold_lock(tmp_path / "lock", wait=0)
            )
        with pytest.raises(Busy):
            disk.move_file(
                note,
                tmp_path / "moved",
                expected_digest=disk.content_digest(OLD),
                lock=hold_lock(tmp_path / "lock", wait=0),
            )
    assert note.read_bytes() == OLD
    assert names_in(tmp_path) == {"lock", "note.org"}


def test_a_link_is_left_alone(note: Path) -> None:
    """A link isn't turned into a file, nor taken away."""
    link = note.parent / "link.org"
    link.symlink_to(note)
    with pytest.raises(DiskError, match="roamkb changes no links"):
        disk.swap_file(link, NEW, expected_digest=disk.content_digest(OLD), lock=FREE)
    with pytest.raises(DiskError, match="roamkb changes no links"):
        disk.move_file(link, note.parent / "moved", expected_digest=disk.content_digest(OLD), lock=FREE)
    assert link.is_symlink()
    assert note.read_bytes() == OLD


def test_a_note_moves_to_another_file_system(note: Path, tmp_path: Path) -> None:
    """The trash may be anywhere."""
    note.chmod(0o640)
    with tmpfs(tmp_path / "trash", "64k") as trash:
        disk.move_file(note, trash / "note.org", expected_digest=disk.content_digest(OLD), lock=FREE)
        assert not note.exists()
        assert (trash / "note.org").read_bytes() == OLD
        assert (trash / "note.org").stat().st_mode & 0o777 == 0o640


def test_a_move_overwrites_nothing(note: Path) -> None:
    """A name taken in the trash keeps the note where it is."""
    taken = note.parent / "taken.org"
    taken.write_bytes(NEW)
    with pytest.raises(NameTaken):
        disk.move_file(note, taken, expected_digest=disk.content_digest(OLD), lock=FREE)
    assert (note.read_bytes(), taken.read_bytes()) == (OLD, NEW)


def test_a_trash_that_is_full_keeps_the_note(note: Path, tmp_path: Path) -> None:
    """No copy, no move."""
    note.write_bytes(OLD * 10_000)
    with tmpfs(tmp_path / "trash", "64k") as trash:
        with pytest.raises(DiskError, match="the disk is full"):
            disk.move_file(note, trash / "note.org", expected_digest=disk.content_digest(OLD * 10_000), lock=FREE)
        assert names_in(trash) == set()
    assert note.read_bytes() == OLD * 10_000


def test_a_reader_never_sees_a_part(note: Path) -> None:
    """While one process changes a note again and again, another sees whole versions only."""
    versions = [bytes([digit]) * 200_000 for digit in b"0123456789"]
    note.write_bytes(versions[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(note.read_bytes())

    reader = threading.Thread(target=watch)
    reader.start()
    for before, after in itertools.pairwise(versions * 3):
        disk.swap_file(note, after, expected_digest=disk.content_digest(before), lock=FREE)
    done.set()
    reader.join()
    assert seen <= set(versions)


def test_ctrl_c_leaves_nothing_half_done(tmp_path: Path) -> None:
    """A write that is interrupted leaves whole notes and no leftovers that a reader takes."""

    fork = multiprocessing.get_context("fork")
    busy = fork.Event()

    def write() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            for number in itertools.count():
                disk.create_file(tmp_path, f"{number}.org", NEW * 1000)
                if number == 20:
                    busy.set()
        except KeyboardInterrupt:
            os._exit(130)

    child = fork.Process(target=write)
    child.start()
    busy.wait()
    assert child.pid is not None
    os.kill(child.pid, signal.SIGINT)
    child.join()
    assert child.exitcode == 130
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {NEW * 1000}


def test_a_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    """Each with the mode asked for; one that is there stays as it is."""
    os.umask(0o022)
    assert disk.make_folder(tmp_path / "a" / "b", mode=0o700) == tmp_path / "a" / "b"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert disk.make_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="isn't a folder"):
        disk.make_folder(tmp_path / "file" / "b")


def test_the_umask_alone_narrows_what_is_made(tmp_path: Path) -> None:
    """Files are their owner's to write and everybody's to read, folders everybody's, where it takes nothing."""
    before = os.umask(0)
    try:
        made = (
            disk.create_file(tmp_path, "a.org", NEW),
            disk.create_unique(tmp_path, ("b.org",), NEW),
            disk.make_folder(tmp_path / "folder"),
        )
    finally:
        os.umask(before)
    assert [0o644, 0o644, 0o777] == [path.stat().st_mode & 0o777 for path in made]


def test_without_hard_links_a_name_that_is_taken_stays_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on exFAT: the file is renamed, and no other one goes for it."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "link", refuse)
    assert NEW == disk.create_file(tmp_path, "a.org", NEW).read_bytes()
    with pytest.raises(NameTaken):
        disk.create_file(tmp_path, "a.org", OLD)
    assert ({"a.org"}, NEW) == (names_in(tmp_path), (tmp_path / "a.org").read_bytes())


def test_a_removal_that_may_not_last_is_told(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note is gone, and a power cut may bring it back."""

    def fsync(_: int) -> None:
        raise OSError(errno.EIO, "no promise")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(NotDurable, match="may come back"):
        disk.remove_file(note, expected_digest=disk.content_digest(OLD), lock=FREE)
    assert not note.exists()


def test_an_error_is_a_sentence() -> None:
    """Known reasons are said in plain words with what to do, others in the system's."""
    full = disk.disk_error(Path("/kb/a.org"), OSError(28, "No space left on device"))
    assert str(full) == "/kb/a.org: the disk is full"
    assert full.hint
    odd = disk.disk_error(Path("/kb/a.org"), OSError(71, "Protocol error"))
    assert str(odd) == "/kb/a.org: protocol error"
