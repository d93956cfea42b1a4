"""What stands for the wall in Claude Code's settings: what runs its shell commands, and its sandbox.

`env` names the program in `CLAUDE_CODE_SHELL_PREFIX`; where the user has the harness's own sandbox on, its
`sandbox.filesystem.denyWrite` keeps the same paths. Every other byte of the file stays.
"""

from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.fs.json_edit import BadJson
from roamkb.fs.json_edit import Way
from roamkb.fs.json_edit import parse_json
from roamkb.fs.json_edit import with_item
from roamkb.fs.json_edit import with_value
from roamkb.fs.json_edit import without
from roamkb.guard.hook_tampering import SHELL_PREFIX
from roamkb.harnesses.settings_json import find_plugin
from roamkb.harnesses.settings_json import own_handlers

#: How the path of a launcher of ours ends, wherever the data folder is.
_OURS = "/roamkb/wall/shell"
_ENV = "env"
_DENY_WRITE = ("sandbox", "filesystem", "denyWrite")
_BOM = "\ufeff"


def shell_prefix(data: bytes) -> str:
    """Return what runs the harness's shell commands, by its settings; empty for nothing.

    Raises:
        BadJson: the settings can't be read.
    """
    env = _get(_text(data), (_ENV,))
    found = env.get(SHELL_PREFIX) if isinstance(env, dict) else None
    return found if isinstance(found, str) else ""


def is_ours(prefix: str) -> bool:
    """Say whether a shell prefix is a launcher of roamkb's."""
    return prefix.endswith(_OURS)


def wall_trouble(data: bytes, environment: Mapping[str, str]) -> str:
    """Return why no wall stands around a session's shell commands, in one line; empty where one does.

    Only where the settings have hooks of roamkb's: what a hook finds around it is what commands are run by.
    """
    try:
        wanted = shell_prefix(data)
        if not own_handlers(data) and not find_plugin(data):
            return ""
    except BadJson:
        # `doctor` says it
        return ""
    effect = "shell commands are only judged before they run"
    if not is_ours(wanted):
        return f"no wall keeps shell commands out of the notes (`roamkb doctor` says why): {effect}"
    if environment.get(SHELL_PREFIX) != wanted:
        return f"the wall around the notes is off in this session, as {SHELL_PREFIX} isn't roamkb's: {effect}"
    return ""


def with_wall(data: bytes, launcher: str, closed: Sequence[str]) -> bytes:
    """Return the settings with our launcher before each shell command, unless another's stands there.

    Raises:
        BadJson: they can't be read, or aren't of a form that takes it.
    """
    text = _text(data)
    env = _get(text, (_ENV,))
    if not isinstance(env, dict | None):
        raise BadJson('has no object under "env"')
    if env is None:
        text = with_item(text, (), _ENV, {SHELL_PREFIX: launcher})
    elif SHELL_PREFIX not in env:
        text = with_item(text, (_ENV,), SHELL_PREFIX, launcher)
    elif env[SHELL_PREFIX] != launcher and isinstance(env[SHELL_PREFIX], str) and is_ours(env[SHELL_PREFIX]):
        text = with_value(text, (_ENV, SHELL_PREFIX), launcher)
    if _get(text, ("sandbox", "enabled")) is True:
        text = _with_denied(text, closed)
    return _bytes(data, text)


def without_wall(data: bytes, closed: Sequence[str]) -> bytes:
    """Return the settings without what `with_wall` put in."""
    text = _text(data)
    if is_ours(shell_prefix(data)):
        env = _get(text, (_ENV,))
        text = without(text, (_ENV,) if isinstance(env, dict) and len(env) == 1 else (_ENV, SHELL_PREFIX))
    while (at := _place_of(text, closed)) is not None:
        text = without(text, (*_DENY_WRITE, at))
    for way in (_DENY_WRITE, _DENY_WRITE[:2]):
        if _get(text, way) in ([], {}) and _get(_text(data), way) not in ([], {}):
            text = without(text, way)
    return _bytes(data, text)


def _with_denied(text: str, closed: Sequence[str]) -> str:
    filesystem, held = _get(text, _DENY_WRITE[:2]), _get(text, _DENY_WRITE)
    if not isinstance(filesystem, dict | None) or not isinstance(held, list | None):
        raise BadJson('has no list under "sandbox", "filesystem", "denyWrite"')
    if filesystem is None:
        return with_item(text, _DENY_WRITE[:1], _DENY_WRITE[1], {_DENY_WRITE[2]: list(closed)})
    if held is None:
        return with_item(text, _DENY_WRITE[:2], _DENY_WRITE[2], list(closed))
    for path in closed:
        if path not in held:
            text = with_item(text, _DENY_WRITE, None, path)
    return text


def _place_of(text: str, closed: Sequence[str]) -> int | None:
    held = _get(text, _DENY_WRITE)
    paths = held if isinstance(held, list) else []
    return next((at for at, path in enumerate(paths) if path in closed), None)


def _text(data: bytes) -> str:
    try:
        return data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise BadJson("isn't UTF-8 text") from error


def _bytes(data: bytes, text: str) -> bytes:
    return (_BOM if data.startswith(_BOM.encode()) else "").encode() + text.encode()


def _get(text: str, way: Way) -> object:
    """Return what is at `way`; None where it leads nowhere."""
    found = parse_json(text)
    for key in way:
        found = found.get(key) if isinstance(found, dict) and isinstance(key, str) else None
    return found
