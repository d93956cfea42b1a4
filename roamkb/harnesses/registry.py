"""The registered harnesses and their declarations: the one place that lists them.

A hook serves one of them at every step and imports that adapter alone. What is asked of all of them together,
such as which variables mark an agent's command, stands below, one row for each question.
"""

from functools import cache

from roamkb import TYPE_CHECKING
from roamkb.harnesses import harness as harness_verb

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Each in the module of its name; the first is taken for one that can't be told.
NAMES = ("claude-code", "codex", "gemini-cli")

#: Gemini CLI's tools that change no file and run nothing.
_GEMINI_READERS = tuple(
    "read_file read_many_files list_directory glob grep_search search_file_content google_web_search "
    "web_fetch ask_user write_todos activate_skill get_internal_docs enter_plan_mode exit_plan_mode "
    "update_topic complete_task list_mcp_resources read_mcp_resource tracker_create_task tracker_update_task "
    "tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize".split()
)
#: By what it says of a harness; of which nothing is said has none.
_DECLARED: "dict[str, dict[str, tuple[str, ...]]]" = {
    # Identity
    #: The name of its switch of `install` and `uninstall`, without dashes.
    "options": {"claude-code": ("claude",), "codex": ("codex",), "gemini-cli": ("gemini",)},
    #: The names of its process.
    "programs": {"claude-code": ("claude",), "codex": ("codex",), "gemini-cli": ("gemini",)},
    #: The end of the folder in which its program is called by its version's number.
    "version_folders": {"claude-code": ("/claude/versions/",)},
    #: The first word of a background server of it that runs for all sessions.
    "server_words": {"codex": ("app-server",)},
    # Environment
    #: The variables that only it sets for its commands.
    "agent_variables": {
        "claude-code": ("CLAUDECODE",),
        "codex": ("CODEX_SANDBOX", "CODEX_THREAD_ID"),
        "gemini-cli": ("GEMINI_CLI",),
    },
    #: The variables that show that an agent runs a command.
    "marks": {
        "claude-code": ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
        "codex": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"),
        "gemini-cli": ("GEMINI_CLI",),
    },
    #: The variable that holds the session's id in its commands.
    "session_variables": {
        "claude-code": ("CLAUDE_CODE_SESSION_ID",),
        "codex": ("CODEX_THREAD_ID",),
        "gemini-cli": ("GEMINI_SESSION_ID",),
    },
    #: The variables that hold the project's folder.
    "project_variables": {
        "claude-code": ("CLAUDE_PROJECT_DIR",),
        "codex": ("CODEX_PROJECT_DIR",),
        "gemini-cli": ("GEMINI_PROJECT_DIR",),
    },
    #: The variables that it sets in its sandbox.
    "sandbox_marks": {"codex": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED")},
    #: The variables that a program of it must not take over from a session around it.
    "inner_variables": {
        "claude-code": ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"),
        "codex": ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        "gemini-cli": ("GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PLANS_DIR"),
    },
    #: The variables that name its folder, or could make it run without hooks.
    "home_variables": {
        "claude-code": ("CLAUDE_CONFIG_DIR",),
        "codex": ("CODEX_HOME",),
        "gemini-cli": ("GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
    },
    #: The variable that names the program before its shell commands; empty where there is none.
    "prefix_variables": {"claude-code": ("CLAUDE_CODE_SHELL_PREFIX",)},
    #: The variable that names the shell of its commands.
    "shell_variables": {"claude-code": ("CLAUDE_CODE_SHELL",)},
    #: The folder with records of a session's folders, where its commands' folder isn't the only one.
    "session_files": {"codex": (".codex/sessions",)},
    #: Environment entries, `VARIABLE=START`, of a session whose answer a program awaits.
    "unattended_entries": {
        # for such a program the last thing said is the answer
        "claude-code": ("CLAUDE_CODE_ENTRYPOINT=sdk-", "CLAUDE_CODE_ENTRYPOINT=claude-code-github-action")
    },
    #: The types, or the members, of its transcripts' entries for calls of tools.
    "call_entries": {
        "claude-code": ("tool_use",),
        "codex": ("function_call", "custom_tool_call"),
        "gemini-cli": ("toolCalls",),
    },
    # Files
    #: The files below HOME on which the effect of roamkb depends.
    "guarded": {
        "claude-code": (".claude/rules/knowledge-base.md", ".claude/settings.json", ".claude/settings.local.json"),
        "codex": (".codex/hooks.json", ".codex/config.toml"),
        "gemini-cli": (".gemini/settings.json",),
    },
    #: The files below HOME that hold hooks.
    "hook_files": {
        "claude-code": (".claude/settings.json",),
        "codex": (".codex/hooks.json",),
        "gemini-cli": (".gemini/settings.json",),
    },
    #: The files below HOME that name servers.
    "server_files": {"codex": (".codex/config.toml",)},
    #: The files below HOME whose hooks run outside of the wall by their own lines.
    "free_hook_files": {"claude-code": (".claude/settings.json",)},
    #: The place of the rule below HOME.
    "rule_files": {"claude-code": (".claude/rules/knowledge-base.md",)},
    #: The instruction files below HOME that may hold roamkb's block.
    "home_texts": {
        "claude-code": (".claude/CLAUDE.md",),
        "codex": (".codex/AGENTS.md",),
        "gemini-cli": (".gemini/GEMINI.md",),
    },
    #: The files of a project that may keep hooks from running.
    "project_settings": {
        "claude-code": (".claude/settings.json", ".claude/settings.local.json"),
        "gemini-cli": (".gemini/settings.json",),
    },
    #: The keys of settings that turn hooks off.
    "hooks_off": {"claude-code": ("disableAllHooks",), "gemini-cli": ("hooksConfig",)},
    #: The patterns of files in a project that each session starts with.
    "boot_files": {
        "claude-code": ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md"),
        "codex": ("AGENTS.md", "AGENTS.override.md"),
        "gemini-cli": ("GEMINI.md",),
    },
    #: The patterns of such files below HOME; `{project}` is its path with dashes.
    "home_boot_files": {
        "claude-code": (".claude/CLAUDE.md", ".claude/rules/*.md", ".claude/projects/{project}/memory/*.md"),
        "codex": (".codex/AGENTS.md",),
        "gemini-cli": (".gemini/GEMINI.md",),
    },
    # Payloads and answers
    #: The fields that only its payloads have.
    "payload_fields": {"codex": ("turn_id",)},
    #: A folder on the way to its transcripts, and to no other's.
    "payload_folders": {"codex": ("/.codex/",), "gemini-cli": ("/.gemini/",)},
    #: The events that no other harness has.
    "own_events": {"gemini-cli": ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress")},
    #: The variable that holds the project's folder in its hooks.
    "hook_folders": {"claude-code": ("CLAUDE_PROJECT_DIR",), "gemini-cli": ("GEMINI_PROJECT_DIR",)},
    #: The variables that only its hooks get, for a payload that can't be read.
    "hook_variables": {"gemini-cli": ("GEMINI_SESSION_ID",)},
    # Tools, in roamkb's kinds
    #: The fields of a shell's input that hold a command, or what is typed.
    "command_keys": {
        "claude-code": ("command",),
        "codex": ("chars", "cmd", "command", "input", "keys", "script"),
        "gemini-cli": ("command",),
    },
    #: The tools that run commands, in lower case.
    "shells": {
        "claude-code": ("bash", "powershell", "monitor"),
        "codex": tuple(
            "bash shell exec exec_command local_shell local_shell_call unified_exec shell_command write_stdin "
            "container.exec".split()
        ),
        "gemini-cli": ("run_shell_command",),
    },
    #: The tools that change one file, in lower case.
    "editors": {
        "claude-code": ("write", "edit", "multiedit", "notebookedit", "create", "str_replace_based_edit_tool"),
        "gemini-cli": ("write_file", "replace"),
    },
    #: The tools that change nothing, as the hook before a tool skips them.
    "readers": {
        "claude-code": tuple(
            "Read Grep Glob LS NotebookRead WebFetch WebSearch TodoWrite TodoRead Task Agent ToolSearch Skill "
            "TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate SendMessage ListMcpResourcesTool "
            "ReadMcpResourceTool ReadMcpResourceDirTool AskUserQuestion EnterPlanMode ExitPlanMode".split()
        ),
        "codex": tuple(
            "read_file list_dir grep_files update_plan view_image get_goal list_mcp_resources "
            "read_mcp_resource clockcurr_time clocksleep collaborationspawn_agent collaborationwait_agent".split()
        ),
        "gemini-cli": _GEMINI_READERS,
    },
    #: The tools that the guard lets pass, in lower case.
    "guard_readers": {
        "claude-code": tuple("read glob grep ls webfetch websearch task agent todowrite notebookread".split()),
        "codex": ("view_image",),
        "gemini-cli": _GEMINI_READERS,
    },
    #: The tools that start a subagent; their input says in `prompt` or `message` what for.
    # Gemini CLI has no event at which a subagent could be told anything
    "spawners": {"claude-code": ("Task", "Agent"), "codex": ("collaborationspawn_agent",)},
    #: The tools whose text comes from elsewhere.
    "fetchers": {
        "claude-code": ("WebFetch", "WebSearch"),
        "codex": ("web_search", "web_search_call"),
        "gemini-cli": ("web_fetch", "google_web_search"),
    },
    # Transcripts
    #: A field that only lines of its transcripts have; `field=a|b` where the line's type counts too.
    "line_fields": {"claude-code": ("message",), "codex": ("payload",), "gemini-cli": ("content=user|gemini",)},
    #: The beginnings of messages that it inserts itself.
    "injected": {
        "claude-code": ("This session is being continued from",),
        "codex": ("# AGENTS.md instructions", "<user_instructions>", "<environment_context>"),
        "gemini-cli": ("<session_context>",),
    },
    #: The beginnings of results of calls that weren't made.
    "not_run": {
        "claude-code": ("The user doesn't want to proceed", "Permission to use ", "PreToolUse:", "<tool_use_error>"),
        "gemini-cli": ("Tool execution blocked: ",),
    },
    #: The beginning of the message that a human stopped the agent.
    "interruptions": {"claude-code": ("[Request interrupted by user",)},
    #: The beginnings of prompts that are its own.
    "notices": {"claude-code": ("<task-notification>",)},
    # Memory and model
    #: The place of its memory below HOME, for messages.
    "memory_places": {"claude-code": (".claude/projects/…/memory",)},
    #: The name by which its language model is asked.
    "models": {"claude-code": ("claude",), "codex": ("codex",), "gemini-cli": ("gemini",)},
}


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
    return tuple(dict.fromkeys(text for name in NAMES for text in declared_of(name, member)))


def declared_of(name: str, member: str) -> tuple[str, ...]:
    """Return the texts that one harness declares under the name of a member."""
    return _DECLARED[member].get(name, ())


@cache
def declared_by(member: str) -> "dict[str, str]":
    """Return each declared text of a member with the name of the first harness that declares it."""
    first_owners: dict[str, str] = {}
    for name in NAMES:
        for text in declared_of(name, member):
            first_owners.setdefault(text, name)
    return first_owners


def harness_of(payload: "Mapping[str, Any]", environment: "Mapping[str, str]") -> "harness_verb.Harness":
    """Return the harness that sent a hook's payload, by fields that only its payloads have."""
    return get_harness(next((name for name in NAMES if _matches_payload(name, payload, environment)), NAMES[0]))


def _matches_payload(name: str, payload: "Mapping[str, Any]", environment: "Mapping[str, str]") -> bool:
    path, session = payload.get("transcript_path"), payload.get("session_id", "")
    return (
        payload.get("harness") == name
        or any(field in payload for field in declared_of(name, "payload_fields"))
        or payload.get("hook_event_name") in declared_of(name, "own_events")
        or (isinstance(path, str) and any(folder in path for folder in declared_of(name, "payload_folders")))
        # of some a hook is told the session twice; where no payload can be read, that is all there is
        or (
            bool(declared_of(name, "own_events"))
            and any(
                environment.get(variable, "") == session != "" for variable in declared_of(name, "session_variables")
            )
        )
        or (not payload and any(environment.get(variable) for variable in declared_of(name, "hook_variables")))
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
