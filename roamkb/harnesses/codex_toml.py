"""roamkb's MCP server in Codex's `config.toml`: one marked block, put in and taken out as text.

What the file says is read before and after; an edit that would change anything else isn't made.
Codex itself writes new tables at the end of the file, and that may be within the marks: what isn't
ours there is kept.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Collection
from typing import Any

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.harnesses.hook_list import CODEX_SESSION_END_TIMEOUT
from roamkb.harnesses.settings_json import own_groups

_SERVERS = "mcp_servers"
_SERVER_NAME = "roamkb"
_MARK = lazily(r"^# roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)(?P<eol>\r?\n|\Z)", re.MULTILINE)
_HEADER = lazily(r"^\s*\[\[?\s*(?P<name>[^\]\r\n]*?)\s*\]", re.MULTILINE)
_OWN_SERVER = lazily(r"""mcp_servers\s*\.\s*(["']?)roamkb\1\s*(?:\.|$)""")
_COMMAND = lazily(r"^command[ \t]*=[^\r\n]*", re.MULTILINE)
_BEGIN = "# roamkb:begin kept by roamkb install, edit outside of it{made}"
_END = "# roamkb:end"
#: Of a hook, what Codex knows it by; and its seconds where nobody says.
_TRUSTED_FIELDS = ("type", "command", "commandWindows", "timeout", "async", "statusMessage")
_DEFAULT_TIMEOUT = 600
#: In the opening mark of a file that we made.
_MADE_FILE_MARK = ", which made this file"


class BadToml(ValueError):
    """A file that can't be read or can't be changed without harm; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class _TomlBlock:
    start: int
    #: The first character of what somebody else wrote before the end mark.
    foreign: int
    #: Where the end mark begins, and where the file goes on behind it.
    closing: int
    end: int
    eol: str
    is_closed: bool
    made_file: bool


def with_server(data: bytes | None, program: str) -> bytes:
    """Return the configuration (None: no file yet) with a server that runs `program mcp`.

    A server of that name that somebody configured stays as it is, and so does what was added to ours.
    """
    text = _decode_utf8(data or b"")
    before = _parse_toml(text)
    block = _find_block(text)
    command = f"command = {json.dumps(program, ensure_ascii=False)}"
    if block is None and _SERVER_NAME in _server_tables(before):
        return data or b""
    if block is None:
        eol = "\r\n" if "\r\n" in text else "\n"
        lines = (
            _BEGIN.format(made=_MADE_FILE_MARK if data is None else ""),
            f"[{_SERVERS}.{_SERVER_NAME}]",
            command,
            'args = ["mcp"]',
            _END,
        )
        marked = eol.join(lines)
        if not text:
            after = marked + eol
        elif text.endswith("\n"):
            after = text + eol + marked + eol
        else:
            # no line end before, none behind: so taking the block out can tell the two apart
            after = text + eol + eol + marked
    else:
        own = _COMMAND.sub(lambda _: command, text[block.start : block.foreign], count=1)
        after = text[: block.start] + own + text[block.foreign :]
    _require_same_rest(before, _parse_toml(after))
    return after.encode()


def without_server(data: bytes) -> bytes | None:
    """Return the configuration without the block; None where nothing else was ever in the file."""
    text = _decode_utf8(data)
    block = _find_block(text)
    if block is None:
        return data
    before, foreign_text, text_after = text[: block.start], text[block.foreign : block.closing], text[block.end :]
    if block.made_file and not (before + foreign_text + text_after).strip():
        return None
    trimmed_before = before.removesuffix(block.eol)
    if (
        trimmed_before != before
        and (not trimmed_before or trimmed_before.endswith("\n") or not block.is_closed)
        and not foreign_text
    ):
        before = trimmed_before if block.is_closed else trimmed_before.removesuffix(block.eol)
    after = before + foreign_text + text_after
    _require_same_rest(_parse_toml(text), _parse_toml(after))
    return after.encode()


def has_hooks_off(data: bytes) -> bool:
    """Return whether the configuration turns every hook off."""
    features = _parse_toml(_decode_utf8(data)).get("features")
    feature_flags = features if isinstance(features, dict) else {}
    return feature_flags.get("hooks", feature_flags.get("codex_hooks")) is False


def untrusted_events(hooks: bytes, config: bytes, places: Collection[str]) -> tuple[str, ...]:
    """Return the events at which Codex skips a hook of ours, since its present form isn't trusted.

    `hooks` is what `hooks.json` holds and `places` are its names. For each hook that its human trusted Codex
    keeps a digest, `[hooks.state."PLACE:event:group:handler"]` (0.169); roamkb only ever reads it.
    """
    hook_settings = _parse_toml(_decode_utf8(config)).get("hooks")
    state = hook_settings.get("state") if isinstance(hook_settings, dict) else None
    trust_states = state if isinstance(state, dict) else {}
    skipped = []
    for event, group_index, handler_index, group in own_groups(hooks):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        place_states = (trust_states.get(f"{place}:{name}:{group_index}:{handler_index}") for place in places)
        digest = _trust_digest(name, group)
        if not any(isinstance(trust_state, dict) and _is_trusted(trust_state, digest) for trust_state in place_states):
            skipped.append(event)
    return tuple(dict.fromkeys(skipped))


def _is_trusted(state: dict[str, Any], digest: str) -> bool:
    return state.get("trusted_hash") == digest and state.get("enabled") is not False


def _trust_digest(event: str, group: dict[str, object]) -> str:
    """Return the digest by which Codex knows a hook: its JSON with defaults, without unknown fields."""
    (handler,) = group["hooks"] if isinstance(group["hooks"], list) else ({},)
    trusted_fields = {name: handler[name] for name in _TRUSTED_FIELDS if handler.get(name) is not None}
    seconds = trusted_fields.get("timeout", _DEFAULT_TIMEOUT)
    is_last = event == "session_end" and isinstance(seconds, int)
    trusted_fields["timeout"] = min(seconds, CODEX_SESSION_END_TIMEOUT) if is_last else seconds
    trusted_fields["async"] = trusted_fields.get("async", False)
    trusted_hook: dict[str, object] = {"event_name": event, "hooks": [trusted_fields]}
    if isinstance(group.get("matcher"), str):
        trusted_hook["matcher"] = group["matcher"]
    text = json.dumps(trusted_hook, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def has_block(data: bytes) -> bool:
    """Return whether our block is in the configuration."""
    return _find_block(_decode_utf8(data)) is not None


def _decode_utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadToml("isn't UTF-8 text") from error


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadToml(f"isn't TOML: {error}") from error
    except RecursionError as error:
        raise BadToml("is nested too deeply") from error


def _server_tables(settings: dict[str, Any]) -> dict[str, Any]:
    servers = settings.get(_SERVERS)
    return servers if isinstance(servers, dict) else {}


def _require_same_rest(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise `BadToml` where more than our server differs."""
    if _other_settings(before) != _other_settings(after):
        raise BadToml("has tables around roamkb's block that would change with it; edit it by hand")


def _other_settings(settings: dict[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in _server_tables(settings).items() if name != _SERVER_NAME}
    remaining_settings = {name: value for name, value in settings.items() if name != _SERVERS}
    return {**remaining_settings, _SERVERS: others} if others else remaining_settings


def _find_block(text: str) -> _TomlBlock | None:
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    if [mark["which"] for mark in marks] != ["begin", "end"]:
        raise BadToml("has roamkb's marks out of order; there must be one begin and then one end")
    begin, end = marks
    headers = _HEADER.finditer(text, begin.end(), end.start())
    foreign = next((head.start() for head in headers if not _OWN_SERVER.match(head["name"])), end.start())
    return _TomlBlock(
        start=begin.start(),
        foreign=foreign,
        closing=end.start(),
        end=end.end(),
        eol=begin["eol"] or "\n",
        is_closed=bool(end["eol"]),
        made_file=_MADE_FILE_MARK in begin["rest"],
    )
