"""Forms of results in JSON, declared by their classes (docs/json.md).

A value has its fields as keys, in their order, without an `is_` before them. Where that differs, the class
lists its keys as `JSON`, in words like these:

    id                  the attribute `id`; a property as well
    made=folder         the attribute `folder`, called `made`
    learning.key        an attribute's attribute, called `key`; null where the first is None
    path?               left out where it is None
    *standing           all keys of `standing` at this place

What its annotation holds beside a field's type says how its value is written: a function makes the value
that is, `Keys` lists those of the value or of each in a list, `Rows` names the parts of pairs.
"""

from enum import Enum
from typing import Annotated


class Keys(str):
    """The keys that are written of a field's value, in words as in `JSON`."""

    __slots__ = ()


class Rows(str):
    """The keys of the parts of each pair in a field's value."""

    __slots__ = ()


def or_null(value: object) -> object:
    """Return None for what is empty: null says that there is none."""
    return value or None


def rounded(value: float) -> float:
    """Return a share as JSON has it: to four digits."""
    return round(value, 4)


def name_of(member: Enum) -> str:
    """Return an enum's member by its name instead of its value."""
    return member.name.lower()


#: A text that is null where it is empty.
OrNull = Annotated[str, or_null]
#: A share from 0 to 1, to four digits.
Share = Annotated[float, rounded]
#: How often there is what, as an object.
Counts = Annotated[tuple[tuple[str, int], ...], dict]
