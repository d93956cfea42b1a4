"""Codex: its variables, settings, hooks, tools, session files and model, as of 0.169.

Each session has a file of JSON lines, `~/.codex/sessions/YYYY/MM/DD/rollout-…-ID.jsonl`. Nobody promises its
form, so what isn't as expected tells nothing. A hook imports this at every step of a session of Codex's: what
few steps need is imported where it's needed.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH113, PTH117, PTH118, PTH123, PTH208

import json
import os
import pwd
import re

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import settings_json
from roamkb.harnesses import toml_server
from roamkb.harnesses import transcript as harnesses_transcript
from roamkb.harnesses.adapter import Harness

if TYPE_CHECKING:
    import hashlib
    import pathlib
    import time
    import tomllib
    from collections.abc import Collection
    from collections.abc import Iterator
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any
else:
    hashlib = lazy_module("hashlib")
    pathlib = lazy_module("pathlib")
    time = lazy_module("time")
    tomllib = lazy_module("tomllib")

_HOOKS_PATH, _CONFIG_PATH = ".codex/hooks.json", ".codex/config.toml"
#: It refuses a file with a field that it doesn't know.
NEW_FILE_TEXT = '{\n  "description": "made by roamkb install"\n}\n'
#: Seconds that it gives a session's end; of more it warns at each start.
_MAX_END_TIMEOUT = 3
#: Of a hook, what it knows it by; and its seconds where nobody says.
_HASHED_FIELDS = ("type", "command", "commandWindows", "timeout", "async", "statusMessage")
_DEFAULT_TIMEOUT = 600
#: A human's act, in Codex itself.
_TRUST_ADVICE = (
    'start `codex` in a terminal: it asks, and "Trust all and continue" is enough, or type /hooks there and '
    "then t; `codex exec` never asks"
)
#: What it could do beside answering; a name that a version doesn't know is ignored by it.
_OPTIONAL_FEATURES = "hooks shell_tool unified_exec apps plugins multi_agent view_image image_generation".split()
#: Where its configuration says nothing else; outside of the project's folder and /tmp nothing is writable.
_DEFAULT_SANDBOX = "workspace-write"
_NO_SANDBOX = "danger-full-access"
#: Bytes from the end, where a command's line is when its hook runs: enough, and for a long output.
_TAIL_SIZES = (64 * 1024, 4 * 1024 * 1024)
#: A first line holds the session's instructions.
_MAX_FIRST_LINE = 4 * 1024 * 1024
_DAY_SECONDS = 24 * 60 * 60


class Codex(Harness):
    """Codex."""

    name = "codex"
    title = "Codex"
    has_terminals = True
    forged_variables = "CODEX_"
    writers = ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file")

    # The session

    def session_environment(self, environment: "Mapping[str, str]", payload: "harness.Payload") -> "Mapping[str, str]":
        """Return the environment of a hook as it would be for the session's commands."""
        session = payload.get("session_id")
        # what is in the environment may be the session around this one
        return {**environment, "CODEX_THREAD_ID": session if isinstance(session, str) else ""}

    def translate_payload(self, payload: "dict[str, Any]") -> "dict[str, Any]":
        """Return the payload with the exit status, which Codex leaves out: it passes only the output."""
        printed = payload.get("tool_response")
        if payload.get("tool_name") != "Bash" or not isinstance(printed, str):
            return payload
        code = exit_code_of(str(payload.get("transcript_path")), str(payload.get("tool_use_id")))
        return payload if code is None else {**payload, "tool_response": {"output": printed, "exit_code": code}}

    # Transcripts

    def entries_of(self, line: "Mapping[str, Any]") -> "Iterator[harnesses_transcript.TranscriptEntry]":
        """Yield the messages, calls and results of a line.

        `response_item` is what the model says and calls, `event_msg` what the human typed.
        """
        payload = line.get("payload")
        if not isinstance(payload, dict):
            return
        match str(line.get("type")), payload:
            case "event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "content": content}}:
                yield harnesses_transcript.MessageText(
                    harnesses_transcript.Speaker.HUMAN, harnesses_transcript.joined_text(content)
                )
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "CommandExecution", "id": str(id)} as item,
            }:
                printed = {"output": item.get("aggregated_output"), "exit_code": item.get("exit_code")}
                yield harnesses_transcript.WholeCall(id, "exec_command", item, printed)
            case "event_msg", {
                "type": "item_completed",
                "item": {"type": "FileChange", "id": str(id)} as item,
            }:
                yield _file_changes(id, item)
            case "event_msg", {"type": "user_message", "message": str(text)}:
                yield harnesses_transcript.MessageText(harnesses_transcript.Speaker.HUMAN, text)
            case "response_item", {"type": "message", "role": "assistant", "content": content}:
                yield harnesses_transcript.MessageText(
                    harnesses_transcript.Speaker.AGENT, harnesses_transcript.joined_text(content)
                )
            case "response_item", {"type": "function_call" | "custom_tool_call", "call_id": str(id)}:
                arguments = payload.get("arguments", payload.get("input"))
                yield harnesses_transcript.ToolCall(
                    id, str(payload.get("name")), harnesses_transcript.decode_input(arguments)
                )
            case "response_item", {"type": "local_shell_call", "call_id": str(id)}:
                yield harnesses_transcript.ToolCall(id, "shell", payload)
            case (
                "response_item",
                {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(id)},
            ):
                yield harnesses_transcript.CallResult(id, payload.get("output"))

    def find_transcript(self, session: str, *, home: "Path", environment: "Mapping[str, str]") -> "Path | None":
        """Return the file of a session; None where it has none."""
        session_file = (
            _find_session_file({**environment, "HOME": str(home)}, session) if _is_session_id(session) else None
        )
        return pathlib.Path(session_file) if session_file else None

    def session_folders(self, environment: "Mapping[str, str]") -> tuple[str, ...]:
        """Return the folders that its session works in, if an environment is that of its commands.

        A tool's call may name another folder to run in, and its sandbox and its background server hide the
        process that began it; the session's id is in the environment all the same.
        """
        session = environment.get("CODEX_THREAD_ID", "")
        path = _find_session_file(environment, session) if _is_session_id(session) else None
        if path is None:
            return ()
        # the rest of the file is what was said, and needn't be read
        tails = (_read_part(path, tail=size).split(b"\n") for size in _TAIL_SIZES)
        turns = (b"\n".join(line for line in lines if b'"turn_context"' in line) for lines in tails)
        records = (*_parse_records(_read_part(path)), *_parse_records(next(filter(None, turns), b"")))
        return tuple(dict.fromkeys(filter(os.path.isabs, map(self.folder_of_line, records))))

    def folder_of_line(self, line: "Mapping[str, Any]") -> str:
        """Return the folder that a session's or a turn's first line names; a command's is another matter."""
        payload = line.get("payload")
        if line.get("type") not in ("session_meta", "turn_context") or not isinstance(payload, dict):
            return ""
        return str(payload.get("cwd") or "")

    def is_unattended(self, line: "Mapping[str, Any]") -> bool:
        """Return whether a program awaits the session's answer, by its file's first line."""
        session_meta = line.get("payload")
        return (
            line.get("type") == "session_meta"
            and isinstance(session_meta, dict)
            and session_meta.get("source") == "exec"
        )

    # Settings

    @property
    def wanted_hooks(self) -> "tuple[hook_list.Hook, ...]":
        """The hooks that roamkb wants; none for failures, and no lookahead in its expressions."""
        return (
            hook_list.Hook(event="SessionStart", timeout=30),
            hook_list.Hook(event="SubagentStart"),
            hook_list.Hook(event="UserPromptSubmit"),
            hook_list.Hook(event="PreToolUse"),
            hook_list.Hook(event="PostToolUse"),
            hook_list.Hook(event="PreCompact"),
            hook_list.Hook(event="PostCompact"),
            hook_list.Hook(event="Stop", timeout=30),
            hook_list.Hook(event="SubagentStop"),
            hook_list.Hook(event="SessionEnd", timeout=_MAX_END_TIMEOUT),
        )

    @property
    def settings_files(self) -> "tuple[harness.SettingsFile, ...]":
        """The hooks, and the configuration, which names the server."""
        return (
            harness.SettingsFile(
                label="Codex hooks",
                path=pathlib.Path(_HOOKS_PATH),
                put_in=lambda data, request: settings_json.with_hooks(
                    data, self.wanted_hooks, request.program, new_file_text=NEW_FILE_TEXT
                ),
                take_out=lambda data, _: settings_json.without_hooks(data, new_file_text=NEW_FILE_TEXT),
                pending_reason="Codex skips them until you trust them: start `codex` in a terminal, and it asks",
            ),
            harness.SettingsFile(
                label="Codex MCP server",
                path=pathlib.Path(_CONFIG_PATH),
                put_in=lambda data, request: toml_server.with_server(data, request.program),
                take_out=lambda data, _: toml_server.without_server(data),
                is_server=True,
            ),
        )

    def find_faults(
        self, settings: "harness.SettingsOnDisk", handlers: "tuple[hook_list.HookHandler, ...]"
    ) -> "Iterator[harness.SettingsFault]":
        """Yield the faults that stop roamkb's hooks: a feature turned off, a human's trust missing."""
        if not handlers:
            return
        path = settings.home / _HOOKS_PATH
        data, config = settings.read_settings(path), settings.read_settings(settings.home / _CONFIG_PATH)
        try:
            is_off = has_hooks_off(config)
            untrusted_hooks = (
                () if is_off else untrusted_events(data, config, {str(path), str(settings.resolve_path(path))})
            )
        except ValueError as error:
            raise harness.UnreadableSettings(settings.home / _CONFIG_PATH, str(error)) from error
        if is_off:
            yield harness.SettingsFault(detail="config.toml turns hooks off under [features]")
        if untrusted_hooks:
            detail = (
                f"skipped without a word, since nobody has trusted them as they are now: {', '.join(untrusted_hooks)}"
            )
            yield harness.SettingsFault(detail=detail, fix=_TRUST_ADVICE)

    def sandbox_report(
        self, settings: "harness.SettingsOnDisk", kbs: "harness.Texts"
    ) -> "harness.SandboxReport | None":
        """Return a report on the sandbox in its configuration, which keeps commands in the project."""
        fix = "start it as `roamkb exec -- codex`: all of it is behind a wall then"
        try:
            config = settings.read_settings(settings.home / _CONFIG_PATH)
            mode = sandbox_mode(config)
            root = next(filter(None, (writable_root_above(config, kb, str(settings.home)) for kb in kbs)), "")
        except ValueError as error:
            return harness.SandboxReport(ok=False, detail=f"config.toml can't be read: {error}", fix="put it right")
        if mode == _NO_SANDBOX:
            return harness.SandboxReport(ok=False, detail=f"none: sandbox_mode is {_NO_SANDBOX}", fix=fix)
        if root:
            detail = f"none: writable_roots names {root}, where the notes are"
            return harness.SandboxReport(ok=False, detail=detail, fix=f"take that out, or {fix}")
        detail = f"its own sandbox ({mode}) lets nothing be written outside of the project"
        return harness.SandboxReport(ok=True, detail=detail)

    # Memory and model

    def model_command(self, prompt: str, environment: "Mapping[str, str]") -> list[str]:
        """Return the call that answers once: nothing is run or written, no hook or server asked."""
        settings = [f"features.{name}=false" for name in _OPTIONAL_FEATURES]
        settings += (f"mcp_servers.{name}.enabled=false" for name in _server_names(environment))
        settings.append('web_search="disabled"')
        return [
            *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"),
            *(word for setting in settings for word in ("-c", setting)),
            "-",
        ]

    def model_input(self, prompt: str, payload: str) -> str:
        """Return the prompt and the payload: it has no option for a prompt."""
        return f"{prompt}\n\n{payload}"

    def model_answer(self, records: "list[dict[str, Any]]", text: str) -> str:
        """Return the last message of `codex exec --json`."""
        for record in records:
            if record.get("type") == "turn.failed":
                raise harness.NoModelAnswer("is an error", quoted=json.dumps(record))
        if not any(record.get("type") == "turn.completed" for record in records):
            errors = [record for record in records if record.get("type") == "error"]
            if errors:
                raise harness.NoModelAnswer("is an error", quoted=json.dumps(errors[-1]))
            raise harness.NoModelAnswer("broke off")
        items = [record.get("item") for record in records if record.get("type") == "item.completed"]
        messages = [
            item["text"]
            for item in items
            if isinstance(item, dict) and item.get("type") == "agent_message" and isinstance(item.get("text"), str)
        ]
        if not messages:
            raise harness.NoModelAnswer("holds no message")
        return str(messages[-1])


def _file_changes(id: str, item: "Mapping[str, Any]") -> "harnesses_transcript.TranscriptEntry":
    """Return the changes of a patch: each file with its difference."""
    changes = item.get("changes")
    files = changes if isinstance(changes, dict) else {}
    diffs = tuple(
        harnesses_transcript.joined_text(change.get("unified_diff"))
        for change in files.values()
        if isinstance(change, dict)
    )
    printed, has_failed = harnesses_transcript.joined_text(item.get("stdout")), item.get("status") == "failed"
    return harnesses_transcript.FileChanges(id, tuple(map(str, files)), diffs, printed, has_failed=has_failed)


# Its settings


def has_hooks_off(config: bytes) -> bool:
    """Return whether the configuration turns every hook off."""
    features = toml_server.parse_toml(config).get("features")
    feature_flags = features if isinstance(features, dict) else {}
    return feature_flags.get("hooks", feature_flags.get("codex_hooks")) is False


def untrusted_events(hooks: bytes, config: bytes, places: "Collection[str]") -> tuple[str, ...]:
    """Return the events at which Codex skips a hook of ours, as no human trusted its present form.

    `hooks` is what `hooks.json` holds and `places` are its names. For each hook that its human trusted it
    keeps a digest, `[hooks.state."PLACE:event:group:handler"]` (0.169); roamkb only ever reads it.
    """
    hook_settings = toml_server.parse_toml(config).get("hooks")
    stored_state = hook_settings.get("state") if isinstance(hook_settings, dict) else None
    states_by_key = stored_state if isinstance(stored_state, dict) else {}
    skipped = []
    for event, group_index, handler_index, group in settings_json.own_groups(hooks):
        event_name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        hook_states = (states_by_key.get(f"{place}:{event_name}:{group_index}:{handler_index}") for place in places)
        digest = _hook_digest(event_name, group)
        if not any(isinstance(hook_state, dict) and _is_trusted(hook_state, digest) for hook_state in hook_states):
            skipped.append(event)
    return tuple(dict.fromkeys(skipped))


def _is_trusted(hook_state: "dict[str, Any]", digest: str) -> bool:
    return hook_state.get("trusted_hash") == digest and hook_state.get("enabled") is not False


def _hook_digest(event: str, group: dict[str, object]) -> str:
    """Return the digest by which Codex remembers a hook: of its JSON, with defaults filled in."""
    (handler,) = group["hooks"] if isinstance(group["hooks"], list) else ({},)
    hashed_fields = {name: handler[name] for name in _HASHED_FIELDS if handler.get(name) is not None}
    seconds = hashed_fields.get("timeout", _DEFAULT_TIMEOUT)
    is_last = event == "session_end" and isinstance(seconds, int)
    hashed_fields["timeout"] = min(seconds, _MAX_END_TIMEOUT) if is_last else seconds
    hashed_fields["async"] = hashed_fields.get("async", False)
    hashed_group: dict[str, object] = {"event_name": event, "hooks": [hashed_fields]}
    if isinstance(group.get("matcher"), str):
        hashed_group["matcher"] = group["matcher"]
    text = json.dumps(hashed_group, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def sandbox_mode(config: bytes) -> str:
    """Return the mode that the configuration asks for; a profile that is chosen there comes first.

    Raises:
        ValueError: it can't be read.
    """
    settings = _chosen_settings(config)
    mode = settings.get("sandbox_mode", _DEFAULT_SANDBOX)
    return mode if isinstance(mode, str) else _DEFAULT_SANDBOX


def writable_root_above(config: bytes, path: str, home: str) -> str:
    """Return the writable root of its sandbox that contains `path`; empty for none.

    Raises:
        ValueError: it can't be read.
    """
    workspace = _chosen_settings(config).get("sandbox_workspace_write")
    roots = workspace.get("writable_roots") if isinstance(workspace, dict) else None
    for root in roots if isinstance(roots, list) else ():
        full = os.path.normpath(os.path.join(home, str(root).removeprefix("~/")))
        if path == full or path.startswith(f"{full.rstrip('/')}/"):
            return str(root)
    return ""


def _chosen_settings(config: bytes) -> dict[str, object]:
    settings: dict[str, object] = tomllib.loads(config.decode())
    profiles, profile_name = settings.get("profiles"), settings.get("profile")
    profile = profiles.get(profile_name) if isinstance(profiles, dict) and isinstance(profile_name, str) else None
    return {**settings, **profile} if isinstance(profile, dict) else settings


def _server_names(environment: "Mapping[str, str]") -> list[str]:
    """Return the names of the MCP servers that it would start, so that each can be turned off."""
    home = environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex"
    try:
        servers = tomllib.loads(pathlib.Path(home, "config.toml").read_text(encoding="utf-8")).get("mcp_servers")
    except (OSError, ValueError):
        # what we can't read Codex can't either, and says so
        return []
    # it takes no other name of a server, and one with a dot would be a path of settings
    names = servers if isinstance(servers, dict) else {}
    return [name for name in names if re.fullmatch(r"[A-Za-z0-9_-]+", name)]


# What it writes down of a session


def exit_code_of(transcript: str, call: str) -> int | None:
    """Return the exit status of a tool's call, from the transcript that the hook's payload names."""
    if not call or not os.path.isabs(transcript):
        return None
    for size in _TAIL_SIZES:
        lines = [line for line in _read_part(transcript, tail=size).split(b"\n") if call.encode() in line]
        for record in _parse_records(b"\n".join(lines)):
            payload = record.get("payload")
            item = payload.get("item", payload) if isinstance(payload, dict) else None
            if isinstance(item, dict) and call in (item.get("id"), item.get("call_id")):
                code = item.get("exit_code")
                if isinstance(code, int):
                    return code
    return None


def _is_session_id(text: str) -> bool:
    return len(text) == 36 and all(letter in "0123456789abcdef-" for letter in text)


def _find_session_file(environment: "Mapping[str, str]", session: str) -> str | None:
    """Return the session's file: below the day that its id names, else below any other."""
    # both variables are the caller's to set
    codex_home = environment.get("CODEX_HOME")
    homes = (environment.get("HOME") or "/", _account_home())
    session_roots = [
        os.path.join(home, "sessions") for home in (codex_home, *(f"{user_home}/.codex" for user_home in homes)) if home
    ]
    folders = (
        folder
        for list_folders in (_day_folders, _all_day_folders)
        for session_root in session_roots
        for folder in list_folders(session_root, session)
    )
    for folder in dict.fromkeys(folders):
        for name in _file_names(folder):
            if name.endswith(f"{session}.jsonl"):
                return os.path.join(folder, name)
    return None


def _account_home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        # a user that the system doesn't know
        return "/"


def _day_folders(session_root: str, session: str) -> "Iterator[str]":
    """Yield the folders of the day on which an id was made, and of its neighbours: the clock may be local."""
    try:
        created = int(session.replace("-", "")[:12], 16) / 1000
        for timestamp in (created, created - _DAY_SECONDS, created + _DAY_SECONDS):
            yield os.path.join(session_root, time.strftime("%Y/%m/%d", time.gmtime(timestamp)))
    except (ValueError, OverflowError, OSError):
        return


def _all_day_folders(session_root: str, _: str) -> "Iterator[str]":
    folders = [session_root]
    for _ in ("year", "month", "day"):
        folders = [os.path.join(folder, name) for folder in folders for name in _file_names(folder)]
    yield from folders


def _file_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _read_part(path: str, *, tail: int = 0) -> bytes:
    """Return the last bytes of a regular file, or its first line; nothing of a pipe, which may have no writer."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            if not tail:
                return file.readline(_MAX_FIRST_LINE)
            file.seek(max(0, os.fstat(file.fileno()).st_size - tail))
            return file.read(tail)
    except OSError:
        return b""


def _parse_records(data: bytes) -> "Iterator[dict[str, Any]]":
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


HARNESS: Harness = Codex()
