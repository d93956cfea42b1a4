"""Results for MCP clients: data within the limits, and the same as text framed for a prompt."""

import json
import secrets
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from urllib.parse import quote
from urllib.parse import unquote

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import strip_hidden
from roamkb.core.untrusted import FRAME_NOTICE
from roamkb.core.untrusted import escape_tags
from roamkb.core.untrusted import frame_items
from roamkb.core.untrusted import quote_roles
from roamkb.interfaces.mcp.tools import McpTool
from roamkb.interfaces.mcp.tools import arguments_of
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json

#: Characters of a result's JSON: of more than 50,000 one harness shows its model the first 2,000.
_MAX_RESULT_LENGTH = 48_000
#: Characters of one text in it, and of one in a list.
_MAX_TEXT_LENGTH, _MAX_ITEM_LENGTH = 40_000, 4_000
#: Characters of text in a frame, which has room for 10,000 with what it says of itself.
_FRAME_ROOM = 9_500
#: Half of a character, which no JSON of a client's may hold; a file's name can.
_LONE_SURROGATE = lazily("[\ud800-\udfff]")

#: The address of a node; its id follows.
NODE_PREFIX = "roamkb://node/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Result of one call."""

    json: Json
    text: str
    is_error: bool = False

    @property
    def structured_data(self) -> Json:
        """The JSON for a model that isn't shown the text: it carries the notice on handling it."""
        return self.json if self.is_error else {"handling": FRAME_NOTICE, **self.json}


def answer_call(kb: KnowledgeBase, tool: McpTool, call_arguments: Mapping[str, object]) -> ToolResult:
    """Carry out one call; an error is returned as a result, too."""
    try:
        arguments = arguments_of(tool, call_arguments)
        if tool.name == "fetch":
            return _fetch_node(kb, str(arguments["id"]))
        if "query" in arguments:
            if len(arguments) > 1:
                raise UsageError("query stands alone", hint="give words with the other arguments")
            return _search_results(kb, str(arguments["query"]))
        if tool.operation is None:
            return _status_result(kb)
        operation = tool.operation
        owner = kb.log if operation.is_of_log else kb
        result: object = getattr(owner, operation.method_name)(**arguments)
        printed = render.render_result(operation.name, result)
        # a warning is about what follows it
        lines = [*printed.warnings, *printed.text(False).splitlines()]
        return ToolResult(
            json=bound_result(printed.as_json), text=_frame_lines(lines, source=f"roamkb {operation.name}")
        )
    except RoamkbError as error:
        return _error_result(error)
    except OSError as error:
        return _error_result(RoamkbError(f"{error.filename or 'disk'}: {error.strerror}"))


def node_text(kb: KnowledgeBase, uri: str) -> str:
    """Return the text of the node with that address, framed.

    Raises:
        RoamkbError: there is none.
    """
    printed = render.render_result("show", kb.show(_node_name(uri)))
    return _frame_lines(printed.text(False).splitlines(), source=uri)


def node_state(kb: KnowledgeBase, uri: str) -> str:
    """Return a digest text of the node with that address; empty where there is none."""
    try:
        return _dump_json(render.render_result("show", kb.show(_node_name(uri))).as_json)
    except (RoamkbError, OSError):
        return ""


def _node_name(uri: str) -> str:
    return unquote(uri.removeprefix(NODE_PREFIX)) if uri.startswith(NODE_PREFIX) else uri


def _error_result(error: RoamkbError) -> ToolResult:
    error_data = bound_result(render.error_json(error))
    text = escape_tags(quote_roles(render.error_text(error)))
    return ToolResult(
        json=error_data, text=f"{text}\n{escape_tags(quote_roles(_dump_json(error_data)))}", is_error=True
    )


def _status_result(kb: KnowledgeBase) -> ToolResult:
    project, checkup = render.render_result("classify", kb.classify()), render.render_result("doctor", kb.doctor())
    project_data = {key: value for key, value in project.as_json.items() if key != "schema"}
    lines = [*project.text(False).splitlines(), *checkup.text(False).splitlines()]
    return ToolResult(
        json=bound_result({**checkup.as_json, "project": project_data}),
        text=_frame_lines(lines, source="roamkb status"),
    )


def _search_results(kb: KnowledgeBase, query: str) -> ToolResult:
    """Return the hits as connectors read them: each with an address to cite."""
    hits = kb.search(query).hits
    connector_hits = [
        {"id": id, "title": quote_roles(hit.title), "url": _node_url(id)}
        # of text in no node, its place
        for hit, id in ((hit, hit.id or f"{hit.path}:{hit.line}") for hit in hits)
    ]
    result_data = bound_result({"results": connector_hits})
    # connectors read the text, as JSON
    return ToolResult(json=result_data, text=_dump_json(result_data))


def _fetch_node(kb: KnowledgeBase, id: str) -> ToolResult:
    result = kb.show(_node_name(id))
    printed = render.render_result("show", result)
    node = result.node
    url = _node_url(node.id or id)
    node_data = bound_result(
        {
            "id": node.id or id,
            "title": quote_roles(node.title),
            "text": _frame_lines(printed.text(False).splitlines(), source=url),
            "url": url,
            "metadata": {"path": str(result.path), "tags": ", ".join(node.tags)},
        }
    )
    return ToolResult(json=node_data, text=_dump_json(node_data))


def _node_url(id: str) -> str:
    return NODE_PREFIX + quote(id, safe="", errors="replace")


def _frame_lines(lines: Iterable[str], *, source: str) -> str:
    """Return as many of the lines as fit, from the first on, framed as data."""
    included_lines, room = [], _FRAME_ROOM
    remaining_lines = iter(lines)
    left_out = 0
    for line in remaining_lines:
        room -= min(len(escape_tags(line)), 2_000) + 1
        if room < 0:
            left_out = 1 + sum(1 for _ in remaining_lines)
            break
        included_lines.append(line)
    if left_out:
        included_lines.append(f"({left_out} more lines were left out; the structured result has more)")
    return frame_items(included_lines or ["(nothing found)"], source=source, nonce=secrets.token_hex(4))


def bound_result(value: Json) -> Json:
    """Return a result that fits a client; `left_out` lists the parts taken from one that was too long."""
    fitted: Json = json.loads(_dump_json(value))
    if len(_dump_json(fitted)) <= _MAX_RESULT_LENGTH:
        return fitted
    left_out: list[str] = []
    fitted = {key: _shorten_value(part, key, _MAX_TEXT_LENGTH, left_out) for key, part in fitted.items()}
    while len(_dump_json(fitted)) > _MAX_RESULT_LENGTH:
        list_place, items = max(
            _outer_lists(fitted), key=lambda place_and_items: len(json.dumps(place_and_items[1])), default=("", [])
        )
        if len(items) < 2:
            break
        left_out.append(f"{list_place}: the last {len(items) - len(items) // 2} of {len(items)}")
        del items[len(items) // 2 :]
    return {**fitted, "left_out": left_out}


def _shorten_value(value: object, place: str, room: int, left_out: list[str]) -> object:
    match value:
        case str() if len(value) > room:
            left_out.append(f"{place}: the last {len(value) - room} of {len(value)} characters")
            return value[:room]
        case dict():
            return {key: _shorten_value(part, f"{place}.{key}", room, left_out) for key, part in value.items()}
        case list():
            return [_shorten_value(part, place, _MAX_ITEM_LENGTH, left_out) for part in value]
    return value


def _outer_lists(value: dict[str, object], prefix: str = "") -> Iterator[tuple[str, list[object]]]:
    """Yield the lists that aren't in other lists, each with its path."""
    for key, part in value.items():
        if isinstance(part, list):
            yield f"{prefix}{key}", part
        elif isinstance(part, dict):
            yield from _outer_lists(part, f"{prefix}{key}.")


def _dump_json(value: Json) -> str:
    """Return JSON as a model may read it: escapes show themselves, and what shows as nothing is left out."""
    return strip_hidden(_LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", json.dumps(value, ensure_ascii=False)))
