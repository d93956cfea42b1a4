"""What the program answers, as recorded: each operation's text and JSON, the help, what servers offer.

`python -m tests.contracts.golden` records it anew in `tests/contracts/golden/`. A change of code that is none
of behaviour leaves these files as they are, byte for byte.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from roamkb.interfaces.operations import OPERATIONS
from tests.conftest import Ran
from tests.conftest import World
from tests.conftest import make_world

FOLDER = Path(__file__).with_name("golden")
ID = "0a1b2c3d-0000-4000-8000-000000000001"
#: In the tests' terminal, whatever the one of whoever runs them.
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "CLAUDECODE": "1"}

#: What differs by itself, and what stands for it; a word that comes again gets the same number again.
_MASKS = (
    ("ID", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("ULID", r"\b[0-9A-HJKMNP-TV-Z]{26}\b"),
    ("DIGEST", r"\b[0-9a-f]{64}\b"),
    ("TIME", r"\d{4}-\d\d-\d\d(?:T| (?:[A-Z][a-z]{2} )?)\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"),
    ("DAY", r"\b20\d\d-\d\d-\d\d\b"),
    ("STAMP", r"\b20\d{12}\b"),
    ("HEX", r"(?<=[-/\" ])[0-9a-f]{8}(?:[0-9a-f]{8})?\b"),
    # a cut key ends in its id
    ("TAIL", r"(?<=\w~)[0-9a-f]{4}(?=\))"),
    ("SECONDS", r"\b1[789]\d{8}\.\d+\b"),
    # the words of an id count as words, and what a search is worth depends on how many there are
    ("COUNT", r'\b\d+(?= words,)|(?<="words": )\d+|(?<="score": 0\.)\d+|(?<="days_since_use": )[\d.e-]+'),
)


class Masks:
    """Names for what two runs can't have in common, in the order in which they come."""

    def __init__(self, world: World) -> None:
        self._home = str(world.home)
        self._names: dict[str, str] = {}

    def masked(self, text: str) -> str:
        """Return a text with names in place of ids, times and the folder that it all lies in."""
        text = text.replace(self._home, "~")
        for kind, pattern in _MASKS:
            text = re.sub(pattern, partial(self._name, kind), text)
        return text

    def _name(self, kind: str, found: re.Match[str]) -> str:
        word = found[0]
        if word == ID:
            return word
        if kind in ("TIME", "DAY", "STAMP", "SECONDS", "COUNT", "TAIL"):
            return kind
        return self._names.setdefault(word, f"{kind}-{len(self._names) + 1}")


def scenario() -> Iterator[tuple[str, ...]]:
    """Yield the commands that are recorded, in their order."""
    for line in (FOLDER / "commands.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield tuple(json.loads(line))


def golden_world(home: Path) -> World:
    """Return a world in which each operation has something to answer."""
    world = make_world(home)
    world.node("one.org", ID, "Invoices are numbered", "From one, each January.", tags=":billing:")
    world.node("two.org", ID.replace("1b2c", "1b2d"), "Backups run at night", f"See [[id:{ID}][invoices]].")
    world.note("plain.org", "No node.\nA walrus.\n")
    (world.personal / "bill").mkdir()
    (world.personal / "bill" / "a.py").write_text("numbers = 1\n")
    return world


def record_answers(home: Path, *, as_json: bool) -> str:
    """Return all that the commands of the scenario print, with their statuses."""
    world = golden_world(home)
    masks = Masks(world)
    parts: list[str] = []
    for folder, *words in scenario():
        ran = world.run(*words, *(["--json"] if as_json else []), cwd=getattr(world, folder), extra=ENVIRONMENT)
        parts.append(f"[{folder}] $ roamkb {' '.join(words)}\n{masks.masked(_printed(ran, as_json=as_json))}")
    return "\n".join(parts)


def record_help(home: Path) -> str:
    """Return the help of the program and of each of its commands."""
    world = make_world(home)
    asked = [["--help"], *([operation.name, "--help"] for operation in OPERATIONS)]
    return "\n".join(f"$ roamkb {' '.join(words)}\n{world.run(*words, extra=ENVIRONMENT).out}" for words in asked)


def _printed(ran: Ran, *, as_json: bool) -> str:
    """Return a run's status and output; JSON in lines, so that a difference shows where it is."""
    out = ran.out
    if as_json and out.strip():
        out = json.dumps(json.loads(out), indent=1, ensure_ascii=False) + "\n"
    errors = f"--- stderr\n{ran.err}" if ran.err else ""
    return f"--- status {ran.status}\n{out}{errors}"


#: Each recording, by its file.
RECORDINGS = {
    "answers.txt": lambda home: record_answers(home, as_json=False),
    "answers.json.txt": lambda home: record_answers(home, as_json=True),
    "help.txt": record_help,
}


def main() -> None:
    """Record all anew."""
    for name, record in RECORDINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / name).write_text(record(Path(folder) / "home"), encoding="utf-8")


if __name__ == "__main__":
    main()
