"""Learning states and events as rows of our cache, read several times as fast as the log's lines.

No format to keep: `log/store/cache/state_cache` makes all rows anew where this, or what gives standings, is
another.
"""

import json
import zlib
from collections import deque
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import partial
from itertools import islice
from operator import attrgetter

from roamkb.core.model import ProjectKind
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Final
from roamkb.log.learning import Learning
from roamkb.log.state.deferred import DeferredList
from roamkb.log.state.deferred import DeferredSet
from roamkb.log.state.initial_state import initial_state
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent

_LEARNING_FIELDS: Final = (
    "id key type content source tags ts bead agent session task category files actions aliases provenance origin "
    "kind confidence is_adopted extra"
).split()
_LEARNING_VALUES: Final = attrgetter(*_LEARNING_FIELDS)
_EVENT_FIELDS: Final = "id ts event of by agent session task machine is_adopted fields".split()
_EVENT_VALUES: Final = attrgetter(*_EVENT_FIELDS)
#: What events may have made of a learning, but for the sets and the history.
_STANDING_FIELDS: Final = (
    "confidence occurrences status verdict scope is_pinned is_overridden flags superseded_by supersedes "
    "merged_from review_reason node outcomes last_used"
).split()
_STANDING_VALUES: Final = attrgetter(*_STANDING_FIELDS)
#: Those that are tuples, which JSON has as lists.
_TUPLE_FIELDS: Final = ("supersedes", "merged_from")

_ROWS_AT_ONCE: Final = 256
#: Parts what most ask for, what has moved the confidence, and the history; JSON escapes any within.
_PARTING: Final = b"\n"

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def _encode_row(value: object) -> bytes:
    # half characters as they are: of two that are escaped, JSON makes one
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def _decode_rows(rows: Iterable[bytes]) -> Iterator[Any]:
    remaining = iter(rows)
    # one text for many takes a third of the time, and one for all of them most of the memory
    while some := list(islice(remaining, _ROWS_AT_ONCE)):
        yield from json.loads((b"[" + b",".join(some) + b"]").decode("utf-8", "surrogatepass"))


def standing_row(standing: LearningState) -> bytes:
    """Return a learning state as the row that `read_standings` reads."""
    learning_values = _LEARNING_VALUES(standing.learning)
    if not (standing.history or standing.tasks):
        # nothing has happened to it
        return _encode_row((learning_values, standing.is_archived))
    steps = _encode_row([(_EVENT_VALUES(step.event), step.before, step.after) for step in standing.history])
    deferred = _encode_row(sorted(standing.counted_sources)) + _PARTING + steps
    sets = [sorted(standing.preferred_by), sorted(standing.tasks)]
    values = (learning_values, standing.is_archived, _STANDING_VALUES(standing), sets, zlib.crc32(deferred))
    return _encode_row(values) + _PARTING + deferred


def read_standings(rows: Iterable[bytes]) -> list[LearningState]:
    """Return the standings that `standing_row` wrote.

    Raises:
        ValueError, TypeError, RecursionError: it wrote none like that.
    """
    deferred: deque[bytes] = deque()
    return [_build_standing(values, deferred.popleft()) for values in _decode_rows(_part_rows(rows, deferred))]


def _part_rows(rows: Iterable[bytes], deferred: deque[bytes]) -> Iterator[bytes]:
    """Yield the first part of each row, and add the rest to `deferred`."""
    for row in rows:
        values, _, rest = row.partition(_PARTING)
        deferred.append(rest)
        yield values


def _build_standing(row_values: Sequence[Any], deferred: bytes) -> LearningState:
    learning_values, is_archived, *rest = row_values
    learning = _build_learning(learning_values)
    if not rest:
        return initial_state(learning, is_archived=is_archived)
    values, (preferred_by, tasks), checksum = rest
    if checksum != zlib.crc32(deferred):
        # said now, while who reads can still take the lines instead
        raise ValueError(deferred[:40])
    field_values: dict[str, Any] = dict(zip(_STANDING_FIELDS, values, strict=True))
    for name in _TUPLE_FIELDS:
        field_values[name] = tuple(field_values[name])
    return LearningState(
        learning=learning,
        is_archived=is_archived,
        preferred_by=set(preferred_by),
        tasks=set(tasks),
        counted_sources=DeferredSet(partial(_read_sources, deferred)),
        history=DeferredList(partial(_read_history, deferred)),
        **field_values,
    )


def _read_sources(deferred: bytes) -> set[tuple[str, ...]]:
    return set(map(tuple, json.loads(deferred.split(_PARTING)[0].decode("utf-8", "surrogatepass"))))


def _read_history(deferred: bytes) -> list[ConfidenceStep]:
    return [
        ConfidenceStep(event=_build_event(event), before=before, after=after)
        for event, before, after in json.loads(deferred.split(_PARTING)[1].decode("utf-8", "surrogatepass"))
    ]


def event_row(event: LedgerEvent) -> bytes:
    """Return an event as the row that `read_events` reads."""
    return _encode_row(_EVENT_VALUES(event))


def read_events(rows: Iterable[bytes]) -> list[LedgerEvent]:
    """Return the events that `event_row` wrote; raises as `read_standings` does."""
    return [_build_event(row_values) for row_values in _decode_rows(rows)]


def _build_learning(values: Sequence[Any]) -> Learning:
    fields: dict[str, Any] = dict(zip(_LEARNING_FIELDS, values, strict=True))
    for name in ("tags", "files", "actions", "aliases"):
        fields[name] = tuple(fields[name])
    if fields["kind"] is not None:
        fields["kind"] = ProjectKind(fields["kind"])
    return Learning(**fields)


def _build_event(values: Sequence[Any]) -> LedgerEvent:
    return LedgerEvent(**dict(zip(_EVENT_FIELDS, values, strict=True)))
