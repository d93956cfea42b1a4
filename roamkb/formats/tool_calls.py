"""Tool calls of agents, as hooks are told of them: what they would write, and whether they may."""

import posixpath
import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.core.guard import Denial
from roamkb.core.guard import Ground
from roamkb.core.guard import is_spared
from roamkb.core.guard import may_concern
from roamkb.core.guard import names_the_server
from roamkb.core.guard import paths_of_patch
from roamkb.core.guard import protected
from roamkb.core.guard import refusal
from roamkb.core.guard import rule_denial
from roamkb.core.guard import server_denial
from roamkb.core.reach import Names
from roamkb.core.reach import Reach
from roamkb.core.unhooking import is_settings
from roamkb.core.unhooking import may_unhook
from roamkb.core.unhooking import unhooks

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    Given = Mapping[str, Any]

#: Claude Code's and Codex's own names; in lower case.
_EDITORS = frozenset("write edit multiedit notebookedit create str_replace_based_edit_tool".split())
_SHELLS = frozenset(
    "bash shell exec exec_command local_shell local_shell_call unified_exec shell_command write_stdin"
    " container.exec powershell monitor".split()
)
_READERS = frozenset(
    "read glob grep ls webfetch websearch task agent todowrite notebookread view_image".split()
)
#: What a server's tool is called that changes files.
_CHANGES = r"write|edit|create|delete|remove|move|rename|append|update|patch|save|insert|replace|copy|put"
_PATH_KEY = r"(?i)path|file|uri|dest|source|target|dir|folder|^to$|^from$"
_COMMANDS = ("command", "cmd", "input", "chars", "script")
#: An edit of settings that touches none of these leaves the hooks alone.
_OF_HOOKS = r"(?i)hook|roam|tool|command|matcher|knowledge"
_DEEPEST = 6
_MOST_VALUES = 200


def judge_tool(tool: str, given: "Given", ground: Ground) -> Denial | None:
    """Return why the call of `tool` with the input `given` is denied, or None where it is not.

    The one door for hooks: takes any tool's name and any JSON object, and never writes or runs anything.
    """
    name = tool.lower()
    if not ground.is_personal and _names_the_server(name, given, ground):
        return server_denial(ground)
    if name in _READERS or name.startswith(("mcp__roamkb__", "mcp__plugin_roamkb_roamkb__")):
        return None
    if name in _SHELLS:
        return _judge_shell(given, ground)
    if name in ("apply_patch", "applypatch"):
        text = "\n".join(value for _, value in _texts(given))
        return _judge_paths(paths_of_patch(text), given, ground)
    if name in _EDITORS or re.search(_CHANGES, name.rpartition("__")[2]):
        return _judge_paths(
            (value for key, value in _texts(given) if re.search(_PATH_KEY, key)), given, ground
        )
    return None


def _names_the_server(name: str, given: "Given", ground: Ground) -> bool:
    """Say whether a command, or what another tool opens, is the server's or its token's."""
    texts = (
        text
        for key, text in _texts(given)
        if (key in _COMMANDS if name in _SHELLS else re.search(rf"{_PATH_KEY}|url", key))
    )
    return any(names_the_server(text, ground) for text in texts)


def _judge_shell(given: "Given", ground: Ground) -> Denial | None:
    action = given.get("action")
    asked: Given = action if isinstance(action, Mapping) else given
    where = next((asked[key] for key in ("workdir", "working_directory", "cwd") if key in asked), "")
    if isinstance(where, str) and where:
        ground = ground.moved(posixpath.join(ground.cwd, where))
    for key in _COMMANDS:
        command = asked.get(key)
        words = command if isinstance(command, list) else []
        text = command if isinstance(command, str) else " ".join(one for one in words if isinstance(one, str))
        if may_unhook(text, ground.cwd):
            return rule_denial()
        if not text or not may_concern(text, ground):
            continue
        from roamkb.core.shell_guard import judge_script
        from roamkb.core.shell_guard import judge_words
        from roamkb.formats.shell import read_script

        if isinstance(command, str):
            denial = judge_script(command, ground, read_script)
        else:
            denial = judge_words([one for one in words if isinstance(one, str)], ground, read_script)
        if denial:
            return denial
    return None


def _judge_paths(paths: Iterable[str], given: "Given", ground: Ground) -> Denial | None:
    kb = Names(ground.kb, home=ground.home, resolve=ground.resolve)
    rule = protected(ground)
    for path in paths:
        if rule.find_path(path, ground.cwd)[0] is Reach.INSIDE and not _spares_hooks(path, given):
            return rule_denial()
        if _unhooks(path, given, ground):
            return rule_denial()
        reach, where = kb.find_path(path, ground.cwd)
        if reach is Reach.INSIDE and (not ground.is_personal or is_spared(where, ground)):
            return refusal(ground, "the tool would write to a file there")
    return None


def _unhooks(path: str, given: "Given", ground: Ground) -> bool:
    """Say whether a project's settings are to hold what could keep the hooks from running."""
    place = posixpath.normpath(posixpath.join(ground.cwd, path))
    if not (is_settings(place) or is_settings(ground.resolve(place))):
        return False
    return any(unhooks(value) for key, value in _texts(given) if not re.search(_PATH_KEY, key))


def _spares_hooks(path: str, given: "Given") -> bool:
    """Say whether an edit of settings has nothing to do with the hooks."""
    texts = [value for key, value in _texts(given) if key in ("old_string", "new_string")]
    return (
        len(texts) >= 2
        and "settings" in posixpath.basename(path)
        and not re.search(_OF_HOOKS, "\n".join(texts))
    )


def _texts(given: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the key that it stands under, a few levels deep."""
    waiting: list[tuple[str, object, int]] = [("", given, 0)]
    seen = 0
    while waiting and seen < _MOST_VALUES:
        key, value, depth = waiting.pop(0)
        seen += 1
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, Mapping) and depth < _DEEPEST:
            waiting += [(str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and depth < _DEEPEST:
            waiting += [(key, inner, depth + 1) for inner in value[:_MOST_VALUES]]
