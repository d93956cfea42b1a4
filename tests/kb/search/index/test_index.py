"""The index: right whatever happens to the notes, to its file and to its folder."""

import os
import random
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.progress import listening
from roamkb.fs.locks import hold_lock
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query
from roamkb.text.store.word_vector_file import word_table
from tests.conftest import World
from tests.examples import examples
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """Notes about animals."""
    return Base(tmp_path).animals()


def comes_first(base: Base, one: dict[str, str], other: dict[str, str], query: str) -> bool:
    """Say whether the first note comes before the second, in whichever order they were made."""
    firsts = []
    for first, second in (("1-a.org", "2-b.org"), ("2-b.org", "1-a.org")):
        for path in base.kb.glob("*.org"):
            path.unlink()
        for number in range(8):
            base.note(f"filler{number}.org", f"Filler {number}", "quiet words that say nothing")
        base.note(first, **{"title": "Better", **one})
        base.note(second, **{"title": "Lesser", **other})
        found = [title for title in base.titles(query) if not title.startswith("Filler")]
        firsts.append(found[0])
    return firsts == [one.get("title", "Better")] * 2


def test_the_promises_hold_on_notes(base: Base) -> None:
    """All words, title, alias, tag, more hits: each beats what it should on notes of equal length."""
    assert comes_first(base, {"body": "zebra stripe x y"}, {"body": "zebra zebra zebra y"}, "zebra stripe")
    assert comes_first(base, {"title": "Zebra", "body": "w x y z"}, {"body": "zebra zebra zebra zebra"}, "zebra")
    assert comes_first(base, {"title": "Zebra", "body": "w x y z"}, {"body": "w x y z", "tags": ":zebra:"}, "zebra")
    assert comes_first(
        base, {"drawer": ":ROAM_ALIASES: Zebra\n", "body": "w x y z"}, {"body": "zebra zebra y z"}, "zebra"
    )
    assert comes_first(
        base, {"drawer": ":ROAM_ALIASES: Zebra\n", "body": "w x"}, {"body": "w x", "tags": ":zebra:"}, "zebra"
    )
    assert comes_first(base, {"body": "w x y z", "tags": ":zebra:"}, {"body": "zebra zebra zebra zebra"}, "zebra")
    assert comes_first(base, {"body": "zebra zebra y z"}, {"body": "zebra x y z"}, "zebra")
    assert comes_first(
        base,
        {"body": "how to mount the zebra disk"},
        {"body": "how to mount the other disk"},
        "how to mount a zebra disk",
    )


def test_a_question_finds_what_no_single_note_says_in_full(base: Base) -> None:
    """Any word is enough."""
    assert "Zebra" == base.titles("why would the stripes of an animal confuse horseflies?")[0]


def test_identifiers_are_found_by_their_parts(base: Base) -> None:
    """Camel case and underscores, whole and in parts, in note and query."""
    base.note("code.org", "Code", "call getUserName and parse_http_header")
    for text in ("getUserName", "user name", "http", "parse_http_header", "parseHttpHeader"):
        assert ["Code"] == base.titles(text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("黑豹队的防守只丢了分", "防守"),
        ("สวัสดีชาวโลก", "ชาวโลก"),
        ("日本語の文章です", "日本語"),
        ("Die Versicherungsnummern sind hier", "Versicherung nicht"),
        ("Защита уступила всего", "защиту"),
        ("café crème", "cafe"),
    ],
)
def test_other_languages_are_found(base: Base, body: str, text: str) -> None:
    """By letter pairs where there are no blanks, by groups of letters elsewhere."""
    base.note("other.org", "Other", body)
    assert "Other" in base.titles(text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("PythonでFTS5検索エンジンを作る", "Python"),
        ("PythonでFTS5検索エンジンを作る", "FTS5"),
        ("使用Docker Compose部署服务", "docker"),
        ("使用Docker Compose部署服务", "compose -nothing"),
        ("설정은 Kubernetes를 사용한다", "Kubernetes"),
        ("เขียนด้วยPythonและSQLite", "sqlite"),
        ("創業は2024年です", "2024"),
        ("ランナーを走らせるrunners達", "runner"),
        ("café部", "cafe"),
    ],
)
@pytest.mark.parametrize("place", ["title", "body"])
def test_a_word_is_found_beside_letters_that_put_no_blanks(base: Base, body: str, text: str, place: str) -> None:
    """Chinese, Japanese, Korean and Thai write foreign words and numbers without a blank before or behind them."""
    base.note(
        "other.org", **({"title": body, "body": "empty"} if place == "title" else {"title": "Other", "body": body})
    )
    assert [body if place == "title" else "Other"] == base.titles(text)


def test_what_is_no_word_is_found_as_it_stands(base: Base) -> None:
    """Arrows and emoji."""
    base.note("arrow.org", "Arrow", "a ⇒ b 🦓")
    assert ["Arrow"] == base.titles("⇒") == base.titles("🦓")


def test_phrases_are_needed(base: Base) -> None:
    """All of them, side by side."""
    assert ["Zebra"] == base.titles('"confuse flies"')
    assert [] == base.titles('"flies confuse"')
    assert [] == base.titles('"confuse flies" "no such phrase"')


def test_lines_are_those_that_hold_the_words(base: Base) -> None:
    """With their numbers in the file, the best first."""
    (answer,) = base.index().find_passages(parse_query("flies", today=TODAY), limit=1).answers
    assert ((8, "Stripes confuse flies."),) == answer.lines
    assert "Stripes confuse flies." == (base.kb / answer.file).read_text().split("\n")[8 - 1]


@pytest.mark.parametrize("mark", ["\u0326", "a \u0301 b", "\u0327\u0328"])
def test_a_lone_accent_is_no_word_and_stops_no_search(base: Base, mark: str) -> None:
    """SQLite makes an empty token of it, whether it comes with the first notes or later."""
    base.note("first.org", "Okapi", f"unicorn {mark} runs")
    assert ["Okapi"] == base.titles("unicorn")
    base.note("second.org", "Quagga", f"unicorn {mark} is gone")
    assert {"Okapi", "Quagga"} == set(base.titles("unicorn"))


def test_an_unchanged_note_is_not_read_again(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its time is past doubt, its stat is enough."""
    later = (base.kb / "20240101000000-zebra.org").stat().st_ctime_ns + 10**10
    assert base.titles("zebra")
    Index(Notes(base.kb), base.cache, clock=lambda: later).find_passages(parse_query("zebra", today=TODAY))

    def no_reading(*_: object, **__: object) -> None:
        raise AssertionError("a note was read")

    monkeypatch.setattr("roamkb.fs.files.read_file", no_reading)
    assert 3 == len(base.titles("zebra"))


def test_what_one_process_remembers_hides_no_change(base: Base) -> None:
    """Of notes, of set-up files and of the index itself, once all was seen to agree."""
    base.note("s.org", "Setup", head="#+setupfile: setup.txt\n")
    # all is past doubt
    base.ahead = 10**11
    base.titles("zebra")
    base.titles("zebra")
    assert ["Zebra"] == base.titles("flies")
    (base.kb / "setup.txt").write_text("#+filetags: :fromafar:\n")
    assert ["Setup"] == base.titles("tag:fromafar")
    old = base.file.read_bytes(), (base.cache / "index.seal").read_bytes()
    wait_for_another_time(base)
    base.note("20240101000000-zebra.org", "Quagga", "extinct")
    assert [] == base.titles("flies")
    assert [] == base.titles("flies")
    base.file.write_bytes(old[0])
    (base.cache / "index.seal").write_bytes(old[1])
    assert [] == base.titles("flies")
    assert ["Quagga"] == base.titles("extinct")


def test_what_changes_is_seen_at_once(base: Base) -> None:
    """Also where size and time are as before."""
    path = base.kb / "20240101000000-zebra.org"
    base.titles("zebra")
    before = path.stat()
    path.write_text(path.read_text().replace("savanna", "mansion"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ["Zebra"] == base.titles("mansion")
    path.rename(base.kb / "moved.org")
    assert ["Zebra"] == base.titles("mansion")
    (base.kb / "moved.org").unlink()
    assert [] == base.titles("mansion")


def test_a_setup_file_counts(base: Base) -> None:
    """Tags that come from elsewhere change with it, also for a note in a folder."""
    base.note("sub/a.org", "With setup", head="#+setupfile: ../setup.txt\n")
    assert [] == base.titles("tag:fromafar")
    (base.kb / "setup.txt").write_text("#+filetags: :fromafar:\n")
    assert ["With setup"] == base.titles("tag:fromafar")
    (base.kb / "setup.txt").unlink()
    assert [] == base.titles("tag:fromafar")


def test_todo_words_count(base: Base) -> None:
    """Another rule, other titles."""
    base.kb.joinpath("todo.org").write_text("* WAIT Gnu\n:PROPERTIES:\n:ID: g\n:END:\nherd\n")
    assert ["WAIT Gnu"] == base.titles("herd")
    base.todo_lines = ("WAIT | DONE",)
    assert ["Gnu"] == base.titles("herd")


def test_a_note_that_is_gone_for_a_moment_is_found(base: Base) -> None:
    """A syncer unlinks and then renames."""
    path = base.kb / "20240101000000-zebra.org"
    base.titles("flies")
    text = path.read_bytes()
    path.unlink()
    timer = threading.Timer(0.03, lambda: path.write_bytes(text))
    timer.start()
    assert ["Zebra"] == base.titles("flies")
    timer.join()


def test_an_unreadable_note_is_named_and_read_when_it_can_be(base: Base) -> None:
    """One bad file never stops the rest, and isn't forgotten."""
    path = base.kb / "20240101000000-zebra.org"
    base.titles("flies")
    path.rename(base.kb / "kept.txt")
    path.symlink_to("/nonexistent")
    answers = base.index().find_passages(parse_query("zebra", today=TODAY))
    assert ([path], 2) == ([entry.path for entry in answers.skipped], len(answers.answers))
    path.unlink()
    (base.kb / "kept.txt").rename(path)
    assert ["Zebra"] == base.titles("flies")


def test_the_index_is_its_owners_alone(base: Base) -> None:
    """Its folder opens for nobody else, and nothing of it lies in the knowledge base."""
    base.titles("zebra")
    assert 0o700 == stat.S_IMODE(base.cache.stat().st_mode)
    assert base.file.exists()
    assert not [path for path in base.kb.rglob("*") if path.suffix not in (".org", ".stfolder") and path.is_file()]


def test_a_cache_that_cannot_be_written_to_costs_no_answer(base: Base) -> None:
    """The same index is made in memory: where there is none, and where one is out of date."""
    base.cache.parent.mkdir(parents=True)
    base.cache.write_text("a file where the folder should be")
    assert "Zebra" == base.titles("zebra")[0]
    base.cache.unlink()
    base.titles("zebra")
    base.note("new.org", "Quagga", "extinct")
    (base.cache / "index.lock").unlink()
    (base.cache / "index.lock").mkdir()
    assert ["Quagga"] == base.titles("extinct")
    base.check("zebra", "extinct")


@pytest.mark.parametrize("way", ["variable", "link"])
def test_the_index_is_never_written_into_the_knowledge_base(world: World, way: str) -> None:
    """A cache folder that leads there is none: the index stays in memory."""
    world.node("a.org", "a", "Zebra", "stripes")
    before = sorted(world.kb.rglob("*"))
    extra = {"XDG_STATE_HOME": str(world.kb)} if way == "variable" else {}
    if way == "link":
        world.state.mkdir(parents=True, exist_ok=True)
        (world.state / "cache").symlink_to(world.kb)
    ran = world.run("search", "zebra", extra=extra)
    assert (0, before) == (ran.status, sorted(world.kb.rglob("*")))


@pytest.mark.parametrize("has_index", [False, True])
def test_a_search_never_waits_for_another_s_index(base: Base, has_index: bool) -> None:
    """A stopped process holds the lock; the notes are read into memory instead."""
    if has_index:
        base.titles("zebra")
        base.note("new.org", "Quagga", "zebra-like")
    held = hold_lock(base.cache / "index.lock")
    with held:
        assert "Zebra" in base.titles("zebra")
        if has_index:
            assert ["Quagga"] == base.titles("quagga")


def test_only_what_a_killed_build_left_is_swept(base: Base) -> None:
    """A user's own file in that folder stays."""
    base.cache.mkdir(parents=True)
    for name in ("notes.tmp", "mine.tmp.org", "build.tmp", "build.0123456789abcdef.tmp"):
        (base.cache / name).write_text("mine")
    base.titles("zebra")
    assert ["build.tmp", "mine.tmp.org", "notes.tmp"] == sorted(path.name for path in base.cache.glob("*.tmp*"))


@pytest.mark.parametrize("kind", ["nested", "fifo", "folder", "huge"])
def test_a_seal_that_is_none_is_no_seal(base: Base, kind: str) -> None:
    """Whatever lies in its place, the answer comes, and soon."""
    base.titles("zebra")
    seal = base.cache / "index.seal"
    seal.unlink()
    match kind:
        case "nested":
            seal.write_text("[" * 100_000)
        case "fifo":
            os.mkfifo(seal)
        case "folder":
            seal.mkdir()
        case "huge":
            seal.write_text(" " * 10_000 + "{}")
    base.check("zebra")


def test_a_fifo_in_the_place_of_the_index_is_replaced(base: Base) -> None:
    """Nobody waits for its writer."""
    base.titles("zebra")
    base.file.unlink()
    os.mkfifo(base.file)
    base.check("zebra")
    assert base.file.is_file()


def test_inherited_tags_do_not_multiply_in_the_index(base: Base) -> None:
    """Hundreds of headings below thousands of tags: each keeps the nearest, the file all of them."""
    tags = ":".join(f"t{number}" for number in range(5000))
    headings = "".join(f"* Gnu{number} :own:\n:PROPERTIES:\n:ID: g{number}\n:END:\n" for number in range(100))
    path = base.note("tags.org", "All tags", tags=f":{tags}:")
    path.write_text(path.read_text() + headings)
    assert ["All tags"] == base.titles("tag:t0")
    assert 100 == len(base.titles("tag:own", None))
    assert base.file.stat().st_size < 1_100_000
    for note in base.index().find_passages(parse_query("tag:zebra", today=TODAY)).answers:
        assert ("zebra",) == note.tags


def test_any_limit_is_taken(base: Base) -> None:
    """Also one that is no number to SQLite."""
    assert 3 == len(base.titles("zebra", 2**63))
    assert 3 == len(base.titles("zebra stripes savanna", 2**100))


def test_as_many_filters_as_are_allowed_are_answered(base: Base) -> None:
    """Of all kinds at once."""
    tags = " ".join(["tag:animal"] * 64 + [f"-tag:t{number}" for number in range(64)])
    assert 2 == len(base.titles(f"zebra {tags} " + " ".join(f"-w{number}" for number in range(64))))


def test_an_error_of_the_query_is_not_taken_for_damage(base: Base) -> None:
    """The index stays as it is; only a damaged file is built again."""
    base.titles("zebra")
    before = base.file.stat().st_ino
    with pytest.raises(sqlite3.OperationalError):
        base.index().read_view(lambda db: db.execute("SELECT nothing FROM nowhere"))
    assert (base.cache / "index.seal").exists()
    base.titles("zebra")
    assert before == base.file.stat().st_ino


@pytest.mark.parametrize("text", ["abcD" * 30_000, "é" * 120_000, "縞" * 60_000, "w1 " * 40_000])
def test_a_query_of_any_length_is_answered(base: Base, text: str) -> None:
    """A pasted blob asks for what its beginning asks for, and is found where it stands."""
    base.note("blob.org", "Blob", text)
    base.note("other.org", "Andere", "Die Streifen und das Fell sind nicht von hier, wie wir mit dem Tier sich")
    assert "Blob" in base.titles(text)


DAMAGES = ["flip", "cut", "zero", "other", "text", "gone", "empty"]


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_index_is_built_again(base: Base, kind: str) -> None:
    """Whatever is done to the file, the answers are right."""
    dice = random.Random(kind)
    for _ in range(30):
        base.titles("zebra")
        damage(base.file, kind, dice)
        base.check("zebra", "animal savanna")


def damage(path: Path, kind: str, dice: random.Random) -> None:
    """Do to the file what disks, programs and people do."""
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data))
    match kind:
        case "flip":
            data[at] ^= 1 << dice.randrange(8)
        case "cut":
            del data[at:]
        case "zero":
            page = at - at % 4096
            data[page : page + 4096] = bytes(4096)
        case "other":
            path.unlink()
            with sqlite3.connect(path) as db:
                db.execute("CREATE TABLE note(file)")
            db.close()
            return
        case "text":
            data = bytearray(b"not an index\n")
        case "gone":
            path.unlink()
            return
        case "empty":
            data.clear()
    path.write_bytes(data)


def test_another_schema_is_made_anew(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index by another version is dropped, never asked."""
    base.titles("zebra")
    monkeypatch.setattr("roamkb.kb.search.index.schema.SCHEMA", 999)
    base.note("new.org", "Quagga", "extinct")
    assert ["Quagga"] == base.titles("extinct")


def test_meaning_helps_and_is_not_needed(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two notes that share a word with a question the nearer one comes first; without the table both are found."""
    base.note("1.org", "Weeding", "clear the garden bed of a plant")
    base.note("2.org", "Caches", "clear the stored copies of a page")
    question = "how do I clear what the browser remembered of a website"
    assert ["Caches", "Weeding"] == base.titles(question)[:2]
    monkeypatch.setattr("roamkb.text.store.word_vector_file._FOLDER", base.kb / "nowhere")
    word_table.cache_clear()
    try:
        assert {"Caches", "Weeding"} <= set(base.titles(question))
        base.check(question)
    finally:
        word_table.cache_clear()


def test_a_folder_deleted_under_us_costs_no_answer(base: Base) -> None:
    """Somebody clears the cache between two queries."""
    import shutil

    base.titles("zebra")
    shutil.rmtree(base.cache)
    assert 3 == len(base.titles("zebra"))
    assert base.file.exists()


def test_two_at_once_answer_alike(base: Base) -> None:
    """Several build and refresh the same index."""
    found: list[list[str]] = []

    def ask() -> None:
        found.append(base.titles("zebra"))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 6 == len(found)
    assert all(one == ["Zebra", "Savanna", "Tapir"] for one in found)


@pytest.mark.parametrize("calls", range(1, 12))
def test_a_kill_at_any_note_leaves_nothing_wrong(base: Base, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dead in the middle of a build or a refresh, between two commits or in a transaction; then asked again."""
    monkeypatch.setattr("roamkb.kb.search.index.refresh._BATCH", 2)
    for kind in ("build", "refresh"):
        if kind == "refresh":
            base.titles("zebra")
            for path in base.kb.glob("*.org"):
                path.write_text(path.read_text() + "zebra again\n")
        if (child := os.fork()) == 0:
            left = iter(range(calls))

            def dying(left: Iterator[int] = left) -> int:
                if next(left, None) is None:
                    os._exit(9)
                return 0

            Index(Notes(base.kb), base.cache, clock=dying).find_passages(parse_query("zebra", today=TODAY))
            os._exit(0)
        os.waitpid(child, 0)
        base.check("zebra", "again", "animal savanna")
        assert not list(base.cache.glob("*.tmp"))


@pytest.fixture
def many(base: Base, monkeypatch: pytest.MonkeyPatch) -> Base:
    """A dozen notes, each a step of its own in an index."""
    for number in range(9):
        base.note(f"{number}.org", f"Filler {number}", "quiet words that say nothing of zebras")
    monkeypatch.setattr("roamkb.kb.search.index.refresh._BATCH", 1)
    monkeypatch.setattr("roamkb.kb.search.index.index._STEP", 0)
    monkeypatch.setattr("roamkb.kb.search.index.index._COPIES", 0)
    return base


@pytest.mark.parametrize("kind", ["build", "refresh"])
def test_what_was_read_before_an_interruption_stays(many: Base, kind: str) -> None:
    """Ctrl-C in the middle costs the step that it hits, and the next question reads the rest only."""
    if kind == "refresh":
        many.titles("zebra")
        for path in many.kb.glob("*.org"):
            path.write_text(path.read_text() + "zebra again\n")

    def interrupted(_label: str, done: int, _total: int | None) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupted):
        Index(Notes(many.kb), many.cache).find_passages(parse_query("zebra", today=TODAY))
    assert 8 == many.index().count_unread_notes()
    read: list[int] = []
    with listening(lambda _label, done, _total: read.append(done)):
        Index(Notes(many.kb), many.cache).find_passages(parse_query("zebra", today=TODAY))
    assert list(range(1, 9)) == read
    many.check("zebra", "again", "quiet words")


@pytest.mark.parametrize("calls", range(1, 14))
def test_a_kill_costs_no_step_that_was_done(many: Base, calls: int) -> None:
    """A process that dies, at whatever note, leaves an index that lacks that note and those after it."""
    if (child := os.fork()) == 0:
        left = iter(range(calls))

        def dying(*_: object) -> None:
            if next(left, None) is None:
                os._exit(9)

        with listening(dying):
            Index(Notes(many.kb), many.cache).find_passages(parse_query("zebra", today=TODAY))
        os._exit(0)
    os.waitpid(child, 0)
    assert max(0, 12 - calls) == many.index().count_unread_notes()
    many.check("zebra", "quiet words")


def test_an_index_grows_as_far_as_the_time_goes(many: Base) -> None:
    """At least a note each time, until there is nothing to read."""
    waiting = [many.index().count_unread_notes()]
    while waiting[-1]:
        many.index().read_ahead(0)
        waiting.append(many.index().count_unread_notes())
        with hold_lock(many.cache / "index.lock"):
            many.index().read_ahead(60)
            assert waiting[-1] == many.index().count_unread_notes(), "another process has it"
    assert list(range(12, -1, -1)) == waiting
    many.note("new.org", "Quagga", "extinct")
    many.index().read_ahead(0)
    assert 0 == many.index().count_unread_notes()
    many.check("zebra", "extinct")
    Index(Notes(many.kb), None).read_ahead(0)


def test_a_search_is_told_of_all_notes_while_another_process_reads_them(many: Base) -> None:
    """It waits for the index, then answers from a copy that it brings up to date in memory."""
    while many.index().count_unread_notes() > 6:
        many.index().read_ahead(0)
    with hold_lock(many.cache / "index.lock"):
        assert 12 == len(many.titles("zebra zebras"))


def test_an_index_whose_unread_notes_went_counts_the_words_that_it_has(many: Base) -> None:
    """Words are counted once all is read, which can be since a note is gone that never was."""
    many.ahead = 3_000_000_000
    while many.index().count_unread_notes() > 1:
        many.index().read_ahead(0)
    (unread,) = many.index().find_unread_notes().to_read
    Path(unread.place).unlink()
    query = parse_query("zebra quiet", today=TODAY)
    assert Index(Notes(many.kb), None).find_passages(query).weights == many.index().find_passages(query).weights
    many.check("zebra quiet")


_NAMES = st.sampled_from(["a.org", "b.org", "sub/c.org", "2024-01-01.org"])
_BODIES = st.sampled_from(["zebra", "zebra stripe", "quagga", "", "Die zebra und der Streifen", "縞馬がいる"])
_HOUR = 3600 * 10**9
_STEPS = st.one_of(
    st.tuples(st.just("write"), _NAMES, _BODIES),
    st.tuples(st.just("write"), _NAMES, _BODIES),
    st.tuples(st.just("delete"), _NAMES, st.just("")),
    st.tuples(st.just("rename"), _NAMES, _NAMES),
    st.tuples(st.just("swap"), _NAMES, _NAMES),
    st.tuples(st.just("sneak"), _NAMES, st.just("")),
    st.tuples(st.just("touch"), _NAMES, st.sampled_from(["0", "10000000000", "1"])),
    st.tuples(st.just("spoil"), _NAMES, st.just("")),
    st.tuples(st.just("link"), _NAMES, st.sampled_from([".hidden.org", "nowhere"])),
    st.tuples(st.just("folder"), st.just("sub"), st.sampled_from(["other", ".gone", "data"])),
    st.tuples(st.just("setup"), st.just(""), st.sampled_from([":zebra:", ":other:", ""])),
    st.tuples(st.just("todo"), st.just(""), st.sampled_from(["", "zebra | done"])),
    st.tuples(st.just("clock"), st.just(""), st.sampled_from([str(-_HOUR), "0", str(_HOUR)])),
    st.tuples(st.just("ask"), st.just(""), st.just("")),
    st.tuples(st.just("ask"), st.just(""), st.just("")),
)


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(_STEPS, max_size=12))
def test_after_any_history_the_answers_are_a_fresh_index_s(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Edits, renames, deletions, links, clocks set back and ahead, other set-up files and TODO words."""
    base = Base(tmp_path_factory.mktemp("history"))
    # what isn't there because a save is under way would be waited for
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("roamkb.kb.search.index.refresh._SAVE", 0.001)
        for kind, name, value in steps:
            change(base, kind, name, value)
        base.check("zebra", "zebra stripe", "tag:zebra", "streifen und", "縞馬", '"zebra stripe"', "-quagga")
        assert 0 == base.index().count_differences()


def change(base: Base, kind: str, name: str, value: str) -> None:
    """Do one step of a history."""
    path = base.kb / name
    match kind:
        case "write":
            if path.is_symlink():
                path.unlink()
            base.note(name, f"T {value[:3]}", value, head="#+setupfile: setup.txt\n")
        case "delete":
            path.unlink(missing_ok=True)
        case "rename" if path.is_file():
            (base.kb / value).parent.mkdir(exist_ok=True)
            path.replace(base.kb / value)
        case "swap" if path.is_file() and (base.kb / value).is_file() and name != value:
            path.rename(base.kb / "kept.txt")
            (base.kb / value).rename(path)
            (base.kb / "kept.txt").rename(base.kb / value)
        case "sneak" if path.is_file():
            before = path.stat()
            path.write_bytes(path.read_bytes().replace(b"zebra", b"tapir").replace(b"quagga", b"zebras"))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "touch" if path.is_file():
            os.utime(path, (int(value), int(value)))
        case "spoil" if path.is_file():
            path.write_bytes(path.read_bytes() + b"\xff zebra\n")
        case "link":
            (base.kb / ".hidden.org").write_text("* zebra\n:PROPERTIES:\n:ID: hidden\n:END:\n")
            path.unlink(missing_ok=True)
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(base.kb / value)
        case "folder" if path.is_dir() and not (base.kb / value).exists():
            path.rename(base.kb / value)
        case "setup" if value:
            (base.kb / "setup.txt").write_text(f"#+filetags: {value}\n")
        case "setup":
            (base.kb / "setup.txt").unlink(missing_ok=True)
        case "todo":
            base.todo_lines = (value,) if value else ()
        case "clock":
            base.ahead = int(value)
        case "ask":
            base.titles("zebra")
            if base.ahead:
                # an hour passes between what was written before the clock was set and what comes after
                wait_for_another_time(base)


def wait_for_another_time(base: Base) -> None:
    """Return when what is written now gets a later time than all that was written before."""
    times = [path.lstat().st_ctime_ns for path in base.kb.rglob("*")]
    probe = base.kb.parent / "probe"
    while True:
        probe.write_text("x")
        if probe.stat().st_ctime_ns > max(times, default=0):
            return


@settings(max_examples=examples(300), deadline=None)
@given(text=st.text(max_size=80))
def test_no_query_is_an_error(base: Base, text: str) -> None:
    """Whatever is typed."""
    assert all(title for title in base.titles(text))


def agreed(base: Base) -> Base:
    """The base with an index that remembers the folder that it agreed with."""
    base.titles("zebra")
    base.ahead = 3_000_000_000
    base.titles("zebra")
    base.titles("zebra")
    assert (base.cache / "index.tree").is_file()
    return base


def test_what_an_index_agreed_with_is_read_no_more(base: Base) -> None:
    """As long as the folder is as it was, in another process as well; copies are still counted."""
    base.note("20240101000000-zebra.sync-conflict-20240101-000000.org", "Zebra", "a copy")
    agreed(base)
    notes = Notes(base.kb)
    passages = Index(notes, base.cache).find_passages(parse_query("zebra", today=TODAY), limit=20)
    assert ["Zebra", "Savanna", "Tapir"] == [answer.title for answer in passages.answers]
    assert 1 == passages.conflict_copies
    assert "kb_walk" not in vars(notes)


def test_an_agreement_holds_for_one_state_of_the_folder_and_of_the_index(base: Base) -> None:
    """A change of the same length with the old time of writing is found, and so is what it replaced."""
    note = base.kb / "20240102000000-tapir.org"
    agreed(base)
    before = note.stat()
    note.write_text(note.read_text().replace("A zebra", "A horse"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ["Tapir"] == base.titles("horse")
    base.check("zebra", "horse")
    agreed(base)
    note.unlink()
    assert [] == base.titles("horse")
    agreed(base)
    (base.cache / "index.db").unlink()
    assert ["Zebra", "Savanna"] == base.titles("zebra")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"seal": 1}', "\x00" * 5000])
def test_an_agreement_that_is_none_is_asked_for_nothing(base: Base, content: str) -> None:
    """It is derived, as the index is."""
    agreed(base)
    (base.cache / "index.tree").write_text(content)
    base.check("zebra", "savanna")


def test_nothing_is_remembered_of_a_folder_with_links(base: Base) -> None:
    """What they lead to may change, and the folder not."""
    hidden = base.kb / ".hidden"
    hidden.mkdir()
    (hidden / "x.org").write_text(":PROPERTIES:\n:ID: x\n:END:\n#+title: Linked\n\nokapi\n")
    (base.kb / "link.org").symlink_to(".hidden/x.org")
    base.ahead = 3_000_000_000
    for _ in range(3):
        assert ["Linked"] == base.titles("okapi")
    assert not (base.cache / "index.tree").exists()
    (hidden / "x.org").write_text(":PROPERTIES:\n:ID: x\n:END:\n#+title: Linked\n\nbongo\n")
    assert ["Linked"] == base.titles("bongo")


def test_a_digest_from_after_the_walk_vouches_for_nothing(base: Base) -> None:
    """What changed between the two would be taken for read."""
    notes = Notes(base.kb)
    assert notes.kb_walk.files
    assert notes.tree_before_walk() is None
