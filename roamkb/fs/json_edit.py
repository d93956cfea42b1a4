"""JSON edits on text: one value inserted, removed or replaced, every other byte kept."""

import json
import re

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: A way into a document: names in objects, numbers in lists.
JsonPath = tuple[str | int, ...]

_WHITESPACE = lazily(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_DEFAULT_INDENT = "  "


class BadJson(ValueError):
    """Text that isn't JSON with one meaning; the message says why and where."""


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

    def child_index(self, key: str | int) -> int:
        return next(number for number, child in enumerate(self.children) if child.key == key)


def parse_json(text: str) -> object:
    """Return the value that `text` encodes, or raise `BadJson`."""
    try:
        return json.loads(text, object_pairs_hook=_unique_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        fault = "has comments, which JSON has not" if _has_comment(text) else f"isn't JSON: {error.msg}"
        raise BadJson(f"{fault} (line {error.lineno})") from error
    except BadJson:
        raise
    except ValueError as error:
        raise BadJson("has a number of too many digits") from error
    except RecursionError as error:
        raise BadJson("is nested too deeply") from error


def find_value(value: object, json_path: JsonPath) -> object:
    """Return the value at `json_path` in a parsed document; None where it leads nowhere."""
    for key in json_path:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def insert_item(text: str, json_path: JsonPath, key: str | None, value: object) -> str:
    """Return `text` with `value` added at the end of the list or object at `json_path`, in its style."""
    container = _locate_value(text, json_path)
    if not container.children:
        return _insert_first(text, container, key, value)
    first_child, last_child = container.children[0], container.children[-1]
    gap = text[container.start + 1 : first_child.start]
    if "\n" in gap:
        indent = gap.rpartition("\n")[2]
        inserted_text = f",{_line_end(text)}{indent}{_render_lines(text, key, value, indent)}"
    else:
        inserted_text = f"{',' if _is_single_line(text) else ', '}{_render_inline(text, key, value)}"
    return text[: last_child.value.end] + inserted_text + text[last_child.value.end :]


def _insert_first(text: str, container: _JsonValue, key: str | None, value: object) -> str:
    if _is_single_line(text) and text.strip() not in ("{}", "[]"):
        inner = _render_inline(text, key, value)
    else:
        line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
        outer = line[: len(line) - len(line.lstrip(" \t"))]
        end, indent = _line_end(text), outer + _indent_unit(text)
        inner = f"{end}{indent}{_render_lines(text, key, value, indent)}{end}{outer}"
    return text[: container.start + 1] + inner + text[container.end - 1 :]


def replace_value(text: str, json_path: JsonPath, value: object) -> str:
    """Return `text` with `value` in place of the one at `json_path`."""
    located = _locate_value(text, json_path)
    return text[: located.start] + json.dumps(value, ensure_ascii=False) + text[located.end :]


def remove_value(text: str, json_path: JsonPath) -> str:
    """Return `text` without the value at `json_path` and the containers it leaves empty; the root stays."""
    container = _locate_value(text, json_path[:-1])
    number = container.child_index(json_path[-1])
    if len(container.children) == 1:
        if len(json_path) > 1:
            return remove_value(text, json_path[:-1])
        return text[: container.start + 1] + text[container.end - 1 :]
    if number + 1 == len(container.children):
        start, end = container.children[number - 1].value.end, container.children[number].value.end
    else:
        start, end = container.children[number].start, container.children[number + 1].start
    return text[:start] + text[end:]


def _locate_value(text: str, json_path: JsonPath) -> _JsonValue:
    located = _parse_value(text, _skip_space(text, 0))
    for key in json_path:
        located = located.children[located.child_index(key)].value
    return located


def _parse_value(text: str, offset: int) -> _JsonValue:
    """Return the span of the value that begins at `offset`, with its children; `text` is valid JSON."""
    opening = text[offset]
    if opening not in "{[":
        return _JsonValue(offset, _DECODER.raw_decode(text, offset)[1])
    children: list[_JsonChild] = []
    position = _skip_space(text, offset + 1)
    while text[position] not in "}]":
        if text[position] == ",":
            position = _skip_space(text, position + 1)
        start, key = position, len(children)
        name: str | int = key
        if opening == "{":
            name, colon = _DECODER.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, colon) + 1)
        value = _parse_value(text, position)
        children.append(_JsonChild(name, start, value))
        position = _skip_space(text, value.end)
    return _JsonValue(offset, position + 1, tuple(children))


def _skip_space(text: str, offset: int) -> int:
    match = _WHITESPACE.match(text, offset)
    return match.end() if match else offset


# the style of the text


def _line_end(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _indent_unit(text: str) -> str:
    """Return the indentation of the root's members."""
    match = re.match(r"\s*[{\[][ \t]*\r?\n(?:[ \t]*\r?\n)*([ \t]+)", text)
    return match[1] if match else _DEFAULT_INDENT


def _is_single_line(text: str) -> bool:
    """Say whether `text` is all on one line."""
    return "\n" not in text.strip()


def _render_lines(text: str, key: str | None, value: object, indent: str) -> str:
    """Return `value`, under `key`, on as many lines as it takes, those after the first behind `indent`."""
    lines = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text)).split("\n")
    return _render_name(key, ": ") + f"{_line_end(text)}{indent}".join(lines)


def _render_inline(text: str, key: str | None, value: object) -> str:
    marks = (",", ":") if _is_single_line(text) else (", ", ": ")
    return _render_name(key, marks[1]) + json.dumps(value, ensure_ascii=False, separators=marks)


def _render_name(key: str | None, colon: str) -> str:
    return "" if key is None else json.dumps(key, ensure_ascii=False) + colon


# what has no one meaning


def _unique_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        repeated_name = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise BadJson(f'names "{repeated_name}" twice in one object; which one counts differs from reader to reader')
    return members


def _refuse_constant(name: str) -> object:
    raise BadJson(f"isn't JSON: {name} is no number")


def _has_comment(text: str) -> bool:
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    return "//" in bare or "/*" in bare
