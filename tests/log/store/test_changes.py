"""News of a log: each piece once, in the order in which it was noticed, whatever happens to the files."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.user_dirs import create_machine_key
from roamkb.log.store.changes import CREATED
from roamkb.log.store.changes import REUSED
from roamkb.log.store.changes import LogChangeFeed
from roamkb.log.store.project_log import Log
from tests.conftest import World


def line(name: str, ts: int = 1) -> str:
    """Return a line of the log."""
    return f'{{"id":"{name}","key":"k-{name}","type":"fact","content":"{name}","ts":{ts}}}\n'


def reused(name: str, of: str) -> str:
    """Return a line of the ledger."""
    return f'{{"id":"{name}","ts":"2026-06-10T12:00:00Z","event":"reused","of":"{of}","outcome":"success"}}\n'


@pytest.fixture
def log(world: World) -> Log:
    """The personal project's log."""
    world.open().log.init()
    return world.log()


def names(feed: LogChangeFeed) -> list[str]:
    """Return the ids of the news after a look."""
    feed.collect_changes()
    return [one.id for one in feed.news]


def test_what_is_added_is_news_once(log: Log) -> None:
    """Learnings and outcomes; a half line waits until it is whole."""
    feed = LogChangeFeed(log)
    assert [] == names(feed)
    with log.knowledge.open("a") as file:
        file.write(line("a") + line("b")[:20])
    assert ["a"] == names(feed)
    with log.knowledge.open("a") as file:
        file.write(line("b")[20:])
    log.ledger.write_text(reused("e", "a"))
    assert ["a", "b", "e"] == names(feed) == names(feed)
    assert [CREATED, CREATED, REUSED] == [one.name for one in feed.news]


def test_a_line_that_a_merge_brings_is_news_although_it_is_older(log: Log) -> None:
    """The file is another one then; what was told keeps its place."""
    feed = LogChangeFeed(log)
    log.knowledge.write_text(line("b", 20))
    assert ["b"] == names(feed)
    merged = log.folder / "merged"
    merged.write_text(line("a", 10) + line("b", 20))
    merged.replace(log.knowledge)
    assert ["b", "a"] == names(feed)
    assert 1 == feed.index_after("b")
    assert 2 == feed.index_after("a")
    assert 0 == feed.index_after("nobody")


def test_what_moves_to_the_archive_is_no_news(log: Log) -> None:
    """Rotation says nothing again."""
    feed = LogChangeFeed(log)
    log.knowledge.write_text(line("a") + line("b", 2))
    assert ["a", "b"] == names(feed)
    log.archive.write_text(line("a"))
    rest = log.folder / "rest"
    rest.write_text(line("b", 2) + line("c", 3))
    rest.replace(log.knowledge)
    assert ["a", "b", "c"] == names(feed)


def test_a_log_that_nobody_adopted_has_no_news(log: Log, world: World) -> None:
    """Nor has a project without one, or one whose folder is a link."""
    log.knowledge.write_text(line("a"))
    log.local_folder.rmdir()
    # the user's state knows what was adopted, too
    shutil.rmtree(world.state / "adopted")
    feed = LogChangeFeed(log)
    assert [] == names(feed)
    assert [] == names(LogChangeFeed(None))
    assert [] == names(LogChangeFeed(world.log(world.unknown)))


def test_a_log_that_is_adopted_later_has_news_from_then_on(world: World) -> None:
    """The server began when the machine had no log at all."""
    feed = LogChangeFeed(world.log(world.work))
    assert [] == names(feed)
    log = world.open(world.work).log
    log.init()
    log.learn("Zebras are striped")
    assert 1 == len(names(feed))


def test_an_id_that_would_break_the_line_is_replaced(log: Log) -> None:
    """A foreign log can hold any; a stream of events has a line for each."""
    log.knowledge.write_text(line("a\\nevent: x") + line("é") + line("x" * 500))
    feed = LogChangeFeed(log)
    assert 3 == len(names(feed))
    assert all(one.id.isascii() and one.id.isprintable() and len(one.id) <= 100 for one in feed.news)


@given(said=st.lists(st.sampled_from("abcdefgh"), max_size=12), cut=st.integers(0, 400))
def test_wherever_the_file_is_cut_each_line_comes_once(
    said: list[str], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two looks at a growing file tell the same as one at the whole."""
    root: Path = tmp_path_factory.mktemp("feed")
    create_machine_key(root)
    log = Log(root, root)
    log.ignored.mkdir(parents=True)
    log.record_adoption()
    data = "".join(line(name, number) for number, name in enumerate(said)).encode()
    feed = LogChangeFeed(log)
    log.knowledge.write_bytes(data[:cut])
    feed.collect_changes()
    with log.knowledge.open("ab") as file:
        file.write(data[cut:])
    assert sorted(set(said)) == sorted(names(feed))
