"""Files of a log that hold a forgotten text: all are found, and rewritten so that nothing else is lost."""

from datetime import datetime
from pathlib import Path

import pytest

from roamkb.log.init import init
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.observation import Observation
from roamkb.log.redaction import Redaction
from roamkb.log.redaction import redaction_of
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.store.observations import mark_consolidated
from roamkb.log.store.observations import open_sessions
from roamkb.log.store.observations import read_observations
from roamkb.log.store.observations import record_observation
from roamkb.log.store.project_log import Log
from roamkb.sharing.store.redacted_files import find_places
from roamkb.sharing.store.redacted_files import redact_place
from roamkb.sharing.store.snapshot_archive import list_archives
from roamkb.sharing.store.snapshot_archive import read_members
from roamkb.sharing.store.snapshot_archive import save_snapshot

TEXT = "The keys of the vault are under the mat"
GONE = Learning(id="L1", key="k", type="fact", content=TEXT)
KEPT = Learning(id="L2", key="k2", type="fact", content="Zebras are striped")


@pytest.fixture(name="log")
def log_with_both(tmp_path: Path) -> Log:
    """A log with both lines."""
    (tmp_path / "site").mkdir()
    init(Log(tmp_path / "site", tmp_path / "state"), home=tmp_path, kbs=())
    log = Log(tmp_path / "site", tmp_path / "state").require_adopted()
    log.append_entries([GONE, KEPT])
    return log


@pytest.fixture(name="redaction")
def of_the_line() -> Redaction:
    """What takes the line out."""
    return redaction_of(Tombstones(ids=frozenset({"L1"})), [GONE], [])


def redact_all(log: Log, redaction: Redaction) -> list[str]:
    """Redact every place; return their kinds."""
    places = [*find_places(log, redaction)]
    for place in places:
        redact_place(log, place, redaction)
    assert [] == [*find_places(log, redaction)]
    return [place.kind for place in places]


def observe(log: Log, text: str, session: str = "s") -> None:
    """Record an observation."""
    record_observation(log.ignored, Observation(id=text, ts=1.0, type="message", text=text, session=session))


@pytest.mark.parametrize(("is_done", "still_open"), [(True, []), (False, ["s"])])
def test_a_session_is_as_consolidated_as_before(
    log: Log, redaction: Redaction, is_done: bool, still_open: list[str]
) -> None:
    """Its file is shorter, and what was recorded of its length is, too."""
    observe(log, f"it says {TEXT} here")
    mark_consolidated(log.ignored, "s")
    if not is_done:
        observe(log, "more")
    assert still_open == open_sessions(log.ignored)
    assert ["records", "lines"] == redact_all(log, redaction)
    assert still_open == open_sessions(log.ignored)
    assert "[forgotten]" == read_observations(log.ignored, "s")[0].text


def test_a_snapshot_stays_one(log: Log, redaction: Redaction) -> None:
    """With its name, its time and its other lines."""
    folder = log.local_folder / "snapshots"
    members = {"knowledge.jsonl": learning_line(GONE) + b"\n" + learning_line(KEPT) + b"\n", "ledger.jsonl": b"{}\n"}
    save_snapshot(folder, members, source="log", id="20260610-120000-00000000", now=datetime(2026, 6, 10, 12))
    (before,) = list_archives(folder)
    assert ["snapshot", "lines"] == redact_all(log, redaction)
    (after,) = list_archives(folder)
    assert (before.id, before.when, before.what, before.files) == (after.id, after.when, after.what, after.files)
    assert {**members, "knowledge.jsonl": learning_line(KEPT) + b"\n"} == read_members(after)


def test_caches_and_scratch_files_with_it_go(log: Log, redaction: Redaction) -> None:
    """All others stay, and a link leads nowhere."""
    cache = log.cache_folder / "index" / "index.db"
    cache.parent.mkdir(parents=True)
    cache.write_bytes(b"\0" + TEXT[:35].encode() + b"\0")
    scratch, other = log.local_folder / "review.org", log.local_folder / "other.org"
    scratch.write_text(f"* {TEXT}")
    other.write_text("* nothing")
    outside = log.root / "mine.txt"
    outside.write_text(TEXT)
    (log.ignored / "link.txt").symlink_to(outside)
    assert ["cache", "lines", "local file"] == sorted(redact_all(log, redaction))
    assert (False, False, True) == (cache.exists(), scratch.exists(), other.exists())
    assert TEXT == outside.read_text()
