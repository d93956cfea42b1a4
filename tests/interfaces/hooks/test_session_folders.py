"""Sessions that were at work once: what they learn later stays out of personal logs."""

import json
from pathlib import Path

import pytest

from tests.conftest import World
from tests.interfaces.hooks.test_main import event

_SESSION = "0e5b2d3c-1111-4222-8333-444455556666"
_SAID = "LEARNED: Returns of quetzalcoatlus go to the depot Kassel within 30 days"


def _call(world: World, folder: Path, name: str, **more: object) -> dict[str, object]:
    """Send a hook of a harness that sets no variable of its own."""
    payload = {**event(folder, name), "session_id": _SESSION, **more}
    ran = world.run("hook", cwd=folder, input=json.dumps(payload))
    assert (0, "") == (ran.status, ran.err)
    return ran.json


def _hold(world: World) -> str:
    """Return all that the personal project's log and the notes hold."""
    paths = [*world.personal.glob(".roamkb/**/*"), *world.kb.rglob("*")]
    return "".join(path.read_text(errors="replace") for path in paths if path.is_file())


def _line(folder: Path, text: str) -> str:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "cwd": str(folder), "sessionId": _SESSION, "message": message}) + "\n"


@pytest.fixture
def project(world: World) -> World:
    """A world whose personal project has a log."""
    assert 0 == world.run("init").status
    return world


@pytest.mark.parametrize("has_log", [True, False])
@pytest.mark.parametrize("first", ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreToolUse"])
def test_a_session_that_a_hook_saw_at_work_stays_at_work(project: World, first: str, has_log: bool) -> None:
    """Its harness tells another folder later, and has no variable and no transcript."""
    if has_log:
        project.run("init", cwd=project.work)
    tool = {"tool_name": "Bash", "tool_input": {"command": "cat returns.md"}, "tool_response": {"stdout": "x"}}
    _call(project, project.work, first, prompt="what about returns", source="startup", **tool)
    _call(project, project.personal, "UserPromptSubmit", prompt="and now here")
    _call(project, project.personal, "Stop", last_assistant_message=_SAID)
    _call(project, project.personal, "SessionStart", session_id="another-session", source="startup")
    assert "quetzalcoatlus" not in _hold(project)


def test_a_permission_from_before_work_does_not_count_any_more(project: World) -> None:
    """The session began here, went to work, and came back a moment later."""
    _call(project, project.personal, "SessionStart", source="startup")
    _call(project, project.personal, "UserPromptSubmit", prompt="hello")
    _call(project, project.work, "PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="x")
    _call(project, project.personal, "PostToolUse", tool_name="Bash", tool_input={"command": f"echo {_SAID}"})
    _call(project, project.personal, "Stop", last_assistant_message=_SAID)
    assert "quetzalcoatlus" not in _hold(project)


def test_a_transcript_that_says_work_counts(project: World, tmp_path: Path) -> None:
    """No hook saw the session there, as where hooks were set up later, or it goes on by another id."""
    transcript = tmp_path / f"{_SESSION}.jsonl"
    transcript.write_text(_line(project.work, "hm") + _line(project.personal, _SAID))
    _call(project, project.personal, "SessionStart", source="resume", transcript_path=str(transcript))
    _call(project, project.personal, "Stop", last_assistant_message=_SAID, transcript_path=str(transcript))
    assert "quetzalcoatlus" not in _hold(project)


def test_what_a_session_of_the_project_alone_says_is_kept(project: World, tmp_path: Path) -> None:
    """A folder at work that a command's input or a text names is none that the session is in."""
    transcript = tmp_path / f"{_SESSION}.jsonl"
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": {"cwd": str(project.work)}}
    message = {"role": "assistant", "content": [call]}
    named = json.dumps({"type": "assistant", "message": message, "cwd": str(project.personal)}) + "\n"
    transcript.write_text(named + _line(project.personal, f'{{"cwd": "{project.work}"}}'))
    _call(project, project.personal, "SessionStart", source="startup", transcript_path=str(transcript))
    _call(project, project.personal, "Stop", last_assistant_message=_SAID, transcript_path=str(transcript))
    assert "quetzalcoatlus" in _hold(project)


def test_a_command_of_such_a_session_writes_no_note(project: World) -> None:
    """The harness names the session to its commands."""
    _call(project, project.work, "UserPromptSubmit", prompt="what about returns")
    ran = project.run("write", "Returns of quetzalcoatlus", extra={"CLAUDE_CODE_SESSION_ID": _SESSION})
    assert 3 == ran.status, ran.err
    assert "quetzalcoatlus" not in _hold(project)


def test_nothing_outside_of_work_says_which_folder_it_was(project: World) -> None:
    """What is remembered of the session are digests."""
    _call(project, project.work, "UserPromptSubmit", prompt="what about returns")
    kept = [path for path in project.state.rglob("*") if path.is_file() and "cache" not in path.parts]
    assert kept
    assert not [path for path in kept if str(project.work).encode() in path.read_bytes()]


def test_a_command_that_names_such_a_session_learns_nothing(project: World) -> None:
    """As a harness does for its agent that answers what it learned."""
    _call(project, project.work, "UserPromptSubmit", prompt="what about returns")
    proposals = json.dumps([{"claim": "Returns of quetzalcoatlus go to Kassel", "type": "fact"}])
    for words, text in ((["learn", "--proposals", "-"], proposals), (["observe", "-"], _SAID), (["learn", _SAID], "")):
        ran = project.run(*words, "--session", _SESSION, input=text)
        assert 3 == ran.status, (words, ran.out, ran.err)
    assert "quetzalcoatlus" not in _hold(project)
