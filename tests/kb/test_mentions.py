"""Places that name a node without a link: as words of their own, in any script, and no place that links already."""

import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.kb.node_view import NodeView
from tests.conftest import World


def _view(world: World, id: str = "z") -> NodeView:
    return ServedKnowledgeBase(world.open().environment).view_node(id)


def _named(world: World, id: str = "z") -> dict[str, tuple[int, str]]:
    return {place.id: (place.line, place.text) for place in _view(world, id).mentions}


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        ("before a Zebra crossing one waits", True),
        ("the ZEBRA  CROSSING.", True),
        ("(zebra crossing)", True),
        ("*zebra crossing*", True),
        ("wrapped after zebra\ncrossing, as Emacs fills it", True),
        ("a zèbra cróssing of accents", True),
        ("called by its alias pelican", True),
        ("zebra crossings", False),
        ("a prezebra crossing", False),
        ("zebra, crossing", False),
        ("zebra\n\ncrossing in two paragraphs", False),
        ("[[id:other][zebra crossing]]", False),
        ("[[https://example.org/zebra crossing][page]] https://example.org/pelican", False),
        (":PROPERTIES:\n:about: zebra crossing\n:END:", False),
        ("[[id:z][it]] and a zebra crossing", False),
        ("pelicans", False),
    ],
)
def test_a_name_is_found_as_words_of_its_own(body: str, is_named: bool, world: World) -> None:
    """Whatever its case and accents; not as a part of a word, in another link, or beside a link to it."""
    world.note(
        "z.org", ":PROPERTIES:\n:ID: z\n:ROAM_ALIASES: pelican\n:END:\n#+title: Zebra crossing\n\nZebra crossing.\n"
    )
    world.node("a.org", "a", "About", body)
    assert ({"a"} if is_named else set()) == set(_named(world))


def test_the_line_is_told(world: World) -> None:
    """As a reader sees it; that of a title is the title's own."""
    world.node("z.org", "z", "Zebra crossing")
    world.node("a.org", "a", "About", "First.\n\n- at the /zebra crossing/ [[id:b][here]]")
    world.node("t.org", "t", "Why a zebra crossing is striped")
    world.note("none.org", "A zebra crossing in a file without an id\n")
    named = _named(world)
    line, text = named["a"]
    assert (world.kb / "a.org").read_text().split("\n")[line - 1].startswith("- at the")
    assert "zebra crossing" in text
    assert "[[" not in text
    assert "" == named["t"][1]
    assert 1 == named[""][0]


@pytest.mark.parametrize(
    ("title", "body", "is_named"),
    [
        ("斑马线", "行人应当走斑马线过马路", True),
        ("斑马线", "斑马走在线上", False),
        ("横断歩道", "学校の前の横断歩道で待つ", True),
        ("ทางม้าลาย", "ข้ามถนนที่ทางม้าลายเท่านั้น", True),
        ("Зебра", "Переход, где зебра стёрлась", True),
        ("Зебра", "Зебрами", False),
        ("مشاة", "معبر مشاة", True),
    ],
)
def test_names_in_any_script(title: str, body: str, is_named: bool, world: World) -> None:
    """Where no blanks part words, a name may stand within a run of letters."""
    world.node("z.org", "z", title)
    world.node("a.org", "a", "About", body)
    assert is_named == ("a" in _named(world))


def test_a_short_or_empty_name_is_no_name(world: World) -> None:
    """It would stand everywhere; and quotes or signs in a title are no syntax."""
    world.node("z.org", "z", "or")
    world.node("q.org", "q", 'NEAR("x" AND *)')
    world.node("a.org", "a", "About", 'this or that, NEAR("x" AND *) it')
    assert {} == _named(world)
    assert {"a"} <= set(_named(world, "q"))
    world.node("s.org", "s", "→ ***")
    assert {} == _named(world, "s")


def test_of_a_common_name_the_first_places_are_shown(world: World) -> None:
    """The others are counted, within bounds."""
    world.node("z.org", "z", "Zebra crossing")
    for number in range(20):
        world.node(f"{number}.org", f"n{number}", f"Note {number}", "a zebra crossing")
    view = _view(world)
    assert (12, 8) == (len(view.mentions), view.more_mentions)
