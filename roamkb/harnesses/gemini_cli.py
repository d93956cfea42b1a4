"""Gemini CLI: its variables, settings, hooks, tools, session files and model, as of 0.61.

Its hooks have events, tools and answers of their own names, which are translated here. Its session files,
`~/.gemini/tmp/PROJECT/chats/session-…-ID.jsonl`, are no contract: what isn't as expected tells nothing.
"""

import json
import re

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import settings_json
from roamkb.harnesses import transcript
from roamkb.harnesses.adapter import Harness
from roamkb.harnesses.registry import declared_of

if TYPE_CHECKING:
    import hashlib
    import pathlib
    from collections.abc import Iterator
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any
else:
    hashlib = lazy_module("hashlib")
    pathlib = lazy_module("pathlib")

_SETTINGS_PATH = ".gemini/settings.json"
#: How a settings file begins that was made for our hooks alone, so that it can be known again.
NEW_FILE_TEXT = (
    '{\n  "$schema": "https://raw.githubusercontent.com/google-gemini/gemini-cli/main/schemas/'
    'settings.schema.json"\n}\n'
)
_SERVER_PATH = ("mcpServers", "roamkb")
#: Its events in roamkb's words.
_EVENT_NAMES = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
}
#: The events whose answers may put text beside what the agent reads.
_CONTEXT_EVENTS = ("SessionStart", "BeforeAgent", "AfterTool")
#: Its tools whose input has the fields of roamkb's.
_TOOL_NAMES = {"run_shell_command": "Bash", "write_file": "Write", "replace": "Edit"}
#: Bytes of a first line that are read.
_MAX_FIRST_LINE = 64 * 1024
#: How a shell command's result says that it failed.
_FAILED_EXIT_CODE = r"(?m)^Exit Code: [1-9]\d*\s*$"
#: What it puts around a command's output, which is no part of an error.
_OUTPUT_LABELS = r"\AOutput: |\n(?:Exit Code|Process Group PGID): \d+(?=\s*(?:\n|\Z))"
#: What it puts around the text of a hook, in which it escapes angle brackets; and around what a tool printed.
_HOOK_CONTEXT = r"(?s)<hook_context>.*?</hook_context>"
_UNTRUSTED_FRAME = r"\A<untrusted_context>\n|\n</untrusted_context>\Z"


class GeminiCli(Harness):
    """Gemini CLI."""

    name = "gemini-cli"
    title = "Gemini CLI"
    # beside a denial only its human is shown something there
    reads_before_tool = False
    writers = ("run_shell_command", "write_file", "replace", "mcp_files_write_file")
    rewrites_lines = True

    # The session

    def session_environment(self, environment: "Mapping[str, str]", payload: "harness.Payload") -> "Mapping[str, str]":
        """Return the environment of a hook as it would be for the session's commands."""
        return {**environment, "GEMINI_CLI": "1"}

    def translate_payload(self, payload: "dict[str, Any]") -> "dict[str, Any]":
        """Return a payload in roamkb's terms."""
        event = str(payload.get("hook_event_name", ""))
        if event not in _EVENT_NAMES:
            return payload
        translated = {**payload, "harness": self.name, "hook_event_name": _EVENT_NAMES[event]}
        if event == "AfterAgent":
            translated["last_assistant_message"] = payload.get("prompt_response")
        if isinstance(payload.get("prompt"), str):
            translated["prompt"] = _typed_text(payload["prompt"])
        name, tool_input = str(payload.get("tool_name", "")), payload.get("tool_input")
        if name:
            translated["tool_name"] = _tool_name(name, payload.get("mcp_context"))
        if isinstance(tool_input, dict) and isinstance(tool_input.get("dir_path"), str) and name == "run_shell_command":
            translated["tool_input"] = {**tool_input, "workdir": tool_input["dir_path"]}
        if event == "AfterTool":
            translated["tool_response"] = _tool_response(payload.get("tool_response"))
        return translated

    def translate_answer(self, answer: "dict[str, object]") -> "dict[str, object]":
        """Return an answer in its terms: a denial is a decision, and few events take context."""
        hook_output = answer.get("hookSpecificOutput")
        if not isinstance(hook_output, dict):
            return answer
        other_fields = {name: value for name, value in answer.items() if name != "hookSpecificOutput"}
        if hook_output.get("permissionDecision") == "deny":
            return {**other_fields, "decision": "deny", "reason": hook_output.get("permissionDecisionReason")}
        event = next(
            (
                name
                for name, translated_name in _EVENT_NAMES.items()
                if translated_name == hook_output.get("hookEventName")
            ),
            "",
        )
        context = hook_output.get("additionalContext")
        if event == "AfterAgent" and context:
            return {**other_fields, "decision": "deny", "reason": context}
        if event not in _CONTEXT_EVENTS:
            return other_fields
        return {**other_fields, "hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}

    # Transcripts

    def entries_of(self, line: "Mapping[str, Any]") -> "Iterator[transcript.TranscriptEntry]":
        """Yield the message of a line, and the model's calls with their results.

        A message is written anew with each result that comes; whoever reads it takes the last.
        """
        is_human, id = line.get("type") == "user", str(line.get("id", ""))
        content = line.get("content")
        parts = content if isinstance(content, list) else [content]
        text = transcript.joined_text([{"text": part} if isinstance(part, str) else part for part in parts])
        text = _typed_text(text) if is_human else re.sub(_HOOK_CONTEXT, "", text)
        if text.strip():
            yield transcript.MessageText(transcript.Speaker.HUMAN if is_human else transcript.Speaker.AGENT, text, id)
        calls = line.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("status") in ("success", "error"):
                name, arguments = _tool_name(str(call.get("name", "")), None), call.get("args")
                printed = re.sub(_HOOK_CONTEXT, "", _result_text(call.get("result")))
                has_failed = re.search(_FAILED_EXIT_CODE, printed) is not None or call["status"] == "error"
                result = {"output": re.sub(_OUTPUT_LABELS, "", printed), "is_error": has_failed}
                yield transcript.WholeCall(str(call.get("id", "")), name, arguments, result)

    def find_transcript(self, session: str, *, home: "Path", environment: "Mapping[str, str]") -> "Path | None":
        """Return the file of a session; None where it has none."""
        session_files = _sessions_folder(home, environment).glob(f"*/chats/session-*-{session[:8]}.jsonl")
        return next((path for path in session_files if _read_header(path).get("sessionId") == session), None)

    def transcripts_in(self, folder: "Path", *, home: "Path", environment: "Mapping[str, str]") -> "Iterator[Path]":
        """Yield the transcripts of the sessions in a project's folder, the oldest first.

        Its folder for them has a short name that may be another project's; each file says whose it is.
        """
        project = hashlib.sha256(str(folder).encode()).hexdigest()
        session_files = sorted(
            _sessions_folder(home, environment).glob("*/chats/session-*.jsonl"), key=lambda path: path.name
        )
        yield from (path for path in session_files if _read_header(path).get("projectHash") == project)

    # Settings

    @property
    def wanted_hooks(self) -> "tuple[hook_list.Hook, ...]":
        """The hooks that roamkb wants; their times are in milliseconds.

        Not `PreCompress`: it is fired before each request, and seldom is anything compressed.
        """
        return (
            hook_list.Hook(event="SessionStart", timeout=30_000, unit="ms"),
            hook_list.Hook(event="BeforeAgent", timeout=10_000, unit="ms", command="user-prompt-submit"),
            hook_list.Hook(
                event="BeforeTool",
                timeout=10_000,
                unit="ms",
                command="pre-tool-use",
                matcher=f"^(?!(?:{'|'.join(declared_of(self.name, 'readers'))})$)",
            ),
            hook_list.Hook(event="AfterTool", timeout=10_000, unit="ms", command="post-tool-use"),
            hook_list.Hook(event="AfterAgent", timeout=30_000, unit="ms", command="stop"),
            hook_list.Hook(event="SessionEnd", timeout=10_000, unit="ms"),
        )

    @property
    def settings_files(self) -> "tuple[harness.SettingsFile, ...]":
        """The settings, which hold hooks and the MCP server."""
        return (
            harness.SettingsFile(
                label="Gemini CLI hooks", path=pathlib.Path(_SETTINGS_PATH), put_in=self._put_in, take_out=_take_out
            ),
        )

    def _put_in(self, data: bytes | None, request: "harness.SettingsRequest") -> bytes:
        hooked_data = settings_json.with_hooks(data, self.wanted_hooks, request.program, new_file_text=NEW_FILE_TEXT)
        return settings_json.with_server(hooked_data, _SERVER_PATH, request.program) if request.has_mcp else hooked_data

    def find_faults(
        self, settings: "harness.SettingsOnDisk", handlers: "tuple[hook_list.HookHandler, ...]"
    ) -> "Iterator[harness.SettingsFault]":
        """Yield the faults that stop roamkb's hooks: all hooks off, or ours disabled by their commands."""
        commands = {" ".join(handler.words) for handler in handlers}
        for path in (settings.home / _SETTINGS_PATH, *([settings.root / _SETTINGS_PATH] if settings.root else ())):
            try:
                hooks_config = settings_json.find_setting(settings.read_settings(path) or b"{}", ("hooksConfig",))
            except ValueError:
                # one that can't be read turns nothing off
                continue
            config = hooks_config if isinstance(hooks_config, dict) else {}
            if config.get("enabled") is False:
                yield harness.SettingsFault(detail=f"{path} says hooksConfig.enabled is false: none is run")
            disabled = config.get("disabled")
            if isinstance(disabled, list) and commands.intersection(map(str, disabled)):
                yield harness.SettingsFault(
                    detail=f"{path} names roamkb's under hooksConfig.disabled: those aren't run"
                )

    def probe_payload(self, folder: str, note: str) -> "Mapping[str, object]":
        """Return the payload before a tool that writes a note from a folder."""
        return {
            "session_id": "roamkb-doctor",
            "transcript_path": "",
            "cwd": folder,
            "hook_event_name": "BeforeTool",
            "timestamp": "2000-01-01T00:00:00.000Z",
            "tool_name": "write_file",
            "tool_input": {"file_path": note, "content": "a probe"},
        }

    def is_denial(self, answer: "harness.Answer") -> bool:
        """Return whether an answer keeps the tool from being called."""
        return answer.get("decision") in ("deny", "block")

    def sandbox_report(
        self, settings: "harness.SettingsOnDisk", kbs: "harness.Texts"
    ) -> "harness.SandboxReport | None":
        """Return a report on the sandbox in its settings; none is on by default."""
        try:
            sandbox_setting = settings_json.find_setting(
                settings.read_settings(settings.home / _SETTINGS_PATH) or b"{}", ("tools", "sandbox")
            )
        except ValueError as error:
            return harness.SandboxReport(ok=False, detail=f"settings.json {error}", fix="put it right")
        if sandbox_setting:
            detail = "its own sandbox lets nothing be written outside of the project"
            return harness.SandboxReport(ok=True, detail=detail)
        fix = "start it as `roamkb exec -- gemini`: all of it is behind a wall then"
        return harness.SandboxReport(ok=False, detail="none: its commands are only judged before they run", fix=fix)

    # Memory and model

    def model_command(self, prompt: str, environment: "Mapping[str, str]") -> list[str]:
        """Return the call that answers once, in an empty folder, in the mode that changes nothing."""
        return [
            *("gemini", "--prompt", prompt, "--output-format", "json", "--approval-mode", "plan"),
            *("--skip-trust", "--extensions", "none", "--allowed-mcp-server-names", "none"),
        ]

    def model_answer(self, records: "list[dict[str, Any]]", text: str) -> str:
        """Return the response of `gemini --output-format json`."""
        answer = records[-1].get("response")
        if records[-1].get("error"):
            raise harness.NoModelAnswer("is an error", quoted=text)
        if not isinstance(answer, str):
            raise harness.NoModelAnswer("holds no response")
        return answer


def _tool_name(name: str, context: object) -> str:
    """Return a tool's name in roamkb's terms; Gemini CLI calls a server's tool `mcp_SERVER_TOOL`."""
    server = context.get("server_name") if isinstance(context, dict) else None
    if isinstance(server, str) and name.startswith(f"mcp_{server}_"):
        return f"mcp__{server}__{name.removeprefix(f'mcp_{server}_')}"
    if name.startswith("mcp_roamkb_"):
        return f"mcp__roamkb__{name.removeprefix('mcp_roamkb_')}"
    return _TOOL_NAMES.get(name, name)


def _typed_text(prompt: str) -> str:
    """Return the human's part of a prompt, without text of hooks; empty for a hook's own question."""
    prompt = re.sub(_HOOK_CONTEXT, "", prompt).strip()
    return "" if prompt.startswith("roamkb: ") else prompt


def _tool_response(response: object) -> object:
    """Return a tool's response: the text for the model, and whether the call failed."""
    if not isinstance(response, dict):
        return response
    printed = _result_text(response.get("llmContent"))
    code = re.search(_FAILED_EXIT_CODE, printed)
    has_failed = bool(response.get("error")) or code is not None
    return {"output": re.sub(_OUTPUT_LABELS, "", printed), "is_error": has_failed}


def _result_text(content: object) -> str:
    """Return the text of a result: a text, a part, or a list of them."""
    if isinstance(content, str):
        return re.sub(_UNTRUSTED_FRAME, "", content)
    if isinstance(content, list):
        return "\n".join(filter(None, map(_result_text, content)))
    if not isinstance(content, dict):
        return ""
    function_response = content.get("functionResponse")
    answer = function_response.get("response") if isinstance(function_response, dict) else None
    if isinstance(answer, dict):
        return _result_text(answer.get("output") or answer.get("error"))
    return _result_text(content.get("text"))


def _take_out(data: bytes, request: "harness.SettingsRequest") -> bytes | None:
    return settings_json.without_hooks(settings_json.without_server(data, _SERVER_PATH), new_file_text=NEW_FILE_TEXT)


def _sessions_folder(home: "Path", environment: "Mapping[str, str]") -> "Path":
    return pathlib.Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"


def _read_header(path: "Path") -> "dict[str, Any]":
    """Return the record in the first line of a session file; empty for anything else."""
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as file:
            header = json.loads(file.readline(_MAX_FIRST_LINE))
    except (OSError, ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


HARNESS: Harness = GeminiCli()
