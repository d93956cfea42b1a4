"""Transcripts of real harnesses (Claude Code 2.1.197, Codex 0.169; their model was a script), and broken ones."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.transcript_formats import passages_of

_HERE = Path(__file__).parent


def read(name: str) -> list[TranscriptPassage]:
    """Return what a recorded session tells."""
    return list(passages_of((_HERE / name).read_bytes().splitlines()))


def told(*lines: object) -> list[TranscriptPassage]:
    """Return what lines of JSON tell."""
    return list(passages_of(json.dumps(line).encode() for line in lines))


def user(text: object, **more: object) -> dict[str, object]:
    """Return a line of Claude Code's in which a human speaks."""
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


@pytest.mark.parametrize("name", ["claude-2.1.197-session.jsonl", "codex-0.169-session.jsonl"])
def test_a_recorded_session_reads_alike_whichever_harness_kept_it(name: str) -> None:
    """The human's prompt, each command with what it printed, the edit, and the last message."""
    found = read(name)
    assert "why does the build fail? our CI uses Go 1.25.6 everywhere" == found[0].text
    assert Speaker.HUMAN is found[0].speaker
    failed = next(one for one in found if one.has_failed)
    assert "python3 -c 'import nosuch'" == failed.command
    assert "ModuleNotFoundError: No module named 'nosuch'" in failed.text
    edit = next(one for one in found if one.edits)
    assert (("/home/u/code/lantern/a.py",), "x = 1", "x = 2") == (edit.edits, edit.removed, edit.added)
    assert found[-1] == TranscriptPassage(
        speaker=Speaker.AGENT,
        text="I edited it. LEARNED: nosuch is not on PyPI and must be vendored.",
        ts=found[-1].ts,
    )
    assert 0 < found[0].ts <= found[-1].ts
    assert not any("shown before" in one.text for one in found)


@pytest.mark.parametrize(
    "line",
    [
        user("hi", isMeta=True),
        user("summary", isCompactSummary=True),
        user("<task-notification>done</task-notification>"),
        user("<command-name>/compact</command-name>\n<command-args></command-args>"),
        user("This session is being continued from a previous conversation."),
        user("done", origin={"kind": "task-notification"}),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "<environment_context>x"}},
    ],
)
def test_what_a_harness_puts_in_a_humans_place_is_nobodys(line: object) -> None:
    """Notices, summaries, slash commands and context."""
    assert [] == told(line)


def test_a_humans_words_stay_beside_a_notice() -> None:
    """Only the block goes."""
    found = told(user("Use UTC.\n<system-reminder>be nice</system-reminder>"))
    assert ["Use UTC."] == [one.text for one in found]


def test_what_roamkb_showed_and_what_a_page_says_is_told_apart() -> None:
    """A claim that only stands there is nobody's finding."""

    def call(name: str, given: object, text: str) -> list[object]:
        block = {"type": "tool_use", "id": text, "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": text, "content": text}
        return [{"type": "assistant", "message": {"content": [block]}}, user([result])]

    lines = [
        *call("Bash", {"command": "roamkb recall oauth"}, "1"),
        *call("mcp__roamkb__search", {}, "2"),
        *call("Read", {"file_path": "/x/.roamkb/knowledge.jsonl"}, "3"),
        *call("Bash", {"command": "curl -s https://example.com"}, "4"),
        *call("WebFetch", {"url": "https://example.com"}, "5"),
        *call("mcp__other__ask", {"q": "x"}, "6"),
        *call("Bash", {"command": "curl -s http://localhost:8080/health && ls"}, "7"),
        *call("Read", {"file_path": "/code/roamkb/README.md"}, "8"),
    ]
    kinds = [one.speaker.value for one in told(*lines)]
    assert ["recalled"] * 3 + ["page"] * 3 == kinds[:6]
    assert "tool" == kinds[7]


def test_a_script_of_codex_is_told_once() -> None:
    """Its newer models call their tools by a script, and Codex keeps both; a script that calls none counts."""

    def item(**told: object) -> dict[str, object]:
        return {"type": "event_msg", "payload": {"type": "item_completed", "item": told}}

    def answered(id: str) -> list[dict[str, object]]:
        call = {"type": "custom_tool_call", "call_id": id, "name": "exec", "input": "text(await tools.x({}))"}
        output = {"type": "custom_tool_call_output", "call_id": id, "output": "done"}
        return [{"type": "response_item", "payload": one} for one in (call, output)]

    ran = item(type="CommandExecution", id="e1", command=["bash", "-lc", "make"], exit_code=0)
    first, second = answered("c1"), answered("c2")
    lines = [json.dumps(one).encode() for one in (first[0], ran, first[1], *second)]
    assert ["make", "text(await tools.x({}))"] == [one.command for one in passages_of(lines)]


def test_an_interruption_is_seen_and_a_call_without_result_comes_last() -> None:
    """Both say that something was stopped."""
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "sleep 9"}}
    found = told(
        {"type": "assistant", "message": {"content": [block]}},
        user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    )
    assert [(True, ""), (False, "sleep 9")] == [(one.is_interruption, one.command) for one in found]


@given(st.lists(st.binary(max_size=80)))
def test_any_bytes_can_be_read(lines: list[bytes]) -> None:
    """What is no transcript tells nothing, and stops nobody."""
    assert all(isinstance(one, TranscriptPassage) for one in passages_of(lines))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type message content payload item id call_id name input text tool_use_id role output".split()
            ),
            inner
            | st.sampled_from(
                "user assistant text tool_use tool_result event_msg response_item item_completed UserMessage "
                "CommandExecution FileChange function_call function_call_output".split()
            ),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(_JSON, max_size=6))
def test_any_json_can_be_read(lines: list[object]) -> None:
    """No form is promised, so none is taken for granted."""
    assert all(isinstance(one, TranscriptPassage) for one in told(*lines))
