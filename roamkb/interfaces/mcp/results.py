"""Results as a client gets them: data within its limits, and the same as text framed for a prompt."""

import json
import secrets
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from urllib.parse import quote
from urllib.parse import unquote

from roamkb.app import KnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.untrusted import HANDLING
from roamkb.core.untrusted import escaped
from roamkb.core.untrusted import framed
from roamkb.core.untrusted import quoted
from roamkb.interfaces.mcp.tools import McpTool
from roamkb.interfaces.mcp.tools import arguments_of
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json

#: Characters of a result's JSON: of more than 50,000 Claude Code shows its model the first 2,000.
_MOST = 48_000
#: Characters of one text in it, and of one in a list.
_LONG, _SHORT = 40_000, 4_000
#: Characters of text in a frame, which has room for 10,000 with what it says of itself.
_ROOM = 9_500
#: Half of a character, which no JSON of a client's may hold; a file's name can.
_HALF = lazily("[\ud800-\udfff]")

#: The address of a node; its id follows.
NODE = "roamkb://node/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave."""

    json: Json
    text: str
    is_error: bool = False

    @property
    def data(self) -> Json:
        """The JSON as a model may be shown it, without the text: so it says itself how to take it."""
        return self.json if self.is_error else {"handling": HANDLING, **self.json}


def answer(kb: KnowledgeBase, tool: McpTool, given: Mapping[str, object]) -> ToolResult:
    """Carry out one call; what goes wrong is an answer too."""
    try:
        arguments = arguments_of(tool, given)
        if tool.name == "fetch":
            return _fetched(kb, str(arguments["id"]))
        if "query" in arguments:
            if len(arguments) > 1:
                raise UsageError("query stands alone", hint="give words with the other arguments")
            return _results(kb, str(arguments["query"]))
        if tool.operation is None:
            return _status(kb)
        operation = tool.operation
        door = kb.log if operation.is_of_log else kb
        result: object = getattr(door, operation.method)(**arguments)
        printed = render.render(operation.name, result)
        lines = [*printed.text(False).splitlines(), *printed.warnings]
        return ToolResult(json=bounded(printed.json), text=_framed(lines, source=f"roamkb {operation.name}"))
    except RoamkbError as error:
        return _failed(error)
    except OSError as error:
        return _failed(RoamkbError(f"{error.filename or 'disk'}: {error.strerror}"))


def node_text(kb: KnowledgeBase, uri: str) -> str:
    """Return the text of the node with that address, framed.

    Raises:
        RoamkbError: there is none.
    """
    printed = render.render("show", kb.show(_name(uri)))
    return _framed(printed.text(False).splitlines(), source=uri)


def node_state(kb: KnowledgeBase, uri: str) -> str:
    """Return what is different once the node with that address is; empty where there is none."""
    try:
        return _dumps(render.render("show", kb.show(_name(uri))).json)
    except (RoamkbError, OSError):
        return ""


def _name(uri: str) -> str:
    return unquote(uri.removeprefix(NODE)) if uri.startswith(NODE) else uri


def _failed(error: RoamkbError) -> ToolResult:
    told = bounded(render.error_json(error))
    text = escaped(quoted(render.error_text(error)))
    return ToolResult(json=told, text=f"{text}\n{escaped(quoted(_dumps(told)))}", is_error=True)


def _status(kb: KnowledgeBase) -> ToolResult:
    project, checkup = render.render("classify", kb.classify()), render.render("doctor", kb.doctor())
    told = {key: value for key, value in project.json.items() if key != "schema"}
    lines = [*project.text(False).splitlines(), *checkup.text(False).splitlines()]
    return ToolResult(
        json=bounded({**checkup.json, "project": told}), text=_framed(lines, source="roamkb status")
    )


def _results(kb: KnowledgeBase, query: str) -> ToolResult:
    """Return the hits as connectors read them: each with an address to cite."""
    hits = kb.search(query).hits
    found = [
        {"id": id, "title": quoted(hit.title), "url": _url(id)}
        # of text in no node, its place
        for hit, id in ((hit, hit.id or f"{hit.path}:{hit.line}") for hit in hits)
    ]
    told = bounded({"results": found})
    # connectors read the text, as JSON
    return ToolResult(json=told, text=_dumps(told))


def _fetched(kb: KnowledgeBase, id: str) -> ToolResult:
    result = kb.show(_name(id))
    printed = render.render("show", result)
    node = result.node
    url = _url(node.id or id)
    told = bounded(
        {
            "id": node.id or id,
            "title": quoted(node.title),
            "text": _framed(printed.text(False).splitlines(), source=url),
            "url": url,
            "metadata": {"path": str(result.path), "tags": ", ".join(node.tags)},
        }
    )
    return ToolResult(json=told, text=_dumps(told))


def _url(id: str) -> str:
    return NODE + quote(id, safe="", errors="replace")


def _framed(lines: Iterable[str], *, source: str) -> str:
    """Return as many of the lines as fit, from the first on, framed as data."""
    kept, room = [], _ROOM
    rest = iter(lines)
    left_out = 0
    for line in rest:
        room -= min(len(escaped(line)), 2_000) + 1
        if room < 0:
            left_out = 1 + sum(1 for _ in rest)
            break
        kept.append(line)
    if left_out:
        kept.append(f"({left_out} more lines were left out; the structured result has more)")
    return framed(kept or ["(nothing found)"], source=source, nonce=secrets.token_hex(4))


def bounded(value: Json) -> Json:
    """Return a result that fits a client; `left_out` says what was taken from one that was too long."""
    told: Json = json.loads(_dumps(value))
    if len(_dumps(told)) <= _MOST:
        return told
    left_out: list[str] = []
    told = {key: _shortened(one, key, _LONG, left_out) for key, one in told.items()}
    while len(_dumps(told)) > _MOST:
        where, items = max(_lists(told), key=lambda found: len(json.dumps(found[1])), default=("", []))
        if len(items) < 2:
            break
        left_out.append(f"{where}: the last {len(items) - len(items) // 2} of {len(items)}")
        del items[len(items) // 2 :]
    return {**told, "left_out": left_out}


def _shortened(value: object, where: str, room: int, left_out: list[str]) -> object:
    match value:
        case str() if len(value) > room:
            left_out.append(f"{where}: the last {len(value) - room} of {len(value)} characters")
            return value[:room]
        case dict():
            return {key: _shortened(one, f"{where}.{key}", room, left_out) for key, one in value.items()}
        case list():
            return [_shortened(one, where, _SHORT, left_out) for one in value]
    return value


def _lists(value: dict[str, object], where: str = "") -> Iterator[tuple[str, list[object]]]:
    """Yield the lists that aren't in other lists, each with its place."""
    for key, one in value.items():
        if isinstance(one, list):
            yield f"{where}{key}", one
        elif isinstance(one, dict):
            yield from _lists(one, f"{where}{key}.")


def _dumps(value: Json) -> str:
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", json.dumps(value, ensure_ascii=False))
