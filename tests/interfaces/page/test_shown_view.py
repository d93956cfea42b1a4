"""Shown on the page: the same occasions as the command's, by session, in pages, each item leading to what it is."""

import json
import re
from html import unescape

import pytest
from starlette.requests import Request

from roamkb.app.server import ServedKnowledgeBase
from roamkb.interfaces.page.records.shown_view import view_shown
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn

_PROMPT = "why does celery lose tasks when a worker is killed?"


def _page(world: World, query: str = "") -> str:
    request = Request({"type": "http", "query_string": query.encode(), "headers": []})
    status, html = view_shown(ServedKnowledgeBase(world.open().environment), request)
    assert 200 == status
    return unescape(html)


def _prompt(world: World, session: str) -> None:
    payload = {"session_id": session, "cwd": str(world.personal), "prompt": _PROMPT}
    world.run("hook", "user-prompt-submit", input=json.dumps(payload))


@pytest.fixture
def told(world: World) -> World:
    """A project that knows a few things."""
    kb = world.open()
    kb.log.init()
    adopt(world)
    learn(kb.log, "Celery tasks need acks_late, otherwise a killed worker loses them", type="gotcha")
    learn(kb.log, "The celery dashboard is called Flower")
    world.node("a.org", "node-a", "Celery and Redis", "Celery keeps its tasks in Redis; a killed worker may lose them.")
    kb.index()
    return world


def test_each_prompt_has_what_was_offered_what_nearly_was_and_what_came_of_it(told: World) -> None:
    """By its digest, in its session; what the command says is what the page says."""
    _prompt(told, "s1")
    key = told.open().log.export().learnings[0].learning.key
    told.run("used", key, "--outcome", "success")
    _prompt(told, "s1")
    html = _page(told)
    assert html.index("Session <a") < html.index("beside a prompt")
    latest, first = re.findall(r'<article class="occasion">.*?</article>', html, re.DOTALL)
    listed = told.run("shown", "--json").json["occasions"]
    assert [len(occasion["near"]) for occasion in listed] == [latest.count("<td><a"), first.count("<td><a")]
    assert all(occasion["prompt"] in html for occasion in listed)
    (item,) = [item for item in listed[1]["shown"] if item["name"] == key]
    assert f'<a href="/learning?id={item["id"]}">{item["text"]}</a>' in first
    assert '<span class="badge">success</span>' in first
    assert "nothing was shown" in latest
    miss = next(miss for miss in listed[0]["near"] if miss["dropped"] == "shown before")
    row = latest[latest.index(miss["text"] or miss["name"]) :].partition("</tr>")[0]
    assert f"<td>shown before</td><td>{miss['bits']:.1f}</td><td>{miss['least_bits']:.1f}</td>" in row
    assert _PROMPT not in html


def test_a_remedy_leads_to_its_error_and_what_is_gone_nowhere(told: World) -> None:
    """An id that nothing has any more is shown as it is."""
    log = told.open().log
    log.remedy("record", error="KeyError: 'id'", technique="Ask for it & wait", outcome="success")
    receipt = {"id": "r", "ts": 1, "agent": "", "session": "", "task": "", "by": "error", "worktree": "tree"}
    file = told.log().local_folder / "receipts.jsonl"
    file.write_text(json.dumps({**receipt, "shown": ["remedy:Ask for it & wait", "0f0f"]}) + "\n")
    html = _page(told)
    assert '<a href="/remedies?error=Ask+for+it+%26+wait">Ask for it & wait</a>' in html
    assert '<code>0f0f</code> <span class="about">gone</span>' in html
    assert "Without a session" in html
    assert "worktree <code>tree</code>" in html


def test_many_occasions_come_in_pages(told: World) -> None:
    """Sixty make three, each occasion on one of them; a number that is none is the first."""
    file = told.log().local_folder / "receipts.jsonl"
    for number in range(60):
        receipt = {"id": f"r{number}", "ts": number * 60, "agent": "", "session": f"s{number % 2}", "task": ""}
        with file.open("a") as lines:
            lines.write(json.dumps({**receipt, "shown": [f"gone-{number}"], "by": "recall"}) + "\n")
    pages = [_page(told, f"page={number}") for number in (1, 2, 3)]
    assert [25, 25, 10] == [html.count('<article class="occasion">') for html in pages]
    assert sorted(map(str, range(60))) == sorted(re.findall(r"gone-(\d+)", "".join(pages)))
    assert ["/shown?page=2"] == re.findall(r'rel="(?:prev|next)" href="(.*?)"', pages[0])
    assert ["/shown?page=1", "/shown?page=3"] == re.findall(r'rel="(?:prev|next)" href="(.*?)"', pages[1])
    assert ["/shown?page=2"] == re.findall(r'rel="(?:prev|next)" href="(.*?)"', pages[2])
    assert pages[0] == _page(told, "page=-7")
    session = _page(told, "session=s1")
    assert 25 == session.count('<article class="occasion">')
    assert ["/shown?session=s1&page=2"] == re.findall(r'rel="next" href="(.*?)"', session)
    assert "Nothing more was shown" in _page(told, "page=4")


def test_nothing_shown_and_no_log_are_said(world: World) -> None:
    """Each with what begins it."""
    assert "roamkb init" in _page(world)
    world.open().log.init()
    adopt(world)
    assert "Nothing was shown yet" in _page(world)
    assert "That session was shown nothing" in _page(world, "session=s9")
