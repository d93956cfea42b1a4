"""Would a call keep the hooks from running? A project's settings can turn them off, or break them.

Claude Code reads those files again as soon as they change, and starts hooks with the variables that they set.
"""

import posixpath
import re

#: Claude Code's settings of a project, beside those of the user, which no agent writes at all.
PROJECT_SETTINGS = ("settings.json", "settings.local.json")
#: What turns hooks off; the variables that what a hook runs depends on; a letter in disguise.
_IN_JSON = r'disableAllHooks|"(?:HOME|PATH|(?:PYTHON|LD_|XDG_)[A-Z_]+|CLAUDE_CONFIG_DIR)"\s*:|\\u00'
_IN_COMMAND = r"disableAllHooks|\benv\b"
_QUOTING = str.maketrans("", "", "'\"\\")
#: Of a command: it writes, or runs what could.
_WRITES = (
    r"(?<!\d)>(?!\s*(?:/dev/null|&))|\b(?:tee|sponge|dd|patch|ed|ex|perl|python[\d.]*|node|ruby)\b"
    r"|\bsed\s+-\w*i"
)
#: A command that puts a file somewhere of which it doesn't say what is in it, and the place at its end.
_BRINGS = r"\b(?:cp|install|ln|mv|rsync)\b"
_LAST_PLACE = r"[\s/](?:\.claude/?|settings(?:\.local)?\.json)\s*(?:$|\))"


def unhooks(text: str) -> bool:
    """Say whether settings with `text` in them could keep hooks from running."""
    return re.search(_IN_JSON, text) is not None


def is_settings(path: str) -> bool:
    """Say whether an absolute path is a project's settings file."""
    folder, name = posixpath.split(path)
    return name in PROJECT_SETTINGS and posixpath.basename(folder) == ".claude"


def may_unhook(command: str, cwd: str) -> bool:
    """Say whether a command, run in `cwd`, may write a project's settings that turn hooks off."""
    plain = command.translate(_QUOTING)
    if not any(name in plain for name in PROJECT_SETTINGS):
        return False
    if ".claude" not in plain and posixpath.basename(cwd) != ".claude":
        return False
    if any(_brings(part) for part in re.split(r"[;|&\n]", plain)):
        return True
    found = re.search(_IN_COMMAND, plain) or re.search(_IN_COMMAND, plain.replace(" ", ""))
    return found is not None and re.search(_WRITES, command) is not None


def _brings(part: str) -> bool:
    verb = re.search(_BRINGS, part)
    return verb is not None and re.compile(_LAST_PLACE).search(part, verb.end()) is not None
