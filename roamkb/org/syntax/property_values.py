"""Property values with several parts, split as Emacs splits them."""

import re

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.syntax_table import SPACE

_BLANKS = lazily(f"[{SPACE}]+")
_PLAIN = lazily(r'[^"\\]*+')
_ESCAPE = lazily(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]*)"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
    r"|N\{U\+(?P<point>[0-9a-fA-F]{1,6})\}|(?:\^|C-)(?P<control>[ -~])"
    r"|M-(?P<meta>[ -~])|S-(?P<shift>[A-Za-z])"
    r"|(?P<other>.))",
    re.DOTALL,
)
#: What stands for bytes and numbers that are no characters.
_NO_CHARACTER = "\ufffd"
_LAST = 0x10FFFF
_NAMED = {
    "a": "\a",
    "b": "\b",
    "d": "\x7f",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
    " ": "",
    "s": " ",
}
#: Escapes that Lisp reads as the beginning of something else, and not as themselves.
_UNFINISHED = frozenset("uUNMCSHA^")


class UnbalancedQuote(ValueError):
    """A quote that is never closed, or an escape that makes no sense."""


def split_blanks(value: str) -> list[str]:
    """Return `value` split at blanks."""
    return [word for word in _BLANKS.split(value) if word]


def split_quoted(value: str) -> list[str]:
    """Return the words of `value`; a text in double quotes is one word, with Lisp's escapes."""
    pieces: list[str] = []
    position = 0
    while (quote := value.find('"', position)) >= 0:
        pieces += split_blanks(value[position:quote])
        text, position = _read_quoted(value, quote + 1)
        pieces.append(text)
    return pieces + split_blanks(value[position:])


def _read_quoted(value: str, position: int) -> tuple[str, int]:
    """Return the text of the string that begins at `position`, and the end of its quote."""
    parts: list[str] = []
    while plain := _PLAIN.match(value, position):
        parts.append(plain[0])
        position = plain.end()
        if value.startswith('"', position):
            return "".join(parts), position + 1
        escape = _ESCAPE.match(value, position)
        if escape is None:
            break
        parts.append(_escaped_character(escape))
        position = escape.end()
    raise UnbalancedQuote(value)


def _escaped_character(escape: re.Match[str]) -> str:
    written = escape[escape.lastgroup or 0]
    match escape.lastgroup:
        case "octal":
            return _byte_character(int(written, 8))
        case "hex":
            return _byte_character(int(written or "0", 16))
        case "short" | "long" | "point" if int(written, 16) <= _LAST:
            return _code_character(int(written, 16))
        case "control" if written == "?":
            return "\x7f"
        case "control" if written == " " or "@" <= written <= "_" or "a" <= written <= "z":
            return chr(ord(written) & 0x1F)
        case "meta":
            return _NO_CHARACTER
        case "shift":
            return written.upper()
        case "other" if written not in _UNFINISHED:
            return _NAMED.get(written, written)
    raise UnbalancedQuote(escape[0])


def _byte_character(code: int) -> str:
    """Return the character that Lisp makes of a number; from 128 to 255 a byte, which is none."""
    return _NO_CHARACTER if 0x80 <= code <= 0xFF else _code_character(code)


def _code_character(code: int) -> str:
    return _NO_CHARACTER if code > _LAST or 0xD800 <= code <= 0xDFFF else chr(code)
