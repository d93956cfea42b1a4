"""roamkb's hooks and permission rules in a harness's settings: insertion, lookup and removal.

Harnesses' settings hold hooks in the same three levels: event, group with a matcher, handler. Ours are known
by their command, whose program is called `roamkb` and whose first word is `hook`. Every other byte of the
file stays.
"""

import shlex
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.fs.json_edit import BadJson
from roamkb.fs.json_edit import JsonPath
from roamkb.fs.json_edit import find_value
from roamkb.fs.json_edit import insert_item
from roamkb.fs.json_edit import parse_json
from roamkb.fs.json_edit import remove_value
from roamkb.fs.json_edit import replace_value
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler

_BOM = "\ufeff"


def with_hooks(
    data: bytes | None, hooks: Sequence[Hook], program: str, *, new_file_text: str, deny: Sequence[str] = ()
) -> bytes:
    """Return the settings `data` (None: no file yet) with a handler for each of `hooks` and the rules `deny`.

    A handler of ours that is there keeps its matcher, its timeout and its place; only the path of
    its program is renewed.

    Raises:
        BadJson: the file can't be read in one way, or isn't in a settings file's form.
    """
    bom, text = (
        split_bom(data) if data is not None and data.strip() else ("", new_file_text if data is None else "{}\n")
    )
    _require_form(parse_json(text), hooks)
    for hook in hooks:
        text = _text_with_hook(text, hook, program)
    if deny:
        text = _text_with_rules(text, deny)
    return (bom + text).encode()


def without_hooks(data: bytes, *, new_file_text: str, deny: Sequence[str] = ()) -> bytes | None:
    """Return `data` without our handlers and the rules `deny`; None where the file was made for them."""
    bom, text = split_bom(data)
    parse_json(text)
    while own_entry := next(_own_handler_paths(text), None):
        text = remove_value(text, _enclosing_group_path(text, own_entry[0]))
    while (rule := _rule_path(text, deny)) is not None:
        text = remove_value(text, rule)
    return None if text == new_file_text else (bom + text).encode()


def _enclosing_group_path(text: str, handler_path: JsonPath) -> JsonPath:
    """Return the path of a handler's group where it is the only handler there: alone it means nothing."""
    handlers = value_at(text, handler_path[:-1])
    return handler_path[:-2] if isinstance(handlers, list) and len(handlers) == 1 else handler_path


def own_handlers(data: bytes) -> tuple[HookHandler, ...]:
    """Return our handlers, in the file's order."""
    return tuple(handler for _, handler in _own_handler_paths(split_bom(data)[1]))


def own_groups(data: bytes) -> tuple[tuple[str, int, int, dict[str, object]], ...]:
    """Return for each own handler its event, its group's index, its index, and the group with it alone."""
    text = split_bom(data)[1]
    groups = []
    for handler_path, own_handler in _own_handler_paths(text):
        group, handler = value_at(text, handler_path[:3]), value_at(text, handler_path)
        if isinstance(group, dict) and isinstance(handler, dict):
            groups.append(
                (own_handler.event, int(handler_path[2]), int(handler_path[4]), {**group, "hooks": [handler]})
            )
    return tuple(groups)


def missing_rules(data: bytes, deny: Sequence[str]) -> tuple[str, ...]:
    """Return the rules `deny` that the settings lack."""
    return _missing_from_text(split_bom(data)[1], deny)


def _missing_from_text(text: str, deny: Sequence[str]) -> tuple[str, ...]:
    deny_list = value_at(text, ("permissions", "deny"))
    return tuple(rule for rule in deny if not isinstance(deny_list, list) or rule not in deny_list)


def has_flag(data: bytes, json_path: JsonPath, value: object) -> bool:
    """Return whether the settings have that value at `json_path`."""
    return find_setting(data, json_path) is value


def find_setting(data: bytes, json_path: JsonPath) -> object:
    """Return the value in the settings at `json_path`; None where it leads nowhere."""
    return value_at(split_bom(data)[1], json_path)


def with_server(data: bytes, json_path: JsonPath, program: str) -> bytes:
    """Return the settings with roamkb's MCP server at `json_path`; an existing one of that name stays.

    Only the path of our own program is renewed.

    Raises:
        BadJson: they aren't of a form that takes it.
    """
    bom, text = split_bom(data)
    (servers, name), server_entry = json_path, {"command": program, "args": ["mcp"]}
    server_table = value_at(text, (servers,))
    if server_table is None:
        return (bom + insert_item(text, (), str(servers), {name: server_entry})).encode()
    if not isinstance(server_table, dict):
        raise BadJson(f'has no object under "{servers}"')
    if name not in server_table:
        text = insert_item(text, (servers,), str(name), server_entry)
    elif _is_own_server(server_table[name]) and server_table[name]["command"] != program:
        text = replace_value(text, (*json_path, "command"), program)
    return (bom + text).encode()


def without_server(data: bytes, json_path: JsonPath) -> bytes:
    """Return the settings without roamkb's MCP server."""
    bom, text = split_bom(data)
    if _is_own_server(value_at(text, json_path)):
        servers = value_at(text, json_path[:1])
        text = remove_value(text, json_path[:1] if isinstance(servers, dict) and len(servers) == 1 else json_path)
    return (bom + text).encode()


def _is_own_server(server: object) -> bool:
    command = server.get("command") if isinstance(server, dict) else None
    is_ours = isinstance(command, str) and command.rpartition("/")[2] == "roamkb"
    return is_ours and isinstance(server, dict) and server.get("args") == ["mcp"]


def enabled_plugin(data: bytes) -> str:
    """Return our plugin's name with its marketplace where the settings enable it; else nothing."""
    settings = parse_json(split_bom(data)[1])
    enabled_plugins = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    plugins = enabled_plugins.items() if isinstance(enabled_plugins, dict) else ()
    return next((name for name, is_on in plugins if is_on is True and name.startswith("roamkb@")), "")


def split_bom(data: bytes) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the text behind it."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadJson("isn't UTF-8 text") from error
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _require_form(settings: object, hooks: Sequence[Hook]) -> None:
    """Raise `BadJson` where the settings' form leaves no place for an entry of ours."""
    if not isinstance(settings, dict):
        raise BadJson("isn't one JSON object")
    events = settings.get("hooks", {})
    permissions = settings.get("permissions", {})
    if not isinstance(events, dict):
        raise BadJson('has no object under "hooks"')
    for hook in hooks:
        if not isinstance(events.get(hook.event, []), list):
            raise BadJson(f'has no list under "hooks", "{hook.event}"')
    if not isinstance(permissions, dict) or not isinstance(permissions.get("deny", []), list):
        raise BadJson('has no list under "permissions", "deny"')


def _text_with_hook(text: str, hook: Hook, program: str) -> str:
    """Return `text` with one handler for `hook`, or with the program of existing ones renewed."""
    handler_paths = [
        handler_path
        for handler_path, own_handler in _own_handler_paths(text)
        if own_handler.event == hook.event and own_handler.words[2:3] == (hook.command_word,)
    ]
    command = f"{shlex.quote(program)} hook {hook.command_word}"
    for handler_path in handler_paths:
        handler = value_at(text, handler_path)
        arguments = handler.get("args") if isinstance(handler, dict) else None
        expected_command = program if arguments else command
        if isinstance(handler, dict) and handler.get("command") != expected_command:
            text = replace_value(text, (*handler_path, "command"), expected_command)
    if handler_paths:
        return text
    group: dict[str, object] = {"matcher": hook.matcher} if hook.matcher else {}
    group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
    settings = parse_json(text)
    events = settings.get("hooks") if isinstance(settings, dict) else None
    if not isinstance(events, dict):
        return insert_item(text, (), "hooks", {hook.event: [group]})
    if hook.event not in events:
        return insert_item(text, ("hooks",), hook.event, [group])
    return insert_item(text, ("hooks", hook.event), None, group)


def _text_with_rules(text: str, deny: Sequence[str]) -> str:
    missing = _missing_from_text(text, deny)
    if not missing:
        return text
    permissions = value_at(text, ("permissions",))
    if not isinstance(permissions, dict):
        return insert_item(text, (), "permissions", {"deny": missing})
    if "deny" not in permissions:
        return insert_item(text, ("permissions",), "deny", missing)
    for rule in missing:
        text = insert_item(text, ("permissions", "deny"), None, rule)
    return text


def _rule_path(text: str, deny: Sequence[str]) -> JsonPath | None:
    deny_list = value_at(text, ("permissions", "deny"))
    rules = deny_list if isinstance(deny_list, list) else []
    return next((("permissions", "deny", index) for index, rule in enumerate(rules) if rule in deny), None)


def _own_handler_paths(text: str) -> Iterator[tuple[JsonPath, HookHandler]]:
    """Yield each handler of ours with its path."""
    settings = parse_json(text)
    events = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group_index, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            matcher = group.get("matcher") if isinstance(group, dict) else None
            for handler_index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                words = _command_words(handler)
                if words[1:2] == ("hook",) and words[0].rpartition("/")[2] == "roamkb":
                    timeout = handler.get("timeout")
                    yield (
                        ("hooks", event, group_index, "hooks", handler_index),
                        HookHandler(
                            event=event,
                            matcher=matcher if isinstance(matcher, str) else "",
                            words=words,
                            timeout=timeout if isinstance(timeout, int | float) else None,
                        ),
                    )


def _command_words(handler: object) -> tuple[str, ...]:
    """Return the words of a handler's command, whether it is run by a shell or not."""
    command = handler.get("command") if isinstance(handler, dict) else None
    if not isinstance(handler, dict) or not isinstance(command, str):
        return ()
    if "roamkb" not in command:
        # shlex takes its time
        return ()
    arguments = handler.get("args")
    if isinstance(arguments, list):
        return (command, *(str(word) for word in arguments))
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def value_at(text: str, json_path: JsonPath) -> object:
    """Return the value at `json_path`; None where it leads nowhere."""
    return find_value(parse_json(text), json_path)
