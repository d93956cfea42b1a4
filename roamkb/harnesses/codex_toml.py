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
from roamkb.harnesses.hook_list import CODEX_LAST
from roamkb.harnesses.settings_json import own_groups

_SERVERS = "mcp_servers"
_NAME = "roamkb"
_MARK = lazily(r"^# roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)(?P<eol>\r?\n|\Z)", re.MULTILINE)
_HEADER = lazily(r"^\s*\[\[?\s*(?P<name>[^\]\r\n]*?)\s*\]", re.MULTILINE)
_OURS = lazily(r"""mcp_servers\s*\.\s*(["']?)roamkb\1\s*(?:\.|$)""")
_COMMAND = lazily(r"^command[ \t]*=[^\r\n]*", re.MULTILINE)
_BEGIN = "# roamkb:begin kept by roamkb install, edit outside of it{made}"
_END = "# roamkb:end"
#: Of a hook, what Codex knows it by; and its seconds where nobody says.
_TOLD = ("type", "command", "commandWindows", "timeout", "async", "statusMessage")
_SECONDS = 600
#: In the opening mark of a file that we made.
_MADE = ", which made this file"


class BadToml(ValueError):
    """The file can't be read or can't be changed without harm; the message says why."""


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
    """Return the configuration (None: no file yet) in which Codex runs `program mcp` as a server of ours.

    A server of that name that somebody configured stays as it is, and so does what was added to ours.
    """
    text = _text(data or b"")
    before = _parsed(text)
    block = _find(text)
    command = f"command = {json.dumps(program, ensure_ascii=False)}"
    if block is None and _NAME in _servers(before):
        return data or b""
    if block is None:
        eol = "\r\n" if "\r\n" in text else "\n"
        lines = (
            _BEGIN.format(made=_MADE if data is None else ""),
            f"[{_SERVERS}.{_NAME}]",
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
    _require_rest(before, _parsed(after))
    return after.encode()


def without_server(data: bytes) -> bytes | None:
    """Return the configuration without the block; None where nothing else was ever in the file."""
    text = _text(data)
    block = _find(text)
    if block is None:
        return data
    before, kept, behind = text[: block.start], text[block.foreign : block.closing], text[block.end :]
    if block.made_file and not (before + kept + behind).strip():
        return None
    above = before.removesuffix(block.eol)
    if above != before and (not above or above.endswith("\n") or not block.is_closed) and not kept:
        before = above if block.is_closed else above.removesuffix(block.eol)
    after = before + kept + behind
    _require_rest(_parsed(text), _parsed(after))
    return after.encode()


def has_hooks_off(data: bytes) -> bool:
    """Say whether the configuration turns every hook off."""
    features = _parsed(_text(data)).get("features")
    found = features if isinstance(features, dict) else {}
    return found.get("hooks", found.get("codex_hooks")) is False


def untrusted(hooks: bytes, config: bytes, places: Collection[str]) -> tuple[str, ...]:
    """Return the events at which Codex skips a hook of ours, since nobody has trusted it as it is now.

    `hooks` is what `hooks.json` holds and `places` are its names. For each hook that its human trusted Codex
    keeps a digest, `[hooks.state."PLACE:event:group:handler"]` (0.169); roamkb only ever reads it.
    """
    told = _parsed(_text(config)).get("hooks")
    state = told.get("state") if isinstance(told, dict) else None
    known = state if isinstance(state, dict) else {}
    skipped = []
    for event, number, at, group in own_groups(hooks):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        held = (known.get(f"{place}:{name}:{number}:{at}") for place in places)
        digest = _digest(name, group)
        if not any(isinstance(one, dict) and _is_on(one, digest) for one in held):
            skipped.append(event)
    return tuple(dict.fromkeys(skipped))


def _is_on(held: dict[str, Any], digest: str) -> bool:
    return held.get("trusted_hash") == digest and held.get("enabled") is not False


def _digest(event: str, group: dict[str, object]) -> str:
    """Return what Codex remembers a hook by: its JSON, with nothing implied and no word of others."""
    (handler,) = group["hooks"] if isinstance(group["hooks"], list) else ({},)
    told = {name: handler[name] for name in _TOLD if handler.get(name) is not None}
    seconds = told.get("timeout", _SECONDS)
    is_last = event == "session_end" and isinstance(seconds, int)
    told["timeout"] = min(seconds, CODEX_LAST) if is_last else seconds
    told["async"] = told.get("async", False)
    whole: dict[str, object] = {"event_name": event, "hooks": [told]}
    if isinstance(group.get("matcher"), str):
        whole["matcher"] = group["matcher"]
    text = json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def has_block(data: bytes) -> bool:
    """Say whether our block is in the configuration."""
    return _find(_text(data)) is not None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadToml("isn't UTF-8 text") from error


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadToml(f"isn't TOML: {error}") from error
    except RecursionError as error:
        raise BadToml("is nested too deeply") from error


def _servers(settings: dict[str, Any]) -> dict[str, Any]:
    servers = settings.get(_SERVERS)
    return servers if isinstance(servers, dict) else {}


def _require_rest(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise `BadToml` where more than our server differs."""
    if _rest(before) != _rest(after):
        raise BadToml("has tables around roamkb's block that would change with it; edit it by hand")


def _rest(settings: dict[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in _servers(settings).items() if name != _NAME}
    rest = {name: value for name, value in settings.items() if name != _SERVERS}
    return {**rest, _SERVERS: others} if others else rest


def _find(text: str) -> _TomlBlock | None:
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    if [mark["which"] for mark in marks] != ["begin", "end"]:
        raise BadToml("has roamkb's marks out of order; there must be one begin and then one end")
    begin, end = marks
    headers = _HEADER.finditer(text, begin.end(), end.start())
    foreign = next((head.start() for head in headers if not _OURS.match(head["name"])), end.start())
    return _TomlBlock(
        start=begin.start(),
        foreign=foreign,
        closing=end.start(),
        end=end.end(),
        eol=begin["eol"] or "\n",
        is_closed=bool(end["eol"]),
        made_file=_MADE in begin["rest"],
    )
