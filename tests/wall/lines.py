"""The corpus: lines of shell by what they do to the notes, one a row of `lines/KIND.tsv`."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LINES = Path(__file__).parent / "lines"
#: A row is one line of a file; a command may have several, so that it holds this sign for a line's end.
LINE_END = "␤"

#: They change notes, or what keeps them, on purpose.
HOSTILE = "hostile"
#: They change many files in good faith, and notes among them.
HONEST = "honest"
#: They read the notes or only mention them.
BENIGN = "benign"
#: They have nothing to do with notes: what people publish as examples of commands.
ORDINARY = "ordinary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of shell as an agent would run it in its project."""

    kind: str
    id: str
    #: Programs without which it does nothing.
    needs: tuple[str, ...]
    command: str
    #: Whether it gives the same whenever it is run in a folder of samples, without the network.
    is_steady: bool = True

    @property
    def group(self) -> str:
        """What sort of line it is: the id without its number."""
        return self.id.rpartition("-")[0]

    @property
    def can_run(self) -> bool:
        """Whether this machine has the programs, those that roamkb itself brings aside."""
        return all(program == "roamkb" or shutil.which(program, path=SEARCHED) for program in self.needs)


#: Where the programs of a line are looked for; a disposable HOME adds its own.
SEARCHED = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))


def read_lines(kind: str) -> tuple[Line, ...]:
    """Return a kind's lines in the order of its file."""
    return tuple(_rows(kind))


def _rows(kind: str) -> Iterator[Line]:
    head, *rows = (LINES / f"{kind}.tsv").read_text(encoding="utf-8").splitlines()
    columns = head.split("\t")
    for row in rows:
        cells = dict(zip(columns, row.split("\t", len(columns) - 1), strict=True))
        yield Line(
            kind=kind,
            id=cells["id"],
            needs=tuple(cells["needs"].split()),
            command=cells["command"].replace(LINE_END, "\n"),
            is_steady=cells.get("steady", "yes") == "yes",
        )
