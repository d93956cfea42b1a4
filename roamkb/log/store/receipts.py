"""Receipts of shown learnings: local records that a later outcome can refer to (docs/glossary.md)."""

import json
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.typing import Any
from roamkb.core.timestamps import parse_timestamp
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.log import new_learning
from roamkb.secrets import detector

_RECEIPTS_FILE = "receipts.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A record that learnings were shown to a session."""

    id: str
    ts: float
    agent: str
    session: str
    task: str
    #: The ids of the learnings, the best first.
    shown: tuple[str, ...]
    #: What asked for them.
    by: str
    #: Git's name of the worktree that the session works in; empty for the main checkout.
    worktree: str = ""


def save_receipt(
    local: Path,
    author: "new_learning.Author",
    learning_ids: Sequence[str],
    *,
    requested_by: str,
    task: str = "",
    worktree: str = "",
) -> Receipt:
    """Record in the log's local folder that learnings were shown; return the record."""
    receipt = Receipt(
        id=author.new_id(),
        ts=author.ts,
        agent=author.agent,
        session=author.session,
        task=task,
        shown=tuple(learning_ids),
        by=requested_by,
        worktree=worktree,
    )
    record = {name: getattr(receipt, name) for name in Receipt.__slots__}
    detector.refuse_secrets(record)
    # no knowledge is lost with it, and every question leaves one
    append_lines(local / _RECEIPTS_FILE, [json.dumps(record).encode()], mode=0o600, is_durable=False)
    return receipt


def read_receipts(local: Path, *, naming: str = "") -> list[Receipt]:
    """Return the records that can be read, the oldest first; of those not `naming` a session or a learning some."""
    parsed = []
    data = read_bytes(local / _RECEIPTS_FILE)
    for line in _lines_with(data, json.dumps(naming).encode()) if naming else data.split(b"\n"):
        try:
            record: dict[str, Any] = json.loads(line)
            known = {name: value for name, value in record.items() if name in Receipt.__slots__}
            fields = {**known, "ts": parse_timestamp(record["ts"]), "shown": tuple(record["shown"])}
            parsed.append(Receipt(**fields))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return parsed


def _lines_with(data: bytes, part: bytes) -> Iterator[bytes]:
    """Yield the lines that hold `part`: of a year's receipts a few."""
    position = data.find(part)
    while position >= 0:
        start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
        yield data[start : end if end >= 0 else None]
        position = data.find(part, end) if end >= 0 else -1
