"""Dataclasses that share their methods: the standard library compiles six a class, a third of a millisecond.

A process of roamkb's defines fifty before it does anything. Type checkers see the standard library's, whose
functions take these classes as well; a test compares the two.
"""

from collections.abc import Callable
from collections.abc import Mapping
from operator import attrgetter

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_MISSING = object()


class _Argument:
    """`InitVar[type]`: the type of an argument that `__post_init__` takes and nothing keeps."""

    def __init__(self, annotation: object) -> None:
        self.annotation = annotation

    def __class_getitem__(cls, annotation: object) -> "_Argument":
        return cls(annotation)


class _Field:
    """Declaration of one field of a class."""

    name = ""
    type: object = None
    #: Whether it is given by its name alone.
    kw_only = False

    def __init__(
        self,
        *,
        default: object = _MISSING,
        default_factory: Callable[[], object] | None = None,
        repr: bool = True,
        compare: bool = True,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare
        self.metadata = metadata or {}


class _KeywordsOnly:
    """`_: KW_ONLY`: the fields after it are given by their names alone."""


class _FieldTable:
    """Fields of a class, prepared for its shared methods."""

    def __init__(self, all_fields: dict[str, _Field]) -> None:
        self.every = all_fields
        self.positional = tuple(name for name, field in all_fields.items() if not field.kw_only)
        self.arguments = [name for name, field in all_fields.items() if isinstance(field.type, _Argument)]
        self.kept = tuple(field for name, field in all_fields.items() if name not in self.arguments)
        self.defaults = {name: field.default for name, field in all_fields.items() if field.default is not _MISSING}
        self.factories = {name: field.default_factory for name, field in all_fields.items() if field.default_factory}
        compared = [field.name for field in self.kept if field.compare]
        #: The values by which two objects are equal.
        self.compared: Callable[[object], object] = attrgetter(*compared) if compared else type
        #: What sets each field, whatever `__setattr__` says; none where objects have a `__dict__`.
        self.setters: list[tuple[str, Callable[[object, object], None]]] | None = None
        self.is_checked = False


def _init_record(self: "Any", /, *positional_values: object, **named_values: object) -> None:
    table: _FieldTable = self.__field_table__
    if positional_values:
        by_position = dict(zip(table.positional, positional_values, strict=False))
        if len(by_position) < len(positional_values) or by_position.keys() & named_values.keys():
            raise _argument_mismatch(self, positional_values, named_values)
        named_values = by_position | named_values
    if len(named_values) != len(table.every):
        factory_values = {name: factory() for name, factory in table.factories.items() if name not in named_values}
        named_values = table.defaults | factory_values | named_values
    if named_values.keys() != table.every.keys():
        raise _argument_mismatch(self, positional_values, named_values)
    if table.setters is None:
        vars(self).update((field.name, named_values[field.name]) for field in table.kept)
    else:
        for name, set_field in table.setters:
            set_field(self, named_values[name])
    if table.is_checked:
        self.__post_init__(*[named_values[name] for name in table.arguments])


def _argument_mismatch(
    self: "Any", positional_values: tuple[object, ...], named_values: dict[str, object]
) -> TypeError:
    names = ", ".join(self.__field_table__.every)
    return TypeError(
        f"{type(self).__name__} takes {names}; not {len(positional_values)} values and {', '.join(named_values)}"
    )


def _record_repr(self: "Any") -> str:
    field_names = (field.name for field in self.__field_table__.kept if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in field_names)})"


def _records_equal(self: "Any", other_record: object) -> object:
    compared: Callable[[object], object] = self.__field_table__.compared
    return compared(self) == compared(other_record) if type(other_record) is type(self) else NotImplemented


def _record_hash(self: "Any") -> int:
    return hash(self.__field_table__.compared(self))


def _refuse_change(self: object, name: str, *_value: object) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen, {name} as well")


def _record_state(self: "Any") -> list[object]:
    return [getattr(self, field.name) for field in self.__field_table__.kept]


def _restore_state(self: "Any", state: list[object]) -> None:
    for (_, set_field), value in zip(self.__field_table__.setters, state, strict=True):
        set_field(self, value)


class _StandardFields:
    """A class's fields as the standard library keeps them, made when its functions ask for them."""

    def __get__(self, instance: object, owner: "Any") -> object:
        import dataclasses  # noqa: TID251

        field_specs: list[tuple[str, Any, Any]] = []
        for name, field in owner.__field_table__.every.items():
            options: dict[str, Any] = {
                "repr": field.repr,
                "compare": field.compare,
                "metadata": field.metadata,
                "kw_only": field.kw_only,
            }
            if field.default is not _MISSING:
                options["default"] = field.default
            if field.default_factory:
                options["default_factory"] = field.default_factory
            hint = field.type
            if isinstance(hint, _Argument):
                hint = dataclasses.InitVar[hint.annotation]  # type: ignore[name-defined]
            field_specs.append((name, hint, dataclasses.field(**options)))
        standard: Any = dataclasses.make_dataclass(owner.__name__, field_specs)
        return standard.__dataclass_fields__


def _dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False) -> Callable[["Any"], "Any"]:
    def build_class(cls: "Any") -> "Any":
        members = dict(vars(cls))
        all_fields = dict(cls.__field_table__.every) if hasattr(cls, "__field_table__") else {}
        own = dict(cls.__annotations__)
        by_name = kw_only
        for name, annotation in tuple(own.items()):
            if annotation is _KeywordsOnly:
                by_name = True
                del own[name]
                continue
            default = members.pop(name, _MISSING)
            all_fields[name] = default if isinstance(default, _Field) else _Field(default=default)
            all_fields[name].name, all_fields[name].type, all_fields[name].kw_only = name, annotation, by_name
        table = _FieldTable(all_fields)
        methods = {
            "__init__": _init_record,
            "__repr__": _record_repr,
            "__eq__": _records_equal,
            "__match_args__": table.positional,
        }
        if frozen:
            methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
        if members.get("__hash__") is None:
            members["__hash__"] = _record_hash if frozen else None
        members = methods | members | {"__field_table__": table, "__dataclass_fields__": _StandardFields()}
        if slots:
            # what a copy is made by: one of a frozen object isn't set a field at a time
            members |= {"__getstate__": _record_state, "__setstate__": _restore_state}
            members["__slots__"] = tuple(name for name in own if name not in table.arguments)
        members.pop("__dict__", None)
        members.pop("__weakref__", None)
        members["__qualname__"] = cls.__qualname__
        defined: Any = type(cls)(cls.__name__, cls.__bases__, members)
        if slots:
            table.setters = [(field.name, getattr(defined, field.name).__set__) for field in table.kept]
        table.is_checked = hasattr(defined, "__post_init__")
        return defined

    return build_class


def _fields(record: "Any") -> tuple[_Field, ...]:
    stored_fields: tuple[_Field, ...] = record.__field_table__.kept
    return stored_fields


def _is_dataclass(kind: object) -> bool:
    return hasattr(kind, "__field_table__")


def _replace(record: object, /, **changes: object) -> object:
    return type(record)(**{field.name: getattr(record, field.name) for field in _fields(record)} | changes)


def _asdict(record: object) -> dict[str, object]:
    return {field.name: _plain_value(getattr(record, field.name)) for field in _fields(record)}


def _plain_value(value: "Any") -> object:
    match value:
        case tuple() | list():
            return type(value)(_plain_value(member) for member in value)
        case dict():
            return {name: _plain_value(member) for name, member in value.items()}
    return _asdict(value) if hasattr(value, "__field_table__") else value


if TYPE_CHECKING:
    from dataclasses import KW_ONLY as KW_ONLY  # noqa: TID251
    from dataclasses import MISSING as MISSING  # noqa: TID251
    from dataclasses import InitVar as InitVar  # noqa: TID251
    from dataclasses import asdict as asdict  # noqa: TID251
    from dataclasses import dataclass as dataclass  # noqa: TID251
    from dataclasses import field as field  # noqa: TID251
    from dataclasses import fields as fields  # noqa: TID251
    from dataclasses import is_dataclass as is_dataclass  # noqa: TID251
    from dataclasses import replace as replace  # noqa: TID251
else:
    KW_ONLY, MISSING = _KeywordsOnly, _MISSING
    InitVar, field, fields, is_dataclass = _Argument, _Field, _fields, _is_dataclass
    dataclass, replace, asdict = _dataclass, _replace, _asdict
