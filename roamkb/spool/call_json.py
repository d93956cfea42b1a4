"""A call that waits, as its file has it: one JSON object. Anything in the project can write one."""

import json
import math

from roamkb.core.ids import is_id
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import Values

_FORMAT = 1


def render_spooled(call: SpooledCall) -> bytes:
    """Return the file's bytes."""
    told = {
        "v": _FORMAT,
        "id": call.id,
        "ts": call.ts,
        "session": call.session,
        "folder": call.folder,
        "project": call.project,
        "verb": call.verb,
        "values": {
            name: list(value) if isinstance(value, tuple) else value for name, value in call.values.items()
        },
    }
    return json.dumps(told).encode() + b"\n"


def parse_spooled(data: bytes) -> SpooledCall | None:
    """Return the call; None where it is none of this format."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("v") != _FORMAT or not isinstance(told.get("ts"), int | float):
        return None
    texts = [told.get(name) for name in ("id", "session", "folder", "verb")]
    id, session, folder, verb = (text if isinstance(text, str) and "\0" not in text else "" for text in texts)
    project, values = told.get("project"), _values(told.get("values"))
    if not (
        is_id(id) and session and folder.startswith("/") and math.isfinite(told["ts"]) and values is not None
    ):
        return None
    if project is not None and (not isinstance(project, str) or "\0" in project):
        return None
    return SpooledCall(
        id=id, verb=verb, values=values, folder=folder, project=project, session=session, ts=told["ts"]
    )


def _values(told: object) -> Values | None:
    if not isinstance(told, dict):
        return None
    values: dict[str, str | int | bool | tuple[str, ...] | None] = {}
    for name, value in told.items():
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            values[name] = tuple(value)
        elif value is None or isinstance(value, str | int | bool):
            values[name] = value
        else:
            return None
    return values
