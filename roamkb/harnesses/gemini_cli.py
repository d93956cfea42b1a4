"""Gemini CLI: its variables, settings, hooks, tools, session files and model, as of 0.61.

Its hooks have events, tools and answers of their own names, which are translated here. Its session files,
`~/.gemini/tmp/PROJECT/chats/session-…-ID.jsonl`, are no contract: what isn't as expected tells nothing.
"""

import json

from roamkb import lazy_module
from roamkb.fs import json_edit
from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import settings_json
from roamkb.harnesses import transcript

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    import hashlib
    import pathlib
    import re
    from collections.abc import Iterator
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any
else:
    hashlib = lazy_module("hashlib")
    pathlib = lazy_module("pathlib")
    re = lazy_module("re")

_SETTINGS = ".gemini/settings.json"
#: How a settings file begins that was made for our hooks alone, so that it can be known again.
MADE = (
    '{\n  "$schema": "https://raw.githubusercontent.com/google-gemini/gemini-cli/main/schemas/'
    'settings.schema.json"\n}\n'
)
_SERVER = ("mcpServers", "roamkb")
#: Its events in roamkb's words.
_EVENTS = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
}
#: The events whose answers may put text beside what the agent reads.
_READ = ("SessionStart", "BeforeAgent", "AfterTool")
#: Its tools whose input has the fields of roamkb's.
_TOOLS = {"run_shell_command": "Bash", "write_file": "Write", "replace": "Edit"}
#: Tools that change no file and run nothing.
_READERS = (
    "read_file read_many_files list_directory glob grep_search search_file_content google_web_search "
    "web_fetch ask_user write_todos activate_skill get_internal_docs enter_plan_mode exit_plan_mode "
    "update_topic complete_task list_mcp_resources read_mcp_resource tracker_create_task tracker_update_task "
    "tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize"
).split()
#: Bytes of a first line that are read.
_LONGEST_HEAD = 64 * 1024
#: How a shell command's result says that it failed.
_FAILED = r"(?m)^Exit Code: [1-9]\d*\s*$"
#: What it puts around the text of a hook, in which it escapes angle brackets; and around what a tool printed.
_CONTEXT = r"(?s)<hook_context>.*?</hook_context>"
_FRAME = r"\A<untrusted_context>\n|\n</untrusted_context>\Z"


class GeminiCli:
    """Gemini CLI."""

    __slots__ = ()

    name = "gemini-cli"
    title = "Gemini CLI"
    options = ("gemini",)
    programs = ("gemini",)
    version_folders = ()
    server_words = ()

    agent_variables = ("GEMINI_CLI",)
    marks = ("GEMINI_CLI",)
    session_variables = ("GEMINI_SESSION_ID",)
    project_variables = ("GEMINI_PROJECT_DIR",)
    sandbox_marks = ()
    inner_variables = (
        "GEMINI_CLI",
        "GEMINI_SESSION_ID",
        "GEMINI_PROJECT_DIR",
        "GEMINI_CWD",
        "GEMINI_PLANS_DIR",
    )
    home_variables = ("GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
    prefix_variables = ()
    shell_variables = ()
    session_files = ()
    unattended_entries = ()

    guarded = (_SETTINGS,)
    hook_files = (_SETTINGS,)
    server_files = ()
    free_hook_files = ()
    rule_files = ()
    home_texts = (".gemini/GEMINI.md",)
    project_settings = (_SETTINGS,)
    hooks_off = ("hooksConfig",)
    boot_files = ("GEMINI.md",)
    home_boot_files = (".gemini/GEMINI.md",)

    payload_fields = ()
    payload_folders = ("/.gemini/",)
    own_events = ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress")
    hook_folders = ("GEMINI_PROJECT_DIR",)
    hook_variables = ("GEMINI_SESSION_ID",)
    has_terminals = False
    forged_variables = ""
    # beside a denial only its human is shown something there
    reads_before_tool = False

    command_keys = ("command",)
    shells = ("run_shell_command",)
    editors = ("write_file", "replace")
    readers = tuple(_READERS)
    guard_readers = tuple(_READERS)
    fetchers = ("web_fetch", "google_web_search")
    writers = ("run_shell_command", "write_file", "replace", "mcp_files_write_file")

    line_fields = ("content=user|gemini",)
    injected = ("<session_context>",)
    not_run = ("Tool execution blocked: ",)
    interruptions = ()
    rewrites_lines = True
    notices = ()

    memory_places = ()
    models = ("gemini",)

    # The session

    def session_environment(self, environment: "Mapping[str, str]", payload: "harness.Payload") -> "Mapping[str, str]":
        """Return the environment of a hook as it would be for the session's commands."""
        return {**environment, "GEMINI_CLI": "1"}

    def heard(self, payload: "dict[str, Any]") -> "dict[str, Any]":
        """Return a payload in roamkb's words."""
        event = str(payload.get("hook_event_name", ""))
        if event not in _EVENTS:
            return payload
        heard = {**payload, "harness": self.name, "hook_event_name": _EVENTS[event]}
        if event == "AfterAgent":
            heard["last_assistant_message"] = payload.get("prompt_response")
        if isinstance(payload.get("prompt"), str):
            heard["prompt"] = _typed(payload["prompt"])
        name, given = str(payload.get("tool_name", "")), payload.get("tool_input")
        if name:
            heard["tool_name"] = _tool_name(name, payload.get("mcp_context"))
        if isinstance(given, dict) and isinstance(given.get("dir_path"), str) and name == "run_shell_command":
            heard["tool_input"] = {**given, "workdir": given["dir_path"]}
        if event == "AfterTool":
            heard["tool_response"] = _response(payload.get("tool_response"))
        return heard

    def answered(self, answer: "dict[str, object]") -> "dict[str, object]":
        """Return an answer in its words: a denial is a decision, and few events take context."""
        own = answer.get("hookSpecificOutput")
        if not isinstance(own, dict):
            return answer
        rest = {name: value for name, value in answer.items() if name != "hookSpecificOutput"}
        if own.get("permissionDecision") == "deny":
            return {**rest, "decision": "deny", "reason": own.get("permissionDecisionReason")}
        event = next((name for name, said in _EVENTS.items() if said == own.get("hookEventName")), "")
        context = own.get("additionalContext")
        if event == "AfterAgent" and context:
            return {**rest, "decision": "deny", "reason": context}
        if event not in _READ:
            return rest
        return {**rest, "hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}

    def shows_questions(self, environment: "Mapping[str, str]") -> bool:
        """Say no: at the end of a turn it takes no context."""
        return False

    # Transcripts

    def entries_of(self, line: "Mapping[str, Any]") -> "Iterator[transcript.TranscriptEntry]":
        """Yield what a line tells: a message, and of the model's the calls with their results.

        A message is written anew with each result that comes; whoever reads it takes the last.
        """
        is_human, id = line.get("type") == "user", str(line.get("id", ""))
        content = line.get("content")
        parts = content if isinstance(content, list) else [content]
        text = transcript.joined([{"text": part} if isinstance(part, str) else part for part in parts])
        text = _typed(text) if is_human else re.sub(_CONTEXT, "", text)
        if text.strip():
            yield transcript.SaidText(transcript.Speaker.HUMAN if is_human else transcript.Speaker.AGENT, text, id)
        calls = line.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("status") in ("success", "error"):
                name, given = _tool_name(str(call.get("name", "")), None), call.get("args")
                printed = re.sub(_CONTEXT, "", _printed(call.get("result")))
                failed = re.search(_FAILED, printed) is not None or call["status"] == "error"
                result = {"output": printed, "is_error": failed}
                yield transcript.WholeCall(str(call.get("id", "")), name, given, result)

    def find_transcript(self, session: str, *, home: "Path", environment: "Mapping[str, str]") -> "Path | None":
        """Return the file of a session; None where it has none."""
        found = _chats(home, environment).glob(f"*/chats/session-*-{session[:8]}.jsonl")
        return next((path for path in found if _head(path).get("sessionId") == session), None)

    def transcripts_in(self, folder: "Path", *, home: "Path", environment: "Mapping[str, str]") -> "Iterator[Path]":
        """Yield the transcripts of the sessions in a project's folder, the oldest first.

        Its folder for them has a short name that may be another project's; each file says whose it is.
        """
        project = hashlib.sha256(str(folder).encode()).hexdigest()
        found = sorted(_chats(home, environment).glob("*/chats/session-*.jsonl"), key=lambda path: path.name)
        yield from (path for path in found if _head(path).get("projectHash") == project)

    def session_folders(self, environment: "Mapping[str, str]") -> tuple[str, ...]:
        """Return nothing: its project's folder is a variable."""
        return ()

    def is_unattended(self, line: "Mapping[str, Any]") -> bool:
        """Say no: nothing of it says so."""
        return False

    # Settings

    @property
    def hooks(self) -> "tuple[hook_list.Hook, ...]":
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
                matcher=f"^(?!(?:{'|'.join(_READERS)})$)",
            ),
            hook_list.Hook(event="AfterTool", timeout=10_000, unit="ms", command="post-tool-use"),
            hook_list.Hook(event="AfterAgent", timeout=30_000, unit="ms", command="stop"),
            hook_list.Hook(event="SessionEnd", timeout=10_000, unit="ms"),
        )

    @property
    def files(self) -> "tuple[harness.SettingsFile, ...]":
        """The settings, which hold hooks and the MCP server."""
        return (
            harness.SettingsFile(
                label="Gemini CLI hooks", path=pathlib.Path(_SETTINGS), put_in=self._put_in, take_out=_take_out
            ),
        )

    def _put_in(self, data: bytes | None, request: "harness.SettingsRequest") -> bytes:
        new = settings_json.with_hooks(data, self.hooks, request.program, new_file_text=MADE)
        return settings_json.with_server(new, _SERVER, request.program) if request.has_mcp else new

    def handlers(self, settings: bytes) -> "tuple[hook_list.HookHandler, ...]":
        """Return roamkb's hooks in its settings."""
        return settings_json.own_handlers(settings) if settings.strip() else ()

    def plugin(self, settings: bytes) -> str:
        """Return nothing: roamkb has no extension for it."""
        return ""

    def faults(
        self, settings: "harness.SettingsOnDisk", mine: "tuple[hook_list.HookHandler, ...]"
    ) -> "Iterator[harness.SettingsFault]":
        """Yield what keeps roamkb's hooks from running: all hooks off, or ours by their commands."""
        commands = {" ".join(handler.words) for handler in mine}
        for path in (settings.home / _SETTINGS, *([settings.root / _SETTINGS] if settings.root else ())):
            try:
                told = settings_json.find_setting(settings.read(path) or b"{}", ("hooksConfig",))
            except json_edit.BadJson:
                continue
            config = told if isinstance(told, dict) else {}
            if config.get("enabled") is False:
                yield harness.SettingsFault(detail=f"{path} says hooksConfig.enabled is false: none is run")
            disabled = config.get("disabled")
            if isinstance(disabled, list) and commands.intersection(map(str, disabled)):
                yield harness.SettingsFault(
                    detail=f"{path} names roamkb's under hooksConfig.disabled: those aren't run"
                )

    def advice(self, settings: bytes, kb: str) -> str:
        """Return nothing: its rules are a policy's, which roamkb doesn't write."""
        return ""

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
        """Say whether an answer keeps the tool from being called."""
        return answer.get("decision") in ("deny", "block")

    def sandbox(self, settings: "harness.SettingsOnDisk", kb: str) -> "harness.SandboxReport | None":
        """Return what its settings say of its sandbox; none is on by itself."""
        try:
            told = settings_json.find_setting(settings.read(settings.home / _SETTINGS) or b"{}", ("tools", "sandbox"))
        except json_edit.BadJson as error:
            return harness.SandboxReport(ok=False, detail=f"settings.json {error}", fix="put it right")
        if told:
            said = "its own sandbox lets nothing be written outside of the project"
            return harness.SandboxReport(ok=True, detail=said)
        fix = "start it as `roamkb exec -- gemini`: all of it is behind a wall then"
        return harness.SandboxReport(ok=False, detail="none: its commands are only judged before they run", fix=fix)

    # Memory and model

    def memory_folders(self, root: "Path", home: "Path") -> "tuple[Path, ...]":
        """Return none: what it remembers stands in files that every session starts with."""
        return ()

    def project_of(self, path: "Path") -> str | None:
        """Return None: it keeps no memory of a project elsewhere."""
        return None

    def project_names(self, root: str) -> tuple[str, ...]:
        """Return what it may call the project at `root` there."""
        return ()

    def model_words(self, prompt: str, environment: "Mapping[str, str]") -> list[str]:
        """Return the call that answers once, in an empty folder, in the mode that changes nothing."""
        return [
            *("gemini", "--prompt", prompt, "--output-format", "json", "--approval-mode", "plan"),
            *("--skip-trust", "--extensions", "none", "--allowed-mcp-server-names", "none"),
        ]

    def model_input(self, prompt: str, payload: str) -> str:
        """Return the payload: the prompt is an option."""
        return payload

    def model_answer(self, records: "list[dict[str, Any]]", text: str) -> str:
        """Return what `gemini --output-format json` answered."""
        answer = records[-1].get("response")
        if records[-1].get("error"):
            raise harness.NoModelAnswer("is an error", quoted=text)
        if not isinstance(answer, str):
            raise harness.NoModelAnswer("holds no response")
        return answer


def _tool_name(name: str, context: object) -> str:
    """Return a tool's name in roamkb's words; a server's is `mcp_SERVER_TOOL` in its own."""
    server = context.get("server_name") if isinstance(context, dict) else None
    if isinstance(server, str) and name.startswith(f"mcp_{server}_"):
        return f"mcp__{server}__{name.removeprefix(f'mcp_{server}_')}"
    if name.startswith("mcp_roamkb_"):
        return f"mcp__roamkb__{name.removeprefix('mcp_roamkb_')}"
    return _TOOLS.get(name, name)


def _typed(prompt: str) -> str:
    """Return what a human typed of a prompt: a hook's text stands in it, and what a hook asks is one."""
    prompt = re.sub(_CONTEXT, "", prompt).strip()
    return "" if prompt.startswith("roamkb: ") else prompt


def _response(response: object) -> object:
    """Return what a tool answered: what the model is told of it, and whether it failed."""
    if not isinstance(response, dict):
        return response
    printed = _printed(response.get("llmContent"))
    code = re.search(_FAILED, printed)
    failed = bool(response.get("error")) or code is not None
    return {"output": printed, "is_error": failed}


def _printed(content: object) -> str:
    """Return the text of a result: a text, a part, or a list of them."""
    if isinstance(content, str):
        return re.sub(_FRAME, "", content)
    if isinstance(content, list):
        return "\n".join(filter(None, map(_printed, content)))
    if not isinstance(content, dict):
        return ""
    told = content.get("functionResponse")
    answer = told.get("response") if isinstance(told, dict) else None
    if isinstance(answer, dict):
        return _printed(answer.get("output") or answer.get("error"))
    return _printed(content.get("text"))


def _take_out(data: bytes, request: "harness.SettingsRequest") -> bytes | None:
    return settings_json.without_hooks(settings_json.without_server(data, _SERVER), new_file_text=MADE)


def _chats(home: "Path", environment: "Mapping[str, str]") -> "Path":
    return pathlib.Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"


def _head(path: "Path") -> "dict[str, Any]":
    """Return what the first line of a session file says; nothing of what is none."""
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as file:
            told = json.loads(file.readline(_LONGEST_HEAD))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


HARNESS: "harness.Harness" = GeminiCli()
