"""Text that somebody else wrote, made fit to be shown.

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
HIDDEN = lazily(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
#: U+200C and U+200D between two visible characters are spelling; elsewhere they hide something.
_STRAY_JOINER = "(?<![^\\s\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\\s\u200c\u200d])"


def cleaned(text: str) -> str:
    """Return `text` without characters that act instead of showing; newlines and tabs stay."""
    if text.isascii() and HIDDEN.search(text) is None:
        # most of what is ever shown
        return text
    while True:
        less = re.sub(_STRAY_JOINER, "", HIDDEN.sub("", text.replace("\r\n", "\n")))
        if less == text:
            return text
        text = less


def shown(text: str) -> str:
    """Return `text` cleaned, on one line."""
    return " ".join(cleaned(text).split())


#: Letters of a title where one is shown: a few lines of a terminal; longer ones are mistakes or attacks.
_HEADLINE = 240


def headline(title: str) -> str:
    """Return a title as it is shown in a list: cleaned, on one line, of bounded length."""
    # what is cleaned away may stand before what is seen
    return clipped(shown(title if len(title) < _HEADLINE else title[: _HEADLINE * 16]), _HEADLINE)


def texts_of(given: Sequence[str]) -> tuple[str, ...]:
    """Return several texts as a tuple; one text alone would be taken for its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def clipped(text: str, width: int) -> str:
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


def folded(text: str) -> str:
    """Return `text` without case, accents and points, for comparing words."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", re.sub(_SILENT, "", decomposed))


def unpointed(text: str) -> str:
    """Return `text` without the points that most texts in its script leave out."""
    return text if text.isascii() else re.sub(_POINT, "", text)


def flat(text: str) -> str:
    """Return `text` folded and on one line, for looking for a phrase in it."""
    return " ".join(folded(text).split())


def times(count: int) -> str:
    """Return how often, in words: *once* is no plural."""
    return "once" if count == 1 else f"{count} times"


def counted(count: int, one: str, several: str = "") -> str:
    """Return how many of what: *1 line*, *2 lines*; `several` is the plural where no `s` makes it."""
    return f"{count} {one if count == 1 else several or one + 's'}"
