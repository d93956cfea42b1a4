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
from roamkb.core.timestamps import seconds
from roamkb.core.untrusted import FRAMED
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.cue_phrases import NOTICED
from roamkb.pipeline.extract.payloads import command_of
from roamkb.pipeline.extract.payloads import has_failed
from roamkb.pipeline.extract.payloads import printed_by

#: Of one passage; a quote stands in what people read.
_LONGEST: Final = 100_000
_EDITORS: Final = frozenset("Write Edit MultiEdit NotebookEdit".split())
_FETCHERS: Final = frozenset("WebFetch WebSearch web_search web_search_call".split())
#: Which input tells what a tool that runs no command was called for.
_TELLING: Final = ("file_path", "notebook_path", "path", "url", "query", "pattern", "prompt", "input")
#: A command that asks another machine.
_ADDRESS: Final = lazily(r"\b(?:https?|ftp|wss?)://(?!(?:localhost|127\.|\[::1\]))|\b(?:curl|wget|gh|glab)\s")
#: A command that asks roamkb, or reads a log's files, shows what was learned before.
_RECALLS: Final = lazily(r"(?:^|[\s;&|(/])roamkb\s+[a-z]|/?\.roamkb/")
#: A block that a harness or a program put beside a human's words; its name has a hyphen, as no tag of HTML.
#: To its last closing tag: one that stands within was said by what the block quotes.
_NOTICE: Final = lazily(r"<(?P<tag>[a-z]+(?:-[a-z]+)+)\b[^<>]*>.*(?:</(?P=tag)\s*>|\Z)", re.DOTALL)
#: How Claude Code answers a call that nobody let it make.
_NOT_RUN: Final = (
    "The user doesn't want to proceed",
    "Permission to use ",
    "PreToolUse:",
    "<tool_use_error>",
)
_INTERRUPTED: Final = "[Request interrupted by user"
#: How Claude Code begins the summary of what it forgot, and Codex what it reads at the start.
_INJECTED: Final = ("This session is being continued from", "# AGENTS.md instructions", "<user_instructions>",
                    "<environment_context>")  # fmt: skip


def passages_of(lines: Iterable[bytes]) -> Iterator[TranscriptPassage]:
    """Yield what the lines of a transcript tell, in order; a call without a result comes last."""
    reader = _TranscriptReader()
    for line in lines:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            yield from reader.read(told)
    yield from reader.unanswered()


class _TranscriptReader:
    """Joins each call of a tool with its result."""

    def __init__(self) -> None:
        #: By the call's id: the tool's name and its input.
        self._calls: dict[str, tuple[str, object]] = {}
        #: Calls that were told whole before their results came.
        self._told: set[str] = set()

    def read(self, told: Mapping[str, Any]) -> Iterator[TranscriptPassage]:
        """Yield what one line tells."""
        ts = seconds(told.get("timestamp"))
        message, payload = told.get("message"), told.get("payload")
        if isinstance(message, Mapping):
            if not (told.get("isMeta") or told.get("isCompactSummary")):
                yield from self._claude(told, message, ts)
        elif isinstance(payload, Mapping):
            yield from self._codex(str(told.get("type")), payload, ts)

    def unanswered(self) -> Iterator[TranscriptPassage]:
        """Yield the calls whose results never came."""
        for name, given in self._calls.values():
            yield passage_of_call(name, given, result=None, failed=False, ts=0)

    def _claude(
        self, told: Mapping[str, Any], message: Mapping[str, Any], ts: float
    ) -> Iterator[TranscriptPassage]:
        is_agent = told.get("type") == "assistant" or bool(told.get("isSidechain"))
        origin = told.get("origin")
        is_typed = not isinstance(origin, Mapping) or origin.get("kind") in ("human", None)
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match block:
                case {"type": "text", "text": str(text)}:
                    if is_agent or is_typed:
                        yield from _said(Speaker.AGENT if is_agent else Speaker.HUMAN, text, ts)
                case {"type": "tool_use", "id": str(id), "name": str(name)}:
                    self._calls[id] = name, block.get("input")
                case {"type": "tool_result", "tool_use_id": str(id)}:
                    name, given = self._calls.pop(id, ("", None))
                    failed = block.get("is_error") is True
                    yield passage_of_call(name, given, result=block.get("content"), failed=failed, ts=ts)

    def _tell(self, id: str) -> None:
        """Remember that a call was told whole; so was the script that made it, as Codex's newer models do."""
        self._told.update((id, *(one for one, (name, _) in self._calls.items() if name == "exec")))

    def _codex(self, type: str, payload: Mapping[str, Any], ts: float) -> Iterator[TranscriptPassage]:
        match type, payload:
            case "event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "content": content}}:
                yield from _said(Speaker.HUMAN, _joined(content), ts)
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "CommandExecution", "id": str(id)} as item,
            }:
                self._tell(id)
                printed = {"output": item.get("aggregated_output"), "exit_code": item.get("exit_code")}
                yield passage_of_call("exec_command", item, result=printed, failed=has_failed(printed), ts=ts)
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "FileChange", "id": str(id)} as item,
            }:
                self._tell(id)
                yield _changed(item, ts)
            case "event_msg", {"type": "user_message", "message": str(text)}:
                yield from _said(Speaker.HUMAN, text, ts)
            case "response_item", {"type": "message", "role": "assistant", "content": content}:
                yield from _said(Speaker.AGENT, _joined(content), ts)
            case "response_item", {"type": "function_call" | "custom_tool_call", "call_id": str(id)}:
                given = payload.get("arguments", payload.get("input"))
                self._calls[id] = str(payload.get("name")), _decoded(given)
            case "response_item", {"type": "local_shell_call", "call_id": str(id)}:
                self._calls[id] = "shell", payload
            case (
                "response_item",
                {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(id)},
            ):
                name, given = self._calls.pop(id, ("", None))
                result = payload.get("output")
                if id not in self._told:
                    yield passage_of_call(name, given, result=result, failed=has_failed(result), ts=ts)


def _said(speaker: Speaker, text: str, ts: float) -> Iterator[TranscriptPassage]:
    """Yield a message without what harnesses and roamkb put into it; nothing where nothing is left."""
    if speaker is Speaker.HUMAN:
        if text.startswith(_INTERRUPTED):
            yield TranscriptPassage(speaker=speaker, text="", ts=ts, is_interruption=True)
            return
        if text.lstrip().startswith(_INJECTED) or NOTICED.match(text):
            return
        text = _NOTICE.sub("\n\n", text)
    # to compile an expression takes longer than to see that it has nothing to find
    text = FRAMED.sub("\n\n", text).strip() if "<" in text else text.strip()
    if text:
        yield TranscriptPassage(speaker=speaker, text=text[:_LONGEST], ts=ts)


def _changed(item: Mapping[str, Any], ts: float) -> TranscriptPassage:
    """Return what Codex tells of a patch: each file with its difference."""
    changes = item.get("changes")
    files = changes if isinstance(changes, Mapping) else {}
    diffs = [_joined(one.get("unified_diff")) for one in files.values() if isinstance(one, Mapping)]
    lines = [line for diff in diffs for line in diff.split("\n")]
    return TranscriptPassage(
        speaker=Speaker.TOOL,
        text=_joined(item.get("stdout"))[:_LONGEST],
        ts=ts,
        tool="apply_patch",
        edits=tuple(map(str, files)),
        removed="\n".join(line[1:] for line in lines if line.startswith("-"))[:_LONGEST],
        added="\n".join(line[1:] for line in lines if line.startswith("+"))[:_LONGEST],
        has_failed=item.get("status") == "failed",
    )


def passage_of_call(
    name: str, given: object, *, result: object, failed: bool, ts: float
) -> TranscriptPassage:
    """Return what a call of a tool, its input and its result tell."""
    asked = given if isinstance(given, Mapping) else {"input": given}
    shell = command_of(given)
    command = shell or next((v for key in _TELLING if isinstance(v := asked.get(key), str)), "")
    text = _joined(result) if isinstance(result, list) else printed_by(result)
    edits, removed, added = _edited(name, asked, command)
    speaker = Speaker.TOOL
    if (
        ("<" in text and FRAMED.search(text))
        or name.startswith("mcp__roamkb__")
        or _RECALLS.search(command[:_LONGEST])
    ):
        speaker = Speaker.RECALLED
    elif name in _FETCHERS or name.startswith("mcp__") or _ADDRESS.search(command[:_LONGEST]):
        speaker = Speaker.PAGE
    return TranscriptPassage(
        speaker=speaker,
        text=text[:_LONGEST],
        ts=ts,
        tool=name or "tool",
        command=command[:_LONGEST],
        edits=edits,
        removed=removed[:_LONGEST],
        added=added[:_LONGEST],
        has_failed=failed,
        is_shell=bool(shell) and not edits and not text.startswith(_NOT_RUN),
    )


def _edited(name: str, asked: Mapping[str, Any], command: str) -> tuple[tuple[str, ...], str, str]:
    """Return the files that a call changes, what it takes out of them and what it puts in."""
    if name in _EDITORS:
        file = asked.get("file_path") or asked.get("notebook_path")
        several = asked.get("edits")
        steps = [one for one in several if isinstance(one, Mapping)] if isinstance(several, list) else [asked]
        olds = [str(one.get("old_string") or "") for one in steps]
        news = [
            str(one.get("new_string") or one.get("content") or one.get("new_source") or "") for one in steps
        ]
        return ((str(file),) if file else ()), "\n".join(olds), "\n".join(news)
    if "*** Begin Patch" in command:
        from roamkb.guard.policy import paths_of_patch

        lines = command.split("\n")
        removed = "\n".join(line[1:] for line in lines if line.startswith("-"))
        added = "\n".join(line[1:] for line in lines if line.startswith("+"))
        return tuple(paths_of_patch(command)), removed, added
    return (), "", ""


def _joined(content: object) -> str:
    """Return the texts of a message's or a result's blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (one.get("text") for one in blocks if isinstance(one, Mapping))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _decoded(given: object) -> object:
    """Return a call's input, read where it is a JSON object as text."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
