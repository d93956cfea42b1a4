"""The journal's file: what a look reads, keeps and forgets, and what it costs."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from roamkb.core.errors import Busy
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotWritable
from roamkb.fs.locks import hold_lock
from roamkb.journal import moments as bounds
from roamkb.journal import names as journal_names
from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import JournalSession
from roamkb.journal.names import TOO_LARGE
from roamkb.journal.store import look as journal_look
from roamkb.journal.store.journal import Journal

_DAY = 86400.0
_SESSION = JournalSession(id="s", kind="work", agent="claude-code")


@dataclass
class Clock:
    """A clock that is set."""

    now: float = 1_750_000_000.0

    def __call__(self) -> float:
        """What it shows."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock."""
    return Clock()


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> Journal:
    """The journal of an empty knowledge base."""
    (tmp_path / "kb" / ".stfolder").mkdir(parents=True)
    return Journal(kb=tmp_path / "kb", folder=tmp_path / "journal", clock=clock)


def write(journal: Journal, name: str, text: str = "words") -> Path:
    """Put a file among the notes."""
    path = journal.kb / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def told(journal: Journal, since: int = 1) -> list[tuple[str, str]]:
    """What became of which name since a moment."""
    return [(one.what.value, os.fsdecode(one.path)) for one in journal.changes_since(since)]


def held(journal: Journal, entry: FolderEntry | None) -> bytes:
    """What an entry held."""
    assert entry is not None
    with journal.content_reader() as content:
        return content(entry)


def test_a_look_without_a_change_leaves_the_file_alone(journal: Journal) -> None:
    """It is made at every prompt."""
    os.utime(write(journal, "a.org"), (1, 1))
    journal.take_look(look_kind="mark", session=_SESSION)
    time.sleep(2.1)
    journal.take_look(session=_SESSION)
    before = journal.database_path.read_bytes(), journal.database_path.stat().st_mtime_ns
    assert () == journal.take_look(session=_SESSION).changes
    assert before == (journal.database_path.read_bytes(), journal.database_path.stat().st_mtime_ns)


def test_a_change_that_leaves_size_and_times_is_seen(journal: Journal) -> None:
    """`touch -r` and a file system with slow clocks hide nothing: the time of any change can't be set."""
    path = write(journal, "a.org", "one")
    seen = path.stat()
    journal.take_look(look_kind="mark")
    path.write_text("two")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert [ChangeKind.CHANGED] == [one.what for one in journal.take_look().changes]
    assert b"one" == held(journal, journal.changes_since(1)[0].was)


def test_what_programs_leave_beside_notes_is_no_note(journal: Journal) -> None:
    """Locks, backups, temporary names, databases, and the content of hidden folders."""
    journal.take_look(look_kind="mark")
    for name in (".#a.org", "#a.org#", "a.org~", ".syncthing.a.org.tmp", "org-roam.db", ".a.org.swp"):
        write(journal, name)
    write(journal, ".git/config")
    write(journal, ".stversions/a~20260610-142900.org")
    write(journal, ".dir-locals.el")
    write(journal, "a.sync-conflict-20260610-142900-ABCDEFG.org")
    write(journal, "note.org_archive")
    journal.take_look()
    expected = {".git", ".stversions", ".dir-locals.el", "a.sync-conflict-20260610-142900-ABCDEFG.org"}
    assert {("added", name) for name in (*expected, "note.org_archive")} == set(told(journal))


def test_what_is_too_large_is_known_by_name(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said to be unkept, and that it changed."""
    monkeypatch.setattr(journal_names, "MAX_FILE_BYTES", 10)
    film = write(journal, "film.mp4", "long" * 10)
    journal.take_look(look_kind="mark")
    assert ((b"film.mp4", TOO_LARGE),) == journal.read_holdings().unkept
    film.write_text("longer" * 10)
    journal.take_look()
    assert [("changed", "film.mp4")] == told(journal)


def test_pipes_and_sockets_hold_nobody_up(journal: Journal) -> None:
    """They are names, and nothing is read."""
    os.mkfifo(journal.kb / "pipe.org")
    journal.take_look(look_kind="mark")
    (journal.kb / "pipe.org").unlink()
    journal.take_look()
    assert [("vanished", "pipe.org")] == told(journal)


def test_a_first_mark_comes_in_pieces(journal: Journal) -> None:
    """What there was no time for is read at the next look, and is no change."""
    for n in range(50):
        write(journal, f"{n}.org", f"words {n}")
    first = journal.take_look(look_kind="mark", session=_SESSION, budget=0.0)
    # not even the names could be listed
    assert (0, 1) == (first.moment, first.waiting)
    while (looked := journal.take_look(look_kind="mark", session=_SESSION, budget=0.02)).waiting > 0:
        assert () == looked.changes
    assert 50 == journal.read_holdings().contents
    assert () == journal.take_look().changes


def test_what_changed_before_it_was_read_is_postponed(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A known note that there was no time to read is neither changed nor lost: the next look reads it."""
    path = write(journal, "a.org", "one")
    journal.take_look(look_kind="mark")
    path.write_text("two")
    with monkeypatch.context() as patch:
        patch.setattr(journal_look, "_MAX_BATCH_BYTES", -1)
        assert ((), 1) == ((looked := journal.take_look(budget=60)).changes, looked.waiting)
    assert [ChangeKind.CHANGED] == [one.what for one in journal.take_look().changes]


def test_a_folder_that_cant_be_listed_hides_nothing(journal: Journal) -> None:
    """What lies in it may be there as before."""
    write(journal, "deep/a.org")
    journal.take_look(look_kind="mark")
    probe = (
        "import os, sys; os.setgid(65534); os.setuid(65534); sys.exit(0 if not os.access(sys.argv[1], os.R_OK) else 1)"
    )
    (journal.kb / "deep").chmod(0)
    try:
        if os.getuid() == 0:
            # root reads it all the same
            assert 0 == subprocess.run([sys.executable, "-c", probe, journal.kb / "deep"], check=False).returncode
        journal.take_look()
        assert [("mode", "deep")] == told(journal)
    finally:
        (journal.kb / "deep").chmod(0o755)


def test_the_past_goes_by_age(journal: Journal, clock: Clock) -> None:
    """After thirty days what isn't there any more is forgotten, and its copy with it."""
    path = write(journal, "a.org", "one")
    journal.take_look(look_kind="mark")
    path.write_text("two")
    journal.take_look()
    assert b"one" == held(journal, journal.changes_since(1)[0].was)
    clock.now += (bounds.RETENTION_DAYS + 1) * _DAY
    path.write_text("three")
    journal.take_look()
    (two,) = journal.changes_since(2)
    assert b"two" == held(journal, two.was)
    assert 2 == journal.read_holdings().contents
    assert [3] == [moment.id for moment in journal.list_moments()]


def test_what_was_just_destroyed_stays_however_full_it_is(
    journal: Journal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was replaced long ago goes first, what vanished goes then, what is a week old never."""
    noise = {name: os.urandom(40_000).hex() for name in ("old", "gone", "new")}
    monkeypatch.setattr(journal_look, "MAX_STORED_BYTES", 100_000)
    monkeypatch.setattr(journal_look, "_SWEEP_BATCH", 1)
    old, gone, new = (write(journal, f"{name}.org", text) for name, text in noise.items())
    journal.take_look(look_kind="mark")
    gone.unlink()
    journal.take_look()
    clock.now += 2 * _DAY
    old.write_text("other")
    journal.take_look()
    clock.now += bounds.MIN_RETENTION_DAYS * _DAY + 1
    new.unlink()
    journal.take_look()
    kept = {one.was.path: one.was for one in journal.changes_since(1) if one.was}
    assert {b"new.org"} == kept.keys()
    assert noise["new"].encode() == held(journal, kept[b"new.org"])


def test_a_full_journal_takes_nothing_more_and_says_so(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds stays."""
    path = write(journal, "a.org", "one")
    journal.take_look(look_kind="mark")
    monkeypatch.setattr(journal_look, "REFUSAL_BYTES", 1)
    path.write_text(os.urandom(4000).hex())
    journal.take_look()
    assert ((b"a.org", journal_names.FULL),) == journal.read_holdings().unkept
    assert b"one" == held(journal, journal.changes_since(1)[0].was)


def test_a_journal_of_another_version_is_left_alone(journal: Journal) -> None:
    """It may hold what is nowhere else."""
    journal.take_look(look_kind="mark")
    with journal._open_locked() as db:
        db.execute("PRAGMA user_version = 99")
    before = journal.database_path.read_bytes()
    with pytest.raises(DiskError, match="is another roamkb's"):
        journal.take_look()
    assert before == journal.database_path.read_bytes()


def test_a_look_waits_for_another_one(journal: Journal) -> None:
    """Two at once would each compare with half of the other."""
    journal.take_look(look_kind="mark")
    with hold_lock(journal.folder / "journal.lock"), pytest.raises(Busy):
        journal.take_look(wait=0)


def test_sessions_that_look_at_once_lose_nothing(journal: Journal) -> None:
    """Six processes, each after a change of its own; each change is seen once."""
    journal.take_look(look_kind="mark")

    def at_once(n: int) -> bool:
        write(journal, f"{n}.org", f"words {n}")
        journal.take_look()
        return True

    children = [fork(lambda n=n: at_once(n)) for n in range(6)]  # type: ignore[misc]
    assert [0] * 6 == [os.waitpid(child, 0)[1] for child in children]
    journal.take_look()
    assert [("added", f"{n}.org") for n in range(6)] == told(journal)
    assert 6 == sum(moment.changed for moment in journal.list_moments())


def test_a_kill_at_any_moment_leaves_a_whole_journal(journal: Journal) -> None:
    """SIGKILL after so many milliseconds, again and again; in the end every note is held."""
    for n in range(400):
        write(journal, f"{n}.org", f"words {n} " * 50)
    journal.take_look(look_kind="mark", budget=0.01)
    for n in range(12):
        write(journal, f"{n}.org", f"others {n} " * 50)
        child = fork(lambda: bool(journal.take_look()))
        time.sleep(0.004 * n)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    journal.take_look()
    assert () == journal.damaged_files
    assert 0 == journal.drop_damaged_copies()
    assert 400 == journal.read_holdings().entries
    assert 0 == journal.read_holdings().waiting


def test_a_look_costs_no_more_than_three_stat_walks(tmp_path: Path) -> None:
    """By the processor's time, the same folder, taken in turns."""
    journal = Journal(kb=tmp_path / "kb", folder=tmp_path / "journal")
    for n in range(4000):
        write(journal, f"{n % 40}/202601{n:08d}-some_note_about_{n}.org")
    journal.take_look(look_kind="mark", session=_SESSION)
    time.sleep(2.1)
    journal.take_look(session=_SESSION)
    looks, walks = [], []
    for _ in range(9):
        looks.append(spent(lambda: journal.take_look(session=_SESSION)))
        walks.append(spent(lambda: stat_walk(journal.kb)))
    assert min(looks) <= 3 * min(walks), (min(looks), min(walks))


def stat_walk(folder: Path) -> int:
    """Ask each name for its stat, and nothing else."""
    pending, count = [str(folder)], 0
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return count


def spent(call: Callable[[], object]) -> float:
    """The processor's time that a call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def fork(call: Callable[[], bool]) -> int:
    """Run a call in a process of its own; return its number."""
    if child := os.fork():
        return child
    status = 9
    try:
        status = 0 if call() else 1
    finally:
        os._exit(status)


#: Saves a note again and again, as Emacs does: renamed away and written anew, or in place.
_SAVES = """
(progn (setq make-backup-files t backup-by-copying (getenv "IN_PLACE") create-lockfiles t)
  (find-file "a.org")
  (dotimes (n 120) (goto-char (point-max)) (insert (format "line %d\\n" n)) (set-buffer-modified-p t)
    (basic-save-buffer)))
"""


@pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here (Debian: emacs-nox)")
@pytest.mark.parametrize("in_place", ["", "1"], ids=["renamed", "in place"])
def test_a_note_that_emacs_saves_never_vanishes(journal: Journal, in_place: str) -> None:
    """Looks while real Emacs saves: the note is always there, and each copy is one that was saved."""
    write(journal, "a.org", "#+title: a\n")
    journal.take_look(look_kind="mark")
    environment = {**os.environ, "HOME": str(journal.folder), **({"IN_PLACE": in_place} if in_place else {})}
    emacs = subprocess.Popen(["emacs", "-Q", "--batch", "--eval", _SAVES], cwd=journal.kb, env=environment)
    seen: list[EntryChange] = []
    while emacs.poll() is None:
        seen += journal.take_look().changes
    seen += journal.take_look().changes
    notes = [one for one in seen if one.path == b"a.org"]
    assert {ChangeKind.CHANGED} == {one.what for one in notes}
    assert {ChangeMaker.UNKNOWN} == {one.by for one in notes}
    for one in notes:
        lines = held(journal, one.now).decode().splitlines()
        # a machine that is slow enough may leave Emacs between emptying the file and writing it
        assert not lines or lines == ["#+title: a", *(f"line {n}" for n in range(len(lines) - 1))]


def test_a_sandbox_may_read_what_it_cant_change(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent may see what became of the notes where the kernel keeps it from writing."""
    write(journal, "a.org").touch()
    journal.take_look(look_kind="mark")
    (journal.kb / "a.org").unlink()
    journal.take_look()
    whole = os.open

    def walled(path: str, flags: int, *more: int, **options: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY) and str(path).startswith(str(journal.folder)):
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), path)
        return whole(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", walled)
    assert [("vanished", "a.org")] == told(journal)
    with pytest.raises(NotWritable):
        journal.take_look()
