"""A program that changes a knowledge base in every way that the system knows: `note_writer.py KB SEED STEPS`.

After each change it prints a line and waits for one, so that who reads its lines knows that the change is done.
With `telling` behind, it also writes a note that no other writer touches, and prints the word in it.
"""

import os
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

NAMES = [f"{letter}.org" for letter in "abcdef"]
OTHER_NAMES = [".#a.org", "#a.org#", "a.org~", "c.sync-conflict-20260101-101010-ABCDEFG.org", "d.org.gpg", "p.png"]
FOLDERS = ["", "x", "x/y", "z", ".hidden", ".hidden/deep", "data"]


class NoteWriter:
    """One writer, with a folder of its own beside the knowledge base."""

    def __init__(self, kb: Path, seed: int) -> None:
        self.kb = kb
        self.outside = kb.parent / f"outside{seed}"
        self.outside.mkdir(exist_ok=True)
        self.dice = random.Random(seed)
        self.count = 0
        self.changes: list[Callable[[], object]] = [
            self.create, self.create, self.append, self.append, self.rename_over, self.rename_over, self.truncate,
            self.delete, self.rename, self.make_folder, self.remove_folder, self.move_folder_out, self.move_folder_in,
            self.link_folder, self.link_file, self.link_hard, self.write_through_hard_link, self.unlink, self.drop,
            self.forbid_and_allow, self.set_times, self.write_through_link, self.swap_folders,
        ]  # fmt: skip

    def text(self) -> str:
        """Return a text that was never there."""
        self.count += 1
        word = "".join(self.dice.choice("abcdefghijklm") for _ in range(8))
        return f"#+title: {word}\nword{self.count} {word}\n"

    def folder(self) -> Path:
        """Return a folder that notes may lie in."""
        return self.kb / self.dice.choice(FOLDERS)

    def note(self) -> Path:
        """Return the path of a note that may be there."""
        return self.folder() / self.dice.choice(NAMES)

    def create(self) -> None:
        """Write a whole file."""
        self.note().write_text(self.text())

    def append(self) -> None:
        """Add to a file in several calls."""
        with self.note().open("a") as file:
            file.write("more\n")
            file.flush()
            file.write(self.text())

    def rename_over(self) -> None:
        """Replace a file, as syncers and editors do."""
        path = self.note()
        other = path.with_name(f".syncthing.{path.name}.tmp")
        other.write_text(self.text())
        other.replace(path)

    def truncate(self) -> None:
        """Empty a file and write to it again."""
        with self.note().open("r+") as file:
            file.truncate(0)
            file.write(self.text())

    def delete(self) -> None:
        """Remove a file."""
        self.note().unlink()

    def rename(self) -> None:
        """Give a file another name."""
        self.note().rename(self.note())

    def make_folder(self) -> None:
        """Make a folder."""
        self.folder().mkdir(parents=True, exist_ok=True)

    def remove_folder(self) -> None:
        """Remove a folder with all that is in it."""
        folder = self.folder()
        if folder != self.kb:
            shutil.rmtree(folder)

    def move_folder_out(self) -> None:
        """Move a folder away."""
        folder = self.folder()
        if folder != self.kb:
            folder.rename(self.outside / f"moved{self.count}")
            self.count += 1

    def move_folder_in(self) -> None:
        """Bring a folder back, or one with notes that was never there."""
        moved = sorted(self.outside.glob("moved*"))
        if not moved:
            moved = [self.outside / "moved"]
            (moved[0] / "y").mkdir(parents=True)
            (moved[0] / "y" / "a.org").write_text(self.text())
        self.dice.choice(moved).rename(self.folder())

    def swap_folders(self) -> None:
        """Put a folder's namesake in its place."""
        folder = self.kb / "x"
        other = self.outside / "x"
        shutil.copytree(folder, other, symlinks=True)
        (other / "a.org").write_text(self.text())
        folder.rename(self.outside / f"moved{self.count}")
        self.count += 1
        other.rename(folder)

    def link_folder(self) -> None:
        """Link to a folder: one with notes, a hidden one, one outside, or nothing."""
        name = self.dice.choice(["linked", "other", "a.org"])
        target = self.dice.choice([self.kb / ".hidden", self.kb / ".hidden" / "deep", self.kb / "x", self.outside])
        (self.folder() / name).symlink_to(target)

    def link_file(self) -> None:
        """Link to a file."""
        (self.folder() / self.dice.choice(["e.org", "f.org", "g.org"])).symlink_to(self.note())

    def link_hard(self) -> None:
        """Give a note another name elsewhere."""
        os.link(self.note(), self.outside / self.dice.choice(NAMES))
        # who links to a note tells nobody, so that it is written to as well
        self.make_known()

    def make_known(self) -> None:
        """Make a change that is told of."""
        (self.kb / "x").mkdir(exist_ok=True)
        (self.kb / "x").chmod(0o755)

    def write_through_hard_link(self) -> None:
        """Write to a note by its other name."""
        with (self.outside / self.dice.choice(NAMES)).open("r+") as file:
            file.write(self.text())

    def write_through_link(self) -> None:
        """Write to a note by a link."""
        with (self.folder() / self.dice.choice(["e.org", "f.org", "linked/a.org"])).open("r+") as file:
            file.write(self.text())

    def unlink(self) -> None:
        """Remove a link."""
        path = self.folder() / self.dice.choice(["linked", "other", "a.org", "e.org", "f.org"])
        if path.is_symlink():
            path.unlink()

    def drop(self) -> None:
        """Write or remove what is no note."""
        path = self.folder() / self.dice.choice(OTHER_NAMES)
        if self.dice.random() < 0.5:
            path.write_text("x")
        else:
            path.unlink()

    def forbid_and_allow(self) -> None:
        """Change a file's rights."""
        self.note().chmod(self.dice.choice([0o600, 0o644]))

    def set_times(self) -> None:
        """Write to a file and set its time back."""
        path = self.note()
        status = path.stat()
        path.write_text(self.text())
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def main() -> None:
    """Change, say so, and wait."""
    kb, seed, steps, is_telling = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["telling"]
    writer = NoteWriter(kb, seed)
    own = kb / f"own{seed}"
    for step in range(steps):
        change = writer.dice.choice(writer.changes)
        # what isn't there can't be changed
        with suppress(OSError, shutil.Error):
            change()
        if is_telling:
            own.mkdir(exist_ok=True)
            word = f"told{seed}x{step}"
            (own / f"{step % 5}.org").write_text(f"#+title: {word}\n")
        print(word if is_telling else change.__name__, flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
