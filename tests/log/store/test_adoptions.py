"""A log is known again by a file of its own, and by nothing that can be copied."""

import os
import shutil
from pathlib import Path

import pytest

from roamkb.core.errors import DiskError
from roamkb.core.ids import new_id
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import adopted_lines_of
from roamkb.log.store import project_log
from roamkb.log.store.adoptions import IDENTITY_FILE
from roamkb.log.store.adoptions import LogAdoption
from roamkb.log.store.adoptions import find_adoption
from roamkb.log.store.adoptions import find_moved_log
from roamkb.log.store.adoptions import log_identity
from roamkb.log.store.adoptions import save_adoption
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import adopt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log's folder."""
    folder = tmp_path / "site" / ".roamkb"
    folder.mkdir(parents=True)
    (folder / IDENTITY_FILE).write_text("/local/\n")
    return folder


def test_a_move_keeps_it_and_a_copy_does_not(folder: Path, tmp_path: Path) -> None:
    """Nor does another file in its place, a link to it, or none."""
    log = log_identity(folder)
    moved = tmp_path / "moved"
    folder.parent.rename(moved)
    assert log == log_identity(moved / ".roamkb")
    shutil.copytree(moved, tmp_path / "copy")
    assert log != log_identity(tmp_path / "copy" / ".roamkb")
    file = moved / ".roamkb" / IDENTITY_FILE
    file.rename(file.with_name("other"))
    assert "" == log_identity(file.parent)
    file.symlink_to("other")
    assert "" == log_identity(file.parent)
    file.unlink()
    os.mkfifo(file)
    assert "" == log_identity(file.parent)


@pytest.mark.parametrize("ids", [[], ["a"], [f"id-{n}" for n in range(1000)]])
def test_what_is_put_down_is_found(ids: list[str], tmp_path: Path) -> None:
    """By its name, and by the log; put down again it is the later one. It is its owner's."""
    state = tmp_path / "state"
    assert find_adoption(state, "name") is None
    assert find_moved_log(state, "1:2") is None
    for log in ("1:2", "3:4"):
        adoption = LogAdoption(log=log, adopted=adopted_lines_of(ids))
        save_adoption(state, "name", adoption)
        assert adoption == find_adoption(state, "name")
        assert ("name", adoption) == find_moved_log(state, log)
    assert find_moved_log(state, "1:2") is None
    assert find_moved_log(state, "") is None
    (path,) = (state / "adopted").iterdir()
    assert 0o600 == path.stat().st_mode & 0o777


@pytest.mark.parametrize("data", [b"", b"1", b"1 1:2", b"2 1:2\n", b"\n"])
def test_what_cannot_be_read_is_no_leave(data: bytes, tmp_path: Path) -> None:
    """Whose word a log is would be anybody's guess."""
    save_adoption(tmp_path, "name", LogAdoption(log="1:2", adopted=adopted_lines_of(["a"])))
    (tmp_path / "adopted" / "name").write_bytes(data)
    with pytest.raises(DiskError, match="isn't what roamkb wrote"):
        find_adoption(tmp_path, "name")
    assert find_moved_log(tmp_path, "1:2") is None


def test_what_a_service_brought_is_known_again_and_stays_so(world: World) -> None:
    """By any process, beside what was cached of the log before, and after the log was adopted anew."""
    adopt(world)
    log = world.log()
    own = [learning_line(learned(f"Fact {number} " + "x" * 900)) for number in range(200)]
    log.knowledge.write_bytes(b"".join(line + b"\n" for line in own))
    assert len(log.read_contents().replay_state().standings) == 200
    received = learned("Told by another machine")
    with log.append_lock():
        log.append_received([learning_line(received)], [], ids=[received.id])
    for again in (log, world.log()):
        project_log._LogMemory.contents = None
        standings = again.read_contents().replay_state().standings
        assert standings[received.id].confidence == 50
        assert [id for id, standing in standings.items() if standing.learning.is_adopted] == [received.id]
    log.record_adoption()
    found = find_adoption(world.state, log.local_folder.name)
    assert found is not None
    assert found.adopted == NONE_ADOPTED.with_received([received.id])


def learned(text: str) -> Learning:
    """Return a learning of this moment."""
    id = new_id(NOON)
    return Learning(id=id, key=id, type="fact", content=text, ts=NOON.timestamp(), confidence=70)
