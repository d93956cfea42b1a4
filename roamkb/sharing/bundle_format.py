"""A bundle: one file that takes learnings to another project, and the digest that says it arrived whole.

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
from roamkb.core.timestamps import iso
from roamkb.core.timestamps import seconds
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import identity
from roamkb.log.learning import key_of
from roamkb.log.new_learning import MOST_BYTES
from roamkb.log.state.confidence import UNSAID
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LearningState

SCHEMA: Final = 1
#: A log that is rotated a hundred times has fewer lines; a larger file is no bundle of ours.
MOST_FILE: Final = 64 * 1024 * 1024
_MOST_LINES: Final = 100_000
#: The largest learning, quoted twice over, with what is beside it.
_MOST_LINE: Final = 4 * MOST_BYTES
_LONGEST_NAME: Final = 200
_LONGEST_TYPE: Final = 40
_MOST_NAMES: Final = 32
#: How much of the digest an origin shows.
_PREFIX: Final = 12
#: What of a line's less common keys is taken over, where it is text.
_TAKEN: Final = ("said", "execution", "context", "template", "only_for")
_STANDING: Final = "standing"

_SHA256 = lazily(r"[0-9a-f]{64}")
#: As we and other tools make ids; a key would stand in for another's.
_ID = lazily(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{64}")
_KEY = lazily(r"[\w.:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleHeader:
    """What a bundle's first line says of it."""

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


def offered(learnings: Iterable[Learning]) -> list[Mapping[str, object]]:
    """Return what a bundle says of its learnings."""
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
    """Bytes that are no bundle, or not the one that was made."""

    #: One clause.
    reason: str


# Writing


def bundle_line(standing: LearningState) -> bytes:
    """Return the line of a learning, with what it counts today, without its newline."""
    learning = standing.learning
    happened = Counter(step.event.event for step in standing.history)
    extra = {key: value for key, value in learning.extra.items() if key in _TAKEN}
    extra[_STANDING] = {
        "confidence": standing.confidence,
        "occurrences": standing.occurrences,
        "verdict": standing.verdict,
        "status": standing.status,
        "outcomes": dict(sorted(standing.outcomes.items())),
        "events": dict(sorted(happened.items())),
        "last_used": iso(standing.last_used) if standing.last_used else "",
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
    told = {
        "bundle": "roamkb",
        "schema": SCHEMA,
        "project": header.project,
        "kind": header.kind.value,
        "created": iso(header.created),
        "count": header.count,
        "sha256": header.sha256,
    }
    return json.dumps(told, separators=(",", ":")).encode() + b"\n" + body, header


# Reading


def parse_bundle(data: bytes) -> Bundle | NoBundle:
    """Return the bundle that `data` is, or why it is none; whatever the bytes are."""
    first, _, body = data.partition(b"\n")
    header = _header(first)
    if isinstance(header, NoBundle):
        return header
    if hashlib.sha256(body).hexdigest() != header.sha256:
        return NoBundle(reason="isn't what was bundled: its digest differs")
    lines = body.split(b"\n")
    if lines.pop() or len(lines) != header.count:
        return NoBundle(reason=f"doesn't have the {header.count:,} lines that it names")
    if header.count > _MOST_LINES:
        return NoBundle(reason=f"has more than {_MOST_LINES:,} lines")
    said, invalid = [], []
    for found in _statements(lines, header):
        if isinstance(found, BadLine):
            invalid.append(found)
        else:
            said.append(found)
    return Bundle(header=header, said=tuple(said), invalid=tuple(invalid))


def _header(line: bytes) -> BundleHeader | NoBundle:
    try:
        told = json.loads(line) if len(line) <= _MOST_LINE else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or told.get("bundle") != "roamkb":
        return NoBundle(reason="is no bundle")
    if _number(told, "schema") != SCHEMA:
        return NoBundle(reason=f"has a form that this roamkb doesn't read (it reads {SCHEMA})")
    sha256, count = told.get("sha256"), _number(told, "count")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or count is None or count < 0:
        return NoBundle(reason="has no digest or no count in its first line")
    kind = told.get("kind")
    return BundleHeader(
        project=_name(told, "project"),
        kind=next((one for one in ProjectKind if one.value == kind), ProjectKind.UNKNOWN),
        created=seconds(told.get("created")),
        count=count,
        sha256=sha256,
    )


def _statements(lines: list[bytes], header: BundleHeader) -> Iterator[LearningLine | BadLine]:
    """Yield what each line says; its number is that in the file."""
    for number, line in enumerate(lines, start=2):
        if len(line) > _MOST_LINE:
            yield BadLine(line=number, reason=f"it has more than {_MOST_LINE:,} bytes")
            continue
        found = [*read_learnings((line,), first=number)]
        if not found:
            yield BadLine(line=number, reason="it is empty")
        for one in found:
            yield one if isinstance(one, BadLine) else _fitted(one, header)


def _fitted(said: LearningLine, header: BundleHeader) -> LearningLine | BadLine:
    """Return a stranger's learning as a log may take it: bounded, and with no standing of its own.

    All of it follows from the bundle alone, so that two machines that import it make the same line.
    """
    learning = said.learning
    type = canonical_type(learning.type)
    if not type or len(type) > _LONGEST_TYPE:
        return BadLine(line=said.line, reason="it has no type")
    if len(learning.content.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return BadLine(line=said.line, reason=f"its content has more than {MOST_BYTES:,} bytes")
    key = learning.key
    if not _KEY.fullmatch(key) or len(key) > _LONGEST_NAME:
        key = key_of(type, learning.content)
    theirs = learning.extra.get(_STANDING)
    history = _history(theirs if isinstance(theirs, dict) else {}, header)
    return LearningLine(
        line=said.line,
        learning=replace(
            learning,
            id=learning.id if _ID.fullmatch(learning.id) else identity(type, learning.content),
            key=key,
            type=type,
            source=_short(learning.source),
            tags=_names((type, *learning.tags)),
            bead=_short(learning.bead),
            agent=_short(learning.agent),
            session="",
            task=_short(learning.task),
            category=_short(learning.category),
            files=_names(learning.files),
            actions=_names(learning.actions),
            provenance="external",
            origin=f"bundle:{header.sha256[:_PREFIX]}:{key}",
            kind=_strictest(header.kind, learning.kind),
            # less than it was sure of there, and never more than what nobody vouches for
            confidence=min(history["confidence"], UNSAID),
            extra={**_extra(learning.extra), "history": history},
        ),
    )


def _history(theirs: Mapping[str, Any], header: BundleHeader) -> dict[str, Any]:
    """Return what a learning counted where it comes from: remembered, not believed."""
    confidence, occurrences = _number(theirs, "confidence"), _number(theirs, "occurrences")
    return {
        "project": header.project,
        "verdict": _name(theirs, "verdict"),
        "status": _name(theirs, "status"),
        "confidence": UNSAID if confidence is None else min(max(confidence, 0), 100),
        "occurrences": 1 if occurrences is None else min(max(occurrences, 1), 1_000_000),
        "outcomes": _counts(theirs.get("outcomes")),
        "events": _counts(theirs.get("events")),
    }


def _extra(theirs: Mapping[str, object]) -> dict[str, object]:
    """Return what else a line may say; a status or a scope is for this log to give."""
    found = ((key, theirs.get(key)) for key in _TAKEN)
    return {key: text for key, text in found if isinstance(text, str) and len(text) <= MOST_BYTES}


def _strictest(one: ProjectKind, other: ProjectKind | None) -> ProjectKind:
    return min(one, other or one, key=list(ProjectKind).index)


def _number(told: Mapping[str, Any], name: str) -> int | None:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return _short(value) if isinstance(value, str) else ""


def _counts(told: object) -> dict[str, int]:
    if not isinstance(told, dict):
        return {}
    found = ((_short(name), _number(told, name)) for name in list(told)[:_MOST_NAMES])
    return {name: min(max(count, 0), 1_000_000) for name, count in found if count is not None}


def _names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_short(text) for text in texts))[:_MOST_NAMES]


def _short(text: str) -> str:
    return text[:_LONGEST_NAME]
