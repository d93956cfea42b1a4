"""Results as JSON, by their fields or by the keys that their classes list (docs/json.md)."""

import os
from collections.abc import Callable
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows

SCHEMA: Final = 1

Json = dict[str, object]


def answer_json(result: object) -> Json:
    """Return the object that a door answers with."""
    return {"schema": SCHEMA, **object_json(result)}


def encode(value: object, keys: str = "") -> object:
    """Return `value` as JSON has it; of an object, and of each in a list, only `keys` if they are given."""
    match value:
        case Enum():
            return value.value
        case None | str() | int() | float():
            return value
        case PurePath():
            return str(value)
        case bytes():
            return os.fsdecode(value)
        case list() | tuple():
            return [encode(part, keys) for part in value]
        case set() | frozenset():
            return sorted(value)
    return object_json(value, keys)


def object_json(value: Any, keys: str = "") -> Json:
    """Return a mapping, or a value of a class, as an object."""
    if isinstance(value, Mapping) and not keys:
        return {str(key): encode(part) for key, part in value.items()}
    encoded: Json = {}
    for key, path, mark in _parsed(keys or _keys_of(value.__class__)):
        part = _attribute(value, path)
        if mark == "*":
            encoded |= part if isinstance(part, dict) else {}
        elif mark != "?" or part is not None:
            encoded[key] = part
    return encoded


def _attribute(value: Any, path: str) -> object:
    """Return an attribute as JSON; of an attribute that is None, None."""
    name, _, rest = path.partition(".")
    part = value[name] if isinstance(value, Mapping) else getattr(value, name)
    if part is None:
        return None
    if rest:
        return _attribute(part, rest)
    keys = ""
    for form in _forms_of(value.__class__, name):
        match form:
            case Keys():
                keys = form
            case Rows():
                names = form.split()
                part = [dict(zip(names, row, strict=True)) for row in part]
            case Callable() if part is not None:
                part = form(part)
    return encode(part, keys)


@cache
def _parsed(keys: str) -> tuple[tuple[str, str, str], ...]:
    """Return of each word in a list of keys the key, the attribute's path, and its mark if it has one."""
    parsed = []
    for word in keys.split():
        key, _, path = word.rpartition("=")
        mark = path[0] if path[0] == "*" else path[-1] if path[-1] == "?" else ""
        path = path.strip("*?")
        parsed.append((key or path.rpartition(".")[2].removeprefix("is_"), path, mark))
    return tuple(parsed)


# Nothing else knows how a class lists its fields, and what it says beside their types.


@cache
def _keys_of(kind: type) -> str:
    """Return the keys of a class: those that it lists, or else all of its fields."""
    keys: str = getattr(kind, "JSON", "") or " ".join(_fields_of(kind))
    return keys


@cache
def _forms_of(kind: type, name: str) -> tuple[object, ...]:
    """Return the forms beside the type of a field or property, where that may be None as well."""
    attribute = getattr(kind, name, None)
    annotation: Any = _fields_of(kind).get(name)
    if isinstance(attribute, property):
        annotation = attribute.fget.__annotations__["return"]
    is_optional = type(None) in getattr(annotation, "__args__", ())
    types = (annotation, *annotation.__args__) if is_optional else (annotation,)
    return tuple(form for one in types for form in getattr(one, "__metadata__", ()))


def _fields_of(kind: type) -> dict[str, Any]:
    """Return the fields of a class with their annotations."""
    return {name: field.type for name, field in getattr(kind, "__dataclass_fields__", {}).items()}
