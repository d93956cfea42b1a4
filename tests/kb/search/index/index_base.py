"""A knowledge base and its index, for the index's tests."""

import time
from datetime import date
from pathlib import Path

from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query

TODAY = date(2026, 6, 10)


class Base:
    """A knowledge base with an index beside it."""

    def __init__(self, folder: Path) -> None:
        self.kb = folder / "kb"
        self.cache = folder / "cache" / "x"
        (self.kb / ".stfolder").mkdir(parents=True)
        self.todo_lines: tuple[str, ...] = ()
        #: Nanoseconds by which the clock that the index sees is ahead.
        self.ahead = 0

    def note(self, name: str, title: str, body: str = "", *, tags: str = "", head: str = "", drawer: str = "") -> Path:
        """Write a note with one node."""
        path = self.kb / name
        path.parent.mkdir(parents=True, exist_ok=True)
        keywords = f"#+title: {title}\n" + (f"#+filetags: {tags}\n" if tags else "") + head
        path.write_text(f":PROPERTIES:\n:ID: {name}\n{drawer}:END:\n{keywords}\n{body}\n", encoding="utf-8")
        return path

    def animals(self) -> "Base":
        """The base with three notes."""
        self.note(
            "20240101000000-zebra.org",
            "Zebra",
            "They live on the savanna.\nStripes confuse flies.",
            tags=":animal:",
        )
        self.note("20240102000000-tapir.org", "Tapir", "A zebra it is not.", tags=":animal:")
        self.note("20240103000000-savanna.org", "Savanna", "Grass and trees.", tags=":zebra:")
        return self

    def index(self, cache: Path | None = None) -> Index:
        """The kept index, as a new process has it."""
        return Index(
            Notes(self.kb, todo_lines=self.todo_lines),
            cache or self.cache,
            clock=lambda: time.time_ns() + self.ahead,
        )

    def titles(self, text: str, limit: int | None = 20) -> list[str]:
        """What the kept index finds."""
        return [one.title for one in self.index().find_passages(parse_query(text, today=TODAY), limit=limit).answers]

    def check(self, *texts: str) -> None:
        """The kept index answers as one made just now does."""
        for text in texts:
            query = parse_query(text, today=TODAY)
            fresh = Index(Notes(self.kb, todo_lines=self.todo_lines), None).find_passages(query)
            assert fresh == self.index().find_passages(query)

    @property
    def file(self) -> Path:
        """Where the index lies."""
        return self.cache / "index.db"
