"""The graph in a real Chromium: two thousand notes, drawn by the server's layout and gone through by keys."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.conftest import World
from tests.conftest import make_world
from tests.interfaces.page.chromium import Chromium
from tests.interfaces.page.chromium import Tab
from tests.interfaces.page.chromium import chromium
from tests.interfaces.page.chromium import skip_without_browser
from tests.interfaces.page.paged import Paged

_COUNT = 2000
_DRAWN = "document.querySelector('.graph')?.drawing"
#: Frames in a second, while a script does something in each.
_FRAMES = """new Promise((done) => {
  const begin = performance.now();
  let frames = 0;
  const step = (now) => {
    if (now - begin > 1000) done(frames);
    else { frames += 1; (%s)(frames); requestAnimationFrame(step); }
  };
  requestAnimationFrame(step);
})"""
_TURN_WHEEL = """(frame) => document.querySelector('.graph canvas').dispatchEvent(
  new WheelEvent('wheel', {deltaY: frame % 20 < 10 ? -30 : 30, bubbles: true, cancelable: true}))"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two thousand notes that link to each other, the last hundred of agents'; and one that agents wrote."""
    skip_without_browser()
    world = make_world(tmp_path_factory.mktemp("graph") / "home")
    for number in range(_COUNT - 1):
        links = f"[[id:n{number // 3}][up]] [[id:n{(number * 7) % 1999}]]"
        world.node(f"n{number}.org", f"n{number}", f"Zebra {number}", links, tags=":stripes:" if number % 2 else "")
    world.open().write("Lions roar at dusk", links=("Zebra 1",))
    return world


@pytest.fixture(scope="module")
def browser(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests."""
    assert world
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def tab(browser: Chromium, paged: Paged) -> Tab:
    """The tab that the one-time address opened."""
    tab = browser.new_tab()
    tab.show_as(width=1440)
    tab.open(paged.entrance)
    return tab


def _open_graph(tab: Tab, paged: Paged, **query: str) -> None:
    tab.open(f"{paged.base}/graph?{urlencode(query)}")
    tab.wait_until(_DRAWN)


def test_two_thousand_notes_move_smoothly(tab: Tab, paged: Paged) -> None:
    """Half as many frames at least as a blank page of the same browser shows, which is sixty a second."""
    _open_graph(tab, paged)
    assert f"{_COUNT} notes" in tab.run("document.querySelector('h1').textContent")
    ratios = []
    for _ in range(3):
        moved = tab.run(_FRAMES % _TURN_WHEEL)
        blank = tab.run(_FRAMES % "() => {}")
        ratios.append(moved / blank)
    assert max(ratios) > 0.5, ratios


def test_the_graph_is_gone_through_by_keys(tab: Tab, paged: Paged) -> None:
    """Arrows from note to note, each said aloud; `g` leads to what is around one, Enter to the note, Back returns."""
    _open_graph(tab, paged, id="n1", depth="1")
    tab.run("document.querySelector('.graph canvas').focus()")
    tab.press("ArrowDown")
    assert tab.run("document.querySelector('[role=status]').textContent").startswith("Zebra 1, yours, ")
    tab.press("ArrowRight")
    said = tab.run("document.querySelector('[role=status]').textContent.split(',')[0]")
    assert said != "Zebra 1"
    tab.press("g", text="g")
    tab.wait_until(f"location.pathname === '/graph' && !location.search.includes('id=n1&') && {_DRAWN}")
    assert said in tab.run("document.querySelector('h1').textContent")
    tab.run("history.back()")
    tab.wait_until(f"location.search.includes('id=n1&') && {_DRAWN}")
    tab.run("document.querySelector('.graph canvas').focus()")
    tab.press("ArrowDown")
    tab.forget_events()
    tab.press("Enter")
    tab.wait_for("Page.loadEventFired")
    assert "/note?id=n1" == tab.run("location.pathname + location.search")


def test_a_click_opens_the_note_and_a_drag_moves_the_graph(tab: Tab, paged: Paged) -> None:
    """The pointer over a note shows its title."""
    _open_graph(tab, paged, id="n1")
    x, y = tab.run(
        f"(() => {{ const d = {_DRAWN}, b = d.canvas.getBoundingClientRect();"
        "return [b.left + d.screenX(0), b.top + d.screenY(0)] })()"
    )
    for kind, to in (("mouseMoved", 0), ("mousePressed", 0), ("mouseMoved", 40), ("mouseReleased", 40)):
        tab.call("Input.dispatchMouseEvent", type=kind, x=x + to, y=y, button="left", clickCount=1)
    assert "/graph" == tab.run("location.pathname")
    assert x + 40 == pytest.approx(
        tab.run(f"{_DRAWN}.canvas.getBoundingClientRect().left + {_DRAWN}.screenX(0)"), abs=2
    )
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 40, y=y)
    assert 0 == tab.run(f"{_DRAWN}.chosen")
    tab.forget_events()
    for kind in ("mousePressed", "mouseReleased"):
        tab.call("Input.dispatchMouseEvent", type=kind, x=x + 40, y=y, button="left", clickCount=1)
    tab.wait_for("Page.loadEventFired")
    assert "/note?id=n1" == tab.run("location.pathname + location.search")


def test_what_is_drawn_is_what_the_list_has(paged: Paged, tab: Tab) -> None:
    """The same notes for who sees no drawing, an agent's marked; the query language says which."""
    _open_graph(tab, paged, q="is:agent")
    assert 1 == tab.run(f"{_DRAWN}.nodes.length")
    assert 1 == tab.run(f"{_DRAWN}.nodes[0][4]")
    assert "Lions roar at dusk agent · 0 links" in tab.run("document.querySelector('.graph-rows').innerText")
    _open_graph(tab, paged, q="tag:stripes")
    assert 999 == tab.run(f"{_DRAWN}.nodes.length")
    assert "and 799 more" in tab.run("document.querySelector('main').innerText")
    tab.open(f"{paged.base}/graph?q=tag:none")
    assert "No note is found" in tab.run("document.querySelector('main').innerText")
    assert [] == paged.reports


def test_a_bad_question_is_answered_with_what_to_do(paged: Paged, tab: Tab) -> None:
    """A note that isn't there, a depth that is no number, a day that no calendar has; also to the script."""
    name, value = (
        tab.call("Network.getCookies")["cookies"][0]["name"],
        tab.call("Network.getCookies")["cookies"][0]["value"],
    )
    for path in ("/graph", "/graph.json"):
        for query, status in (
            ("id=gone", 404),
            ("id=n1&depth=9", 400),
            ("id=n1&depth=x", 400),
            ("q=after:2026-13", 400),
        ):
            assert status == paged.get(f"{path}?{query}", cookie=f"{name}={value}").status, query
        assert 401 == paged.get(path).status
    drawing = json.loads(paged.get("/graph.json?id=n1", cookie=f"{name}={value}").body)
    assert "n1" == drawing["nodes"][drawing["middle"]][0]
