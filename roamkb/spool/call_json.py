"""A waiting call as JSON, one object a file; any program in the project can write one.

Anything in the project can write one.
"""

import json
import math

from roamkb.core.ids import is_id
from roamkb.spool.call import ParameterValues
from roamkb.spool.call import SpooledCall

_FORMAT_VERSION = 1


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
