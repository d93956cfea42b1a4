"""Hooks that roamkb wants at the harnesses' events, and handlers that a settings file holds."""

import re

from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """An event at which roamkb is to be run."""

    #: As the harness spells it: `PreToolUse`.
    event: str
    #: A hook takes well under a second; a hook that is stopped before a tool decides nothing.
    timeout: int = 10
    #: What the harness counts the timeout in.
    unit: str = "s"
    #: A JavaScript regular expression over tool names; empty for all.
    matcher: str = ""
    #: The event's name on the command line, where it isn't the harness's own with dashes.
    command: str = ""

    @property
    def command_word(self) -> str:
        """The event as the command line has it: `pre-tool-use`."""
        return self.command or re.sub(r"(?<!^)(?=[A-Z])", "-", self.event).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookHandler:
    """A hook of roamkb's that a settings file holds."""

    #: As the file has it, right or wrong.
    event: str
    #: Its matcher's text, empty for all.
    matcher: str
    #: The program and its arguments.
    words: tuple[str, ...]
    #: As the harness counts; None where the file leaves it to the harness.
    timeout: float | None
