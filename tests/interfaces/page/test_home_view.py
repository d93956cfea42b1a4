"""Home: what wants a person's look comes first, each with its command; what is missing hides nothing else."""

import json
import os
import re
import resource
import sys
import time
from pathlib import Path

import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.interfaces.page.home_view import view_home
from roamkb.log.store.hook_errors import HOOK_ERRORS_FILE
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn
from tests.conftest import make_world
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging


def _home(world: World) -> str:
    status, html = view_home(ServedKnowledgeBase(world.open().environment), None)
    assert 200 == status
    return html


def _part(html: str, title: str) -> str:
    found = re.search(rf"<section class=\"part[^>]*>\s*<h2 [^>]*>{title}</h2>.*?</section>", html, re.DOTALL)
    assert found, html
    return found[0]


def test_a_project_without_a_log_is_told_how_to_get_one(world: World) -> None:
    """And the rest of the page is there."""
    html = _home(world)
    assert "roamkb init" in _part(html, "Waiting for you")
    assert "none" in _part(html, "Conflict copies")


def test_what_wants_a_look_comes_first_with_its_command(world: World) -> None:
    """Copies of a syncer's, contradictions, failures of hooks; what an agent says there is text."""
    world.open().log.init()
    adopt(world)
    log = world.open().log
    learn(log, "The build takes 30 <b>seconds</b>")
    learn(log, "The build takes 300 <b>seconds</b>")
    world.node("a.org", "a", "Zebras")
    world.node("a.sync-conflict-20260610-120000-ABCDEFG.org", "a", "Zebras <i>")
    moment = world.open().environment.now().timestamp()
    failure = {"ts": moment, "event": "stop", "why": "no <u>space</u>"}
    (world.log().local_folder / HOOK_ERRORS_FILE).write_text(json.dumps(failure) + "\n")
    html = _home(world)
    assert "roamkb curate --dry-run" in _part(html, "Contradictions")
    assert "30 &lt;b&gt;seconds" in _part(html, "Contradictions")
    assert "roamkb conflicts" in _part(html, "Conflict copies")
    assert "Zebras &lt;i&gt;" in _part(html, "Conflict copies")
    assert "the hook stop failed: no &lt;u&gt;space" in _part(html, "Hooks")
    order = re.findall(r'<section class="part( open)?" aria-labelledby="part-', html)
    assert order == sorted(order, reverse=True)
    assert 3 == order.count(" open")


def test_the_wall_is_told_by_the_harness_s_settings(world: World) -> None:
    """Whether it is put before shell commands; the checks try it."""
    assert "no harness here" in _part(_home(world), "The wall")
    world.open().install(claude=True, yes=True)
    assert "set for Claude Code" in _part(_home(world), "The wall")
    settings = world.home / ".claude" / "settings.json"
    held = json.loads(settings.read_text())
    held.pop("env")
    settings.write_text(json.dumps(held))
    part = _part(_home(world), "The wall")
    assert "Claude Code: <code>roamkb install --claude</code>" in part
    assert "open" in part


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what a server took")
def test_the_first_page_takes_no_longer_than_a_search(tmp_path: Path) -> None:
    """With ten thousand notes, in processor seconds, once the server looked at them while the browser started."""
    world = make_world(tmp_path / "home")
    for number in range(10_000):
        world.node(f"{number % 50}/n{number}.org", f"n{number}", f"Zebra {number}", f"Striped. [[id:n{number // 3}]]")
    assert 0 == world.run("write", "Lanterns keep seven entries").status
    ratios = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert 0 == world.run("search", "lanterns").status
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with paging(world) as paged:
            begin = _rested_seconds(paged)
            html = paged.get("/", cookie=paged.enter()).body.decode()
            searched = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            ratios.append((_seconds(paged) - begin) / searched)
        assert "Lanterns keep" in html
    assert min(ratios) <= 1.5, ratios


def _seconds(paged: Paged) -> float:
    """Return the processor seconds that a server took so far."""
    fields = Path(f"/proc/{paged.served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rested_seconds(paged: Paged) -> float:
    """Return them once it does nothing any more."""
    seconds = -1.0
    while seconds != (seconds := _seconds(paged)):
        time.sleep(0.5)
    return seconds
