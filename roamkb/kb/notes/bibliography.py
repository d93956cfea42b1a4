"""Entries of a BibTeX bibliography (owns bibtexparser): title, author and year of a work.

bibtexparser is small, typed and alive, reads 25 MB a second, and goes on after what is malformed. A reader of our own
would have BibTeX's strings, nested braces and TeX's accents to learn.
"""

import logging
from collections.abc import Collection

from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares import LatexDecodingMiddleware
from bibtexparser.middlewares import RemoveEnclosingMiddleware
from bibtexparser.middlewares import ResolveStringReferencesMiddleware
from bibtexparser.model import Entry
from bibtexparser.model import Field

from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass

#: Letters of a field that are read; an abstract may be long, a title isn't.
_LONGEST_FIELD = 2_000

# what is malformed is left out: its human's editor says so better
for _library in ("bibtexparser", "pylatexenc"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class BibEntry:
    """A work as a bibliography has it, TeX's accents and braces read."""

    key: str
    title: OrNull
    #: All authors, else the editors, as written: `Knuth, Donald E. and Plass, Michael F.`
    author: OrNull
    year: OrNull


def read_entries(text: str, keys: Collection[str]) -> dict[str, BibEntry]:
    """Return the entries of `text` with those keys, by their keys; of equal keys the first, and nothing malformed."""
    library = parse_string(text, parse_stack=[ResolveStringReferencesMiddleware(), RemoveEnclosingMiddleware()])
    decoder = LatexDecodingMiddleware()
    entries: dict[str, BibEntry] = {}
    for entry in library.entries:
        if entry.key in keys:
            fields = {field.key.lower(): str(field.value) for field in entry.fields}
            entries[entry.key] = BibEntry(
                key=entry.key,
                title=_plain_text(decoder, fields.get("title", "")),
                author=_plain_text(decoder, fields.get("author") or fields.get("editor", "")),
                year=_plain_text(decoder, fields.get("year") or fields.get("date", "")[:4]),
            )
    return entries


def _plain_text(decoder: LatexDecodingMiddleware, written: str) -> str:
    """Return TeX as text, on one line; what can't be read as TeX stays as it is written."""
    field = Field(key="text", value=written[:_LONGEST_FIELD])
    # it leaves the value as it is where its reader of TeX raises
    decoder.transform_entry(Entry("misc", "key", [field]), Library())
    return " ".join(str(field.value).split())
