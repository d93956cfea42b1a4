"""Answers from a look that trusts folders which are as they were: those of a complete look, with one exception."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import NoKnowledgeBase
from roamkb.fs.tree_digest import KnownTree
from roamkb.fs.tree_digest import TreeDigest
from roamkb.fs.tree_digest import digest_tree
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query
from tests.examples import examples
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base

#: Nanoseconds after which times are trusted.
_LATER = 3_000_000_000
_WORDS = ("zebra", "okapi", "tapir")


class Prompts:
    """A knowledge base, and what the last complete look left for the prompts after it."""

    def __init__(self, folder: Path) -> None:
        self.base = Base(folder)
        self.base.kb.rename(folder / "real")
        # as many have it, for a folder that is synced
        self.base.kb.symlink_to("real")
        for number in range(9):
            place = ("", "sub/", "sub/deep/")[number % 3]
            self.base.note(f"{place}{number}.org", f"Note {number}", f"{_WORDS[number % 2]} of old")
        #: Notes that were written into as they lay there, so that no folder tells of it.
        self.hidden: set[Path] = set()
        self.look_at_all()

    @property
    def root(self) -> Path:
        """Where the notes really are."""
        return self.base.kb.resolve()

    def digest(self, known: KnownTree | None = None) -> TreeDigest | None:
        """The folder's digest."""
        return digest_tree(str(self.root), known=known, clock=lambda: time.time_ns() + _LATER)

    def look_at_all(self) -> None:
        """Look at all, and have the index agree with it."""
        self.base.ahead = _LATER
        for _ in range(3):
            self.find("zebra", None)
        tree = self.digest()
        assert tree
        self.recorded = tree.hex
        self.known = KnownTree.from_json(tree.to_json().encode(), clock=lambda: time.time_ns() + _LATER)
        assert self.known
        self.recent = {name for names in self.known._recent.values() for name in names}
        self.hidden.clear()

    def find(self, word: str, tree: TreeDigest | None) -> PassageHits:
        """The answers of the stored index."""
        index = Index(Notes(self.base.kb, tree=tree), self.base.cache, clock=lambda: time.time_ns() + self.base.ahead)
        return index.find_passages(parse_query(word, today=TODAY))

    def check(self) -> None:
        """A prompt's answers are those of a new index; where a change is hidden, none is as it was."""
        tree = self.digest(self.known)
        if tree is None or tree.hex != self.recorded:
            tree = None
        for word in _WORDS:
            fresh = Index(Notes(self.base.kb), None).find_passages(parse_query(word, today=TODAY))
            found = self.find(word, tree)
            if not self.hidden:
                assert fresh == found
            for answer in found.answers:
                text = (self.base.kb / answer.file).read_text()
                assert all(line in text for _, line in answer.lines)

    def wait(self) -> None:
        """Return when what is written now gets a later time than all that was written before."""
        times = [path.lstat().st_ctime_ns for path in (self.root, *self.root.rglob("*"))]
        probe = self.root.parent / "probe"
        while True:
            probe.write_text("x")
            if probe.stat().st_ctime_ns > max(times, default=0):
                return

    # What happens to notes

    def notes(self) -> list[Path]:
        """The notes, by name."""
        return sorted(path for path in self.root.rglob("*.org") if not path.is_symlink())

    def pick(self, number: int) -> Path | None:
        """One of the notes."""
        notes = self.notes()
        return notes[number % len(notes)] if notes else None

    def write_in_place(self, number: int, word: str) -> None:
        """Write into a note as it lies there."""
        if path := self.pick(number):
            with path.open("a") as file:
                file.write(f"{word} in place\n")
            if path.name not in self.recent:
                self.hidden.add(path)

    def cut_in_place(self, number: int, word: str) -> None:
        """Write another text of the same length over a note as it lies there."""
        if path := self.pick(number):
            with path.open("r+") as file:
                text = file.read().replace("of old", f"{word[:3]}new")
                file.seek(0)
                file.write(text)
            if path.name not in self.recent:
                self.hidden.add(path)

    def replace(self, number: int, word: str) -> None:
        """Save a note as most programs do."""
        if path := self.pick(number):
            beside = path.with_name(f".{path.name}.tmp")
            beside.write_text(f"{path.read_text()}{word} replaced\n")
            beside.replace(path)

    def add(self, number: int, word: str) -> None:
        """Add a note."""
        folder = ("", "sub/", "new/")[number % 3]
        self.base.note(f"{folder}added-{number}.org", f"Added {number}", f"{word} added")

    def delete(self, number: int, _word: str) -> None:
        """Delete a note."""
        if path := self.pick(number):
            path.unlink()

    def rename(self, number: int, word: str) -> None:
        """Rename a note."""
        if path := self.pick(number):
            path.rename(path.with_name(f"{word}-{path.name}"))

    def move_folder(self, _number: int, word: str) -> None:
        """Rename a folder with all that is in it."""
        if (self.root / "sub").is_dir():
            shutil.rmtree(self.root / word, ignore_errors=True)
            (self.root / "sub").rename(self.root / word)

    def link_folder(self, number: int, word: str) -> None:
        """Link to notes that lie where none are looked for."""
        hidden = self.root / ".hidden"
        hidden.mkdir(exist_ok=True)
        (hidden / f"{number}.org").write_text(f":PROPERTIES:\n:ID: h{number}\n:END:\n#+title: H\n\n{word} linked\n")
        if not os.path.lexists(self.root / "link"):
            (self.root / "link").symlink_to(".hidden")

    def add_copy(self, number: int, _word: str) -> None:
        """Leave a conflict copy of a note."""
        if path := self.pick(number):
            shutil.copy(path, path.with_name(f"{path.stem}.sync-conflict-20240101-000000-ABCDEFG.org"))

    def lock(self, number: int, _word: str) -> None:
        """Leave an editor's lock beside a note."""
        if (path := self.pick(number)) and not os.path.lexists(path.with_name(f".#{path.name}")):
            path.with_name(f".#{path.name}").symlink_to("human@host.1234")

    def look(self, _number: int, _word: str) -> None:
        """Look at all, as a turn's end does."""
        self.look_at_all()


_STEPS: tuple[Callable[[Prompts, int, str], None], ...] = (
    Prompts.write_in_place,
    Prompts.cut_in_place,
    Prompts.replace,
    Prompts.add,
    Prompts.delete,
    Prompts.rename,
    Prompts.move_folder,
    Prompts.link_folder,
    Prompts.add_copy,
    Prompts.lock,
    Prompts.look,
)


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(_STEPS), st.integers(0, 8), st.sampled_from(_WORDS)), max_size=7))
def test_a_prompt_is_answered_as_by_a_complete_look(
    steps: list[tuple[Callable[[Prompts, int, str], None], int, str]],
) -> None:
    """But for what was written into an old note as it lay there: that is found by its old words, and never shown so."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("roamkb.fs.tree_digest._MOST_RECENT", 3)
        prompts = Prompts(Path(folder))
        for step, number, word in steps:
            prompts.wait()
            step(prompts, number, word)
            prompts.check()


@pytest.mark.parametrize("step", [Prompts.write_in_place, Prompts.cut_in_place])
def test_a_note_that_was_written_into_is_shown_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Callable[[Prompts, int, str], None]
) -> None:
    """The look didn't notice, and the answer does."""
    monkeypatch.setattr("roamkb.fs.tree_digest._MOST_RECENT", 0)
    prompts = Prompts(tmp_path)
    prompts.wait()
    step(prompts, 0, "zebra")
    tree = prompts.digest(prompts.known)
    assert prompts.hidden and tree and tree.hex == prompts.recorded
    prompts.check()
    assert 5 == len(prompts.find("zebra", tree).answers)


def test_a_folder_that_is_no_longer_mounted_is_none(tmp_path: Path) -> None:
    """Whatever is known of it."""
    prompts = Prompts(tmp_path)
    shutil.rmtree(prompts.root)
    prompts.root.mkdir()
    with pytest.raises(NoKnowledgeBase):
        prompts.find("zebra", prompts.digest(prompts.known))
