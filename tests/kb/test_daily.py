"""A day with its note and what agents did, and nodes that link to it."""

from datetime import timedelta

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from tests.conftest import NOON
from tests.conftest import World
from tests.pipeline.test_promote import SAID
from tests.pipeline.test_promote import promote
from tests.pipeline.test_promote import ready

_TODAY = NOON.date().isoformat()
_DAILY_ID = "0a1b2c3d-0000-4000-8000-00000000da11"


def test_a_day_shows_its_note_and_what_agents_did(world: World) -> None:
    """Written, replaced and trashed, each with its time, agent and project; other days' nodes aren't there."""
    world.node(f"daily/{_TODAY}.org", _DAILY_ID, _TODAY, "* Bought tea")
    kb = world.open(CLAUDECODE="1")
    old = world.open(now=NOON - timedelta(days=3)).write("Invoices start at 1 in January")
    kb.supersede(old.id, "Invoice numbers go on over the years")
    trashed = kb.write("Zebras graze at dawn")
    kb.trash(trashed.id)
    day = kb.daily()
    assert (day.day, day.path, day.node and day.node.node.id) == (_TODAY, world.kb / f"daily/{_TODAY}.org", _DAILY_ID)
    wrote, gone = sorted(day.acts, key=lambda act: act.what == "trashed")
    assert (wrote.what, wrote.title, wrote.agent, wrote.project, [node.id for node in wrote.replaces]) == (
        "wrote",
        "Invoice numbers go on over the years",
        "claude-code",
        "~/code/site",
        [old.id],
    )
    assert (gone.what, gone.id) == ("trashed", trashed.id)
    shown = world.run("daily", _TODAY)
    assert "* Bought tea" in shown.out
    assert "in place of Invoices start at 1 in January" in shown.out


def test_what_was_promoted_names_its_learning(world: World) -> None:
    """As this project's log has it."""
    ready(world, SAID[0])
    ((standing, node),) = promote(world.open().log, all=True).nodes
    (act,) = world.open().daily().acts
    assert (act.what, act.id, act.learning) == ("promoted", node.id, standing.learning.key)


@pytest.mark.parametrize(
    ("text", "days"),
    [(None, 0), ("today", 0), ("Yesterday", -1), ("tomorrow", 1), ("-3", -3), ("+2", 2), ("7d", -7), (_TODAY, 0)],
)
def test_a_day_has_many_names(world: World, text: str | None, days: int) -> None:
    """None of them is a month or a year."""
    assert world.open().daily(text).day == (NOON.date() + timedelta(days=days)).isoformat()


@pytest.mark.parametrize("text", ["2026", "2026-13", "2026-06", "2026-02-30", "-99999", "noday", "+99999999999"])
def test_what_is_no_day_is_refused(world: World, text: str) -> None:
    """Also one before the calendar; the error says what is one."""
    kb = world.open(now=NOON.replace(year=100))
    with pytest.raises(UsageError, match="is no day"):
        kb.daily(text)


def test_the_command_line_takes_days_ago(world: World) -> None:
    """Which look like an option; a day without anything is status 1, and says where its note would be."""
    ran = world.run("daily", "-3")
    assert (ran.status, ran.out) == (1, "")
    assert "there is no daily of" in ran.err


@pytest.mark.parametrize(
    ("lisp", "name"),
    [
        ("", "daily/{}.org"),
        ("", "daily/{}-monday.org"),
        ("", "elsewhere/{}.org"),
        ('(setq org-roam-dailies-directory "journal/")', "journal/{}.org"),
        ('(setq org-roam-dailies-directory (concat org-roam-directory "j"))', "j/{}.org"),
        (
            '(use-package org-roam :custom (org-roam-dailies-directory (expand-file-name "d/" org-roam-directory)))',
            "d/{}.org",
        ),
    ],
)
def test_the_folder_is_the_one_that_emacs_has(world: World, lisp: str, name: str) -> None:
    """Where its init file says so plainly; else the only note that is called as the day is its daily."""
    (world.home / ".emacs").write_text(lisp)
    path = world.node(name.format(_TODAY), _DAILY_ID, "Today")
    if lisp:
        world.node(f"daily/{_TODAY}.org", "other", "Not the daily")
    assert path == world.open().daily().path


def test_a_new_node_links_to_its_day(world: World) -> None:
    """The daily keeps its bytes; the node stands in that day's list, whenever it was written."""
    daily = world.node("daily/2026-01-02.org", _DAILY_ID, "2026-01-02")
    before = daily.read_bytes()
    written = world.open().write("The deploy of January failed for want of disk", daily="2026-01-02")
    assert f"[[id:{_DAILY_ID}][2026-01-02]]" in written.text
    assert before == daily.read_bytes()
    (act,) = world.open().daily("2026-01-02").acts
    assert (act.id, act.is_linked) == (written.id, True)
    assert "for this day" in world.run("daily", "2026-01-02").out


@pytest.mark.parametrize(
    ("text", "missing"), [(None, "no daily of"), ("#+title: T\n* Heading\n", "no id in the daily of")]
)
def test_no_daily_is_made_or_changed_to_link_to_it(world: World, text: str | None, missing: str) -> None:
    """The error says what its human does; nothing is written."""
    if text:
        world.note("daily/2026-01-02.org", text)
    before = world.files()
    with pytest.raises(NotFound, match=missing) as error:
        world.open().write("A fact", daily="2026-01-02")
    assert "a human" in error.value.hint
    assert before == world.files()


def test_a_refusal_comes_before_the_day(world: World) -> None:
    """A work project is told of no daily."""
    with pytest.raises(Refused):
        world.open(world.work).write("A fact", daily="noday")
