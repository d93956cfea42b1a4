"""Waiting calls: kept from the notes by their sandbox, and carried out by a hook outside of it."""

from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase

#: Values of an operation's parameters, by name.
ParameterValues = Mapping[str, str | int | bool | tuple[str, ...] | None]

#: Seconds that a call waits for a hook; after them nobody remembers what it was for.
CALL_LIFETIME: Final = 86_400.0
#: Seconds by which two clocks of one machine may differ.
_MAX_CLOCK_SKEW: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledCall:
    """A call of an operation, with all that it needs."""

    #: The id of the node that it writes, so that it is written once.
    id: str
    verb: str
    values: ParameterValues
    #: The folder that it was made in.
    folder: str
    #: `--project`.
    project: str | None
    session: str
    #: Seconds since 1970.
    ts: float

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the call, in the caller's words."""
        subject_value = self.values.get("title") or self.values.get("name") or self.values.get("keys") or ()
        if isinstance(subject_value, str):
            return (subject_value,)
        return subject_value if isinstance(subject_value, tuple) else ()

    @property
    def subject_text(self) -> str:
        """The subjects on one line."""
        return ", ".join(self.subjects)

    def is_stale(self, now: float) -> bool:
        """Say whether it waited too long."""
        return not -_MAX_CLOCK_SKEW <= now - self.ts <= CALL_LIFETIME


def describe_waiting(calls: Sequence[SpooledCall], *, now: float) -> str:
    """Return a sentence on how many calls wait, and since when."""
    fresh = [call for call in calls if not call.is_stale(now)]
    parts = []
    if fresh:
        since = datetime.fromtimestamp(fresh[0].ts).isoformat(" ", timespec="minutes")
        verb_form = "waits" if len(fresh) == 1 else "wait"
        parts.append(
            f"{count_phrase(len(fresh), 'call')} of this project {verb_form} since {since}; the next hook of the "
            "session that called carries it out, outside of the sandbox"
        )
    if stale := len(calls) - len(fresh):
        parts.append(f"{count_phrase(stale, 'call')} waited for more than a day, and the next hook drops what did")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedCall:
    """A waiting call with the path of its file."""

    call: SpooledCall
    #: Where it waits.
    path: str
