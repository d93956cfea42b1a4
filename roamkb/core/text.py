"""Untrusted text made fit to be shown.

Whatever comes out of a note or a call is data; in a terminal, a page or a prompt it
must not be able to move the cursor, hide characters or pass for a speaker (design
section 13, untrusted text). Of what is stored, only that changes which roamkb itself writes from an agent's text.
"""

import re
import unicodedata
from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.core.startup.lazy_regex import lazily

#: Default_Ignorable_Code_Point, which a font may show as nothing at all; by DerivedCoreProperties.txt of the
#: Unicode Character Database, the same from 14.0 to 17.0.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
#: Letters of scripts that are spelt with ZWJ and ZWNJ: from Arabic to Mongolian, and their later blocks.
_JOINED = (
    "\u0620-\u109f\u1700-\u180a\u1810-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
    "\U0001e900-\U0001e95f"
)
#: What is shown as an emoji, or may be, without digits.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
#: A joiner between two letters or emoji, and a selector behind an emoji or in a keycap, are spelling.
_SPELLING = (
    f"(?<=[{_JOINED}][\u200c\u200d])[{_JOINED}]|(?<=[{_EMOJI}]\u200d)[{_EMOJI}]|(?<=[{_EMOJI}]\ufe0f\u200d)[{_EMOJI}]"
    f"|(?<=[{_EMOJI}][\ufe0e\ufe0f])|(?<=[0-9#*]\ufe0f)\u20e3"
)
#: C0 controls but tab and newline: all that ASCII texts may hide.
_ASCII_CONTROLS = "\x00-\x08\x0b-\x1f\x7f"
_ASCII_CONTROL = lazily(f"[{_ASCII_CONTROLS}]")
#: Controls, line separators, annotations, lone surrogates, and what may be invisible.
_MAYBE_HIDDEN = f"[{_ASCII_CONTROLS}\x80-\x9f\u2028\u2029\ufff9-\ufffb\ud800-\udfff{_IGNORABLE}]"
_MAYBE_HIDDEN_CHARACTER = lazily(_MAYBE_HIDDEN)
HIDDEN_CHARACTERS = lazily(f"{_MAYBE_HIDDEN}(?!{_SPELLING})")


def strip_hidden(text: str) -> str:
    """Return `text` without characters that act or hide instead of showing; newlines and tabs stay."""
    if (_ASCII_CONTROL if text.isascii() else _MAYBE_HIDDEN_CHARACTER).search(text) is None:
        # most of what is ever shown, for which the longer expression needn't be compiled
        return text
    return HIDDEN_CHARACTERS.sub("", text.replace("\r\n", "\n"))


def storable_text(text: str) -> str:
    """Return `text` as roamkb writes it for an agent: what is stored shows itself, and its lines end as lines do."""
    return strip_hidden(text.replace("\r\n", "\n").replace("\r", "\n"))


def left_out_warning(texts: Iterable[str]) -> str:
    """Return a warning of what `storable_text` leaves out of some texts; empty where that is nothing."""
    controls = dropped = 0
    for text in texts:
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        controls += len(_ASCII_CONTROL.findall(lines))
        dropped += len(lines) - len(strip_hidden(lines))
    counts = (controls, "control character"), (dropped - controls, "invisible character")
    phrase = " and ".join(count_phrase(count, noun) for count, noun in counts if count)
    were = "was" if dropped == 1 else "were"
    return f"{phrase} {were} left out: text is kept as it shows; spell them out, such as \\x1b" if phrase else ""


def one_line(text: str) -> str:
    """Return `text` without hidden characters, on one line."""
    return " ".join(strip_hidden(text).split())


#: Letters of a title where one is shown: as many as roamkb writes; longer ones are mistakes or attacks.
_TITLE_WIDTH = 300


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
