"""What agents may call, and what the server takes from them."""

from typing import Any

import pytest

from roamkb.core.errors import UsageError
from roamkb.interfaces.mcp.tools import TOOLS
from roamkb.interfaces.mcp.tools import arguments_of
from roamkb.interfaces.mcp.tools import find_tool
from roamkb.interfaces.mcp.tools import input_schema
from roamkb.interfaces.mcp.tools import output_schema
from roamkb.interfaces.operations import Arguments


def arguments(name: str, **given: object) -> Arguments:
    """What the library would be called with."""
    tool = find_tool(name)
    assert tool
    return arguments_of(tool, given)


def test_nothing_approves_or_installs() -> None:
    """What is a human's alone isn't offered, nor is a command to run."""
    offered = {tool.operation.name for tool in TOOLS if tool.operation}
    assert {
        "search",
        "show",
        "links",
        "daily",
        "recall",
        "write",
        "learn",
        "relevant",
        "remedy",
        "used",
        "verify",
        "review",
    } == offered
    taken = {parameter.name for tool in TOOLS for parameter in tool.parameters}
    assert not taken & {"judge", "apply", "project", "yes", "regex_command", "human_says"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_tells_what_it_takes_and_gives(tool: Any) -> None:
    """In the words of the table, less what only a shell has."""
    taken = input_schema(tool)
    properties = taken["properties"]
    assert isinstance(properties, dict)
    assert all(one["description"] and "standard input" not in one["description"] for one in properties.values())
    assert set(taken.get("required", [])) <= set(properties)  # type: ignore[call-overload]
    assert {"type", "properties"} == set(output_schema(tool))


def test_arguments_are_what_the_library_takes() -> None:
    """Texts, counts, switches; a number where the text is one; null is nothing."""
    assert {"words": ("a", "b"), "limit": 3, "agent": True} == arguments(
        "search", words=["a", "b"], limit=3, agent=True
    )
    assert {"words": ("a b",)} == arguments("search", words="a b", tags=None)
    assert {"text": "t", "confidence": "0.9"} == arguments("learn", text="t", confidence=0.9)
    assert {"action": "suggest", "error": "e"} == arguments("suggest_remedy", error="e")


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("write", {}, "write needs title"),
        ("write", {"title": 5}, "title isn't of the type string"),
        ("write", {"title": "\ud800"}, "title isn't text"),
        ("write", {"title": "t", "tags": [5]}, "tags isn't of the type array"),
        ("write", {"title": "t", "dry_run": "yes"}, "dry_run isn't of the type boolean"),
        ("write", {"title": "t", "project": "/"}, "write takes no project"),
        ("verify", {"keys": ["k"], "judge": "sh"}, "verify takes no judge"),
        ("record_remedy", {"error": "e", "technique": "t", "action": "list"}, "takes no action"),
        ("search", {"limit": -1}, "limit is a whole number from 0 to 2,147,483,647"),
        ("search", {"limit": True}, "limit isn't of the type integer"),
        ("search", {"limit": 10**30}, "limit is a whole number from 0 to 2,147,483,647"),
        ("learn", {"text": "t", "confidence": True}, "confidence isn't of the type number"),
        ("status", {"folder": "/"}, "status takes no folder"),
    ],
)
def test_other_arguments_are_refused(tool: str, given: dict[str, object], said: str) -> None:
    """Before anything is done."""
    with pytest.raises(UsageError, match=said):
        arguments(tool, **given)
