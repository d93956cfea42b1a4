"""What other tools keep comes into the log once, whole, and counted to the line."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import NoLog
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.text import one_line
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.ingest.ingest import IngestResult
from roamkb.pipeline.ingest.ingest import ingest
from roamkb.pipeline.ingest.ingest import knowledge_lines
from tests.conftest import World
from tests.examples import examples

LAVRA = Path(".lavra", "memory", "knowledge.jsonl")
BEADS = Path(".beads", "memory", "knowledge.jsonl")


def line(content: str, **told: object) -> str:
    """A line as Lavra's capture writes it, and with what else is `told`."""
    said: dict[str, object] = {
        "key": f"learned-{content[:20].lower().replace(' ', '-')}",
        "type": "learned",
        "content": content,
        "source": "user",
        "tags": ["learned"],
        "ts": 1771032072,
        "bead": "bd-1",
    }
    return json.dumps({**said, **told})


def put(root: Path, lines: Sequence[str | bytes], place: Path = BEADS, end: bytes = b"\n") -> Path:
    """Write `lines` where a tool would keep them; return the file."""
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((one if isinstance(one, bytes) else one.encode()) + end for one in lines))
    return path


def taken(world: World, lines: Sequence[str | bytes], **options: bool) -> IngestResult:
    """What an import of `lines` into the personal project's log gives."""
    put(world.personal, lines)
    log = world.open().log
    log.init()
    return log.ingest(dry_run=options.get("dry_run", False))


def standings(root: Path) -> list[LearningState]:
    """What the log of the project at `root` holds."""
    return list(Log(root, root).read_contents().replay_state().standings.values())


def counts(found: IngestResult) -> tuple[int, int, int, int, int]:
    """The five counts."""
    return found.read, found.new, found.merged, found.already, len(found.invalid)


#: As different from one another as statements are.
SAYINGS = (
    "OAuth redirect URIs must match exactly",
    "Migrations run before the service restarts",
    "The importer keeps every accent: café, naïve, 日本語, €5, and “quotes”",
    "bd list prints a table even when nobody reads it",
    "Chose SQLite over a server, since one file is enough",
)


# What becomes of a line


def test_a_line_comes_in_as_the_document_maps_it(world: World) -> None:
    """Type, tags, bead, time, origin and trust; its content byte for byte."""
    content = "  Keep the café open — §5 \n\tas said\r\n"
    found = taken(world, [line(content, type="lesson", tags=["auth", "lesson", "auth"], key="k-1", bead="bd-9")])
    assert (1, 1, 0, 0, 0) == counts(found)
    (standing,) = standings(world.personal)
    learning = standing.learning
    assert content == learning.content
    assert ("learned", "lesson") == (learning.type, learning.extra["said"])
    assert ("learned", "auth", "lesson") == learning.tags
    assert ("k-1", "bd-9", 1771032072, "user") == (learning.key, learning.bead, learning.ts, learning.source)
    assert "knowledge_import:k-1" == learning.origin
    assert 90 == standing.confidence
    assert not standing.is_pinned
    assert ProjectKind.PERSONAL is learning.kind


@pytest.mark.parametrize(
    ("ts", "seconds"),
    [
        (1771032072, 1771032072),
        (1771032072.5, 1771032072.5),
        ("2026-02-14T01:21:12+00:00", 1771032072),
        ("2026-02-14T01:21:12Z", 1771032072),
        ("1771032072", 1771032072),
        (None, 0),
        ([], 0),
    ],
)
def test_a_time_of_any_form_is_read(world: World, ts: object, seconds: float) -> None:
    """Lavra counts seconds, Oro writes ISO, and some say nothing."""
    taken(world, [line("x y", ts=ts)])
    assert [seconds] == [one.learning.ts for one in standings(world.personal)]


def test_the_same_line_in_other_dress_is_the_same_line(world: World) -> None:
    """Double-encoded, with a BOM, CRLF, other order of keys, an ISO time: one source line."""
    told = json.loads(line("Only one"))
    found = taken(
        world,
        [
            b"\xef\xbb\xbf" + line("Only one").encode() + b"\r",
            json.dumps(line("Only one")),
            json.dumps(dict(reversed(told.items()))),
            json.dumps({**told, "ts": "2026-02-14T01:21:12+00:00"}),
        ],
    )
    assert (4, 1, 0, 3, 0) == counts(found)


def test_what_a_review_said_elsewhere_is_kept(world: World) -> None:
    """Curation's own fields, and any that nobody knows."""
    curated = {
        "status": "superseded",
        "superseded_by": "k-2",
        "review_source": "manual",
        "review_reason": "old",
        "local_anchors": {"files": ["a.py"]},
    }
    taken(
        world,
        [line(SAYINGS[0], key="k-1", **curated), line(SAYINGS[0] + " now", key="k-2", supersedes=["k-1"])],
    )
    old, new = sorted(standings(world.personal), key=lambda one: one.learning.key)
    assert curated == dict(old.learning.extra)
    assert ("superseded", "k-2", "old") == (old.status, old.superseded_by, old.review_reason)
    assert ("k-1",) == new.supersedes


def test_a_line_that_trusts_itself_less_is_trusted_less(world: World) -> None:
    """And none more than a human's word."""
    taken(world, [line(SAYINGS[0], confidence=0.5), line(SAYINGS[1], confidence=1.0)])
    assert [50, 90] == sorted(one.confidence for one in standings(world.personal))


@pytest.mark.parametrize("key", ["ghp_", "content"])
def test_a_secret_stays_out(world: World, key: str) -> None:
    """Wherever the line holds it, the rest comes in, and the secret is nowhere in the log."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    bad = line(f"token\n{secret}") if key == "content" else line("fine", local_anchors={"a": [{"b": secret}]})
    found = taken(world, [line(SAYINGS[0]), bad])
    assert (2, 1, 0, 0, 1) == counts(found)
    assert (2, "secret (GitHub token)") == (found.invalid[0].line, found.invalid[0].reason)
    log = world.log()
    assert secret not in log.knowledge.read_text() + log.ledger.read_text()


def test_bad_lines_are_told_by_number_and_the_rest_comes_in(world: World) -> None:
    """Shell debris, torn lines, conflict markers, wrong shapes; blank lines aren't lines."""
    torn = line(SAYINGS[2])[:40]
    found = taken(
        world,
        [
            line(SAYINGS[0]),
            "",
            'messages." && bd close bd-rm9',
            "<<<<<<< HEAD",
            "[1, 2]",
            line("   "),
            line("\u200b"),
            torn + line(SAYINGS[1]),
            b"\xff\xfe\x00",
            "   ",
        ],
    )
    assert (9, 2, 0, 0, 7) == counts(found)
    assert [3, 4, 5, 6, 7, 8, 9] == [bad.line for bad in found.invalid]
    assert all(bad.reason for bad in found.invalid)


def test_multi_line_beads_and_unknown_types_come_in(world: World) -> None:
    """As real logs have them."""
    taken(world, [line(SAYINGS[0], bead="bd-1\nbd close bd-1", type="Gut Feeling"), line(SAYINGS[1], type="!!")])
    found = {one.learning.content: one.learning for one in standings(world.personal)}
    assert ("bd-1", "gut-feeling", "Gut Feeling") == (
        found[SAYINGS[0]].bead,
        found[SAYINGS[0]].type,
        found[SAYINGS[0]].extra["said"],
    )
    assert "learned" == found[SAYINGS[1]].type


# Once


def test_a_second_run_adds_nothing(world: World) -> None:
    """Not a byte, to neither file; nor does it change the source."""
    lines = [line(one) for one in SAYINGS] + [line(SAYINGS[0].upper(), ts=5), "nonsense"]
    first = taken(world, lines)
    source, log = world.personal / BEADS, world.log()
    before = [path.read_bytes() for path in (source, log.knowledge, log.ledger)]
    second = world.open().log.ingest()
    assert (7, 5, 1, 0, 1) == counts(first)
    assert (7, 0, 0, 6, 1) == counts(second)
    assert before == [path.read_bytes() for path in (source, log.knowledge, log.ledger)]


def test_two_machines_make_the_same_ids(world: World, tmp_path: Path) -> None:
    """A union merge of their logs drops the doubles."""
    put(world.personal, [line(one) for one in SAYINGS])
    other = world.home / "code" / "other"
    other.mkdir()
    put(other, [json.dumps(line(one)) for one in SAYINGS], LAVRA)
    for root in (world.personal, other):
        log = world.open(root).log
        log.init()
        log.ingest()
    assert {one.id for one in standings(world.personal)} == {one.id for one in standings(other)}


def test_the_same_key_with_another_content_is_new(world: World) -> None:
    """Under a key of its own, and with where it came from."""
    taken(world, [line(SAYINGS[0], key="same"), line(SAYINGS[1], key="same")])
    found = standings(world.personal)
    assert 2 == len({one.learning.key for one in found})
    assert {"knowledge_import:same"} == {one.learning.origin for one in found}


def test_a_duplicate_is_merged_and_what_differed_is_kept(world: World) -> None:
    """Exact, normalised and nearly the same; of what is in the log, and of the source's own lines."""
    log = world.open().log
    log.init()
    log.learn("Migrations run before the service restarts")
    found = taken(
        world,
        [
            line("migrations run before the service restarts.", ts=1),
            line("Migrations always run before the service restarts", ts=2),
            line(SAYINGS[0], ts=3),
            line(SAYINGS[0], ts=4),
        ],
    )
    assert (4, 1, 3, 0, 0) == counts(found)
    events = [event for event in world.log().read_contents().events if event.event == "repeated"]
    assert ["ingest"] * 3 == [event.by for event in events]
    assert all(event.text_field("source") for event in events)
    assert ("always",) == events[1].text_list_field("words_added")
    assert "Migrations always run before the service restarts" == events[1].text_field("content")
    assert "content" not in events[2].fields
    assert (4, 0, 0, 4, 0) == counts(world.open().log.ingest())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout of the gateway is 30 s", "The timeout of the gateway is 300 s"),
        ("Invoices restart at 1 every year", "Invoices restart at 2 each year"),
        ("api timeout: 30 seconds", "The api timeout is 90 s"),
    ],
)
def test_what_may_contradict_is_new_and_flagged(one: str, other: str, world: World) -> None:
    """Thirty isn't three hundred, however few other words there are."""
    found = taken(world, [line(one), line(other)])
    assert (2, 2, 0, 0, 0) == counts(found)
    assert all("may_contradict" in one.flags for one in standings(world.personal))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Client A pays in euros", "Client B pays in euros"),
        ("The user table is partitioned by month", "The order table is partitioned by month"),
        ("Rebase the branch before you merge it", "Merge your branch before you rebase it"),
    ],
)
def test_what_says_the_same_of_something_else_is_new(one: str, other: str, world: World) -> None:
    """One word replaced, or two exchanged, is no repetition."""
    assert (2, 2, 0, 0, 0) == counts(taken(world, [line(one), line(other)]))


def test_decisions_merge_word_for_word_alone(world: World) -> None:
    """Each is an act of its own day."""
    told = [("We keep the monolith", 1), ("We keep the monolith!", 2), ("We keep the monolith", 3)]
    found = taken(world, [line(content, type="decision", ts=ts) for content, ts in told])
    assert (3, 2, 1, 0, 0) == counts(found)


def test_nothing_merges_across_types(world: World) -> None:
    """The same words are another thing as a fact and as a pattern."""
    found = taken(world, [line(SAYINGS[0]), line(SAYINGS[0], type="fact"), line(SAYINGS[0], type="lesson", ts=9)])
    assert (3, 2, 1, 0, 0) == counts(found)


def test_many_lines_come_in_by_batches(world: World) -> None:
    """More than one batch, one template: all new, none compared with all."""
    lines = [line(f"Shard number {n} lives on host {n % 7}", ts=n, key=f"k{n}") for n in range(1200)]
    dry = taken(world, lines, dry_run=True)
    real = taken(world, lines)
    assert (1200, 1200, 0, 0, 0) == counts(dry) == counts(real)
    assert 1200 == len(standings(world.personal))
    assert len(world.log().read_contents().events) <= 1200 * 6


def test_long_lines_come_in_by_few(world: World) -> None:
    """A batch is held whole, so that its size counts as well."""
    long = [f"{letter} " * (1 << 20) for letter in "abcde"]
    assert (5, 5, 0, 0, 0) == counts(taken(world, [line(one, type="decision") for one in long]))
    assert sorted(long) == sorted(one.learning.content for one in standings(world.personal))


def test_what_somebody_else_says_meanwhile_is_seen(world: World) -> None:
    """The plan was made without it, and is made again."""
    log = world.open().log
    log.init()
    source = put(world.personal, [line(SAYINGS[0])])

    def lines_while_another_learns() -> Iterator[LearningLine | BadLine]:
        yield from knowledge_lines(source)
        world.open().log.learn(SAYINGS[0])

    found = ingest(
        world.log(), lines_while_another_learns(), log.make_author(), files=[source], kind=ProjectKind.PERSONAL
    )
    assert (1, 0, 1, 0, 0) == counts(found)


# Properties

_texts = st.text(max_size=60)
_told = st.fixed_dictionaries(
    {"content": _texts},
    optional={
        "key": _texts,
        "type": st.one_of(st.sampled_from(["learned", "lesson", "decision", "FACT:", ""]), _texts),
        "tags": st.one_of(st.none(), st.lists(_texts, max_size=3), _texts),
        "ts": st.one_of(st.none(), st.integers(), st.floats(), _texts),
        "bead": _texts,
        "confidence": st.one_of(st.none(), st.floats(), st.integers()),
        "status": st.one_of(st.none(), st.sampled_from(["superseded", "canonical"]), st.integers()),
        "local": st.recursive(st.one_of(st.none(), st.floats(), _texts), st.lists, max_leaves=3),
        "id": _texts,
    },
)
_lines = st.lists(
    st.one_of(
        _told.map(json.dumps),
        _told.map(json.dumps).map(json.dumps),
        _told.map(lambda told: json.dumps(told)[:30]),
        _texts,
        st.binary(max_size=20),
    ),
    max_size=8,
)
_RARELY = settings(max_examples=examples(40), deadline=None)


@_RARELY
@given(_lines)
def test_whatever_the_lines_the_counts_add_up(world: World, lines: list[str | bytes]) -> None:
    """Read is the sum; the dry run says the same; the second run adds nothing."""
    for path in (world.log().knowledge, world.log().ledger):
        path.unlink(missing_ok=True)
    lines = [one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass") for one in lines]
    dry = taken(world, lines, dry_run=True)
    real = taken(world, lines)
    log = world.log()
    before = [path.read_bytes() for path in (log.knowledge, log.ledger)]
    again = taken(world, lines)
    assert real.read == real.new + real.merged + real.already + len(real.invalid)
    assert counts(dry) == counts(real)
    assert dry.invalid == real.invalid == again.invalid
    assert (real.read, 0, 0) == (again.read, again.new, again.merged)
    assert before == [path.read_bytes() for path in (log.knowledge, log.ledger)]


@_RARELY
@given(st.text(min_size=1).filter(one_line))
def test_any_content_comes_in_as_it_is(world: World, content: str) -> None:
    """Character for character."""
    for path in (world.log().knowledge, world.log().ledger):
        path.unlink(missing_ok=True)
    found = taken(world, [line(content, key="k")])
    if not found.invalid:
        assert [content] == [one.learning.content for one in standings(world.personal)]


# Where it comes from


@pytest.mark.parametrize("name", ["ROAMKB_KNOWLEDGE_FILE", "ORO_KNOWLEDGE_FILE"])
def test_a_file_that_is_named_and_missing_is_an_error(world: World, name: str) -> None:
    """By the option, and by the environment."""
    named: dict[str, Any] = {name: "gone.jsonl"}
    log = world.open(**named).log
    log.init()
    with pytest.raises(NotFound):
        log.ingest()
    with pytest.raises(NotFound):
        world.open().log.ingest(file="gone.jsonl")


def test_nothing_to_read_is_no_error(world: World) -> None:
    """All counts are nought."""
    world.run("init")
    done = world.run("ingest", "--json")
    assert 0 == done.status
    assert {
        "schema": 1, "read": 0, "new": 0, "merged": 0, "skipped": {"already": 0, "forgotten": 0, "invalid": []},
        "dry_run": False, "file": None, "files": [], "preview": [],
    } == done.json  # fmt: skip


def test_a_project_without_a_log_takes_nothing_in(world: World) -> None:
    """It says what to do."""
    put(world.personal, [line(SAYINGS[0])])
    with pytest.raises(NoLog):
        world.open().log.ingest()


def test_work_stays_at_work(world: World) -> None:
    """Neither a file of a work project nor a link to one comes into a personal log; a dry run says so too."""
    source = put(world.work, [line("Acme pays by invoice")])
    link = world.personal / BEADS
    link.parent.mkdir(parents=True)
    link.symlink_to(source)
    log = world.open().log
    log.init()
    for file in (str(source), str(link), None, str(world.work / "gone.jsonl")):
        for dry_run in (True, False):
            with pytest.raises(Refused):
                log.ingest(file=file, dry_run=dry_run)
    assert b"" == world.log().knowledge.read_bytes()
    assert 3 == world.run("ingest").status


@pytest.mark.parametrize("way", ["link to the file", "link to the folder", "setting", "relative setting"])
def test_what_leads_out_of_the_project_is_read_where_it_is_named(way: str, world: World) -> None:
    """A cloned repository would have another project's memory copied into a log that is committed."""
    other = world.personal.parent / "other"
    theirs = put(other, [line("The other customer is Initech")])
    log = world.open().log
    log.init()
    place = world.personal / BEADS
    if "setting" in way:
        (world.personal / ".oro").mkdir()
        where = other if way == "setting" else "../other"
        (world.personal / ".oro" / "config.yaml").write_text(f"project_root: {where}\n")
    elif way == "link to the file":
        place.parent.mkdir(parents=True)
        place.symlink_to(theirs)
    else:
        place.parents[1].symlink_to(theirs.parents[1])
    with pytest.raises(UsageError, match="leads out of the project"):
        log.ingest()
    start = {"session_id": "s", "cwd": str(world.personal), "hook_event_name": "SessionStart"}
    world.run("hook", "session-start", input=json.dumps(start))
    assert b"" == world.log().knowledge.read_bytes()
    assert 1 == log.ingest(file=str(theirs)).new


def test_a_work_project_takes_its_own_in(world: World) -> None:
    """And no other's: each tree for itself."""
    put(world.work, [line("Acme pays by invoice")])
    log = world.open(world.work).log
    log.init()
    assert 1 == log.ingest().new
    assert [ProjectKind.WORK] == [one.learning.kind for one in standings(world.work)]
    other = world.work.parent / "other"
    other.mkdir()
    with pytest.raises(Refused):
        log.ingest(file=str(put(other, [line(SAYINGS[0])])))


def test_a_part_of_a_work_project_takes_in_what_the_whole_says(world: World) -> None:
    """What lies beside several projects is none's; a repository around them is theirs."""
    source = put(world.work.parent, [line("Acme pays by invoice")])
    log = world.open(world.work).log
    log.init()
    with pytest.raises(Refused):
        log.ingest(file=str(source))
    (world.work.parent / ".git" / "objects").mkdir(parents=True)
    assert 1 == log.ingest(file=str(source)).new


def test_what_an_unknown_project_said_stays_unknown(world: World) -> None:
    """It can't be promoted later."""
    source = put(world.unknown, [line(SAYINGS[0])])
    log = world.open().log
    log.init()
    log.ingest(file=str(source))
    assert [ProjectKind.UNKNOWN] == [one.learning.kind for one in standings(world.personal)]


@pytest.mark.parametrize("way", ["copied", "hard-linked", "another tool's", "in other letters"])
def test_a_log_that_says_itself_that_it_is_work_goes_into_no_personal_one(world: World, way: str) -> None:
    """A copy lies anywhere; its lines say where they were written, and one is enough."""
    work = world.open(world.work).log
    work.init()
    work.learn("Acme pays by invoice")
    theirs = world.log(world.work).knowledge
    copy = world.personal / "copy.jsonl"
    if way == "hard-linked":
        copy.hardlink_to(theirs)
    elif way == "another tool's":
        copy = put(world.personal, [line(SAYINGS[0]), line(SAYINGS[1], kind="work")])
    else:
        data = theirs.read_bytes()
        copy.write_bytes(data.replace(b'"work"', b'"w\\u006frk"') if "letters" in way else data)
    log = world.open().log
    log.init()
    for named in ((), ("--dry-run",), ("--file", str(copy))):
        if named[:1] == ("--file",) or way == "another tool's":
            ran = world.run("ingest", "--json", *named)
            assert (3, "work") == (ran.status, ran.json["refused"]["kind"])
    assert b"" == world.log().knowledge.read_bytes()
    if way == "copied":
        assert 1 == work.ingest(file=str(put(world.work, copy.read_text().splitlines()))).already


def test_neither_the_log_itself_nor_a_note_is_a_source(world: World) -> None:
    """The one would be doubled, the other is found anyway."""
    log = world.open().log
    log.init()
    note = put(world.kb, [line(SAYINGS[0])], Path("k.jsonl"))
    for file in (str(world.log().knowledge), str(note)):
        with pytest.raises(UsageError):
            log.ingest(file=file)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_an_error(world: World) -> None:
    """Not an empty one."""
    world.run("init")
    put(world.personal, [line(SAYINGS[0])]).chmod(0)
    assert 2 == world.run("ingest").status


# Several sources, and other systems' stores


def test_no_tools_log_hides_anothers(world: World) -> None:
    """An empty or stale one neither; what two of them have, and an archive, comes in once."""
    put(world.personal, [])
    put(world.personal, [line(SAYINGS[0]), line(SAYINGS[1])], LAVRA)
    put(world.personal, [line(SAYINGS[1]), line(SAYINGS[2])], Path(".oro", "knowledge.jsonl"))
    put(world.personal, [line(SAYINGS[3]), "{"], LAVRA.with_name("knowledge.archive.jsonl"))
    world.run("init")
    done = world.run("ingest", "--json").json
    assert (6, 4) == (done["read"], done["new"])
    assert {
        "already": 1,
        "forgotten": 0,
        "invalid": [{"line": 2, "reason": "knowledge.archive.jsonl: it isn't JSON", "newer": False}],
    } == done["skipped"]
    assert [".beads", ".lavra", ".lavra", ".oro"] == [
        Path(name).relative_to(world.personal).parts[0] for name in done["files"]
    ]
    assert set(SAYINGS[:4]) == {one.learning.content for one in standings(world.personal)}
    assert 0 == world.open().log.ingest().new


def test_a_log_that_is_named_comes_with_its_archive(world: World) -> None:
    """Lavra moves the older half of a long log there."""
    folder = world.personal / "elsewhere"
    named = put(folder, [line(SAYINGS[0])], Path("knowledge.jsonl"))
    put(folder, [line(SAYINGS[1])], Path("knowledge.archive.jsonl"))
    log = world.open().log
    log.init()
    assert 2 == log.ingest(file=str(named)).new


def test_a_bundle_of_day1s_is_read(world: World) -> None:
    """As it is exported, and what of it was kept; that it was verified there counts for nothing here."""
    facts = [
        {
            "fact_text": SAYINGS[0],
            "category": "bug_fix",
            "confidence": 0.95,
            "source_type": "consolidation",
            "metadata": {"verification_status": "verified"},
        },
        {"fact_text": SAYINGS[4], "category": "decision", "confidence": 0.7},
    ]
    exported = {"id": "b", "name": "n", "bundle_data": {"facts": facts, "conversations": [], "relations": []}}
    log = world.open().log
    log.init()
    (world.personal / "bundle.json").write_text(json.dumps(exported, indent=2))
    (world.personal / "kept.json").write_text(json.dumps(exported["bundle_data"]))
    assert (2, 2, 0, 0, 0) == counts(log.ingest(file="bundle.json"))
    assert (2, 0, 0, 2, 0) == counts(log.ingest(file="kept.json"))
    found = {one.learning.content: one for one in standings(world.personal)}
    assert ("fact", "bug_fix", "observed") == (
        found[SAYINGS[0]].learning.type,
        found[SAYINGS[0]].learning.category,
        found[SAYINGS[0]].learning.provenance,
    )
    assert "decision" == found[SAYINGS[4]].learning.type
    assert {"unverified"} == {one.verdict for one in found.values()}


def test_oros_database_is_read_and_left_alone(world: World) -> None:
    """Also what its writer hasn't folded into it yet."""
    path = world.personal / "state.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT NOT NULL, type TEXT NOT NULL, "
        "tags TEXT DEFAULT '[]', source TEXT NOT NULL, bead_id TEXT, worker_id TEXT, "
        "confidence REAL DEFAULT 0.8, created_at TEXT NOT NULL DEFAULT (datetime('now')), embedding BLOB, "
        "files_read TEXT DEFAULT '[]', files_modified TEXT DEFAULT '[]', pinned INTEGER DEFAULT 0)"
    )
    db.execute(
        "INSERT INTO memories(content, type, tags, source, bead_id, worker_id, confidence, created_at, embedding, "
        "files_modified, pinned) VALUES (?, 'lesson', '[\"git\"]', 'self_report', 'oro-1', 'w-2', 0.6, "
        "'2026-02-14 01:21:12', x'00ff', '[\"src/a.go\"]', 1)",
        (SAYINGS[0],),
    )
    db.execute(
        "INSERT INTO memories(content, type, source) VALUES (?, 'gotcha', 'knowledge_import:k-7')",
        (SAYINGS[1],),
    )
    db.commit()
    log = world.open().log
    log.init()
    before = {one.name: one.read_bytes() for one in sorted(world.personal.glob("state.db*"))}
    assert (2, 2, 0, 0, 0) == counts(log.ingest(file="state.db"))
    assert before == {one.name: one.read_bytes() for one in sorted(world.personal.glob("state.db*"))}
    db.close()
    assert (2, 0, 0, 2, 0) == counts(log.ingest(file="state.db"))
    found = {one.learning.content: one for one in standings(world.personal)}
    lesson = found[SAYINGS[0]].learning
    assert ("learned", "oro-1", "w-2", "observed", 1771032072) == (
        lesson.type,
        lesson.bead,
        lesson.agent,
        lesson.provenance,
        lesson.ts,
    )
    assert (("learned", "git"), ("src/a.go",)) == (lesson.tags, lesson.files)
    assert (60, False) == (found[SAYINGS[0]].confidence, found[SAYINGS[0]].is_pinned)
    assert ("knowledge_import:k-7", "user-stated") == (
        found[SAYINGS[1]].learning.origin,
        found[SAYINGS[1]].learning.provenance,
    )


def test_the_tables_of_document_004_are_read(world: World) -> None:
    """Entries with their patterns, what replaced one, and how errors were recovered from."""
    path = world.personal / "harness.db"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE knowledge_entries (id TEXT PRIMARY KEY, type TEXT NOT NULL, content TEXT NOT NULL,
          file_patterns TEXT, action_types TEXT, confidence REAL NOT NULL DEFAULT 0.5,
          occurrences INTEGER DEFAULT 1, source_execution_id TEXT, source_task_id TEXT,
          source_agent_id TEXT NOT NULL, tags TEXT, created_at TEXT, updated_at TEXT, last_used_at TEXT,
          superseded_by TEXT);
        CREATE TABLE error_recovery_strategies (id TEXT PRIMARY KEY, error_pattern TEXT NOT NULL,
          error_type TEXT, recovery_technique TEXT NOT NULL, steps TEXT, success_count INTEGER DEFAULT 0,
          failure_count INTEGER DEFAULT 0, effectiveness REAL GENERATED ALWAYS AS (CASE WHEN
          (success_count + failure_count) = 0 THEN 0.5 ELSE CAST(success_count AS REAL) /
          (success_count + failure_count) END) STORED, created_at TEXT);
        INSERT INTO knowledge_entries(id, type, content, file_patterns, action_types, confidence,
          source_task_id, source_agent_id, tags, created_at, superseded_by) VALUES
          ('a', 'gotcha', 'Use TEXT for dates', '["*.sql"]', '["CREATE"]', 0.8, 't-1', 'qa', '["db"]',
           '2026-02-14 01:21:12', 'b'),
          ('b', 'pattern', 'Store every date as an ISO string', NULL, NULL, 0.5, NULL, 'qa', NULL, NULL, NULL);
        INSERT INTO error_recovery_strategies(id, error_pattern, recovery_technique, steps)
          VALUES ('s', 'SQLITE_BUSY', 'Retry with a busy timeout', '["set it to 5 s", "retry"]');
        """
    )
    db.commit()
    db.close()
    log = world.open().log
    log.init()
    assert (3, 3, 0, 0, 0) == counts(log.ingest(file="harness.db"))
    assert (3, 0, 0, 3, 0) == counts(log.ingest(file="harness.db"))
    found = {one.learning.type: one for one in standings(world.personal)}
    entries = [one.learning.content for one in standings(world.personal)]
    assert "On “SQLITE_BUSY”: Retry with a busy timeout\n1. set it to 5 s\n2. retry" in entries
    old = next(one for one in standings(world.personal) if one.learning.content == "Use TEXT for dates")
    assert ("superseded", found["pattern"].learning.key) == (old.status, old.superseded_by)
    assert (("*.sql",), ("CREATE",), "t-1", "qa") == (
        old.learning.files,
        old.learning.actions,
        old.learning.task,
        old.learning.agent,
    )


@pytest.mark.parametrize("kind", ["database", "document", "no database"])
def test_a_store_of_another_kind_is_an_error(kind: str, world: World) -> None:
    """Nobody is told of invalid lines where there are none; nothing comes in."""
    path = world.personal / "store"
    if kind == "database":
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE recipes (id INTEGER, text TEXT)")
            db.commit()
    elif kind == "document":
        path.write_text(json.dumps({"recipes": [{"text": "soup"}]}, indent=1))
    else:
        path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    world.run("init")
    done = world.run("ingest", "--file", str(path))
    assert (2, "") == (done.status, done.out)
    assert "invalid" not in done.err
    assert b"" == world.log().knowledge.read_bytes()


def test_a_file_of_nothing_that_can_be_read_is_an_error(world: World) -> None:
    """What it is is said line by line."""
    world.run("init")
    put(world.personal, ["no JSON", "[1]"])
    done = world.run("ingest")
    assert (2, True) == (done.status, "2 invalid" in done.out)


# The words


def test_it_prints_what_the_document_prints(world: World) -> None:
    """To the letter; what else there is to say follows."""
    world.run("init")
    put(world.personal, [line(one) for one in SAYINGS[:2]])
    assert "Would ingest 2 new learnings (0 skipped, already imported)\n" == world.run("ingest", "--dry-run").out
    world.run("ingest")
    put(world.personal, [*(line(one) for one in SAYINGS), line(SAYINGS[0], ts=1), "{"])
    assert (
        "Ingested 3 new learnings (2 skipped, already imported); 1 merged, 1 invalid: line 7: it isn't JSON\n"
        == world.run("ingest").out
    )


# Claude Code's memory


def remember(world: World, root: Path, **files: str) -> Path:
    """Put files into Claude Code's memory of the project at `root`."""
    name = str(root).replace("/", "-").replace("_", "-").replace(".", "-")
    folder = world.home / ".claude" / "projects" / name / "memory"
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / f"{file}.md").write_text(text)
    return folder


TOPIC = "---\nname: short-answers\ndescription: how to answer\ntype: feedback\n---\n\nAnswer in one line.\n"


def test_memory_is_shown_first_and_taken_in_on_demand(world: World) -> None:
    """Read-only, and once."""
    folder = remember(world, world.personal, MEMORY="- [Answers](topic.md): short\n", topic=TOPIC)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    log = world.open().log
    log.init()
    seen = log.ingest(memory=True)
    assert (1, 1, 0, 0, 0) == counts(seen)
    assert seen.is_dry_run
    assert ["Answer in one line."] == [one.content for one in seen.preview]
    assert [] == standings(world.personal)
    assert 1 == log.ingest(memory=True, yes=True).new
    assert (1, 0, 0, 1, 0) == counts(log.ingest(memory=True, yes=True))
    (standing,) = standings(world.personal)
    assert ("learned", "auto-memory", "feedback") == standing.learning.tags
    assert ("auto_memory:topic.md", ProjectKind.PERSONAL) == (
        standing.learning.origin,
        standing.learning.kind,
    )
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_memory_of_work_stays_at_work(world: World) -> None:
    """It lies in the home folder, and is named by the project's path."""
    folder = remember(world, world.work, topic=TOPIC)
    log = world.open().log
    log.init()
    with pytest.raises(Refused):
        log.ingest(str(folder), memory=True)
    with pytest.raises(Refused):
        log.ingest(file=str(folder / "topic.md"))
    work = world.open(world.work).log
    work.init()
    assert 1 == work.ingest(memory=True, yes=True).new
    assert [ProjectKind.WORK] == [one.learning.kind for one in standings(world.work)]


@pytest.mark.parametrize("folder", ["/", "~"])
def test_a_folder_that_work_lies_below_is_not_walked(folder: str, world: World) -> None:
    """What is read there would be taken for the project's own."""
    (world.work / "secret-plan.md").write_text("- The merger is in May\n")
    log = world.open().log
    log.init()
    with pytest.raises(UsageError, match="contains the work root"):
        log.ingest(folder.replace("~", str(world.home)), memory=True, yes=True)
    assert [] == standings(world.personal)


def test_options_that_mean_nothing_together_are_refused(world: World) -> None:
    """Rather than ignored."""
    log = world.open().log
    log.init()
    with pytest.raises(UsageError):
        log.ingest("folder")
    with pytest.raises(UsageError):
        log.ingest(yes=True)
    with pytest.raises(UsageError):
        log.ingest(memory=True, file="f")


def test_a_merged_line_is_found_by_its_own_bead_files_and_tags(world: World) -> None:
    """The second of two that say the same is about something else."""
    lines = [line("Migrations run before the service restarts", ts=n, bead=f"bd-{n}", tags=[f"t{n}"]) for n in (1, 2)]
    assert (2, 1, 1, 0, 0) == counts(taken(world, lines))
    log = world.open().log
    for asked in ({"topic": "bd-2"}, {"tags": ["t2"]}, {"topic": "bd-1"}, {"tags": ["t1"]}):
        assert 1 == len(log.recall(**asked).learnings)  # type: ignore[union-attr]
