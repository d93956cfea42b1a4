"""A call that waits: its sandbox keeps it from the notes, and a hook outside of it carries it out."""

from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import counted

#: Values of an operation's parameters, by name.
Values = Mapping[str, str | int | bool | tuple[str, ...] | None]

#: Seconds that a call waits for a hook; after them nobody remembers what it was for.
LIFETIME: Final = 86_400.0
#: Seconds by which two clocks of one machine may differ.
_SKEW: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledCall:
    """One call of one operation, with all that it needs."""

    #: The id of the node that it writes, so that it is written once.
    id: str
    verb: str
    values: Values
    #: The folder that it was made in.
    folder: str
    #: `--project`.
    project: str | None
    session: str
    #: Seconds since 1970.
    ts: float

    @property
    def subject(self) -> str:
        """What it is about, in the caller's words."""
        told = self.values.get("title") or self.values.get("name") or self.values.get("keys") or ""
        return told if isinstance(told, str) else ", ".join(told) if isinstance(told, tuple) else ""

    def is_stale(self, now: float) -> bool:
        """Say whether it waited too long."""
        return not -_SKEW <= now - self.ts <= LIFETIME


def told_waiting(calls: Sequence[SpooledCall], *, now: float) -> str:
    """Return how many calls wait, since when and for what; their own words may be anybody's."""
    fresh = [call for call in calls if not call.is_stale(now)]
    parts = []
    if fresh:
        since = datetime.fromtimestamp(fresh[0].ts).isoformat(" ", timespec="minutes")
        wait = "waits" if len(fresh) == 1 else "wait"
        parts.append(
            f"{counted(len(fresh), 'call')} of this project {wait} since {since}; the next hook of the "
            "session that called carries it out, outside of the sandbox"
        )
    if stale := len(calls) - len(fresh):
        parts.append(f"{counted(stale, 'call')} waited for more than a day, and the next hook drops what did")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedCall:
    """What is known of a call that waits now."""

    call: SpooledCall
    #: Where it waits.
    path: str
