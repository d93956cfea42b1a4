"""The reading of a note's head by orgparse, on which other org programs are built.

orgparse gets the head alone, in bounded lines: on a long line it can take minutes, and what
it makes of dates and links isn't what Emacs does (so it reads nothing else for us).
"""

from itertools import takewhile

#: A head that we wrote has a dozen lines; a title has at most 300 characters.
_LINES = 60
_LINE = 400


def second_reading(text: str) -> tuple[str, str, frozenset[str]] | None:
    """Return id, title and tags of the note `text`; None where orgparse gives up on it."""
    import orgparse

    # its pattern for headings is the one that takes minutes, and a head has none
    head = takewhile(lambda line: line and not line.startswith("*"), text.split("\n")[:_LINES])
    try:
        root = orgparse.loads("\n".join(line[:_LINE] for line in head) + "\n")
        return str(root.properties.get("ID", "")), root.get_file_property("title") or "", frozenset(root.tags)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        # it raises what its helpers raise: one odd date is enough
        return None
