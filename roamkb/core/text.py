"""Untrusted text made fit to be shown.

Whatever comes out of a note or a call is data; in a terminal, a page or a prompt it
must not be able to move the cursor, hide characters or pass for a speaker (design
section 13, untrusted text). Nothing here changes what is stored.
"""

import re
import unicodedata
from collections.abc import Sequence

from roamkb.core.startup.lazy_regex import lazily

#: C0 and C1 controls but tab and newline; bidi, zero-width and tag characters; lone surrogates.
#: ZWJ and ZWNJ stay where they join what is visible: emoji families and Persian need them.
HIDDEN_CHARACTERS = lazily(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
#: U+200C and U+200D between two visible characters are spelling; elsewhere they hide something.
_STRAY_JOINER = "(?<![^\\s\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\\s\u200c\u200d])"


def strip_hidden(text: str) -> str:
    """Return `text` without characters that act instead of showing; newlines and tabs stay."""
    if text.isascii() and HIDDEN_CHARACTERS.search(text) is None:
        # most of what is ever shown
        return text
    while True:
        stripped_text = re.sub(_STRAY_JOINER, "", HIDDEN_CHARACTERS.sub("", text.replace("\r\n", "\n")))
        if stripped_text == text:
            return text
        text = stripped_text


def one_line(text: str) -> str:
    """Return `text` without hidden characters, on one line."""
    return " ".join(strip_hidden(text).split())


#: Letters of a title where one is shown: a few lines of a terminal; longer ones are mistakes or attacks.
_TITLE_WIDTH = 240


def shorten_title(title: str) -> str:
    """Return a title as a list shows it: cleaned, on one line, of bounded length."""
    # what is cleaned away may stand before what is seen
    return clip_text(one_line(title if len(title) < _TITLE_WIDTH else title[: _TITLE_WIDTH * 16]), _TITLE_WIDTH)


def as_text_tuple(texts: Sequence[str]) -> tuple[str, ...]:
    """Return several texts as a tuple; one text alone would be taken for its letters."""
    return (texts,) if isinstance(texts, str) else tuple(texts)


def clip_text(text: str, width: int) -> str:
    """Return `text` cut to at most `width` characters, the cut shown by `…`."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + "…"


#: The accents of Latin, Greek and Cyrillic; the marks of other scripts are letters.
_ACCENTS = "\u0300-\u036f"
#: What most texts leave out: the points of Hebrew and Arabic, the stroke that widens an Arabic word, and
#: joiners, which only say how letters are drawn.
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200c\u200d"
)
_POINT = f"[{_POINTS}]+"
_SILENT = f"[{_ACCENTS}{_POINTS}]+"


def fold_text(text: str) -> str:
    """Return `text` without case, accents and points, for comparing words."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", re.sub(_SILENT, "", decomposed))


def strip_points(text: str) -> str:
    """Return `text` without the points that most texts in its script leave out."""
    return text if text.isascii() else re.sub(_POINT, "", text)


def fold_to_line(text: str) -> str:
    """Return `text` folded and on one line, for phrase searches in it."""
    return " ".join(fold_text(text).split())


def times_phrase(count: int) -> str:
    """Return a frequency in words: *once*, or *2 times*."""
    return "once" if count == 1 else f"{count} times"


def count_phrase(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun, *1 line*, *2 lines*; `plural` where no `s` makes it."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
