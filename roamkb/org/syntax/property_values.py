"""Property values that hold several things, as Emacs splits them."""

import re

from roamkb.core.startup.lazy_regex import lazily

#: Blanks in an Org buffer: no NEL and no line separator, but the zero-width space.
_BLANKS = lazily("[\t\n\f\r \xa0\u2000-\u200b\u202f\u205f\u3000]+")
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
    """A quote is opened and never closed, or an escape makes no sense."""


def words(value: str) -> list[str]:
    """Return `value` split at blanks."""
    return [word for word in _BLANKS.split(value) if word]


def split_quoted(value: str) -> list[str]:
    """Return the words of `value`; what is in double quotes is one, with Lisp's escapes."""
    found: list[str] = []
    at = 0
    while (quote := value.find('"', at)) >= 0:
        found += words(value[at:quote])
        text, at = _quoted(value, quote + 1)
        found.append(text)
    return found + words(value[at:])


def _quoted(value: str, at: int) -> tuple[str, int]:
    """Return the text of the string that begins at `at`, and where it ends behind its quote."""
    parts: list[str] = []
    while plain := _PLAIN.match(value, at):
        parts.append(plain[0])
        at = plain.end()
        if value.startswith('"', at):
            return "".join(parts), at + 1
        escape = _ESCAPE.match(value, at)
        if escape is None:
            break
        parts.append(_unescaped(escape))
        at = escape.end()
    raise UnbalancedQuote(value)


def _unescaped(escape: re.Match[str]) -> str:
    written = escape[escape.lastgroup or 0]
    match escape.lastgroup:
        case "octal":
            return _byte(int(written, 8))
        case "hex":
            return _byte(int(written or "0", 16))
        case "short" | "long" | "point" if int(written, 16) <= _LAST:
            return _shown(int(written, 16))
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


def _byte(code: int) -> str:
    """Return the character that Lisp makes of a number; from 128 to 255 that's a byte, and none."""
    return _NO_CHARACTER if 0x80 <= code <= 0xFF else _shown(code)


def _shown(code: int) -> str:
    return _NO_CHARACTER if code > _LAST or 0xD800 <= code <= 0xDFFF else chr(code)
