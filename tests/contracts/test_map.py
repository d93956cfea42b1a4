"""The map of the house shows every room."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "roamkb"


def test_every_module_is_on_the_map() -> None:
    """By its name, or by the family that it belongs to."""
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    named = {name for names in re.findall(r"`([^`]+)`", text) for name in names.replace("/", " ").split()}
    missing = [
        path.relative_to(PACKAGE).as_posix()
        for folder in ("core", "formats", "storage", "app", "interfaces")
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if path.stem not in named and not path.stem.startswith(("__", "index_"))
    ]
    assert [] == missing


def test_no_room_on_the_map_is_gone() -> None:
    """What stands in a row's first column is there."""
    rows = re.findall(r"^\| (`[^|]+) \|", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w/]+)(?:\.py)?`", row)]
    known = {path.stem for path in PACKAGE.rglob("*.py")}
    assert len(names) > 40
    assert [] == [name for name in names if name.rpartition("/")[2] not in known]
