"""Interface of a harness: everything roamkb knows of one program that runs agents, in one adapter each.

roamkb has words of its own for events, tools and answers (those of `roamkb hook`); an adapter translates
between them and its harness. What most harnesses have, and what only some have, is answered here for the others.
A hook imports this at every step, so that it imports nothing itself. What every process may need of all harnesses,
such as the variables that mark an agent's command, stands in `registry`.
"""

from roamkb import TYPE_CHECKING
from roamkb.harnesses import harness
from roamkb.harnesses import hook_list
from roamkb.harnesses import registry
from roamkb.harnesses import settings_json
from roamkb.harnesses import transcript

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any


class Harness:
    """One program that runs agents."""

    __slots__ = ()

    #: The agent's name in notes and logs.
    name = ""
    #: The name that its users know.
    title = ""
    #: The tools that the hook before a tool must be called for.
    writers: "harness.Texts" = ()
    #: Whether it may type into a program that it started, without a hook.
    has_terminals = False
    #: The beginning of variables by which a command could claim another session; empty for none.
    forged_variables = ""
    #: Whether its agent reads the text of the hook before a tool, beside a denial.
    reads_before_tool = True
    #: Whether a message of a transcript is written again as it grows.
    rewrites_lines = False

    @property
    def options(self) -> "harness.Texts":
        """The name of its switch of `install` and `uninstall`, without dashes."""
        return registry.declared_of(self.name, "options")

    @property
    def programs(self) -> "harness.Texts":
        """The names of its process."""
        return registry.declared_of(self.name, "programs")

    @property
    def prefix_variables(self) -> "harness.Texts":
        """The variable that names the program before its shell commands; empty where there is none."""
        return registry.declared_of(self.name, "prefix_variables")

    @property
    def hook_files(self) -> "harness.Texts":
        """The files below HOME that hold hooks."""
        return registry.declared_of(self.name, "hook_files")

    # Payloads and answers

    def session_environment(self, environment: "Mapping[str, str]", payload: "harness.Payload") -> "Mapping[str, str]":
        """Return the environment of a hook as it would be for the session's commands."""
        raise NotImplementedError

    def translate_payload(self, payload: "dict[str, Any]") -> "dict[str, Any]":
        """Return a payload in the terms of `roamkb hook`."""
        return payload

    def translate_answer(self, answer: "dict[str, object]") -> "dict[str, object]":
        """Return an answer in the harness's terms."""
        return answer

    def shows_questions(self, environment: "Mapping[str, str]") -> bool:
        """Return whether a question at a stop goes as context, since a block would be shown as an error."""
        return False

    # Transcripts

    def entries_of(self, line: "Mapping[str, Any]") -> "Iterator[transcript.TranscriptEntry]":
        """Yield the messages, calls and results of one transcript line."""
        raise NotImplementedError

    def folder_of_line(self, line: "Mapping[str, Any]") -> str:
        """Return the folder that the session was in by a transcript's line; empty where it doesn't say."""
        return ""

    def find_transcript(self, session: str, *, home: "Path", environment: "Mapping[str, str]") -> "Path | None":
        """Return the file of a session; None where it has none."""
        raise NotImplementedError

    def transcripts_in(self, folder: "Path", *, home: "Path", environment: "Mapping[str, str]") -> "Iterator[Path]":
        """Yield the transcripts of the sessions in a project's folder; none where they lie by days."""
        return iter(())

    def session_folders(self, environment: "Mapping[str, str]") -> "harness.Texts":
        """Return the folders in which the session of an environment works, where no variable tells."""
        return ()

    def is_unattended(self, line: "Mapping[str, Any]") -> bool:
        """Return, by a transcript's first line, whether a program instead of a human waits for the answer."""
        return False

    # Settings

    @property
    def wanted_hooks(self) -> "tuple[hook_list.Hook, ...]":
        """The hooks that roamkb wants."""
        raise NotImplementedError

    @property
    def settings_files(self) -> "tuple[harness.SettingsFile, ...]":
        """The settings files that `install` edits."""
        raise NotImplementedError

    def installed_handlers(self, settings: bytes) -> "tuple[hook_list.HookHandler, ...]":
        """Return roamkb's hooks in the harness's settings; raises `ValueError`."""
        return settings_json.own_handlers(settings) if settings.strip() else ()

    def enabled_plugin(self, settings: bytes) -> str:
        """Return the name of roamkb's plugin where the settings turn it on; else an empty text."""
        return ""

    def find_faults(
        self, settings: "harness.SettingsOnDisk", handlers: "tuple[hook_list.HookHandler, ...]"
    ) -> "Iterator[harness.SettingsFault]":
        """Yield the settings that keep roamkb's hooks from running; raises `ValueError`."""
        raise NotImplementedError

    def missing_settings(self, settings: bytes, kbs: "harness.Texts") -> str:
        """Return the permission rules that `install` would add; empty where none is missing."""
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

    def sandbox_report(
        self, settings: "harness.SettingsOnDisk", kbs: "harness.Texts"
    ) -> "harness.SandboxReport | None":
        """Return a report on the harness's sandbox; None where roamkb's wall is around its commands."""
        return None

    # Memory and model

    def memory_folders(self, root: "Path", home: "Path") -> "tuple[Path, ...]":
        """Return the folders that may hold its memory of a project."""
        return ()

    def project_of(self, path: "Path") -> str | None:
        """Return the project's name in its folders, if a path lies in one of them."""
        return None

    def project_names(self, root: str) -> "harness.Texts":
        """Return the names that the harness's folders may have for the project at `root`."""
        return ()

    def model_command(self, prompt: str, environment: "Mapping[str, str]") -> list[str]:
        """Return the command that asks its model once, without tools, hooks or record."""
        raise NotImplementedError

    def model_input(self, prompt: str, payload: str) -> str:
        """Return the standard input of that command, of which the prompt is an option."""
        return payload

    def model_answer(self, records: "list[dict[str, Any]]", text: str) -> str:
        """Return that command's answer; raises `NoModelAnswer`."""
        raise NotImplementedError
