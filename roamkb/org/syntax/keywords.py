"""The in-buffer settings of a file: its `#+key: value` lines, and those of set-up files."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.syntax_table import SPACE

#: More set-up files than any human writes; a chain that doubles at each step must end somewhere.
MOST_SETUPFILES = 50

#: What lines that say something of the file hold; without their begin, since a search for "#+" is five times as fast.
INTERESTING = lazily(r"#\+(?:title|filetags|todo|seq_todo|typ_todo|setupfile|startup|link):", re.IGNORECASE)
_KEYWORD = lazily(rf"[ \t]*#\+([^{SPACE}]*):")
_URL = lazily(r"\A[a-zA-Z][a-zA-Z0-9+.-]*://|\A(?:file|ftp|https?):")
_STATE = lazily(r"(.*?)(?:\([^)]*\).*)?\Z")
_BLANKS = lazily(r"[ \f\t\n\r\v]+")


@dataclass(slots=True)
class FileKeywords:
    """The keyword values of a file and its set-up files, in the order of the text."""

    titles: list[str] = field(default_factory=list)
    filetags: list[str] = field(default_factory=list)
    todo_lines: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    odd_levels: bool = False
    setupfiles: list[str] = field(default_factory=list)
    #: Whether a set-up file's name is a single quote: Org takes one from either end, and fails.
    has_lone_quote: bool = False

    def add_line(self, key: str, value: str) -> None:
        """Add the value of one keyword line."""
        match key:
            case "TITLE":
                self.titles.append(value)
            case "FILETAGS":
                self.filetags += [tag for word in _split_words(value) for tag in _split_tags(word)]
            case "TODO" | "SEQ_TODO" | "TYP_TODO":
                self.todo_lines.append(value)
            case "LINK":
                parts = _BLANKS.split(value, maxsplit=1)
                if len(parts) == 2 and parts[1]:
                    self.links[parts[0]] = parts[1]
            case "STARTUP":
                for option in _split_words(value):
                    if option.lower() in ("odd", "oddeven"):
                        self.odd_levels = option.lower() == "odd"


def keyword_line(line: str) -> tuple[str, str]:
    """Return the key in upper case, and the value, of a `#+key: value` line."""
    key = _KEYWORD.match(line)
    return (key[1].upper(), line[key.end() :].strip(" \t\r\n")) if key else ("", "")


def collect_keywords(lines: Iterator[str], file: str, read_setup: Callable[[str], Iterator[str]]) -> FileKeywords:
    """Return the values of the keyword `lines` of `file`; `read_setup` yields a set-up file's lines."""
    keywords = FileKeywords()
    #: What is being read, the outermost first.
    open_files = [(file, lines)]
    while open_files:
        current, remaining_lines = open_files[-1]
        line = next(remaining_lines, None)
        if line is None:
            open_files.pop()
            continue
        key, value = keyword_line(line)
        if key != "SETUPFILE":
            keywords.add_line(key, value)
            continue
        keywords.has_lone_quote |= value == '"'
        path = _setup_path(value, current)
        if path is None or len(keywords.setupfiles) >= MOST_SETUPFILES or any(path == name for name, _ in open_files):
            continue
        keywords.setupfiles.append(path)
        open_files.append((path, read_setup(path)))
    return keywords


def _setup_path(value: str, file: str) -> str | None:
    """Return the path that `value` names, seen from `file`; None for nothing and for a URL."""
    if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
        value = value[1:-1]
    if not value or _URL.match(value):
        return None
    if value.startswith("~"):
        return value
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), value))


def todo_states(todo_lines: Sequence[str]) -> frozenset[str]:
    """Return the TODO states of sequences as after `#+todo:`; org's own where there is no sequence."""
    if not todo_lines:
        return frozenset(("TODO", "DONE"))
    names = (_STATE.match(word) for line in todo_lines for word in _split_words(line) if word != "|")
    return frozenset(name[1] for name in names if name and name[1])


def _split_words(value: str) -> list[str]:
    return [word for word in _BLANKS.split(value) if word]


def _split_tags(word: str) -> list[str]:
    """Return the tags of `:a:b:`; between two colons is a tag without a name."""
    parts = word.split(":")
    if len(parts) > 1 and not parts[0]:
        del parts[0]
        if not parts[-1]:
            del parts[-1]
    elif len(parts) > 1 and not parts[-1]:
        del parts[-1]
    return parts
