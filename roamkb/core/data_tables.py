"""Tables and lists of `roamkb/data`, which are part of the program."""

from functools import cache

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


@cache
def lines(name: str) -> tuple[str, ...]:
    """Return the lines of a file, without blank ones and the comments, which begin with `#`."""
    # it is read as the program is, wherever that lies
    loader: ResourceLoader = __spec__.loader  # type: ignore[assignment]
    data = loader.get_data(f"{__file__.rpartition('core')[0]}data/{name}")
    return tuple(line for line in data.decode().split("\n") if line and not line.startswith("#"))


def rows(name: str) -> list[list[str]]:
    """Return the rows of a table, whose columns are parted by a tab."""
    return [line.split("\t") for line in lines(name)]


def words_by_role(name: str) -> dict[str, frozenset[str]]:
    """Return the words of a table whose columns are a role and words for it."""
    table: dict[str, frozenset[str]] = {}
    for role, words in rows(name):
        table[role] = table.get(role, frozenset()) | frozenset(words.split())
    return table
