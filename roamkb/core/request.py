"""Requests of verbs: frozen dataclasses whose fields declare the user's parameters.

Everything that offers a verb (the command line, MCP, HTTP, the documents) is made from these fields, and
the library's method takes them as keywords. A field's name is its keyword and its JSON key.
"""

from enum import Enum
from enum import auto
from functools import lru_cache
from typing import Annotated
from typing import Any
from typing import Literal

from roamkb.core.startup.dataclasses import MISSING
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace

#: Sources of a parameter's values: folders and files, or what the notes and the project's log hold now.
ValueSource = Literal["folders", "files", "tags", "titles", "types", "keys", "tasks", "kbs", "kbs-or-all", "commands"]
Values = ValueSource | tuple[str, ...]


class ParameterShape(Enum):
    """Kinds of values that a parameter takes."""

    TEXT = auto()
    #: Repeatable option, or all the words that are left.
    TEXTS = auto()
    COUNT = auto()
    FLAG = auto()
    #: A list of JSON objects; on the command line, as one JSON text.
    OBJECTS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbParameter:
    """One parameter of a verb."""

    name: str
    help: str
    shape: ParameterShape = ParameterShape.TEXT
    #: Its option; empty for a positional argument.
    flag: str = ""
    #: Its option in one letter; empty for most.
    letter: str = ""
    required: bool = False
    metavar: str | None = None
    #: The only values that it takes, or the source of those that a shell completes.
    values: Values = ()

    @property
    def placeholder(self) -> str:
        """What stands for its value where it is explained."""
        return (self.metavar or self.name.upper()).strip("[]")

    @property
    def choices(self) -> tuple[str, ...]:
        """The only values that it takes; none where it takes others as well."""
        return () if isinstance(self.values, str) else self.values


class Option:
    """An option of a field, in its annotation."""

    def __init__(self, flag: str, help: str, *, metavar: str | None = None, values: Values = ()) -> None:
        self.parameter = VerbParameter(name="", flag=flag, help=help, metavar=metavar, values=values)


class Argument(Option):
    """A positional argument of a field, in its annotation."""

    def __init__(self, help: str, *, metavar: str | None = None, values: Values = ()) -> None:
        super().__init__("", help, metavar=metavar, values=values)


def _declare_field(shape: ParameterShape, flag: str, help: str, default: object, **words: Any) -> Any:
    parameter = VerbParameter(name="", flag=flag, help=help, shape=shape, **words)
    return field(default=default, metadata={"parameter": parameter})


def optional_argument(help: str, *, metavar: str | None = None, values: Values = ()) -> Any:
    """Declare a positional text that may be missing (None)."""
    return _declare_field(ParameterShape.TEXT, "", help, None, metavar=metavar, values=values)


def remaining_arguments(help: str, *, metavar: str, values: Values = ()) -> Any:
    """Declare all remaining words as positional arguments."""
    return _declare_field(ParameterShape.TEXTS, "", help, (), metavar=metavar, values=values)


def text_option(flag: str, help: str, *, metavar: str | None = None, values: Values = ()) -> Any:
    """Declare an option with one text (None)."""
    return _declare_field(ParameterShape.TEXT, flag, help, None, metavar=metavar, values=values)


def repeatable_option(flag: str, help: str, *, metavar: str | None = None, values: Values = ()) -> Any:
    """Declare an option that may be repeated."""
    return _declare_field(ParameterShape.TEXTS, flag, help, (), metavar=metavar, values=values)


def flag_option(flag: str, help: str) -> Any:
    """Declare an option without a value (False)."""
    return _declare_field(ParameterShape.FLAG, flag, help, False)


def count_option(flag: str, help: str) -> Any:
    """Declare an option with a number (None)."""
    return _declare_field(ParameterShape.COUNT, flag, help, None, metavar="N")


def objects_option(flag: str, help: str, *, metavar: str) -> Any:
    """Declare an option with a list of objects as JSON text (None)."""
    return _declare_field(ParameterShape.OBJECTS, flag, help, None, metavar=metavar)


AgentOption = Annotated[str | None, Option("--agent", "Who does it (the agent that is running).", metavar="A")]
SessionOption = Annotated[str | None, Option("--session", "The session that it belongs to.", metavar="S")]
KbOption = Annotated[
    str | None,
    Option("--kb", "The knowledge base of that name (the one without a name).", metavar="NAME", values="kbs"),
]
AnyKbOption = Annotated[
    str | None,
    Option(
        "--kb", "The knowledge base of that name, or all (the one without a name).", metavar="NAME", values="kbs-or-all"
    ),
]
AsOfOption = Annotated[
    str | None, Option("--as-of", "As the log stood at the end of that day or at that minute.", metavar="D")
]


@lru_cache
def request_parameters(request: type) -> tuple[VerbParameter, ...]:
    """Return the parameters that `request` declares, positional arguments first."""
    declared = []
    for member in sorted(fields(request), key=lambda member: bool(member.kw_only)):
        # a field without a default has its words in the annotation
        annotation: Any = member.type
        parameter = member.metadata.get("parameter") or annotation.__metadata__[0].parameter
        declared.append(replace(parameter, name=member.name, required=member.default is MISSING))
    return tuple(declared)
