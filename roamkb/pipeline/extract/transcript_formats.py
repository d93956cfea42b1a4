"""Transcripts as harnesses write them: files of JSON lines, whose forms are the adapters' (never trusted).

No form is a contract: a line that isn't as expected tells nothing.
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
from roamkb.guard import policy
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import harness_of_line
from roamkb.harnesses.transcript import CallResult
from roamkb.harnesses.transcript import FileChanges
from roamkb.harnesses.transcript import MessageText
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import ToolCall
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.harnesses.transcript import WholeCall
from roamkb.harnesses.transcript import joined_text
from roamkb.pipeline.extract import payloads
from roamkb.pipeline.extract.cue_phrases import NOTICE_START

#: Of one passage; a quote stands in what people read.
_LONGEST_TEXT: Final = 100_000
_EDITORS: Final = frozenset("Write Edit MultiEdit NotebookEdit".split())
_FETCHERS: Final = frozenset(declared("fetchers"))
#: Which input tells what a tool that runs no command was called for.
_TELLING_INPUTS: Final = ("file_path", "notebook_path", "path", "url", "query", "pattern", "prompt", "input")
#: A command that asks another machine.
_REMOTE_COMMAND: Final = lazily(r"\b(?:https?|ftp|wss?)://(?!(?:localhost|127\.|\[::1\]))|\b(?:curl|wget|gh|glab)\s")
#: A command that asks roamkb, or reads a log's files, shows what was learned before.
_RECALLING_COMMAND: Final = lazily(r"(?:^|[\s;&|(/])roamkb\s+[a-z]|/?\.roamkb/")
#: A block that a harness or a program put beside a human's words; its name has a hyphen, as no tag of HTML.
#: To its last closing tag: one that stands within was said by what the block quotes.
_NOTICE_BLOCK: Final = lazily(r"<(?P<tag>[a-z]+(?:-[a-z]+)+)\b[^<>]*>.*(?:</(?P=tag)\s*>|\Z)", re.DOTALL)
#: How a harness answers a call that nobody let it make.
_NOT_RUN: Final = declared("not_run")
_INTERRUPTION_TEXT: Final = declared("interruptions")
#: How a harness begins the summary of what it forgot, and what it reads at the start.
_INJECTED_STARTS: Final = declared("injected")


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
        #: Calls, and messages with an id, that were told whole before.
        self._told: set[str] = set()

    def read_line(self, line: Mapping[str, Any]) -> Iterator[TranscriptPassage]:
        """Yield the passages of one line."""
        harness, ts = harness_of_line(line), parse_timestamp(line.get("timestamp"))
        for entry in harness.entries_of(line) if harness else ():
            match entry:
                case MessageText(speaker=speaker, text=text, id=id):
                    if not id or id not in self._told:
                        yield from _message_passages(speaker, text, ts)
                    self._told.update(filter(None, (id,)))
                case ToolCall(id=id, name=name, tool_input=given):
                    self._calls[id] = name, given
                case CallResult(id=id, content=content, has_failed=failed):
                    name, given = self._calls.pop(id, ("", None))
                    if id not in self._told:
                        failed = payloads.has_failed(content) if failed is None else failed
                        yield passage_of_call(name, given, result=content, failed=failed, ts=ts)
                case WholeCall(id=id, name=name, tool_input=given, result=result):
                    # what is written again as it grows was told
                    if not (harness and harness.rewrites_lines and id in self._told):
                        yield passage_of_call(name, given, result=result, failed=payloads.has_failed(result), ts=ts)
                    self._mark_completed(id)
                case FileChanges(id=id):
                    self._mark_completed(id)
                    yield _patch_passage(entry, ts)

    def unanswered_calls(self) -> Iterator[TranscriptPassage]:
        """Yield the calls whose results never came."""
        for name, tool_input in self._calls.values():
            yield passage_of_call(name, tool_input, result=None, failed=False, ts=0)

    def _mark_completed(self, id: str) -> None:
        """Mark a call as reported whole, and the script that made it."""
        self._told.update((id, *(call_id for call_id, (name, _) in self._calls.items() if name == "exec")))


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


def _patch_passage(changes: FileChanges, ts: float) -> TranscriptPassage:
    """Return the passage of a patch: each file with its difference."""
    lines = [line for diff in changes.diffs for line in diff.split("\n")]
    return TranscriptPassage(
        speaker=Speaker.TOOL,
        text=changes.printed[:_LONGEST_TEXT],
        ts=ts,
        tool="apply_patch",
        edits=changes.files,
        removed="\n".join(line[1:] for line in lines if line.startswith("-"))[:_LONGEST_TEXT],
        added="\n".join(line[1:] for line in lines if line.startswith("+"))[:_LONGEST_TEXT],
        has_failed=changes.has_failed,
    )


def passage_of_call(name: str, tool_input: object, *, result: object, failed: bool, ts: float) -> TranscriptPassage:
    """Return the passage of a tool's call, by its input and its result."""
    input_fields = tool_input if isinstance(tool_input, Mapping) else {"input": tool_input}
    shell = payloads.command_of(tool_input)
    command = shell or next((value for key in _TELLING_INPUTS if isinstance(value := input_fields.get(key), str)), "")
    text = joined_text(result) if isinstance(result, list) else payloads.printed_by(result)
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
        lines = command.split("\n")
        removed = "\n".join(line[1:] for line in lines if line.startswith("-"))
        added = "\n".join(line[1:] for line in lines if line.startswith("+"))
        return tuple(policy.patch_paths(command)), removed, added
    return (), "", ""
