"""What agents do while a page is open: it appears by itself, and moves nothing that the human is at."""

import json
from collections.abc import Iterator

import pytest

from tests.conftest import World
from tests.conftest import learn
from tests.conftest import make_world
from tests.interfaces.page.chromium import Chromium
from tests.interfaces.page.chromium import Tab
from tests.interfaces.page.chromium import chromium
from tests.interfaces.page.chromium import skip_without_browser
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging

_MAIN = "document.getElementById('main').innerText"
_NEWS = "document.querySelector('.news')?.textContent"
#: As when the human comes back to the tab, so that no test waits for the next look.
_LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def _await(tab: Tab, condition: str) -> None:
    """Have the page look until a condition holds."""
    while not tab.run(f"!!({condition})"):
        tab.run(f"{_LOOK}; new Promise((done) => setTimeout(done, 50))")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Some notes of agents', and a project that learned something."""
    skip_without_browser()
    world = make_world(tmp_path_factory.mktemp("live") / "home")
    kb = world.open()
    kb.log.init()
    learn(kb.log, "Zebras are striped")
    for number in range(16):
        kb.write(f"Zebra fact number {number}")
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


def test_what_agents_write_appears_by_itself(tab: Tab, paged: Paged, world: World) -> None:
    """On each page that shows it, within seconds, without a reload; and what goes is gone."""
    for path in ("/agents", "/graph"):
        tab.open(paged.base + path)
        tab.run("window.isTheSame = true")
        id = world.open().write(f"Lions roar on {path}").id
        tab.wait_until(f"{_MAIN}.includes('Lions roar on {path}')")
        world.open().trash(id)
        _await(tab, f"!{_MAIN}.includes('Lions roar on {path}')")
        assert tab.run("window.isTheSame"), path
    tab.open(f"{paged.base}/")
    world.node("a.sync-conflict-20260610-120000-ABCDEFG.org", "a", "A copy that a syncer put aside")
    _await(tab, f"{_MAIN}.includes('A copy that a syncer put aside')")
    tab.open(f"{paged.base}/learnings")
    learn(world.open().log, "Giraffes sleep standing")
    _await(tab, f"{_MAIN}.includes('Giraffes sleep standing')")
    assert "1 new" == tab.run("document.querySelector('[role=status]').textContent")
    assert [] == tab.complaints


@pytest.mark.parametrize(
    "use",
    [
        "scrollTo(0, 300)",
        "document.getElementById('q').focus()",
        "document.querySelector('.hit-title').focus()",
        "getSelection().selectAllChildren(document.querySelector('.hit'))",
    ],
)
def test_what_the_human_is_at_stays_where_it_is(use: str, tab: Tab, paged: Paged, world: World) -> None:
    """Who scrolled, types, marked words or has a place in the list is told how much is new, and asks for it."""
    tab.open(f"{paged.base}/agents")
    tab.run(use)
    before = tab.run(_MAIN)
    title = f"Elephants never forget {len(use)}"
    world.open().write(title)
    world.open().write(f"{title}, nor do crows")
    _await(tab, f"{_NEWS} === '2 new'")
    assert before == tab.run(_MAIN)
    tab.run("document.querySelector('.news').click()")
    assert title in tab.run(_MAIN)
    assert tab.run("document.activeElement.id") == "main"
    assert tab.run(_NEWS) is None


def test_a_form_that_was_begun_is_kept(tab: Tab, paged: Paged, world: World) -> None:
    """Words in a field of the page, though the field has no focus any more."""
    tab.open(f"{paged.base}/graph")
    tab.run("document.getElementById('graph-filter').value = 'half a que'")
    world.open().write("Penguins swim")
    _await(tab, f"{_NEWS} === '1 new'")
    assert "half a que" == tab.run("document.getElementById('graph-filter').value")
    # once it is done with, what came is shown
    tab.run("document.getElementById('graph-filter').value = ''")
    _await(tab, f"{_MAIN}.includes('Penguins swim')")


def test_nobody_asks_for_a_tab_that_is_not_seen(tab: Tab, paged: Paged) -> None:
    """Nor where nothing changed is more asked for than the mark; nor on a page that shows one thing."""
    tab.open(f"{paged.base}/agents")
    tab.requests.clear()
    tab.run(_LOOK)
    while len(tab.requests) < 2:
        tab.run("new Promise((done) => setTimeout(done, 50))")
    assert {f"{paged.base}/live"} == set(tab.requests)
    tab.run("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    tab.run(f"{_LOOK}; new Promise((done) => setTimeout(done, 100))")
    tab.requests.clear()
    tab.run("new Promise((done) => setTimeout(done, 4500))")
    assert [] == tab.requests
    tab.run("delete document.hidden")
    tab.run(_LOOK)
    while not tab.requests:
        tab.run("new Promise((done) => setTimeout(done, 50))")
    tab.open(f"{paged.base}/search?q=zebra")
    assert tab.run("!document.querySelector('script[src*=live]')")


def test_a_search_on_a_live_page_is_left_alone(tab: Tab, paged: Paged, world: World) -> None:
    """Its hits took the place of what was live; Back brings that back, with what came meanwhile."""
    tab.open(f"{paged.base}/agents")
    tab.press("/", text="/")
    tab.type("zebra")
    tab.wait_until("location.pathname === '/search'")
    world.open().write("Zebra that came later")
    hits = tab.run(_MAIN)
    tab.run(f"{_LOOK}; new Promise((done) => setTimeout(done, 300))")
    assert hits == tab.run(_MAIN)
    tab.run("history.back()")
    tab.wait_until(f"location.pathname === '/agents' && {_MAIN}.includes('Zebra that came later')")


def test_the_mark_says_no_more_than_that_something_changed(paged: Paged, tab: Tab, world: World) -> None:
    """It is the same as long as nothing does, and only the session's browser is told."""
    cookie = tab.call("Network.getCookies")["cookies"][0]
    given = f"{cookie['name']}={cookie['value']}"

    def mark() -> str:
        return str(json.loads(paged.get("/live", cookie=given).body)["mark"])

    first = mark()
    assert first.isdecimal()
    assert first == mark()
    world.open().write("Something else")
    assert first != mark()
    assert 401 == paged.get("/live").status


def test_a_page_says_that_its_server_has_ended(browser: Chromium, world: World) -> None:
    """With the command that starts another: by itself, and to who searches; a search without an answer has no hits."""
    for use in ("", "oauth"):
        with paging(world) as paged:
            tab = browser.new_tab(apart=True)
            tab.open(paged.entrance)
        if use:
            tab.press("/", text="/")
            tab.type(use)
            tab.wait_until("document.querySelector('[role=alert]')")
        else:
            _await(tab, "document.querySelector('[role=alert]')")
        said = tab.run("document.querySelector('[role=alert]').textContent")
        assert ("has ended" in said, "roamkb serve --page" in said) == (True, True)
        assert tab.run("document.querySelector('[role=alert]').checkVisibility()")


def test_a_search_shows_what_the_server_says_instead_of_hits(browser: Chromium, world: World) -> None:
    """As that this browser has no session any more."""
    with paging(world) as paged:
        tab = browser.new_tab(apart=True)
        tab.open(paged.entrance)
        tab.call("Network.clearBrowserCookies")
        tab.press("/", text="/")
        tab.type("zebra")
        tab.wait_until("document.body.textContent.includes('no session')")
        assert not tab.run("document.querySelector('#results')")
