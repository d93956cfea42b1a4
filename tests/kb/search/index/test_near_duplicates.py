"""What may be a near duplicate is found by its rarest words, wherever it stands."""

import random
from pathlib import Path

import pytest

from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.near_duplicates import near_entries
from roamkb.text.similarity.jaccard import prepare_text
from tests.conftest import World

_COMMON = "proxy cache server client request timeout deploy staging index worker queue token".split()


def _near(kb: Path, title: str, body: str = "") -> list[str]:
    told = prepare_text(body) if body else None
    return Index(Notes(kb), None).read_view(
        lambda db: [entry.node for entry in near_entries(db, prepare_text(title), told, limit=0.8)]
    )


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Proxy caches drop idle sockets", "The proxy caches drop idle socket"),
        ("Set FOO_BAR in the environment", "Set `FOO_BAR` in environment"),
        ("Les clés sont tournées chaque été", "les clefs sont tournées chaque été"),
        ("キャッシュを毎晩消す設定", "キャッシュを毎晩消す設定。"),
        ("what is it", "What is it?"),
        ("Café", "cafe"),
    ],
)
def test_a_name_is_found(world: World, title: str, asked: str) -> None:
    """In any script, by small words where there are no others."""
    world.node("a.org", "a", title)
    world.node("b.org", "b", "Something else that nobody asked for")
    assert ["a"] == _near(world.kb, asked)


def test_an_alias_is_a_name(world: World) -> None:
    """A node is called by it."""
    world.note("a.org", ':PROPERTIES:\n:ID: a\n:ROAM_ALIASES: "Idle sockets are dropped"\n:END:\n#+title: Proxy\n')
    assert ["a"] == _near(world.kb, "Idle sockets get dropped")


def test_a_heading_is_found_as_well(world: World) -> None:
    """By its own lines."""
    text = "The staging database is rebuilt every night from an anonymised copy of production."
    world.note("a.org", f"#+title: A\n* Staging data\n:PROPERTIES:\n:ID: h\n:END:\n{text}\n")
    assert ["h"] == _near(world.kb, "How we get rows", text.replace("every", "each"))


def test_a_twin_among_many_notes_of_its_words_is_found(world: World) -> None:
    """No word of it is rare, and it's the only one that has them all."""
    dice = random.Random(1)
    for number in range(700):
        world.node(f"{number}.org", f"n{number}", " ".join(dice.sample(_COMMON, 4)))
    world.node("twin.org", "twin", "Proxy cache server client request timeout")
    assert "twin" in _near(world.kb, "The proxy cache server client request timeout")


@pytest.mark.parametrize("title", ["", "🎉", '"', "NEAR(a b)", "a* OR b", "- - -", "x" * 5000, "w " * 5000])
def test_no_text_is_a_syntax_error(world: World, title: str) -> None:
    """Whatever a title holds."""
    world.node("a.org", "a", "near a b or x w")
    assert set(_near(world.kb, title, title * 50)) <= {"a"}
