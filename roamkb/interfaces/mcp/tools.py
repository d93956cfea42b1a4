"""Tools that agents may call over MCP: operations, less those that only a human or a shell needs.

Nothing here approves, curates, overrides, forgets, promotes or installs.
"""

import json
from collections.abc import Mapping

from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output.encode import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """One tool of the server."""

    name: str
    #: The words that an agent may look for it by.
    description: str
    #: The fields of its result beside `schema`, with their JSON types.
    output: Mapping[str, str]
    #: None for what is no operation of its own.
    operation: Operation | None = None
    #: Parameters of the operation that are settled.
    fixed: Mapping[str, str | bool] = field(default_factory=dict)
    parameters: tuple[VerbParameter, ...] = ()
    is_read_only: bool = True
    is_idempotent: bool = True


#: What standard input has to do with it is the command line's business.
_SHELL_ONLY = ("; - reads standard input", " (again for more)", " (again for more, in order)")
#: The greatest whole number that a parameter takes.
_MAX_COUNT = 2**31 - 1
#: Parameters whose text is a number between 0 and 1.
_FRACTION_PARAMETERS = ("confidence", "min_confidence", "accuracy", "relevance", "specificity")


def _offer_tool(  # noqa: PLR0913 - a row of the table
    name: str,
    description: str,
    output: str,
    *,
    operation_name: str,
    without: str = "",
    fixed: Mapping[str, str | bool] | None = None,
    is_read_only: bool = True,
    required: str = "",
    also: tuple[VerbParameter, ...] = (),
) -> McpTool:
    """Return the tool for the operation `operation_name`; `output` reads `name:type name:type`."""
    operation = next(candidate for candidate in OPERATIONS if candidate.name == operation_name)
    settled = fixed or {}
    offered_parameters = (p for p in operation.parameters if p.name not in without.split() and p.name not in settled)
    return McpTool(
        name=name,
        description=description,
        output=dict(item.split(":") for item in output.split()),
        operation=operation,
        fixed=settled,
        parameters=(
            *(replace(p, required=p.required or p.name in required.split()) for p in offered_parameters),
            *also,
        ),
        is_read_only=is_read_only,
        is_idempotent=is_read_only,
    )


_QUERY = VerbParameter(
    name="query",
    help="For connectors: all of the search in one text, answered by results of id, title and url alone. "
    "Agents give words instead.",
)
_ID = VerbParameter(name="id", help="The id of a result of search.", required=True)

#: In this order always: clients keep prompts by it.
TOOLS: tuple[McpTool, ...] = (
    _offer_tool(
        "search",
        "Search the knowledge base of org-roam notes (memory, prior decisions, gotchas, facts) by words, "
        "phrases and filters, best first. Search before you decide or debug.",
        "query:string hits:array skipped:array conflict_copies:integer as_of:string results:array",
        operation_name="search",
        without="files null budget",
        also=(_QUERY,),
    ),
    _offer_tool(
        "get",
        "Show one note of the knowledge base: its fields and its whole text.",
        "node:object",
        operation_name="show",
    ),
    _offer_tool(
        "links",
        "Show what a note of the knowledge base links to and what links to it (backlinks).",
        "id:string forward:array back:array dangling:array external:array",
        operation_name="links",
        without="graph",
        required="name",
    ),
    _offer_tool(
        "daily",
        "Show a day: the human's daily note (org-roam-dailies, journal), and what agents wrote, promoted, replaced "
        "and trashed that day.",
        "day:string path:string node:object|null acts:array skipped:array",
        operation_name="daily",
    ),
    _offer_tool(
        "recall",
        "Recall what this project's agents learned in earlier sessions (decisions, gotchas, lessons, "
        "patterns), best first; without words the latest.",
        "query:string learnings:array",
        operation_name="recall",
        without="stats raw framed",
    ),
    _offer_tool(
        "write",
        "Remember one fact as a new note of the knowledge base, for every later session, project and "
        "machine. Refused in work and unknown projects; the answer says so and where it was kept instead.",
        "id:string path:string title:string tags:array project:object warnings:array",
        operation_name="write",
        is_read_only=False,
    ),
    _offer_tool(
        "learn",
        "Remember a learning (lesson, decision, gotcha, pattern, must-check) in this project's log: text, or "
        "proposals with their evidence, which is looked up in this session.",
        "proposals:array outcome:string id:string key:string type:string content:string tags:array "
        "confidence:number occurrences:integer may_contradict:array looks_like:array path:string "
        "warnings:array",
        operation_name="learn",
        is_read_only=False,
    ),
    _offer_tool(
        "relevant",
        "Find the learnings that help with a task before it begins: by its files, words and action, and by "
        "tasks like it.",
        "entries:array count:integer similar:array nodes:array",
        operation_name="relevant",
    ),
    _offer_tool(
        "suggest_remedy",
        "Suggest what fixed an error before, by how often it worked (known fix, error recovery).",
        "fingerprint:string error:string line:string remedies:array escalate:array more:integer",
        operation_name="remedy",
        without="name technique steps outcome pattern regex task",
        fixed={"action": "suggest"},
        required="error",
    ),
    _offer_tool(
        "record_remedy",
        "Record what was done about an error and whether it worked, so that it can be suggested.",
        "fingerprint:string error:string line:string remedies:array escalate:array recorded:object",
        operation_name="remedy",
        without="name pattern regex limit",
        fixed={"action": "record"},
        required="error technique",
        is_read_only=False,
    ),
    _offer_tool(
        "record_outcome",
        "Report whether a learning that was shown helped: its outcome (success, failure, prevented), or "
        "validated where another agent learned it and you found it true.",
        "id:string key:string outcome:string confidence_before:number confidence:number",
        operation_name="used",
        is_read_only=False,
    ),
    _offer_tool(
        "verify",
        "Put learnings through the gate: named checks, and your own scores for one of them.",
        "judged:array skipped:integer",
        operation_name="verify",
        without="judge",
        is_read_only=False,
    ),
    _offer_tool(
        "review_list",
        "List the learnings proposed as lines of this project's rule files (CLAUDE.md, AGENTS.md), which "
        "wait for a human's review. It changes nothing: only a human approves.",
        "digest:string proposals:array settled:array",
        operation_name="review",
        without="curate edit reason agent session",
    ),
    McpTool(
        name="status",
        description="Say whether this project may write to the knowledge base (work, personal or unknown), "
        "and what is wrong with the installation.",
        output={"project": "object", "checks": "array"},
    ),
    McpTool(
        name="fetch",
        description="For connectors: fetch the whole text of one note that search found.",
        output={"id": "string", "title": "string", "text": "string", "url": "string", "metadata": "object"},
        parameters=(_ID,),
    ),
)


def find_tool(name: str) -> McpTool | None:
    """Return the tool called `name`."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def input_schema(tool: McpTool) -> Json:
    """Return the JSON Schema of the tool's arguments."""
    required = [parameter.name for parameter in tool.parameters if parameter.required]
    return {
        "type": "object",
        "properties": {parameter.name: parameter_schema(parameter) for parameter in tool.parameters},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def output_schema(tool: McpTool) -> Json:
    """Return the JSON Schema of the tool's results; refusals and errors fit it too."""
    always = {
        "handling": "string",
        "schema": "integer",
        "refused": "object",
        "error": "object",
        "left_out": "array",
    }
    return {
        "type": "object",
        "properties": {
            name: {"type": type.split("|") if "|" in type else type} for name, type in {**always, **tool.output}.items()
        },
    }


def parameter_schema(parameter: VerbParameter) -> Json:
    """Return what one parameter takes."""
    help = parameter.help
    for words in _SHELL_ONLY:
        help = help.replace(words, "")
    match parameter.shape:
        case ParameterShape.FLAG:
            type: Json = {"type": "boolean", "default": False}
        case ParameterShape.COUNT:
            type = {"type": "integer", "minimum": 0}
        case ParameterShape.TEXTS:
            type = {"type": "array", "items": {"type": "string"}}
        case ParameterShape.OBJECTS:
            type = {"type": "array", "items": {"type": "object"}}
        case ParameterShape.TEXT if parameter.name in _FRACTION_PARAMETERS:
            type = {"type": "number", "minimum": 0, "maximum": 1}
        case ParameterShape.TEXT:
            type = {"type": "string"}
    return {**type, "description": help}


def arguments_of(tool: McpTool, call_arguments: Mapping[str, object]) -> Arguments:
    """Return a call's arguments converted for the library.

    Raises:
        UsageError: something is missing, unknown or of another type.
    """
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    if unknown := [name for name in call_arguments if name not in parameters]:
        raise UsageError(
            f"{tool.name} takes no {one_line(unknown[0])}", hint=f"it takes {', '.join(parameters) or 'nothing'}"
        )
    values: Arguments = dict(tool.fixed)
    for name, parameter in parameters.items():
        value = call_arguments.get(name)
        if value is not None:
            values[name] = _convert_value(parameter, value)
        elif parameter.required:
            raise UsageError(f"{tool.name} needs {name}", hint=parameter.help)
    return values


def _convert_value(parameter: VerbParameter, value: object) -> str | int | bool | tuple[str, ...]:
    match parameter.shape, value:
        case ParameterShape.FLAG, bool():
            return value
        case ParameterShape.COUNT, int() if not isinstance(value, bool) and 0 <= value <= _MAX_COUNT:
            return value
        case ParameterShape.TEXTS, list() if all(isinstance(item, str) for item in value):
            return tuple(_require_utf8(parameter, item) for item in value)
        case ParameterShape.OBJECTS, list() if all(isinstance(item, dict) for item in value):
            return _require_utf8(parameter, json.dumps(value, ensure_ascii=False))
        case ParameterShape.TEXTS, str():
            return (_require_utf8(parameter, value),)
        case ParameterShape.TEXT, str():
            return _require_utf8(parameter, value)
        case ParameterShape.TEXT, int() | float() if parameter.name in _FRACTION_PARAMETERS and not isinstance(
            value, bool
        ):
            return str(value)
        case ParameterShape.COUNT, int() if not isinstance(value, bool):
            raise UsageError(f"{parameter.name} is a whole number from 0 to {_MAX_COUNT:,}", hint=parameter.help)
    expected = parameter_schema(parameter)["type"]
    raise UsageError(f"{parameter.name} isn't of the type {expected}", hint=parameter.help)


def _require_utf8(parameter: VerbParameter, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{parameter.name} isn't text: it has half a character") from error
    return text
