"""Tables and lists in `roamkb/data`, which are part of the program."""

from functools import cache

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


@cache
def data_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a data file, without blank lines and comments, which begin with `#`."""
    return tuple(line for line in data_text(name).split("\n") if line and not line.startswith("#"))


def data_text(name: str) -> str:
    """Return a data file as it is."""
    # it is read as the program is, wherever that lies
    loader: ResourceLoader = __spec__.loader  # type: ignore[assignment]
    return loader.get_data(f"{__file__.rpartition('core')[0]}data/{name}").decode()


def data_rows(name: str) -> list[list[str]]:
    """Return the rows of a table whose columns are separated by tabs."""
    return [line.split("\t") for line in data_lines(name)]


def words_by_role(name: str) -> dict[str, frozenset[str]]:
    """Return the words of a table by role; its columns are a role and the role's words."""
    table: dict[str, frozenset[str]] = {}
    for role, words in data_rows(name):
        table[role] = table.get(role, frozenset()) | frozenset(words.split())
    return table
