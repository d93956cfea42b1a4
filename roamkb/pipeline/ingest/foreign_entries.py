"""What other systems keep in a database or in one JSON document, entry by entry, as a log's line says it.

Three are known by their shapes: Oro's table of memories, document 004's tables, and a bundle of Day1's. What
such a system says of its own checks is left out: here nothing is verified that wasn't verified here.
"""

import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from roamkb.log.learning import key_of

#: The tables that are read, and the columns that each of them has in whatever version.
TABLES: Final[Mapping[str, frozenset[str]]] = {
    "memories": frozenset(("content", "type", "tags", "confidence", "created_at")),
    "knowledge_entries": frozenset(("id", "content", "type", "confidence")),
    "error_recovery_strategies": frozenset(("error_pattern", "recovery_technique")),
}
#: How Oro says that a human's log told it.
_IMPORTED: Final = "knowledge_import:"
_BY_HUMANS: Final = frozenset(("user", "human", "user_stated", "user-stated"))
#: Day1's categories that are types here; it calls everything a fact.
_TYPES: Final = frozenset(("decision", "pattern"))


def entries_of_document(found: object) -> list[dict[str, object]] | None:
    """Return the entries of a JSON document; None where its shape isn't known."""
    if isinstance(found, list):
        entries = [one for one in found if isinstance(one, dict) and isinstance(one.get("content"), str)]
        return entries if entries and len(entries) == len(found) else None
    if not isinstance(found, dict):
        return None
    # as it is exported, or what of it was kept
    bundle = found.get("bundle_data", found)
    facts = bundle.get("facts") if isinstance(bundle, dict) else None
    if not isinstance(facts, list):
        return None
    return [_of_day1(fact) for fact in facts if isinstance(fact, dict)]


def entries_of_table(table: str, rows: Iterable[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    """Yield the entries of a table of `TABLES`."""
    match table:
        case "memories":
            yield from map(_of_oro, rows)
        case "knowledge_entries":
            yield from _of_document_004(list(rows))
        case _:
            yield from map(_of_strategy, rows)


def _of_day1(fact: Mapping[str, object]) -> dict[str, object]:
    category = _text(fact, "category")
    type, content = category if category in _TYPES else "fact", _text(fact, "fact_text")
    source = _text(fact, "source_type")
    return _entry(
        type,
        content,
        category=category,
        confidence=fact.get("confidence"),
        source=source,
        provenance="user-stated" if source in _BY_HUMANS else "observed",
        ts=fact.get("created_at"),
    )


def _of_oro(row: Mapping[str, object]) -> dict[str, object]:
    source = _text(row, "source")
    return _entry(
        _text(row, "type"),
        _text(row, "content"),
        key=source.removeprefix(_IMPORTED) if source.startswith(_IMPORTED) else "",
        tags=_list(row, "tags"),
        bead=_text(row, "bead_id"),
        agent=_text(row, "worker_id"),
        files=_list(row, "files_modified"),
        confidence=row.get("confidence"),
        source=source,
        provenance="user-stated" if source.startswith(_IMPORTED) else "observed",
        ts=row.get("created_at"),
    )


def _of_document_004(rows: list[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    keys = {_text(row, "id"): key_of(_text(row, "type"), _text(row, "content")) for row in rows}
    for row in rows:
        later = _text(row, "superseded_by")
        yield _entry(
            _text(row, "type"),
            _text(row, "content"),
            id=_text(row, "id"),
            tags=_list(row, "tags"),
            files=_list(row, "file_patterns"),
            actions=_list(row, "action_types"),
            agent=_text(row, "source_agent_id"),
            task=_text(row, "source_task_id"),
            confidence=row.get("confidence"),
            provenance="observed",
            ts=row.get("created_at"),
            status="superseded" if later else "",
            superseded_by=keys.get(later, "") if later else "",
        )


def _of_strategy(row: Mapping[str, object]) -> dict[str, object]:
    steps = "".join(f"\n{number}. {step}" for number, step in enumerate(_list(row, "steps"), start=1))
    return _entry(
        "gotcha",
        f"On “{_text(row, 'error_pattern')}”: {_text(row, 'recovery_technique')}{steps}",
        id=_text(row, "id"),
        category="bug_fix",
        confidence=row.get("effectiveness"),
        provenance="observed",
        ts=row.get("created_at"),
    )


def _entry(type: str, content: str, **told: object) -> dict[str, object]:
    known = {name: value for name, value in told.items() if value not in ("", None, [])}
    return {"key": key_of(type or "learned", content), "type": type or "learned", "content": content, **known}


def _text(told: Mapping[str, object], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _list(told: Mapping[str, object], name: str) -> list[str]:
    """Return a column that holds a JSON list, or words between commas."""
    text = _text(told, name).strip()
    try:
        found = json.loads(text) if text.startswith("[") else text.split(",")
    except (ValueError, RecursionError):
        return []
    return [one.strip() for one in found if isinstance(one, str) and one.strip()]
