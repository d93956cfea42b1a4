"""Calls that would keep the hooks from running, by a project's settings or a harness's options.

A project's settings can turn them off, or break them.

A harness may read those files again as soon as they change, and start hooks with the variables that they set.
A harness that is started from within can be told to run none.
"""

import posixpath
import re
from collections.abc import Iterable
from collections.abc import Mapping

from roamkb.harnesses.registry import declared
from roamkb.shell.programs import ParsedArguments

#: A project's settings, beside those of the user, which no agent writes at all.
_PROJECT_SETTINGS = frozenset(declared("project_settings"))
#: What has each command run behind the wall.
_PREFIXES = frozenset(declared("prefix_variables"))
#: What a hook depends on, or what runs before it.
_HOOK_VARIABLES = (
    rf"HOME|PATH|BASH_ENV|ENV|NODE_OPTIONS|{'|'.join((*declared('home_variables'), *_PREFIXES))}"
    r"|(?:PYTHON|LD_|XDG_)[A-Z_]+"
)
#: What turns hooks off; those variables; a letter in disguise.
_OFF = "|".join(declared("hooks_off"))
_TAMPERING_IN_JSON = rf'{_OFF}|"(?:{_HOOK_VARIABLES})"\s*:|\\u00'
#: The same as a command may put it together.
_TAMPERING_IN_COMMAND = rf"{_OFF}|\benv\b|\b(?:{_HOOK_VARIABLES})\b\s*:"
#: What a shell takes out of words.
QUOTING_SIGNS = str.maketrans("", "", "'\"\\")
#: Letters that a command, or JSON, writes by their numbers.
_NUMBERED_LETTER = r"\\(?:x[0-9a-fA-F]|[uU]00|0?[0-7]{2,3})"


def disables_hooks(text: str) -> bool:
    """Say whether settings with `text` in them could keep hooks from running."""
    return re.search(_TAMPERING_IN_JSON, text) is not None


def is_project_settings(path: str) -> bool:
    """Say whether an absolute path is a project's settings file."""
    folder, name = posixpath.split(path)
    return f"{posixpath.basename(folder)}/{name}" in _PROJECT_SETTINGS


def may_disable_hooks(command: str) -> bool:
    """Say whether a command that writes a project's settings may turn hooks off."""
    if re.search(_NUMBERED_LETTER, command):
        return True
    command = command.translate(QUOTING_SIGNS)
    letters = re.sub(r"[^A-Za-z]", "", command)
    return re.search(_TAMPERING_IN_COMMAND, command) is not None or re.search(_OFF, letters) is not None


def starts_without_hooks(parsed: ParsedArguments, variables: Iterable[str]) -> bool:
    """Say whether a harness is started so that it runs none of our hooks."""
    return (
        "off" in parsed.flags
        or any("hook" in word for word in parsed.values.get("set", ()))
        or any(re.fullmatch(_HOOK_VARIABLES, word) for word in variables)
    )


def drops_prefix(words: list[str], settings: Mapping[str, str]) -> bool:
    """Say whether a command unsets or sets the variable that puts commands behind the wall."""
    if not _PREFIXES.isdisjoint(settings):
        return True
    is_named = any(word.partition("=")[0].removeprefix("-u").removeprefix("--unset=") in _PREFIXES for word in words)
    return is_named and words[0] in ("unset", "env", "export", "declare", "typeset", "local", "readonly")
