"""Record of what hooks weighed at each prompt: what was offered, what nearly was, and why not.

It lies in the log's local folder and holds ids, bits and the digest of the prompt, never a text. The newest are
kept: a file that is full becomes the old one, and the one before that goes.
"""

import json
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.context.suggestions import WeighedAnswer
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Final
from roamkb.core.timestamps import parse_timestamp
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_lines
from roamkb.fs.files import as_disk_error
from roamkb.fs.untrusted_files import rename_file

_RECORD_FILE: Final = "suggestions.jsonl"
_OLD_RECORD_FILE: Final = "suggestions.old.jsonl"
#: Some three thousand prompts.
_MAX_BYTES: Final = 1024 * 1024
#: Hexadecimal digits of a prompt's SHA-256.
_DIGEST_LENGTH: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionRecord:
    """What was weighed on one occasion."""

    #: In seconds since 1970.
    ts: float
    session: str
    #: What asked: prompt, subagent.
    by: str
    #: Digest of the prompt.
    prompt: str
    answers: tuple[WeighedAnswer, ...]


def prompt_digest(prompt: str) -> str:
    """Return the first 16 hexadecimal digits of a prompt's SHA-256."""
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def save_suggestion_record(local: Path, record: SuggestionRecord) -> None:
    """Append a record in the log's local folder, without waiting for the disk.

    Raises:
        DiskError: it can't be kept.
    """
    path = local / _RECORD_FILE
    line = json.dumps(
        {
            "ts": record.ts,
            "session": record.session,
            "by": record.by,
            "prompt": record.prompt,
            "answers": [
                [answer.id, round(answer.bits, 2), round(answer.least_bits, 2), answer.dropped]
                for answer in record.answers
            ],
        }
    )
    with as_disk_error(path):
        if path.exists() and path.stat().st_size > _MAX_BYTES:
            rename_file(path, _OLD_RECORD_FILE)
    append_lines(path, [line.encode()], mode=0o600, is_durable=False)


def read_suggestion_records(local: Path) -> Sequence[SuggestionRecord]:
    """Return the records that can be read, the oldest first."""
    records = []
    for name in (_OLD_RECORD_FILE, _RECORD_FILE):
        for line in read_lines(local / name):
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                records.append(_parse_record(json.loads(line)))
    return records


def _parse_record(record: Mapping[str, Any]) -> SuggestionRecord:
    return SuggestionRecord(
        ts=parse_timestamp(record["ts"]),
        session=str(record["session"]),
        by=str(record["by"]),
        prompt=str(record["prompt"]),
        answers=tuple(
            WeighedAnswer(id=str(id), bits=float(bits), least_bits=float(least), dropped=str(dropped))
            for id, bits, least, dropped in record["answers"]
        ),
    )
