"""Remedies on the page: in the command's order, with bounds that are drawn and said, each attempt with its outcome."""

import re
from html import unescape

import pytest
from starlette.requests import Request

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.interfaces.page.records.remedies_view import view_remedies
from roamkb.remedies.remedy import KnownErrors
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import typed

_LOCKED = "sqlite3.OperationalError: database is locked"


def _page(world: World, query: str = "") -> str:
    request = Request({"type": "http", "query_string": query.encode(), "headers": []})
    status, html = view_remedies(ServedKnowledgeBase(world.open().environment), request)
    assert 200 == status
    return unescape(html)


def _record(world: World, technique: str, *outcomes: str, error: str = _LOCKED, steps: tuple[str, ...] = ()) -> None:
    for outcome in outcomes:
        world.open().log.remedy(
            "record", error=error, technique=technique, outcome=outcome or None, steps=steps, agent="Ada"
        )


@pytest.fixture
def tried(world: World) -> World:
    """A project in which something was tried."""
    world.open().log.init()
    adopt(world)
    _record(world, "Delete the lock file", "failure", "failure", "failure")
    _record(world, "Switch to WAL", "success")
    _record(
        world, "Open it with a timeout", "success", "success", "failure", "success", steps=("edit jobs.py", "run it")
    )
    _record(world, "Ask its owner", "")
    return world


def test_the_order_is_the_command_s(tried: World) -> None:
    """The best first, what is withdrawn last; the error that was met last before the others."""
    _record(tried, "pip install pyyaml", "partial", error="ModuleNotFoundError: No module named 'yaml'")
    html = _page(tried)
    listed = typed(KnownErrors, tried.open().log.remedy("list")).errors
    techniques = [remedy.technique for error in listed for remedy in error.remedies]
    shown = re.findall(r'<p class="technique">(?:<span.*?</span> )?(.*?)</p>', html)
    assert techniques == shown
    assert ["pip install pyyaml", "Open it with a timeout"] == shown[:2]
    assert '<span class="badge fault">withdrawn</span> Delete the lock file' in html


def test_the_bounds_are_drawn_and_said(tried: World) -> None:
    """Three of four lies between 30 % and 95 %; what nobody tried has no bar."""
    html = _page(tried)
    bar = html.partition('aria-label="worked 3 of 4 times: likely between 30 % and 95 %">')[2]
    assert (
        bar.partition("</svg>")[0].split()
        == (
            '<rect class="frame" width="100%" height="100%" rx="3"></rect> '
            '<rect class="range" x="30%" width="65%" height="100%" rx="3"></rect> '
            '<line class="share" x1="75%" x2="75%" y1="0" y2="100%"></line>'
        ).split()
    )
    assert 3 == html.count("<svg")
    assert "nobody tried it yet" in html
    assert "worked 0 of 3 times; likely between 0 % and 56 %; 3 failed attempts" in html


def test_one_error_has_its_attempts_and_steps_open(tried: World) -> None:
    """By its fingerprint, as `roamkb remedy show` takes it; an unknown one is said so."""
    (error,) = typed(KnownErrors, tried.open().log.remedy("list")).errors
    html = _page(tried, f"error={error.fingerprint.digest}")
    assert 4 == html.count("<details open>")
    assert "4 attempts, 2 steps" in html
    assert "1 proposal" in html
    assert "<li>edit jobs.py</li>" in html
    assert 3 == len(re.findall(r"<td>failure</td><td>Ada</td>", html.partition("Delete the lock file")[2]))
    with pytest.raises(NotFound):
        _page(tried, "error=0123456789abcdef")


def test_nothing_tried_and_no_log_are_said(world: World) -> None:
    """Each with the command that begins it."""
    assert "roamkb init" in _page(world)
    world.open().log.init()
    adopt(world)
    assert "roamkb remedy record" in _page(world)
