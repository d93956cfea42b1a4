"""Lines of `knowledge.jsonl` and `ledger.jsonl`, read forgivingly and written strictly.

docs/log-and-pipeline.md lists their fields and events.

What other tools write is read as well: a `ts` of any form, a line that is a JSON string
holding JSON, unknown keys, a line glued to a torn one. What can't be read is told with its
number and reason, and is never fatal.
"""

import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set
from typing import Any
from typing import Final

from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.timestamps import iso
from roamkb.core.timestamps import seconds
from roamkb.log.learning import Learning
from roamkb.log.learning import identity
from roamkb.log.learning import key_of
from roamkb.log.state.learning_state import LedgerEvent

#: Ours is the first form of the lines.
VERSION: Final = 1

#: Bytes of a line, twice what is taken in from elsewhere; a longer one would keep every reader waiting.
MOST_LINE: Final = 16 * 1024 * 1024
#: How often a line may be wrapped in a JSON string; one recipe does it once.
_WRAPPINGS = 3
#: Torn objects in a line, after which nothing more is looked for.
_MOST_TORN = 64
#: Levels of a value that we don't know; deeper ones could be read and not written again.
_DEEPEST = 100
#: Python converts 4,300 by default; no count or time comes near.
_MOST_DIGITS = 400
_START = lazily(r'\{\s*"')
_CONFLICT = lazily(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_UNNAMABLE = lazily("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line, or a part of one, that holds nothing readable."""

    #: 1-based.
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningLine:
    """A learning and the line that says it."""

    line: int
    learning: Learning


def read_learnings(lines: Iterable[bytes], *, first: int = 1) -> Iterator[LearningLine | BadLine]:
    """Yield what each line says, in order; `first` is the number of the first line."""
    for number, found in _objects(lines, first):
        if isinstance(found, BadLine):
            yield found
            continue
        learning = _learning(found)
        if learning is None:
            yield BadLine(line=number, reason="it has no content")
        else:
            yield LearningLine(line=number, learning=learning)


def read_events(lines: Iterable[bytes], *, first: int = 1) -> Iterator[LedgerEvent | BadLine]:
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
    return json_line(_after(kept, learning.extra))


def _after(kept: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    return {**kept, **{key: value for key, value in extra.items() if key not in kept}, "v": VERSION}


def event_line(event: LedgerEvent) -> bytes:
    """Return the line of an event, without its newline."""
    told: dict[str, object] = {"id": event.id, "ts": iso(event.ts), "event": event.event, "of": event.of}
    common = {"by": event.by, "agent": event.agent, "session": event.session, "task": event.task}
    told |= {key: value for key, value in {**common, "machine": event.machine}.items() if value}
    return json_line(_after(told, event.fields))


def json_line(told: Mapping[str, object]) -> bytes:
    """Return one JSON object as a line, without its newline."""
    try:
        return _dumped(told, ascii=False).encode()
    except UnicodeEncodeError:
        # half a character has no UTF-8, and JSON a way to say it
        return _dumped(told, ascii=True).encode()


def _dumped(told: object, *, ascii: bool) -> str:
    try:
        return json.dumps(told, ensure_ascii=ascii, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # NaN, which some tools write, isn't JSON
        return _dumped(json.loads(json.dumps(told), parse_constant=lambda _: None), ascii=ascii)


# Reading


def _objects(lines: Iterable[bytes], first: int) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    for number, raw in enumerate(lines, start=first):
        if len(raw) > MOST_LINE:
            yield number, BadLine(line=number, reason=f"it has more than {MOST_LINE:,} bytes")
            continue
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


def _decoded(line: bytes) -> object:
    """Return what the JSON in `line` says, unwrapped; None where it is none."""
    try:
        found: object = line.decode("utf-8", "surrogatepass")
        for _ in range(_WRAPPINGS):
            if isinstance(found, str):
                found = _DECODER.decode(found)
    except (ValueError, RecursionError):
        return None
    return found


def _whole(digits: str) -> float:
    """Return a number without a fraction; of more digits than Python converts it is JSON all the same."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole)


def _pieces(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the whole objects of a line that isn't one: a torn line has the next one glued to it."""
    text = line.decode("utf-8", "replace")
    at = torn = 0
    while torn < _MOST_TORN and (start := _START.search(text, at)):
        try:
            found, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            torn, at = torn + 1, start.end()
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
        id=_id(told) or identity(type, content),
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
        confidence=_hundredths(told.get("confidence"), is_ours="v" in told),
        extra=_others(told, _KNOWN),
    )


_COMMON = frozenset("id ts event of by agent session task machine v".split())


def _event(told: Mapping[str, Any]) -> LedgerEvent | None:
    id, name = _id(told), _text(told, "event")
    if not id or not name:
        return None
    return LedgerEvent(
        id=id,
        ts=seconds(told.get("ts")),
        event=name,
        of=_text(told, "of"),
        by=_text(told, "by"),
        agent=_text(told, "agent"),
        session=_text(told, "session"),
        task=_text(told, "task"),
        machine=_text(told, "machine"),
        fields=_others(told, _COMMON),
    )


def _others(told: Mapping[str, Any], known: Set[str]) -> dict[str, object]:
    """Return what the line says under keys that we don't know."""
    return {key: value for key, value in told.items() if key not in known and not _is_deep(value, _DEEPEST)}


def _is_deep(value: object, levels: int) -> bool:
    """Say whether `value` has more than so many levels."""
    if not isinstance(value, dict | list):
        return False
    return not levels or any(
        _is_deep(one, levels - 1) for one in (value.values() if isinstance(value, dict) else value)
    )


def _id(told: Mapping[str, Any]) -> str:
    """Return the line's own id; what an index can't take for a name counts as none."""
    id = _text(told, "id")
    return "" if _UNNAMABLE.search(id) else id


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


def _kind(value: object) -> ProjectKind | None:
    return (
        ProjectKind(value)
        if value in (ProjectKind.WORK.value, ProjectKind.UNKNOWN.value, ProjectKind.PERSONAL.value)
        else None
    )


def _hundredths(value: object, *, is_ours: bool) -> int | None:
    """Return a confidence in hundredths; what other tools have up to 1 is a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    # compared before it is multiplied or rounded: an integer may be larger than any float
    bounded = min(max(value, 0), 100)
    is_fraction = bounded <= 1 and not (is_ours and isinstance(value, int))
    return round(bounded * 100) if is_fraction else round(bounded)
