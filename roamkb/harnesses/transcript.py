"""Transcripts of sessions: messages, calls and output in order, whichever harness wrote them."""

import json
from collections.abc import Mapping
from enum import StrEnum

from roamkb.core.startup.dataclasses import dataclass


class Speaker(StrEnum):
    """Sources of a transcript's passages."""

    HUMAN = "human"
    AGENT = "agent"
    #: A tool on this machine: what it was called with and what it printed.
    TOOL = "tool"
    #: A page, another server's tool: text that nobody here wrote.
    PAGE = "page"
    #: What roamkb itself put in front of the agent.
    RECALLED = "recalled"


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message, as a line of a transcript has it."""

    speaker: Speaker
    text: str
    #: Of a message that is written again as it grows; empty where none is.
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool's call, whose result stands in a later line."""

    id: str
    name: str
    tool_input: object


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call that stands in an earlier line."""

    id: str
    content: object
    #: None where the content says it.
    has_failed: bool | None = None


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A call together with its result."""

    id: str
    name: str
    tool_input: object
    result: object


@dataclass(frozen=True, slots=True)
class FileChanges:
    """A patch that was applied: the files and their differences."""

    id: str
    files: tuple[str, ...]
    diffs: tuple[str, ...]
    printed: str
    has_failed: bool


TranscriptEntry = MessageText | ToolCall | CallResult | WholeCall | FileChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPassage:
    """One message, or one call of a tool with its result."""

    speaker: Speaker
    #: A message's words; what a tool printed.
    text: str
    #: Seconds since 1970, UTC; 0 where the transcript doesn't say.
    ts: float = 0
    #: The tool's name, empty for a message.
    tool: str = ""
    #: What the tool was called for: a shell command, a file, an address.
    command: str = ""
    #: Files that the call changed.
    edits: tuple[str, ...] = ()
    #: What an edit took out and what it put in; empty where the call was none.
    removed: str = ""
    added: str = ""
    has_failed: bool = False
    #: Whether the command was one of a shell, and was run.
    is_shell: bool = False
    #: A human stopped the agent here.
    is_interruption: bool = False

    @property
    def is_message(self) -> bool:
        """Whether the passage is a message instead of a tool's call."""
        return not self.tool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFailure:
    """A command that failed and hasn't worked since; no credential in any of it."""

    command: str
    #: What it printed, its beginning and its end.
    error: str
    #: What was done since, the latest last.
    deeds: tuple[str, ...] = ()
    #: Whether the command fails in another way by now: what was done until then fixed this error.
    is_past: bool = False


def joined_text(content: object) -> str:
    """Return the texts of the blocks of a message or a result, joined by blank lines."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def decode_input(tool_input: object) -> object:
    """Return a call's input, parsed where it is JSON text."""
    if not isinstance(tool_input, str):
        return tool_input
    try:
        return json.loads(tool_input)
    except (ValueError, RecursionError):
        return tool_input
