"""Names of `typing` that classes and modules are declared with, without the library that reads declarations.

That takes a quarter of Python's start to load, and no process reads a declaration unless it makes a document
or a schema of it. Type checkers see the standard library's. What is annotated with a form of ours stays so:
`typed_hint` gives the annotation as `typing` has it.
"""

from collections import namedtuple

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _Declaration:
    """What says something to type checkers, with or without parameters, and nothing to Python."""

    def __class_getitem__(cls, _parameters: object) -> type:
        return cls


class _Variable:
    """A stand-in for a variable of types."""

    def __init__(self, name: str, *_constraints: object, **_limits: object) -> None:
        self.__name__ = name

    def __or__(self, _other: object) -> "_Variable":
        return self

    __ror__ = __or__


class AnnotatedHint:
    """`Annotated[type, form]`, kept as it was written."""

    __slots__ = ("__metadata__", "__origin__")

    def __init__(self, origin: object, metadata: tuple[object, ...]) -> None:
        """Take the type and its forms."""
        self.__origin__ = origin
        self.__metadata__ = metadata

    def __class_getitem__(cls, parameters: tuple[object, ...]) -> "AnnotatedHint":
        return cls(parameters[0], parameters[1:])

    def __or__(self, other: object) -> object:
        hint: Any = typed_hint(self)
        made: object = hint | other
        return made

    def __call__(self) -> None:
        """Do nothing: `typing` believes that only what can be called is a type."""


def typed_hint(hint: object) -> object:
    """Return an annotation as `typing` has it."""
    if not isinstance(hint, AnnotatedHint):
        return hint
    import typing

    annotated: Any = typing.Annotated
    made: object = annotated[(hint.__origin__, *hint.__metadata__)]
    return made


class _RecordType(type):
    """Makes the named tuple that a class body declares; the class itself is never an object's."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: "dict[str, Any]") -> type:
        if not bases:
            return super().__new__(cls, name, bases, members)
        names = [*members.pop("__annotations__", {})]
        defaults = [members.pop(field) for field in names if field in members]
        make: Any = namedtuple
        made: type = make(name, names, defaults=defaults, module=members.pop("__module__"))
        for member, value in members.items():
            setattr(made, member, value)
        return made


class _NamedTuple(metaclass=_RecordType):
    """Base of the declarations of named tuples."""


def _cast(_type: object, value: object) -> object:
    return value


def _overload(function: "Callable[..., object]") -> "Callable[..., object]":
    return function


if TYPE_CHECKING:
    from typing import Annotated as Annotated
    from typing import Any as Any
    from typing import AnyStr as AnyStr
    from typing import BinaryIO as BinaryIO
    from typing import ClassVar as ClassVar
    from typing import Final as Final
    from typing import Generic as Generic
    from typing import NamedTuple as NamedTuple
    from typing import ParamSpec as ParamSpec
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:
    Any = AnyStr = BinaryIO = ClassVar = Final = Generic = Protocol = Self = _Declaration
    Annotated, NamedTuple, ParamSpec, TypeVar, cast, overload = (
        *(AnnotatedHint, _NamedTuple, _Variable, _Variable, _cast, _overload),
    )
