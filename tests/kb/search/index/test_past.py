"""What replaced a node since a past moment, as a search of that moment tells it."""

from datetime import datetime
from typing import Any

import pytest

from roamkb.core.errors import UsageError
from tests.conftest import World

LATER = datetime(2026, 6, 20, 12, 0)


def superseded(world: World, id: str, day: str, title: str, by: str = "") -> None:
    """Put an agent node into the knowledge base that says what replaced it."""
    mark = f":SUPERSEDED_BY: {by}\n" if by else ""
    world.note(
        f"{day.replace('-', '')}100000-{id}.org",
        f":PROPERTIES:\n:ID: {id}\n:CREATED: [{day}]\n:AGENT: tester\n{mark}:END:\n"
        f"#+title: {title}\n#+filetags: :agent:\n\nWe deploy on some day.\n",
    )


@pytest.fixture
def deploys(world: World) -> World:
    """A fact that was replaced twice, and a note that nobody dated."""
    superseded(world, "a", "2026-01-05", "Deploy on Tuesdays", by="b")
    superseded(world, "b", "2026-03-05", "Deploy on Fridays", by="c")
    superseded(world, "c", "2026-05-05", "Deploy on Mondays")
    world.node("undated.org", "u", "Deploy")
    return world


def found(world: World, as_of: str, **options: Any) -> list[tuple[str | None, bool, list[str]]]:
    """Return the hits' ids, whether they count as superseded, and their successors."""
    hits = world.open(now=LATER).search("deploy", as_of=as_of, **options).hits
    return [(hit.id, "superseded" in hit.why, [next.id for next in hit.replaced_by or ()]) for hit in hits]


def test_a_node_is_in_force_until_its_successor_comes(deploys: World) -> None:
    """It says what replaced it since, to the end of the chain."""
    assert [("u", False, []), ("a", False, ["b", "c"])] == found(deploys, "2026-02")
    assert [("u", False, []), ("b", False, ["c"]), ("a", True, ["b", "c"])] == found(deploys, "2026-04-30")
    assert [("u", False, []), ("c", False, []), ("b", True, ["c"])] == found(deploys, "2026-05-05")[:3]


@pytest.mark.parametrize(
    ("moment", "is_there", "shown"),
    [
        ("2026-06-01T14:29", False, "2026-06-01 14:29"),
        ("2026-06-01T14:30", True, "2026-06-01 14:30"),
        ("2026-06-01 14:30", True, "2026-06-01 14:30"),
        ("2026-06-01T14:30:59", True, "2026-06-01 14:30:59"),
        ("2026-06-01T13:30Z", False, "2026-06-01 13:30"),
        ("2026-06-01T16:30+02:00", True, "2026-06-01 14:30"),
        ("2026-06-01T00:00", False, "2026-06-01 00:00"),
    ],
)
def test_a_minute_is_a_moment_and_may_name_its_zone(world: World, moment: str, is_there: bool, shown: str) -> None:
    """Without a zone it is this machine's time; a day alone is its end."""
    world.note(
        "20260601143000-lock.org",
        ":PROPERTIES:\n:ID: lock\n:CREATED: [2026-06-01 14:30]\n:END:\n#+title: The export needs a lock\n",
    )
    ran = world.run("search", "export", "--as-of", moment, extra={"TZ": "UTC"})
    assert (0 if is_there else 1) == ran.status
    assert f"as of {shown}" in ran.err


def test_a_successor_has_title_and_date(deploys: World) -> None:
    """So a reader need not look it up."""
    hits = deploys.open(now=LATER).search("tuesdays", as_of="2026-02-01").hits
    (successor, last) = hits[0].replaced_by or ()
    assert ("b", "Deploy on Fridays", "2026-03-05") == (successor.id, successor.title, successor.date)
    assert " (superseded 2026-03-05; now: Deploy on Mondays)" == hits[0].replaced_mark
    assert "c" == last.id


def test_a_search_of_the_present_says_nothing_of_it(deploys: World) -> None:
    """Its JSON has the fields that it had."""
    assert {None} == {hit.replaced_by for hit in deploys.open(now=LATER).search("deploy").hits}
    answer = deploys.run("search", "deploy", "--json").json
    assert "as_of" not in answer
    assert not any("replaced_by" in hit for hit in answer["hits"])


def test_the_command_says_on_what_it_rests(deploys: World) -> None:
    """On standard error, once, with the number of hits that may be newer."""
    ran = deploys.run("search", "deploy", "--as-of", "2026-02-01")
    assert 0 == ran.status
    assert 2 == len(ran.out.splitlines())
    assert ran.err == (
        "roamkb: as of 2026-02-01: there is no journal, so that the notes' dates decide; "
        "1 hit without a date may be newer\n"
    )


def test_a_successor_that_is_gone_replaces_nothing(deploys: World) -> None:
    """It isn't named either, unless the journal knows it as there at the moment that was asked for."""
    context = deploys.open(now=datetime(2026, 6, 1, 12)).journal_context()
    assert context is not None
    context.take_look()
    (deploys.kb / "20260305100000-b.org").unlink()
    assert [("u", False, []), ("a", False, [])] == found(deploys, "2026-02-01")
    assert ("a", True, ["b", "c"]) == found(deploys, "2026-06-02")[-1]


def test_nodes_that_replaced_each_other_end_the_chain(deploys: World) -> None:
    """Whoever edits drawers can make a circle."""
    superseded(deploys, "c", "2026-05-05", "Deploy on Mondays", by="a")
    assert ("a", False, ["b", "c"]) == found(deploys, "2026-02-01")[-1]


def test_headings_of_a_note_have_dates_of_their_own(world: World) -> None:
    """Of a file, only the nodes are there that were there."""
    world.note(
        "20260101000000-log.org",
        ":PROPERTIES:\n:ID: log\n:END:\n#+title: Log\nzebra\n"
        "* Early\n:PROPERTIES:\n:ID: early\n:CREATED: [2026-02-01]\n:END:\nzebra\n"
        "* Late\n:PROPERTIES:\n:ID: late\n:CREATED: [2026-04-01]\n:END:\nzebra\n",
    )
    hits = world.open(now=LATER).search("zebra", as_of="2026-03-01").hits
    assert {"log", "early"} == {hit.id for hit in hits}
    assert not world.open(now=LATER).search("zebra", as_of="2025-12-31").hits


def test_a_set_up_file_counts_as_it_was(world: World) -> None:
    """Its tags are those of the day."""
    world.note("setup.org", "#+filetags: :old:\n")
    world.node("20260101000000-a.org", "a", "Zebra", "#+setupfile: setup.org")
    context = world.open(now=datetime(2026, 6, 1, 12)).journal_context()
    assert context is not None
    context.take_look()
    world.note("setup.org", "#+filetags: :new:\n")
    assert [("new",)] == [hit.tags for hit in world.open(now=LATER).search("zebra").hits]
    assert [("old",)] == [hit.tags for hit in world.open(now=LATER).search("zebra", as_of="2026-06-02").hits]


def test_it_ranks_words_alone(deploys: World) -> None:
    """Grep and relatives are of the present."""
    kb = deploys.open(now=LATER)
    for options in ({"regex": True}, {"related": "a"}):
        with pytest.raises(UsageError, match="--as-of ranks words"):
            kb.search("" if "related" in options else "deploy", as_of="2026-02-01", **options)
    with pytest.raises(UsageError, match="is no day"):
        kb.search("deploy", as_of="soon")
    assert kb.search("deploy", as_of="9999-12-31").hits
