"""What Codex's own record says of a session: where it works, and how a command ended."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.codex import HARNESS
from roamkb.harnesses.codex import exit_code_of
from tests.conftest import World

#: Made on 2026-11-22 at 08:39:09 UTC.
_ID = "01a20268-c2e1-7bc1-b795-3a4a26838792"
_CALL = "exec-a1fd3cb2-db8e-47e0-9d19-2a283f98363b"


def kept(home: Path, *folders: Path, day: str = "2026/11/22", more: str = "") -> Path:
    """Write a session's file as Codex does: where it began, and where each of its turns was."""
    first, *turns = folders
    lines: list[dict[str, object]] = [
        {"type": "session_meta", "payload": {"id": _ID, "cwd": str(first), "base_instructions": "x" * 20_000}}
    ]
    lines += [{"type": "turn_context", "payload": {"turn_id": "t", "cwd": str(one)}} for one in turns]
    path = home / ".codex" / "sessions" / day / f"rollout-2026-11-22T08-39-09-{_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + more)
    return path


def ended(code: object, *, call: str = _CALL, output: str = "") -> str:
    """Return the line of a command that ended."""
    item = {"type": "CommandExecution", "id": call, "aggregated_output": output, "exit_code": code}
    line = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    return json.dumps(line) + "\n"


def test_a_session_is_where_it_began_and_where_its_turns_are(tmp_path: Path) -> None:
    """Each folder once; nothing where no session is told, none is kept, or none is one."""
    home = {"HOME": str(tmp_path)}
    assert () == HARNESS.session_folders({**home, "CODEX_THREAD_ID": _ID})
    kept(tmp_path, Path("/a"), Path("/b"), Path("/a"))
    assert ("/a", "/b") == HARNESS.session_folders({**home, "CODEX_THREAD_ID": _ID})
    assert ("/a", "/b") == HARNESS.session_folders(
        {"HOME": "/nowhere", "CODEX_HOME": str(tmp_path / ".codex"), "CODEX_THREAD_ID": _ID}
    )
    for other in ("", "../../x", _ID[:-1] + "3", "f" * 36):
        assert () == HARNESS.session_folders({**home, "CODEX_THREAD_ID": other})


def test_a_turn_with_much_output_is_where_it_began(tmp_path: Path) -> None:
    """What came of it since stands behind it in the file."""
    kept(tmp_path, Path("/a"), Path("/b"), more=ended(0, output="x" * 200_000))
    assert ("/a", "/b") == HARNESS.session_folders({"HOME": str(tmp_path), "CODEX_THREAD_ID": _ID})


def test_a_session_that_is_no_file_is_none(tmp_path: Path) -> None:
    """Who opened a pipe would wait for somebody to write to it."""
    path = kept(tmp_path, Path("/a"))
    path.unlink()
    os.mkfifo(path)
    # nobody waits for a writer that is there; what it holds isn't looked at
    held = os.open(path, os.O_RDWR)
    os.write(held, b'{"type": "session_meta", "payload": {"cwd": "/a"}}\n')
    try:
        assert () == HARNESS.session_folders({"HOME": str(tmp_path), "CODEX_THREAD_ID": _ID})
    finally:
        os.close(held)


def test_a_session_is_found_below_another_day(tmp_path: Path) -> None:
    """Whose clock it is, nobody knows."""
    kept(tmp_path, Path("/a"), day="2025/01/02")
    assert ("/a",) == HARNESS.session_folders({"HOME": str(tmp_path), "CODEX_THREAD_ID": _ID})


def test_a_command_has_the_status_that_it_ended_with(tmp_path: Path) -> None:
    """By the call's id, whatever else names it, and however much it printed."""
    more = ended(0, call="other") + ended(1, output=f"x {_CALL}" + "y" * 200_000) + json.dumps({"a": _CALL})
    path = kept(tmp_path, Path("/a"), more=more)
    assert 1 == exit_code_of(str(path), _CALL)
    assert 0 == exit_code_of(str(path), "other")
    for transcript, call in ((str(path), "none"), (str(path), ""), ("", _CALL), (str(tmp_path), _CALL)):
        assert exit_code_of(transcript, call) is None


@pytest.mark.parametrize(("source", "alone"), [("exec", True), ("vscode", False), ({"subagent": 1}, False)])
def test_nobody_can_be_asked_where_a_program_waits(source: object, alone: bool) -> None:
    """`codex exec` says so in the first line; elsewhere somebody may be there."""
    assert alone == HARNESS.is_unattended({"type": "session_meta", "payload": {"source": source}})
    assert not HARNESS.is_unattended({"type": "session_meta", "payload": None})
    assert not HARNESS.is_unattended({})


@given(st.binary(max_size=300))
def test_what_is_no_record_tells_nothing(data: bytes) -> None:
    """Neither a folder nor a status, and no exception."""
    with TemporaryDirectory() as folder:
        path = kept(Path(folder), Path("/a"))
        path.write_bytes(data + _CALL.encode())
        assert exit_code_of(str(path), _CALL) is None
        assert () == HARNESS.session_folders({"HOME": folder, "CODEX_THREAD_ID": _ID})


def test_a_work_session_writes_nothing_from_another_folder(world: World) -> None:
    """Codex runs a call wherever it says, in a sandbox that shows no parents: the session's id tells."""
    kept(world.home, world.work)
    world.run("init")
    extra = {"CODEX_THREAD_ID": _ID}
    for words in (("write", "The quetzalcoatlus is fed on Fridays"), ("learn", "The quetzalcoatlus is shy")):
        ran = world.run(*words, extra=extra)
        assert (3, True) == (ran.status, "by the Codex session" in ran.err), ran.err
    assert [] == [path for path in world.home.rglob("*") if path.is_file() and b"quetzal" in path.read_bytes()]


def test_a_personal_session_writes_from_anywhere_that_is_personal(world: World) -> None:
    """And a session that Codex kept nothing of is judged by the rest."""
    kept(world.home, world.personal)
    assert 0 == world.run("write", "Redis evicts at maxmemory", extra={"CODEX_THREAD_ID": _ID}).status
    assert 0 == world.run("write", "Sourdough needs time", extra={"CODEX_THREAD_ID": "f" * 36}).status
