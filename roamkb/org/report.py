"""Safe parts of an org document that quotes notes: no title or name in it is active."""

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.org.escape import defuse_line
from roamkb.org.syntax.syntax_table import BREAK

#: What an id must not hold to stand in a link as it is.
_UNLINKABLE = lazily(r"[\[\]\\\s]|::")
#: What opens a citation, a footnote or a box, and what could close a link around the words.
_PAIRED = lazily(rf"\[(?!{BREAK})|[\]{{}}<>](?=[\]{{}}<>])")
_BRACKET = lazily(r"(\\*)([\[\]])")


def quote_for_org(text: str) -> str:
    """Return `text` on one line, with nothing in it that org takes for more than words."""
    return _PAIRED.sub(rf"\g<0>{BREAK}", defuse_line(one_line(text)))


def node_link(id: str, title: str) -> str:
    """Return a link to a node; its title alone where a link can't hold the id."""
    words = quote_for_org(title) or quote_for_org(id)
    if _UNLINKABLE.search(id) or one_line(id) != id or not id:
        return words
    return f"[[id:{id}][{_link_description(words)}]]"


def file_link(path: str, line: int, name: str) -> str:
    """Return a link to a line of a file, shown as `name` and the line's number."""
    words = f"{quote_for_org(name)}:{line}"
    # what is hidden, or cut at its colons, would open another file
    if one_line(path) != path or "::" in path:
        return f"file {words}"
    return f"[[file:{_escape_path(path)}::{line}][{_link_description(words)}]]"


def _link_description(words: str) -> str:
    """Return `words` so that the link's own brackets are the first to close it."""
    return words + BREAK if words.endswith("]") else words


def _escape_path(path: str) -> str:
    """Return `path` as org escapes it in a link, where more follows."""
    return _BRACKET.sub(r"\1\1\\\2", path)
