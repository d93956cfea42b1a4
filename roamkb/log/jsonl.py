"""Lines of `knowledge.jsonl` and `ledger.jsonl`, read forgivingly and written strictly.

docs/log-and-pipeline.md lists their fields and events.

What other tools write is read as well: a `ts` of any form, a line that is a JSON string
holding JSON, unknown keys, a line glued to a torn one. What can't be read is told with its
number and reason, and is never fatal.
"""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set

from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Final
from roamkb.core.timestamps import format_iso
from roamkb.core.timestamps import parse_timestamp
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.learning import fitting_aliases
from roamkb.log.learning import key_of
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import tombstones_of

#: Ours is the first form of the lines.
VERSION: Final = 1

#: Bytes of a line, twice what is taken in from elsewhere; a longer one would keep every reader waiting.
LONGEST_LINE: Final = 16 * 1024 * 1024
#: How often a line may be wrapped in a JSON string; one recipe does it once.
_MOST_WRAPPINGS = 3
#: Torn objects in a line, after which nothing more is looked for.
_MOST_TORN = 64
#: Levels of a value that we don't know; deeper ones could be read and not written again.
_MOST_LEVELS = 100
#: Python converts 4,300 by default; no count or time comes near.
_MOST_DIGITS = 400
_FORGOTTEN_WORD = f'"{FORGOTTEN}"'.encode()
_OBJECT_START = lazily(r'\{\s*"')
_CONFLICT_MARKER = lazily(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_UNNAMABLE = lazily("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """An unreadable line, or part of a line."""

    #: 1-based.
    line: int
    reason: str
    #: Whether a newer roamkb reads it; of a learning, what is understood counts all the same.
    is_newer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningLine:
    """A learning, and the number of its line."""

    line: int
    learning: Learning


def read_learnings(lines: Iterable[bytes], *, first: int = 1) -> Iterator[LearningLine | BadLine]:
    """Yield the learning of each line, in order; `first` is the number of the first line.

    One of a newer version is followed by a `BadLine` that says so.
    """
    for number, parsed in _json_objects(lines, first):
        if isinstance(parsed, BadLine):
            yield parsed
            continue
        learning = parse_learning(parsed)
        if learning is None:
            yield BadLine(line=number, reason="it has no content")
        else:
            yield LearningLine(line=number, learning=learning)
            if _is_newer(parsed):
                yield _newer_line(number, parsed)


def read_events(lines: Iterable[bytes], *, first: int = 1) -> Iterator[LedgerEvent | BadLine]:
    """Yield the event of each line of a ledger; one of a newer version as a `BadLine`."""
    for number, parsed in _json_objects(lines, first):
        if isinstance(parsed, BadLine):
            yield parsed
            continue
        if _is_newer(parsed):
            # what it does to a learning may be another thing by now
            yield _newer_line(number, parsed)
            continue
        event = parse_event(parsed)
        yield BadLine(line=number, reason="it is no event") if event is None else event


def parse_line(line: bytes) -> Learning | LedgerEvent | None:
    """Return what a line is that is one JSON object; None for what is neither, could be both, or is newer."""
    fields = _decode_line(line)
    if not isinstance(fields, dict) or _is_newer(fields):
        return None
    learning, event = parse_learning(fields), parse_event(fields)
    return None if learning and event else learning or event


def read_tombstones(lines: Iterable[bytes]) -> Tombstones:
    """Return the tombstones of a ledger's lines, of which the others aren't parsed."""
    events = read_events(line for line in lines if _FORGOTTEN_WORD in line)
    return tombstones_of(event for event in events if isinstance(event, LedgerEvent))


def is_tombstone(line: bytes) -> bool:
    """Say whether a line is a tombstone and nothing else."""
    if _FORGOTTEN_WORD not in line:
        return False
    parsed = list(read_events((line,)))
    # among the learnings a line is read as one
    is_statement = any(isinstance(entry, LearningLine) for entry in read_learnings((line,)))
    is_forgetting = len(parsed) == 1 and isinstance(parsed[0], LedgerEvent) and parsed[0].event == FORGOTTEN
    return is_forgetting and not is_statement


def learning_line(learning: Learning) -> bytes:
    """Return the line of `learning`, without its newline: the format's own keys first."""
    fields: dict[str, object] = {
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
        "aliases": list(learning.aliases),
        "provenance": learning.provenance,
        "origin": learning.origin,
        "kind": learning.kind.value if learning.kind else "",
        "confidence": learning.confidence,
    }
    always = ("key", "type", "content", "source", "tags", "ts", "bead")
    filled_fields = {key: value for key, value in fields.items() if key in always or value not in ("", [], None)}
    return json_line(_with_extra(filled_fields, learning.extra))


def _with_extra(fields: Mapping[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    return {**fields, **{key: value for key, value in extra.items() if key not in fields}, "v": extra.get("v", VERSION)}


def event_line(event: LedgerEvent) -> bytes:
    """Return the line of an event, without its newline."""
    fields: dict[str, object] = {"id": event.id, "ts": format_iso(event.ts), "event": event.event, "of": event.of}
    common = {"by": event.by, "agent": event.agent, "session": event.session, "task": event.task}
    fields |= {key: value for key, value in {**common, "machine": event.machine}.items() if value}
    return json_line(_with_extra(fields, event.fields))


def json_line(fields: Mapping[str, object]) -> bytes:
    """Return one JSON object as a line, without its newline."""
    try:
        return _dump_json(fields, ascii=False).encode()
    except UnicodeEncodeError:
        # half a character has no UTF-8, and JSON a way to say it
        return _dump_json(fields, ascii=True).encode()


def _dump_json(value: object, *, ascii: bool) -> str:
    try:
        return json.dumps(value, ensure_ascii=ascii, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # NaN, which some tools write, isn't JSON
        return _dump_json(json.loads(json.dumps(value), parse_constant=lambda _: None), ascii=ascii)


def redact_line(
    line: bytes,
    redact_object: Callable[[dict[str, Any]], dict[str, Any] | None],
    tells: Callable[[str], bool],
) -> bytes:
    """Return a line without its newline, each object in it as `redact_object` gives it; None takes it out.

    What that doesn't change stays byte for byte, a torn part too, unless `tells` says that it has to go.
    """
    plain = line.strip(_LINE_BLANKS)
    parsed = _decode_line(plain) if plain and len(line) <= LONGEST_LINE else None
    if isinstance(parsed, dict):
        return _redact_object(line, parsed, redact_object(parsed))
    text, parts, position = line.decode("utf-8", "surrogateescape"), [], 0
    for start, end, decoded in _object_spans(text):
        torn, whole = text[position:start], text[start:end].encode("utf-8", "surrogateescape")
        parts += ["" if tells(torn) else torn]
        parts += [_redact_object(whole, decoded, redact_object(decoded)).decode("utf-8", "surrogateescape")]
        position = end
    torn = text[position:]
    return "".join([*parts, "" if tells(torn) else torn]).encode("utf-8", "surrogateescape")


def _redact_object(line: bytes, parsed: dict[str, Any], redacted: dict[str, Any] | None) -> bytes:
    if redacted is None:
        return b""
    # of what a value changed in, the end of the line stays
    return line if redacted == parsed else json_line(redacted) + (b"\r" if line.endswith(b"\r") else b"")


# Reading

#: What stands around a line that isn't its own, a byte order mark among it.
_LINE_BLANKS: Final = b" \t\r\n\xef\xbb\xbf\0"


def _json_objects(lines: Iterable[bytes], first_number: int) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    for number, raw in enumerate(lines, start=first_number):
        if len(raw) > LONGEST_LINE:
            yield number, BadLine(line=number, reason=f"it has more than {LONGEST_LINE:,} bytes")
            continue
        line = raw.strip(_LINE_BLANKS)
        if not line:
            continue
        parsed = _decode_line(line)
        if isinstance(parsed, dict):
            yield number, parsed
            continue
        pieces = list(_glued_objects(line)) if parsed is None else []
        yield from ((number, piece) for piece in pieces)
        yield number, BadLine(line=number, reason=_line_fault(line, parsed, pieces))


def _decode_line(line: bytes) -> object:
    """Return the JSON value of `line`, unwrapped; None where it is no JSON."""
    try:
        decoded: object = line.decode("utf-8", "surrogatepass")
        for _ in range(_MOST_WRAPPINGS):
            if isinstance(decoded, str):
                decoded = _DECODER.decode(decoded)
    except (ValueError, RecursionError):
        return None
    return decoded


def _parse_integer(digits: str) -> float:
    """Return a number without a fraction; a float where Python doesn't convert so many digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_parse_integer)


def _glued_objects(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the whole objects of a broken line: a torn line has the next line glued to it."""
    for _, _, decoded in _object_spans(line.decode("utf-8", "replace")):
        if "content" in decoded or "event" in decoded:
            yield decoded


def _object_spans(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the start, the end and the value of each whole object in a broken line."""
    position = torn = 0
    while torn < _MOST_TORN and (start := _OBJECT_START.search(text, position)):
        try:
            decoded, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            torn, position = torn + 1, start.end()
            continue
        if isinstance(decoded, dict):
            yield start.start(), position, decoded


def _line_fault(line: bytes, parsed: object, pieces: list[dict[str, Any]]) -> str:
    if pieces:
        return "a part of it is torn; the rest was read"
    if _CONFLICT_MARKER.match(line.decode("utf-8", "replace")):
        return "it is a merge's conflict marker"
    return "it isn't JSON" if parsed is None else "it isn't a JSON object"


#: What `parse_learning` reads; everything else is kept as it is.
_LEARNING_KEYS = frozenset(
    "key type content source tags ts bead id agent session task category files actions aliases provenance origin "
    "kind confidence v".split()
)


def parse_learning(fields: Mapping[str, Any]) -> Learning | None:
    """Return the learning of a line's object; None where it has no content."""
    content = fields.get("content")
    if not isinstance(content, str) or not content.strip():
        return None
    type = text_field(fields, "type") or text_field(fields, "key").partition("-")[0] or "learned"
    return Learning(
        id=_parse_id(fields) or content_identity(type, content),
        key=text_field(fields, "key") or key_of(type, content),
        type=type,
        content=content,
        source=text_field(fields, "source"),
        tags=_text_list_field(fields, "tags"),
        ts=parse_timestamp(fields.get("ts")),
        # several comments of one command were once stored with all that followed
        bead=text_field(fields, "bead").partition("\n")[0].strip(),
        agent=text_field(fields, "agent"),
        session=text_field(fields, "session"),
        task=text_field(fields, "task"),
        category=text_field(fields, "category"),
        files=_text_list_field(fields, "files"),
        actions=_text_list_field(fields, "actions"),
        aliases=fitting_aliases(_text_list_field(fields, "aliases")),
        provenance=text_field(fields, "provenance"),
        origin=text_field(fields, "origin"),
        kind=_parse_kind(fields.get("kind")),
        confidence=_parse_hundredths(fields.get("confidence"), is_ours=_version_of(fields) > 0),
        # a newer line stays one wherever it is written again
        extra=_unknown_fields(fields, _LEARNING_KEYS - {"v"} if _is_newer(fields) else _LEARNING_KEYS),
    )


_EVENT_KEYS = frozenset("id ts event of by agent session task machine v".split())


def parse_event(values: Mapping[str, Any]) -> LedgerEvent | None:
    """Return the event of a line's object; None where it is none."""
    id, name = _parse_id(values), text_field(values, "event")
    if not id or not name:
        return None
    return LedgerEvent(
        id=id,
        ts=parse_timestamp(values.get("ts")),
        event=name,
        of=text_field(values, "of"),
        by=text_field(values, "by"),
        agent=text_field(values, "agent"),
        session=text_field(values, "session"),
        task=text_field(values, "task"),
        machine=text_field(values, "machine"),
        fields=_unknown_fields(values, _EVENT_KEYS),
    )


def _version_of(fields: Mapping[str, Any]) -> int:
    """Return the version of a line's form; 0 for another tool's, and for one that is no whole number from 1."""
    version = fields.get("v")
    return version if type(version) is int and version > 0 else 0


def _is_newer(fields: Mapping[str, Any]) -> bool:
    return _version_of(fields) > VERSION


def _newer_line(number: int, fields: Mapping[str, Any]) -> BadLine:
    reason = f"it has version {_version_of(fields):.6g}, and this roamkb knows {VERSION}"
    return BadLine(line=number, reason=reason, is_newer=True)


def _unknown_fields(fields: Mapping[str, Any], known_keys: Set[str]) -> dict[str, object]:
    """Return the line's fields that aren't `known_keys`."""
    return {key: value for key, value in fields.items() if key not in known_keys and not _is_deep(value, _MOST_LEVELS)}


def _is_deep(value: object, levels: int) -> bool:
    """Say whether `value` has more than so many levels."""
    if not isinstance(value, dict | list):
        return False
    return not levels or any(
        _is_deep(nested, levels - 1) for nested in (value.values() if isinstance(value, dict) else value)
    )


def _parse_id(fields: Mapping[str, Any]) -> str:
    """Return the line's own id; empty where an index can't hold it."""
    id = text_field(fields, "id")
    return "" if _UNNAMABLE.search(id) else id


def text_field(fields: Mapping[str, Any], key: str) -> str:
    """Return a field's text, or a whole number's; empty where it has neither."""
    value = fields.get(key)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _text_list_field(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(item.strip() for item in value if isinstance(item, str) and item.strip()))


def _parse_kind(value: object) -> ProjectKind | None:
    return (
        ProjectKind(value)
        if value in (ProjectKind.WORK.value, ProjectKind.UNKNOWN.value, ProjectKind.PERSONAL.value)
        else None
    )


def _parse_hundredths(value: object, *, is_ours: bool) -> int | None:
    """Return a confidence in hundredths; a value up to 1 of another tool is a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    # compared before it is multiplied or rounded: an integer may be larger than any float
    bounded = min(max(value, 0), 100)
    is_fraction = bounded <= 1 and not (is_ours and isinstance(value, int))
    return round(bounded * 100) if is_fraction else round(bounded)
