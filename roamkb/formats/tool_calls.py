"""Tool calls of agents, as hooks are told of them: what they would write, and whether they may."""

from collections.abc import Mapping
from typing import Any

from roamkb.core.guard import Denial
from roamkb.core.guard import Ground


def judge_tool(tool: str, given: Mapping[str, Any], ground: Ground) -> Denial | None:
    """Return why the call of `tool` with the input `given` is denied, or None where it is not."""
    return None
