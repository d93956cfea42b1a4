"""Operations that the local server offers, made from the one table, in the command line's JSON.

What isn't listed here isn't offered: new operations and parameters wait until somebody has thought
about them. Never offered: what a human decides (`curate --apply`, `review --edit`, `approve`, `reject`,
`rollback`, `override`, `forget`), what puts learnings where they are believed (`promote KEY`), what changes the
machine (`install`, `setup`, `uninstall`, `init`), what reads or writes files that the caller names (`ingest`,
`bundle`), what runs a program (`verify --judge COMMAND`), what only hooks tell (`observe`), what takes back
or sweeps (`snapshot restore`, `trash --all-agent`), and anything that would let a caller choose the project
(`--project`, `classify DIR`).
"""

import json
import shlex
from collections.abc import Mapping
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

from roamkb.app import server
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json

#: No answer is longer, and no index so large.
_MAX_NUMBER: Final = 1_000_000


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

    def request_model(self) -> type[BaseModel]:
        """Return the model that validates the arguments: strictly for a body, from text for a query."""
        fields: dict[str, Any] = {parameter.name: _model_field(parameter, self) for parameter in self.parameters}
        if self.pages:
            fields |= {name: (_COUNT | None, Field(None, description=help)) for name, help in _PAGE_PARAMETERS}
        name = self.operation.method_name.title().replace("_", "")
        example: Any = self.example_arguments()
        config = ConfigDict(extra="forbid", strict=not self.reads, json_schema_extra={"example": example})
        return create_model(name, __config__=config, **fields)

    def example_arguments(self) -> dict[str, object]:
        """Return the arguments of the help's example, as far as they are offered."""
        call = parse_words(shlex.split(self.operation.example.partition(" > ")[0])[1:])
        example_values = call.arguments if call else {}
        offered = {parameter.name for parameter in self.parameters}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in example_values.items()
            if name in offered and value not in (None, (), False)
        }

    def answer_request(self, kb: "server.ServedKnowledgeBase", request_values: Mapping[str, object]) -> Json:
        """Carry the operation out; the errors are the library's."""
        arguments: Arguments = {
            parameter.name: _operation_argument(parameter, request_values.get(parameter.name))
            for parameter in self.parameters
        }
        limit, offset = (_optional_number(request_values.get(name)) for name, _ in _PAGE_PARAMETERS)
        if self.operation.name == "search" and offset:
            # the index has no pages: what comes before is found, too, and left out
            arguments["limit"] = (20 if limit is None else limit) + offset
        owner = kb.log if self.operation.is_of_log else kb
        result: object = getattr(owner, self.operation.method_name)(**arguments)
        answer = render.render_result(self.operation.name, result).as_json
        return _cut_page(answer, self.pages, limit, offset or 0) if self.pages else answer


def _offer_get(name: str, parameters: str = "", *, pages: str = "") -> OperationRoute:
    return _offer(name, parameters, reads=True, pages=pages)


def _offer_post(name: str, parameters: str = "", **choices: tuple[str, ...]) -> OperationRoute:
    return _offer(name, parameters, choices=choices)


def _offer(
    name: str,
    parameters: str,
    *,
    reads: bool = False,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    pages: str = "",
) -> OperationRoute:
    operation = next(operation for operation in OPERATIONS if operation.name == name)
    offered = tuple(parameter for parameter in operation.parameters if parameter.name in parameters.split())
    return OperationRoute(operation=operation, reads=reads, parameters=offered, choices=choices or {}, pages=pages)


_CONTENT_PARAMETERS = "title body markdown tags aliases refs links source by anyway dry_run kb"
#: The operations that are offered.
OFFERED_ROUTES: Final = (
    _offer_get(
        "search", "words tags agent human since before limit regex lines files related budget as_of kb", pages="hits"
    ),
    _offer_get("show", "name kb"),
    _offer_get("links", "name graph kb"),
    _offer_get("daily", "day kb"),
    _offer_get("tags", "kb", pages="tags"),
    _offer_get("nodes", "kb", pages="nodes"),
    _offer_get("inventory", "kb", pages="nodes"),
    _offer_post("write", f"{_CONTENT_PARAMETERS} daily"),
    _offer_post("supersede", f"name {_CONTENT_PARAMETERS}"),
    _offer_post("trash", "name kb"),
    _offer_post("restore", "name kb"),
    _offer_post(
        "learn",
        "text proposals type tags task category files aliases actions provenance confidence supersedes fix_applied "
        "agent session",
    ),
    _offer_post("consolidate", "stage name agent"),
    _offer_post("verify", "keys batch task judge accuracy relevance specificity by", judge=("heuristic",)),
    # what could be promoted; a node, and more so a rule's line, is made where somebody answers for it
    _offer_get("promote", "as_of"),
    _offer_get(
        "recall",
        "words type kb all recent stats topic file action tags scope min_confidence limit offset id as_of "
        "raw framed agent session task",
    ),
    _offer_post("template", "action name task_types from_task learnings task reason all as_of"),
    _offer_post("snapshot", "action daily", action=("list",)),
    _offer_post("audit", "as_of"),
    _offer_get("refine", "tasks"),
    _offer_get("curate", "reason as_of"),
    _offer_get("review", "all as_of"),
    _offer_get("explain", "key as_of"),
    _offer_post("pin", "key off agent session"),
    _offer_post("prefer", "key off agent session"),
    _offer_post("undo", "event agent session"),
    _offer_get("export", "all as_of", pages="learnings"),
    _offer_post("task", "action id title category files depends agent session"),
    _offer_get("relevant", "task title files category actions min_confidence limit offset kb as_of agent session"),
    _offer_post("used", "name outcome task match agent session"),
    _offer_post(
        "remedy",
        "action name error technique steps outcome error_type category file pattern regex task limit agent session",
    ),
    _offer_get("brief", "task subagent agent session"),
    _offer_get("stats", "metrics as_of"),
    _offer_get("classify"),
    _offer_get("hygiene"),
    _offer_get("conflicts"),
    _offer_get("doctor"),
    _offer_get("index"),
)
_PAGE_PARAMETERS: Final = (("limit", "At most so many."), ("offset", "Leave out the first so many."))


# What a parameter takes


def _one_or_many(value: object) -> object:
    """Accept one text for several, as the library does."""
    return [value] if isinstance(value, str) else value


def _no_bare_dash(value: str) -> str:
    """Reject a `-`, which asks the command line to read standard input: a server has none."""
    if value == "-":
        raise ValueError("there is no standard input here")
    return value


def _plain_number(value: object) -> object:
    """Accept a query's number by its digits alone: `1_0` is ten to Python only."""
    if isinstance(value, str) and not (value.isascii() and value.isdecimal()):
        raise ValueError("a number has digits, and nothing else")
    return value


_TEXT = Annotated[str, AfterValidator(_no_bare_dash)]
Texts = Annotated[list[str], BeforeValidator(_one_or_many)]
_COUNT = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MAX_NUMBER)]


def _model_field(parameter: VerbParameter, route: OperationRoute) -> tuple[object, object]:
    kinds: dict[ParameterShape, Any] = {
        ParameterShape.TEXT: _TEXT,
        ParameterShape.TEXTS: Texts,
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


def _operation_argument(parameter: VerbParameter, value: object) -> str | int | bool | tuple[str, ...] | None:
    if parameter.shape is ParameterShape.TEXTS:
        return tuple(map(str, value)) if isinstance(value, list) else ()
    if parameter.shape is ParameterShape.OBJECTS:
        return None if value is None else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, (str, int)) else None


def _optional_number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _cut_page(answer: Json, name: str, limit: int | None, offset: int) -> Json:
    """Return `answer` with one page of one of its lists; without a limit or offset it stays whole."""
    rows = answer.get(name)
    if not isinstance(rows, list) or (limit is None and not offset):
        return answer
    end = len(rows) if limit is None else offset + limit
    return {**answer, name: rows[offset:end]}
