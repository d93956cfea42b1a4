"""What harnesses ask of hooks, key by key: what is installed for them, what they tell, what they are answered.

The tables are the published contracts, written down once more; `tests/real_harnesses` asks the harnesses themselves.
"""

import json
import re
from typing import Any

import pytest

from roamkb.context.brief_text import LONGEST_BRIEF
from roamkb.harnesses.claude_code import HARNESS as CLAUDE_CODE
from roamkb.harnesses.claude_code import NEW_FILE_TEXT as CLAUDE_MADE
from roamkb.harnesses.codex import HARNESS as CODEX
from roamkb.harnesses.codex import NEW_FILE_TEXT as CODEX_MADE
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.settings_json import with_hooks
from tests.conftest import World
from tests.interfaces.hooks.test_main import answer
from tests.interfaces.hooks.test_main import event
from tests.interfaces.hooks.test_main import told

Json = dict[str, Any]

_EVENTS = {
    "claude": set(
        "SessionStart SubagentStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact"
        " PostCompact Stop SubagentStop SessionEnd InstructionsLoaded Notification PermissionRequest".split()
    ),
    "codex": set(
        "SessionStart SessionEnd UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact"
        " SubagentStart SubagentStop Stop Interrupt".split()
    ),
}
_HANDLER = {"type", "command", "args", "timeout", "statusMessage", "if", "async", "shell"}
_CONTEXT = {"hookEventName", "additionalContext"}
_DENIAL = {"hookEventName", "permissionDecision", "permissionDecisionReason"}
#: What an answer to an event may hold under `hookSpecificOutput`; where none may stand, `decision` may, or nothing.
_OUTPUTS: dict[str, tuple[set[str], ...]] = {
    "SessionStart": (_CONTEXT,),
    "SubagentStart": (_CONTEXT,),
    "UserPromptSubmit": (_CONTEXT,),
    "PreToolUse": (_CONTEXT, _DENIAL),
    "PostToolUse": (_CONTEXT,),
    "PostToolUseFailure": (_CONTEXT,),
    "PreCompact": (),
    "PostCompact": (),
    "SubagentStop": (),
    "SessionEnd": (),
    "Stop": (_CONTEXT,),
}
#: What a payload holds in every event, and what an event adds that we read.
_COMMON = {
    "claude": {"session_id", "transcript_path", "cwd", "hook_event_name"},
    "codex": {"session_id", "transcript_path", "cwd", "hook_event_name"},
}
_ADDED = {
    "SessionStart": {"source"},
    "UserPromptSubmit": {"prompt"},
    "PreToolUse": {"tool_name", "tool_input", "tool_use_id"},
    "PostToolUse": {"tool_name", "tool_input", "tool_use_id", "tool_response"},
    "PostToolUseFailure": {"tool_name", "tool_input", "tool_use_id", "error"},
    "PreCompact": {"trigger"},
    "Stop": {"stop_hook_active", "last_assistant_message"},
    "SubagentStop": {"stop_hook_active", "last_assistant_message"},
    "SessionEnd": {"reason"},
}
#: Codex's own words, as its program has them in schemas that allow no other (0.169).
_CODEX = _COMMON["codex"] | {"model", "permission_mode"}
_CODEX_TURN = _CODEX | {"turn_id"}
_CODEX_AGENT = _CODEX_TURN | {"agent_id", "agent_type"}
CODEX_WORDS = {
    "SessionStart": _CODEX | {"source"},
    "SubagentStart": _CODEX_AGENT,
    "UserPromptSubmit": _CODEX_TURN | {"prompt"},
    "PreToolUse": _CODEX_TURN | {"tool_name", "tool_input", "tool_use_id"},
    "PostToolUse": _CODEX_TURN | {"tool_name", "tool_input", "tool_use_id", "tool_response"},
    "PreCompact": _CODEX_TURN - {"permission_mode"} | {"trigger"},
    "PostCompact": _CODEX_TURN - {"permission_mode"} | {"trigger"},
    "Stop": _CODEX_TURN | {"stop_hook_active", "last_assistant_message"},
    "SubagentStop": _CODEX_AGENT | {"stop_hook_active", "last_assistant_message", "agent_transcript_path"},
    "SessionEnd": _COMMON["codex"] | {"reason"},
}


@pytest.mark.parametrize(("harness", "hooks"), [("claude", CLAUDE_CODE.wanted_hooks), ("codex", CODEX.wanted_hooks)])
def test_what_is_installed_is_in_the_harness_form(harness: str, hooks: tuple[Hook, ...]) -> None:
    """Event, group, handler; seconds; a matcher that the harness's own expressions know."""
    made = CLAUDE_MADE if harness == "claude" else CODEX_MADE
    settings: Json = json.loads(with_hooks(None, hooks, "/opt/with blank/roamkb", new_file_text=made))
    assert settings.keys() - {"hooks"} <= ({"$schema"} if harness == "claude" else {"description"})
    assert settings["hooks"].keys() <= _EVENTS[harness]
    for name, groups in settings["hooks"].items():
        for group in groups:
            assert group.keys() <= {"matcher", "hooks"}
            matcher = group.get("matcher", "")
            # exact names where there is nothing else in it; Codex's expressions know no lookahead
            assert not matcher or (harness == "claude" and re.search(r"[^\w, |-]", matcher) and re.compile(matcher))
            for handler in group["hooks"]:
                assert handler.keys() <= _HANDLER
                assert "command" == handler["type"]
                # without `args` a shell reads it
                assert re.fullmatch(r"'/opt/with blank/roamkb' hook [a-z-]+", handler["command"])
                assert isinstance(handler["timeout"], int)
                assert 1 < handler["timeout"] <= 60, f"{name} is in seconds"


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_what_the_payloads_of_this_suite_hold_is_what_harnesses_send(harness: str, world: World) -> None:
    """Each event's own fields, and no field of another's."""
    for payload in told(harness, world.personal):
        name = str(payload["hook_event_name"])
        assert name in _EVENTS[harness]
        assert _COMMON[harness] <= payload.keys()
        assert _ADDED.get(name, set()) <= payload.keys() | {"tool_use_id"}
        if harness == "codex":
            assert CODEX_WORDS[name] == payload.keys()


def provoked(world: World) -> list[tuple[str, Json]]:
    """What every event has an answer to, each with the field that it stands in."""
    folder = world.personal
    world.run("init")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/fix/redis-sessions\n")
    world.run(
        "learn",
        "Redis evicts sessions when maxmemory is reached; allkeys-lru hides it",
        "--confidence",
        "0.9",
    )
    world.run("learn", "The migration runner skips names with a digit", "--type", "gotcha", "--file", "m/**")
    world.run("remedy", "record", "--error", "KeyError: 'x'", "--technique", "Use get", "--outcome", "success")
    learned = world.run(
        "learn", "SQLite in WAL mode needs its -shm file beside the database, so copies lose commits",
        "--category", "bug_fix", "--confidence", "0.9", "--json",
    ).json  # fmt: skip
    scores = ("--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    world.run("verify", str(learned["key"]), *scores)
    failure = {"tool_name": "Bash", "tool_input": {"command": "python a.py"}}
    note = str(world.kb / "a.org")
    world.node("a.org", "id-a", "A human's own")
    return [
        ("additionalContext", event(folder, "SessionStart", source="startup")),
        (
            "",
            event(
                folder,
                "PreToolUse",
                tool_name="Agent",
                tool_use_id="t1",
                tool_input={"prompt": "why do copies of SQLite in WAL mode lose commits?"},
            ),
        ),
        ("additionalContext", event(folder, "SubagentStart", agent_type="Explore")),
        (
            "additionalContext",
            {
                **event(folder, "UserPromptSubmit", prompt="redis evicts sessions, is it maxmemory?"),
                "session_id": "22222222-1111-4222-8333-444455556666",
            },
        ),
        (
            "permissionDecision",
            event(folder, "PreToolUse", tool_name="Write", tool_input={"file_path": note}),
        ),
        (
            "additionalContext",
            event(folder, "PreToolUse", tool_name="Edit", tool_input={"file_path": str(folder / "m" / "1.sql")}),
        ),
        ("additionalContext", event(folder, "PostToolUseFailure", **failure, error="KeyError: 'x'")),
        (
            "additionalContext",
            event(folder, "PostToolUse", **failure, tool_response={"output": "KeyError: 'x'", "exit_code": 1}),
        ),
        ("", event(folder, "PostToolUse", **failure, tool_response={"output": "ok", "exit_code": 0})),
        ("", event(folder, "PreCompact", trigger="auto")),
        ("", event(folder, "PostCompact", trigger="auto", compact_summary="x")),
        ("", event(folder, "SubagentStop", stop_hook_active=False, last_assistant_message="FACT: a is b")),
        ("decision", event(folder, "Stop", stop_hook_active=False, last_assistant_message="Done.")),
        ("", event(folder, "SessionEnd", reason="exit")),
    ]


def test_every_answer_is_in_the_harness_form(world: World) -> None:
    """Status 0 and one object: a code of its own would block nothing, or everything."""
    for field, payload in provoked(world):
        name = str(payload["hook_event_name"])
        said: Json = answer(world, payload)
        assert said.keys() <= {"hookSpecificOutput", "decision", "reason"}, name
        specific = said.get("hookSpecificOutput", {})
        assert not said or specific or name == "Stop", name
        assert not specific or set(specific) in _OUTPUTS[name], name
        assert not specific or name == specific["hookEventName"]
        assert specific.get("permissionDecision", "deny") == "deny"
        assert said.get("decision", "block") == "block"
        assert all(len(text) <= LONGEST_BRIEF for text in (*specific.values(), *said.values()) if isinstance(text, str))
        assert (field in said or field in specific) if field else not said, (name, said)
