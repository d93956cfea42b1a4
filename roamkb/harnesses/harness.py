"""Interface of a harness: everything roamkb knows of one program that runs agents, in one file each.

Each has one file that says it.

roamkb has words of its own for events, tools and answers (those of `roamkb hook`); an adapter translates
between them and its harness. What every process may need of all harnesses, such as the variables that
mark an agent's command, the adapter declares as tuples of texts; `registry` keeps them gathered.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Protocol

from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler
from roamkb.harnesses.transcript import TranscriptEntry

Payload = Mapping[str, Any]
Answer = Mapping[str, object]
Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsRequest:
    """Content that roamkb puts into a harness's settings."""

    #: The command that hooks and the server run.
    program: str
    #: The knowledge base, from `~` or `/`; None where no rule names it.
    kb: str | None
    #: Whether `roamkb mcp` would start.
    has_mcp: bool = True
    #: What runs shell commands behind the wall; empty for no wall.
    launcher: str = ""
    #: What the harness's own sandbox is to close, where the user has it on.
    closed_paths: Texts = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """A settings file that roamkb's hooks or server are put into."""

    #: As reports call it.
    label: str
    #: Below HOME.
    path: Path
    #: Takes the file's content (None: no file yet) and returns the new one; raises `ValueError`.
    put_in: Callable[[bytes | None, SettingsRequest], bytes]
    #: Returns the content without what was put in; None where nothing else was in the file.
    take_out: Callable[[bytes, SettingsRequest], bytes | None]
    #: Why it has no effect yet, as a clause; empty where it has.
    pending_reason: str = ""
    #: Whether it names the server alone.
    is_server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsOnDisk:
    """The settings that a check is about."""

    home: Path
    #: The project's root; None outside of one.
    root: Path | None
    #: Reads a settings file at the end of whatever links lead there; empty where it isn't there.
    read_settings: Callable[[Path], bytes]
    #: Resolves links.
    resolve_path: Callable[[Path], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFault:
    """A reason why installed hooks do not run."""

    detail: str
    #: What only a human does about it; empty where installing again, or editing the settings, does.
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxReport:
    """The protection that a harness's own sandbox gives the notes."""

    ok: bool
    detail: str
    fix: str = ""


class UnreadableSettings(ValueError):
    """A settings file beside the hooks' own can't be read."""

    def __init__(self, path: Path, error: ValueError) -> None:
        super().__init__(str(error))
        self.path = path


class NoModelAnswer(ValueError):
    """A harness's program gave no answer; the message is a clause that says why."""

    def __init__(self, clause: str, *, quoted: str = "") -> None:
        super().__init__(clause)
        #: What it printed instead.
        self.quoted = quoted


class Harness(Protocol):
    """One program that runs agents."""

    # Identity

    @property
    def name(self) -> str:
        """The agent's name in notes and logs."""

    @property
    def title(self) -> str:
        """The name that its users know."""

    @property
    def options(self) -> Texts:
        """The name of its switch of `install` and `uninstall`, without dashes."""

    @property
    def programs(self) -> Texts:
        """The names of its process."""

    @property
    def version_folders(self) -> Texts:
        """The end of the folder in which its program is called by its version's number."""

    @property
    def server_words(self) -> Texts:
        """The first word of a background server of it that runs for all sessions."""

    # Environment

    @property
    def agent_variables(self) -> Texts:
        """The variables that only it sets for its commands."""

    @property
    def marks(self) -> Texts:
        """The variables that show that an agent runs a command."""

    @property
    def session_variables(self) -> Texts:
        """The variable that holds the session's id in its commands."""

    @property
    def project_variables(self) -> Texts:
        """The variables that hold the project's folder."""

    @property
    def sandbox_marks(self) -> Texts:
        """The variables that it sets in its sandbox."""

    @property
    def inner_variables(self) -> Texts:
        """The variables that a program of it must not take over from a session around it."""

    @property
    def home_variables(self) -> Texts:
        """The variables that name its folder, or could make it run without hooks."""

    @property
    def prefix_variables(self) -> Texts:
        """The variable that names the program before its shell commands; empty where there is none."""

    @property
    def shell_variables(self) -> Texts:
        """The variable that names the shell of its commands."""

    @property
    def session_files(self) -> Texts:
        """The folder with records of a session's folders, where its commands' folder isn't the only one."""

    @property
    def unattended_entries(self) -> Texts:
        """Environment entries, `VARIABLE=START`, of a session whose answer a program awaits."""

    def session_environment(self, environment: Mapping[str, str], payload: Payload) -> Mapping[str, str]:
        """Return the environment of a hook as it would be for the session's commands."""

    # Files

    @property
    def guarded(self) -> Texts:
        """The files below HOME on which the effect of roamkb depends."""

    @property
    def hook_files(self) -> Texts:
        """The files below HOME that hold hooks."""

    @property
    def server_files(self) -> Texts:
        """The files below HOME that name servers."""

    @property
    def free_hook_files(self) -> Texts:
        """The files below HOME whose hooks run outside of the wall by their own lines."""

    @property
    def rule_files(self) -> Texts:
        """The place of the rule below HOME."""

    @property
    def home_texts(self) -> Texts:
        """The instruction files below HOME that may hold roamkb's block."""

    @property
    def project_settings(self) -> Texts:
        """The files of a project that may keep hooks from running."""

    @property
    def hooks_off(self) -> Texts:
        """The keys of settings that turn hooks off."""

    @property
    def boot_files(self) -> Texts:
        """The patterns of files in a project that each session starts with."""

    @property
    def home_boot_files(self) -> Texts:
        """The patterns of such files below HOME; `{project}` is its path with dashes."""

    # Payloads and answers

    @property
    def payload_fields(self) -> Texts:
        """The fields that only its payloads have."""

    @property
    def payload_folders(self) -> Texts:
        """A folder on the way to its transcripts, and to no other's."""

    @property
    def own_events(self) -> Texts:
        """The events that no other harness has."""

    @property
    def hook_folders(self) -> Texts:
        """The variable that holds the project's folder in its hooks."""

    @property
    def hook_variables(self) -> Texts:
        """The variables that only its hooks get, for a payload that can't be read."""

    @property
    def has_terminals(self) -> bool:
        """Whether it may type into a program that it started, without a hook."""

    @property
    def forged_variables(self) -> str:
        """The beginning of variables by which a command could claim another session; empty for none."""

    @property
    def reads_before_tool(self) -> bool:
        """Whether its agent reads the text of the hook before a tool, beside a denial."""

    def translate_payload(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return a payload in the terms of `roamkb hook`."""

    def translate_answer(self, answer: dict[str, object]) -> dict[str, object]:
        """Return an answer in the harness's terms."""

    def shows_questions(self, environment: Mapping[str, str]) -> bool:
        """Return whether a question at a stop goes as context, since a block would be shown as an error."""

    # Tools, in roamkb's kinds

    @property
    def command_keys(self) -> Texts:
        """The fields of a shell's input that hold a command, or what is typed."""

    @property
    def shells(self) -> Texts:
        """The tools that run commands, in lower case."""

    @property
    def editors(self) -> Texts:
        """The tools that change one file, in lower case."""

    @property
    def readers(self) -> Texts:
        """The tools that change nothing, as the hook before a tool skips them."""

    @property
    def guard_readers(self) -> Texts:
        """The tools that the guard lets pass, in lower case."""

    @property
    def spawners(self) -> Texts:
        """The tools that start a subagent; their input says in `prompt` or `message` what for."""

    @property
    def fetchers(self) -> Texts:
        """The tools whose text comes from elsewhere."""

    @property
    def writers(self) -> Texts:
        """The tools that the hook before a tool must be called for."""

    # Transcripts

    @property
    def line_fields(self) -> Texts:
        """A field that only lines of its transcripts have; `field=a|b` where the line's type counts too."""

    @property
    def injected(self) -> Texts:
        """The beginnings of messages that it inserts itself."""

    @property
    def not_run(self) -> Texts:
        """The beginnings of results of calls that weren't made."""

    @property
    def interruptions(self) -> Texts:
        """The beginning of the message that a human stopped the agent."""

    @property
    def rewrites_lines(self) -> bool:
        """Whether a message is written again as it grows."""

    @property
    def notices(self) -> Texts:
        """The beginnings of prompts that are its own."""

    def entries_of(self, line: Mapping[str, Any]) -> Iterator[TranscriptEntry]:
        """Yield the messages, calls and results of one transcript line."""

    def find_transcript(self, session: str, *, home: Path, environment: Mapping[str, str]) -> Path | None:
        """Return the file of a session; None where it has none."""

    def transcripts_in(self, folder: Path, *, home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the transcripts of the sessions in a project's folder."""

    def session_folders(self, environment: Mapping[str, str]) -> Texts:
        """Return the folders in which the session of an environment works, as it writes them down."""

    def is_unattended(self, line: Mapping[str, Any]) -> bool:
        """Return, by a transcript's first line, whether a program instead of a human waits for the answer."""

    # Settings

    @property
    def wanted_hooks(self) -> tuple[Hook, ...]:
        """The hooks that roamkb wants."""

    @property
    def settings_files(self) -> tuple[SettingsFile, ...]:
        """The settings files that `install` edits."""

    def installed_handlers(self, settings: bytes) -> tuple[HookHandler, ...]:
        """Return roamkb's hooks in the harness's settings; raises `ValueError`."""

    def enabled_plugin(self, settings: bytes) -> str:
        """Return the name of roamkb's plugin where the settings turn it on; else an empty text."""

    def find_faults(self, settings: SettingsOnDisk, handlers: tuple[HookHandler, ...]) -> Iterator[SettingsFault]:
        """Yield the settings that keep roamkb's hooks from running; raises `ValueError`."""

    def missing_settings(self, settings: bytes, kb: str) -> str:
        """Return the setting that `install` would add; empty where none is missing."""

    def probe_payload(self, folder: str, note: str) -> Mapping[str, object]:
        """Return the payload before a tool that writes a note from a folder."""

    def is_denial(self, answer: Mapping[str, object]) -> bool:
        """Return whether an answer keeps the tool from being called."""

    def sandbox_report(self, settings: SettingsOnDisk, kb: str) -> SandboxReport | None:
        """Return a report on the harness's sandbox; None where roamkb's wall is around its commands."""

    # Memory and model

    def memory_folders(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the folders that may hold its memory of a project."""

    def project_of(self, path: Path) -> str | None:
        """Return the project's name in its folders, if a path lies in one of them."""

    def project_names(self, root: str) -> Texts:
        """Return the names that the harness's folders may have for the project at `root`."""

    @property
    def memory_places(self) -> Texts:
        """The place of its memory below HOME, for messages."""

    @property
    def models(self) -> Texts:
        """The name by which its language model is asked."""

    def model_command(self, prompt: str, environment: Mapping[str, str]) -> list[str]:
        """Return the command that asks its model once, without tools, hooks or record."""

    def model_input(self, prompt: str, payload: str) -> str:
        """Return the standard input of that command."""

    def model_answer(self, records: list[dict[str, Any]], text: str) -> str:
        """Return that command's answer; raises `NoModelAnswer`."""
