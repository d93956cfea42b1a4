"""Members that most harnesses share, for adapters to inherit: what they lack, and roamkb's own words.

A hook imports this at every step, so that it imports nothing itself.
"""

from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import settings_json

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

_NONE: "tuple[str, ...]" = ()


class CommonHarness:
    """A harness that runs commands and edits files, without what only some have."""

    __slots__ = ()

    version_folders = server_words = _NONE
    sandbox_marks = prefix_variables = shell_variables = session_files = unattended_entries = _NONE
    server_files = free_hook_files = rule_files = project_settings = hooks_off = _NONE
    payload_fields = payload_folders = own_events = hook_folders = hook_variables = _NONE
    editors = not_run = interruptions = notices = memory_places = _NONE
    command_keys: "tuple[str, ...]" = ("command",)
    has_terminals = rewrites_lines = False
    reads_before_tool = True
    forged_variables = ""

    def translate_answer(self, answer: "dict[str, object]") -> "dict[str, object]":
        """Return the answer unchanged: its terms are roamkb's."""
        return answer

    def shows_questions(self, environment: "Mapping[str, str]") -> bool:
        """Return False: a block is not shown as an error."""
        return False

    def session_folders(self, environment: "Mapping[str, str]") -> "tuple[str, ...]":
        """Return nothing: its project's folder is in a variable."""
        return ()

    def is_unattended(self, line: "Mapping[str, Any]") -> bool:
        """Return False: a line of a transcript does not tell."""
        return False

    def installed_handlers(self, settings: bytes) -> "tuple[hook_list.HookHandler, ...]":
        """Return roamkb's hooks in the settings."""
        return settings_json.own_handlers(settings) if settings.strip() else ()

    def enabled_plugin(self, settings: bytes) -> str:
        """Return an empty text: the settings list no plugin of roamkb's."""
        return ""

    def missing_settings(self, settings: bytes, kb: str) -> str:
        """Return an empty text: it has no permission rules."""
        return ""

    def probe_payload(self, folder: str, note: str) -> "Mapping[str, object]":
        """Return the payload before a tool that writes a note from a folder."""
        return {
            "session_id": "roamkb-doctor",
            "hook_event_name": "PreToolUse",
            "cwd": folder,
            "tool_name": "Write",
            "tool_input": {"file_path": note, "content": "a probe"},
        }

    def is_denial(self, answer: "harness.Answer") -> bool:
        """Return whether an answer keeps the tool from being called."""
        decision_fields = answer.get("hookSpecificOutput")
        return isinstance(decision_fields, dict) and decision_fields.get("permissionDecision") == "deny"

    def sandbox_report(self, settings: "harness.SettingsOnDisk", kb: str) -> "harness.SandboxReport | None":
        """Return None: roamkb's wall is around its commands."""
        return None

    def memory_folders(self, root: "Path", home: "Path") -> "tuple[Path, ...]":
        """Return none: it keeps no memory of a project."""
        return ()

    def project_of(self, path: "Path") -> str | None:
        """Return None: it keeps no memory of a project."""
        return None

    def project_names(self, root: str) -> "tuple[str, ...]":
        """Return none: it keeps no memory of a project."""
        return ()

    def model_input(self, prompt: str, payload: str) -> str:
        """Return the payload: the prompt is an option of its command."""
        return payload
