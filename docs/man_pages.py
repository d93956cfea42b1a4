"""Man pages: commands from the table of operations, file formats and the boundary from `docs/`.

The wheel's build calls `man_pages`; it has neither Typer nor FastAPI at hand.
"""

import os
import re
import textwrap
from collections.abc import Iterable
from collections.abc import Iterator
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from roamkb import __main__ as program
from roamkb import __version__
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.interfaces.completion.scripts import CompletedCommand
from roamkb.interfaces.completion.scripts import completed_commands
from roamkb.interfaces.operations import find_operation

_ROOT: Final = Path(__file__).parents[1]
_SUMMARY: Final = "a knowledge base that coding agents share with their human"
#: Pages beside those of commands, each with its document and the sections of it that it holds.
_PAGES: Final[dict[tuple[str, str], tuple[str, str, tuple[str, ...]]]] = {
    ("roamkb-log", "5"): ("learnings of a project", "docs/log-and-pipeline.md", ("", "Lines")),
    ("roamkb-ledger", "5"): ("events of a project's learnings", "docs/log-and-pipeline.md", ("Events",)),
    ("roamkb-rule", "5"): (
        "the rule that agents and roamkb read",
        "docs/boundary.md",
        ("The rule", "Who may write"),
    ),
    ("roamkb-boundary", "7"): (
        "who may write to the notes, the wall and the journal",
        "docs/boundary.md",
        (),
    ),
}
_UNBROKEN: Final[dict[str, Any]] = {"break_long_words": False, "break_on_hyphens": False}
_PARSER: Final = MarkdownIt("commonmark").enable("table")


def man_pages() -> dict[str, str]:
    """Return the source of every page by the name of its file."""
    commands = tuple(completed_commands())
    pages = {("roamkb", "1"): _program_page(commands)}
    pages |= {(f"roamkb-{command.name}", "1"): _command_page(command) for command in commands}
    for (name, section), (about, document, headings) in _PAGES.items():
        lines = [*_name(name, about), *_document_lines(document, headings)]
        if name == "roamkb-rule":
            lines += [
                ".SH EXAMPLES",
                *_example((_ROOT / "rules" / "knowledge-base.md").read_text(encoding="utf-8")),
            ]
        pages[name, section] = lines
    see_also = sorted(pages)
    return {
        f"{name}.{section}": "\n".join([_title(name, section), *_laid_out([*lines, *_see_also(name, see_also)])]) + "\n"
        for (name, section), lines in pages.items()
    }


# pages


def _laid_out(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without paragraphs where one begins anyway, and prose in lines of an editor's width."""
    before, is_example = "", False
    # what a paragraph hangs from stays on one line
    for line in "\n".join(lines).splitlines():
        is_example = line == ".EX" or (is_example and line != ".EE")
        if line != ".PP" or not before.startswith((".SH", ".SS")):
            is_prose = not is_example and not line.startswith(".") and before != ".TP"
            filled = textwrap.wrap(line, 78, **_UNBROKEN) if is_prose else [line]
            # a word at the start of a line isn't to be taken for a macro
            yield from (rf"\&{part}" if is_prose and part[0] in ".'" else part for part in filled)
        before = line


def _title(name: str, section: str) -> str:
    changed = (_ROOT / "roamkb" / "__init__.py").stat().st_mtime
    day = datetime.fromtimestamp(float(os.environ.get("SOURCE_DATE_EPOCH", changed)), UTC).date()
    return f'.TH {name.upper()} {section} "{day}" "roamkb {__version__}"'


def _name(name: str, about: str) -> list[str]:
    return [".SH NAME", f"{_text(name)} \\- {_text(about)}"]


def _see_also(name: str, pages: list[tuple[str, str]]) -> Iterator[str]:
    shown = pages if name == "roamkb" else [("roamkb", "1"), *_PAGES]
    names = [page for page in shown if page[0] != name]
    yield ".SH SEE ALSO"
    for place, (other, section) in enumerate(names, start=1):
        yield f".BR {_text(other)} ({section}){',' if place < len(names) else ''}"


def _program_page(commands: tuple[CompletedCommand, ...]) -> list[str]:
    lines = [
        *_name("roamkb", _SUMMARY),
        ".SH SYNOPSIS",
        ".B roamkb",
        r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]...",
    ]
    lines += [".SH COMMANDS"]
    for command in commands:
        lines += [".TP", f".BR {_text(f'roamkb-{command.name}')} (1)", _text(command.summary)]
    lines += [
        ".SH OPTIONS",
        ".TP",
        r".B \-\-version",
        "The version.",
        ".TP",
        r".B \-h, \-\-help",
        "Show this message and exit.",
    ]
    return [*lines, *_document_lines("docs/json.md", ("Exit status",))]


def _command_page(command: CompletedCommand) -> list[str]:
    operation = find_operation(command.name)
    lines = _name(f"roamkb-{command.name}", command.summary[0].lower() + command.summary[1:].rstrip("."))
    if operation is None:
        help = {"hook": program.HOOK_HELP, "exec": program.EXEC_HELP}[command.name]
        return [
            *lines,
            ".SH SYNOPSIS",
            f".B {_text(f'roamkb {command.name}')}",
            ".SH DESCRIPTION",
            *_example(help),
            *_options(command),
        ]
    lines += [".SH SYNOPSIS", _text(operation.usage), ".SH DESCRIPTION", _text(command.summary)]
    lines += _options(command)
    lines += [".SH EXAMPLES", *_example(operation.example), ".SH EXIT STATUS", "See", ".BR roamkb (1)."]
    return lines


def _options(command: CompletedCommand) -> Iterator[str]:
    yield ".SH OPTIONS"
    for parameter in command.parameters:
        yield from (".TP", _spelling(parameter), _text(parameter.help))
        if parameter.choices and any(choice not in parameter.help for choice in parameter.choices):
            yield _text(f"One of {', '.join(parameter.choices)}.")


def _spelling(parameter: VerbParameter) -> str:
    if not parameter.flag:
        return rf"\fI{_text(parameter.placeholder)}\fR"
    value = _text(parameter.metavar or "")
    again = " ..." if parameter.shape is ParameterShape.TEXTS else ""
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in (parameter.letter, parameter.flag) if name)
    return names + (rf" \fI{value}\fR{again}" if value else "")


# documents


def _document_lines(document: str, headings: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the sections of a document under `headings` ("" is its beginning); without them all of it."""
    tree = SyntaxTreeNode(_PARSER.parse((_ROOT / document).read_text(encoding="utf-8")))
    is_chosen, top = not headings or "" in headings, 2
    if is_chosen:
        yield ".SH DESCRIPTION"
    for block in tree.children:
        if block.type != "heading":
            yield from _block(block) if is_chosen else ()
            continue
        title, depth = _plain(block), int(block.tag[1])
        if depth > 1 and headings and (title in headings or depth <= top or not is_chosen):
            is_chosen, top = title in headings, depth
        if depth > 1 and is_chosen:
            yield f".SH {_text(title.upper())}" if depth <= top else f".SS {_text(title)}"


def _block(block: SyntaxTreeNode) -> Iterator[str]:
    match block.type:
        case "paragraph":
            yield from (".PP", _inline(block))
        case "fence":
            yield from _example(block.content)
        case "bullet_list" | "ordered_list":
            for number, item in enumerate(block.children, start=1):
                yield r".IP \(bu 4" if block.type == "bullet_list" else f".IP {number}. 4"
                for place, part in enumerate(item.children):
                    lines = list(_block(part))
                    yield from lines[1:] if place == 0 and part.type == "paragraph" else lines
        case "table":
            for row in block.children[1].children:
                first, *others = map(_inline, row.children)
                text = "; ".join(filter(None, others))
                yield from (".TP", first, text) if len(first) < 80 else (".PP", first, ".RS", text, ".RE")
        case "html_block":
            return
        case other:
            raise ValueError(f"no man source for {other}")


def _inline(block: SyntaxTreeNode) -> str:
    inline = block.children[0] if block.children else None
    return "".join(map(_span, inline.children if inline else ()))


def _span(span: SyntaxTreeNode) -> str:
    inner = "".join(map(_span, span.children))
    match span.type:
        case "text":
            return _text(span.content)
        case "code_inline":
            return rf"\fB{_text(span.content)}\fR"
        case "strong":
            return rf"\fB{inner}\fR"
        case "em":
            return rf"\fI{inner}\fR"
        case "softbreak":
            return "\n"
    return inner


def _plain(block: SyntaxTreeNode) -> str:
    inline = block.children[0]
    return "".join(part.content for part in inline.children)


def _example(text: str) -> Iterator[str]:
    yield from (".PP", ".EX")
    yield from (_text(line) or "\\&" for line in text.rstrip("\n").splitlines())
    yield ".EE"


def _text(text: str) -> str:
    """Return a text as roff has it literally, in ASCII."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
