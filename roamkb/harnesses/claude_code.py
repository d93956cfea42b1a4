"""Claude Code: its variables, settings, hooks, tools, transcripts, memory and model.

roamkb's own words for events, tools and answers are the ones that Claude Code has, so that nothing is
translated. A hook imports this at every step: what few steps need is imported where it's needed.
"""

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import settings_json
from roamkb.harnesses import transcript
from roamkb.harnesses import wall_settings
from roamkb.harnesses.adapter import Harness
from roamkb.harnesses.registry import declared_of

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any
else:
    pathlib = lazy_module("pathlib")

_SETTINGS_PATH = ".claude/settings.json"
#: Has it run each command behind the wall.
SHELL_PREFIX = "CLAUDE_CODE_SHELL_PREFIX"
#: How a settings file begins that was made for our hooks alone, so that it can be known again.
NEW_FILE_TEXT = '{\n  "$schema": "https://json.schemastore.org/claude-code-settings.json"\n}\n'
#: Tools that change no file and run nothing: not worth a process each time.
_UNWATCHED_TOOLS = (
    "Read|Grep|Glob|LS|NotebookRead|WebFetch|WebSearch|ToolSearch|TodoWrite|TodoRead"
    "|Task(?:Create|Get|List|Output|Stop|Update)|Skill|SendMessage|AskUserQuestion"
)
#: What only a human says; the hook before a tool sees these in any disguise, a rule only spelt like this.
_HUMAN_COMMANDS = (
    "approve",
    "override",
    "reject",
    "rollback",
    "uninstall",
    "setup --undo",
    "forget",
    "journal restore",
    "curate --apply",
    "review --curate",
    "review --edit",
)


class ClaudeCode(Harness):
    """Claude Code."""

    name = "claude-code"
    title = "Claude Code"
    writers = ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file")

    # The session

    def session_environment(self, environment: "Mapping[str, str]", payload: "harness.Payload") -> "Mapping[str, str]":
        """Return the environment of a hook as it would be for the session's commands."""
        if environment.get("CLAUDE_PROJECT_DIR") and not environment.get("CLAUDECODE"):
            return {**environment, "CLAUDECODE": "1"}
        return environment

    def shows_questions(self, environment: "Mapping[str, str]") -> bool:
        """Return whether a question at a stop goes as context: newer versions show a block as an error."""
        return environment.get("AI_AGENT", "").startswith("claude-code")

    # Transcripts

    def folder_of_line(self, line: "Mapping[str, Any]") -> str:
        """Return the folder that nearly every line names."""
        return str(line.get("cwd") or "")

    def entries_of(self, line: "Mapping[str, Any]") -> "Iterator[transcript.TranscriptEntry]":
        """Yield the messages, calls and results of a line: `{"type": "user"|"assistant", "message": {…}}`.

        A tool's result stands in a later `user` line.
        """
        message = line.get("message")
        if not isinstance(message, dict) or line.get("isMeta") or line.get("isCompactSummary"):
            return
        is_agent = line.get("type") == "assistant" or bool(line.get("isSidechain"))
        origin = line.get("origin")
        is_typed = not isinstance(origin, dict) or origin.get("kind") in ("human", None)
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match block:
                case {"type": "text", "text": str(text)}:
                    if is_agent or is_typed:
                        yield transcript.MessageText(
                            transcript.Speaker.AGENT if is_agent else transcript.Speaker.HUMAN, text
                        )
                case {"type": "tool_use", "id": str(id), "name": str(name)}:
                    yield transcript.ToolCall(id, name, block.get("input"))
                case {"type": "tool_result", "tool_use_id": str(id)}:
                    yield transcript.CallResult(id, block.get("content"), has_failed=block.get("is_error") is True)

    def find_transcript(self, session: str, *, home: "Path", environment: "Mapping[str, str]") -> "Path | None":
        """Return the file of a session; None where it has none."""
        try:
            return next(_projects_folder(home, environment).glob(f"*/{session}.jsonl"), None)
        except OSError:
            return None

    def transcripts_in(self, folder: "Path", *, home: "Path", environment: "Mapping[str, str]") -> "Iterator[Path]":
        """Yield the transcripts of the sessions in a project's folder, the oldest first."""
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(folder))
        session_files = (_projects_folder(home, environment) / name).glob("*.jsonl")
        try:
            yield from sorted(session_files, key=lambda path: path.stat().st_mtime)
        except OSError:
            return

    # Settings

    @property
    def wanted_hooks(self) -> "tuple[hook_list.Hook, ...]":
        """The hooks that roamkb wants."""
        return (
            hook_list.Hook(event="SessionStart", timeout=30),
            hook_list.Hook(event="SubagentStart"),
            hook_list.Hook(event="UserPromptSubmit"),
            hook_list.Hook(event="PreToolUse", matcher=f"^(?!(?:{_UNWATCHED_TOOLS})$)"),
            hook_list.Hook(event="PostToolUse"),
            hook_list.Hook(event="PostToolUseFailure"),
            hook_list.Hook(event="PreCompact"),
            hook_list.Hook(event="PostCompact"),
            hook_list.Hook(event="Stop", timeout=30),
            hook_list.Hook(event="SubagentStop"),
            # without a timeout of its own it shares 1.5 s with all others of its kind
            hook_list.Hook(event="SessionEnd"),
        )

    @property
    def settings_files(self) -> "tuple[harness.SettingsFile, ...]":
        """The settings, which hold hooks, permission rules and the wall."""
        return (
            harness.SettingsFile(
                label="Claude Code hooks", path=pathlib.Path(_SETTINGS_PATH), put_in=self._put_in, take_out=_take_out
            ),
        )

    def _put_in(self, data: bytes | None, request: "harness.SettingsRequest") -> bytes:
        deny = deny_rules(request.kbs) if request.kbs else ()
        hooked_data = settings_json.with_hooks(
            data, self.wanted_hooks, request.program, new_file_text=NEW_FILE_TEXT, deny=deny
        )
        return (
            wall_settings.with_wall(hooked_data, request.launcher, request.closed_paths, SHELL_PREFIX)
            if request.launcher
            else hooked_data
        )

    def enabled_plugin(self, settings: bytes) -> str:
        """Return the name of roamkb's plugin where the settings turn it on; else an empty text."""
        return settings_json.enabled_plugin(settings) if settings.strip() else ""

    def find_faults(
        self, settings: "harness.SettingsOnDisk", handlers: "tuple[hook_list.HookHandler, ...]"
    ) -> "Iterator[harness.SettingsFault]":
        """Yield the faults that stop roamkb's hooks: hooks turned off by user or project, a short timeout."""
        own = [settings.root / name for name in declared_of(self.name, "project_settings")] if settings.root else []
        for path in (settings.home / _SETTINGS_PATH, *own):
            try:
                is_off = settings_json.has_flag(settings.read_settings(path) or b"{}", ("disableAllHooks",), True)
            except ValueError:
                # one that can't be read turns nothing off
                continue
            if is_off:
                yield harness.SettingsFault(detail=f"{path} says disableAllHooks: none is run")
        if any(handler.event == "SessionEnd" and handler.timeout is None for handler in handlers):
            yield harness.SettingsFault(detail="SessionEnd has no timeout, so that all hooks there share 1.5 s")

    def missing_settings(self, settings: bytes, kbs: tuple[str, ...]) -> str:
        """Return the permission rules for editors that `install` would add; empty where none is missing."""
        missing = settings_json.missing_rules(settings, tuple(map(_edit_rule, kbs)))
        return f"the permission rule {', '.join(missing)}" if missing else ""

    # Memory and model

    def memory_folders(self, root: "Path", home: "Path") -> "tuple[Path, ...]":
        """Return the folders that may hold its memory of the project at `root`."""
        return tuple(home / ".claude" / "projects" / name / "memory" for name in project_names(str(root)))

    def project_of(self, path: "Path") -> str | None:
        """Return the name of the project whose folder of Claude Code's `path` lies in; None elsewhere."""
        for first, second, name in zip(path.parts, path.parts[1:], path.parts[2:], strict=False):
            if (first, second) == (".claude", "projects"):
                return name
        return None

    def project_names(self, root: str) -> tuple[str, ...]:
        """Return the folder names that it may give the project at `root`."""
        return project_names(root)

    def model_command(self, prompt: str, environment: "Mapping[str, str]") -> list[str]:
        """Return the call that answers once: no tools, hooks, servers, memory or record."""
        return [
            *("claude", "--print", "--output-format", "json", "--safe-mode", "--tools", ""),
            *("--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"),
            *("--system-prompt", prompt),
        ]

    def model_answer(self, records: "list[dict[str, Any]]", text: str) -> str:
        """Return the result of the call; a setting makes the output a list of events."""
        result = next((record for record in reversed(records) if record.get("type") == "result"), None)
        if result is None:
            raise harness.NoModelAnswer("holds no result")
        answer = result.get("result")
        if result.get("is_error") or result.get("subtype") != "success":
            raise harness.NoModelAnswer("is an error", quoted=answer if isinstance(answer, str) else text)
        if not isinstance(answer, str):
            raise harness.NoModelAnswer("holds a result that isn't text")
        if result.get("stop_reason") == "max_tokens":
            raise harness.NoModelAnswer("was cut off at its greatest length")
        return answer


def deny_rules(kbs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the permission rules that keep its own tools off the notes in `kbs` (from `~` or `/`).

    They hold in every project, personal ones too, since user settings know no projects: notes
    are written by `roamkb write` there. A rule for `Edit` holds for all tools that write files.
    """
    return (*map(_edit_rule, kbs), *(f"Bash(roamkb {verb} *)" for verb in _HUMAN_COMMANDS))


def _edit_rule(kb: str) -> str:
    place = kb.rstrip("/")
    anchored = place if place.startswith("~/") else f"/{place}"
    return f"Edit({anchored}/**)"


def project_names(root: str) -> tuple[str, ...]:
    """Return the folder names that Claude Code may give the project at `root`: its path with dashes."""
    dashed = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in root)
    return tuple(dict.fromkeys((dashed, root.replace("/", "-"))))


def _take_out(data: bytes, request: "harness.SettingsRequest") -> bytes | None:
    unwalled_data = wall_settings.without_wall(data, request.closed_paths, SHELL_PREFIX)
    return settings_json.without_hooks(
        unwalled_data, new_file_text=NEW_FILE_TEXT, deny=deny_rules(request.kbs) if request.kbs else ()
    )


def _projects_folder(home: "Path", environment: "Mapping[str, str]") -> "Path":
    return pathlib.Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"


HARNESS: Harness = ClaudeCode()
