"""The page in a real Chromium: each view looked at, used by keys alone, judged by axe, and attacked by notes."""

import base64
import json
import shutil
from collections.abc import Iterator
from datetime import UTC
from datetime import datetime
from urllib.parse import urlencode

import pytest

from tests.conftest import ROOT
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn
from tests.conftest import make_world
from tests.interfaces.page.chromium import Chromium
from tests.interfaces.page.chromium import Tab
from tests.interfaces.page.chromium import chromium
from tests.interfaces.page.chromium import skip_without_browser
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging
from tests.org.hostile import notes as hostile_notes

#: What others may call something, and no telephone is as wide as.
_LONG_WORD = "zebra" * 60
#: A picture of one pixel.
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_EVERYTHING = """
Words, *bold* and =code=, a [[https://example.org/page][page]] and [[id:oauth-for-lantern][a note]] [fn:1].

- [X] done
- [ ] open
- term :: what it means

| a | b |
|---+---|
| 1 | 2 |

#+begin_src python
print("one line of code that is wider than a telephone, and that has to be moved by keys or fingers to be read")
#+end_src

[[file:pixel.png]]

* TODO A heading :tag:
:LOGBOOK:
CLOCK: [2026-06-10 Wed 10:00]
:END:
** Below
[fn:1] A footnote.
"""
#: What would run, or ask another server, if it were taken for more than text; in each place that a note has.
_ATTACK = (
    "\"'><script src=https://foreign.example/x.js></script><script>window.ran=1</script>"
    "<img src=https://foreign.example/x.png onerror=window.ran=1><svg onload=window.ran=1>"
    "<style>*{background:url(https://foreign.example/)}</style><base href=https://foreign.example/>"
    "<meta http-equiv=refresh content=0;url=https://foreign.example/><iframe srcdoc=x></iframe>"
)
_COPY = "attacked.sync-conflict-20260610-120000-ABCDEFG.org"
_LONG_COPY = "everything.sync-conflict-20260610-120000-ABCDEFG.org"
_CONFLICT = f"/conflict?first=attacked.org&second={_COPY}"
_VIEWS = {
    "home": "/",
    "search": "/search?q=why+does+the+oauth+redirect+fail",
    "language": "/search",
    "note": "/note?id=everything",
    "agents": "/agents",
    "graph": "/graph",
    "around": "/graph?id=everything&depth=3&q=-nothing",
    "learnings": "/learnings",
    "remedies": "/remedies",
    "remedy": "/remedies?error=Open+it+with+a+timeout",
    "shown": "/shown",
    "session": "/shown?session=s1",
    "checks": "/checks",
    "trash": "/trash",
    "changes": "/changes",
    "since": "/changes?since=1",
    "learning": "/learning?id=gotcha-oauth-redirect-uris-must-match-exactly",
    "review": "/review",
    "conflicts": "/conflicts",
    "conflict": _CONFLICT,
    "key": "/key",
    "long search": f"/search?q={_LONG_WORD}",
    "long note": f"/note?name={_LONG_WORD}",
    "long session": f"/shown?session={_LONG_WORD}",
    "long conflict": f"/conflict?first=everything.org&second={_LONG_COPY}",
    "gone": "/note?id=gone",
}


_DECIDING = ("trash", "changes", "since", "review", "conflicts", "conflict")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The example notes, one that holds everything, hostile ones, and a project that learned something."""
    skip_without_browser()
    world = make_world(tmp_path_factory.mktemp("views") / "home")
    shutil.copytree(ROOT / "fixtures" / "kb", world.kb, dirs_exist_ok=True)
    world.node("everything.org", "everything", "Everything", _EVERYTHING, tags=":a:b:")
    world.node(
        "hebrew.org", "hebrew", "איך מפעילים את המיגרציות", "תמיד להריץ לפני הבדיקות\n\nA line between.\n\n- פריט ראשון"
    )
    (world.kb / "pixel.png").write_bytes(_PIXEL)
    (world.kb / "attack").mkdir()
    world.note(
        "attack/a<script>window.ran=1<script>.org",
        f':PROPERTIES:\n:ID: attack\n:ROAM_ALIASES: "{_ATTACK.replace(chr(34), "")}"\n'
        f":ROAM_REFS: https://x.example/{_ATTACK.replace(' ', '').replace(chr(34), '')}\n:AGENT: {_ATTACK}\n:PROJECT: {_ATTACK}\n:END:\n"
        f"#+title: Zebra {_ATTACK}\n#+filetags: :agent:\n\n{_ATTACK}\n\n* TODO {_ATTACK} :a:\n"
        f"- {_ATTACK} :: {_ATTACK}\n\n| {_ATTACK} |\n\n[[https://x.example/{_ATTACK}][{_ATTACK}]] [[id:attack]]\n"
        f"[[file:{_ATTACK}.png]] [[javascript:window.ran=1][click]] [cite:@{_ATTACK}] =zebra {_ATTACK}=\n"
        f"#+begin_export html\n{_ATTACK}\n#+end_export\n@@html:{_ATTACK}@@\n[[id:everything]]\n",
    )
    for number, text in enumerate(hostile_notes(120)):
        world.note(f"hostile/{number}.org", text.replace(":ID: a\n", f":ID: hostile-{number}\n", 1))
    kb = world.open()
    kb.log.init()
    adopt(world)
    learn(kb.log, "OAuth redirect URIs must match exactly", type="gotcha", files=("src/auth/*.ts",))
    learn(kb.log, "The build takes 30 seconds")
    learn(kb.log, "The build takes 300 seconds")
    learn(kb.log, f"Zebras are striped {_ATTACK}")
    for session in ("s1", "s2"):
        learn(kb.log, "OAuth redirect URIs must match exactly", session=session, agent=_ATTACK)
    for technique, outcome in (("Open it with a timeout", "success"), (_ATTACK, "failure"), (_ATTACK, None)):
        error = f"OperationalError: database is locked {_ATTACK}"
        kb.log.remedy("record", error=error, technique=technique, outcome=outcome, steps=(_ATTACK,), agent=_ATTACK)
    kb.log.recall("oauth redirect", session="s1", agent="Ada")
    kb.log.recall("zebras", session=_ATTACK, agent=_ATTACK)
    receipts = world.log().local_folder / "receipts.jsonl"
    hostile = {"id": "r", "ts": 1, "agent": _ATTACK, "session": "s1", "task": "", "by": _ATTACK, "worktree": _ATTACK}
    remedy = f"remedy:{_ATTACK}"
    receipts.write_text(receipts.read_text() + json.dumps({**hostile, "shown": [_ATTACK, remedy]}) + "\n")
    for number in (30, 300):
        learn(kb.log, f"Zebras sleep {number} minutes {_ATTACK}", task=_ATTACK, files=(_ATTACK,))
    # the server's day, so that it stands on the first page
    today = world.open(now=datetime.now(UTC))
    today.write(
        _LONG_WORD,
        tags=(_LONG_WORD,),
        aliases=(_LONG_WORD,),
        body=f"{_LONG_WORD} [[id:oauth-for-lantern]]",
        by=_LONG_WORD,
    )
    for text in (_LONG_WORD, f"{_LONG_WORD} sleeps 30 minutes", f"{_LONG_WORD} sleeps 300 minutes"):
        learn(kb.log, text, task=_LONG_WORD, files=(_LONG_WORD,), tags=(_LONG_WORD,), agent=_LONG_WORD)
    kb.log.remedy("record", error=_LONG_WORD, technique=_LONG_WORD, outcome="failure", agent=_LONG_WORD)
    kb.log.recall(_LONG_WORD, session=_LONG_WORD, agent=_LONG_WORD)
    world.node(_LONG_COPY, "everything", _LONG_WORD, f"Words of {_LONG_WORD}")
    world.node("attacked.org", "attacked", f"Zebras {_ATTACK}", f"First\n\n{_ATTACK}\n\nLast")
    world.node(_COPY, "attacked", f"Zebras {_ATTACK}", f"First\n\n{_ATTACK} {_ATTACK}\n\nLast, or not")
    kb.journal()
    kb.trash(kb.write(f"Gone {_ATTACK[:250]}", tags=("a",)).id)
    kb.journal()
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
    tab.open(paged.entrance)
    assert f"{paged.base}/" == tab.run("location.href")
    return tab


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_view_can_be_used_by_everybody(theme: str, width: int, tab: Tab, paged: Paged) -> None:
    """Nothing serious for axe-core, nothing wider than the window, nothing that the browser complains of."""
    tab.show_as(width=width, theme=theme)
    tab.complaints.clear()
    for name, path in _VIEWS.items():
        tab.open(paged.base + path)
        assert tab.run("document.documentElement.scrollWidth") <= width, name
        assert 1 == tab.run("document.querySelectorAll('h1').length"), name
        # that an answer is no 200 is one to the browser
        assert [] == [told for told in tab.complaints if name != "gone"], name
        tab.complaints.clear()
        assert [] == tab.serious_faults(), name


def test_what_a_note_holds_does_nothing(tab: Tab, paged: Paged, world: World) -> None:
    """No script runs, no other server is asked, and the browser has nothing to report of its policy."""
    tab.requests.clear()
    tab.complaints.clear()
    learnings = world.open().log.export().learnings
    ids = [standing.id for standing in learnings if _ATTACK in standing.learning.content]
    attacked = [*(f"/learning?id={id}" for id in ids), *(_VIEWS[name] for name in _DECIDING)]
    views = ("/", "/search?q=zebra", "/note?id=attack", "/agents", "/learnings", "/remedies", "/shown")
    drawn = ("/graph", "/graph?id=attack", f"/graph?{urlencode({'q': _ATTACK})}")
    for path in (*views, *drawn, *attacked):
        tab.open(paged.base + path)
        assert tab.run("window.ran === undefined && !document.querySelector('main script, iframe, base, main style')")
    assert tab.requests
    assert [] == [address for address in tab.requests if not address.startswith((f"{paged.base}/", "data:,"))]
    assert [] == tab.complaints
    assert [] == paged.reports


@pytest.mark.slow
def test_no_hostile_note_does_anything(tab: Tab, paged: Paged) -> None:
    """Nor is wider than a telephone, whichever of them it is."""
    tab.requests.clear()
    tab.complaints.clear()
    tab.show_as(width=390)
    for number, _ in enumerate(hostile_notes(120)):
        tab.open(f"{paged.base}/note?name=hostile/{number}.org")
        assert [True, True, 1] == tab.run(
            "[window.ran === undefined && !document.querySelector('main script, iframe, base, main style'),"
            "document.documentElement.scrollWidth <= 390, document.querySelectorAll('article').length]"
        ), number
    assert [] == [address for address in tab.requests if not address.startswith((f"{paged.base}/", "data:,"))]
    assert ([], []) == (tab.complaints, paged.reports)


def test_a_page_that_broke_its_policy_would_be_reported(browser: Chromium, world: World) -> None:
    """Otherwise that there are no reports would prove nothing."""
    with paging(world) as paged:
        tab = browser.new_tab(apart=True)
        tab.open(paged.entrance)
        refused = tab.run("(() => { try { document.body.innerHTML = '<b>x</b>' } catch { return true } })()")
        assert refused
        tab.run(
            "{ const s = document.createElement('img'); s.src = 'https://foreign.example/'; document.body.append(s) }"
        )
        tab.run("{ const s = document.createElement('style'); s.textContent = 'b{}'; document.body.append(s) }")
        while len(paged.reports) < 2:
            tab.run("new Promise(r => setTimeout(r, 20))")
        assert "csp_report" in paged.reports[0]


def test_one_searches_and_reads_by_keys_alone(tab: Tab, paged: Paged) -> None:
    """`/` to the search, hits as one types, keys through them, Enter opens, Back and reload bring them back."""
    tab.show_as(width=1440)
    tab.open(f"{paged.base}/agents")
    tab.press("/", text="/")
    tab.type("oauth redirect")
    tab.wait_until("document.querySelectorAll('.hit').length && location.search.includes('oauth+redirect')")
    assert "oauth redirect" in tab.run("document.title")
    assert "redirect" in tab.run("document.querySelector('mark').textContent.toLowerCase() + ' redirect'")
    assert " hit" in tab.run("document.querySelector('[role=status]').textContent")
    tab.run("history.back()")
    there = "document.readyState === 'complete' && document.querySelector('h1').textContent"
    tab.wait_until(f"location.pathname === '/agents' && {there}.includes('Agents')")
    tab.run("history.forward()")
    tab.wait_until(f"location.pathname === '/search' && {there}.includes('oauth')")
    tab.wait_until("document.activeElement.id === 'q'")
    tab.press("Escape")
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        tab.press(key, text=key)
        assert place == tab.run("[...document.querySelectorAll('.hit-title')].indexOf(document.activeElement)")
    for key, place in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        tab.press(key)
        assert place == tab.run("[...document.querySelectorAll('.hit-title')].indexOf(document.activeElement)")
    assert "none" != tab.run("getComputedStyle(document.activeElement).outlineStyle")
    title = tab.run("document.activeElement.textContent")
    tab.forget_events()
    tab.press("Enter")
    tab.wait_for("Page.loadEventFired")
    # a heading's hit has the titles above it before its own
    assert title.endswith(tab.run("document.querySelector('h1').textContent.trim()"))
    tab.forget_events()
    tab.run("history.back()")
    tab.wait_until("location.pathname === '/search' && document.querySelectorAll('.hit').length > 1")
    tab.open(tab.run("location.href"))
    assert "oauth redirect" == tab.run("document.getElementById('q').value")
    assert tab.run("document.querySelectorAll('.hit').length") > 1


def test_what_is_wrong_with_a_query_is_said_where_it_is_typed(tab: Tab, paged: Paged) -> None:
    """The field keeps it, and the hits of the query before it go."""
    tab.show_as(width=1440)
    tab.open(f"{paged.base}/search?q=oauth")
    tab.type(" after:2026-13")
    tab.wait_until("document.querySelector('[role=alert]')")
    assert "is no day" in tab.run("document.querySelector('[role=alert]').textContent")
    assert 0 == tab.run("document.querySelectorAll('.hit').length")
    tab.open(f"{paged.base}/search?q=after:2026-13")
    assert "after:2026-13" == tab.run("document.getElementById('q').value")


def test_a_phone_shows_how_sure_a_learning_is(tab: Tab, paged: Paged) -> None:
    """Beside its words, and not past the edge of the window; of the first page, what waits comes first."""
    tab.show_as(width=390)
    tab.open(f"{paged.base}/learnings")
    assert tab.run("[...document.querySelectorAll('table meter')].every(m => m.getBoundingClientRect().right < 390)")
    tab.open(f"{paged.base}/")
    assert tab.run("document.querySelector('.part.open').getBoundingClientRect().top") < 400


def test_a_page_that_says_no_leads_on(tab: Tab, paged: Paged) -> None:
    """With the search and the views in its head, and a place that is no view as well."""
    for path in ("/note?id=gone", "/nowhere", "/graph?id=gone"):
        tab.open(paged.base + path)
        assert tab.run("document.querySelectorAll('nav a').length") > 5, path
        assert tab.run("document.querySelector('#q') && document.querySelector('h1').textContent"), path


def test_arrows_choose_where_there_is_something_to_choose(tab: Tab, paged: Paged) -> None:
    """In a list, among places of a conflict, and in a text of several lines; from the search they lead to the hits."""
    tab.open(f"{paged.base}{_VIEWS['learning']}")
    tab.run("document.getElementById('outcome').focus()")
    tab.press("ArrowDown")
    assert ["outcome", 1] == tab.run("[document.activeElement.id, document.getElementById('outcome').selectedIndex]")
    tab.run("document.getElementById('text').focus()")
    tab.press("ArrowDown")
    assert "text" == tab.run("document.activeElement.id")
    tab.open(paged.base + _CONFLICT)
    tab.run("document.querySelector('[name=choice-1]').focus()")
    tab.press("ArrowDown")
    assert "second" == tab.run("document.querySelector('[name=choice-1]:checked').value")


def test_the_first_key_leads_past_the_head(tab: Tab, paged: Paged) -> None:
    """A link to the content comes first, and is seen once it has the focus."""
    tab.open(f"{paged.base}/note?id=everything")
    tab.press("Tab")
    assert "skip" == tab.run("document.activeElement.className")
    assert tab.run("document.activeElement.getBoundingClientRect().width") > 50
    tab.press("Enter")
    tab.wait_until("document.activeElement.id === 'main'")


def test_a_note_is_shown_as_it_is_meant(tab: Tab, paged: Paged) -> None:
    """With its image, its place for a hit, its links both ways, and the way to Emacs."""
    tab.open(f"{paged.base}/note?id=everything&line=19#here")
    tab.wait_until("document.querySelector('.text img').naturalWidth === 1")
    assert "PRE" in tab.run("document.querySelector('#here').innerHTML.toUpperCase()")
    assert "org-protocol://roam-node?node=everything" == tab.run("document.querySelector('.around .button').href")
    assert "Zebra" in tab.run("document.querySelector('[aria-labelledby=back] li').textContent")
    assert ["H1", "H2", "H3"] == tab.run("[...document.querySelectorAll('article :is(h1,h2,h3)')].map(h => h.tagName)")


def test_each_paragraph_goes_in_the_direction_of_its_letters(tab: Tab, paged: Paged) -> None:
    """From right to left where they do, with the mark of a list's entry on that side; the title as well."""
    tab.show_as(width=1440)
    tab.open(f"{paged.base}/note?id=hebrew")
    gaps = """(selector => { const block = document.querySelector(selector), range = document.createRange();
      range.selectNodeContents(block); const words = range.getBoundingClientRect(), all = block.getBoundingClientRect();
      return [words.left - all.left, all.right - words.right].map(Math.round); })"""
    for place in ("h1", ".text p", ".text li p"):
        left, right = tab.run(f"{gaps}('{place}')")
        assert (True, 0) == (left > 50, right), place
    left, right = tab.run(f"{gaps}('.text p:nth-of-type(2)')")
    assert (0, True) == (left, right > 50)
    assert tab.run("parseFloat(getComputedStyle(document.querySelector('.text ul')).paddingRight)") > 10


def test_everything_can_be_read_without_scripts(tab: Tab, paged: Paged) -> None:
    """The search is a form, and each view a page."""
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        for name, path in _VIEWS.items():
            tab.open(paged.base + path)
            assert len(_text(tab)) > 100, name
        tab.open(f"{paged.base}/graph")
        assert not tab.run("document.getElementById('graph-keys').checkVisibility()")
        tab.open(f"{paged.base}/")
        root = tab.call("DOM.getDocument")["root"]["nodeId"]
        field = tab.call("DOM.querySelector", nodeId=root, selector="#q")["nodeId"]
        tab.call("DOM.focus", nodeId=field)
        tab.type("sourdough")
        tab.forget_events()
        tab.press("Enter")
        tab.wait_for("Page.loadEventFired")
        assert "Sourdough" in _text(tab)
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_what_is_decided_needs_keys_alone_and_no_script(tab: Tab, paged: Paged, world: World) -> None:
    """A note into the trash and back, by Tab and Enter; what it did is said on the page that comes."""
    id = world.open().write("Giraffes have seven bones in the neck").id
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        for path, told in ((f"/note?id={id}", "moved to the trash"), ("/trash", "put back")):
            tab.open(paged.base + path)
            _press_button(tab, id)
            assert told in _text(tab)
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert id in world.open().show(id).node.id


def _press_button(tab: Tab, value: str) -> None:
    """Press the button of the form that has a field of that value."""
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    form = f"form:has(input[value='{value}'])"
    tab.call("DOM.focus", nodeId=tab.call("DOM.querySelector", nodeId=root, selector=f"{form} button")["nodeId"])
    tab.forget_events()
    tab.press("Enter")
    tab.wait_for("Page.loadEventFired")


def test_proposals_are_gone_through_by_keys(tab: Tab, paged: Paged) -> None:
    """`j` to the next, `a` to its button; one that waits for a person's proof says so and does nothing."""
    tab.show_as(width=1440)
    tab.open(f"{paged.base}/review")
    tab.press("j", text="j")
    assert tab.run("!!document.activeElement.closest('.proposal')")
    tab.press("a", text="a")
    assert "run the command" in tab.run("document.querySelector('[role=status]').textContent")
    assert "/review" == tab.run("location.pathname")


def test_places_are_chosen_and_written(tab: Tab, paged: Paged, world: World) -> None:
    """Two versions side by side, the second one taken: a new note, and no file changed."""
    before = world.files()
    tab.open(paged.base + _CONFLICT)
    tab.run("document.querySelector('[name=choice-1][value=second]').click()")
    tab.run("document.getElementById('title').value = 'Zebras, merged'")
    tab.forget_events()
    tab.run("document.querySelector('form.merge .button').click()")
    tab.wait_for("Page.loadEventFired")
    assert "/note" == tab.run("location.pathname")
    assert "Zebras, merged" in tab.run("document.querySelector('h1').textContent")
    after = world.files()
    assert before == {name: after[name] for name in before}
    assert 1 == len(after) - len(before)


def _text(tab: Tab) -> str:
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    main = tab.call("DOM.querySelector", nodeId=root, selector="main")["nodeId"]
    return str(tab.call("DOM.getOuterHTML", nodeId=main)["outerHTML"])


def test_another_browser_is_not_let_in(browser: Chromium, paged: Paged, tab: Tab) -> None:
    """Without the cookie there is one sentence that says what to do."""
    tab.open(f"{paged.base}/")
    stranger = browser.new_tab(apart=True)
    stranger.open(f"{paged.base}/search?q=oauth")
    assert "no session" in stranger.run("document.body.textContent")
    assert 0 == stranger.run("document.querySelectorAll('.hit').length")
