"""One operation is the same through every door: the library, the command line, MCP, HTTP.

Each door gets a world of its own, in which the same things happen in the same order. What differs by
itself (ids, times, where the world lies) is masked.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from typing import Protocol
from urllib.parse import urlencode

import pytest

from roamkb.core.errors import RoamkbError
from roamkb.core.request import ParameterShape
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output import render
from tests.conftest import World
from tests.conftest import make_world

Json = dict[str, Any]
ID = "0a1b2c3d-0000-4000-8000-000000000001"
KEY = "gotcha-invoice-numbers-restart-at-one-each-january"
ERROR = "ModuleNotFoundError: No module named 'yaml'"

#: What is asked for, one after the other.
CALLS: list[tuple[str, Arguments]] = [
    ("search", {"words": ("invoices", "numbered")}),
    ("search", {"words": ("nothing-like-it",), "tags": ("billing",), "limit": 3}),
    ("search", {"words": ()}),
    ("search", {"words": ("[a-z]+oices",), "regex": True, "lines": True}),
    ("show", {"name": ID}),
    ("show", {"name": "nobody"}),
    ("search", {"words": ("walrus",)}),
    ("show", {"name": "plain.org:2"}),
    ("show", {"name": "plain.org"}),
    ("links", {"name": ID}),
    ("write", {"title": "Backups run at night", "body": "* At three.\n%%(x)", "tags": ("ops",), "links": (ID,)}),
    ("write", {"title": "Backups run at night"}),
    ("write", {"title": "The password is AKIAIOSFODNN7EXAMPL2, on 10.0.0.7"}),
    ("write", {"title": "Wraps are dry", "dry_run": True}),
    ("learn", {"text": "Invoice numbers restart at one each January", "type": "gotcha", "files": ("bill/*.py",)}),
    ("learn", {"text": "Invoice numbers restart at one each January", "type": "gotcha", "session": "S-2"}),
    ("learn", {"text": "Sure things are sure", "confidence": "2"}),
    ("recall", {"words": ("invoice",)}),
    ("recall", {"words": (), "type": "gotcha", "min_confidence": "0.1", "limit": 1, "kb": True}),
    ("relevant", {"title": "number the invoices", "files": ("bill/a.py",)}),
    ("used", {"name": KEY, "outcome": "success"}),
    ("used", {"name": KEY, "outcome": "validated", "agent": "reviewer"}),
    ("used", {"name": KEY, "outcome": "splendid"}),
    ("verify", {"keys": (KEY,), "accuracy": "0.9", "relevance": "0.8", "specificity": "0.7"}),
    ("verify", {"keys": (), "batch": True}),
    ("remedy", {"action": "record", "error": ERROR, "technique": "pip install pyyaml", "outcome": "success"}),
    ("remedy", {"action": "suggest", "error": ERROR, "limit": 2}),
    ("review", {}),
]  # fmt: skip


class Door(Protocol):
    """One way to ask."""

    def __call__(self, operation: Operation, arguments: Arguments) -> Json | None:
        """Return the JSON of a call; None for what can't be asked there."""
        ...


def library(world: World, folder: Path, _: ExitStack) -> Door:
    """Call the methods."""

    def ask(operation: Operation, arguments: Arguments) -> Json:
        kb = world.open(folder, now=datetime.now(), CLAUDECODE="1")
        try:
            method = getattr(kb.log if operation.is_of_log else kb, operation.method_name)
            told: Json = render.render_result(operation.name, method(**arguments)).as_json
        except RoamkbError as error:
            told = render.error_json(error)
        return told

    return ask


def command_line(world: World, folder: Path, _: ExitStack) -> Door:
    """Run the program."""

    def ask(operation: Operation, arguments: Arguments) -> Json:
        words = [operation.name, *words_of(operation, arguments), "--json"]
        return world.run(*words, cwd=folder, extra={"CLAUDECODE": "1"}).json

    return ask


def words_of(operation: Operation, arguments: Arguments) -> Iterator[str]:
    """Yield the arguments as they are typed."""
    for parameter in operation.parameters:
        value = arguments.get(parameter.name)
        if parameter.shape is ParameterShape.FLAG:
            yield from (parameter.flag,) if value and parameter.flag else ()
        elif value is not None:
            for one in value if isinstance(value, tuple) else (value,):
                yield from (*filter(None, [parameter.flag]), str(one))


def mcp(world: World, folder: Path, stack: ExitStack) -> Door:
    """Ask the server, as the official client does."""
    from roamkb.interfaces.mcp.tools import TOOLS
    from tests.interfaces.mcp.mcp_client import connected

    session = stack.enter_context(connected(world, cwd=folder, extra={"CLAUDECODE": "1"}))

    def ask(operation: Operation, arguments: Arguments) -> Json | None:
        for tool in TOOLS:
            settled = tool.fixed.items()
            if tool.operation is operation and settled <= arguments.items():
                given = {name: value for name, value in arguments.items() if name not in tool.fixed}
                return session.data(tool.name, **given)
        return None

    return ask


def http(world: World, folder: Path, stack: ExitStack) -> Door:
    """Ask the local server."""
    from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
    from tests.interfaces.http.served import serving

    offered = {route.operation.name: route for route in OFFERED_ROUTES}
    served = stack.enter_context(serving(world, folder, extra={"CLAUDECODE": "1"}))

    def ask(operation: Operation, arguments: Arguments) -> Json | None:
        route = offered.get(operation.name)
        if route is None or not arguments.keys() <= {one.name for one in route.parameters}:
            return None
        path = f"/api/{operation.name}"
        query = urlencode(arguments, doseq=True)
        answer = served.get(f"{path}?{query}") if route.reads else served.post(path, arguments)
        told: Json = answer.json
        return told

    return ask


DOORS = (library, command_line, mcp, http)


def masked(told: Json, world: World) -> object:
    """Return JSON without what two worlds can't have in common."""
    text = json.dumps(told).replace(str(world.home), "~")
    for pattern, name in (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
        (r"\b[0-9a-f]{64}\b", "DIGEST"),
        (r"\d{4}-\d\d-\d\d(T| [A-Z][a-z]{2} )\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "TIME"),
        (r"\b\d{14}-", "STAMP-"),
    ):
        text = re.sub(pattern, name, text)
    return json.loads(text)


@pytest.mark.parametrize("kind", ["personal", "work"])
def test_every_door_says_the_same(tmp_path: Path, kind: str) -> None:
    """Hits, notes, refusals and errors, to the letter."""
    # nobody may write there, and little else differs
    calls = CALLS if kind == "personal" else [call for call in CALLS if call[0] in ("write", "show")]
    operations = {operation.name: operation for operation in OPERATIONS}
    answers: list[list[object]] = []
    with ExitStack() as stack:
        for door in DOORS:
            world = make_world(tmp_path / door.__name__.ljust(12, "_"))
            world.node("one.org", ID, "Invoices are numbered", "From one.", tags=":billing:")
            world.note("plain.org", "No node.\nA walrus.\n")
            if kind == "personal":
                world.run("init")
            ask = door(world, getattr(world, kind), stack)
            told = [ask(operations[name], arguments) for name, arguments in calls]
            answers.append([one and masked(one, world) for one in told])
    for number, (name, arguments) in enumerate(calls):
        said = [one[number] for one in answers if one[number] is not None]
        assert len(said) >= 2, name
        assert [said[0]] * len(said) == said, (name, arguments)
