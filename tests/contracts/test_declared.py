"""What a request declares is everywhere: help, man page, completions and schema."""

from typing import Any

import pytest

from docs.man_pages import man_pages
from roamkb.interfaces.completion.scripts import completed_commands
from roamkb.interfaces.completion.scripts import completion_script
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output.schema import request_schema

PAGES = {name: text.replace("\\-", "-").replace("\n", " ") for name, text in man_pages().items()}
SCRIPTS = {shell: completion_script(shell) for shell in ("bash", "zsh", "fish")}


def section(shell: str, command: str) -> str:
    """Return the part of a script that is about one command."""
    text = SCRIPTS[shell]
    if shell == "fish":
        return "\n".join(line for line in text.splitlines() if f"__roamkb_at {command}" in line)
    return text.partition(f"\n    {command})\n")[2].partition("\n        ;;\n")[0]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_each_option_is_known_to_all(operation: Operation) -> None:
    """With its help, its value and its choices."""
    schema: dict[str, Any] = request_schema(operation)
    for option in operation.parameters:
        declared = schema["properties"][option.name]
        assert option.help
        assert declared["description"]
        assert list(option.choices) == declared.get("enum", [])
        page = PAGES[f"roamkb-{operation.name}.1"]
        assert (option.flag or option.placeholder) in page
        for shell in SCRIPTS:
            part = section(shell, operation.name)
            assert option.flag.removeprefix("--" if shell == "fish" else "") in part
            assert all(choice in part for choice in option.choices)


@pytest.mark.parametrize("command", [one.name for one in completed_commands()])
def test_what_every_command_takes_is_in_each_script(command: str) -> None:
    """The help at least."""
    assert "--help" in PAGES[f"roamkb-{command}.1"]
    for shell in SCRIPTS:
        assert "help" in section(shell, command)
