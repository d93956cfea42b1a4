"""Write the parts of `docs/` that are made from the program: `make docs`, or `--check` to compare only."""

import ast
import difflib
import subprocess
import sys
import tomllib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.interfaces.http.knowledge_api import POSTED_MODELS
from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
from roamkb.interfaces.http.operation_routes import OperationRoute
from roamkb.interfaces.mcp.tools import TOOLS
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation

_DOCS: Final = Path(__file__).parent
_ROOT: Final = _DOCS.parent

#: Where a reader finds what a group of commands is for.
_TOPICS: Final = {
    "Knowledge base": "[Notes](notes.md) shows them at work.",
    "Project's log": "[The log and the pipeline](log-and-pipeline.md) explains them.",
    "Boundary and rule": "[Install](install.md) and [the boundary](boundary.md) explain them.",
    "Looking after it": "[Notes](notes.md#tidy) and [the journal](boundary.md#the-journal) explain them.",
    "Agents' doors": "[MCP](mcp.md) and [HTTP](http.md) explain them.",
}


def commands() -> str:
    """Return every command with its parameters, grouped as the help groups them."""
    return "\n".join(_command_lines())


def _command_lines() -> Iterator[str]:
    by_panel = sorted(OPERATIONS, key=lambda operation: list(_TOPICS).index(operation.panel))
    for panel, operations in groupby(by_panel, key=lambda operation: operation.panel):
        yield from (f"## {panel}", "", _TOPICS[panel], "")
        for operation in operations:
            yield from _operation_lines(operation)
    yield from (
        "## Run by harnesses",
        "",
        "[Hooks](hooks.md) and [the wall](boundary.md#the-wall) explain them.",
        "",
    )
    for name in ("hook", "exec"):
        # too hot a path for the table of operations: their help is a text of its own
        command = [sys.executable, "-m", "roamkb", name, "--help"]
        help = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout.rstrip()
        yield from (f"### {name}", "", "```text", help, "```", "")


def _operation_lines(operation: Operation) -> Iterator[str]:
    yield from (f"### {operation.name}", "", operation.summary, "", "```sh", operation.usage, "```", "")
    if operation.parameters:
        yield from ("| argument or option | meaning |", "|---|---|")
        yield from (f"| {_spelling(p)} | {_meaning(p)} |" for p in operation.parameters)
        yield ""
    yield from (f"Example: `{operation.example}`", "")


def _spelling(parameter: VerbParameter) -> str:
    if not parameter.flag:
        return f"`{_cell(parameter.placeholder)}`"
    value = f" {parameter.metavar}" if parameter.metavar else ""
    again = ", repeatable" if parameter.shape is ParameterShape.TEXTS else ""
    return f"`{_cell(parameter.flag + value)}`{again}"


def _meaning(parameter: VerbParameter) -> str:
    # the spelling says it already
    return _cell(parameter.help.replace(" (again for more)", ""))


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def tools() -> str:
    """Return the MCP tools: which command each is, and what it takes."""
    rows = [
        f"| `{tool.name}` | {_tool_command(tool.operation, tool.fixed)} | {_names(tool.parameters)} |" for tool in TOOLS
    ]
    return "\n".join(["| tool | is the command | takes |", "|---|---|---|", *rows])


def _tool_command(operation: Operation | None, fixed: Mapping[str, str | bool]) -> str:
    if operation is None:
        return "see below"
    return f"`{' '.join([operation.name, *map(str, fixed.values())])}`"


def http_routes() -> str:
    """Return the HTTP paths that are commands, and the parameters of each."""
    rows = [
        f"| `{'GET' if route.reads else 'POST'} /api/{route.operation.name}` | {_taken(route)} |"
        for route in OFFERED_ROUTES
    ]
    return "\n".join(["| path | takes |", "|---|---|", *rows])


def _taken(route: OperationRoute) -> str:
    names = [_name(p) + _choice(route.choices.get(p.name, ())) for p in route.parameters]
    known = {p.name for p in route.parameters}
    pages = [f"`{name}`" for name in ("limit", "offset") if route.pages and name not in known]
    return ", ".join(names + pages) or "nothing"


def knowledge_routes() -> str:
    """Return the HTTP paths of document 004 that store something, and what each takes."""
    rows = [f"| `POST /api/knowledge/{kind}` | {_model_names(model)} |" for kind, model in POSTED_MODELS.items()]
    return "\n".join(["| path | takes |", "|---|---|", *rows])


def _model_names(model: type[BaseModel]) -> str:
    fields = sorted(model.model_fields.items(), key=lambda item: not item[1].is_required())
    return ", ".join(f"**`{name}`**" if field.is_required() else f"`{name}`" for name, field in fields)


def _choice(values: Sequence[str]) -> str:
    return f" (only {', '.join(f'`{value}`' for value in values)})" if values else ""


def _name(parameter: VerbParameter) -> str:
    return f"**`{parameter.name}`**" if parameter.required else f"`{parameter.name}`"


def _names(parameters: Sequence[VerbParameter]) -> str:
    return ", ".join(map(_name, parameters)) or "nothing"


def modules() -> str:
    """Return the map of the packages: each module with the first line of its docstring."""
    package = _ROOT / "roamkb"
    folders = sorted({path.parent for path in package.rglob("*.py")}, key=_layer)
    return "\n".join(line for folder in folders for line in _folder_lines(folder))


def _layer(folder: Path) -> tuple[int, str]:
    """Return where `folder` stands: by the layers that import-linter checks, the highest first."""
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    name = ".".join(folder.relative_to(_ROOT).parts)
    places = [index for index, layer in enumerate(layers) if f"{name}.".startswith(f"roamkb.{layer}.")]
    return (places[0] if places else -1, name)


def _folder_lines(folder: Path) -> Iterator[str]:
    name = folder.relative_to(_ROOT).as_posix()
    yield from (f"### `{name}/`", "")
    if purpose := _purpose(folder / "__init__.py"):
        yield from (purpose, "")
    yield from ("| module | purpose |", "|---|---|")
    for path in sorted(folder.glob("*.py")):
        if path.name != "__init__.py":
            yield f"| `{path.stem}` | {_cell(_purpose(path))} |"
    yield ""


def _purpose(path: Path) -> str:
    if not path.exists():
        return ""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    line = docstring.partition("\n")[0]
    # a sentence that the first line doesn't end goes on below
    return line if line.endswith(".") else " ".join(docstring.partition("\n\n")[0].split())


_PARTS: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "commands": ("commands.md", commands),
    "tools": ("mcp.md", tools),
    "routes": ("http.md", http_routes),
    "knowledge": ("http.md", knowledge_routes),
    "modules": ("architecture.md", modules),
}


def _with_block(page: str, name: str, text: str) -> str:
    """Return `page` with `text` in its generated block of that name."""
    start, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"there is no block {start.strip()}")
    return f"{before}{start}\n{text.strip()}\n\n{end}{after}"


def main() -> int:
    """Write each generated part, or say which differ; return the exit status."""
    is_check = sys.argv[1:] == ["--check"]
    status = 0
    for name, (file, make) in _PARTS.items():
        path = _DOCS / file
        before = path.read_text(encoding="utf-8")
        after = _with_block(before, name, make())
        if after == before:
            continue
        if is_check:
            status = 1
            sys.stdout.writelines(
                difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True), path.name, "what `make docs` writes"
                )
            )
        else:
            path.write_text(after, encoding="utf-8")
            print(f"write {path}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
