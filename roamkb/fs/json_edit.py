"""JSON as text: one value put in, taken out or replaced, and every other byte as it was."""

import json
import re

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: A way into a document: names in objects, numbers in lists.
Way = tuple[str | int, ...]

_SPACE = lazily(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_INDENT = "  "


class BadJson(ValueError):
    """The text isn't JSON that has one meaning; the message says why and where."""


@dataclass(frozen=True, slots=True)
class _JsonChild:
    """One member or item, from the first character of its name, if it has one."""

    key: str | int
    start: int
    value: "_JsonValue"


@dataclass(frozen=True, slots=True)
class _JsonValue:
    start: int
    end: int
    children: tuple[_JsonChild, ...] = ()

    def child(self, key: str | int) -> int:
        return next(number for number, child in enumerate(self.children) if child.key == key)


def parse_json(text: str) -> object:
    """Return what `text` says, or raise `BadJson`."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        why = "has comments, which JSON has not" if _has_comment(text) else f"isn't JSON: {error.msg}"
        raise BadJson(f"{why} (line {error.lineno})") from error
    except RecursionError as error:
        raise BadJson("is nested too deeply") from error


def with_item(text: str, way: Way, key: str | None, value: object) -> str:
    """Return `text` with `value` as the last of the list or object at `way`, in the style around it."""
    place = _at(text, way)
    if not place.children:
        return _with_first(text, place, key, value)
    first, last = place.children[0], place.children[-1]
    gap = text[place.start + 1 : first.start]
    if "\n" in gap:
        indent = gap.rpartition("\n")[2]
        added = f",{_line_end(text)}{indent}{_rendered(text, key, value, indent)}"
    else:
        added = f"{',' if _is_tight(text) else ', '}{_in_line(text, key, value)}"
    return text[: last.value.end] + added + text[last.value.end :]


def _with_first(text: str, place: _JsonValue, key: str | None, value: object) -> str:
    if _is_tight(text) and text.strip() not in ("{}", "[]"):
        inner = _in_line(text, key, value)
    else:
        line = text[text.rfind("\n", 0, place.start) + 1 : place.start]
        outer = line[: len(line) - len(line.lstrip(" \t"))]
        end, indent = _line_end(text), outer + _unit(text)
        inner = f"{end}{indent}{_rendered(text, key, value, indent)}{end}{outer}"
    return text[: place.start + 1] + inner + text[place.end - 1 :]


def with_value(text: str, way: Way, value: object) -> str:
    """Return `text` with `value` in place of the one at `way`."""
    place = _at(text, way)
    return text[: place.start] + json.dumps(value, ensure_ascii=False) + text[place.end :]


def without(text: str, way: Way) -> str:
    """Return `text` without what is at `way`, nor lists and objects that are empty then; the root stays."""
    place = _at(text, way[:-1])
    number = place.child(way[-1])
    if len(place.children) == 1:
        if len(way) > 1:
            return without(text, way[:-1])
        return text[: place.start + 1] + text[place.end - 1 :]
    if number + 1 == len(place.children):
        start, end = place.children[number - 1].value.end, place.children[number].value.end
    else:
        start, end = place.children[number].start, place.children[number + 1].start
    return text[:start] + text[end:]


def _at(text: str, way: Way) -> _JsonValue:
    place = _value(text, _after_space(text, 0))
    for key in way:
        place = place.children[place.child(key)].value
    return place


def _value(text: str, at: int) -> _JsonValue:
    """Return where the value that begins at `at` ends, and what is in it; `text` is known to be JSON."""
    opening = text[at]
    if opening not in "{[":
        return _JsonValue(at, _DECODER.raw_decode(text, at)[1])
    children: list[_JsonChild] = []
    here = _after_space(text, at + 1)
    while text[here] not in "}]":
        if text[here] == ",":
            here = _after_space(text, here + 1)
        start, key = here, len(children)
        name: str | int = key
        if opening == "{":
            name, colon = _DECODER.raw_decode(text, here)
            here = _after_space(text, _after_space(text, colon) + 1)
        value = _value(text, here)
        children.append(_JsonChild(name, start, value))
        here = _after_space(text, value.end)
    return _JsonValue(at, here + 1, tuple(children))


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


# the style of the text


def _line_end(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _unit(text: str) -> str:
    """Return what the members of the root are indented by."""
    found = re.match(r"\s*[{\[][ \t]*\r?\n(?:[ \t]*\r?\n)*([ \t]+)", text)
    return found[1] if found else _INDENT


def _is_tight(text: str) -> bool:
    """Say whether `text` is all on one line."""
    return "\n" not in text.strip()


def _rendered(text: str, key: str | None, value: object, indent: str) -> str:
    """Return `value`, under `key`, on as many lines as it takes, those after the first behind `indent`."""
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return _name(key, ": ") + f"{_line_end(text)}{indent}".join(lines)


def _in_line(text: str, key: str | None, value: object) -> str:
    marks = (",", ":") if _is_tight(text) else (", ", ": ")
    return _name(key, marks[1]) + json.dumps(value, ensure_ascii=False, separators=marks)


def _name(key: str | None, colon: str) -> str:
    return "" if key is None else json.dumps(key, ensure_ascii=False) + colon


# what has no one meaning


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise BadJson(f'names "{twice}" twice in one object; which one counts differs from reader to reader')
    return found


def _no_number(name: str) -> object:
    raise BadJson(f"isn't JSON: {name} is no number")


def _has_comment(text: str) -> bool:
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    return "//" in bare or "/*" in bare
