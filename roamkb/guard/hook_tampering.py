"""Calls that would keep the hooks from running, by a project's settings or a harness's options.

A project's settings can turn them off, or break them.

Claude Code reads those files again as soon as they change, and starts hooks with the variables that they set.
A harness that is started from within can be told to run none.
"""

import posixpath
import re
from collections.abc import Iterable
from collections.abc import Mapping

from roamkb.shell.programs import ParsedArguments

#: Claude Code's settings of a project, beside those of the user, which no agent writes at all.
PROJECT_SETTINGS = ("settings.json", "settings.local.json")
#: Has Claude Code run each command behind the wall.
SHELL_PREFIX = "CLAUDE_CODE_SHELL_PREFIX"
#: What a hook depends on, or what runs before it.
_HOOK_VARIABLES = (
    rf"HOME|PATH|BASH_ENV|ENV|NODE_OPTIONS|CLAUDE_CONFIG_DIR|CODEX_HOME|{SHELL_PREFIX}"
    r"|(?:PYTHON|LD_|XDG_)[A-Z_]+"
)
#: What turns hooks off; those variables; a letter in disguise.
_TAMPERING_IN_JSON = rf'disableAllHooks|"(?:{_HOOK_VARIABLES})"\s*:|\\u00'
#: The same as a command may put it together.
_TAMPERING_IN_COMMAND = rf"disableAllHooks|\benv\b|\b(?:{_HOOK_VARIABLES})\b\s*:"


def disables_hooks(text: str) -> bool:
    """Say whether settings with `text` in them could keep hooks from running."""
    return re.search(_TAMPERING_IN_JSON, text) is not None


def is_project_settings(path: str) -> bool:
    """Say whether an absolute path is a project's settings file."""
    folder, name = posixpath.split(path)
    return name in PROJECT_SETTINGS and posixpath.basename(folder) == ".claude"


def may_disable_hooks(command: str) -> bool:
    """Say whether a command that writes a project's settings may turn hooks off."""
    return re.search(_TAMPERING_IN_COMMAND, command) is not None or "disableAllHooks" in re.sub(
        r"[^A-Za-z]", "", command
    )


def starts_without_hooks(parsed: ParsedArguments, variables: Iterable[str]) -> bool:
    """Say whether a harness is started so that it runs none of our hooks."""
    return (
        "off" in parsed.flags
        or any("hook" in word for word in parsed.values.get("set", ()))
        or any(re.fullmatch(_HOOK_VARIABLES, word) for word in variables)
    )


def drops_prefix(words: list[str], settings: Mapping[str, str]) -> bool:
    """Say whether a command unsets or sets the variable that puts commands behind the wall."""
    if SHELL_PREFIX in settings:
        return True
    is_named = any(word.partition("=")[0].removeprefix("-u").removeprefix("--unset=") == SHELL_PREFIX for word in words)
    return is_named and words[0] in ("unset", "env", "export", "declare", "typeset", "local", "readonly")
