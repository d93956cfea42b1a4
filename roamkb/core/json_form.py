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

from roamkb.core.startup.typing import Annotated


class Keys(str):
    """The keys that are written of a field's value, in words as in `JSON`."""

    __slots__ = ()


class Rows(str):
    """The keys of the parts of each pair in a field's value."""

    __slots__ = ()


def null_if_empty(value: object) -> object:
    """Return None for an empty value: null says that there is none."""
    return value or None


def round_share(value: float) -> float:
    """Return a share rounded to four digits, as JSON has it."""
    return round(value, 4)


def member_name(member: Enum) -> str:
    """Return the name of an enum's member instead of its value."""
    return member.name.lower()


#: A text that is null where it is empty.
OrNull = Annotated[str, null_if_empty]
#: A share from 0 to 1, to four digits.
Share = Annotated[float, round_share]
#: How often there is what, as an object.
Counts = Annotated[tuple[tuple[str, int], ...], dict]
