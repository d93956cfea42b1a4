"""One word per idea: the table of operations, the library and the help say the same."""

import inspect
import shlex

import pytest

from roamkb.app import KnowledgeBase
from roamkb.app.log.remedies import ProjectRemedies
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if not one.door], ids=lambda operation: operation.name
)
def test_an_operation_is_a_method_with_the_same_parameters(operation: Operation) -> None:
    """Every parameter of the table is a keyword of the library, and the other way round."""
    door = ProjectRemedies if operation.is_of_log else KnowledgeBase
    signature = inspect.signature(getattr(door, operation.method))
    assert [p.name for p in operation.parameters] == [name for name in signature.parameters if name != "self"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_of_the_help_is_a_call_of_its_operation(operation: Operation) -> None:
    """What the help shows can be typed."""
    program, *words = shlex.split(operation.example.partition(" > ")[0])
    call = parse_words(words)
    assert "roamkb" == program
    assert call is not None
    assert operation is call.operation
