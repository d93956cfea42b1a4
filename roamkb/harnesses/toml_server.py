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

_SERVERS_KEY = "mcp_servers"
_SERVER_NAME = "roamkb"
_BLOCK_MARK = lazily(r"^# roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)(?P<eol>\r?\n|\Z)", re.MULTILINE)
_TABLE_HEADER = lazily(r"^\s*\[\[?\s*(?P<name>[^\]\r\n]*?)\s*\]", re.MULTILINE)
_OWN_TABLE = lazily(r"""mcp_servers\s*\.\s*(["']?)roamkb\1\s*(?:\.|$)""")
_COMMAND_LINE = lazily(r"^command[ \t]*=[^\r\n]*", re.MULTILINE)
_BEGIN_MARK = "# roamkb:begin kept by roamkb install, edit outside of it{made}"
_END_MARK = "# roamkb:end"
#: In the opening mark of a file that we made.
_MADE_FILE_NOTE = ", which made this file"


class BadToml(ValueError):
    """A file that can't be read, or changed without harm; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class _TomlBlock:
    start: int
    #: The first character of what somebody else wrote before the end mark.
    foreign_start: int
    #: Where the end mark begins, and where the file goes on behind it.
    end_mark_start: int
    end: int
    eol: str
    is_closed: bool
    made_file: bool


def with_server(data: bytes | None, program: str) -> bytes:
    """Return the configuration (None: no file yet) with a server of ours that runs `program mcp`.

    A server of that name that somebody configured stays as it is, and so does what was added to ours.
    """
    text = _decode_config(data or b"")
    before = _parse_text(text)
    block = _find_block(text)
    command = f"command = {json.dumps(program, ensure_ascii=False)}"
    if block is None and _SERVER_NAME in _server_tables(before):
        return data or b""
    if block is None:
        eol = "\r\n" if "\r\n" in text else "\n"
        lines = (
            _BEGIN_MARK.format(made=_MADE_FILE_NOTE if data is None else ""),
            f"[{_SERVERS_KEY}.{_SERVER_NAME}]",
            command,
            'args = ["mcp"]',
            _END_MARK,
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
        own = _COMMAND_LINE.sub(lambda _: command, text[block.start : block.foreign_start], count=1)
        after = text[: block.start] + own + text[block.foreign_start :]
    _require_others_kept(before, _parse_text(after))
    return after.encode()


def without_server(data: bytes) -> bytes | None:
    """Return the configuration without the block; None where the file held nothing else."""
    text = _decode_config(data)
    block = _find_block(text)
    if block is None:
        return data
    text_before, foreign_text, text_behind = (
        text[: block.start],
        text[block.foreign_start : block.end_mark_start],
        text[block.end :],
    )
    if block.made_file and not (text_before + foreign_text + text_behind).strip():
        return None
    text_above = text_before.removesuffix(block.eol)
    if (
        text_above != text_before
        and (not text_above or text_above.endswith("\n") or not block.is_closed)
        and not foreign_text
    ):
        text_before = text_above if block.is_closed else text_above.removesuffix(block.eol)
    remaining_text = text_before + foreign_text + text_behind
    _require_others_kept(_parse_text(text), _parse_text(remaining_text))
    return remaining_text.encode()


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the tables of a configuration.

    Raises:
        BadToml: it can't be read.
    """
    return _parse_text(_decode_config(data))


def _decode_config(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadToml("isn't UTF-8 text") from error


def _parse_text(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadToml(f"isn't TOML: {error}") from error
    except RecursionError as error:
        raise BadToml("is nested too deeply") from error


def _server_tables(settings: dict[str, Any]) -> dict[str, Any]:
    servers = settings.get(_SERVERS_KEY)
    return servers if isinstance(servers, dict) else {}


def _require_others_kept(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise `BadToml` where anything but our server differs."""
    if _without_own_server(before) != _without_own_server(after):
        raise BadToml("has tables around roamkb's block that would change with it; edit it by hand")


def _without_own_server(settings: dict[str, Any]) -> dict[str, Any]:
    other_servers = {name: value for name, value in _server_tables(settings).items() if name != _SERVER_NAME}
    other_settings = {name: value for name, value in settings.items() if name != _SERVERS_KEY}
    return {**other_settings, _SERVERS_KEY: other_servers} if other_servers else other_settings


def _find_block(text: str) -> _TomlBlock | None:
    marks = list(_BLOCK_MARK.finditer(text))
    if not marks:
        return None
    if [mark["which"] for mark in marks] != ["begin", "end"]:
        raise BadToml("has roamkb's marks out of order; there must be one begin and then one end")
    begin, end = marks
    headers = _TABLE_HEADER.finditer(text, begin.end(), end.start())
    foreign = next((head.start() for head in headers if not _OWN_TABLE.match(head["name"])), end.start())
    return _TomlBlock(
        start=begin.start(),
        foreign_start=foreign,
        end_mark_start=end.start(),
        end=end.end(),
        eol=begin["eol"] or "\n",
        is_closed=bool(end["eol"]),
        made_file=_MADE_FILE_NOTE in begin["rest"],
    )
