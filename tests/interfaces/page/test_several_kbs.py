"""Knowledge bases with names on the page: read where one chooses them, judged as on the command line, never changed."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.requests import Request

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import NoNode
from roamkb.core.errors import UsageError
from roamkb.interfaces.page.graph.graph_view import view_graph
from roamkb.interfaces.page.node_page import view_note
from roamkb.interfaces.page.search_view import view_search
from tests.conftest import World

_View = Callable[[ServedKnowledgeBase, Request], tuple[int, str]]
_PIXEL = b"\x89PNG\r\n\x1a\n"


def _page(world: World, view: _View, query: str, status: int = 200) -> str:
    request = Request({"type": "http", "query_string": query.encode(), "headers": []})
    given, html = view(ServedKnowledgeBase(world.open().environment), request)
    assert status == given
    return unescape(html)


@pytest.fixture
def several(world: World) -> World:
    """Notes of one's own, and a club's, with links of its own."""
    club = world.home / "sync" / "club"
    (club / ".stfolder").mkdir(parents=True)
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(
        f"{rule.read_text()}\n```roamkb:kb/club\n~/sync/club/\n```\n\n```roamkb:project-parents/club\n~/hall\n```\n"
    )
    world.node("mine.org", "mine", "Lanterns burn oil", "Lanterns of mine.")
    for id, title, body in (
        (
            "meets",
            "The club meets on Mondays",
            "Lanterns are lit at the door. [[id:door]] [[file:door.png]] [[file:door.org]]",
        ),
        ("door", "The door", "It is red. [[id:meets]]"),
    ):
        head = f":PROPERTIES:\n:ID:       {id}\n:AGENT:    Ada\n:END:\n#+title: {title}\n#+filetags: :agent:hall:\n"
        (club / f"{id}.org").write_text(f"{head}\n{body}\n")
    (club / "door.png").write_bytes(_PIXEL)
    return world


def test_one_chooses_where_to_search(several: World) -> None:
    """One's own without a choice; the club's, or all, with what each hit is in; its links stay there."""
    own = _page(several, view_search, "q=lanterns")
    assert ["mine"] == re.findall(r'class="hit-title" href="/note\?id=(\w+)', own)
    assert ["/search?q=lanterns", "/search?q=lanterns&kb=club", "/search?q=lanterns&kb=all"] == re.findall(
        r'<a href="(/search\?q=lanterns.*?)"', own.partition('aria-label="Knowledge bases"')[2].partition("</nav>")[0]
    )
    club = _page(several, view_search, "q=lanterns&kb=club")
    assert ["/note?id=meets&line=8&kb=club#here"] == re.findall(r'class="hit-title" href="(.*?)"', club)
    assert 'href="/search?q=tag%3Ahall&kb=club"' in club
    assert '<input type="hidden" name="kb" value="club">' in club
    assert {"mine", "meets"} == set(
        re.findall(r'class="hit-title" href="/note\?id=(\w+)', _page(several, view_search, "q=lanterns&kb=all"))
    )


def test_a_note_leads_on_in_its_own(several: World) -> None:
    """Links, backlinks, files and images; nothing of it can be moved to the trash here."""
    html = _page(several, view_note, "id=meets&kb=club")
    hrefs = re.findall(r'(?:href|src)="(/(?:note|image)\?.*?)"', html)
    assert {"/note?id=door&kb=club", "/image?path=door.png&kb=club", "/note?name=door.org&kb=club"} <= set(hrefs)
    assert all("kb=club" in href for href in hrefs)
    assert "/do/trash" not in html
    assert "agent</span> in club" in html
    with pytest.raises(NoNode):
        _page(several, view_note, "id=meets")


def test_the_graph_is_drawn_of_the_one_that_is_asked_for(several: World) -> None:
    """Its notes lead on in their own, and one's own aren't among them."""
    html = _page(several, view_graph, "kb=club&id=meets")
    assert ["/note?id=door&kb=club", "/note?id=meets&kb=club"] == sorted(set(re.findall(r'href="(/note.*?)"', html)))
    assert 'data-address="/graph.json?id=meets&depth=1&kb=club" data-kb="club"' in html
    assert ["mine"] == re.findall(r'href="/note\?id=(\w+)', _page(several, view_graph, ""))


def test_an_unknown_one_is_an_error(several: World) -> None:
    """Nothing is read in its place."""
    assert "no knowledge base" in _page(several, view_search, "q=lanterns&kb=hall", status=400)
    with pytest.raises(UsageError):
        _page(several, view_note, "id=mine&kb=hall")


def test_who_has_one_is_asked_nothing(world: World) -> None:
    """There is no choice to be made."""
    world.node("mine.org", "mine", "Lanterns burn oil")
    html = _page(world, view_search, "q=lanterns")
    assert "Knowledge bases" not in html
    assert "kb=" not in html
