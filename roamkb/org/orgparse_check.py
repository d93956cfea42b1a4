"""The reading of a note by orgparse, on which other org programs are built: the second proof of what we write.

orgparse gets the head and the headings alone, in bounded lines: on a long line it can take minutes, and what
it makes of dates and links isn't what Emacs does (so it reads nothing else for us).
"""

from collections.abc import Iterable
from itertools import takewhile

from roamkb.core.errors import NotAsMeant
from roamkb.core.startup.dataclasses import dataclass
from roamkb.org.escape import unescape_name

#: A head that we wrote has a dozen lines; a title has at most 300 characters.
_LINES = 60
_LINE = 400
#: A break may follow each character.
_TITLE_LINE = 2 * _LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class OrgparseReading:
    """A note as orgparse reads it."""

    id: str
    title: str
    tags: frozenset[str]
    #: The level of each heading.
    outline: tuple[int, ...]


def read_by_orgparse(text: str) -> OrgparseReading | None:
    """Return orgparse's reading of the note `text`; None where orgparse gives up on it."""
    import orgparse

    lines = text.split("\n")
    # its pattern for headings is the one that takes minutes
    head = [line[:_TITLE_LINE] for line in takewhile(lambda line: line and not line.startswith("*"), lines[:_LINES])]
    headings = [line[:_LINE] for line in lines if line.startswith("*")]
    try:
        root = orgparse.loads("\n".join((*head, *headings)) + "\n")
        return OrgparseReading(
            id=str(root.properties.get("ID", "")),
            # without the marks that keep a title inert in Emacs
            title=unescape_name(root.get_file_property("title") or ""),
            tags=frozenset(root.tags),
            outline=tuple(node.level for node in root[1:]),
        )
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        # it raises what its helpers raise: one odd date is enough
        return None


def check_by_orgparse(text: str, *, id: str, title: str, tags: Iterable[str]) -> None:
    """Check that orgparse finds one node in the note `text`, with this id, title and tags.

    Raises:
        NotAsMeant: it finds others, or headings below it.
    """
    meant = OrgparseReading(id=id, title=title, tags=frozenset(tags), outline=())
    if read_by_orgparse(text) != meant:
        raise NotAsMeant("orgparse, which other org programs read by, finds another node in it")
