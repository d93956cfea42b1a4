"""Waiting calls: kept from the notes by their sandbox, and carried out by a hook outside of it.

Each is JSON in a file of the project, where any program can put one.
"""

import json
import math
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from roamkb.core.ids import is_id
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase

#: Values of an operation's parameters, by name.
ParameterValues = Mapping[str, str | int | bool | tuple[str, ...] | None]

#: Seconds that a call waits for a hook; after them nobody remembers what it was for.
CALL_LIFETIME: Final = 86_400.0
#: Seconds by which two clocks of one machine may differ.
_MAX_CLOCK_SKEW: Final = 60.0
_FORMAT_VERSION = 1


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


def render_spooled(call: SpooledCall) -> bytes:
    """Return the file's bytes."""
    call_fields = {
        "v": _FORMAT_VERSION,
        "id": call.id,
        "ts": call.ts,
        "session": call.session,
        "folder": call.folder,
        "project": call.project,
        "verb": call.verb,
        "values": {name: list(value) if isinstance(value, tuple) else value for name, value in call.values.items()},
    }
    return json.dumps(call_fields).encode() + b"\n"


def parse_spooled(data: bytes) -> SpooledCall | None:
    """Return the call; None where the data is not of this format."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(parsed, dict)
        or parsed.get("v") != _FORMAT_VERSION
        or not isinstance(parsed.get("ts"), int | float)
    ):
        return None
    texts = [parsed.get(name) for name in ("id", "session", "folder", "verb")]
    call_id, session, folder, verb = (text if isinstance(text, str) and "\0" not in text else "" for text in texts)
    project, values = parsed.get("project"), _parse_values(parsed.get("values"))
    if not (
        is_id(call_id) and session and folder.startswith("/") and math.isfinite(parsed["ts"]) and values is not None
    ):
        return None
    if project is not None and (not isinstance(project, str) or "\0" in project):
        return None
    return SpooledCall(
        id=call_id, verb=verb, values=values, folder=folder, project=project, session=session, ts=parsed["ts"]
    )


def _parse_values(parsed: object) -> ParameterValues | None:
    if not isinstance(parsed, dict):
        return None
    values: dict[str, str | int | bool | tuple[str, ...] | None] = {}
    for name, value in parsed.items():
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            values[name] = tuple(value)
        elif value is None or isinstance(value, str | int | bool):
            values[name] = value
        else:
            return None
    return values
