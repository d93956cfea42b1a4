"""What the texts for agents and people tell them to type is there."""

import re
from pathlib import Path

import pytest

from roamkb.interfaces.operations import OPERATIONS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", ["README.md", "rules/knowledge-base.md", "fixtures/README.md"])
def test_every_command_that_is_named_exists(file: str) -> None:
    """The rule once told every agent to run a command that wasn't there."""
    text = (ROOT / file).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )roamkb ([a-z]+)", text))
    # harnesses call them at every step, and have no time for the table
    assert set() == named - {operation.name for operation in OPERATIONS} - {"hook", "exec"}


def test_every_command_is_in_the_readme() -> None:
    """Nothing has to be found out from the help alone."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [] == [o.name for o in OPERATIONS if not re.search(rf"`(?:roamkb )?{o.name}\b", text)]
