"""Whatever happens to the notes from day to day, a search as of a day finds what a search of that day found."""

import tempfile
from collections.abc import Callable
from datetime import datetime
from datetime import timedelta
from pathlib import Path

from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import RoamkbError
from roamkb.core.model import Hit
from tests.conftest import World
from tests.conftest import make_world
from tests.examples import examples

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
FIRST_DAY = datetime(2026, 6, 10, 9, 0, 0)
DAYS = 5
QUERIES = ("zebra", "zebra stripes savanna", '"grass and trees"', "tag:animal", "id:one zebra", "is:human river")
NAMES = ("one.org", "two.org", "sub/three.org", "20260101000000-four.org", "data/five.org", "six.org.gpg")
BODIES = (
    "A zebra has stripes.\n",
    "Grass and trees of the savanna.\n\n* Monday\n:PROPERTIES:\n:ID: monday\n:END:\nA zebra by the river.\n",
    "#+setupfile: two.org\nThe river is wide.\n",
    "#+filetags: :animal:\nZebra, zebra, zebra.\n",
    "",
)
Deed = Callable[[World, datetime], None]
#: What makes one hit another one.
Shown = tuple[str | None, str, Path, int, str, float, tuple[str, ...]]


def shown(hit: Hit) -> Shown:
    """Return what a hit says of the moment that was asked for."""
    return hit.id, hit.title, hit.path, hit.line, hit.text, hit.score, hit.why


def note_text(name: str, body: str, *, is_dated: bool, day: datetime) -> str:
    """Return a note's text, with or without the minute when it was made."""
    created = f":CREATED: [{day:%Y-%m-%d %a %H:%M}]\n" if is_dated else ""
    return f":PROPERTIES:\n:ID: {Path(name).stem}\n{created}:END:\n#+title: {Path(name).stem} zebra\n{body}"


def change(verb: str, name: str, other: str, body: str, is_dated: bool) -> Deed:
    """Return one thing that a human or an agent does to the notes, if it can."""

    def do(world: World, now: datetime) -> None:
        path, target = world.kb / name, world.kb / other
        kb = world.open(now=now, CLAUDECODE="1")
        match verb:
            case "write":
                world.note(name, note_text(name, body, is_dated=is_dated, day=now))
            case "remove":
                path.unlink(missing_ok=True)
            case "rename" if path.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
            case "learn":
                kb.write(f"Stripes confuse flies {body.split()[:1]}", body="zebra", anyway=True)
            case "supersede":
                for node in kb.inventory().nodes[:1]:
                    try:
                        kb.supersede(node.id, f"Stripes cool the zebra {now:%d %H:%M}", anyway=True)
                    except RoamkbError:
                        # it was superseded before
                        continue
            case "trash":
                for node in kb.inventory().nodes[-1:]:
                    kb.trash(node.id)

    return do


deeds = st.builds(
    change,
    st.sampled_from(("write", "write", "remove", "rename", "learn", "supersede", "supersede", "trash")),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(BODIES),
    st.booleans(),
)
days = st.lists(st.lists(deeds, max_size=4), min_size=DAYS, max_size=DAYS)


def look(world: World, now: datetime) -> None:
    """Take a look of the journal."""
    context = world.open(now=now).journal_context()
    assert context is not None
    context.take_look()


@settings(max_examples=examples(12), phases=PHASES)
@given(days)
def test_a_past_day_is_found_as_it_was(history: list[list[Deed]]) -> None:
    """Nodes, lines, texts, marks, scores and order are those of a search on the evening of that day."""
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder, "home"))
        answers: dict[tuple[datetime, str], list[Shown]] = {}
        now = FIRST_DAY
        for day, changes in enumerate(history):
            now = FIRST_DAY + timedelta(days=day)
            for hour, do in enumerate(changes):
                do(world, now + timedelta(hours=hour))
            now += timedelta(hours=10)
            look(world, now)
            for query in QUERIES:
                answers[now, query] = [shown(hit) for hit in world.open(now=now).search(query).hits]
        for (evening, query), expected in answers.items():
            found = world.open(now=now).search(query, as_of=f"{evening:%Y-%m-%d}")
            assert expected == [shown(hit) for hit in found.hits], (evening, query, found.as_of)
            assert found.as_of and f"{evening:%Y-%m-%d}" in found.as_of


@settings(max_examples=examples(8), phases=PHASES)
@given(st.lists(st.sampled_from(("write", "supersede")), min_size=DAYS, max_size=DAYS * 2))
def test_without_a_journal_dates_and_marks_say_it(verbs: list[str]) -> None:
    """Of nodes that are only added and superseded, the same are found and in force as on that day."""
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder, "home"))
        answers: dict[datetime, set[tuple[str | None, str, bool]]] = {}
        newest = ""
        for day, verb in enumerate(verbs):
            now = FIRST_DAY + timedelta(days=day)
            kb = world.open(now=now, CLAUDECODE="1")
            title = f"Stripes confuse flies, number {day}"
            is_first = verb == "write" or not newest
            newest = (
                kb.write(title, body="zebra", anyway=True).id
                if is_first
                else kb.supersede(newest, title, body="zebra", anyway=True).written.id
            )
            answers[now] = {(hit.id, hit.text, "superseded" in hit.why) for hit in kb.search("zebra stripes").hits}
        for now, expected in answers.items():
            found = world.open(now=FIRST_DAY + timedelta(days=99)).search("zebra stripes", as_of=f"{now:%Y-%m-%d}")
            assert expected == {(hit.id, hit.text, "superseded" in hit.why) for hit in found.hits}
            for hit in found.hits:
                dates = [successor.date for successor in hit.replaced_by or ()]
                assert dates == sorted(dates)
                # in force then: whatever replaced it came later
                assert "superseded" in hit.why or all(date > f"{now:%Y-%m-%dT23}" for date in dates)
