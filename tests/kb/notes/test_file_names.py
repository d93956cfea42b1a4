"""Which files are notes, and what a new one is called."""

import unicodedata
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.kb.notes.file_names import LONGEST_NAME
from roamkb.kb.notes.file_names import conflict_original
from roamkb.kb.notes.file_names import is_copied_note
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.file_names import is_note_folder
from roamkb.kb.notes.file_names import note_name
from roamkb.kb.notes.file_names import note_names

WHEN = datetime(2026, 6, 10, 14, 29, 5)
ID = "01939b7a-1c2d-4e5f-8a9b-0c1d2e3f4a5b"

#: What a file is, by its place: n a note, e an encrypted one, c a conflict copy of a note, - nothing of ours.
PLACES = {
    # notes
    "a.org": "n",
    "20240102030405-zebras.org": "n",
    "daily/2024-01-02.org": "n",
    "deep/er/and/deeper/a.org": "n",
    "spaced name.org": "n",
    "déjà_vu.org": "n",
    "日本語.org": "n",
    "a.b.c.org": "n",
    "a~b.org": "n",
    "data.org": "n",
    "my-data/a.org": "n",
    "database/a.org": "n",
    "sync-conflict.org": "n",
    "how-sync-conflict-works.org": "n",
    "notes.org/a.org": "n",
    "~a.org": "n",
    "a#.org": "n",
    # other files
    "a.ORG": "-",
    "a.orga": "-",
    "a.org.txt": "-",
    "a.md": "-",
    "org": "-",
    "aorg": "-",
    ".org": "-",
    "": "-",
    # editors' droppings
    "a.org~": "-",
    "#a.org#": "-",
    "#a.org": "-",
    ".#a.org": "-",
    ".a.org.swp": "-",
    ".a.org": "-",
    "a.org.bak": "-",
    "a.org.orig": "-",
    "a.org_archive": "-",
    # syncers' droppings
    ".syncthing.a.org.tmp": "-",
    "~syncthing~a.org.tmp": "-",
    ".syncthing.roamkb-0123456789abcdef.tmp": "-",
    "a.org.part": "-",
    "a.org.tmp": "-",
    # folders of versions, tools and attachments
    ".stversions/a~20240102-030405.org": "-",
    ".stfolder/a.org": "-",
    ".git/a.org": "-",
    ".attach/a.org": "-",
    "deep/.hidden/a.org": "-",
    "data/a.org": "-",
    "data/ab/cdef/a.org": "-",
    "daily/data/a.org": "-",
    "../a.org": "-",
    # encrypted
    "a.org.gpg": "e",
    "daily/a.org.age": "e",
    "a.gpg": "-",
    ".a.org.gpg": "-",
    "data/a.org.gpg": "-",
    # conflict copies
    "a.sync-conflict-20261121-203710-ABCDEF2.org": "c",
    "daily/a.sync-conflict-20261121-203710-ABCDEF2.org": "c",
    "a.sync-conflict-20161121-203710.org": "c",
    "a.sync-conflict-20261121-203710-ABCDEF2.sync-conflict-20261122-203710-ABCDEF2.org": "c",
    "a.org.sync-conflict-20261121-203710-ABCDEF2.gpg": "c",
    "a.sync-conflict-nobody-knows.org": "c",
    "a.sync-conflict-20261121-203710-ABCDEF2.md": "-",
    ".a.sync-conflict-20261121-203710-ABCDEF2.org": "-",
    ".sync-conflict-20261121-203710-ABCDEF2.org": "-",
    "folder.sync-conflict-20261121-203710-ABCDEF2/a.org": "-",
}

ORIGINALS = {
    "a.sync-conflict-20261121-203710-ABCDEF2.org": "a.org",
    "a.sync-conflict-20161121-203710.org": "a.org",
    "a.b.sync-conflict-20161121-203710.org": "a.b.org",
    "a.org.sync-conflict-20261121-203710-ABCDEF2.gpg": "a.org.gpg",
    "a.sync-conflict-20261121-203710-ABCDEF2": "a",
    ".sync-conflict-20261121-203710-ABCDEF2.x": ".x",
    "a\nb.sync-conflict-20261121-203710-ABCDEF2.org": "a\nb.org",
    "a.sync-conflict-20261121-203710-ABCDEF2.sync-conflict-20261122-203710-7654322.org": (
        "a.sync-conflict-20261121-203710-ABCDEF2.org"
    ),
    "a.org": None,
    "a.sync-conflict-20261121.org": None,
    "a.sync-conflict-20261121-203710-abcdef2.org": None,
    "a.sync-conflict-20261121-203710-ABCDEF21.org": None,
    # base32 has no 1
    "a.sync-conflict-20261121-203710-ABCDEF1.org": None,
    "a.sync-conflict-٢٠٢٦١١٢١-203710.org": None,
}


@pytest.mark.parametrize(("place", "what"), PLACES.items())
def test_a_file_is_known_by_its_place(place: str, what: str) -> None:
    """Notes, encrypted notes and conflict copies are told apart from all else, and from each other."""
    *folders, name = place.split("/")
    is_encrypted = is_encrypted_name(name) and all(map(is_note_folder, folders))
    found = (is_note(place), is_encrypted, is_copied_note(name))
    assert (what == "n", what == "e", what == "c") == found


@pytest.mark.parametrize(("copy", "original"), ORIGINALS.items())
def test_a_conflict_copy_names_its_original(copy: str, original: str | None) -> None:
    """Old and new patterns are taken apart; what only resembles them isn't."""
    assert original == conflict_original(copy)


@pytest.mark.parametrize(
    ("slug", "tail", "name"),
    [
        ("oauth_redirect", False, "20260610142905-oauth_redirect.org"),
        ("oauth_redirect", True, "20260610142905-oauth_redirect-4a5b.org"),
        ("", False, "20260610142905-node.org"),
        ("", True, "20260610142905-node-4a5b.org"),
        ("日本語", False, "20260610142905-日本語.org"),
        ("how_sync-conflict_works", False, "20260610142905-how_sync_conflict_works.org"),
        ("../../etc/passwd", False, "20260610142905-.._.._etc_passwd.org"),
        ("a\nb\0c", False, "20260610142905-a_b_c.org"),
        ("half_\ud83d", False, "20260610142905-half__.org"),
        ("cafe\u0301", False, "20260610142905-café.org"),
    ],
)
def test_a_note_is_named_as_org_roam_names_it(slug: str, tail: bool, name: str) -> None:
    """Stamp, slug and, where asked for, the end of the id."""
    assert name == note_name(WHEN, slug, ID, tail=tail)


def test_a_name_ends_before_a_character_that_doesnt_fit() -> None:
    """Neither half a character of UTF-8 nor a letter without its accents is left at the end."""
    room = LONGEST_NAME - len("20260610142905-.org")
    assert note_name(WHEN, "x" * (room - 1) + "é", ID) == f"20260610142905-{'x' * (room - 1)}.org"
    # a letter whose two accents have no composed form, the second beyond the end
    accented = "q\u0323\u0307"
    assert note_name(WHEN, "x" * (room - 3) + accented, ID) == f"20260610142905-{'x' * (room - 3)}.org"
    assert note_name(WHEN, "x" * (room - 5) + accented, ID) == f"20260610142905-{'x' * (room - 5)}{accented}.org"
    assert note_name(WHEN, "x" * (room - 3) + "___y", ID) == f"20260610142905-{'x' * (room - 3)}.org"


@given(slug=st.text(max_size=300), tail=st.booleans())
def test_any_slug_makes_a_note_that_every_system_can_hold(slug: str, tail: bool) -> None:
    """The name is a note's, in one part, composed, short enough, and no conflict copy's."""
    name = note_name(WHEN, slug, ID, tail=tail)
    assert is_note(name)
    assert "sync-conflict" not in name
    assert len(name.encode()) <= LONGEST_NAME
    assert "/" not in name
    assert name == unicodedata.normalize("NFC", name)


def test_twins_of_one_second_have_names_enough() -> None:
    """Where the tail is taken as well, more of the id follows."""
    assert note_names(WHEN, "x", ID) == (
        "20260610142905-x.org",
        "20260610142905-x-4a5b.org",
        "20260610142905-x-0c1d2e3f4a5b.org",
    )


@given(slug=st.text(max_size=300))
def test_a_tail_makes_another_name(slug: str) -> None:
    """Where a name is taken, the next is always another."""
    assert len(set(note_names(WHEN, slug, ID))) == 3
