"""The operations that the local server offers, made from the one table, in the command line's JSON.

What isn't listed here isn't offered: new operations and parameters wait until somebody has thought
about them. Never offered: what a human decides (`curate --apply`, `review --edit`, `approve`, `reject`,
`rollback`, `override`), what puts learnings where they are believed (`promote KEY`), what changes the
machine (`install`, `uninstall`, `init`), what reads or writes files that the caller names (`ingest`,
`bundle`), what runs a program (`verify --judge COMMAND`), what only hooks tell (`observe`), what takes back
or sweeps (`snapshot restore`, `trash --all-agent`), and anything that would let a caller choose the project
(`--project`, `classify DIR`).
"""

import json
import shlex
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any
from typing import Final
from typing import Literal

from pydantic import AfterValidator
from pydantic import BaseModel
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field
from pydantic import create_model

from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json

if TYPE_CHECKING:
    from roamkb.app.server import ServedKnowledgeBase

#: No answer is longer, and no index so large.
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRoute:
    """One operation as the server offers it."""

    operation: Operation
    #: Whether it only reads: GET, else POST.
    reads: bool
    #: The parameters that are offered.
    parameters: tuple[VerbParameter, ...]
    #: Parameters that take these values alone.
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The list of the answer that `limit` and `offset` cut, where the operation has no such parameters.
    pages: str = ""

    def model(self) -> type[BaseModel]:
        """Return what checks the arguments: strictly for a body, from text for a query."""
        fields: dict[str, Any] = {one.name: _field(one, self) for one in self.parameters}
        if self.pages:
            fields |= {name: (_COUNT | None, Field(None, description=help)) for name, help in _PAGE}
        name = self.operation.method.title().replace("_", "")
        example: Any = self.example()
        config = ConfigDict(extra="forbid", strict=not self.reads, json_schema_extra={"example": example})
        return create_model(name, __config__=config, **fields)

    def example(self) -> dict[str, object]:
        """Return the arguments of the help's example, as far as they are offered."""
        call = parse_words(shlex.split(self.operation.example.partition(" > ")[0])[1:])
        given = call.arguments if call else {}
        offered = {one.name for one in self.parameters}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if name in offered and value not in (None, (), False)
        }

    def answer(self, kb: "ServedKnowledgeBase", given: Mapping[str, object]) -> Json:
        """Carry the operation out; the errors are the library's."""
        arguments: Arguments = {one.name: _argument(one, given.get(one.name)) for one in self.parameters}
        limit, offset = (_number(given.get(name)) for name, _ in _PAGE)
        if self.operation.name == "search" and offset:
            # the index has no pages: what comes before is found, too, and left out
            arguments["limit"] = (20 if limit is None else limit) + offset
        door = kb.log if self.operation.is_of_log else kb
        result: object = getattr(door, self.operation.method)(**arguments)
        found = render.render(self.operation.name, result).json
        return _page(found, self.pages, limit, offset or 0) if self.pages else found


def routes() -> Sequence[OperationRoute]:
    """Return the operations that are offered, in the order of the list below."""
    return [route for offer in _OFFERED if (route := offer.route())]


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfferedRoute:
    name: str
    reads: bool
    parameters: str
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: str = ""

    def route(self) -> OperationRoute | None:
        operation = find_operation(self.name)
        if operation is None:
            return None
        offered = self.parameters.split()
        return OperationRoute(
            operation=operation,
            reads=self.reads,
            parameters=tuple(one for one in operation.parameters if one.name in offered),
            choices=self.choices,
            pages=self.pages,
        )


def _get(name: str, parameters: str = "", *, pages: str = "", **choices: tuple[str, ...]) -> _OfferedRoute:
    return _OfferedRoute(name=name, reads=True, parameters=parameters, choices=choices, pages=pages)


def _post(name: str, parameters: str = "", **choices: tuple[str, ...]) -> _OfferedRoute:
    return _OfferedRoute(name=name, reads=False, parameters=parameters, choices=choices)


_CONTENT = "title body markdown tags aliases refs links source by anyway dry_run"
_OFFERED: Final = (
    _get(
        "search", "words tags agent human since before limit regex lines files related budget", pages="hits"
    ),
    _get("show", "name"),
    _get("links", "name graph"),
    _get("tags", pages="tags"),
    _get("nodes", pages="nodes"),
    _get("inventory", pages="nodes"),
    _post("write", _CONTENT),
    _post("supersede", f"name {_CONTENT}"),
    _post("trash", "name"),
    _post("restore", "name"),
    _post(
        "learn",
        "text proposals type tags task category files actions provenance confidence supersedes fix_applied "
        "agent session",
    ),
    _post("consolidate", "stage name agent"),
    _post("verify", "keys batch task judge accuracy relevance specificity by", judge=("heuristic",)),
    # what could be promoted; a node, and more so a rule's line, is made where somebody answers for it
    _get("promote", "as_of"),
    _get(
        "recall",
        "words type kb all recent stats topic file action tags scope min_confidence limit offset id as_of "
        "raw framed agent session task",
    ),
    _post("template", "action name task_types from_task learnings task reason all as_of"),
    _post("snapshot", "action daily", action=("list",)),
    _post("audit", "as_of"),
    _get("refine", "tasks"),
    _get("curate", "reason as_of"),
    _get("review", "all as_of"),
    _get("explain", "key as_of"),
    _post("pin", "key off agent session"),
    _post("prefer", "key off agent session"),
    _post("undo", "event agent session"),
    _get("export", "all as_of", pages="learnings"),
    _post("task", "action id title category files depends agent session"),
    _get("relevant", "task title files category actions min_confidence limit offset kb as_of agent session"),
    _post("used", "name outcome task match agent session"),
    _post(
        "remedy",
        "action name error technique steps outcome error_type category file pattern regex task limit "
        "agent session",
    ),
    _get("brief", "task subagent agent session"),
    _get("stats", "metrics as_of"),
    _get("classify"),
    _get("hygiene"),
    _get("conflicts"),
    _get("doctor"),
    _get("index"),
)
_PAGE: Final = (("limit", "At most so many."), ("offset", "Leave out the first so many."))


# What a parameter takes


def _one_or_many(value: object) -> object:
    """Take one text for several, as the library does."""
    return [value] if isinstance(value, str) else value


def _no_bare_dash(value: str) -> str:
    """Refuse `-`: it asks the command line to read standard input, and the server has none."""
    if value == "-":
        raise ValueError("there is no standard input here")
    return value


def _plain_number(value: object) -> object:
    """Take a query's number by its digits alone: `1_0` is ten to Python, and to nobody else."""
    if isinstance(value, str) and not (value.isascii() and value.isdecimal()):
        raise ValueError("a number has digits, and nothing else")
    return value


_TEXT = Annotated[str, AfterValidator(_no_bare_dash)]
_TEXTS = Annotated[list[str], BeforeValidator(_one_or_many)]
_COUNT = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MOST)]


def _field(parameter: VerbParameter, route: OperationRoute) -> tuple[object, object]:
    kinds: dict[ParameterShape, Any] = {
        ParameterShape.TEXT: _TEXT,
        ParameterShape.TEXTS: _TEXTS,
        ParameterShape.COUNT: _COUNT,
        ParameterShape.FLAG: bool,
        ParameterShape.OBJECTS: list[dict[str, Any]],
    }
    kind = kinds[parameter.shape]
    if parameter.name in route.choices:
        kind = Literal[*route.choices[parameter.name]]
    if parameter.required:
        return kind, Field(description=parameter.help)
    if parameter.shape is ParameterShape.TEXTS:
        return kind, Field(default_factory=list, description=parameter.help)
    if parameter.shape is ParameterShape.FLAG:
        return kind, Field(False, description=parameter.help)
    return kind | None, Field(None, description=parameter.help)


def _argument(parameter: VerbParameter, value: object) -> str | int | bool | tuple[str, ...] | None:
    if parameter.shape is ParameterShape.TEXTS:
        return tuple(map(str, value)) if isinstance(value, list) else ()
    if parameter.shape is ParameterShape.OBJECTS:
        return None if value is None else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, (str, int)) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _page(found: Json, name: str, limit: int | None, offset: int) -> Json:
    """Return `found` with a part of one of its lists; what isn't asked for stays whole."""
    rows = found.get(name)
    if not isinstance(rows, list) or (limit is None and not offset):
        return found
    end = len(rows) if limit is None else offset + limit
    return {**found, name: rows[offset:end]}
