"""What our regular expressions may not use on the Pythons that we support."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: `(…)*+`, `(…)++`, `(…)?+`, `(…){2,}+`, in a raw string.
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5 CPython lets such a group swallow what follows it (gh-106052); Debian 12 has 3.11.2."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "roamkb").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if POSSESSIVE_GROUP.search(line) and 'r"' in line
    ]
    assert [] == found
