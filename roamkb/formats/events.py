"""Lines of `knowledge.jsonl` and `ledger.jsonl`, read forgivingly and written strictly (design section 8).

What other tools write is read as well: a `ts` of any form, a line that is a JSON string
holding JSON, unknown keys, a line glued to a torn one. What can't be read is told with its
number and reason, and is never fatal.
"""

import json
import math
import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from typing import Any
from typing import Final

from roamkb.core.learning import Learning
from roamkb.core.learning import identity
from roamkb.core.learning import key_of
from roamkb.core.ledger import Event
from roamkb.core.model import Kind

#: Ours is the first form of the lines.
VERSION: Final = 1

#: How often a line may be wrapped in a JSON string; one recipe does it once.
_WRAPPINGS = 3
#: Objects that are looked for in a line that isn't one.
_MOST_PIECES = 64
#: Later than the year 5138 in seconds: it is milliseconds, as JavaScript counts.
_MILLISECONDS = 1e11
_START = re.compile(r'\{\s*"')
_CONFLICT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_DECODER = json.JSONDecoder()
_TS = re.compile(r"\s*[+-]?\d+(?:\.\d+)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line, or a part of one, that holds nothing readable."""

    #: 1-based.
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A learning and the line that says it."""

    line: int
    learning: Learning


def read_learnings(lines: Iterable[bytes], *, first: int = 1) -> Iterator[Said | BadLine]:
    """Yield what each line says, in order; `first` is the number of the first line."""
    for number, found in _objects(lines, first):
        if isinstance(found, BadLine):
            yield found
            continue
        learning = _learning(found)
        if learning is None:
            yield BadLine(line=number, reason="it has no content")
        else:
            yield Said(line=number, learning=learning)


def read_events(lines: Iterable[bytes], *, first: int = 1) -> Iterator[Event | BadLine]:
    """Yield the event of each line of a ledger."""
    for number, found in _objects(lines, first):
        if isinstance(found, BadLine):
            yield found
            continue
        event = _event(found)
        yield BadLine(line=number, reason="it is no event") if event is None else event


def learning_line(learning: Learning) -> bytes:
    """Return the line that says `learning`, without its newline: the field's own keys first."""
    told: dict[str, object] = {
        "key": learning.key,
        "type": learning.type,
        "content": learning.content,
        "source": learning.source,
        "tags": list(learning.tags),
        "ts": int(learning.ts) if float(learning.ts).is_integer() else learning.ts,
        "bead": learning.bead,
        "id": learning.id,
        "agent": learning.agent,
        "session": learning.session,
        "task": learning.task,
        "category": learning.category,
        "files": list(learning.files),
        "actions": list(learning.actions),
        "provenance": learning.provenance,
        "origin": learning.origin,
        "kind": learning.kind.value if learning.kind else "",
        "confidence": learning.confidence,
    }
    always = ("key", "type", "content", "source", "tags", "ts", "bead")
    kept = {key: value for key, value in told.items() if key in always or value not in ("", [], None)}
    return _line(_after(kept, learning.extra))


def _after(kept: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    return {**kept, **{key: value for key, value in extra.items() if key not in kept}, "v": VERSION}


def event_line(event: Event) -> bytes:
    """Return the line of an event, without its newline."""
    told: dict[str, object] = {"id": event.id, "ts": iso(event.ts), "event": event.event, "of": event.of}
    common = {"by": event.by, "agent": event.agent, "session": event.session, "task": event.task}
    told |= {key: value for key, value in {**common, "machine": event.machine}.items() if value}
    return _line(_after(told, event.fields))


def iso(ts: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    try:
        return datetime.fromtimestamp(ts, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "1970-01-01T00:00:00.000Z"


def _line(told: Mapping[str, object]) -> bytes:
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # half a character has no UTF-8, and JSON a way to say it
        return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()


# Reading


def _objects(lines: Iterable[bytes], first: int) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    for number, raw in enumerate(lines, start=first):
        line = raw.strip(b" \t\r\n\xef\xbb\xbf\0")
        if not line:
            continue
        found = _decoded(line)
        if isinstance(found, dict):
            yield number, found
            continue
        pieces = list(_pieces(line)) if found is None else []
        yield from ((number, piece) for piece in pieces)
        yield number, BadLine(line=number, reason=_fault(line, found, pieces))


def _decoded(line: bytes | str) -> object:
    """Return what the JSON in `line` says, unwrapped; None where it is none."""
    found: object = line
    for _ in range(_WRAPPINGS):
        try:
            found = json.loads(found)  # type: ignore[arg-type]
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, str):
            break
    return found


def _pieces(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the whole objects of a line that isn't one: a torn line has the next one glued to it."""
    text = line.decode("utf-8", "replace")
    end = 0
    for tried, start in enumerate(_START.finditer(text)):
        if tried >= _MOST_PIECES:
            return
        if start.start() < end:
            continue
        try:
            found, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and ("content" in found or "event" in found):
            yield found


def _fault(line: bytes, found: object, pieces: list[dict[str, Any]]) -> str:
    if pieces:
        return "a part of it is torn; the rest was read"
    if _CONFLICT.match(line.decode("utf-8", "replace")):
        return "it is a merge's conflict marker"
    return "it isn't JSON" if found is None else "it isn't a JSON object"


#: What `_learning` reads; everything else is kept as it is.
_KNOWN = frozenset(
    "key type content source tags ts bead id agent session task category files actions provenance origin "
    "kind confidence v".split()
)


def _learning(told: Mapping[str, Any]) -> Learning | None:
    content = told.get("content")
    if not isinstance(content, str) or not content.strip():
        return None
    type = _text(told, "type") or _text(told, "key").partition("-")[0] or "learned"
    return Learning(
        id=_text(told, "id") or identity(type, content),
        key=_text(told, "key") or key_of(type, content),
        type=type,
        content=content,
        source=_text(told, "source"),
        tags=_texts(told, "tags"),
        ts=seconds(told.get("ts")),
        # several comments of one command were once stored with all that followed
        bead=_text(told, "bead").partition("\n")[0].strip(),
        agent=_text(told, "agent"),
        session=_text(told, "session"),
        task=_text(told, "task"),
        category=_text(told, "category"),
        files=_texts(told, "files"),
        actions=_texts(told, "actions"),
        provenance=_text(told, "provenance"),
        origin=_text(told, "origin"),
        kind=_kind(told.get("kind")),
        confidence=_hundredths(told.get("confidence")),
        extra={key: value for key, value in told.items() if key not in _KNOWN},
    )


_COMMON = frozenset("id ts event of by agent session task machine v".split())


def _event(told: Mapping[str, Any]) -> Event | None:
    id, name = _text(told, "id"), _text(told, "event")
    if not id or not name:
        return None
    return Event(
        id=id,
        ts=seconds(told.get("ts")),
        event=name,
        of=_text(told, "of"),
        by=_text(told, "by"),
        agent=_text(told, "agent"),
        session=_text(told, "session"),
        task=_text(told, "task"),
        machine=_text(told, "machine"),
        fields={key: value for key, value in told.items() if key not in _COMMON},
    )


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _texts(told: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = told.get(key)
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(one.strip() for one in value if isinstance(one, str) and one.strip()))


def seconds(value: object) -> float:
    """Return a time of any form as seconds since 1970, UTC; 0 where it says nothing."""
    if isinstance(value, str) and _TS.fullmatch(value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _plain_seconds(value)
    if not isinstance(value, str):
        return 0
    try:
        at = datetime.fromisoformat(value.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0


def _plain_seconds(value: float) -> float:
    try:
        value = value / 1000 if abs(value) >= _MILLISECONDS else value
        whole = int(value)
    except (ValueError, OverflowError):
        return 0
    if not 0 <= whole < _MILLISECONDS or not math.isfinite(value):
        return 0
    return whole if whole == value else value


def _kind(value: object) -> Kind | None:
    return Kind(value) if value in (Kind.WORK.value, Kind.UNKNOWN.value, Kind.PERSONAL.value) else None


def _hundredths(value: object) -> int | None:
    """Return a confidence in hundredths; up to 1 it is a fraction, as other tools have it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(max(round(value * 100) if value <= 1 else round(value), 0), 100)
