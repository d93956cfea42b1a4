"""Transcripts as harnesses write them: Claude Code's and Codex's files of JSON lines (never trusted).

Claude Code has a line a message, `{"type": "user"|"assistant", "message": {…}}`; a tool's result stands in a
later `user` line. Codex has `response_item` for what the model says and calls, and `event_msg` for what the
human typed. Neither form is a contract: a line that isn't as expected tells nothing.
"""

import json
import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.timestamps import parse_timestamp
from roamkb.core.untrusted import FRAME_PATTERN
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.cue_phrases import NOTICE_START
from roamkb.pipeline.extract.payloads import command_of
from roamkb.pipeline.extract.payloads import has_failed
from roamkb.pipeline.extract.payloads import printed_by

#: Of one passage; a quote stands in what people read.
_LONGEST_TEXT: Final = 100_000
_EDITORS: Final = frozenset("Write Edit MultiEdit NotebookEdit".split())
_FETCHERS: Final = frozenset("WebFetch WebSearch web_search web_search_call".split())
#: Which input tells what a tool that runs no command was called for.
_TELLING_INPUTS: Final = ("file_path", "notebook_path", "path", "url", "query", "pattern", "prompt", "input")
#: A command that asks another machine.
_REMOTE_COMMAND: Final = lazily(r"\b(?:https?|ftp|wss?)://(?!(?:localhost|127\.|\[::1\]))|\b(?:curl|wget|gh|glab)\s")
#: A command that asks roamkb, or reads a log's files, shows what was learned before.
_RECALLING_COMMAND: Final = lazily(r"(?:^|[\s;&|(/])roamkb\s+[a-z]|/?\.roamkb/")
#: A block that a harness or a program put beside a human's words; its name has a hyphen, as no tag of HTML.
#: To its last closing tag: one that stands within was said by what the block quotes.
_NOTICE_BLOCK: Final = lazily(r"<(?P<tag>[a-z]+(?:-[a-z]+)+)\b[^<>]*>.*(?:</(?P=tag)\s*>|\Z)", re.DOTALL)
#: How Claude Code answers a call that nobody let it make.
_NOT_RUN: Final = (
    "The user doesn't want to proceed",
    "Permission to use ",
    "PreToolUse:",
    "<tool_use_error>",
)
_INTERRUPTION_TEXT: Final = "[Request interrupted by user"
#: How Claude Code begins the summary of what it forgot, and Codex what it reads at the start.
_INJECTED_STARTS: Final = ("This session is being continued from", "# AGENTS.md instructions", "<user_instructions>",
                    "<environment_context>")  # fmt: skip


def passages_of(lines: Iterable[bytes]) -> Iterator[TranscriptPassage]:
    """Yield the passages of a transcript's lines, in order; a call without a result comes last."""
    reader = _TranscriptReader()
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield from reader.read_line(record)
    yield from reader.unanswered_calls()


class _TranscriptReader:
    """Reader that joins each call of a tool with its result."""

    def __init__(self) -> None:
        #: By the call's id: the tool's name and its input.
        self._calls: dict[str, tuple[str, object]] = {}
        #: Calls that were told whole before their results came.
        self._told: set[str] = set()

    def read_line(self, record: Mapping[str, Any]) -> Iterator[TranscriptPassage]:
        """Yield the passages of one line."""
        ts = parse_timestamp(record.get("timestamp"))
        message, payload = record.get("message"), record.get("payload")
        if isinstance(message, Mapping):
            if not (record.get("isMeta") or record.get("isCompactSummary")):
                yield from self._claude_passages(record, message, ts)
        elif isinstance(payload, Mapping):
            yield from self._codex_passages(str(record.get("type")), payload, ts)

    def unanswered_calls(self) -> Iterator[TranscriptPassage]:
        """Yield the calls whose results never came."""
        for name, tool_input in self._calls.values():
            yield passage_of_call(name, tool_input, result=None, failed=False, ts=0)

    def _claude_passages(
        self, record: Mapping[str, Any], message: Mapping[str, Any], ts: float
    ) -> Iterator[TranscriptPassage]:
        is_agent = record.get("type") == "assistant" or bool(record.get("isSidechain"))
        origin = record.get("origin")
        is_typed = not isinstance(origin, Mapping) or origin.get("kind") in ("human", None)
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match block:
                case {"type": "text", "text": str(text)}:
                    if is_agent or is_typed:
                        yield from _message_passages(Speaker.AGENT if is_agent else Speaker.HUMAN, text, ts)
                case {"type": "tool_use", "id": str(id), "name": str(name)}:
                    self._calls[id] = name, block.get("input")
                case {"type": "tool_result", "tool_use_id": str(id)}:
                    name, tool_input = self._calls.pop(id, ("", None))
                    failed = block.get("is_error") is True
                    yield passage_of_call(name, tool_input, result=block.get("content"), failed=failed, ts=ts)

    def _mark_completed(self, id: str) -> None:
        """Mark a call as reported whole, and the script that made it, as Codex's newer models do."""
        self._told.update((id, *(call_id for call_id, (name, _) in self._calls.items() if name == "exec")))

    def _codex_passages(self, type: str, payload: Mapping[str, Any], ts: float) -> Iterator[TranscriptPassage]:
        match type, payload:
            case "event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "content": content}}:
                yield from _message_passages(Speaker.HUMAN, _join_texts(content), ts)
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "CommandExecution", "id": str(id)} as item,
            }:
                self._mark_completed(id)
                printed = {"output": item.get("aggregated_output"), "exit_code": item.get("exit_code")}
                yield passage_of_call("exec_command", item, result=printed, failed=has_failed(printed), ts=ts)
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "FileChange", "id": str(id)} as item,
            }:
                self._mark_completed(id)
                yield _patch_passage(item, ts)
            case "event_msg", {"type": "user_message", "message": str(text)}:
                yield from _message_passages(Speaker.HUMAN, text, ts)
            case "response_item", {"type": "message", "role": "assistant", "content": content}:
                yield from _message_passages(Speaker.AGENT, _join_texts(content), ts)
            case "response_item", {"type": "function_call" | "custom_tool_call", "call_id": str(id)}:
                tool_input = payload.get("arguments", payload.get("input"))
                self._calls[id] = str(payload.get("name")), _decode_input(tool_input)
            case "response_item", {"type": "local_shell_call", "call_id": str(id)}:
                self._calls[id] = "shell", payload
            case (
                "response_item",
                {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(id)},
            ):
                name, tool_input = self._calls.pop(id, ("", None))
                result = payload.get("output")
                if id not in self._told:
                    yield passage_of_call(name, tool_input, result=result, failed=has_failed(result), ts=ts)


def _message_passages(speaker: Speaker, text: str, ts: float) -> Iterator[TranscriptPassage]:
    """Yield a message without the blocks of harnesses and roamkb; nothing where it is then empty."""
    if speaker is Speaker.HUMAN:
        if text.startswith(_INTERRUPTION_TEXT):
            yield TranscriptPassage(speaker=speaker, text="", ts=ts, is_interruption=True)
            return
        if text.lstrip().startswith(_INJECTED_STARTS) or NOTICE_START.match(text):
            return
        text = _NOTICE_BLOCK.sub("\n\n", text)
    # to compile an expression takes longer than to see that it has nothing to find
    text = FRAME_PATTERN.sub("\n\n", text).strip() if "<" in text else text.strip()
    if text:
        yield TranscriptPassage(speaker=speaker, text=text[:_LONGEST_TEXT], ts=ts)


def _patch_passage(item: Mapping[str, Any], ts: float) -> TranscriptPassage:
    """Return the passage of a Codex patch: each file with its difference."""
    changes = item.get("changes")
    files = changes if isinstance(changes, Mapping) else {}
    diffs = [_join_texts(change.get("unified_diff")) for change in files.values() if isinstance(change, Mapping)]
    lines = [line for diff in diffs for line in diff.split("\n")]
    return TranscriptPassage(
        speaker=Speaker.TOOL,
        text=_join_texts(item.get("stdout"))[:_LONGEST_TEXT],
        ts=ts,
        tool="apply_patch",
        edits=tuple(map(str, files)),
        removed="\n".join(line[1:] for line in lines if line.startswith("-"))[:_LONGEST_TEXT],
        added="\n".join(line[1:] for line in lines if line.startswith("+"))[:_LONGEST_TEXT],
        has_failed=item.get("status") == "failed",
    )


def passage_of_call(name: str, tool_input: object, *, result: object, failed: bool, ts: float) -> TranscriptPassage:
    """Return the passage of a tool's call, by its input and its result."""
    input_fields = tool_input if isinstance(tool_input, Mapping) else {"input": tool_input}
    shell = command_of(tool_input)
    command = shell or next((value for key in _TELLING_INPUTS if isinstance(value := input_fields.get(key), str)), "")
    text = _join_texts(result) if isinstance(result, list) else printed_by(result)
    edits, removed, added = _call_edits(name, input_fields, command)
    speaker = Speaker.TOOL
    if (
        ("<" in text and FRAME_PATTERN.search(text))
        or name.startswith("mcp__roamkb__")
        or _RECALLING_COMMAND.search(command[:_LONGEST_TEXT])
    ):
        speaker = Speaker.RECALLED
    elif name in _FETCHERS or name.startswith("mcp__") or _REMOTE_COMMAND.search(command[:_LONGEST_TEXT]):
        speaker = Speaker.PAGE
    return TranscriptPassage(
        speaker=speaker,
        text=text[:_LONGEST_TEXT],
        ts=ts,
        tool=name or "tool",
        command=command[:_LONGEST_TEXT],
        edits=edits,
        removed=removed[:_LONGEST_TEXT],
        added=added[:_LONGEST_TEXT],
        has_failed=failed,
        is_shell=bool(shell) and not edits and not text.startswith(_NOT_RUN),
    )


def _call_edits(name: str, input_fields: Mapping[str, Any], command: str) -> tuple[tuple[str, ...], str, str]:
    """Return the files that a call changes, the text it removes and the text it adds."""
    if name in _EDITORS:
        file = input_fields.get("file_path") or input_fields.get("notebook_path")
        edits = input_fields.get("edits")
        steps = [step for step in edits if isinstance(step, Mapping)] if isinstance(edits, list) else [input_fields]
        old_texts = [str(step.get("old_string") or "") for step in steps]
        new_texts = [
            str(step.get("new_string") or step.get("content") or step.get("new_source") or "") for step in steps
        ]
        return ((str(file),) if file else ()), "\n".join(old_texts), "\n".join(new_texts)
    if "*** Begin Patch" in command:
        from roamkb.guard.policy import patch_paths

        lines = command.split("\n")
        removed = "\n".join(line[1:] for line in lines if line.startswith("-"))
        added = "\n".join(line[1:] for line in lines if line.startswith("+"))
        return tuple(patch_paths(command)), removed, added
    return (), "", ""


def _join_texts(content: object) -> str:
    """Return the texts of a message's or a result's blocks, joined by blank lines."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _decode_input(tool_input: object) -> object:
    """Return a call's input, decoded where it is a JSON object as text."""
    if not isinstance(tool_input, str):
        return tool_input
    try:
        return json.loads(tool_input)
    except (ValueError, RecursionError):
        return tool_input
