"""Entries of other systems' databases and JSON documents, as the log's lines say them.

Three are known by their shapes: Oro's table of memories, document 004's tables, and a bundle of Day1's. What
such a system says of its own checks is left out: here nothing is verified that wasn't verified here.
"""

import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from roamkb.log.jsonl import text_field
from roamkb.log.learning import key_of

#: The tables that are read, and the columns that each of them has in whatever version.
KNOWN_TABLES: Final[Mapping[str, frozenset[str]]] = {
    "memories": frozenset(("content", "type", "tags", "confidence", "created_at")),
    "knowledge_entries": frozenset(("id", "content", "type", "confidence")),
    "error_recovery_strategies": frozenset(("error_pattern", "recovery_technique")),
}
#: How Oro says that a human's log told it.
_IMPORT_PREFIX: Final = "knowledge_import:"
_HUMAN_SOURCES: Final = frozenset(("user", "human", "user_stated", "user-stated"))
#: Day1's categories that are types here; it calls everything a fact.
_TYPES: Final = frozenset(("decision", "pattern"))


def entries_of_document(document: object) -> list[dict[str, object]] | None:
    """Return the entries of a JSON document; None where its shape isn't known."""
    if isinstance(document, list):
        entries = [entry for entry in document if isinstance(entry, dict) and isinstance(entry.get("content"), str)]
        return entries if entries and len(entries) == len(document) else None
    if not isinstance(document, dict):
        return None
    # as it is exported, or what of it was kept
    bundle = document.get("bundle_data", document)
    facts = bundle.get("facts") if isinstance(bundle, dict) else None
    if not isinstance(facts, list):
        return None
    return [_day1_entry(fact) for fact in facts if isinstance(fact, dict)]


def entries_of_table(table: str, rows: Iterable[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    """Yield the entries of a table of `KNOWN_TABLES`."""
    match table:
        case "memories":
            yield from map(_oro_entry, rows)
        case "knowledge_entries":
            yield from _document_004_entries(list(rows))
        case _:
            yield from map(_strategy_entry, rows)


def _day1_entry(fact: Mapping[str, object]) -> dict[str, object]:
    category = text_field(fact, "category")
    type, content = category if category in _TYPES else "fact", text_field(fact, "fact_text")
    source = text_field(fact, "source_type")
    return _foreign_entry(
        type,
        content,
        category=category,
        confidence=fact.get("confidence"),
        source=source,
        provenance="user-stated" if source in _HUMAN_SOURCES else "observed",
        ts=fact.get("created_at"),
    )


def _oro_entry(row: Mapping[str, object]) -> dict[str, object]:
    source = text_field(row, "source")
    return _foreign_entry(
        text_field(row, "type"),
        text_field(row, "content"),
        key=source.removeprefix(_IMPORT_PREFIX) if source.startswith(_IMPORT_PREFIX) else "",
        tags=_column_list(row, "tags"),
        bead=text_field(row, "bead_id"),
        agent=text_field(row, "worker_id"),
        files=_column_list(row, "files_modified"),
        confidence=row.get("confidence"),
        source=source,
        provenance="user-stated" if source.startswith(_IMPORT_PREFIX) else "observed",
        ts=row.get("created_at"),
    )


def _document_004_entries(rows: list[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    keys = {text_field(row, "id"): key_of(text_field(row, "type"), text_field(row, "content")) for row in rows}
    for row in rows:
        successor_id = text_field(row, "superseded_by")
        yield _foreign_entry(
            text_field(row, "type"),
            text_field(row, "content"),
            id=text_field(row, "id"),
            tags=_column_list(row, "tags"),
            files=_column_list(row, "file_patterns"),
            actions=_column_list(row, "action_types"),
            agent=text_field(row, "source_agent_id"),
            task=text_field(row, "source_task_id"),
            confidence=row.get("confidence"),
            provenance="observed",
            ts=row.get("created_at"),
            status="superseded" if successor_id else "",
            superseded_by=keys.get(successor_id, "") if successor_id else "",
        )


def _strategy_entry(row: Mapping[str, object]) -> dict[str, object]:
    steps = "".join(f"\n{number}. {step}" for number, step in enumerate(_column_list(row, "steps"), start=1))
    return _foreign_entry(
        "gotcha",
        f"On “{text_field(row, 'error_pattern')}”: {text_field(row, 'recovery_technique')}{steps}",
        id=text_field(row, "id"),
        category="bug_fix",
        confidence=row.get("effectiveness"),
        provenance="observed",
        ts=row.get("created_at"),
    )


def _foreign_entry(type: str, content: str, **fields: object) -> dict[str, object]:
    filled_fields = {name: value for name, value in fields.items() if value not in ("", None, [])}
    return {"key": key_of(type or "learned", content), "type": type or "learned", "content": content, **filled_fields}


def _column_list(row: Mapping[str, object], name: str) -> list[str]:
    """Return a column that holds a JSON list, or words between commas."""
    text = text_field(row, name).strip()
    try:
        items = json.loads(text) if text.startswith("[") else text.split(",")
    except (ValueError, RecursionError):
        return []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]
