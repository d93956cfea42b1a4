"""Lines of a note as a reader sees them: without markup, and empty where a line is nothing else."""

import re

from roamkb.core.startup.lazy_regex import lazily

#: A link alone or with its description. `syntax/links` reads links as org does, at a cost that each search would pay.
_LINK_PATTERN = r"\[\[([^\]\[]+)\](?:\[((?:[^\]]|\](?!\]))+)\])?\]"
_LINK = lazily(_LINK_PATTERN)
#: A description that goes on in the next line, and the end of one that began in the line before.
_OPEN_LINK = lazily(r"\[\[[^\]\[]+\]\[([^\]\[]*)\Z")
_LINK_END = lazily(r"\A([^\[\]]*)\]\]")
#: What an item or a heading begins with, a description's term among it; and what says nothing by itself.
_ITEM_HEAD = lazily(r"\s*(?:[-+]|\d+[.)]|\*+)\s+(?:\[[ X-]\]\s+)?(?:[^:\s][^:]*?\s+::(?=\s|\Z))?")
_REFERENCE = lazily(rf"{_LINK_PATTERN}|\bhttps?://\S+|:[\w@#%:]+:(?=\s|\Z)")
_HEADING_STARS = lazily(r"^\*+ +")
#: Files that Emacs shows as a picture where a link to one has no words.
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp", ".tif", ".tiff", ".ico", ".heic")
_FILE_LINKS = ("file:", "attachment:", "http:", "https:", "./", "../", "/")
_PLANNING = ("SCHEDULED:", "DEADLINE:", "CLOSED:")
#: What rules of tables, rulers, empty items and empty boxes consist of.
_PUNCTUATION = frozenset(" \t!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def excerpt_of(line: str) -> str:
    """Return the text that a line shows, each link as its description; empty for a line of bare markup."""
    text = _HEADING_STARS.sub("", line).strip()
    if _is_machinery(text) or _is_picture(text):
        return ""
    if "[[" in text:
        text = _OPEN_LINK.sub(r"\1", _LINK.sub(_shown_text, text)).strip()
    if "]]" in text:
        text = _LINK_END.sub(r"\1", text).strip()
    return "" if _PUNCTUATION.issuperset(text) else text


def is_prose(line: str) -> bool:
    """Return whether a line says something beside links, addresses, tags and the term that they are given for."""
    head = _ITEM_HEAD.match(line)
    return not _PUNCTUATION.issuperset(_REFERENCE.sub("", line[head.end() :] if head else line))


def _is_machinery(text: str) -> bool:
    """Return whether a line is for programs: a keyword, a block's border, a drawer, a date of planning, a clock."""
    first_word = text.partition(" ")[0]
    return (
        first_word.startswith("#+")
        or (first_word.startswith(":") and first_word.endswith(":") and len(first_word) > 2)
        or ((first_word in _PLANNING and text.endswith((">", "]"))) or first_word == "CLOCK:")
    )


def _is_picture(target: str) -> bool:
    return target.startswith(_FILE_LINKS) and target.lower().endswith(_PICTURES) and " " not in target


def _shown_text(link: re.Match[str]) -> str:
    """Return what a link shows: its description, or an address; nothing for a picture or a bare id."""
    target, description = link[1], link[2] or ""
    if description:
        return "" if _is_picture(description) else description
    return "" if _is_picture(target) or target.startswith("id:") else target
