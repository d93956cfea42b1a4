"""What the `#+key: value` lines of a file say of the file."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily

#: More set-up files than any human writes; a chain that doubles at each step must end somewhere.
MOST_SETUPFILES = 50

#: Lines that say something of the file.
INTERESTING = lazily(
    r"^[ \t]*#\+(?:title|filetags|todo|seq_todo|typ_todo|setupfile|startup|link):",
    re.IGNORECASE | re.MULTILINE,
)
_KEYWORD = lazily(r"[ \t]*#\+(\S*):")
_URL = lazily(r"\A[a-zA-Z][a-zA-Z0-9+.-]*://|\A(?:file|ftp|https?):")
_STATE = lazily(r"(.*?)(?:\([^)]*\).*)?\Z")
_BLANKS = lazily(r"[ \f\t\n\r\v]+")


@dataclass(slots=True)
class FileKeywords:
    """All that a file and its set-up files say, in the order of the text."""

    titles: list[str] = field(default_factory=list)
    filetags: list[str] = field(default_factory=list)
    todo_lines: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    odd_levels: bool = False
    setupfiles: list[str] = field(default_factory=list)

    def add(self, key: str, value: str) -> None:
        """Take one line."""
        match key:
            case "TITLE":
                self.titles.append(value)
            case "FILETAGS":
                self.filetags += [tag for word in _words(value) for tag in _tags(word)]
            case "TODO" | "SEQ_TODO" | "TYP_TODO":
                self.todo_lines.append(value)
            case "LINK":
                parts = _BLANKS.split(value, maxsplit=1)
                if len(parts) == 2 and parts[1]:
                    self.links[parts[0]] = parts[1]
            case "STARTUP":
                for option in _words(value):
                    if option.lower() in ("odd", "oddeven"):
                        self.odd_levels = option.lower() == "odd"


def keyword_line(line: str) -> tuple[str, str]:
    """Return the key in upper case, and the value, of a `#+key: value` line."""
    key = _KEYWORD.match(line)
    return (key[1].upper(), line[key.end() :].strip(" \t\r\n")) if key else ("", "")


def collect(lines: Iterator[str], file: str, read_setup: Callable[[str], Iterator[str]]) -> FileKeywords:
    """Return what the keyword `lines` of `file` say; `read_setup` gives a set-up file's by its path."""
    found = FileKeywords()
    #: What is being read, the outermost first.
    open_ones = [(file, lines)]
    while open_ones:
        current, rest = open_ones[-1]
        line = next(rest, None)
        if line is None:
            open_ones.pop()
            continue
        key, value = keyword_line(line)
        if key != "SETUPFILE":
            found.add(key, value)
            continue
        path = _setup_path(value, current)
        if (
            path is None
            or len(found.setupfiles) >= MOST_SETUPFILES
            or any(path == name for name, _ in open_ones)
        ):
            continue
        found.setupfiles.append(path)
        open_ones.append((path, read_setup(path)))
    return found


def _setup_path(value: str, file: str) -> str | None:
    """Return where `value` points from `file`; None for nothing and for a URL, which is never followed."""
    if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
        value = value[1:-1]
    if not value or _URL.match(value):
        return None
    if value.startswith("~"):
        return value
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), value))


def states(todo_lines: Sequence[str]) -> frozenset[str]:
    """Return the TODO states of sequences as after `#+todo:`; org's own where there is no sequence."""
    if not todo_lines:
        return frozenset(("TODO", "DONE"))
    names = (_STATE.match(word) for line in todo_lines for word in _words(line) if word != "|")
    return frozenset(name[1] for name in names if name and name[1])


def _words(value: str) -> list[str]:
    return [word for word in _BLANKS.split(value) if word]


def _tags(word: str) -> list[str]:
    """Return the tags of `:a:b:`; between two colons is a tag without a name."""
    parts = word.split(":")
    if len(parts) > 1 and not parts[0]:
        del parts[0]
        if not parts[-1]:
            del parts[-1]
    elif len(parts) > 1 and not parts[-1]:
        del parts[-1]
    return parts
