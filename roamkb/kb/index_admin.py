"""Administration of the search index: its state, a check and a rebuild; search never needs it."""

from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.index import Index


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Options of `index`."""

    _: KW_ONLY
    rebuild: bool = flag_option("--rebuild", "Build it again.")
    check: bool = flag_option("--check", "Compare it with one made just now.")
    stats: bool = flag_option("--stats", "Only say how large it is, as without an option.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """Size and place of the index as it is now."""

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
    """Return the state of the refreshed index, which is rebuilt or checked first where asked.

    Raises:
        UsageError: both at once.
    """
    if rebuild and check:
        raise UsageError("--rebuild leaves nothing to --check", hint="give one of them")
    if rebuild:
        index.discard_seal()
    differences = index.count_differences() if check else None
    sums = index.content_counts()
    path = index.file_path
    return IndexState(
        path=path,
        notes=sums["notes"],
        entries=sums["entries"],
        words=sums["words"],
        size=path.stat().st_size if path else 0,
        differences=differences,
    )
