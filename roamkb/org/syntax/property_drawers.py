"""Property drawers: the id and the other properties of an entry."""

from collections.abc import Iterator
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.elements import PLANNING
from roamkb.org.syntax.elements import PROPERTY_DRAWER
from roamkb.org.syntax.syntax_table import SPACE

_COMMENT = lazily(r"[ \t]*#(?: |$)")
_ENTRY = lazily(rf"[ \t]*:([^{SPACE}]+):(?:[ \t]*$|[ \t]+(.*?)[ \t]*$)")
#: Keys that Org answers itself, whatever a drawer says.
_SPECIAL = frozenset(
    "ALLTAGS BLOCKED CLOCKSUM CLOCKSUM_T CLOSED DEADLINE FILE ITEM PRIORITY SCHEDULED TAGS TIMESTAMP "
    "TIMESTAMP_IA TODO".split()
)


class PropertyDrawer(NamedTuple):
    """The entries of a property drawer, in the order of the text."""

    entries: tuple[tuple[str, str], ...] = ()

    def get_value(self, key: str) -> str | None:
        """Return the value of `key`: its first entry and whatever `KEY+:` adds; None for `nil`."""
        base = next((value for name, value in self.entries if name == key), None)
        more = [value for name, value in self.entries if name == key + "+"]
        parts = more if base is None or base == "nil" else [base, *more]
        value = " ".join(parts)
        return None if not parts or value == "nil" else value

    def joined_properties(self) -> dict[str, str]:
        """Return all entries but those that Org answers itself, `KEY+:` joined to `KEY:`."""
        values: dict[str, str] = {}
        seen_keys: set[str] = set()
        for key, value in self.entries:
            name = key.removesuffix("+")
            if name in _SPECIAL:
                continue
            if key != name:
                values[name] = f"{values[name]} {value}" if name in values else value
            elif key not in seen_keys:
                seen_keys.add(key)
                values[name] = f"{value} {values[name]}" if name in values else value
        return values


def file_drawer(text: str) -> PropertyDrawer:
    """Return the drawer that makes a file a node: at its very top, only comments before it."""
    position = 0
    while _COMMENT.match(text, position, _line_end(text, position)):
        position = _line_end(text, position) + 1
    return _drawer_at(text, position)


def heading_drawer(text: str, position: int) -> tuple[PropertyDrawer, str | None]:
    """Return the drawer behind the heading that ends at `position`, and its planning line."""
    planning = None
    if PLANNING.match(text, position):
        end = _line_end(text, position)
        planning = text[position:end]
        position = end + 1
    return _drawer_at(text, position), planning


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _drawer_at(text: str, position: int) -> PropertyDrawer:
    drawer = PROPERTY_DRAWER.match(text, position)
    return PropertyDrawer(tuple(_parse_entries(drawer[1]))) if drawer else PropertyDrawer()


def _parse_entries(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.split("\n"):
        if entry := _ENTRY.match(line):
            yield entry[1].upper(), entry[2] or ""
