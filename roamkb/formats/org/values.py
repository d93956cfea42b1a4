"""Property values that hold several things, as Emacs splits them."""

import re

#: Blanks in an Org buffer: no NEL and no line separator, but the zero-width space.
_BLANKS = re.compile("[\t\n\f\r \xa0\u2000-\u200b\u202f\u205f\u3000]+")
_PLAIN = re.compile(r'[^"\\]*+')
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|\^(.)|C-(.)|(.))", re.DOTALL
)
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
_UNFINISHED = frozenset("xuUNMCSHA^")


class Unbalanced(ValueError):
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
    raise Unbalanced(value)


def _unescaped(escape: re.Match[str]) -> str:
    octal, *numbers, caret, control, other = escape.groups()
    if octal:
        return chr(int(octal, 8))
    for number in numbers:
        if number:
            return _char(int(number, 16), escape[0])
    if caret or control:
        return chr(ord(caret or control) & 0x1F)
    if other in _UNFINISHED:
        raise Unbalanced(escape[0])
    return _NAMED.get(other, other)


def _char(code: int, written: str) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Unbalanced(written)
    return chr(code)
