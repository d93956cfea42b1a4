"""roamkb's MCP server in a harness's TOML configuration: one marked block, put in and taken out as text.

What the file says is read before and after; an edit that would change anything else isn't made.
A harness may write new tables of its own at the end of the file, and that may be within the marks: what isn't
ours there is kept.
"""

import json
import re
import tomllib
from typing import Any

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

_SERVERS = "mcp_servers"
_NAME = "roamkb"
_MARK = lazily(r"^# roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)(?P<eol>\r?\n|\Z)", re.MULTILINE)
_HEADER = lazily(r"^\s*\[\[?\s*(?P<name>[^\]\r\n]*?)\s*\]", re.MULTILINE)
_OURS = lazily(r"""mcp_servers\s*\.\s*(["']?)roamkb\1\s*(?:\.|$)""")
_COMMAND = lazily(r"^command[ \t]*=[^\r\n]*", re.MULTILINE)
_BEGIN = "# roamkb:begin kept by roamkb install, edit outside of it{made}"
_END = "# roamkb:end"
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
    """Return the configuration (None: no file yet) that runs `program mcp` as a server of ours.

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


def has_block(data: bytes) -> bool:
    """Say whether our block is in the configuration."""
    return _find(_text(data)) is not None


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return what a configuration says.

    Raises:
        BadToml: it can't be read.
    """
    return _parsed(_text(data))


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
