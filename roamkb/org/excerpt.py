"""Lines of a note as a reader sees them: without markup, and empty where a line is nothing else."""

import re

from roamkb.core.startup.lazy_regex import lazily

#: A link alone or with its description. `syntax/links` reads links as org does, at a cost that each search would pay.
_LINK = lazily(r"\[\[([^\]\[]+)\](?:\[((?:[^\]]|\](?!\]))+)\])?\]")
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
        text = _LINK.sub(_shown_text, text).strip()
    return "" if _PUNCTUATION.issuperset(text) else text


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
