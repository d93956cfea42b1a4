"""No text that any operation takes puts a credential into a file, whichever parameter it comes in by."""

import random
import string
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from roamkb.core.errors import RoamkbError
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from tests.conftest import World

KEY = "gotcha-invoice-numbers-restart-at-one-each-january"
NODE = "0a1b2c3d-0000-4000-8000-000000000001"
ERROR = "ModuleNotFoundError: No module named 'yaml'"

#: How each operation that writes is called so that it does write; several ways where there are several.
CALLS: dict[str, list[Arguments]] = {
    "search": [{"words": ("invoices",)}, {"words": ("invoices",), "semantic": False, "lines": True}],
    "write": [{"title": "Backups run at night"}, {"title": "Wraps are dry", "body": "At *three*.", "markdown": True}],
    "supersede": [{"name": "{node}", "title": "Backups run at noon"}],
    "trash": [{"name": "{node}"}, {"all_agent": True, "yes": True}],
    "restore": [{"last": True}],
    "learn": [{"text": "Invoice numbers restart at one each January", "type": "gotcha"}, {"text": "Queues are drained by hand"}],
    "observe": [
        {"text": "The queue is drained by hand on Mondays"},
        {"text": 'bd comments add bd-1 "LEARNED: The queue is drained by hand"', "from_command": True},
        {"text": "LEARNED: The queue is drained by hand on Sundays", "from_message": True},
    ],
    "consolidate": [{"stage": "session"}, {"stage": "agent", "name": "coder"}, {"stage": "task", "name": "bd-1"}],
    "verify": [{"keys": (KEY,)}, {"keys": (), "batch": True}, {"keys": (KEY,), "accuracy": "0.9", "relevance": "0.9", "specificity": "0.9"}],
    "promote": [{"keys": (KEY,)}, {"keys": (), "all": True}, {"keys": (KEY,), "to": "CLAUDE.md"}],
    "recall": [{"words": ("invoice",)}, {"words": ()}],
    "ingest": [{"file": "other.jsonl"}],
    "template": [
        {"action": "create", "name": "billing", "task_types": ("billing",), "learnings": (KEY,)},
        {"action": "use", "name": "billing", "task": "bd-1"},
        {"action": "update", "name": "billing", "learnings": (KEY,), "reason": "more of it"},
        {"action": "deprecate", "name": "billing", "reason": "done"},
    ],
    "bundle": [{"action": "create", "file": "out.jsonl", "all": True}],
    "snapshot": [{}],
    "pin": [{"key": KEY}],
    "prefer": [{"key": KEY}],
    "task": [
        {"action": "start", "id": "bd-1", "title": "Number the invoices"},
        {"action": "done", "id": "bd-1"},
        {"action": "failed", "id": "bd-1"},
        {"action": "similar", "id": "bd-1"},
    ],
    "relevant": [{"title": "number the invoices"}, {"task": "bd-1"}],
    "used": [{"name": KEY, "outcome": "success"}],
    "remedy": [
        {"action": "record", "error": ERROR, "technique": "pip install pyyaml", "outcome": "success"},
        {"action": "record", "error": ERROR, "technique": "pip install pyyaml"},
        {"action": "suggest", "error": ERROR},
    ],
    "brief": [{}],
}  # fmt: skip
#: Whose value is a file that the caller wants to have by that name.
OUTPUTS = {
    ("bundle", "file"),
    ("install", "kb"),
    ("install", "agents_md"),
    ("install", "snippets"),
    ("promote", "to"),
}


def planted() -> Iterator[str]:
    """Yield credentials, each another one; as a real one, none may be guessed."""
    chance = random.Random(11)
    while True:
        yield "ghp_" + "".join(chance.choices(string.ascii_letters + string.digits, k=36))


def calls(operation: Operation) -> Iterator[tuple[VerbParameter, Arguments]]:
    """Yield each text parameter of an operation with arguments among which it is wanted."""
    needed: Arguments = {one.name: "bd-1" for one in operation.parameters if one.required}
    for arguments in CALLS.get(operation.name, [needed]):
        for parameter in operation.parameters:
            if parameter.shape in (ParameterShape.TEXT, ParameterShape.TEXTS):
                yield parameter, arguments


def test_no_parameter_of_any_operation_writes_a_credential(world: World) -> None:
    """Each text of each operation is given one; afterwards none is in any file, nor in a name that we chose."""
    prepared(world)
    credentials, told = planted(), {}
    for operation in OPERATIONS:
        if operation.door:
            continue
        for parameter, base in calls(operation):
            secret = next(credentials)
            value = (
                f"{base.get(parameter.name) or 'see'} {secret}"
                if parameter.name in ("text", "title", "body", "reason")
                else secret
            )
            given: Arguments = {
                **base,
                parameter.name: (secret,) if parameter.shape is ParameterShape.TEXTS else value,
            }
            told[secret] = f"{operation.name} {parameter.name} {base}"
            called(world, operation, given)
            if (operation.name, parameter.name) in OUTPUTS:
                continue
            assert not [path for path in files(world) if secret in str(path)], told[secret]
    left = [
        (told[secret], path)
        for path in files(world)
        if path.is_file()
        for secret in told
        if secret.encode() in path.read_bytes()
    ]
    assert [] == left
    assert len(told) > 200


def prepared(world: World) -> None:
    """Make what the operations are about."""
    world.node("invoices.org", NODE, "Invoices are numbered", "Each January they restart.")
    kb = world.open(CLAUDECODE="1")
    kb.log.init()
    kb.log.learn("Invoice numbers restart at one each January", type="gotcha", category="bug_fix", task="bd-1")
    (world.personal / "other.jsonl").write_text(
        '{"key":"k","type":"learned","content":"Other tools log other things","ts":1}\n'
    )
    kb.log.task("start", "bd-1", title="Number the invoices")


def called(world: World, operation: Operation, arguments: Arguments) -> None:
    """Call the library, whatever comes of it."""
    kb = world.open(CLAUDECODE="1")
    if arguments.get("name") == "{node}":
        written = kb.write(f"A fact of its own, number {random.random()}", anyway=True)
        arguments = {**arguments, "name": written.id}
    door = kb.log if operation.is_of_log else kb
    try:
        getattr(door, operation.method_name)(**arguments)
    except RoamkbError:
        return


def files(world: World) -> Iterator[Path]:
    """Yield every file and folder of this person, the projects' and the state's among them."""
    return chain(world.home.rglob("*"))


@pytest.mark.parametrize("kind", ["knowledge", "ledger"])
def test_an_append_refuses_what_no_action_looked_at(world: World, kind: str) -> None:
    """The log itself lets no credential pass, however deep in a line it lies."""
    from dataclasses import replace

    from roamkb.core.errors import SecretFound
    from roamkb.log.state.learning_state import LedgerEvent

    world.open().log.init()
    world.open().log.learn("Invoice numbers restart at one each January")
    log, secret = world.log(), next(planted())
    learning = replace(log.read_contents().learnings[0], extra={"deep": [{"er": f"use {secret}"}]})
    event = LedgerEvent(id="01JXE5QK7M0000000000000000", ts=1.0, event="noted", fields={"deep": {"er": [secret]}})
    with pytest.raises(SecretFound), log.append_lock():
        log.append_entries([learning]) if kind == "knowledge" else log.append_entries(events=[event])
    assert not [path for path in files(world) if path.is_file() and secret.encode() in path.read_bytes()]
