"""The schema of answers and requests; `tests/conftest.py` holds every answer in the suite against it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output.schema import schema_document
from tests.answer_schemas import validator
from tests.conftest import ROOT
from tests.conftest import World

WHOLE: dict[str, Any] = json.loads(json.dumps(schema_document()))
ANSWERING = [one for one in OPERATIONS if not one.door]


def test_the_document_is_a_schema(world: World) -> None:
    """Of the draft that it names, and it has all commands."""
    Draft202012Validator.check_schema(WHOLE)
    assert {operation.name for operation in ANSWERING} <= WHOLE["$defs"].keys()
    assert WHOLE == json.loads(world.run("schema").out)
    assert 2 == world.run("schema", "nothing").status


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_each_command_has_a_schema_of_its_own(operation: Operation) -> None:
    """It needs nothing but itself, and closes what has fixed keys."""
    schema: dict[str, Any] = json.loads(json.dumps(schema_document(operation)))
    Draft202012Validator.check_schema(schema)
    assert operation.summary == schema["description"]
    request = schema["$defs"][f"{operation.name}-request"]
    assert {parameter.name for parameter in operation.parameters} == request["properties"].keys()
    assert not request["additionalProperties"]


def test_an_answer_with_another_key_is_none() -> None:
    """Nor one that lacks a key, or has a value of another type."""
    answer: dict[str, Any] = {"schema": 1, "tags": [{"tag": "a", "nodes": 1}]}
    assert validator("tags").is_valid(answer)
    wrong: tuple[dict[str, Any], ...] = (
        {"tags": []},
        {**answer, "more": 1},
        {"schema": 1, "tags": [{"tag": "a", "nodes": "1"}]},
    )
    assert not any(map(validator("tags").is_valid, wrong))
    error = {"code": "usage", "message": "no", "hint": ""}
    assert validator("tags").is_valid({"schema": 1, "error": error})
    assert not validator("tags").is_valid({"schema": 1, "error": error, "tags": []})


def _keys(schema: Any) -> Iterator[str]:
    """Yield every key that a schema names."""
    parts = schema if isinstance(schema, list) else []
    if isinstance(schema, dict):
        named = schema.get("properties", {})
        yield from named
        parts = [*named.values(), *(part for word, part in schema.items() if word != "properties")]
    for part in parts:
        yield from _keys(part)


def test_each_key_is_documented() -> None:
    """In docs/json.md, which other programs are written by."""
    _, _, listed = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").partition("## Fields")
    definitions = WHOLE["$defs"].items()
    known = {key for name, schema in definitions if not name.endswith("-request") for key in _keys(schema)}
    assert set() == known - set(re.findall(r"\w+", listed))
