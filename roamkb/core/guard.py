"""What an agent's tool call would do to the knowledge base, and whether it may: the boundary's second wall.

`formats/tool_calls.judge_tool` is the door: it reads the call and asks here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from roamkb.core.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the hook found on the disk."""

    #: Every name of the knowledge base: as typed, its real path, what other mounts call it; all absolute.
    #: Where the rule is broken, the last good one's.
    kb: tuple[str, ...]
    #: What the session's project is.
    kind: Kind
    #: Where the command runs.
    cwd: str
    home: str
    #: Whether a path is an agent node's file, or is not there yet.
    is_agent_note: Callable[[str], bool]
    #: The real path of a path, links followed as far as it exists.
    resolve: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Why a tool call is not to be made."""

    #: One sentence for the agent.
    reason: str
    #: What to do instead, one sentence.
    hint: str
