"""Values that harnesses' adapters take and return; and the interface of an adapter, by its name here."""

from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.adapter import Harness as Harness

Payload = Mapping[str, Any]
Answer = Mapping[str, object]
Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsRequest:
    """Content that roamkb puts into a harness's settings."""

    #: The command that hooks and the server run.
    program: str
    #: The knowledge bases, from `~` or `/`; empty where no rule names them.
    kbs: Texts
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
    #: Reads a settings file at the end of whatever links lead there; empty where it isn't there. Raises
    #: `UnreadableSettings` where no file can be read there.
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
    """A settings file that can't be read; the message is what follows its path."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path = path


class NoModelAnswer(ValueError):
    """A harness's program gave no answer; the message is a clause that says why."""

    def __init__(self, clause: str, *, quoted: str = "") -> None:
        super().__init__(clause)
        #: What it printed instead.
        self.quoted = quoted
