"""Look at the search index, check it, or build it again; search itself never needs this."""

from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.index import Index


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What `index` takes."""

    _: KW_ONLY
    rebuild: bool = switch("--rebuild", "Build it again.")
    check: bool = switch("--check", "Compare it with one made just now.")
    stats: bool = switch("--stats", "Only say how large it is, as without an option.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """The index as it is now."""

    #: Where it lies; None where it can't be kept.
    path: Path | None
    notes: int
    entries: int
    words: int
    #: Bytes of its file.
    size: int
    #: How many entries differ from what a new index has; None where that wasn't checked.
    differences: int | None = None


def index(index: Index, *, rebuild: bool = False, check: bool = False) -> IndexState:
    """Return the state of the index, brought up to date; built again or compared with a new one where asked.

    Raises:
        UsageError: both at once.
    """
    if rebuild and check:
        raise UsageError("--rebuild leaves nothing to --check", hint="give one of them")
    if rebuild:
        index.forget()
    differences = index.differences() if check else None
    sums = index.sums()
    path = index.path
    return IndexState(
        path=path,
        notes=sums["notes"],
        entries=sums["entries"],
        words=sums["words"],
        size=path.stat().st_size if path else 0,
        differences=differences,
    )
