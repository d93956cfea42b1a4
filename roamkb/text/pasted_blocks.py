"""What somebody pasted into a message, or a harness put there: between tags or fences, or as a program printed it."""

import re
from collections.abc import Sequence
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
_QUOTED_LINE: Final = lazily(r"^[ \t]*>.*?$", re.MULTILINE)
_QUOTED_SENTENCE: Final = lazily(r"\"[^\"\n]+\"|“[^”\n]+”|„[^“\n]+“|«[^»\n]+»|「[^」\n]+」")
#: Lines in a row that a program printed; fewer are what somebody names.
_FEWEST_PRINTED: Final = 4
#: Of what they hold, the most that is plain words: of the frames of a stack trace about half is, of prose nearly all.
_MOST_WORDS: Final = 2 / 3
#: Letters at each end of a message that are looked at.
_LOOKED_AT: Final = 20_000
#: How lines begin that stand to the right of others.
_INDENTS: Final = ("  ", "\t")
_ITEM: Final = lazily(r"\s*(?:[-*+•]|\w{1,3}[.)])\s")
_PLAIN_WORD: Final = lazily(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def own_words(text: str) -> str:
    """Return a message without what its writer pasted or quotes: blocks, quoted lines, and sentences in quotes.

    A few quoted words are a name of something.
    """
    kept = _QUOTED_LINE.sub("\n\n", without_blocks(text, keeps_markup=True))
    return _QUOTED_SENTENCE.sub(lambda quoted: quoted[0] if len(quoted[0].split()) <= _FEW_WORDS else " … ", kept)


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
    """Return a message without logs, tables, code and the frames of stack traces.

    Those are some lines in a row that stand to the right, or of each of which less than half is plain words, where
    in all no more than two thirds are. Of a message of more than 40,000 letters, its two ends.
    """
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if text.count("\n") < _FEWEST_PRINTED:
        return text
    kept: list[str] = []
    for is_candidate, lines in groupby(text.split("\n"), key=_is_candidate):
        run = list(lines)
        if not is_candidate or len(run) < _FEWEST_PRINTED or _share_of_words(run) > _MOST_WORDS:
            kept += run
    return "\n".join(kept)


def _is_candidate(line: str) -> bool:
    """Return whether a line may be a printed one: it stands to the right, or holds more of other things than words."""
    if UNSPACED.search(line) or not line.strip():
        return False
    return (line.startswith(_INDENTS) and not _ITEM.match(line)) or _share_of_words([line]) < 0.5


def _share_of_words(lines: Sequence[str]) -> float:
    """Return the share of plain words in what stands between the blanks of some lines."""
    pieces = [piece.strip(".,:;!?()\"'") for line in lines for piece in line.split()]
    return sum(_PLAIN_WORD.fullmatch(piece) is not None for piece in pieces) / len(pieces)
