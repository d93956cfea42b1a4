"""The index over a log answers for just the learnings that there are."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.kb.search.query import parse_query
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.store import index as module
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.build_budget import StillBuilding
from roamkb.log.store.index import LogIndex
from tests.examples import examples


def learnings(*contents: str, **changes: object) -> dict[str, Learning]:
    """Return learnings by their ids."""
    return {
        f"L{n}": Learning(id=f"L{n}", key="k", type="fact", content=content, ts=n + 1, **changes)  # type: ignore[arg-type]
        for n, content in enumerate(contents)
    }


def ask(folder: Path, said: dict[str, Learning], words: str, *, limit: int | None = None) -> list[str]:
    """Return the ids that answer, the best first."""
    query = parse_query(words, today=date(2026, 6, 10))
    return [answer.file for answer in LogIndex(folder, said).find_passages(query, limit=limit)]


def test_what_is_new_is_found_and_what_is_gone_is_not(tmp_path: Path) -> None:
    """Between two questions to the same index."""
    said = learnings("zebra one", "zebra two")
    assert ["L0", "L1"] == sorted(ask(tmp_path, said, "zebra"))
    said["L9"] = Learning(id="L9", key="k", type="fact", content="zebra nine")
    del said["L0"]
    assert ["L1", "L9"] == sorted(ask(tmp_path, said, "zebra"))


def test_an_index_that_only_lacks_what_is_new_is_told_just_that(tmp_path: Path) -> None:
    """And one that was filled by something else in the meantime is compared with everything."""
    query = parse_query("zebra", today=date(2026, 6, 10))

    def asked(said: dict[str, Learning], digest: str, grown: tuple[str, tuple[str, ...]]) -> list[str]:
        before, new = grown
        index = LogIndex(tmp_path, said, digest=digest, since=lambda filled: new if filled == before != "" else None)
        with index.open_query(query) as answers:
            found = answers.scored_ids(None)
            assert all(("title",) == answers.match_reasons(id) for id, _ in found)
        assert [id for id, _ in found] == [one.file for one in index.find_passages(query)]
        return sorted(id for id, _ in found)

    said = learnings("zebra one", "lion two")
    assert ["L0"] == asked(said, "a", ("", ()))
    said |= {"L7": Learning(id="L7", key="k", type="fact", content="zebra seven")}
    assert ["L0", "L7"] == asked(said, "b", ("a", ("L7",)))
    said |= {"L8": Learning(id="L8", key="k", type="fact", content="zebra eight")}
    said |= {"L9": Learning(id="L9", key="k", type="fact", content="zebra nine")}
    assert ["L0", "L7", "L8", "L9"] == asked(said, "d", ("c", ("L9",)))
    del said["L0"]
    assert ["L7", "L8", "L9"] == asked(said, "e", ("", ()))


def test_an_id_that_stands_for_something_else_now_is_found_by_that(tmp_path: Path) -> None:
    """A merge can bring an earlier line of the same id; then the id is that one's."""
    assert ["L0"] == ask(tmp_path, learnings("zebra"), "zebra")
    said = learnings("lion")
    assert [] == ask(tmp_path, said, "zebra")
    assert ["L0"] == ask(tmp_path, said, "lion")
    assert ["L0"] == ask(tmp_path, learnings("lion", tags=("cat",)), "tag:cat")


@pytest.mark.parametrize("words", ["auth", "tag:auth", "src", "bd-7", "security", "fact"])
def test_what_stands_beside_the_content_is_found(words: str, tmp_path: Path) -> None:
    """Tags, type, files, task and category."""
    said = learnings("zebra", tags=("auth",), files=("src/a.ts",), task="bd-7", category="security")
    assert ["L0"] == ask(tmp_path, said, words)


def test_the_ranking_is_the_promised_one(tmp_path: Path) -> None:
    """All words beat some; words in the content beat tags alone; more hits beat fewer; a limit cuts the rest."""
    said = learnings("zebra lion here it is", "zebra here it is not", "other words of same length")
    assert ["L0", "L1"] == ask(tmp_path / "a", said, "zebra lion")
    assert ["L0"] == ask(tmp_path / "a", said, "zebra lion", limit=1)
    tagged = {
        **learnings("a zebra in the content"),
        "T": Learning(id="T", key="k", type="fact", content="some words of same length", tags=("zebra",)),
    }
    assert ["L0", "T"] == ask(tmp_path / "b", tagged, "zebra")
    often = learnings("zebra one two three four", "zebra zebra zebra zebra zebra")
    assert ["L1", "L0"] == ask(tmp_path / "c", often, "zebra")


ANY = st.text(st.characters(), max_size=12)


@given(
    contents=st.lists(ANY.filter(str.strip), min_size=1, max_size=4),
    tags=st.lists(ANY, max_size=2).map(tuple),
    bead=ANY,
    id=ANY,
)
@settings(max_examples=examples(40), deadline=None)
def test_any_learning_that_can_be_read_can_be_found(
    contents: list[str], tags: tuple[str, ...], bead: str, id: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Half characters and NUL in any of its parts; every one is there when asked by its type."""
    said: dict[str, Learning] = {}
    for n, content in enumerate(contents):
        line = learning_line(Learning(id=f"{id}{n}", key="k", type="fact", content=content, tags=tags, bead=bead, ts=n))
        (found,) = read_learnings([line])
        assert isinstance(found, LearningLine)
        said[found.learning.id] = found.learning
    folder = tmp_path_factory.mktemp("index")
    for _ in range(2):
        assert sorted(said) == sorted(ask(folder, said, "tag:fact"))
    assert [] == ask(folder, {}, "tag:fact")


def test_where_nothing_can_be_kept_the_index_is_made_in_memory(tmp_path: Path) -> None:
    """A question is answered on a full or read-only disk as well."""
    (tmp_path / "file").write_text("")
    assert ["L0"] == ask(tmp_path / "file" / "index", learnings("zebra"), "zebra")


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_index_is_made_again(damage: bytes, tmp_path: Path) -> None:
    """No answer is lost with it."""
    said = learnings("zebra")
    ask(tmp_path, said, "zebra")
    (tmp_path / "index.db").write_bytes(damage)
    assert ["L0"] == ask(tmp_path, said, "zebra")


def test_an_index_that_is_a_link_is_made_again_in_its_place(tmp_path: Path) -> None:
    """A pull can bring one, and what it leads to may be somebody's database."""
    folder, other = tmp_path / "index", tmp_path / "other.db"
    ask(folder, learnings("zebra"), "zebra")
    (folder / "index.db").rename(other)
    (folder / "index.db").symlink_to(other)
    before = other.read_bytes()
    assert ["L1"] == ask(folder, learnings("zebra", "lion"), "lion")
    assert other.read_bytes() == before
    assert not (folder / "index.db").is_symlink()


def test_an_index_of_many_is_built_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step stays; what was learned meanwhile is in it, and other learnings are another index."""
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 2)
    monkeypatch.setattr(module, "_STEP_LEARNINGS", 1)
    query = parse_query("zebra", today=date(2026, 6, 10))

    def built(said: dict[str, Learning], digest: str, since: dict[str, list[str]]) -> int:
        for calls in range(1, 99):
            index = LogIndex(
                tmp_path, said, digest=digest, since=lambda filled: since.get(filled), budget=BuildBudget(steps=1)
            )
            try:
                index.make_ready()
            except StillBuilding:
                continue
            assert sorted(said) == sorted(one.file for one in index.find_passages(query))
            return calls
        raise AssertionError

    said = learnings(*(f"zebra {n}" for n in range(5)))
    with pytest.raises(StillBuilding):
        LogIndex(tmp_path, said, digest="a", budget=BuildBudget(steps=3)).make_ready()
    said |= {"L9": Learning(id="L9", key="k", type="fact", content="zebra nine")}
    assert 3 == built(said, "b", {"a": ["L9"]})
    assert 1 == built(said, "b", {})
    assert 6 == built(said, "c", {})
    # who can wait waits
    assert len(said) == len(LogIndex(tmp_path / "other", said, digest="c").find_passages(query))
