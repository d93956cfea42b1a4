"""Answers held against the schema that `roamkb schema` prints of them."""

import json
from collections.abc import Sequence
from functools import cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output.schema import schema_document


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what checks the answers of one command."""
    return Draft202012Validator(schema_document(find_operation(name)))


def check_answer(words: Sequence[str], out: str) -> None:
    """Fail where a call asked for JSON and its answer isn't as the schema of its command has it."""
    operation = find_operation(words[0]) if words else None
    if operation is None or operation.door or "--json" not in words or not out.startswith("{"):
        return
    problem = best_match(validator(operation.name).iter_errors(json.loads(out)))
    assert problem is None, f"{operation.name}: {problem.json_path}: {problem.message}"
