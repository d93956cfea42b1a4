"""Tool calls of agents as hooks receive them: the paths that they would write, judged."""

import json
import posixpath
import re
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cache

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.guard import shell_policy
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.policy import may_concern
from roamkb.guard.policy import may_concern_path
from roamkb.guard.policy import names_server
from roamkb.guard.policy import patch_paths
from roamkb.guard.policy import server_denial
from roamkb.harnesses.registry import declared

if TYPE_CHECKING:
    from typing import Any

    from roamkb.core import data_tables
    from roamkb.shell import parser

    Given = Mapping[str, Any]
else:
    parser = lazy_module("roamkb.shell.parser")
    data_tables = lazy_module("roamkb.core.data_tables")

#: Harnesses' own names; in lower case.
_EDITOR_TOOLS = frozenset(declared("editors"))
_SHELL_TOOLS = frozenset(declared("shells"))
_READER_TOOLS = frozenset(declared("guard_readers"))
#: Fields of a shell's input that hold a command.
_COMMAND_KEYS = frozenset(declared("command_keys"))
_WORD_PATTERN = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
#: A short value, such as the name of a method.
_METHOD_NAME = r"[\w.-]{1,40}"
#: An edit of settings that touches none of these leaves the hooks alone.
_HOOK_WORDS = r"(?i)hook|roam|tool|command|matcher|knowledge"
_MAX_DEPTH = 6
_MAX_VALUES = 200


@cache
def _words(role: str) -> frozenset[str]:
    """Return words by which other tools' calls are read; most calls are a shell's and need none."""
    return data_tables.words_by_role("tool_words.tsv")[role]


@cache
def _said_key() -> str:
    """Return what matches keys under which anything may be said, of a note as well."""
    return rf"(?i)^(?:{'|'.join(_words('content'))})$"


@cache
def _path_key() -> str:
    """Return what matches keys under which a path may be said."""
    return rf"(?i){'|'.join(_words('path'))}"


def judge_tool(tool: str, tool_input: "Given", context: GuardContext) -> Denial | None:
    """Return why the call of `tool` with the input `tool_input` is denied, or None where it is not.

    The one door for hooks: takes any tool's name and any JSON object, and never writes or runs anything.
    """
    name = tool.lower()
    if _names_server(name, tool_input, context) and not context.is_personal:
        return server_denial(context)
    if name in _READER_TOOLS or name.startswith(("mcp__roamkb__", "mcp__plugin_roamkb_roamkb__")):
        return None
    if name in _SHELL_TOOLS:
        return _judge_shell(tool_input, context)
    texts = [*_texts_by_key(tool_input)]
    if name in ("apply_patch", "applypatch"):
        return _judge_paths(patch_paths("\n".join(value for _, value in texts)), tool_input, context)
    if name in _EDITOR_TOOLS:
        return _judge_paths([value for key, value in texts if re.search(_path_key(), key)], tool_input, context)
    return _judge_other(tool.rpartition("__")[2], texts, tool_input, context)


def _judge_other(tool: str, texts: list[tuple[str, str]], tool_input: "Given", context: GuardContext) -> Denial | None:
    """Judge an unknown tool by its input: a command, code, or a path and a verb."""
    # verbs in a server's words for what a tool does, or is told to do
    changes, said_keys = _words("change"), _said_key()
    for _, value in texts:
        is_said = all(re.search(said_keys, key) for key, text in texts if text == value)
        if not is_said and re.search(r"[\s(]", value) and (denial := _judge_text(value, context)):
            return denial
    words = [value for key, value in texts if not re.search(said_keys, key) and re.fullmatch(_METHOD_NAME, value)]
    verbs = {item.lower() for text in (tool, *words) for item in re.findall(_WORD_PATTERN, text)}
    lists = [
        value
        for value in tool_input.values()
        if isinstance(value, list) and all(isinstance(item, str) for item in value)
    ]
    for item in lists:
        if denial := _judge_words(item, context):
            return denial
    if not verbs & changes:
        return None
    spared = said_keys if verbs & changes != {"copy"} else rf"{said_keys}|(?i:source|src|from)"
    return _judge_paths([value for key, value in texts if not re.search(spared, key)], tool_input, context)


def _judge_text(text: str, context: GuardContext) -> Denial | None:
    """Judge what may be shell text or code in another language."""
    if not may_concern(text, context):
        return None

    return shell_policy.judge_script(text, context, parser.read_script) or shell_policy.judge_code(
        text, context, parser.read_script
    )


def _judge_words(words: list[str], context: GuardContext) -> Denial | None:
    if not may_concern(" ".join(words), context):
        return None

    return shell_policy.judge_words(words, context, parser.read_script) if words else None


def _names_server(name: str, tool_input: "Given", context: GuardContext) -> bool:
    """Say whether a command, or a path that another tool opens, is the server's or its token's."""
    texts = (
        text
        for key, text in _texts_by_key(tool_input)
        if (key in _COMMAND_KEYS if name in _SHELL_TOOLS else re.search(_path_key(), key))
    )
    return any(names_server(text, context) for text in texts)


def _judge_shell(tool_input: "Given", context: GuardContext) -> Denial | None:
    action = tool_input.get("action")
    shell_input: Given = action if isinstance(action, Mapping) else tool_input
    folder = next((shell_input[key] for key in ("workdir", "working_directory", "cwd") if key in shell_input), "")
    if isinstance(folder, str) and folder:
        context = context.with_cwd(posixpath.join(context.cwd, folder))
    for key in sorted(_COMMAND_KEYS & shell_input.keys()):
        command = shell_input[key]
        if isinstance(command, list):
            denial = _judge_words([word for word in command if isinstance(word, str)], context)
        else:
            denial = _judge_command(command, context) if isinstance(command, str) else None
        if denial:
            return denial
    return None


def _judge_command(text: str, context: GuardContext) -> Denial | None:
    if not may_concern(text, context):
        return None

    return shell_policy.judge_script(text, context, parser.read_script)


def _judge_paths(paths: list[str], tool_input: "Given", context: GuardContext) -> Denial | None:
    paths = [candidate for candidate in paths if may_concern_path(candidate, context)]
    if not paths:
        return None

    contents = "\n".join(value for key, value in _texts_by_key(tool_input) if not re.search(_path_key(), key))
    for path in paths:
        denial = shell_policy.judge_path(path, contents, context, spares_hooks=_spares_hooks(path, tool_input))
        if denial:
            return denial
    return None


def _spares_hooks(path: str, tool_input: "Given") -> bool:
    """Say whether an edit of settings has nothing to do with the hooks."""
    texts = [value for key, value in _texts_by_key(tool_input) if key in ("old_string", "new_string")]
    return len(texts) >= 2 and "settings" in posixpath.basename(path) and not re.search(_HOOK_WORDS, "\n".join(texts))


def _texts_by_key(tool_input: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with its key, a few levels deep; keys as well."""
    pending: list[tuple[str, object, int]] = [("", tool_input, 0)]
    value_count = 0
    while pending and value_count < _MAX_VALUES:
        key, value, depth = pending.pop(0)
        value_count += 1
        if isinstance(value, str):
            yield key, value
            if value[:1] in ("{", "[") and depth < _MAX_DEPTH:
                try:
                    pending.append((key, json.loads(value), depth + 1))
                except (ValueError, RecursionError):
                    continue
        elif isinstance(value, Mapping) and depth < _MAX_DEPTH:
            pending += [("path", name, depth + 1) for name in value if isinstance(name, str) and "/" in name]
            pending += [(str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and depth < _MAX_DEPTH:
            pending += [(key, inner, depth + 1) for inner in value[:_MAX_VALUES]]
