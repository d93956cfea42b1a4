"""The index names the files to read, and the answers are those of a reading of all notes."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NoNode
from roamkb.core.errors import NotFound
from roamkb.core.model import Note
from roamkb.kb.conflicts import conflicts
from roamkb.kb.hygiene import duplicate_ids
from roamkb.kb.links import links
from roamkb.kb.notes.node_names import find_likely_spellings
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import WholeReading
from roamkb.kb.notes.store.lookup import get_place
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.node_directory import IndexDirectory
from tests.conftest import ROOT
from tests.kb.search.index.index_base import Base

_LONG = "An endless title " * 70
_AWKWARD = {
    "a.org": ':PROPERTIES:\n:ID: twin\n:ROAM_ALIASES: "Café au lait" CAFE\n:END:\n#+title: Zebra\n[[id:twin]] [[id:h]]\n',
    "b.org": ":PROPERTIES:\n:ID: twin\n:END:\n#+title: zebra\n[cite:@knuth84] https://example.org/x [[id:gone]]\n",
    "c.org": "Text of no node.\n* H\n:PROPERTIES:\n:ID: h\n:ROAM_REFS: @knuth84\n:END:\n[[id:twin]] http://a.b/c\n"
    "* Other\n:PROPERTIES:\n:ID: 01939b7a-5f3c-7d2e-9a1b-2c3d4e5f6a7b\n:ROAM_REFS: https://example.org/x\n:END:\n",
    "d.org": f":PROPERTIES:\n:ID: 01939b7a-0000\n:END:\n#+title: {_LONG}one\n[[https://example.org/x][page]]\n",
    "e.org": f":PROPERTIES:\n:ID: e\n:END:\n#+title: {_LONG}two\n[[id:01939b7a-0000][x]] cite:knuth84\n",
    "f.org": ":PROPERTIES:\n:ID: f\n:END:\n#+title: A [[id:twin][linked]] ti\u200btle\nciteproc\n",
    "g.org": ":PROPERTIES:\n:ID: g\n:ROAM_REFS: @other [cite:@knuth84]\n:END:\n#+title: Straße ﷺ  two\tblanks\n",
    "deep/h.org": ":PROPERTIES:\n:ID: old\n:SUPERSEDED_BY: new\n:END:\n#+title: Old and new\n",
    "deep/i.org": ":PROPERTIES:\n:ID: new\n:END:\n#+title: Old and new\n[[id:old]]\n",
    "latin.org": ":PROPERTIES:\n:ID: latin\n:END:\n#+title: Latin\n",
}


def _read_names(notes: Notes) -> Iterator[str]:
    """Yield whatever the nodes are called, and what they nearly are."""
    dice = random.Random(7)
    for _, node in notes.read_all().node_pairs():
        for name in (node.id, node.title, *node.aliases, *map(str, node.refs), node.file):
            cut = dice.randrange(len(name) + 1)
            yield from (name, name.upper(), f" {name} ", name[:8], name[:cut] + name[cut + 1 :], f"id:{name}")
        yield from (f"{node.file}:{node.line}", f"[cite:@{node.title}]", node.title.rpartition(" ")[2])
    yield from ("", " ", '"', "\udc80", "v-9999", "nothing of the kind", "cite:knuth84", "//example.org/x", "0" * 9)


def _answer(directory: NodeDirectory, name: str, home: Path) -> object:
    """Return what the directory says of a name, and of the links there."""
    try:
        note, node = get_place(directory, name)
        return note, node, links(directory, name, home=home) if node else None
    except (Ambiguous, NoNode) as error:
        return type(error), error.message, error.hint, error.candidates
    except NotFound as error:
        return error.message


def _indexed(kb: Path, cache: Path) -> IndexDirectory:
    notes = Notes(kb)
    # by a later clock all stats are trusted at once
    index = Index(notes, cache, clock=lambda: time.time_ns() + 10**10)
    index.content_counts()
    return IndexDirectory(index, notes)


def _count_alike(kb: Path, cache: Path, *, most: int = 1000) -> int:
    """Return how many names were asked for; raise where the index and a whole reading differ on one."""
    directory, whole = _indexed(kb, cache), WholeReading(Notes(kb))
    names = sorted(set(_read_names(Notes(kb))))
    asked = random.Random(7).sample(names, min(len(names), most))
    for name in asked:
        assert _answer(whole, name, kb) == _answer(directory, name, kb), name
    return len(asked)


@pytest.fixture
def awkward(tmp_path: Path) -> Path:
    """Names twice, long, foreign and linked, refs of all kinds, and files that can't be read."""
    kb = tmp_path / "kb"
    for name, text in _AWKWARD.items():
        (kb / name).parent.mkdir(parents=True, exist_ok=True)
        (kb / name).write_text(text, encoding="utf-8")
    (kb / "latin.org").write_bytes(b":PROPERTIES:\n:ID: latin\n:ROAM_ALIASES: caf\xe9\n:END:\n#+title: Caf\xe9\n")
    (kb / "secret.org.gpg").write_bytes(b"x")
    (kb / "folder.org").mkdir()
    (kb / "link.org").symlink_to("nowhere.org")
    (kb / ".hidden").mkdir()
    (kb / ".hidden" / "j.org").write_text(":PROPERTIES:\n:ID: j\n:END:\n#+title: Behind a link\n")
    (kb / "behind.org").symlink_to(".hidden/j.org")
    return kb


def test_awkward_names_mean_what_they_mean_to_a_whole_reading(awkward: Path, tmp_path: Path) -> None:
    """By id, title, alias, ref, path and their beginnings; slips of the pen; both ways of links."""
    assert _count_alike(awkward, tmp_path / "cache") > len(_AWKWARD)


def test_ids_and_copies_are_those_of_a_whole_reading(awkward: Path, tmp_path: Path) -> None:
    """In two files or twice in one; of ten notes those that matter are read and no other."""
    (awkward / "twice.org").write_text("* A\n:PROPERTIES:\n:ID: t\n:END:\n* B\n:PROPERTIES:\n:ID: t\n:END:\n* C\n* D\n")
    (awkward / "b.sync-conflict-20260610-120000-ABCDEFG.org").write_text(":PROPERTIES:\n:ID: h\n:END:\n#+title: B\n")
    notes, directory = Notes(awkward), _indexed(awkward, tmp_path / "cache")
    shared = directory.read_sharing_ids()
    assert ["a.org", "b.org", "twice.org", "twice.org"] == [note.file for note, _ in shared]
    assert duplicate_ids(notes, notes.read_all().node_pairs()) == duplicate_ids(notes, shared)
    assert ["twin", "t"] == [duplicates.first.id for duplicates in duplicate_ids(notes, shared)]
    copies = conflicts(notes, find_nodes=directory.read_by_ids).copies
    assert (
        conflicts(notes).copies == conflicts(notes, find_nodes=lambda _: notes.read_all().node_pairs()).copies == copies
    )
    assert "c.org" in copies[0].obstacle


def test_so_do_those_of_the_example(tmp_path: Path) -> None:
    """The knowledge base that comes with the program."""
    shutil.copytree(ROOT / "fixtures" / "kb", tmp_path / "kb")
    assert 100 == _count_alike(tmp_path / "kb", tmp_path / "cache", most=100)


_words = st.lists(st.sampled_from(["Zebra", "zebra", "ZÉBRA", "of", "tapir", "tapirs", "@x"]), min_size=1, max_size=3)
_names = _words.map(" ".join)
_ids = st.sampled_from(["one", "two", "three", "12345678", "12345678-9"])
_notes = st.tuples(_ids, _names, st.lists(_names, max_size=2), st.lists(_ids, max_size=2), st.sampled_from(["", "@x"]))


@settings(max_examples=10, deadline=None)
@given(st.lists(_notes, min_size=1, max_size=6), _notes)
def test_names_and_links_after_a_change(
    tmp_path_factory: pytest.TempPathFactory,
    notes: list[tuple[str, str, list[str], list[str], str]],
    changed: tuple[str, str, list[str], list[str], str],
) -> None:
    """The same before and after a note is written anew and another one is gone."""
    folder = tmp_path_factory.mktemp("kb")
    kb = folder / "kb"
    (kb / ".git").mkdir(parents=True)

    def write(number: int, id: str, title: str, aliases: list[str], dests: list[str], ref: str) -> None:
        quoted = " ".join(f'"{alias}"' for alias in aliases)
        drawer = f":ROAM_ALIASES: {quoted}\n:ROAM_REFS: {ref}\n"
        body = " ".join(f"[[id:{dest}]]" for dest in dests)
        text = f":PROPERTIES:\n:ID: {id}\n{drawer}:END:\n#+title: {title}\n{body}\n"
        (kb / f"{number}.org").write_text(text, encoding="utf-8")

    for number, note in enumerate(notes):
        write(number, *note)
    assert _count_alike(kb, folder / "cache", most=30) > 1
    write(0, *changed)
    if len(notes) > 1:
        (kb / "1.org").unlink()
    assert _count_alike(kb, folder / "cache", most=30) > 1


class _ReadingNotes(Notes):
    """Notes that remember which files were read."""

    def __init__(self, kb: Path) -> None:
        super().__init__(kb)
        self.parsed: list[str] = []

    def parse_text(self, file: NoteFile, text: str) -> Note:
        """Return the note, and remember it."""
        self.parsed.append(file.file)
        return super().parse_text(file, text)


def test_only_the_files_that_may_be_meant_are_read(tmp_path: Path) -> None:
    """One for a name, none for a name of no note, and of links those at their ends."""
    base = Base(tmp_path).animals()
    base.note("hub.org", "Hub", "[[id:20240101000000-zebra.org]]")
    _indexed(base.kb, base.cache)
    notes = _ReadingNotes(base.kb)
    directory = IndexDirectory(Index(notes, base.cache), notes)
    for name, expected in (("ZEBRA", {"20240101000000-zebra.org"}), ("v-9999", set())):
        notes.parsed.clear()
        with pytest.raises(NoNode) if not expected else pytest.MonkeyPatch.context():
            get_place(directory, name)
        assert expected == set(notes.parsed)
    notes.parsed.clear()
    links(directory, "Hub", home=tmp_path)
    assert {"hub.org", "20240101000000-zebra.org"} == set(notes.parsed)


def test_without_an_index_all_notes_are_read_and_none_is_built(tmp_path: Path) -> None:
    """To build one takes much longer than to read the notes once."""
    base = Base(tmp_path).animals()
    notes = Notes(base.kb)
    assert "Zebra" == get_place(IndexDirectory(Index(notes, base.cache), notes), "zebra")[0].title
    assert not base.file.exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokn refresh", ["token refresh"]),
        ("docker", ["networks of docker", "containers of docker run"]),
        ("refresh docker", []),
        ("v-9999", []),
        ("", []),
        ("x" * 101, []),
    ],
)
def test_likely_spellings(name: str, expected: list[str]) -> None:
    """Nearly the same letters; else those with all of the words, the shortest first."""
    known = ["token refresh", "containers of docker run", "networks of docker", "a version of v", "x" * 102]
    assert expected == find_likely_spellings(name, known)


@given(st.text("abcd ", min_size=1, max_size=12), st.lists(st.text("abcde ", max_size=14), max_size=20))
def test_the_quick_look_at_letters_loses_no_near_spelling(key: str, spellings: list[str]) -> None:
    """What `difflib` finds close is found, and nothing else comes before it."""
    from difflib import get_close_matches

    close = get_close_matches(key, set(spellings), n=3, cutoff=0.8)
    assert close in ([], find_likely_spellings(key, spellings))
