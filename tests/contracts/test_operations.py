"""One word per idea: the table of operations, the library and the help say the same."""

import inspect
import shlex
from typing import Any

import pytest

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log.project_log import ProjectLog
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation


def _method(operation: Operation) -> Any:
    return getattr(ProjectLog if operation.is_of_log else KnowledgeBase, operation.method_name)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if not one.door], ids=lambda one: one.name)
def test_a_method_of_the_library_takes_the_request_of_its_operation(operation: Operation) -> None:
    """What the command line builds its parameters from is what the library is called with."""
    method = _method(operation)
    assert {"self", *(p.name for p in operation.parameters)} == set(inspect.signature(method).parameters)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_each_option_has_its_words_and_a_default(operation: Operation) -> None:
    """What has no default is required, and everything says what it is for."""
    assert all(parameter.help.endswith((".", "?", "…")) for parameter in operation.parameters)
    if operation.parameters:
        required = {p.name: "" for p in operation.parameters if p.required}
        request: Any = operation.request_type
        built = request(**required)
        given = [getattr(built, p.name) for p in operation.parameters if not p.required]
        assert all(value in (None, False, ()) for value in given)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_of_the_help_is_a_call_of_its_operation(operation: Operation) -> None:
    """What the help shows can be typed."""
    program, *words = shlex.split(operation.example.partition(" > ")[0])
    call = parse_words(words)
    assert "roamkb" == program
    assert call is not None
    assert operation is call.operation
