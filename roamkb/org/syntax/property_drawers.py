"""Property drawers: an entry's id and what else it says of itself."""

from collections.abc import Iterator
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.elements import PLANNING
from roamkb.org.syntax.elements import PROPERTY_DRAWER

_COMMENT = lazily(r"[ \t]*#(?: |$)")
_ENTRY = lazily(r"[ \t]*:(\S+):(?:[ \t]*$|[ \t]+(.*?)[ \t]*$)")
#: Keys that Org answers itself, whatever a drawer says.
_SPECIAL = frozenset(
    "ALLTAGS BLOCKED CLOCKSUM CLOCKSUM_T CLOSED DEADLINE FILE ITEM PRIORITY SCHEDULED TAGS TIMESTAMP "
    "TIMESTAMP_IA TODO".split()
)


class PropertyDrawer(NamedTuple):
    """The entries of a property drawer, in the order of the text."""

    entries: tuple[tuple[str, str], ...] = ()

    def get(self, key: str) -> str | None:
        """Return the value of `key`: its first entry and whatever `KEY+:` adds; `nil` is none."""
        base = next((value for name, value in self.entries if name == key), None)
        more = [value for name, value in self.entries if name == key + "+"]
        parts = more if base is None or base == "nil" else [base, *more]
        value = " ".join(parts)
        return None if not parts or value == "nil" else value

    def properties(self) -> dict[str, str]:
        """Return all entries but those that Org answers itself, `KEY+:` joined to `KEY:`."""
        found: dict[str, str] = {}
        seen: set[str] = set()
        for key, value in self.entries:
            name = key.removesuffix("+")
            if name in _SPECIAL:
                continue
            if key != name:
                found[name] = f"{found[name]} {value}" if name in found else value
            elif key not in seen:
                seen.add(key)
                found[name] = f"{value} {found[name]}" if name in found else value
        return found


def file_drawer(text: str) -> PropertyDrawer:
    """Return the drawer that makes a file a node: at its very top, only comments before it."""
    at = 0
    while _COMMENT.match(text, at, _line_end(text, at)):
        at = _line_end(text, at) + 1
    return _drawer(text, at)


def heading_drawer(text: str, at: int) -> tuple[PropertyDrawer, str | None]:
    """Return the drawer of the heading whose next line is at `at`, and its planning line."""
    planning = None
    if PLANNING.match(text, at):
        end = _line_end(text, at)
        planning = text[at:end]
        at = end + 1
    return _drawer(text, at), planning


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _drawer(text: str, at: int) -> PropertyDrawer:
    drawer = PROPERTY_DRAWER.match(text, at)
    return PropertyDrawer(tuple(_entries(drawer[1]))) if drawer else PropertyDrawer()


def _entries(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.split("\n"):
        if entry := _ENTRY.match(line):
            yield entry[1].upper(), entry[2] or ""
