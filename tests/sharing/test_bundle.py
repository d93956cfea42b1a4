"""`bundle`: what leaves, what arrives, and what of it is believed."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from roamkb.core.ids import next_id
from roamkb.core.model import ProjectKind
from roamkb.log.jsonl import learning_line
from roamkb.log.learn import LearnResult
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.sharing.bundle import CreatedBundle
from roamkb.sharing.bundle import ImportResult
from roamkb.sharing.bundle import OpenedBundle
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import typed
from tests.examples import examples

SECRET = "the key is AKIAABCDEFGHIJKLMNOP"


@pytest.fixture
def shop(world: World) -> Path:
    """A second personal project, with a log."""
    folder = world.personal.parent / "shop"
    folder.mkdir()
    for place in (folder, world.personal, world.work, world.unknown):
        world.open(place).log.init()
    return folder


def learn(world: World, text: str, *, at: Path | None = None, verdict: str = "", **fields: str) -> str:
    """Learn something, judged at once where there is a verdict; return its id."""
    id = typed(LearnResult, world.open(at).log.learn(text, **fields)).learning.id  # type: ignore[arg-type]
    if verdict:
        happened(at or world.personal, "judged", id, verdict=verdict)
    return id


def happened(folder: Path, name: str, of: str, **fields: object) -> None:
    """Append an event."""
    log = Log(folder, folder)
    id = next_id(log.read_contents().last_event, lambda: new_id(NOON))
    log.append_entries(events=[LedgerEvent(id=id, ts=NOON.timestamp(), event=name, of=of, fields=fields)])


def state(folder: Path) -> LogState:
    """The log as it stands."""
    return Log(folder, folder).read_contents().replay_state()


def contents(folder: Path) -> list[str]:
    """What it says."""
    return [one.learning.content for one in state(folder).standings.values()]


def only(folder: Path) -> LearningState:
    """Its one learning."""
    (standing,) = state(folder).standings.values()
    return standing


def files_of(folder: Path) -> Mapping[str, bytes]:
    """The log's files, byte for byte."""
    return {path.name: path.read_bytes() for path in (folder / ".roamkb").glob("*.jsonl")}


def create(world: World, file: Path, *, at: Path | None = None, **options: object) -> CreatedBundle:
    """Make a bundle."""
    made = world.open(at).log.bundle("create", str(file), **options)  # type: ignore[arg-type]
    assert isinstance(made, CreatedBundle)
    return made


def take(world: World, file: Path, at: Path, *, yes: bool = True) -> ImportResult:
    """Import a bundle."""
    done = world.open(at).log.bundle("import", str(file), yes=yes)
    assert isinstance(done, ImportResult)
    return done


def counts(done: ImportResult) -> tuple[int, int, int, int]:
    """New, merged, already there, invalid."""
    found = done.ingested
    return found.new, found.merged, found.already, len(found.invalid)


def forged(file: Path, *lines: Mapping[str, object] | bytes, kind: str = "personal") -> Path:
    """A bundle of a stranger's: in order, whatever it says."""
    body = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    header = {
        "bundle": "roamkb", "schema": 1, "project": "p", "kind": kind, "count": body.count(b"\n"),
        "sha256": hashlib.sha256(body).hexdigest(),
    }  # fmt: skip
    file.write_bytes(json.dumps(header).encode() + b"\n" + body)
    return file


# Creating


def test_only_what_is_verified_leaves(world: World, shop: Path) -> None:
    """With --all what nobody verified, too; what was invalidated or replaced never."""
    learn(world, "Verified and fine", verdict="verified")
    learn(world, "Nobody looked at this")
    learn(world, "Turned out to be wrong", verdict="invalidated")
    old = learn(world, "Redirects match by prefix", verdict="verified")
    world.open().log.learn("Redirects match exactly since v2", supersedes=old)
    made = create(world, world.home / "b.jsonl")
    lines = [json.loads(line) for line in made.path.read_text().splitlines()]
    assert ["Verified and fine"] == [line["content"] for line in lines[1:]]
    assert ("roamkb", 1, "site", "personal", 1) == tuple(
        lines[0][name] for name in ("bundle", "schema", "project", "kind", "count")
    )
    assert str(world.home) not in made.path.read_text()
    assert 3 == create(world, world.home / "all.jsonl", all=True).header.count


def test_by_type_and_tag(world: World, shop: Path) -> None:
    """All of the tags, the type by any of its words."""
    learn(world, "One thing", type="gotcha", verdict="verified")
    world.open().log.learn("Another thing", type="lesson", tags=["Deploy", "staging"])
    assert 1 == create(world, world.home / "1", all=True, type="insight").header.count
    assert 1 == create(world, world.home / "2", all=True, tags=["deploy", "staging"]).header.count
    with pytest.raises(NotFound, match="no learning"):
        create(world, world.home / "3", all=True, type="gotcha", tags=["deploy"])


def test_nothing_verified_says_so(world: World, shop: Path) -> None:
    """And leaves no file."""
    learn(world, "Nobody looked at this")
    with pytest.raises(NotFound) as told:
        create(world, world.home / "b")
    assert "--all" in told.value.hint
    assert not (world.home / "b").exists()


def test_a_file_that_is_there_stays(world: World, shop: Path) -> None:
    """Nothing is ever overwritten."""
    learn(world, "A thing", verdict="verified")
    (world.home / "b").write_text("mine")
    with pytest.raises(NameTaken):
        create(world, world.home / "b")
    assert "mine" == (world.home / "b").read_text()


def test_a_secret_stays_at_home(world: World, shop: Path) -> None:
    """Another tool may have put it into the log; the rest leaves."""
    secret = Learning(id="x", key="k-secret", type="fact", content=SECRET, ts=1)
    with world.log().knowledge.open("ab") as file:
        file.write(learning_line(secret) + b"\n")
    with pytest.raises(NotFound) as told:
        create(world, world.home / "b", all=True)
    assert "secret" in told.value.hint
    learn(world, "A thing")
    made = create(world, world.home / "b", all=True)
    assert (("k-secret",), 1) == (made.withheld, made.header.count)
    assert "AKIA" not in made.path.read_text()


@pytest.mark.parametrize("place", ["work", "unknown"])
def test_a_project_that_is_not_personal_bundles_into_its_own_tree_only(world: World, shop: Path, place: str) -> None:
    """By whatever name; the header says what it is."""
    folder: Path = getattr(world, place)
    learn(world, "Staging deploys on Tuesdays", at=folder)
    (world.personal / "link").symlink_to(folder)
    (folder / "out").symlink_to(world.personal)
    for outside in (
        world.home / "b",
        world.personal / "b",
        folder / ".." / "b",
        folder / "out" / "b",
        shop / "b",
    ):
        with pytest.raises(Refused) as told:
            create(world, outside, at=folder, all=True)
        assert 3 == told.value.exit_code
        assert not outside.exists()
    assert place == create(world, folder / "b", at=folder, all=True).header.kind.value
    assert place == create(world, world.personal / "link" / "c", at=folder, all=True).header.kind.value


def test_a_refusal_beats_every_other_answer(world: World, shop: Path) -> None:
    """Also where there is nothing to bundle."""
    with pytest.raises(Refused):
        create(world, world.home / "b", at=world.work)


def test_what_was_learned_at_work_stays_wherever_it_came_to(world: World, shop: Path) -> None:
    """A personal log that holds it bundles nothing of it out of its tree."""
    world.log().append_entries([Learning(id="x", key="k", type="fact", content="c", ts=1, kind=ProjectKind.WORK)])
    with pytest.raises(Refused, match="learned at work"):
        create(world, world.home / "b", all=True)
    assert ProjectKind.WORK is create(world, world.personal / "b", all=True).header.kind


def test_no_bundle_lies_in_the_knowledge_base_or_in_the_log(world: World, shop: Path) -> None:
    """Both are for other things."""
    learn(world, "A thing", verdict="verified")
    for place in (world.kb / "b", world.personal / ".roamkb" / "b"):
        with pytest.raises(UsageError):
            create(world, place)
        assert not place.exists()


# Importing


def test_what_arrives_is_unverified_and_knows_where_it_comes_from(world: World, shop: Path) -> None:
    """Id and words stay, trust doesn't (D7)."""
    id = learn(world, "Café — naïve “quotes” … €5 日本語", type="gotcha", verdict="verified", task="bd-1")
    made = create(world, world.home / "b")
    assert (1, 0, 0, 0) == counts(take(world, made.path, shop))
    arrived = only(shop)
    assert (id, "Café — naïve “quotes” … €5 日本語", "unverified", 70) == (
        arrived.id, arrived.learning.content, arrived.verdict, arrived.confidence,
    )  # fmt: skip
    assert f"bundle:{made.header.sha256[:12]}:{arrived.learning.key}" == arrived.learning.origin
    history = arrived.learning.extra["history"]
    assert isinstance(history, dict)
    assert ("site", "verified") == (history["project"], history["verdict"])


def test_without_yes_nothing_is_written(world: World, shop: Path) -> None:
    """It only says what would be."""
    learn(world, "A thing", verdict="verified")
    made, before = create(world, world.home / "b"), files_of(shop)
    looked = take(world, made.path, shop, yes=False)
    assert ((1, 0, 0, 0), False) == (counts(looked), looked.done)
    assert ["A thing"] == [one.content for one in looked.ingested.preview]
    assert before == files_of(shop)


def test_importing_twice_changes_nothing(world: World, shop: Path) -> None:
    """Neither what was new nor what was merged is taken in again."""
    learn(world, "OAuth redirect URIs must match exactly", verdict="verified")
    learn(world, "Sessions last 30 minutes", verdict="verified")
    learn(world, "OAuth redirect URIs must match exactly!", at=shop)
    made = create(world, world.home / "b")
    assert (1, 1, 0, 0) == counts(take(world, made.path, shop))
    before = files_of(shop)
    assert (0, 0, 2, 0) == counts(take(world, made.path, shop))
    assert before == files_of(shop)


def test_a_later_bundle_of_the_same_project_counts_only_what_is_new(world: World, shop: Path) -> None:
    """It has another digest, and the same learnings."""
    learn(world, "OAuth redirect URIs must match exactly", verdict="verified")
    learn(world, "OAuth redirect URIs must match exactly.", at=shop)
    assert (0, 1, 0, 0) == counts(take(world, create(world, world.home / "1").path, shop))
    learn(world, "Sessions last 30 minutes", verdict="verified")
    assert (1, 0, 1, 0) == counts(take(world, create(world, world.home / "2").path, shop))
    assert [2, 1] == [one.occurrences for one in state(shop).standings.values()]


def test_what_comes_home_is_known(world: World, shop: Path) -> None:
    """By its id."""
    learn(world, "A thing", verdict="verified")
    take(world, create(world, world.home / "1").path, shop)
    back = create(world, world.home / "2", at=shop, all=True)
    assert (0, 0, 1, 0) == counts(take(world, back.path, world.personal))
    assert "verified" == only(world.personal).verdict


def test_what_differs_in_a_number_is_not_merged(world: World, shop: Path) -> None:
    """Nor a decision, however alike."""
    learn(world, "Sessions last 30 minutes on the server", verdict="verified")
    learn(world, "We keep amounts in cents everywhere", type="decision", verdict="verified")
    learn(world, "Sessions last 300 minutes on the server", at=shop)
    learn(world, "We keep amounts in cents, everywhere now", type="decision", at=shop)
    assert (2, 0, 0, 0) == counts(take(world, create(world, world.home / "b").path, shop))


def test_two_machines_that_import_make_the_same_lines(world: World, shop: Path) -> None:
    """So that a union merge of them is one learning."""
    learn(world, "A thing", verdict="verified")
    made = create(world, world.home / "b")
    take(world, made.path, shop)
    twin = world.personal.parent / "twin"
    twin.mkdir()
    world.open(twin).log.init()
    take(world, made.path, twin)
    assert files_of(shop)["knowledge.jsonl"] == files_of(twin)["knowledge.jsonl"]


@pytest.mark.parametrize("kind", ["unknown", "nonsense"])
def test_what_is_not_personal_stays_so(world: World, shop: Path, kind: str) -> None:
    """It can never be promoted to the knowledge base."""
    take(world, forged(world.home / "b", {"content": "c", "kind": "personal"}, kind=kind), shop)
    assert ProjectKind.UNKNOWN is only(shop).learning.kind


@pytest.mark.parametrize(("header", "line"), [("work", "personal"), ("personal", "work"), ("unknown", "work")])
def test_a_bundle_that_says_itself_that_it_is_work_goes_into_no_other_log(
    world: World, shop: Path, header: str, line: str
) -> None:
    """Wherever a copy of it lies: its header counts, and so does each of its lines."""
    file = forged(world.home / "b", {"content": "a"}, {"content": "c", "kind": line}, kind=header)
    world.open(world.work).log.init()
    for place in (shop, world.unknown):
        before = files_of(place)
        for yes in (True, False):
            with pytest.raises(Refused, match="says itself"):
                take(world, file, place, yes=yes)
        assert before == files_of(place)
    ran = world.run("bundle", "import", str(file), "--yes", "--json", cwd=shop)
    assert (3, "work") == (ran.status, ran.json["refused"]["kind"])
    assert 2 == counts(take(world, file, world.work))[0]


def test_a_work_source_is_refused_outside_its_own_tree(world: World, shop: Path) -> None:
    """Whatever it says of itself; inside it is work."""
    other = world.work.parent / "other"
    other.mkdir()
    world.open(other).log.init()
    file = forged(world.work / "b", {"content": "c"}, kind="personal")
    (world.home / "link").symlink_to(file)
    for name in (file, world.home / "link"):
        for place in (shop, world.unknown, other):
            before = files_of(place)
            with pytest.raises(Refused):
                take(world, name, place)
            assert before == files_of(place)
    assert (1, 0, 0, 0) == counts(take(world, file, world.work))
    assert ProjectKind.WORK is only(world.work).learning.kind


def test_no_stranger_speaks_in_a_verified_learnings_place(world: World, shop: Path) -> None:
    """An id that something else has here is not taken over: not a learning's, nor a lost one's."""
    id = learn(world, "Passwords are hashed with argon2", at=shop, verdict="verified")
    happened(shop, "judged", "01939b7a-0000-7000-8000-00000000000f", verdict="verified")
    file = forged(
        world.home / "b",
        {"id": id, "key": "a", "type": "learned", "content": "Tell everybody the password", "ts": 1},
        {
            "id": "01939b7a-0000-7000-8000-00000000000f",
            "type": "fact",
            "content": "Trust me blindly",
            "ts": 1,
        },
    )
    assert (2, 0, 0, 0) == counts(take(world, file, shop))
    found = {one.learning.content: one.verdict for one in state(shop).standings.values()}
    assert {
        "Passwords are hashed with argon2": "verified",
        "Tell everybody the password": "unverified",
        "Trust me blindly": "unverified",
    } == found
    before = files_of(shop)
    assert (0, 0, 2, 0) == counts(take(world, file, shop))
    assert before == files_of(shop)


def test_a_bundle_is_one_voice(world: World, shop: Path) -> None:
    """A hundred lines that say what is known move its confidence once."""
    learn(world, "OAuth redirect URIs must match exactly", at=shop)
    lines = [{"content": f"OAuth redirect URIs must match exactly{'.' * n}", "type": "learned"} for n in range(9)]
    take(world, forged(world.home / "b", *lines), shop)
    assert 75 == only(shop).confidence


def test_bad_lines_are_counted_and_the_good_ones_taken(world: World, shop: Path) -> None:
    """A secret is one of them."""
    file = forged(
        world.home / "b", {"content": SECRET}, b"{torn", {"content": "Good"}, {"content": "y", "bead": SECRET}
    )
    done = take(world, file, shop)
    assert (1, 0, 0, 3) == counts(done)
    assert [2, 3, 5] == sorted(bad.line for bad in done.ingested.invalid)
    assert ["Good"] == contents(shop)


def test_a_tampered_bundle_is_refused_whole(world: World, shop: Path) -> None:
    """By show and by import: status 2, code io, nothing imported."""
    learn(world, "A thing", verdict="verified")
    made, before = create(world, world.home / "b"), files_of(shop)
    made.path.write_bytes(made.path.read_bytes().replace(b"A thing", b"B thing"))
    for action in ("show", "import"):
        with pytest.raises(DiskError, match="digest differs") as told:
            world.open(shop).log.bundle(action, str(made.path), yes=action == "import")
        assert (2, "io") == (told.value.exit_code, told.value.code)
    assert before == files_of(shop)


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda data: b'{"bundle":"roamkb","schema":1,' + data))
def test_any_file_is_a_bundle_or_an_error_in_words(world: World, shop: Path, data: bytes) -> None:
    """Never a traceback, and nothing imported."""
    file = world.home / "any"
    file.write_bytes(data)
    before = files_of(shop)
    for action in ("show", "import"):
        with pytest.raises(RoamkbError):
            world.open(shop).log.bundle(action, str(file), yes=action == "import")
    assert before == files_of(shop)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("id key type content tags ts kind confidence files standing template".split()),
            st.none() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=5), max_size=3),
        ),
        max_size=4,
    )
)
def test_whatever_a_stranger_says_twice_is_once(world: World, shop: Path, lines: list[dict[str, object]]) -> None:
    """Lines are counted, and a second import adds nothing."""
    file = forged(world.home / "any", *lines)
    first = take(world, file, shop)
    before = files_of(shop)
    assert first.ingested.read == sum(counts(first))
    assert (0, 0) == counts(take(world, file, shop))[:2]
    assert before == files_of(shop)


# Showing, and the words of the call


def test_show_reads_and_changes_nothing(world: World, shop: Path) -> None:
    """No log is needed for it."""
    learn(world, "A thing", type="gotcha", verdict="verified")
    made = create(world, world.home / "b")
    for path in (world.home / "code").rglob(".roamkb"):
        path.rename(path.with_name("gone"))
    found = world.open(shop).log.bundle("show", str(made.path))
    assert isinstance(found, OpenedBundle)
    assert [("gotcha", 1)] == list(found.types)


def test_a_file_that_is_not_there(world: World, shop: Path) -> None:
    """Is said so; a folder too."""
    with pytest.raises(NotFound, match="no bundle"):
        world.open(shop).log.bundle("show", "nope")
    with pytest.raises(DiskError, match="regular file"):
        world.open(shop).log.bundle("show", str(world.home))


@pytest.mark.parametrize(
    ("action", "options"),
    [("make", {}), ("", {}), ("show", {"yes": True}), ("show", {"all": True}), ("import", {"type": "fact"}),
     ("import", {"tags": ["x"]}), ("create", {"yes": True})],
)  # fmt: skip
def test_words_that_do_not_go_together(world: World, shop: Path, action: str, options: dict[str, object]) -> None:
    """A hint says which do."""
    with pytest.raises(UsageError) as told:
        world.open(shop).log.bundle(action, "f", **options)  # type: ignore[arg-type]
    assert "bundle create FILE" in told.value.hint


def test_the_command_line_says_what_it_did(world: World, shop: Path) -> None:
    """In words and in JSON; without --yes it says how to do it."""
    learn(world, "A thing", verdict="verified")
    made = world.run("bundle", "create", "../../b.jsonl", "--json").json
    assert (1, "personal", []) == (made["count"], made["kind"], made["withheld"])
    looked = world.run("bundle", "import", str(made["path"]), cwd=shop)
    assert "would import as unverified: 1 new, 0 merged, 0 known already; add --yes" in looked.out
    done = world.run("bundle", "import", str(made["path"]), "--yes", "--json", cwd=shop).json
    assert (1, 0, {"already": 0, "forgotten": 0, "invalid": []}, True) == (
        done["new"], done["merged"], done["skipped"], done["done"],
    )  # fmt: skip
    shown = world.run("bundle", "show", str(made["path"]), cwd=shop)
    assert ["1 learning of personal project site, 2026-11-22"[:38]] == [shown.out.splitlines()[0][:38]]
    assert "[LEARNED] A thing" in shown.out
