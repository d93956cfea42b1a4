"""Encrypted files and headings, which are named and never read."""

from roamkb.kb.encrypted import find_encrypted
from roamkb.kb.notes.store.notes import Notes
from tests.conftest import World

_ARMOUR = "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n"
_NOTE = (
    f"* Open :crypt:\nIn clear.\n* Bank :money:crypt:\n:PROPERTIES:\n:ID: bank\n:END:\n{_ARMOUR}"
    f"* How it looks\n#+begin_src text\n{_ARMOUR}#+end_src\n* Key :crypt:\n  {_ARMOUR}"
)


def test_files_and_headings_are_named(world: World) -> None:
    """A heading that is in clear, or that shows how such a text looks, isn't encrypted."""
    world.note("a.org", _NOTE)
    world.note("b.org.gpg", "\x85\x01")
    world.note("deep/c.org.age", "age")
    notes = Notes(world.kb)
    found = [(text.path.name, text.line) for text in find_encrypted(notes, notes.read_all())]
    assert [("b.org.gpg", None), ("c.org.age", None), ("a.org", 3), ("a.org", 18)] == found


def test_doctor_hygiene_and_an_empty_search_count_them(world: World) -> None:
    """A search with hits has nothing to explain."""
    world.note("a.org", _NOTE)
    world.note("b.org.gpg", "\x85\x01")
    kb = world.open()
    (check,) = [check for check in kb.doctor().checks if check.name == "encrypted"]
    assert "1 file and 2 headings encrypted" in check.detail
    assert 3 == len(kb.hygiene().encrypted)
    assert "a.org:3: encrypted heading: not read" in world.run("hygiene").out
    assert (1, None) == (kb.search(("zebra",)).encrypted, kb.search(("Bank",)).encrypted)
    assert "1 encrypted note not searched" in world.run("search", "zebra").err
