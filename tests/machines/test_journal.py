"""Whatever happens to the notes between a mark and a look can be undone, and nothing that happened since is lost."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.journal.journal import JournalContext
from roamkb.journal.journal import RestoreResult
from roamkb.journal.journal import restore
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import JournalSession
from roamkb.journal.store.glance import begin_turn
from roamkb.journal.store.journal import Journal
from tests.examples import examples

#: To shrink what fails takes minutes, since a look waits for what is empty: `--hypothesis-profile=default` does.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
#: Form, mode and content of everything in the folder, by its name.
Tree = dict[str, tuple[str, int, bytes]]
Deed = Callable[[Path], None]

NAMES = [
    "a.org",
    "b.org",
    "d/a.org",
    "d/c.org",
    "d/e/f.org",
    "d",
    "d/e",
    "g.org.gpg",
    "data/h.png",
    "é\udcff.org",
]
CONTENTS = [b"", b"one\n", b"two\n", b"\0\1" * 300, b"#+title: three\n" * 40]


class Yes:
    """A human who says yes."""

    def confirm(self, question: str, word: str) -> bool:
        """Say so."""
        return bool(question and word)

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open nothing."""
        raise AssertionError(path, editor)


def keeper_of(folder: Path) -> JournalContext:
    """Return the journal of the knowledge base in a folder, a session being at work."""
    (folder / "kb" / ".stfolder").mkdir(parents=True, exist_ok=True)
    journal = Journal(kb=folder / "kb", folder=folder / "journal")
    return JournalContext(journal=journal, lock_file=folder / "lock", folder=None, human=Yes())


def tree(folder: Path) -> Tree:
    """Return all that lies in a folder."""
    found: Tree = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            form = EntryForm.from_mode(mode)
            content = os.fsencode(path.readlink()) if form is EntryForm.LINK else b""
            content = path.read_bytes() if form is EntryForm.FILE else content
            found[path.relative_to(folder).as_posix()] = (form.value, stat.S_IMODE(mode), content)
    return found


def gone(path: Path) -> None:
    """Take away what goes by that name."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def deed(verb: str, name: str, other: str, content: bytes, mode: int) -> Deed:
    """Return something that a program does to one note, if it can."""

    def do(kb: Path) -> None:
        path, to = kb / name, kb / other
        try:
            match verb:
                case "write":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                case "remove":
                    gone(path)
                case "rename":
                    to.parent.mkdir(parents=True, exist_ok=True)
                    path.rename(to)
                case "truncate":
                    os.truncate(path, min(mode % 7, path.stat().st_size))
                case "encrypt":
                    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()) or b"key")
                case "chmod":
                    if not path.is_symlink():
                        path.chmod(mode)
                case "link":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    gone(path)
                    path.symlink_to(other)
                case "folder":
                    gone(path)
                    path.mkdir(parents=True)
        except OSError:
            # a folder in its own folder, a file in a file: no program can
            return

    return do


DEEDS = st.lists(
    st.builds(
        deed,
        st.sampled_from("write remove rename truncate encrypt chmod link folder".split()),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(CONTENTS),
        st.sampled_from([0o600, 0o644, 0o755, 0o700]),
    ),
    max_size=12,
)


def differing(one: Tree, other: Tree) -> set[str]:
    """Return the names that don't stand for the same."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@settings(max_examples=examples(60), phases=PHASES)
@given(before=DEEDS, meanwhile=DEEDS, since=DEEDS)
def test_a_restore_brings_back_the_mark_and_loses_nothing(
    before: list[Deed], meanwhile: list[Deed], since: list[Deed]
) -> None:
    """Deeds of anything: all is as at the mark, but for what changed since the look; and that can be undone."""
    with tempfile.TemporaryDirectory() as top:
        keeper = keeper_of(Path(top))
        journal, kb = keeper.journal, keeper.journal.kb
        do_all(before, kb)
        marked = tree(kb)
        mark = journal.take_look(look_kind="mark", session=JournalSession(id="s")).moment
        begin_turn(str(journal.folder), "s")
        do_all(meanwhile, kb)
        seen = tree(kb)
        looked = journal.take_look(session=JournalSession(id="s"))
        do_all(since, kb)
        found = tree(kb)
        result = back(keeper, mark)
        now = tree(kb)
        newer = differing(seen, found)
        # a folder that was removed since is made again for what comes back into it
        lost = {name for name in newer if name in found and now.get(name) != found[name]}
        assert set() == lost
        left = {os.fsdecode(one.path) for one in result.plan.left}
        unlike = differing(marked, now) - newer
        assert {name for name in unlike if not has_to_stay(name, left, newer)} == set()
        if not newer:
            assert marked == now
            assert set() == left
        again = back(keeper, looked.moment)
        if not newer:
            assert seen == tree(kb), again


def has_to_stay(name: str, left: set[str], newer: set[str]) -> bool:
    """Say whether what changed since the look, or was left for it, keeps a name from being as at the mark."""
    return any(name == one or name.startswith(one + "/") or one.startswith(name + "/") for one in left | newer)


def do_all(deeds: list[Deed], kb: Path) -> None:
    """Do one after the other."""
    for one in deeds:
        one(kb)


def back(keeper: JournalContext, mark: int) -> RestoreResult:
    """Restore all of a mark."""
    return restore(keeper, (), mark=str(mark), all=True, create_kb=False, dry_run=False)
