"""The wall in a harness's settings: the prefix of its shell commands, and its sandbox.

`env` names the program in a variable of the harness's; where the user has the harness's own sandbox on, its
`sandbox.filesystem.denyWrite` keeps the same paths. Every other byte of the file stays.
"""

from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.fs.json_edit import BadJson
from roamkb.fs.json_edit import insert_item
from roamkb.fs.json_edit import remove_value
from roamkb.fs.json_edit import replace_value
from roamkb.harnesses.settings_json import enabled_plugin
from roamkb.harnesses.settings_json import find_setting
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.settings_json import split_bom
from roamkb.harnesses.settings_json import value_at

#: How the path of a launcher of ours ends, wherever the data folder is.
_OWN_LAUNCHER_SUFFIX = "/roamkb/wall/shell"
_ENV_KEY = "env"
_DENY_WRITE = ("sandbox", "filesystem", "denyWrite")


def shell_prefix(data: bytes, variable: str) -> str:
    """Return the program that runs the harness's shell commands, by its settings; empty for none.

    Raises:
        BadJson: the settings can't be read.
    """
    env = find_setting(data, (_ENV_KEY,))
    prefix = env.get(variable) if isinstance(env, dict) else None
    return prefix if isinstance(prefix, str) else ""


def is_own_launcher(prefix: str) -> bool:
    """Return whether a shell prefix is a launcher of roamkb's."""
    return prefix.endswith(_OWN_LAUNCHER_SUFFIX)


def wall_trouble(data: bytes, environment: Mapping[str, str], variable: str) -> str:
    """Return why no wall stands around a session's shell commands, on one line; empty where one does.

    Only where the settings have hooks of roamkb's: what a hook finds around it is what commands are run by.
    """
    try:
        prefix = shell_prefix(data, variable)
        if not own_handlers(data) and not enabled_plugin(data):
            return ""
    except BadJson:
        # `doctor` says it
        return ""
    effect = "shell commands are only judged before they run"
    if not is_own_launcher(prefix):
        return f"no wall keeps shell commands out of the notes (`roamkb doctor` says why): {effect}"
    if environment.get(variable) != prefix:
        return f"the wall around the notes is off in this session, as {variable} isn't roamkb's: {effect}"
    return ""


def with_wall(data: bytes, launcher: str, closed: Sequence[str], variable: str) -> bytes:
    """Return the settings with our launcher before each shell command, unless another one stands there.

    Raises:
        BadJson: they can't be read, or aren't of a form that takes it.
    """
    bom, text = split_bom(data)
    env = value_at(text, (_ENV_KEY,))
    if not isinstance(env, dict | None):
        raise BadJson('has no object under "env"')
    if env is None:
        text = insert_item(text, (), _ENV_KEY, {variable: launcher})
    elif variable not in env:
        text = insert_item(text, (_ENV_KEY,), variable, launcher)
    elif env[variable] != launcher and isinstance(env[variable], str) and is_own_launcher(env[variable]):
        text = replace_value(text, (_ENV_KEY, variable), launcher)
    if value_at(text, ("sandbox", "enabled")) is True:
        text = _text_with_denied_paths(text, closed)
    return (bom + text).encode()


def without_wall(data: bytes, closed: Sequence[str], variable: str) -> bytes:
    """Return the settings without the entries of `with_wall`."""
    bom, text = split_bom(data)
    if is_own_launcher(shell_prefix(data, variable)):
        env = value_at(text, (_ENV_KEY,))
        text = remove_value(text, (_ENV_KEY,) if isinstance(env, dict) and len(env) == 1 else (_ENV_KEY, variable))
    while (index := _denied_index(text, closed)) is not None:
        text = remove_value(text, (*_DENY_WRITE, index))
    for json_path in (_DENY_WRITE, _DENY_WRITE[:2]):
        if value_at(text, json_path) in ([], {}) and find_setting(data, json_path) not in ([], {}):
            text = remove_value(text, json_path)
    return (bom + text).encode()


def _text_with_denied_paths(text: str, closed: Sequence[str]) -> str:
    filesystem, denied_paths = value_at(text, _DENY_WRITE[:2]), value_at(text, _DENY_WRITE)
    if not isinstance(filesystem, dict | None) or not isinstance(denied_paths, list | None):
        raise BadJson('has no list under "sandbox", "filesystem", "denyWrite"')
    if filesystem is None:
        return insert_item(text, _DENY_WRITE[:1], _DENY_WRITE[1], {_DENY_WRITE[2]: list(closed)})
    if denied_paths is None:
        return insert_item(text, _DENY_WRITE[:2], _DENY_WRITE[2], list(closed))
    for path in closed:
        if path not in denied_paths:
            text = insert_item(text, _DENY_WRITE, None, path)
    return text


def _denied_index(text: str, closed: Sequence[str]) -> int | None:
    denied_paths = value_at(text, _DENY_WRITE)
    paths = denied_paths if isinstance(denied_paths, list) else []
    return next((index for index, path in enumerate(paths) if path in closed), None)
