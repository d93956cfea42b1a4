"""Gemini CLI in its own words: what its hooks tell and are answered, its settings, its session files.

The payloads are as 0.61.0 sent them to the hooks that `install` writes.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from roamkb.harnesses.gemini_cli import HARNESS
from roamkb.harnesses.gemini_cli import NEW_FILE_TEXT
from roamkb.harnesses.harness import NoModelAnswer
from roamkb.harnesses.harness import SettingsOnDisk
from roamkb.harnesses.harness import SettingsRequest
from roamkb.harnesses.registry import harness_of
from roamkb.pipeline.extract.transcript_formats import passages_of
from tests.conftest import World
from tests.interfaces.hooks.test_main import observed

Json = dict[str, Any]

_PAYLOADS = Path(__file__).parents[1] / "interfaces" / "hooks" / "payloads" / "gemini.jsonl"
_REQUEST = SettingsRequest(program="/opt/with blank/roamkb", kbs=("~/roam",))


def told(folder: Path) -> Iterator[Json]:
    """What it tells of one session in `folder`, in order."""
    for line in _PAYLOADS.read_text(encoding="utf-8").splitlines():
        yield json.loads(line.replace("{cwd}", str(folder)))


def answer(world: World, payload: Json) -> Json:
    """What the hook of the payload's event says, run as the settings have it, with its variables."""
    (hook,) = (hook for hook in HARNESS.wanted_hooks if hook.event == payload["hook_event_name"])
    folder = str(payload["cwd"])
    ran = world.run(
        "hook",
        hook.command_word,
        cwd=Path(folder),
        input=json.dumps(payload),
        extra={
            "GEMINI_PROJECT_DIR": folder,
            "GEMINI_SESSION_ID": str(payload["session_id"]),
            "CLAUDE_PROJECT_DIR": folder,
        },
    )
    assert (0, 1) == (ran.status, ran.out.count("\n")), ran.err
    return ran.json


def test_every_payload_is_known_for_its_own(tmp_path: Path) -> None:
    """Also with the variable that Gemini CLI sets for the sake of others' hooks."""
    for payload in told(tmp_path):
        assert HARNESS is harness_of(payload, {"CLAUDE_PROJECT_DIR": str(tmp_path)})
        bare = {name: value for name, value in payload.items() if name != "transcript_path"}
        session = {"GEMINI_SESSION_ID": str(payload["session_id"])}
        assert HARNESS is harness_of(bare, session)
        assert HARNESS is harness_of(HARNESS.translate_payload(bare), {})
    assert HARNESS is harness_of({}, {"GEMINI_SESSION_ID": "a"}), "of what can't be read"
    assert "claude-code" == harness_of({"session_id": "b"}, {"GEMINI_SESSION_ID": "a"}).name


@pytest.mark.parametrize(
    ("known", "printed"),
    [
        ("", "ls: cannot access '/nonexistent-dir': No such file or directory"),
        (
            "alembic.util.exc.CommandError: Multiple head revisions are present for given argument 'head'",
            "FAILED: Multiple head revisions are present for given argument 'head'\nalembic.util.exc.CommandError: "
            "Multiple head revisions are present for given argument 'head'",
        ),
    ],
)
def test_what_helped_against_an_error_is_told_after_a_failed_command(world: World, known: str, printed: str) -> None:
    """Its output is all that it passes, with the status in it; what a program says twice is one error."""
    world.run("init")
    known = known or printed
    world.run("remedy", "record", "--error", known, "--technique", "Make it first", "--outcome", "success")
    failed = next(one for one in told(world.personal) if "Exit Code: 2" in json.dumps(one.get("tool_response")))
    text = failed["tool_response"]["llmContent"].replace(
        "ls: cannot access '/nonexistent-dir': No such file or directory", printed
    )
    said = answer(world, {**failed, "tool_response": {"llmContent": text, "returnDisplay": printed}})
    assert "AfterTool" == said["hookSpecificOutput"]["hookEventName"]
    assert "Make it first (worked 1 of 1 time)" in said["hookSpecificOutput"]["additionalContext"]


def test_a_session_is_recorded_and_answered_in_its_words(world: World) -> None:
    """The brief as context, a denial as a decision, a question as a rejected answer; and whose it is."""
    world.run("init")
    said = [answer(world, payload) for payload in told(world.personal)]
    assert all(one.keys() <= {"hookSpecificOutput", "decision", "reason", "systemMessage"} for one in said)
    assert "SessionStart" == said[0]["hookSpecificOutput"]["hookEventName"]
    assert "This is a personal project" in said[0]["hookSpecificOutput"]["additionalContext"]
    kept = observed(world.personal)
    assert {"gemini-cli"} == {str(one["agent"]) for one in kept}
    failures = [one for one in kept if one["type"] == "error"]
    assert ["failure"] == [one["outcome"] for one in failures]
    assert "No such file" in str(failures[0]["text"])
    assert "untrusted_context" not in str(failures[0]["text"])
    typed = [str(one["text"]) for one in kept if one["provenance"] == "user-stated"]
    assert [True] == ["grouped targets" in text for text in typed], "what a hook put in was never typed"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("run_shell_command", {"command": "echo x > {note}"}),
        ("run_shell_command", {"command": "echo x > a.org", "dir_path": "{kb}"}),
        ("write_file", {"file_path": "{note}", "content": "x"}),
        ("replace", {"file_path": "{note}", "old_string": "a", "new_string": "b", "instruction": "c"}),
        ("mcp_files_write_file", {"path": "{note}", "content": "x"}),
    ],
)
def test_a_write_from_work_is_denied_as_it_asks(world: World, tool: str, given: dict[str, str]) -> None:
    """`decision` and `reason`; what may be done is left undecided."""
    given = {name: text.format(note=world.kb / "a.org", kb=world.kb) for name, text in given.items()}
    base = {"session_id": "s", "transcript_path": "", "hook_event_name": "BeforeTool", "timestamp": "t"}
    call = {**base, "cwd": str(world.work), "tool_name": tool, "tool_input": given}
    said = answer(world, call)
    assert {"decision", "reason"} == said.keys()
    assert "deny" == said["decision"]
    assert said["reason"].startswith("roamkb: work project: ")
    assert HARNESS.is_denial(said)
    own = {"command": "echo x > ok.txt", "file_path": "ok.txt", "path": "ok.txt", "content": "x"}
    assert {} == answer(world, {**call, "tool_input": own})


def test_what_cannot_be_read_is_denied_in_its_words(world: World) -> None:
    """A wall that crashes still stands."""
    ran = world.run(
        "hook",
        "pre-tool-use",
        cwd=world.work,
        input='{"tool_input": {"file_path": "' + str(world.kb) + '/a.org"',
        extra={"GEMINI_SESSION_ID": "s"},
    )
    assert "deny" == ran.json["decision"]


def test_settings_are_as_its_schema_says() -> None:
    """Event, group, handler; milliseconds; the server beside them. Taken out, the file is as it was."""
    (file,) = HARNESS.settings_files
    new = file.put_in(None, _REQUEST)
    settings = json.loads(new)
    events = "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent SessionEnd".split()
    assert events == list(settings["hooks"])
    for groups in settings["hooks"].values():
        for group in groups:
            assert group.keys() <= {"matcher", "hooks"}
            for handler in group["hooks"]:
                assert {"type", "command", "timeout"} == handler.keys()
                assert 1000 <= handler["timeout"] <= 60_000
    assert {"command": "/opt/with blank/roamkb", "args": ["mcp"]} == settings["mcpServers"]["roamkb"]
    assert new == file.put_in(new, _REQUEST)
    assert file.take_out(new, _REQUEST) is None
    for text in ('{\n  "theme": "x"\n}\n', '{"mcpServers": {"a": {"command": "b"}}}', NEW_FILE_TEXT + " "):
        assert text.encode() == file.take_out(file.put_in(text.encode(), _REQUEST), _REQUEST)
    theirs = b'{"mcpServers": {"roamkb": {"command": "docker", "args": ["run"]}}}'
    assert b'"docker"' in file.put_in(theirs, _REQUEST)
    assert theirs == file.take_out(theirs, _REQUEST)


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({}, ""),
        ({"enabled": True}, ""),
        ({"enabled": False}, "hooksConfig.enabled is false"),
        ({"disabled": ["/r/roamkb hook stop"]}, "under hooksConfig.disabled"),
        ({"disabled": ["other"]}, ""),
    ],
)
def test_hooks_that_are_turned_off_are_named(tmp_path: Path, config: Json, fault: str) -> None:
    """All of them, or ours by their commands."""
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    made = HARNESS.settings_files[0].put_in(None, SettingsRequest(program="/r/roamkb", kbs=()))
    path.write_text(json.dumps({**json.loads(made), "hooksConfig": config}))
    settings = SettingsOnDisk(
        home=tmp_path,
        root=tmp_path / "none",
        read_settings=lambda path: path.read_bytes() if path.exists() else b"",
        resolve_path=Path.resolve,
    )
    found = [one.detail for one in HARNESS.find_faults(settings, HARNESS.installed_handlers(path.read_bytes()))]
    assert [fault] * bool(fault) == [fault for one in found if fault and fault in one]
    assert bool(found) == bool(fault)
    sandbox = HARNESS.sandbox_report(settings, ("/kb",))
    assert sandbox is not None
    assert not sandbox.ok
    path.write_text('{"tools": {"sandbox": "docker"}}')
    sandbox = HARNESS.sandbox_report(settings, ("/kb",))
    assert sandbox is not None
    assert sandbox.ok


def test_a_session_file_tells_each_thing_once(tmp_path: Path) -> None:
    """Of a message that is written again with its calls, and of what hooks put in, nothing."""
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "error"}
    result = [{"functionResponse": {"id": "c1", "name": "x", "response": {"output": "Output: no\nExit Code: 2"}}}]
    lines: list[Json] = [
        {"sessionId": "0e5b2d3c-1", "projectHash": sha256(b"/x/p").hexdigest()},
        {"$set": {"messages": []}},
        {"id": "1", "type": "user", "content": [{"text": "<hook_context>a</hook_context>\n\nRun make."}]},
        {"id": "2", "type": "gemini", "content": "I will."},
        {"id": "2", "type": "gemini", "content": "I will.", "toolCalls": [{**call, "result": result}]},
        {"id": "2", "type": "gemini", "content": "I will.", "toolCalls": [{**call, "result": result}]},
        {"id": "3", "type": "user", "content": result},
        {"id": "4", "type": "user", "content": [{"text": "roamkb: which facts?"}]},
    ]
    data = [json.dumps(line).encode() for line in lines]
    passages = list(passages_of(data))
    assert ["human", "agent", "tool"] == [str(one.speaker) for one in passages]
    assert ["Run make.", "I will."] == [one.text for one in passages[:2]]
    assert ("make", True, True) == (passages[2].command, passages[2].has_failed, passages[2].is_shell)
    path = tmp_path / ".gemini" / "tmp" / "p" / "chats" / "session-2026-11-23T07-27-0e5b2d3c.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join(data))
    assert path == HARNESS.find_transcript("0e5b2d3c-1", home=tmp_path, environment={})
    assert HARNESS.find_transcript("0e5b2d3c-2", home=tmp_path, environment={}) is None
    assert [path] == list(HARNESS.transcripts_in(Path("/x/p"), home=tmp_path, environment={}))
    assert [] == list(HARNESS.transcripts_in(Path("/y/p"), home=tmp_path, environment={})), "another's"


def test_its_model_answers_in_an_envelope() -> None:
    """`gemini --output-format json`; an error is one in whatever else it says."""
    assert "a" == HARNESS.model_answer([{"response": "a", "stats": {}}], "")
    records: list[Json] = [{"error": {"message": "no key"}}, {"stats": {}}]
    for record in records:
        with pytest.raises(NoModelAnswer):
            HARNESS.model_answer([record], "{}")
