"""The registered harnesses and their declarations: the one place that lists them.

A hook serves one of them at every step and imports that adapter alone. What is asked of all of them together,
such as which variables mark an agent's command, is gathered below from the adapters: `make docs` does it.
"""

from functools import cache

from roamkb.harnesses import harness as harness_verb

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Each in the module of its name; the first is taken for one that can't be told.
NAMES = ("claude-code", "codex", "gemini-cli")

# generated: declarations
_DECLARED: "dict[str, dict[str, tuple[str, ...]]]" = {
    "claude-code": {
        "options": ("claude",),
        "programs": ("claude",),
        "version_folders": ("/claude/versions/",),
        "agent_variables": ("CLAUDECODE",),
        "marks": ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
        "session_variables": ("CLAUDE_CODE_SESSION_ID",),
        "project_variables": ("CLAUDE_PROJECT_DIR",),
        "inner_variables": ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"),
        "home_variables": ("CLAUDE_CONFIG_DIR",),
        "prefix_variables": ("CLAUDE_CODE_SHELL_PREFIX",),
        "shell_variables": ("CLAUDE_CODE_SHELL",),
        "unattended_entries": (
            "CLAUDE_CODE_ENTRYPOINT=sdk-",
            "CLAUDE_CODE_ENTRYPOINT=claude-code-github-action",
        ),
        "guarded": (
            ".claude/rules/knowledge-base.md",
            ".claude/settings.json",
            ".claude/settings.local.json",
        ),
        "hook_files": (".claude/settings.json",),
        "free_hook_files": (".claude/settings.json",),
        "rule_files": (".claude/rules/knowledge-base.md",),
        "home_texts": (".claude/CLAUDE.md",),
        "project_settings": (".claude/settings.json", ".claude/settings.local.json"),
        "hooks_off": ("disableAllHooks",),
        "boot_files": ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md"),
        "home_boot_files": (
            ".claude/CLAUDE.md",
            ".claude/rules/*.md",
            ".claude/projects/{project}/memory/*.md",
        ),
        "hook_folders": ("CLAUDE_PROJECT_DIR",),
        "command_keys": ("command",),
        "shells": ("bash", "powershell", "monitor"),
        "editors": ("write", "edit", "multiedit", "notebookedit", "create", "str_replace_based_edit_tool"),
        "readers": (
            "Read",
            "Grep",
            "Glob",
            "LS",
            "NotebookRead",
            "WebFetch",
            "WebSearch",
            "TodoWrite",
            "TodoRead",
            "Task",
            "Agent",
            "ToolSearch",
            "Skill",
            "TaskCreate",
            "TaskGet",
            "TaskList",
            "TaskOutput",
            "TaskStop",
            "TaskUpdate",
            "SendMessage",
            "ListMcpResourcesTool",
            "ReadMcpResourceTool",
            "ReadMcpResourceDirTool",
            "AskUserQuestion",
            "EnterPlanMode",
            "ExitPlanMode",
        ),
        "guard_readers": (
            "read",
            "glob",
            "grep",
            "ls",
            "webfetch",
            "websearch",
            "task",
            "agent",
            "todowrite",
            "notebookread",
        ),
        "spawners": ("Task", "Agent"),
        "fetchers": ("WebFetch", "WebSearch"),
        "writers": ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file"),
        "line_fields": ("message",),
        "injected": ("This session is being continued from",),
        "not_run": (
            "The user doesn't want to proceed",
            "Permission to use ",
            "PreToolUse:",
            "<tool_use_error>",
        ),
        "interruptions": ("[Request interrupted by user",),
        "notices": ("<task-notification>",),
        "memory_places": (".claude/projects/…/memory",),
        "models": ("claude",),
    },
    "codex": {
        "options": ("codex",),
        "programs": ("codex",),
        "server_words": ("app-server",),
        "agent_variables": ("CODEX_SANDBOX", "CODEX_THREAD_ID"),
        "marks": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"),
        "session_variables": ("CODEX_THREAD_ID",),
        "project_variables": ("CODEX_PROJECT_DIR",),
        "sandbox_marks": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        "inner_variables": ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        "home_variables": ("CODEX_HOME",),
        "session_files": (".codex/sessions",),
        "guarded": (".codex/hooks.json", ".codex/config.toml"),
        "hook_files": (".codex/hooks.json",),
        "server_files": (".codex/config.toml",),
        "home_texts": (".codex/AGENTS.md",),
        "boot_files": ("AGENTS.md", "AGENTS.override.md"),
        "home_boot_files": (".codex/AGENTS.md",),
        "payload_fields": ("turn_id",),
        "payload_folders": ("/.codex/",),
        "command_keys": ("chars", "cmd", "command", "input", "keys", "script"),
        "shells": (
            "bash",
            "shell",
            "exec",
            "exec_command",
            "local_shell",
            "local_shell_call",
            "unified_exec",
            "shell_command",
            "write_stdin",
            "container.exec",
        ),
        "readers": (
            "read_file",
            "list_dir",
            "grep_files",
            "update_plan",
            "view_image",
            "get_goal",
            "list_mcp_resources",
            "read_mcp_resource",
            "clockcurr_time",
            "clocksleep",
            "collaborationspawn_agent",
            "collaborationwait_agent",
        ),
        "guard_readers": ("view_image",),
        "spawners": ("collaborationspawn_agent",),
        "fetchers": ("web_search", "web_search_call"),
        "writers": ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file"),
        "line_fields": ("payload",),
        "injected": ("# AGENTS.md instructions", "<user_instructions>", "<environment_context>"),
        "models": ("codex",),
    },
    "gemini-cli": {
        "options": ("gemini",),
        "programs": ("gemini",),
        "agent_variables": ("GEMINI_CLI",),
        "marks": ("GEMINI_CLI",),
        "session_variables": ("GEMINI_SESSION_ID",),
        "project_variables": ("GEMINI_PROJECT_DIR",),
        "inner_variables": (
            "GEMINI_CLI",
            "GEMINI_SESSION_ID",
            "GEMINI_PROJECT_DIR",
            "GEMINI_CWD",
            "GEMINI_PLANS_DIR",
        ),
        "home_variables": (
            "GEMINI_CLI_HOME",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
        ),
        "guarded": (".gemini/settings.json",),
        "hook_files": (".gemini/settings.json",),
        "home_texts": (".gemini/GEMINI.md",),
        "project_settings": (".gemini/settings.json",),
        "hooks_off": ("hooksConfig",),
        "boot_files": ("GEMINI.md",),
        "home_boot_files": (".gemini/GEMINI.md",),
        "payload_folders": ("/.gemini/",),
        "own_events": ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress"),
        "hook_folders": ("GEMINI_PROJECT_DIR",),
        "hook_variables": ("GEMINI_SESSION_ID",),
        "command_keys": ("command",),
        "shells": ("run_shell_command",),
        "editors": ("write_file", "replace"),
        "readers": (
            "read_file",
            "read_many_files",
            "list_directory",
            "glob",
            "grep_search",
            "search_file_content",
            "google_web_search",
            "web_fetch",
            "ask_user",
            "write_todos",
            "activate_skill",
            "get_internal_docs",
            "enter_plan_mode",
            "exit_plan_mode",
            "update_topic",
            "complete_task",
            "list_mcp_resources",
            "read_mcp_resource",
            "tracker_create_task",
            "tracker_update_task",
            "tracker_get_task",
            "tracker_list_tasks",
            "tracker_add_dependency",
            "tracker_visualize",
        ),
        "guard_readers": (
            "read_file",
            "read_many_files",
            "list_directory",
            "glob",
            "grep_search",
            "search_file_content",
            "google_web_search",
            "web_fetch",
            "ask_user",
            "write_todos",
            "activate_skill",
            "get_internal_docs",
            "enter_plan_mode",
            "exit_plan_mode",
            "update_topic",
            "complete_task",
            "list_mcp_resources",
            "read_mcp_resource",
            "tracker_create_task",
            "tracker_update_task",
            "tracker_get_task",
            "tracker_list_tasks",
            "tracker_add_dependency",
            "tracker_visualize",
        ),
        "fetchers": ("web_fetch", "google_web_search"),
        "writers": ("run_shell_command", "write_file", "replace", "mcp_files_write_file"),
        "line_fields": ("content=user|gemini",),
        "injected": ("<session_context>",),
        "not_run": ("Tool execution blocked: ",),
        "models": ("gemini",),
    },
}
# end


@cache
def get_harness(name: str) -> "harness_verb.Harness":
    """Return the harness of that name."""
    # `importlib` and what it imports take longer than the adapter
    adapter = __import__(f"roamkb.harnesses.{name.replace('-', '_')}", fromlist=["HARNESS"])
    harness: harness_verb.Harness = adapter.HARNESS
    return harness


def all_harnesses() -> "tuple[harness_verb.Harness, ...]":
    """Return every harness, in the order of their names here."""
    return tuple(map(get_harness, NAMES))


def known_titles() -> str:
    """Return the titles of the harnesses, as a choice in a sentence."""
    *titles, last_title = (harness.title for harness in all_harnesses())
    return f"{', '.join(titles)} or {last_title}"


@cache
def declared(member: str) -> tuple[str, ...]:
    """Return the texts that all harnesses declare under the name of a member, each once."""
    return tuple(dict.fromkeys(text for name in NAMES for text in _DECLARED[name].get(member, ())))


def declared_of(name: str, member: str) -> tuple[str, ...]:
    """Return the texts that one harness declares under the name of a member."""
    return _DECLARED[name].get(member, ())


@cache
def declared_by(member: str) -> "dict[str, str]":
    """Return each declared text of a member with the name of the first harness that declares it."""
    first_owners: dict[str, str] = {}
    for name in NAMES:
        for text in _DECLARED[name].get(member, ()):
            first_owners.setdefault(text, name)
    return first_owners


def harness_of(payload: "Mapping[str, Any]", environment: "Mapping[str, str]") -> "harness_verb.Harness":
    """Return the harness that sent a hook's payload, by fields that only its payloads have."""
    return get_harness(next((name for name in NAMES if _matches_payload(name, payload, environment)), NAMES[0]))


def _matches_payload(name: str, payload: "Mapping[str, Any]", environment: "Mapping[str, str]") -> bool:
    own = _DECLARED[name]
    path, session = payload.get("transcript_path"), payload.get("session_id", "")
    return (
        payload.get("harness") == name
        or any(field in payload for field in own.get("payload_fields", ()))
        or payload.get("hook_event_name") in own.get("own_events", ())
        or (isinstance(path, str) and any(folder in path for folder in own.get("payload_folders", ())))
        # of some a hook is told the session twice; where no payload can be read, that is all there is
        or (
            bool(own.get("own_events"))
            and any(environment.get(variable, "") == session != "" for variable in own["session_variables"])
        )
        or (not payload and any(environment.get(variable) for variable in own.get("hook_variables", ())))
    )


def hook_project_folder(environment: "Mapping[str, str]") -> str:
    """Return the project's folder from a hook's variable; empty where none is set."""
    hook_folders = (environment.get(variable, "") for variable in declared("hook_folders"))
    return next(filter(None, hook_folders), "")


def walled_harness(environment: "Mapping[str, str]") -> "harness_verb.Harness | None":
    """Return the harness of a hook or server whose commands the wall may be around; None for none."""
    variables_by_name = {name: declared_of(name, "project_variables") for name in NAMES}
    signalled_names = [
        name for name in reversed(NAMES) if any(environment.get(variable) for variable in variables_by_name[name])
    ]
    return (
        get_harness(signalled_names[0])
        if signalled_names and declared_of(signalled_names[0], "prefix_variables")
        else None
    )


def harness_of_line(line: "Mapping[str, Any]") -> "harness_verb.Harness | None":
    """Return the harness that writes such a transcript line; None for an unknown form."""
    for field, name in declared_by("line_fields").items():
        key, _, types = field.partition("=")
        if key in line and (not types or line.get("type") in types.split("|")):
            return get_harness(name)
    return None
