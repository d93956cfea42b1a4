"""Results as JSON, by their fields or by the keys that their classes list (docs/json.md)."""

import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from enum import Enum
from functools import cache
from functools import partial
from operator import getitem
from pathlib import PurePath
from typing import Any
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import is_dataclass

SCHEMA: Final = 1

Json = dict[str, object]
Forms = tuple[Callable[[object], object], ...]

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def answer_json(result: object) -> Json:
    """Return the object that an interface answers with."""
    return {"schema": SCHEMA, **object_json(result)}


def encode_value(value: object, keys: str = "") -> object:
    """Return `value` encoded for JSON; of an object, and of each in a list, only `keys` if given."""
    if value.__class__ in _PLAIN:
        return value
    match value:
        case list() | tuple():
            return [encode_value(part, keys) for part in value]
        case Enum():
            return value.value
        case str() | int() | float():
            return value
        case PurePath():
            return str(value)
        case bytes():
            return os.fsdecode(value)
        case Set():
            return sorted(value)
        # a list that is read once somebody asks, such as a learning's history
        case Sequence():
            return [encode_value(part, keys) for part in value]
    return object_json(value, keys)


def object_json(value: Any, keys: str = "") -> Json:
    """Return a mapping, or a value of a class, as an object."""
    read_part: Callable[[Any, str], object] = getattr
    if isinstance(value, Mapping):
        if not keys:
            return {str(key): encode_value(part) for key, part in value.items()}
        read_part = getitem
    encoded: Json = {}
    for key, name, path, mark, forms, part_keys in _key_plan(value.__class__, keys):
        part = read_part(value, name)
        if path and part is not None:
            (part,) = object_json(part, path).values()
        elif part is not None:
            for form in forms:
                part = None if part is None else form(part)
            part = encode_value(part, part_keys)
        if mark == "*":
            encoded |= part if isinstance(part, dict) else {}
        elif part is not None or mark != "?":
            encoded[key] = part
    return encoded


@cache
def _key_plan(kind: type, keys: str) -> tuple[tuple[str, str, str, str, Forms, str], ...]:
    """Return for each key of a class its name, its attribute and the path from there, its mark, and its form.

    The form is functions to call on the attribute, and the keys of what they return.
    """
    words = json_keys(keys or getattr(kind, "JSON", "") or " ".join(_fields_of(kind)))
    return tuple((key, name, path, mark, *_form_of(kind, name)) for key, name, path, mark in words)


def json_keys(words: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield for each key that a class lists its name, its attribute, the path from there, and its mark."""
    for word in words.split():
        key, _, path = word.rpartition("=")
        mark = path[0] if path[0] == "*" else path[-1] if path[-1] == "?" else ""
        name, _, inner_path = path.strip("*?").partition(".")
        yield key or path.strip("*?").rpartition(".")[2].removeprefix("is_"), name, inner_path, mark


def _form_of(kind: type, name: str) -> tuple[Forms, str]:
    """Return the form declared beside the type of a field or property, or of its optional type."""
    attribute = getattr(kind, name, None)
    annotation: Any = _fields_of(kind).get(name)
    if isinstance(attribute, property):
        annotation = attribute.fget.__annotations__["return"]
    is_optional = type(None) in getattr(annotation, "__args__", ())
    types = (annotation, *annotation.__args__) if is_optional else (annotation,)
    declared_forms = [form for variant in types for form in getattr(variant, "__metadata__", ())]
    forms = [partial(_name_parts, form.split()) if isinstance(form, Rows) else form for form in declared_forms]
    keys = [form for form in declared_forms if isinstance(form, Keys)]
    return tuple(form for form in forms if not isinstance(form, Keys)), keys[0] if keys else ""


def _name_parts(names: Sequence[str], rows: Iterable[Iterable[object]]) -> list[Json]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _fields_of(kind: type) -> dict[str, Any]:
    """Return the fields of a class with their annotations; only this function knows how it lists them."""
    record: Any = kind
    return {field.name: field.type for field in fields(record)} if is_dataclass(kind) else {}
