"""What harnesses tell about a session, as observations: hook payloads and transcripts (never trusted).

A hook reads a payload after every tool: what most of them need nothing of is imported where it's needed.
"""

import json
from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.core.text import clipped
from roamkb.secrets.detector import withheld

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Iterable
    from collections.abc import Sequence
    from typing import Any

    from roamkb.pipeline.extract.cue_phrases import AnnouncedStatement

#: What harnesses call the tools that run commands; in lower case.
_SHELL_TOOLS = frozenset(
    "bash shell exec_command local_shell local_shell_call shell_command unified_exec container.exec".split()
)
#: Which of a tool's inputs tells what it was called for, the first that is there.
_TELLING = ("file_path", "notebook_path", "pattern", "url", "query", "skill", "description")
_SHELLS = frozenset("bash dash sh zsh".split())
#: How the output of a command begins that is told as text.
_TOLD_CODE = r"(?:Chunk ID: \S+\n|Wall time: [^\n]*\n)*(?:Exit code:|Process exited with code)[ \t]+(-?\d+)"
#: Of a tool's output; what matters of it the agent says.
_LONGEST = 400
#: Of a command or an output, before it is cut.
_READ = 20_000


class PayloadEvent:
    """One thing that a payload tells of: an observation before it has an id."""

    # no dataclass, since hooks import this: their module takes as long as Python to start
    __slots__ = ("announced", "outcome", "provenance", "tags", "task", "text", "tool", "ts", "type")

    def __init__(  # noqa: PLR0913 - a value, without what dataclasses cost
        self,
        *,
        type: str,
        text: str,
        tool: str = "",
        outcome: str = "",
        provenance: str = "observed",
        task: str = "",
        tags: tuple[str, ...] = (),
        ts: float = 0,
        announced: bool = False,
    ) -> None:
        """Take what is told; `ts` is in seconds since 1970, 0 where the payload doesn't say.

        It is `announced` where a type word stood before it.
        """
        self.announced = announced
        self.type = type
        self.text = text
        self.tool = tool
        self.outcome = outcome
        self.provenance = provenance
        self.task = task
        self.tags = tags
        self.ts = ts


def happenings_of_payload(
    payload: "Mapping[str, Any]", remember: "Callable[[], Sequence[str]]" = tuple
) -> Iterator[PayloadEvent]:
    """Yield what a hook's payload tells (Claude Code's and Codex's common fields).

    `remember` gives the phrases by which a human asks to remember something.
    """
    event = _text(payload.get("hook_event_name"))
    if event in ("PostToolUse", "PostToolUseFailure"):
        yield from _tool_use(payload, failed=event == "PostToolUseFailure")
        return
    from roamkb.pipeline.extract.cue_phrases import statements_of_agent
    from roamkb.pipeline.extract.cue_phrases import statements_of_human

    if event == "UserPromptSubmit":
        yield from _stated(statements_of_human(_text(payload.get("prompt")), remember()))
    elif event in ("Stop", "SubagentStop"):
        yield from _stated(statements_of_agent(_text(payload.get("last_assistant_message"))))


def command_of(given: object) -> str:
    """Return the shell text that a tool is given, as a shell would be told it; empty where there is none.

    `{"command": TEXT}`, `{"cmd": TEXT}`, `{"command": ["bash", "-lc", TEXT]}`, `{"command": [WORD, …]}`, and
    any of them in an `action`.
    """
    action = given.get("action") if isinstance(given, Mapping) else None
    asked = action if isinstance(action, Mapping) else given if isinstance(given, Mapping) else {}
    command = next((asked[key] for key in ("command", "cmd", "script") if asked.get(key)), "")
    if not isinstance(command, list):
        return _text(command)
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc", "-ic"):
        return words[2]
    import shlex

    return shlex.join(words)


def _stated(statements: "Iterable[AnnouncedStatement]") -> Iterator[PayloadEvent]:
    for one in statements:
        yield PayloadEvent(
            type=one.type,
            text=one.text,
            provenance=one.provenance,
            tags=one.tags,
            announced=one.announced,
        )


def _tool_use(payload: "Mapping[str, Any]", *, failed: bool) -> Iterator[PayloadEvent]:
    tool = _text(payload.get("tool_name"))
    given = payload.get("tool_input")
    asked = given if isinstance(given, Mapping) else {}
    command = command_of(given)
    if "bd" in command and is_shell_tool(tool):
        from roamkb.pipeline.extract.markers import captured_from_command

        for one in captured_from_command(command):
            yield PayloadEvent(
                type=one.said or one.type,
                text=one.text,
                tool=tool,
                task=one.bead,
                tags=one.tags,
                announced=True,
            )
    said = command or next(filter(None, (_text(asked.get(name)) for name in _TELLING)), "")
    outcome = "failure" if failed or has_failed(payload.get("tool_response")) else "success"
    text = f"{tool} {said}".strip()[:_READ]
    error = ""
    if outcome == "failure":
        error = (_text(payload.get("error")) or printed_by(payload.get("tool_response")))[:_READ]
    # before they are cut: of half a credential nobody sees what it is, and what names one stands beside it
    text, _, error = withheld(f"{text}\0{error}").partition("\0")
    text = f"{clipped(text, _LONGEST)}\n{clipped(error, _LONGEST)}".strip()
    yield PayloadEvent(
        type="error" if outcome == "failure" else "tool_use", text=text, tool=tool, outcome=outcome
    )


def has_failed(response: object) -> bool:
    """Say whether what a tool answered is a failure: by its fields, or as its text begins."""
    response = _answered(response)
    if isinstance(response, str):
        import re

        found = re.match(_TOLD_CODE, response)
        return found is not None and found[1] != "0"
    if not isinstance(response, Mapping):
        return False
    metadata = response.get("metadata")
    told = {**metadata, **response} if isinstance(metadata, Mapping) else response
    code = next((told[key] for key in ("exit_code", "exitCode", "returncode") if key in told), 0)
    return bool(response.get("is_error")) or (isinstance(code, int) and code != 0)


def is_shell_tool(name: str) -> bool:
    """Say whether a tool runs commands."""
    return name.lower() in _SHELL_TOOLS


def printed_by(response: object) -> str:
    """Return what a tool printed, the errors first."""
    response = _answered(response)
    if isinstance(response, Mapping):
        return _text(response.get("stderr")) or _text(response.get("stdout")) or _text(response.get("output"))
    return _text(response)


def _answered(response: object) -> object:
    """Return an answer, read where it is a JSON object as text."""
    if not isinstance(response, str) or not response.startswith("{"):
        return response
    try:
        found = json.loads(response)
    except (ValueError, RecursionError):
        return response
    return found if isinstance(found, dict) else response


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
