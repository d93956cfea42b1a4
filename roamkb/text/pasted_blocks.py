"""What somebody pasted into a message, or a harness put there: between tags or fences, or as a program printed it."""

import re
from itertools import groupby

from roamkb.core import untrusted
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.text.tokenize import UNSPACED

#: Letters of the longest tag.
_LONGEST_TAG: Final = 400
#: What begins a block, and whether it begins a line.
_BLOCK_START: Final = lazily(
    rf"(?P<line>^[ \t]*)?(?:<(?P<name>[A-Za-z][\w:-]*)\b[^<>]{{0,{_LONGEST_TAG}}}(?<!/)>|(?P<fence>```|~~~))",
    re.MULTILINE,
)
#: Names of tags that nothing closes, after which no more tags are looked at.
_MOST_UNCLOSED: Final = 20
#: Words between tags that mark a few words up in a line, and paste nothing.
_FEW_WORDS: Final = 3
#: Lines in a row that a program printed; fewer are what somebody names.
_FEWEST_PRINTED: Final = 4
#: Letters at each end of a message that are looked at.
_LOOKED_AT: Final = 20_000
_PLAIN_WORD: Final = lazily(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def without_blocks(text: str, *, keeps_markup: bool = False) -> str:
    """Return a message without its blocks in tags and fences, in time that grows with its length alone.

    A fence that nothing closes goes to the end, and one that is closed in its line is a mark. A tag that nothing
    closes is a word of the message; where it `keeps_markup`, so are those around a few words of a line, while one
    that begins a line and is never closed goes to the end.
    """
    if "<" in text:
        text = untrusted.FRAME_PATTERN.sub("\n\n", text)
    kept, begin, looked_at, unclosed = [], 0, 0, set[str]()
    for start in _BLOCK_START.finditer(text):
        name = start["name"]
        if start.start() < looked_at or (name and (name.lower() in unclosed or len(unclosed) > _MOST_UNCLOSED)):
            continue
        end = _end_of_tag(text, name, start.end()) if name else text.find(start["fence"], start.end())
        if end < 0 and name:
            unclosed.add(name.lower())
            if not (keeps_markup and start["line"] is not None):
                continue
        inside = text[start.end() : end] if end >= 0 else text[start.end() :]
        looked_at = text.find(">", end) + 1 if name else end + len(start["fence"])
        if end < 0:
            looked_at = len(text)
        elif "\n" not in inside and (start["fence"] or (keeps_markup and len(inside.split()) <= _FEW_WORDS)):
            continue
        kept.append(text[begin : start.start()])
        begin = looked_at
    return "\n\n".join([*kept, text[begin:]])


def _end_of_tag(text: str, name: str, begin: int) -> int:
    """Return where a tag's end stands, behind those of the same name within; -1 where it has none."""
    depth = 1
    for mark in re.compile(rf"<(/?){re.escape(name)}\b[^<>]{{0,{_LONGEST_TAG}}}(?<!/)>", re.I).finditer(text, begin):
        depth += -1 if mark[1] else 1
        if depth == 0:
            return mark.start()
    return -1


def without_printed_lines(text: str) -> str:
    """Return a message without logs and tables: some lines in a row, of each of which less than half is plain words.

    Of a message of more than 40,000 letters, its two ends.
    """
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if text.count("\n") < _FEWEST_PRINTED:
        return text
    kept: list[str] = []
    for is_printed, lines in groupby(text.split("\n"), key=_is_printed):
        run = list(lines)
        if not is_printed or len(run) < _FEWEST_PRINTED:
            kept += run
    return "\n".join(kept)


def _is_printed(line: str) -> bool:
    pieces = line.split()
    if not pieces or UNSPACED.search(line):
        return False
    words = sum(_PLAIN_WORD.fullmatch(piece.strip(".,:;!?()\"'")) is not None for piece in pieces)
    return 2 * words < len(pieces)
