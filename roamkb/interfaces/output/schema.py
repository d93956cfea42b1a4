"""JSON Schema (draft 2020-12) of answers and requests, made from the classes that `encode` reads."""

import ast
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any
from typing import Final

from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.json_form import member_name
from roamkb.core.json_form import null_if_empty
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import is_dataclass
from roamkb.core.startup.typing import typed_hint
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.mcp.tools import parameter_schema
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output import render
from roamkb.interfaces.output import spool
from roamkb.interfaces.output.encode import SCHEMA
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import json_keys
from roamkb.wall.broker import FORWARDED_VERBS

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSION_PROPERTY: Final[Json] = {"schema": {"const": SCHEMA}}
_PLAIN_SCHEMAS: Final[dict[object, Json]] = {
    str: {"type": "string"},
    bytes: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    object: {},
    Any: {},
}
#: What forms return that carry no annotations.
_FORM_RESULTS: Final[dict[object, object]] = {float: float, len: int, dict: dict[str, int]}
#: Lists of so many keys get a name.
_MANY_KEYS: Final = 10


@dataclass(frozen=True, slots=True)
class PairKeys:
    """The keys of a pair that `Rows` makes an object of, each with the type of its part."""

    parts: Mapping[str, object]


class SchemaDefinitions:
    """Schemas of classes, each made once and named as its class."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}

    def answer_schema(self, operation: Operation) -> Json:
        """Return the schema of an operation's answers, refusals and errors included."""
        answers = [
            self._object_schema(kind, _listed_keys(kind), extra_properties=_VERSION_PROPERTY)
            for kind in answer_types(operation)
        ]
        errors = _any_of(self._reference_schema(kind, "") for kind in _error_types())
        refused = self._reference_schema(Refused, "")
        return _any_of(
            [
                *answers,
                *(_properties_schema(_VERSION_PROPERTY | end) for end in ({"refused": refused}, {"error": errors})),
            ]
        )

    def _hint_schema(self, hint: Any) -> Json:
        """Return the schema of a value by the type and the form in its annotation."""
        if typing.get_origin(hint) is not typing.Annotated:
            return self._type_schema(hint, "")
        hint, forms, keys = hint.__origin__, hint.__metadata__, ""
        is_optional = False
        for form in forms:
            hint, was_optional = _without_none(hint)
            is_optional |= was_optional or form is null_if_empty
            if isinstance(form, Keys):
                keys = form
            elif form is not null_if_empty:
                hint = _form_result_type(hint, form)
        schema = self._type_schema(hint, keys)
        return _any_of([schema, _PLAIN_SCHEMAS[type(None)]]) if is_optional else schema

    def _type_schema(self, hint: Any, keys: str) -> Json:
        """Return the schema of a type without a form; of an object, and of each in a list, only of `keys`."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        match origin or hint:
            case typing.Annotated:
                return self._hint_schema(hint)
            case typing.ClassVar:
                return self._type_schema(arguments[0], keys)
            case typing.Union | types.UnionType:
                return _any_of(self._type_schema(part, keys) for part in arguments)
            case typing.Literal:
                return {"enum": list(arguments)}
            case PairKeys():
                return self._object_schema(hint, keys or " ".join(hint.parts))
            case type() as kind:
                return self._class_schema(kind, arguments, keys)
        return {}

    def _class_schema(self, kind: type, arguments: tuple[Any, ...], keys: str) -> Json:
        if kind in _PLAIN_SCHEMAS:
            return _PLAIN_SCHEMAS[kind]
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if issubclass(kind, PurePath):
            return _PLAIN_SCHEMAS[str]
        if is_dataclass(kind) or hasattr(kind, "JSON"):
            return self._reference_schema(kind, keys)
        if issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self._hint_schema(arguments[1]) if arguments else True}
        if kind is tuple and arguments[1:] != (...,):
            parts = [self._type_schema(part, keys) for part in arguments]
            return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
        if issubclass(kind, Iterable):
            return {"type": "array", "items": self._type_schema(arguments[0], keys) if arguments else {}}
        return _PLAIN_SCHEMAS[str] if issubclass(kind, str) else {}

    def _reference_schema(self, kind: type, keys: str) -> Json:
        if keys and len(keys.split()) < _MANY_KEYS:
            return self._object_schema(kind, keys)
        name = f"{kind.__name__}{'InFull' if keys else ''}"
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name] = self._object_schema(kind, keys or _listed_keys(kind))
        return {"$ref": f"#/$defs/{name}"}

    def _object_schema(self, kind: Any, words: str, *, extra_properties: Json | None = None) -> Json:
        """Return the schema of an object with the keys that `words` list, as `encode` reads them."""
        properties: Json = dict(extra_properties or {})
        optional: set[str] = set()
        is_open = False
        for key, name, path, mark in json_keys(words):
            hint = _hint_of(kind, name)
            hint, is_optional = _hint_at(hint, path)
            if mark != "*":
                schema = self._hint_schema(hint)
                properties[key] = _any_of([schema, _PLAIN_SCHEMAS[type(None)]]) if is_optional else schema
                optional |= {key} if mark == "?" else set()
                continue
            listed: list[str] = [form for form in getattr(hint, "__metadata__", ()) if isinstance(form, Keys)]
            part, may_lack = _without_none(hint)
            if _is_mapping(part):
                is_open = True
                continue
            merged: Any = self._object_schema(part, *listed or [_listed_keys(part)])
            properties |= merged["properties"]
            has_all = not (is_optional or may_lack)
            optional |= set(merged["properties"]) - set(merged["required"] if has_all else ())
            is_open |= merged["additionalProperties"]
        return _properties_schema(properties, optional=optional, is_open=is_open)


def _properties_schema(properties: Json, *, optional: Iterable[str] = (), is_open: bool = False) -> Json:
    required = [name for name in properties if name not in set(optional)]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": is_open,
    }


def _any_of(schemas: Iterable[Json]) -> Json:
    distinct_schemas: list[Json] = []
    for schema in schemas:
        distinct_schemas += [] if schema in distinct_schemas else [schema]
    return distinct_schemas[0] if len(distinct_schemas) == 1 else {"anyOf": distinct_schemas}


# What classes say


def _listed_keys(kind: Any) -> str:
    """Return the keys of a class, or of a pair, as `JSON` lists them."""
    if isinstance(kind, PairKeys):
        return " ".join(kind.parts)
    return getattr(kind, "JSON", "") or " ".join(field.name for field in fields(kind))


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return a type without its form and without None, and whether it was optional."""
    if typing.get_origin(hint) is typing.Annotated:
        hint = hint.__origin__
    arguments = typing.get_args(hint)
    if type(None) not in arguments:
        return hint, False
    return typing.Union[tuple(part for part in arguments if part is not type(None))], True  # noqa: UP007


def _hint_at(hint: Any, path: str) -> tuple[Any, bool]:
    """Return the annotation of an attribute's attribute, and whether any attribute before it may be None."""
    is_optional = False
    while path:
        kind, may_lack = _without_none(hint)
        is_optional |= may_lack
        ((_, name, path, _mark),) = json_keys(path)
        hint = _hint_of(kind, name)
    return hint, is_optional


def _is_mapping(hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _form_result_type(hint: Any, form: Any) -> object:
    """Return the type of a form's result for a value."""
    if isinstance(form, Rows):
        pair = typing.get_args(hint)[0]
        return list[PairKeys(dict(zip(form.split(), typing.get_args(pair), strict=True)))]  # type: ignore[misc]
    if form is member_name:
        return typing.Literal[tuple(member_name(member) for member in hint)]
    if form in _FORM_RESULTS:
        return _FORM_RESULTS[form]
    returned = getattr(form, "__annotations__", {}).get("return")
    return str if returned is None else _resolve_hint(returned, form.__module__)


def _hint_of(kind: Any, name: str) -> Any:
    """Return the annotation of a field, a property or a parameter of an error."""
    if isinstance(kind, PairKeys):
        return kind.parts[name]
    for base in kind.__mro__:
        members = vars(base)
        annotation = members.get("__annotations__", {}).get(name)
        # what a property, a cached one too, is computed by
        getter = getattr(members.get(name), "fget", getattr(members.get(name), "func", None))
        for function, argument in ((getter, "return"), (members.get("__init__"), name)):
            annotation = annotation or getattr(function, "__annotations__", {}).get(argument)
        if annotation is not None:
            return _resolve_hint(annotation, base.__module__)
    raise AttributeError(f"{kind.__name__} says no type of {name}")


def _resolve_hint(annotation: object, module: str) -> Any:
    annotated_holder = types.SimpleNamespace(__annotations__={"it": annotation})
    hint = typing.get_type_hints(annotated_holder, globalns=_module_names(module), include_extras=True)["it"]
    return typed_hint(hint)


@cache
def _module_names(module: str) -> dict[str, object]:
    """Return the names of a module, with those that only type checkers import."""
    names = dict(vars(import_module(module)))
    for block in ast.parse(inspect.getsource(sys.modules[module])).body:
        for line in block.body if isinstance(block, ast.If) else ():
            if isinstance(line, ast.ImportFrom) and line.module:
                imported_module = import_module(line.module)
                names |= {name.asname or name.name: getattr(imported_module, name.name) for name in line.names}
    return names


def answer_types(operation: Operation) -> Iterator[Any]:
    """Yield the classes of an operation's answers, as its renderer declares them."""
    if operation.door:
        return
    renderer: Callable[..., object] = render.find_renderer(operation.name)
    hints = {name: _resolve_hint(hint, renderer.__module__) for name, hint in renderer.__annotations__.items()}
    # those that it makes itself stand beside what it returns
    declared = getattr(hints["return"], "__metadata__", (hints["result"],))
    if operation.name in FORWARDED_VERBS:
        # the answer to a call that waits for a hook
        declared += (spool.QueuedAnswer,)
    for kind in declared:
        yield from typing.get_args(kind) or (kind,)


@cache
def _error_types() -> tuple[type[RoamkbError], ...]:
    """Return the errors that differ in their keys."""
    error_types = [RoamkbError]
    for kind in error_types:
        error_types += kind.__subclasses__()
    types_by_keys = {kind.JSON: kind for kind in reversed(error_types) if not issubclass(kind, Refused)}
    return tuple(types_by_keys.values())


# Documents


def request_schema(operation: Operation) -> Json:
    """Return the schema of an operation's request, its fields by their names."""
    properties: Json = {
        parameter.name: {
            **parameter_schema(parameter),
            **({"enum": list(parameter.choices)} if parameter.choices else {}),
        }
        for parameter in operation.parameters
    }
    return _properties_schema(properties, optional=(p.name for p in operation.parameters if not p.required))


def schema_document(operation: Operation | None = None) -> Json:
    """Return the schema of an operation's answers and request; without an operation, of all."""
    definitions = SchemaDefinitions()
    listed_operations = (operation,) if operation else tuple(listed_operation for listed_operation in OPERATIONS)
    answers = {
        listed_operation.name: definitions.answer_schema(listed_operation)
        for listed_operation in listed_operations
        if not listed_operation.door
    }
    requests = {
        f"{listed_operation.name}-request": request_schema(listed_operation) for listed_operation in listed_operations
    }
    head: Json = {"$schema": DIALECT, "title": "roamkb", "description": "Answers and requests of commands."}
    if operation:
        head |= {"title": f"roamkb {operation.name}", "description": operation.summary}
        head |= answers.get(operation.name, {})
        answers = {}
    return {**head, "$defs": {**answers, **requests, **definitions.schemas}}


def serve(call: OperationCall) -> int:
    """Print the schema that `roamkb schema [COMMAND]` asks for."""
    name = call.arguments["name"]
    operation = find_operation(str(name)) if name is not None else None
    if name is not None and operation is None:
        raise UsageError(f"no command {name}", hint="`roamkb --help` lists them")
    print(json.dumps(schema_document(operation), ensure_ascii=False, indent=1))
    return 0
