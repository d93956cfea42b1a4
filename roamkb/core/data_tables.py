"""Tables of `roamkb/data`, which are part of the program."""

from collections.abc import Iterator

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table."""
    # it is read as the program is, wherever that lies
    loader: ResourceLoader = __spec__.loader  # type: ignore[assignment]
    data = loader.get_data(f"{__file__.rpartition('core')[0]}data/{name}")
    for line in data.decode().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")
