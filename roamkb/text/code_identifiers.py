"""Identifiers in texts: names of code and numbers, which another text must repeat exactly."""

import re
from collections.abc import Iterable
from typing import Final

from roamkb.core.startup.lazy_regex import lazily

_TICKED: Final = lazily(r"(?<!`)`([^`\n]{1,120})`(?!`)")
#: A word as code has it: within a path, an option, a call, an address, a dotted or joined name, a version. It doesn't
#: begin within a word of Latin, Greek or Cyrillic letters: "vê-se" has no option.
_TOKEN: Final = lazily(
    r"(?<![\w@\u00c0-\u024f\u0370-\u04ff])(?:--?|[~./@$%]{1,3})?\w(?:[\w./:@#%+*=-]*[\w*/])?(?:\(\))?", re.ASCII
)
_CODE: Final = lazily(
    r"\w[./:@#_=\\]+\w|->|\(\)\Z|\A--?\w|\A[~./@$%]{1,3}\w|[a-z][A-Z]|\*|\w-\w*\d|\d\w*-\w|[A-Za-z]\d|\d[A-Za-z]",
    re.ASCII,
)
_NUMBER: Final = lazily(r"\d[\d.,:]*\Z", re.ASCII)
_CALL: Final = lazily(r"(?<=\w)\(.*\)?\Z", re.DOTALL)
#: What stands for a name that differs each time: `<name>`, "2.x", "task#NNN".
_PLACEHOLDER: Final = lazily(r"<.*>\Z|\{.*\}\Z|v?\d+\.[xX*]\Z|\w*\W*(?:NN+|XX+)\Z", re.ASCII)
#: What two words are joined by in prose, with no name in it: "read/write", "e.g.", "client-side".
_PROSE: Final = lazily(r"[a-z]+(?:[/-][a-z]+)+\Z|(?:[a-z]\.)+[a-z]?\Z", re.IGNORECASE)


def names_of(text: str) -> tuple[str, ...]:
    """Return the names in `text` that another text must repeat exactly: code and numbers."""
    ticked = [name for span in _TICKED.findall(text) for name in _names_of_code(span.strip())]
    bare = _TICKED.sub(" ", text)
    tokens = (token.rstrip(".:-=") for token in _TOKEN.findall(bare))
    written = [token for token in tokens if _is_name(token)]
    return tuple(dict.fromkeys(bare_name for name in (*ticked, *written) if (bare_name := _bare_name(name))))


def _bare_name(name: str) -> str:
    """Return a name without its call's arguments; empty for a placeholder."""
    called = _CALL.sub("", name.strip("'\"“”"))
    return "" if _PLACEHOLDER.match(called) else called


def _names_of_code(span: str) -> Iterable[str]:
    """Return the names in marked code: all of it, or of several words those that aren't plain."""
    if " " not in span:
        return (span,)
    words = (word.strip(".,:;=()") for word in span.split())
    return (word for word in words if len(word) > 1 and not word.isalpha() and not word.startswith("<"))


def _is_name(token: str) -> bool:
    if _NUMBER.match(token):
        # "2" is in every text, and says nothing of any
        return len(token) > 1
    return is_code(token) and not _PROSE.match(token)


def is_code(token: str) -> bool:
    """Say whether a word is written as code writes names: joined, in two cases, called, a path."""
    return _CODE.search(token) is not None
