"""Agents and a human at one knowledge base, against a dictionary."""

import contextlib
import shutil
import tempfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.stateful import invariant
from hypothesis.stateful import precondition
from hypothesis.stateful import rule

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.fs import files as disk
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import hold_lock
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.file_names import note_names
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.trash import TrashEntry
from roamkb.kb.notes.store.walk import walk_notes
from tests.examples import examples

WHEN = datetime(2026, 6, 10, 14, 29)
SLUGS = st.sampled_from(["", "oauth", "日本語", "x" * 300])
TEXTS = st.binary(max_size=40)
#: Whom a rule is about: an index into the sorted names, so that a shrunk example stays readable.
PICK = st.integers(min_value=0, max_value=30)


class Disk(RuleBasedStateMachine):
    """What the disk layer does to files is what a dictionary would do, and what a human does stays."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.kb = self.top / "kb"
        self.kb.mkdir()
        state = StateFolders(state=self.top / "state", cache=self.top / "cache")
        self.lock_file = state.lock_file(self.kb)
        self.trash = Trash(
            kb=self.kb,
            folder=state.trash_folder(self.kb),
            lock_file=self.lock_file,
            now=lambda: WHEN,
            token=self.token,
        )
        self.count = 0
        #: The model: every file by its name, which of them Emacs holds, and what is in the trash.
        self.files: dict[str, bytes] = {}
        self.held: set[str] = set()
        self.trashed: dict[str, tuple[TrashEntry, bytes]] = {}

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.top)

    def token(self) -> str:
        """Return the next of a row of names that never repeats."""
        self.count += 1
        return f"{self.count:06}"

    def any_name(self, pick: int) -> str:
        """Return one of the files."""
        return sorted(self.files)[pick % len(self.files)]

    def have_files(self) -> bool:
        """Say whether there is anything to act on."""
        return bool(self.files)

    def have_trash(self) -> bool:
        """Say whether there is anything to restore."""
        return bool(self.trashed)

    @rule(slug=SLUGS, id=st.sampled_from(["0a1b", "2c3d"]), text=TEXTS)
    def create(self, slug: str, id: str, text: bytes) -> None:
        """An agent writes a note: the first free name, or none at all."""
        names = note_names(WHEN, slug, f"0-{id}")
        free = [name for name in names if name not in self.files]
        if free:
            path = disk.create_unique(self.kb, names, text, token=self.token)
            assert path == self.kb / free[0]
            self.files[path.name] = text
        else:
            with pytest.raises(NameTaken):
                disk.create_unique(self.kb, names, text, token=self.token)

    @precondition(have_files)
    @rule(pick=PICK, text=TEXTS, seen=st.none() | TEXTS)
    def swap(self, pick: int, text: bytes, seen: bytes | None) -> None:
        """An agent changes what it has read, now or long ago."""
        name = self.any_name(pick)
        seen = self.files[name] if seen is None else seen
        with self.refusal(name, seen):
            disk.swap_file(
                self.kb / name,
                text,
                expected_digest=disk.content_digest(seen),
                lock=hold_lock(self.lock_file),
                token=self.token,
            )
            self.files[name] = text

    @precondition(have_files)
    @rule(pick=PICK, seen=st.none() | TEXTS)
    def put_into_trash(self, pick: int, seen: bytes | None) -> None:
        """An agent trashes what it has read, now or long ago."""
        name = self.any_name(pick)
        seen = self.files[name] if seen is None else seen
        with self.refusal(name, seen) if is_note(name) else pytest.raises(DiskError):
            entry = self.trash.trash_note(self.kb / name, was=disk.content_digest(seen), id=name, title="")
            self.trashed[entry.key] = (entry, self.files.pop(name))

    def refusal(self, name: str, seen: bytes) -> contextlib.AbstractContextManager[object]:
        """Expect `ChangedOnDisk` just where the human has been faster."""
        refused = name in self.held or self.files[name] != seen
        return pytest.raises(ChangedOnDisk) if refused else contextlib.nullcontext()

    @precondition(have_trash)
    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        """A note comes back, unless its name has been taken."""
        key = sorted(self.trashed)[pick % len(self.trashed)]
        entry, text = self.trashed[key]
        if entry.file in self.files:
            with pytest.raises(NameTaken):
                self.trash.restore_entry(entry, self.trash.read_entry(entry))
        else:
            assert self.trash.restore_entry(entry, self.trash.read_entry(entry)) == self.kb / entry.file
            self.files[entry.file] = text
            del self.trashed[key]

    @rule(
        name=st.sampled_from(["20260610142900-oauth.org", "mine.org", "b.sync-conflict-20260610-142900.org"]),
        text=TEXTS,
    )
    def human_writes(self, name: str, text: bytes) -> None:
        """The human, or a syncer, puts a file there."""
        (self.kb / name).write_bytes(text)
        self.files[name] = text

    @precondition(have_files)
    @rule(pick=PICK)
    def human_deletes(self, pick: int) -> None:
        """The human removes a file."""
        name = self.any_name(pick)
        (self.kb / name).unlink()
        del self.files[name]

    @precondition(have_files)
    @rule(pick=PICK)
    def human_begins_an_edit(self, pick: int) -> None:
        """Emacs marks a file as changed and not yet saved, or as saved."""
        name = self.any_name(pick)
        link = self.kb / f".#{name}"
        if name in self.held:
            link.unlink()
            self.held.remove(name)
        else:
            link.symlink_to("human@host.1:2")
            self.held.add(name)

    @invariant()
    def the_files_are_those_of_the_model(self) -> None:
        """Nothing is lost, changed, or left over, in the base and in the trash."""
        there = {path.name: path.read_bytes() for path in self.kb.iterdir() if not path.is_symlink()}
        assert there == self.files
        assert [note.file for note in walk_notes(self.kb).files] == sorted(filter(is_note, self.files))
        assert {entry.key: entry for entry in self.trash.list_entries()} == {
            key: entry for key, (entry, _) in self.trashed.items()
        }
        if self.trash.folder.exists():
            assert len(list(self.trash.folder.iterdir())) == 2 * len(self.trashed)


class DiskWithoutUnnamedFiles(Disk):
    """The same where a file must have a name from the start, macOS among them."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.delattr("os.O_TMPFILE", raising=False)

    def teardown(self) -> None:
        """Leave the system as it was."""
        self.patch.undo()
        super().teardown()


QUICK = settings(
    max_examples=examples(30),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestDisk = Disk.TestCase
TestDisk.settings = QUICK
TestDiskWithoutUnnamedFiles = DiskWithoutUnnamedFiles.TestCase
TestDiskWithoutUnnamedFiles.settings = QUICK
