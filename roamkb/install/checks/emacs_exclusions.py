"""Patterns by which a person's org-roam leaves notes out, read from Emacs's init files."""

import re
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.notes.store.init_files import read_init_files
from roamkb.org.emacs_settings import find_plain_strings

EXCLUDING_VARIABLE = "org-roam-file-exclude-regexp"
#: org-roam's own default.
_DEFAULT = "data/"
#: Pieces of Emacs's syntax that mean the same here, some of them in another spelling; whatever else has a meaning
#: of its own there makes the pattern unreadable.
_PIECE = lazily(
    r"(?P<group>\\\((?:\?:)?)|(?P<bare>\\[)|])|(?P<start>\\`)|(?P<end>\\'|\$)|(?P<escape>\\[.*+?\[\]^$\\/bBwW-])"
    r"|(?P<set>\[\^?\]?(?:[^\]\[\\])*\])|(?P<same>[.*+?^])|(?P<plain>[^\\\[])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmacsExclusions:
    """What org-roam leaves out of the notes by the setting of one init file, or by itself."""

    #: The file that sets it; None where none that can be read here does.
    setter: Path | None = None
    patterns: tuple[re.Pattern[str], ...]
    #: What of the setting takes an Emacs to know: code that computes it, and regular expressions of a kind of its own.
    is_partly_read: bool = False

    @property
    def leaving(self) -> str:
        """What org-roam does, and by what."""
        setting = f"what {EXCLUDING_VARIABLE} matches in {self.setter}"
        return f"leaves out {setting}" if self.setter else f"by itself leaves out what holds `{_DEFAULT}`"

    def leaves_out(self, relative: str) -> bool:
        """Return whether org-roam passes over the file at a path relative to the notes; Emacs ignores case."""
        return any(pattern.search(relative) for pattern in self.patterns)


def read_exclusions(home: Path) -> EmacsExclusions:
    """Return what the first init file that sets the variable leaves out; what Emacs itself wrote comes first."""
    for path, lisp in read_init_files(home):
        values = find_plain_strings(lisp, EXCLUDING_VARIABLE) if EXCLUDING_VARIABLE in lisp else ()
        if values:
            patterns = [translate_regexp(text) for value in values for text in value or ()]
            return EmacsExclusions(
                setter=path,
                patterns=tuple(filter(None, patterns)),
                is_partly_read=None in values or None in patterns,
            )
    return EmacsExclusions(patterns=(re.compile(_DEFAULT, re.IGNORECASE),))


def translate_regexp(text: str) -> re.Pattern[str] | None:
    """Return a regular expression of Emacs's as one of Python's; None where it has what isn't understood here."""
    pieces = list(_translated_pieces(text))
    if None in pieces:
        return None
    try:
        return re.compile("".join(filter(None, pieces)), re.IGNORECASE | re.DOTALL)
    except (re.error, RecursionError):
        return None


def _translated_pieces(text: str) -> Iterator[str | None]:
    position, before = 0, ""
    while position < len(text):
        match = _PIECE.match(text, position)
        # to repeat a group may take ages, and to repeat what is repeated means something else here
        if match is None or (match[0] in ("*", "+") and before in ("\\)", "*", "+", "?")):
            yield None
            return
        yield _translate_piece(match.lastgroup or "", match[0])
        position, before = match.end(), match[0]


def _translate_piece(kind: str, piece: str) -> str:
    match kind:
        case "group":
            return "(?:"
        case "bare":
            return piece[1:]
        case "start":
            return r"\A"
        case "end":
            return r"\Z"
        case "plain":
            return re.escape(piece)
    return piece
