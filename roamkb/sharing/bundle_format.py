"""The bundle format: one file of learnings for another project, with a digest that proves it is whole.

The first line is the header; every other one is a line of a log, with what the learning counted
where it comes from under `standing`. Whoever reads it believes none of that (D7): the digest tells
damage, not lies.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.timestamps import TimeOrNull
from roamkb.core.timestamps import format_iso
from roamkb.core.timestamps import parse_timestamp
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import content_identity
from roamkb.log.learning import key_of
from roamkb.log.new_learning import MOST_LEARNING_BYTES
from roamkb.log.state.confidence import UNSTATED
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LearningState

BUNDLE_SCHEMA: Final = 1
#: A log that is rotated a hundred times has fewer lines; a larger file is no bundle of ours.
MAX_BUNDLE_BYTES: Final = 64 * 1024 * 1024
_MAX_LINES: Final = 100_000
#: The largest learning, quoted twice over, with what is beside it.
_MAX_LINE_BYTES: Final = 4 * MOST_LEARNING_BYTES
_MAX_NAME_LENGTH: Final = 200
_MAX_TYPE_LENGTH: Final = 40
_MAX_NAMES: Final = 32
#: How much of the digest an origin shows.
_DIGEST_PREFIX: Final = 12
#: What of a line's less common keys is taken over, where it is text.
_KEPT_KEYS: Final = ("said", "execution", "context", "template", "only_for")
_STANDING_KEY: Final = "standing"

_SHA256_DIGEST = lazily(r"[0-9a-f]{64}")
#: As we and other tools make ids; a key would stand in for another's.
_LEARNING_ID = lazily(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{64}")
_LEARNING_KEY = lazily(r"[\w.:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleHeader:
    """The fields of a bundle's first line."""

    #: Its folder's name.
    project: str
    #: The strictest kind of all that is in it; unknown where it doesn't say.
    kind: ProjectKind
    #: Seconds since 1970, UTC.
    created: TimeOrNull
    #: Of the lines that follow.
    count: int
    #: Of the bytes that follow.
    sha256: str


def learning_rows(learnings: Iterable[Learning]) -> list[Mapping[str, object]]:
    """Return the learnings of a bundle as JSON objects."""
    return [
        {
            "id": learning.id,
            "key": learning.key,
            "type": learning.type,
            "content": learning.content,
            "confidence": as_fraction(learning.confidence or 0),
            "history": history if isinstance(history := learning.extra.get("history"), dict) else {},
        }
        for learning in learnings
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that arrived whole."""

    header: BundleHeader
    #: What its lines say, as a log may take it: nothing of it is verified.
    said: tuple[LearningLine, ...]
    invalid: tuple[BadLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBundle:
    """Bytes that are no bundle, or a damaged one."""

    #: One clause.
    reason: str


# Writing


def bundle_line(standing: LearningState) -> bytes:
    """Return the line of a learning, with its present standing, without its newline."""
    learning = standing.learning
    event_counts = Counter(step.event.event for step in standing.history)
    extra = {key: value for key, value in learning.extra.items() if key in _KEPT_KEYS}
    extra[_STANDING_KEY] = {
        "confidence": standing.confidence,
        "occurrences": standing.occurrences,
        "verdict": standing.verdict,
        "status": standing.status,
        "outcomes": dict(sorted(standing.outcomes.items())),
        "events": dict(sorted(event_counts.items())),
        "last_used": format_iso(standing.last_used) if standing.last_used else "",
    }
    # a session's id means nothing elsewhere
    return learning_line(replace(learning, session="", extra=extra))


def render_bundle(
    lines: Iterable[bytes], *, project: str, kind: ProjectKind, created: float
) -> tuple[bytes, BundleHeader]:
    """Return the whole file and its header."""
    body = b"".join(line + b"\n" for line in lines)
    header = BundleHeader(
        project=project,
        kind=kind,
        created=created,
        count=body.count(b"\n"),
        sha256=hashlib.sha256(body).hexdigest(),
    )
    header_fields = {
        "bundle": "roamkb",
        "schema": BUNDLE_SCHEMA,
        "project": header.project,
        "kind": header.kind.value,
        "created": format_iso(header.created),
        "count": header.count,
        "sha256": header.sha256,
    }
    return json.dumps(header_fields, separators=(",", ":")).encode() + b"\n" + body, header


# Reading


def parse_bundle(data: bytes) -> Bundle | NoBundle:
    """Return the bundle in `data`, or the reason why it is none; any bytes are accepted."""
    first_line, _, body = data.partition(b"\n")
    header = _parse_header(first_line)
    if isinstance(header, NoBundle):
        return header
    if hashlib.sha256(body).hexdigest() != header.sha256:
        return NoBundle(reason="isn't what was bundled: its digest differs")
    lines = body.split(b"\n")
    if lines.pop() or len(lines) != header.count:
        return NoBundle(reason=f"doesn't have the {header.count:,} lines that it names")
    if header.count > _MAX_LINES:
        return NoBundle(reason=f"has more than {_MAX_LINES:,} lines")
    learning_lines, invalid = [], []
    for parsed_line in _parse_statements(lines, header):
        if isinstance(parsed_line, BadLine):
            invalid.append(parsed_line)
        else:
            learning_lines.append(parsed_line)
    return Bundle(header=header, said=tuple(learning_lines), invalid=tuple(invalid))


def _parse_header(line: bytes) -> BundleHeader | NoBundle:
    try:
        header_fields = json.loads(line) if len(line) <= _MAX_LINE_BYTES else None
    except (ValueError, RecursionError):
        header_fields = None
    if not isinstance(header_fields, dict) or header_fields.get("bundle") != "roamkb":
        return NoBundle(reason="is no bundle")
    if _read_number(header_fields, "schema") != BUNDLE_SCHEMA:
        return NoBundle(reason=f"has a form that this roamkb doesn't read (it reads {BUNDLE_SCHEMA})")
    sha256, count = header_fields.get("sha256"), _read_number(header_fields, "count")
    if not isinstance(sha256, str) or not _SHA256_DIGEST.fullmatch(sha256) or count is None or count < 0:
        return NoBundle(reason="has no digest or no count in its first line")
    kind = header_fields.get("kind")
    return BundleHeader(
        project=_read_name(header_fields, "project"),
        kind=next((project_kind for project_kind in ProjectKind if project_kind.value == kind), ProjectKind.UNKNOWN),
        created=parse_timestamp(header_fields.get("created")),
        count=count,
        sha256=sha256,
    )


def _parse_statements(lines: list[bytes], header: BundleHeader) -> Iterator[LearningLine | BadLine]:
    """Yield the learning of each line, with its line number in the file."""
    for number, line in enumerate(lines, start=2):
        if len(line) > _MAX_LINE_BYTES:
            yield BadLine(line=number, reason=f"it has more than {_MAX_LINE_BYTES:,} bytes")
            continue
        parsed_lines = [*read_learnings((line,), first=number)]
        if not parsed_lines:
            yield BadLine(line=number, reason="it is empty")
        for parsed_line in parsed_lines:
            yield parsed_line if isinstance(parsed_line, BadLine) else _fit_learning(parsed_line, header)


def _fit_learning(foreign_line: LearningLine, header: BundleHeader) -> LearningLine | BadLine:
    """Return a foreign learning as a log may take it: bounded, and with no standing of its own.

    All of it follows from the bundle alone, so that two machines that import it make the same line.
    """
    learning = foreign_line.learning
    learning_type = canonical_type(learning.type)
    if not learning_type or len(learning_type) > _MAX_TYPE_LENGTH:
        return BadLine(line=foreign_line.line, reason="it has no type")
    if len(learning.content.encode("utf-8", "surrogatepass")) > MOST_LEARNING_BYTES:
        return BadLine(line=foreign_line.line, reason=f"its content has more than {MOST_LEARNING_BYTES:,} bytes")
    key = learning.key
    if not _LEARNING_KEY.fullmatch(key) or len(key) > _MAX_NAME_LENGTH:
        key = key_of(learning_type, learning.content)
    foreign_standing = learning.extra.get(_STANDING_KEY)
    history = _remembered_history(foreign_standing if isinstance(foreign_standing, dict) else {}, header)
    return LearningLine(
        line=foreign_line.line,
        learning=replace(
            learning,
            id=learning.id
            if _LEARNING_ID.fullmatch(learning.id)
            else content_identity(learning_type, learning.content),
            key=key,
            type=learning_type,
            source=_bounded_text(learning.source),
            tags=_bounded_names((learning_type, *learning.tags)),
            bead=_bounded_text(learning.bead),
            agent=_bounded_text(learning.agent),
            session="",
            task=_bounded_text(learning.task),
            category=_bounded_text(learning.category),
            files=_bounded_names(learning.files),
            actions=_bounded_names(learning.actions),
            aliases=_bounded_names(learning.aliases),
            provenance="external",
            origin=f"bundle:{header.sha256[:_DIGEST_PREFIX]}:{key}",
            kind=min(header.kind, learning.kind or header.kind, key=list(ProjectKind).index),
            # less than it was sure of there, and never more than what nobody vouches for
            confidence=min(history["confidence"], UNSTATED),
            extra={**_kept_extra(learning.extra), "history": history},
        ),
    )


def _remembered_history(foreign_standing: Mapping[str, Any], header: BundleHeader) -> dict[str, Any]:
    """Return a learning's standing in its origin: recorded, not believed."""
    confidence, occurrences = (
        _read_number(foreign_standing, "confidence"),
        _read_number(foreign_standing, "occurrences"),
    )
    return {
        "project": header.project,
        "verdict": _read_name(foreign_standing, "verdict"),
        "status": _read_name(foreign_standing, "status"),
        "confidence": UNSTATED if confidence is None else min(max(confidence, 0), 100),
        "occurrences": 1 if occurrences is None else min(max(occurrences, 1), 1_000_000),
        "outcomes": _read_counts(foreign_standing.get("outcomes")),
        "events": _read_counts(foreign_standing.get("events")),
    }


def _kept_extra(foreign_extra: Mapping[str, object]) -> dict[str, object]:
    """Return the less common keys of a line that are kept; a status or a scope is for this log to give."""
    pairs = ((key, foreign_extra.get(key)) for key in _KEPT_KEYS)
    return {key: text for key, text in pairs if isinstance(text, str) and len(text) <= MOST_LEARNING_BYTES}


def _read_number(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_name(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return _bounded_text(value) if isinstance(value, str) else ""


def _read_counts(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    pairs = ((_bounded_text(name), _read_number(value, name)) for name in list(value)[:_MAX_NAMES])
    return {name: min(max(count, 0), 1_000_000) for name, count in pairs if count is not None}


def _bounded_names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_bounded_text(text) for text in texts))[:_MAX_NAMES]


def _bounded_text(text: str) -> str:
    return text[:_MAX_NAME_LENGTH]
