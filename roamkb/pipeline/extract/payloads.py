"""Events of a session as harnesses report them: hook payloads (never trusted).

A hook reads a payload after every tool: what most of them need nothing of is imported where it's needed.
"""

import json
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.startup.typing import Any
from roamkb.core.text import clip_text
from roamkb.guard import policy
from roamkb.pipeline.extract import cue_phrases
from roamkb.pipeline.extract import markers
from roamkb.secrets import detector

#: What harnesses call the tools that run commands; in lower case.
_SHELL_TOOLS = frozenset(
    "bash shell exec_command local_shell local_shell_call shell_command unified_exec container.exec".split()
)
#: Which of a tool's inputs tells what it was called for, the first that is there.
_TELLING_INPUTS = ("file_path", "notebook_path", "pattern", "url", "query", "skill", "description")
_EDITORS = frozenset("Write Edit MultiEdit NotebookEdit".split())
#: Files of one patch that are kept.
_MOST_FILES = 20
_SHELLS = frozenset("bash dash sh zsh".split())
#: How the output of a command begins that is told as text.
_EXIT_CODE_LINE = r"(?:Chunk ID: \S+\n|Wall time: [^\n]*\n)*(?:Exit code:|Process exited with code)[ \t]+(-?\d+)"
#: Of a tool's output; what matters of it the agent says.
_LONGEST_EXCERPT = 400
#: Of a command or an output, before it is cut.
_READ_LENGTH = 20_000


class PayloadEvent:
    """One event of a payload: an observation before it has an id."""

    # no dataclass, since hooks import this: their module takes as long as Python to start
    __slots__ = ("announced", "files", "outcome", "provenance", "task", "text", "tool", "ts", "type")

    def __init__(  # noqa: PLR0913 - a value, without what dataclasses cost
        self,
        *,
        type: str,
        text: str,
        tool: str = "",
        outcome: str = "",
        provenance: str = "observed",
        task: str = "",
        ts: float = 0,
        announced: bool = False,
        files: tuple[str, ...] = (),
    ) -> None:
        """Take an event's fields; `ts` is in seconds since 1970, 0 where the payload doesn't say.

        It is `announced` where a type word stood before it. `files` are those that a tool changed.
        """
        self.announced = announced
        self.files = files
        self.type = type
        self.text = text
        self.tool = tool
        self.outcome = outcome
        self.provenance = provenance
        self.task = task
        self.ts = ts


def events_of_payload(
    payload: "Mapping[str, Any]", remember: "Callable[[], Sequence[str]]" = tuple
) -> Iterator[PayloadEvent]:
    """Yield the events of a hook's payload (the fields that harnesses have in common).

    `remember` gives the phrases by which a human asks to remember something.
    """
    event = _text_or_empty(payload.get("hook_event_name"))
    if event in ("PostToolUse", "PostToolUseFailure"):
        yield from _tool_events(payload, failed=event == "PostToolUseFailure")
        return

    if event == "UserPromptSubmit":
        yield from _events_of_statements(
            cue_phrases.statements_of_human(_text_or_empty(payload.get("prompt")), remember())
        )
    elif event in ("Stop", "SubagentStop"):
        yield from _events_of_statements(
            cue_phrases.statements_of_agent(_text_or_empty(payload.get("last_assistant_message")))
        )


def command_of(tool_input: object) -> str:
    """Return the shell text in a tool's input; empty where there is none.

    `{"command": TEXT}`, `{"cmd": TEXT}`, `{"command": ["bash", "-lc", TEXT]}`, `{"command": [WORD, …]}`, and
    any of them in an `action`.
    """
    action = tool_input.get("action") if isinstance(tool_input, Mapping) else None
    input_fields = action if isinstance(action, Mapping) else tool_input if isinstance(tool_input, Mapping) else {}
    command = next((input_fields[key] for key in ("command", "cmd", "script") if input_fields.get(key)), "")
    if not isinstance(command, list):
        return _text_or_empty(command)
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc", "-ic"):
        return words[2]
    import shlex

    return shlex.join(words)


def _events_of_statements(statements: "Iterable[cue_phrases.AnnouncedStatement]") -> Iterator[PayloadEvent]:
    for statement in statements:
        yield PayloadEvent(
            type=statement.type,
            text=statement.text,
            provenance=statement.provenance,
            announced=True,
        )


def _tool_events(payload: "Mapping[str, Any]", *, failed: bool) -> Iterator[PayloadEvent]:
    tool = _text_or_empty(payload.get("tool_name"))
    tool_input = payload.get("tool_input")
    input_fields = tool_input if isinstance(tool_input, Mapping) else {}
    command = command_of(tool_input)
    if "bd" in command and is_shell_tool(tool):
        for captured in markers.captured_from_command(command):
            yield PayloadEvent(
                type=captured.alias or captured.type,
                text=captured.text,
                tool=tool,
                task=captured.bead,
                announced=True,
            )
    call_text = command or next(filter(None, (_text_or_empty(input_fields.get(name)) for name in _TELLING_INPUTS)), "")
    outcome = "failure" if failed or has_failed(payload.get("tool_response")) else "success"
    text = f"{tool} {call_text}".strip()[:_READ_LENGTH]
    error = ""
    if outcome == "failure":
        error = (_text_or_empty(payload.get("error")) or printed_by(payload.get("tool_response")))[:_READ_LENGTH]
    files = _edited_files(tool, input_fields, command) if outcome == "success" else ()
    # before they are cut: of half a credential nobody sees what it is, and what names one stands beside it
    text, _, error = detector.withhold_secrets(f"{text}\0{error}").partition("\0")
    text = f"{clip_text(text, _LONGEST_EXCERPT)}\n{clip_text(error, _LONGEST_EXCERPT)}".strip()
    yield PayloadEvent(
        type="error" if outcome == "failure" else "tool_use",
        text=text,
        tool=tool,
        outcome=outcome,
        files=tuple(map(detector.withhold_secrets, files)),
    )


def _edited_files(tool: str, input_fields: "Mapping[str, Any]", command: str) -> tuple[str, ...]:
    """Return the files that an editor's call, or a patch, changes."""
    if tool in _EDITORS:
        file = _text_or_empty(input_fields.get("file_path") or input_fields.get("notebook_path"))
        return (file,) if file and "\0" not in file else ()
    if "*** Begin Patch" not in command:
        return ()
    return tuple(file for file in policy.patch_paths(command)[:_MOST_FILES] if "\0" not in file)


def has_failed(response: object) -> bool:
    """Say whether a tool's response is a failure: by its fields, or by how its text begins."""
    response = _decode_response(response)
    if isinstance(response, str):
        exit_code = re.match(_EXIT_CODE_LINE, response)
        return exit_code is not None and exit_code[1] != "0"
    if not isinstance(response, Mapping):
        return False
    metadata = response.get("metadata")
    response_fields = {**metadata, **response} if isinstance(metadata, Mapping) else response
    code = next((response_fields[key] for key in ("exit_code", "exitCode", "returncode") if key in response_fields), 0)
    return bool(response.get("is_error")) or (isinstance(code, int) and code != 0)


def is_shell_tool(name: str) -> bool:
    """Say whether a tool runs commands."""
    return name.lower() in _SHELL_TOOLS


def printed_by(response: object) -> str:
    """Return the printed output of a tool's response, the errors first."""
    response = _decode_response(response)
    if isinstance(response, Mapping):
        return (
            _text_or_empty(response.get("stderr"))
            or _text_or_empty(response.get("stdout"))
            or _text_or_empty(response.get("output"))
        )
    return _text_or_empty(response)


def _decode_response(response: object) -> object:
    """Return a response, decoded where it is a JSON object as text."""
    if not isinstance(response, str) or not response.startswith("{"):
        return response
    try:
        decoded = json.loads(response)
    except (ValueError, RecursionError):
        return response
    return decoded if isinstance(decoded, dict) else response


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""
