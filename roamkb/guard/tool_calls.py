"""Tool calls of agents, as hooks are told of them: what they would write, and whether they may."""

import json
import posixpath
import re
from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.core.data_tables import words_by_role
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.policy import may_concern
from roamkb.guard.policy import may_concern_path
from roamkb.guard.policy import names_the_server
from roamkb.guard.policy import paths_of_patch
from roamkb.guard.policy import server_denial

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
_WORDS = words_by_role("tool_words.tsv")
#: Verbs in a server's words for what a tool does, or is told to do.
_CHANGES = _WORDS["change"]
_WORD = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
#: A short value, such as the name of a method.
_METHOD = r"[\w.-]{1,40}"
#: Keys under which anything may be said, of a note as well.
_SAID = rf"(?i)^(?:{'|'.join(_WORDS['content'])})$"
_COMMANDS = _WORDS["command"]
_PATH_KEY = rf"(?i){'|'.join(_WORDS['path'])}"
#: An edit of settings that touches none of these leaves the hooks alone.
_OF_HOOKS = r"(?i)hook|roam|tool|command|matcher|knowledge"
_DEEPEST = 6
_MOST_VALUES = 200


def judge_tool(tool: str, given: "Given", ground: GuardContext) -> Denial | None:
    """Return why the call of `tool` with the input `given` is denied, or None where it is not.

    The one door for hooks: takes any tool's name and any JSON object, and never writes or runs anything.
    """
    name = tool.lower()
    if _names_the_server(name, given, ground) and not ground.is_personal:
        return server_denial(ground)
    if name in _READERS or name.startswith(("mcp__roamkb__", "mcp__plugin_roamkb_roamkb__")):
        return None
    if name in _SHELLS:
        return _judge_shell(given, ground)
    texts = [*_texts(given)]
    if name in ("apply_patch", "applypatch"):
        return _judge_paths(paths_of_patch("\n".join(value for _, value in texts)), given, ground)
    if name in _EDITORS:
        return _judge_paths([value for key, value in texts if re.search(_PATH_KEY, key)], given, ground)
    return _judge_other(tool.rpartition("__")[2], texts, given, ground)


def _judge_other(
    tool: str, texts: list[tuple[str, str]], given: "Given", ground: GuardContext
) -> Denial | None:
    """Judge a tool that nobody knows by what it is told: a command, code, or a path and a verb."""
    for _, value in texts:
        is_said = all(re.search(_SAID, key) for key, text in texts if text == value)
        if not is_said and re.search(r"[\s(]", value) and (denial := _judge_text(value, ground)):
            return denial
    words = [value for key, value in texts if not re.search(_SAID, key) and re.fullmatch(_METHOD, value)]
    verbs = {one.lower() for text in (tool, *words) for one in re.findall(_WORD, text)}
    lists = [
        value
        for value in given.values()
        if isinstance(value, list) and all(isinstance(one, str) for one in value)
    ]
    for one in lists:
        if denial := _judge_words(one, ground):
            return denial
    if not verbs & _CHANGES:
        return None
    spared = _SAID if verbs & _CHANGES != {"copy"} else rf"{_SAID}|(?i:source|src|from)"
    return _judge_paths([value for key, value in texts if not re.search(spared, key)], given, ground)


def _judge_text(text: str, ground: GuardContext) -> Denial | None:
    """Judge what may be shell text or code in another language."""
    if not may_concern(text, ground):
        return None
    from roamkb.guard.shell_policy import judge_code
    from roamkb.guard.shell_policy import judge_script
    from roamkb.shell.parser import read_script

    return judge_script(text, ground, read_script) or judge_code(text, ground, read_script)


def _judge_words(words: list[str], ground: GuardContext) -> Denial | None:
    if not may_concern(" ".join(words), ground):
        return None
    from roamkb.guard.shell_policy import judge_words
    from roamkb.shell.parser import read_script

    return judge_words(words, ground, read_script) if words else None


def _names_the_server(name: str, given: "Given", ground: GuardContext) -> bool:
    """Say whether a command, or what another tool opens, is the server's or its token's."""
    texts = (
        text
        for key, text in _texts(given)
        if (key in _COMMANDS if name in _SHELLS else re.search(_PATH_KEY, key))
    )
    return any(names_the_server(text, ground) for text in texts)


def _judge_shell(given: "Given", ground: GuardContext) -> Denial | None:
    action = given.get("action")
    asked: Given = action if isinstance(action, Mapping) else given
    where = next((asked[key] for key in ("workdir", "working_directory", "cwd") if key in asked), "")
    if isinstance(where, str) and where:
        ground = ground.moved(posixpath.join(ground.cwd, where))
    for key in sorted(_COMMANDS & asked.keys()):
        command = asked[key]
        if isinstance(command, list):
            denial = _judge_words([one for one in command if isinstance(one, str)], ground)
        else:
            denial = _judge_command(command, ground) if isinstance(command, str) else None
        if denial:
            return denial
    return None


def _judge_command(text: str, ground: GuardContext) -> Denial | None:
    if not may_concern(text, ground):
        return None
    from roamkb.guard.shell_policy import judge_script
    from roamkb.shell.parser import read_script

    return judge_script(text, ground, read_script)


def _judge_paths(paths: list[str], given: "Given", ground: GuardContext) -> Denial | None:
    paths = [one for one in paths if may_concern_path(one, ground)]
    if not paths:
        return None
    from roamkb.guard.shell_policy import judge_path

    contents = "\n".join(value for key, value in _texts(given) if not re.search(_PATH_KEY, key))
    for path in paths:
        denial = judge_path(path, contents, ground, spares_hooks=_spares_hooks(path, given))
        if denial:
            return denial
    return None


def _spares_hooks(path: str, given: "Given") -> bool:
    """Say whether an edit of settings has nothing to do with the hooks."""
    texts = [value for key, value in _texts(given) if key in ("old_string", "new_string")]
    return (
        len(texts) >= 2
        and "settings" in posixpath.basename(path)
        and not re.search(_OF_HOOKS, "\n".join(texts))
    )


def _texts(given: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with the key that it stands under, a few levels deep; keys as well."""
    waiting: list[tuple[str, object, int]] = [("", given, 0)]
    seen = 0
    while waiting and seen < _MOST_VALUES:
        key, value, depth = waiting.pop(0)
        seen += 1
        if isinstance(value, str):
            yield key, value
            if value[:1] in ("{", "[") and depth < _DEEPEST:
                try:
                    waiting.append((key, json.loads(value), depth + 1))
                except (ValueError, RecursionError):
                    continue
        elif isinstance(value, Mapping) and depth < _DEEPEST:
            waiting += [("path", name, depth + 1) for name in value if isinstance(name, str) and "/" in name]
            waiting += [(str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and depth < _DEEPEST:
            waiting += [(key, inner, depth + 1) for inner in value[:_MOST_VALUES]]
