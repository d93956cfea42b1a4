"""roamkb's hooks and permission rules in a harness's settings: put in, found, taken out again.

Claude Code's `settings.json` and Codex's `hooks.json` hold hooks in the same three levels: event,
group with a matcher, handler. Ours are known by their command, whose program is called `roamkb` and
whose first word is `hook`. Every other byte of the file stays.
"""

import shlex
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.fs.json_edit import BadJson
from roamkb.fs.json_edit import Way
from roamkb.fs.json_edit import parse_json
from roamkb.fs.json_edit import with_item
from roamkb.fs.json_edit import with_value
from roamkb.fs.json_edit import without
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler

#: How a file begins that was made for our hooks alone, so that it can be known again.
CLAUDE_MADE = '{\n  "$schema": "https://json.schemastore.org/claude-code-settings.json"\n}\n'
#: Codex refuses a file with a field that it doesn't know.
CODEX_MADE = '{\n  "description": "made by roamkb install"\n}\n'

_BOM = "\ufeff"


def with_hooks(
    data: bytes | None, hooks: Sequence[Hook], program: str, *, made: str, deny: Sequence[str] = ()
) -> bytes:
    """Return the settings `data` (None: no file yet) with a handler for each of `hooks` and the rules `deny`.

    A handler of ours that is there keeps its matcher, its timeout and its place; only the path of
    its program is renewed.

    Raises:
        BadJson: the file can't be read in one way, or isn't in a settings file's form.
    """
    bom, text = _text(data) if data is not None and data.strip() else ("", made if data is None else "{}\n")
    _require_form(parse_json(text), hooks)
    for hook in hooks:
        text = _with_hook(text, hook, program)
    if deny:
        text = _with_rules(text, deny)
    return (bom + text).encode()


def without_hooks(data: bytes, *, made: str, deny: Sequence[str] = ()) -> bytes | None:
    """Return `data` without our handlers and the rules `deny`; None where the file was made for them."""
    bom, text = _text(data)
    parse_json(text)
    while found := next(_own(text), None):
        text = without(text, _alone(text, found[0]))
    while (rule := _rule_way(text, deny)) is not None:
        text = without(text, rule)
    return None if text == made else (bom + text).encode()


def _alone(text: str, way: Way) -> Way:
    """Return the way to a handler's group where it is the only one there: without it that means nothing."""
    handlers = _find(text, way[:-1])
    return way[:-2] if isinstance(handlers, list) and len(handlers) == 1 else way


def own_handlers(data: bytes) -> tuple[HookHandler, ...]:
    """Return our handlers, in the file's order."""
    return tuple(handler for _, handler in _own(_text(data)[1]))


def own_groups(data: bytes) -> tuple[tuple[str, int, int, dict[str, object]], ...]:
    """Return for each handler of ours its event, its group's place, its own, and the group with no other."""
    text = _text(data)[1]
    found = []
    for way, known in _own(text):
        group, handler = _find(text, way[:3]), _find(text, way)
        if isinstance(group, dict) and isinstance(handler, dict):
            found.append((known.event, int(way[2]), int(way[4]), {**group, "hooks": [handler]}))
    return tuple(found)


def missing_rules(data: bytes, deny: Sequence[str]) -> tuple[str, ...]:
    """Return which of the rules `deny` the settings don't have."""
    return _missing(_text(data)[1], deny)


def _missing(text: str, deny: Sequence[str]) -> tuple[str, ...]:
    held = _find(text, ("permissions", "deny"))
    return tuple(rule for rule in deny if not isinstance(held, list) or rule not in held)


def is_disabled(data: bytes) -> bool:
    """Say whether the settings turn every hook off."""
    settings = parse_json(_text(data)[1])
    return isinstance(settings, dict) and settings.get("disableAllHooks") is True


def find_plugin(data: bytes) -> str:
    """Return the name of our plugin and its marketplace, where the settings turn it on; else nothing."""
    settings = parse_json(_text(data)[1])
    on = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    found = on.items() if isinstance(on, dict) else ()
    return next((name for name, is_on in found if is_on is True and name.startswith("roamkb@")), "")


def _text(data: bytes) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the text behind it."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadJson("isn't UTF-8 text") from error
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _require_form(settings: object, hooks: Sequence[Hook]) -> None:
    """Raise `BadJson` where something stands in the way of what would be put in."""
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


def _with_hook(text: str, hook: Hook, program: str) -> str:
    """Return `text` with one handler for `hook`, or with the program of those that are there renewed."""
    mine = [
        way for way, known in _own(text) if known.event == hook.event and known.words[2:3] == (hook.word,)
    ]
    command = f"{shlex.quote(program)} hook {hook.word}"
    for way in mine:
        handler = _find(text, way)
        given = handler.get("args") if isinstance(handler, dict) else None
        wanted = program if given else command
        if isinstance(handler, dict) and handler.get("command") != wanted:
            text = with_value(text, (*way, "command"), wanted)
    if mine:
        return text
    group: dict[str, object] = {"matcher": hook.matcher} if hook.matcher else {}
    group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
    settings = parse_json(text)
    events = settings.get("hooks") if isinstance(settings, dict) else None
    if not isinstance(events, dict):
        return with_item(text, (), "hooks", {hook.event: [group]})
    if hook.event not in events:
        return with_item(text, ("hooks",), hook.event, [group])
    return with_item(text, ("hooks", hook.event), None, group)


def _with_rules(text: str, deny: Sequence[str]) -> str:
    missing = _missing(text, deny)
    if not missing:
        return text
    permissions = _find(text, ("permissions",))
    if not isinstance(permissions, dict):
        return with_item(text, (), "permissions", {"deny": missing})
    if "deny" not in permissions:
        return with_item(text, ("permissions",), "deny", missing)
    for rule in missing:
        text = with_item(text, ("permissions", "deny"), None, rule)
    return text


def _rule_way(text: str, deny: Sequence[str]) -> Way | None:
    held = _find(text, ("permissions", "deny"))
    rules = held if isinstance(held, list) else []
    return next((("permissions", "deny", at) for at, rule in enumerate(rules) if rule in deny), None)


def _own(text: str) -> Iterator[tuple[Way, HookHandler]]:
    """Yield each handler of ours and the way to it."""
    settings = parse_json(text)
    events = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            matcher = group.get("matcher") if isinstance(group, dict) else None
            for at, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                words = _words(handler)
                if words[1:2] == ("hook",) and words[0].rpartition("/")[2] == "roamkb":
                    timeout = handler.get("timeout")
                    yield (
                        ("hooks", event, number, "hooks", at),
                        HookHandler(
                            event=event,
                            matcher=matcher if isinstance(matcher, str) else "",
                            words=words,
                            timeout=timeout if isinstance(timeout, int | float) else None,
                        ),
                    )


def _words(handler: object) -> tuple[str, ...]:
    """Return the words of a handler's command, whether it is run by a shell or not."""
    command = handler.get("command") if isinstance(handler, dict) else None
    if not isinstance(handler, dict) or not isinstance(command, str):
        return ()
    if "roamkb" not in command:
        # shlex takes its time
        return ()
    given = handler.get("args")
    if isinstance(given, list):
        return (command, *(str(word) for word in given))
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def _find(text: str, way: Way) -> object:
    """Return what is at `way`; None where it leads nowhere."""
    found = parse_json(text)
    for key in way:
        if isinstance(found, dict) and isinstance(key, str):
            found = found.get(key)
        elif isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        else:
            return None
    return found
