"""What was shown to whom: local records that a later outcome can refer to (docs/glossary.md)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_lines
from roamkb.secrets.detector import refuse_secrets

if TYPE_CHECKING:
    from roamkb.log.new_learning import Author

_FILE = "receipts.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One showing of learnings to one session."""

    id: str
    ts: float
    agent: str
    session: str
    task: str
    #: The ids of the learnings, the best first.
    shown: tuple[str, ...]
    #: What asked for them.
    by: str


def keep_receipt(local: Path, hand: "Author", shown: Sequence[str], *, by: str, task: str = "") -> Receipt:
    """Record in the log's local folder that `shown` was shown; return the record."""
    receipt = Receipt(
        id=hand.new_id(),
        ts=hand.ts,
        agent=hand.agent,
        session=hand.session,
        task=task,
        shown=tuple(shown),
        by=by,
    )
    told = {name: getattr(receipt, name) for name in Receipt.__slots__}
    refuse_secrets(told)
    # no knowledge is lost with it, and every question leaves one
    append_lines(local / _FILE, [json.dumps(told).encode()], mode=0o600, is_durable=False)
    return receipt


def receipts(local: Path) -> list[Receipt]:
    """Return the records that can be read, the oldest first."""
    found = []
    for line in read_lines(local / _FILE):
        try:
            told: dict[str, Any] = json.loads(line)
            found.append(Receipt(**{**told, "shown": tuple(told["shown"])}))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return found
