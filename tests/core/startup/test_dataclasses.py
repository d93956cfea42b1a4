"""Dataclasses of ours are as the standard library's, but for the time that it takes to define one."""

import copy
import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from roamkb.core.startup import dataclasses as ours


def _defined(library: Any) -> list[type]:
    """Return classes as roamkb has them, defined by a library."""

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Value:
        text: str
        number: int = 7
        names: dict[str, int] = library.field(default_factory=dict)
        unseen: str = library.field(default="", compare=False)

        def doubled(self) -> int:
            return self.number * 2

    @library.dataclass(frozen=True, slots=True)
    class Pair:
        left: object
        right: object = None

    @library.dataclass(frozen=True)
    class Open:
        text: str = "x"

    @library.dataclass(slots=True, kw_only=True)
    class Changing:
        text: str
        members: list[str] = library.field(default_factory=list)

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Sealed:
        text: str
        seal: library.InitVar[object]

        def __post_init__(self, seal: object) -> None:
            if seal != "seal":
                raise ValueError(seal)

    @library.dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Value):
        more: str = "more"

    @library.dataclass(frozen=True, slots=True)
    class Options:
        _: library.KW_ONLY
        is_dry: bool = False

    @library.dataclass(frozen=True, slots=True)
    class Request(Options):
        title: str
        name: str = ""
        _: library.KW_ONLY
        more: str = "more"

    return [Value, Pair, Open, Changing, Sealed, Empty, Derived, Request]


_CASES: dict[str, Callable[..., object]] = {
    "values by name": lambda value, *_: repr(value(text="a", number=3)),
    "a positional one too many": lambda value, *_: value("a"),
    "a value that is missing": lambda value, *_: value(number=3),
    "a name that no field has": lambda value, *_: value(text="a", other=3),
    "a method": lambda value, *_: value(text="a").doubled(),
    "each its own default": lambda value, *_: value(text="a").names is value(text="a").names,
    "equal": lambda value, *_: value(text="a") == value(text="a"),
    "unequal": lambda value, *_: value(text="a") == value(text="b"),
    "not compared": lambda value, *_: value(text="a", unseen="x") == value(text="a", unseen="y"),
    "of another class": lambda value, pair, *_: pair(1, 2) == value(text="a"),
    "frozen": lambda value, *_: setattr(value(text="a"), "text", "b"),
    "not to be deleted": lambda value, *_: delattr(value(text="a"), "text"),
    "without other attributes": lambda value, *_: vars(value(text="a")),
    "unhashable inside": lambda value, *_: hash(value(text="a")),
    "replaced": lambda value, *_: repr(dataclasses.replace(value(text="a"), number=9)),
    "positions": lambda _, pair, *__: repr(pair(1)) + repr(pair(1, 2)) + repr(pair(1, right=2)),
    "too many positions": lambda _, pair, *__: pair(1, 2, 3),
    "one value twice": lambda _, pair, *__: pair(1, left=2),
    "hashed": lambda _, pair, *__: len({pair(1), pair(1), pair(2)}),
    "matched": lambda _, pair, *__: pair.__match_args__,
    "one field hashed": lambda _, __, opened, *___: len({opened(), opened("x"), opened("y")}),
    "with a dict": lambda _, __, opened, *___: vars(opened("a")),
    "frozen with a dict": lambda _, __, opened, *___: setattr(opened("a"), "text", "b"),
    "changing": lambda *classes: setattr(classes[3](text="a"), "text", "b"),
    "changing isn't hashable": lambda *classes: hash(classes[3](text="a")),
    "sealed": lambda *classes: repr(classes[4](text="a", seal="seal")),
    "without a seal": lambda *classes: classes[4](text="a"),
    "with a false seal": lambda *classes: classes[4](text="a", seal="x"),
    "replaced without its seal": lambda *classes: dataclasses.replace(classes[4](text="a", seal="seal")),
    "copied": lambda value, *_: repr(copy.deepcopy(value(text="a", names={"b": 2}))),
    "a copy for itself": lambda value, *_: copy.deepcopy(one := value(text="a")).names is one.names,
    "copied with its seal": lambda *classes: repr(copy.copy(classes[4](text="a", seal="seal"))),
    "empty": lambda *classes: (
        repr(classes[5]()),
        classes[5]() == classes[5](),
        len({classes[5](), classes[5]()}),
    ),
    "derived": lambda *classes: repr(classes[6](text="a", more="b")),
    "by name alone": lambda *classes: repr(classes[7]("t", "n", is_dry=True, more="x")),
    "by position what has a name alone": lambda *classes: classes[7]("t", "n", "x"),
    "without what is required": lambda *classes: classes[7](is_dry=True),
    "matched by position": lambda *classes: classes[7].__match_args__,
    "which are by name": lambda *classes: [field.kw_only for field in dataclasses.fields(classes[7])],
    "as a dict": lambda value, pair, *_: dataclasses.asdict(pair([value(text="a")], {"k": (1,)})),
    "fields": lambda *classes: [[field.name for field in dataclasses.fields(one)] for one in classes],
    "defaults": lambda value, *_: [field.default is dataclasses.MISSING for field in dataclasses.fields(value)],
    "known as one": lambda *classes: [dataclasses.is_dataclass(one) for one in classes],
}


@pytest.mark.parametrize("name", _CASES)
def test_a_dataclass_is_as_the_standard_library_has_it(name: str) -> None:
    """Values and kinds of errors are the same, and the library's functions take both."""
    case = _CASES[name]

    def answer(library: Any) -> object:
        try:
            return case(*_defined(library))
        except (TypeError, ValueError, AttributeError) as error:
            return [kind for kind in (TypeError, ValueError, AttributeError) if isinstance(error, kind)]

    assert answer(dataclasses) == answer(ours)


def test_the_functions_are_the_same() -> None:
    """`replace`, `fields` and `asdict` of ours give what the standard library's give."""
    value, pair, *_ = _defined(ours)
    one = pair([value(text="a")], {"k": (value(text="b"),)})
    assert dataclasses.asdict(one) == ours.asdict(one)
    assert dataclasses.replace(one, left=2) == ours.replace(one, left=2)
    assert [field.name for field in dataclasses.fields(value)] == [field.name for field in ours.fields(value)]


def test_the_standard_library_is_not_imported() -> None:
    """To define a class and use it takes nothing of what makes the standard ones slow."""
    script = """
import json, sys
from roamkb.core.startup.dataclasses import dataclass, replace
@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    text: str
replace(Value(text="a"), text="b")
print(json.dumps(sorted({"dataclasses", "inspect", "typing"} & sys.modules.keys())))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [] == json.loads(done.stdout)
