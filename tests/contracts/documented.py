"""Commands that the rule tells agents to type, as tests run them."""

import shlex
from pathlib import Path

RULE = Path(__file__).parents[2] / "rules" / "knowledge-base.md"


def documented_rg(kb: Path, pattern: str) -> list[str]:
    """The rule's search command for `pattern`, its knowledge base replaced by `kb`."""
    lines = (line.strip() for line in RULE.read_text(encoding="utf-8").splitlines())
    command = next(line for line in lines if line.startswith("rg ") and "PATTERN" in line)
    words = shlex.split(command, comments=True)
    return [pattern if word == "PATTERN" else str(kb) if word.startswith("~") else word for word in words]
