"""Parts of an org document that quotes notes; no title or name in it can do more than be read."""

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import shown
from roamkb.org.breaks import BREAK
from roamkb.org.escape import defused

#: What an id must not hold to stand in a link as it is.
_UNLINKABLE = lazily(r"[\[\]\\\s]|::")
#: What opens a citation, a footnote or a box, and what could close a link around the words.
_PAIRED = lazily(rf"\[(?!{BREAK})|[\]{{}}<>](?=[\]{{}}<>])")
_BRACKET = lazily(r"(\\*)([\[\]])")


def quoted(text: str) -> str:
    """Return `text` on one line, with nothing in it that org takes for more than words."""
    return _PAIRED.sub(rf"\g<0>{BREAK}", defused(shown(text)))


def node_link(id: str, title: str) -> str:
    """Return a link to a node; its title alone where the id can't stand in one."""
    words = quoted(title) or quoted(id)
    if _UNLINKABLE.search(id) or shown(id) != id or not id:
        return words
    return f"[[id:{id}][{_description(words)}]]"


def file_link(path: str, line: int, name: str) -> str:
    """Return a link to a line of a file, shown as `name` and the line's number."""
    words = f"{quoted(name)}:{line}"
    # what is hidden, or cut at its colons, would open another file
    if shown(path) != path or "::" in path:
        return f"file {words}"
    return f"[[file:{_escaped(path)}::{line}][{_description(words)}]]"


def _description(words: str) -> str:
    """Return `words` such that the link's own brackets are the first to close it."""
    return words + BREAK if words.endswith("]") else words


def _escaped(path: str) -> str:
    """Return `path` as org escapes it in a link, where more follows."""
    return _BRACKET.sub(r"\1\1\\\2", path)
