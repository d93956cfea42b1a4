"""Hooks that roamkb wants at the harnesses' events, and handlers that a settings file holds."""

import re

from roamkb.core.startup.dataclasses import dataclass

#: Claude Code's tools that change no file and run nothing: not worth a process each time.
_READ_ONLY_TOOLS = (
    "Read|Grep|Glob|LS|NotebookRead|WebFetch|WebSearch|ToolSearch|TodoWrite|TodoRead"
    "|Task(?:Create|Get|List|Output|Stop|Update)|Skill|SendMessage|AskUserQuestion"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One event at which roamkb wants to be run."""

    #: As harnesses spell it: `PreToolUse`.
    event: str
    #: Seconds. A hook takes well under one; a hook that is stopped before a tool decides nothing.
    timeout: int = 10
    #: A JavaScript regular expression over tool names; empty for all.
    matcher: str = ""

    @property
    def command_word(self) -> str:
        """The event as the command line has it: `pre-tool-use`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", self.event).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookHandler:
    """A hook of roamkb's that a settings file holds."""

    #: As the file has it, right or wrong.
    event: str
    #: Its matcher's text, empty for all.
    matcher: str
    #: The program and its arguments.
    words: tuple[str, ...]
    #: Seconds; None where the file leaves it to the harness.
    timeout: float | None


CLAUDE_HOOKS = (
    Hook(event="SessionStart", timeout=30),
    Hook(event="SubagentStart"),
    Hook(event="UserPromptSubmit"),
    Hook(event="PreToolUse", matcher=f"^(?!(?:{_READ_ONLY_TOOLS})$)"),
    Hook(event="PostToolUse"),
    Hook(event="PostToolUseFailure"),
    Hook(event="PreCompact"),
    Hook(event="PostCompact"),
    Hook(event="Stop", timeout=30),
    Hook(event="SubagentStop"),
    # without a timeout of its own it shares 1.5 s with all others of its kind
    Hook(event="SessionEnd"),
)
#: Seconds that Codex gives a session's end; of more it warns at each start.
CODEX_SESSION_END_TIMEOUT = 3
#: Codex tells of no failure by itself, and its regular expressions know no lookahead.
CODEX_HOOKS = tuple(
    Hook(event=hook.event, timeout=CODEX_SESSION_END_TIMEOUT if hook.event == "SessionEnd" else hook.timeout)
    for hook in CLAUDE_HOOKS
    if hook.event != "PostToolUseFailure"
)

#: What only a human says; the hook before a tool sees these in any disguise, a rule only spelt like this.
_HUMAN_ONLY_VERBS = (
    "approve",
    "override",
    "reject",
    "rollback",
    "uninstall",
    "journal restore",
    "curate --apply",
    "review --curate",
    "review --edit",
)


def deny_rules(kb: str) -> tuple[str, ...]:
    """Return Claude Code's permission rules that keep its own tools off the notes in `kb` (from `~` or `/`).

    They hold in every project, personal ones too, since user settings know no projects: notes
    are written by `roamkb write` there. A rule for `Edit` holds for all tools that write files.
    """
    place = kb.rstrip("/")
    anchored = place if place.startswith("~/") else f"/{place}"
    return (f"Edit({anchored}/**)", *(f"Bash(roamkb {verb} *)" for verb in _HUMAN_ONLY_VERBS))
