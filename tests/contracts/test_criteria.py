"""The page on conformance says of each criterion of document 004 which test meets it, and each of those tests is there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLE = (TESTS.parent / "docs" / "conformance.md").read_text().partition("## Document 004")[2]
ROWS = dict(re.findall(r"^\| ([^|`]+?) \| (.+) \|$", TABLE, re.MULTILINE))
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", TABLE)))


def numbers() -> set[str]:
    """Return the criteria that have a row, ranges spelt out."""
    found: set[str] = set()
    for name in ROWS:
        word = name.partition(" ")[0]
        first, _, last = word.partition("–")
        found |= {str(n) for n in range(int(first), int(last or first) + 1)} if first.isdigit() else {word}
    return found


def test_every_criterion_has_a_row() -> None:
    """Requirements, qualities, and the numbered list."""
    wanted = {f"FR-{n}" for n in range(1, 9)} | {f"NFR-{n}" for n in range(1, 5)}
    wanted |= {str(n) for n in range(1, 26)}
    assert set() == wanted - numbers()


def test_each_is_met_where_a_user_meets_it() -> None:
    """No test of a part says that anybody can reach it."""
    parts = ("core/", "fs/", "text/", "secrets/", "org/", "shell/", "guard/", "harnesses/", "machines/")
    assert [] == [file for file, _ in NAMED if file.startswith(parts) or "/store/" in file]
    files = {file: (TESTS / file).read_text() for file, _ in NAMED}
    doors = ("world", "served", "run(", "serving(", "kb.log", "program.")
    assert [] == [file for file, text in files.items() if not any(door in text for door in doors)]


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_what_the_map_names_is_there(file: str, test: str) -> None:
    """A test by its name in its file."""
    text = (TESTS / file).read_text()
    assert re.search(rf"^(?:def|class) {test}\b", text, re.MULTILINE)
