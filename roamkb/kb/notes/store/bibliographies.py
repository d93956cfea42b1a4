"""The bibliographies at hand: those of Emacs' settings, and those that a note names by `#+bibliography:`."""

import re
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import NoNode
from roamkb.core.errors import NotFound
from roamkb.core.json_form import Keys
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.fs.files import read_file
from roamkb.kb.notes import bibliography
from roamkb.kb.notes.store.init_files import find_configured_paths

_VARIABLES = ("org-cite-global-bibliography", "citar-bibliography", "bibtex-completion-bibliography")
_KEYWORD = lazily(r"[ \t]*#\+bibliography:[ \t]*(\S[^\n]*)", re.IGNORECASE | re.MULTILINE)
#: A library of ten thousand works with abstracts.
_LARGEST = 32 * 2**20
_MOST_FILES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedEntry:
    """An entry of a bibliography with its file."""

    JSON = "*entry path"
    entry: Annotated["bibliography.BibEntry", Keys("key title author year")]
    path: Path


@dataclass(frozen=True, slots=True)
class Bibliographies:
    """Looks works up by their citation keys; opens files only then."""

    home: Path
    kb: Path
    _: KW_ONLY
    #: Says whether a file may be read here: what lies at work is told nowhere else.
    may_read: Callable[[Path], bool]

    def find_entries(self, keys: Collection[str], note: Note | None = None) -> dict[str, CitedEntry]:
        """Return the entries with those keys, the note's own bibliographies first; what can't be read has none."""
        entries: dict[str, CitedEntry] = {}
        for path in self._paths(note) if keys else ():
            missing = [key for key in keys if key not in entries]
            text = self._read(path) if missing else ""
            # to read all entries takes longer than to see that none is meant
            if any(key in text for key in missing):
                found = bibliography.read_entries(text, missing)
                entries |= {key: CitedEntry(entry=entry, path=path) for key, entry in found.items()}
        return entries

    def find_works(self, note: Note, node: Node) -> tuple[CitedEntry, ...]:
        """Return the works that a node is about or cites, in that order, as far as a bibliography has them."""
        keys = [ref.ref for ref in node.refs if ref.type == "cite"]
        keys += [citation.key for citation in node.citations]
        entries = self.find_entries(dict.fromkeys(keys), note)
        return tuple(entries[key] for key in dict.fromkeys(keys) if key in entries)

    def raise_if_cited(self, error: NoNode) -> None:
        """Raise `NotFound` with what a bibliography has where the unknown name is a citation's, such as `@key`."""
        name = error.name.strip()
        key = name.removeprefix("cite:").lstrip("@")
        work = self.find_entries((key,)).get(key) if key and key != name else None
        if work:
            raise NotFound(
                error.name,
                hint=f"{one_line(str(work.path))} has it: {one_line(describe_entry(work.entry))}; no note is about it "
                f"yet: `roamkb write TITLE --ref @{one_line(key)}` makes one",
            ) from error

    def _paths(self, note: Note | None) -> list[Path]:
        configured = find_configured_paths(self.home, self.kb, *_VARIABLES)
        named = () if note is None else self._named_paths(note)
        paths = dict.fromkeys((*named, *configured))
        return [path for path in paths if path.suffix == ".bib"][:_MOST_FILES]

    def _named_paths(self, note: Note) -> Iterator[Path]:
        for match in _KEYWORD.finditer(note.text):
            yield self.kb / Path(note.file).parent / expanduser(match[1].strip().strip('"'))

    def _read(self, path: Path) -> str:
        if not self.may_read(path):
            return ""
        data = read_file(path, limit=_LARGEST)
        return "" if isinstance(data, UnreadableFile) else data.decode(errors="replace")


def describe_entry(entry: "bibliography.BibEntry") -> str:
    """Return a work in a line: its title, author and year."""
    by = ", ".join(filter(None, (entry.author, entry.year)))
    return f"{entry.title or 'without a title'}{f' ({by})' if by else ''}"
