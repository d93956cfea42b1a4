"""Redaction: the bytes of a log's files without what was forgotten, and without what repeats its text.

A line of the log is taken out whole, and so is an event about it. Elsewhere each text that repeats it gives way to
a mark. All other lines stay byte for byte, torn ones and their line ends among them.
"""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from typing import Final
from typing import NamedTuple

from roamkb.core.startup.dataclasses import dataclass
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import REDACTED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones

#: Letters of a text that isn't looked for within others: too many would hold it.
_SHORTEST_TEXT: Final = 8
#: Letters of a key that is more than a type and a word.
_SHORTEST_KEY: Final = 16
#: Letters by which a torn line is known to have begun with a text.
_TORN_START: Final = 32


class RedactedBytes(NamedTuple):
    """Bytes without what was forgotten, and the number of lines in which they differ."""

    data: bytes
    lines: int


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """What is taken out: learnings by id and digest, and their texts wherever they are repeated."""

    tombstones: Tombstones
    texts: tuple[str, ...]

    def redact_learnings(self, data: bytes) -> RedactedBytes:
        """Return a log or an archive without the forgotten lines."""
        return self._redact_lines(data, self._redact_learning)

    def redact_ledger(self, data: bytes) -> RedactedBytes:
        """Return a ledger without the events about it; the tombstones stay."""
        return self._redact_lines(data, self._redact_event)

    def redact_records(self, data: bytes) -> RedactedBytes:
        """Return lines of other JSON objects, such as observations, without its texts."""
        return self._redact_lines(data, self._redact_object)

    def tells(self, text: str) -> bool:
        """Say whether a text repeats one of those, whatever its blanks and capitals."""
        folded = _fold(text)
        return folded in self._short_forms or any(form in folded for form in self._forms)

    def is_in_bytes(self, data: bytes) -> bool:
        """Say whether a database's bytes hold one of the ids, or the beginning of a text."""
        ids = (id.encode("utf-8", "surrogatepass") for id in self.tombstones.ids)
        return any(id in data for id in ids) or self._begins_to_tell(data.decode("utf-8", "replace"))

    def _redact_lines(
        self, data: bytes, redact_object: Callable[[dict[str, Any]], dict[str, Any] | None]
    ) -> RedactedBytes:
        lines = data.split(b"\n")
        kept_parts: list[bytes] = []
        changed_count = 0
        for number, line in enumerate(lines, start=1):
            redacted = jsonl.redact_line(line, redact_object, self._begins_to_tell)
            changed_count += redacted != line
            if redacted == line or redacted.strip():
                kept_parts += [redacted, b"\n" if number < len(lines) else b""]
        return RedactedBytes(b"".join(kept_parts), changed_count)

    def _redact_learning(self, fields: dict[str, Any]) -> dict[str, Any] | None:
        learning = jsonl.parse_learning(fields)
        return None if learning is not None and self.tombstones.covers(learning) else fields

    def _redact_event(self, fields: dict[str, Any]) -> dict[str, Any] | None:
        event = jsonl.parse_event(fields)
        if event is not None and event.event == FORGOTTEN:
            return fields
        return None if event is not None and self.tombstones.covers_event(event) else self._redact_object(fields)

    def _redact_object(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._redact_value(value) for name, value in fields.items()}

    def _redact_value(self, value: object) -> object:
        match value:
            case str():
                return REDACTED if self.tells(value) else value
            case list():
                return [self._redact_value(item) for item in value]
            case dict():
                return self._redact_object(value)
            case _:
                return value

    def _begins_to_tell(self, text: str) -> bool:
        """Say whether a broken line's part repeats a text, or was torn in the middle of one."""
        return self.tells(text) or any(start in _fold(text) for start in self._torn_starts)

    @cached_property
    def _forms(self) -> frozenset[str]:
        """The texts as they stand in files, those that aren't too short to be looked for."""
        return frozenset(form for form in self._all_forms if len(form) >= _SHORTEST_TEXT)

    @cached_property
    def _short_forms(self) -> frozenset[str]:
        return self._all_forms - self._forms

    @cached_property
    def _all_forms(self) -> frozenset[str]:
        written = (form for text in self.texts for form in _written_forms(text))
        return frozenset(folded for form in written if (folded := _fold(form)))

    @cached_property
    def _torn_starts(self) -> frozenset[str]:
        return frozenset(form[:_TORN_START] for form in self._forms if len(form) > _TORN_START)


def redaction_of(tombstones: Tombstones, learnings: Iterable[Learning], events: Iterable[LedgerEvent]) -> Redaction:
    """Return the redaction of the forgotten ones among `learnings`; `events` may quote them."""
    texts: dict[str, None] = {}
    for learning in learnings:
        if tombstones.covers(learning):
            texts |= dict.fromkeys((learning.content, learning.statement))
            if len(learning.key) >= _SHORTEST_KEY:
                texts[learning.key] = None
    for event in events:
        evidence = event.fields.get("evidence")
        quote = evidence.get("quote") if isinstance(evidence, Mapping) else None
        if tombstones.covers_event(event) and isinstance(quote, str):
            texts[quote] = None
    return Redaction(tombstones=tombstones, texts=tuple(texts))


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _written_forms(text: str) -> Iterator[str]:
    """Yield a text as it is, and as JSON has it with and without ASCII alone."""
    yield text
    for is_ascii in (True, False):
        yield json.dumps(text, ensure_ascii=is_ascii)[1:-1]
