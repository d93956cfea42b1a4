"""Help: a first screen of the commands that one uses, and the others by topic."""

import shlex
import shutil
import textwrap
from difflib import get_close_matches

from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.interfaces.cli import main
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.cli.fast_args import split_words
from roamkb.interfaces.operations import EVERY_COMMAND
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import TOPICS
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.operations import find_operation

#: What one uses, by what one wants.
_EVERYDAY = {
    "Begin": "setup doctor",
    "Your notes": "search show links write trash",
    "What agents learn": "init learn recall shown",
    "When something went wrong": "journal",
}
#: Commands that stand in no table of operations, which they have no time to read; by topic.
_BESIDE_THE_TABLE = {
    "boundary": (("exec", "Run a command where the kernel lets nothing write the notes."),),
    "doors": (("hook", "Answer a hook of a coding agent."),),
}
#: Up to where a line's last column begins: behind the last run of blanks.
_LAST_COLUMN = lazily(r"  .*\S  +(?=\S)|  (?=\S)")
#: Of a screen on which words can be laid out; narrower ones, and what is no screen, get the lines as they are.
_LEAST_COLUMNS = 30
#: Of a word to what it may be a slip of: `export` is none of `import`.
_LEAST_LIKENESS = 0.7
#: What other programs call it.
_COMMANDS_ELSEWHERE = {
    "add": "write",
    "create": "write",
    "delete": "trash",
    "find": "search",
    "grep": "search",
    "list": "nodes",
    "ls": "nodes",
    "log": "recall",
    "new": "write",
    "note": "write",
    "remove": "trash",
    "rm": "trash",
    "status": "doctor",
    "version": "--version",
}
_HEAD = """\
Usage: roamkb COMMAND [OPTION]... [ARGUMENT]...

  A knowledge base that coding agents share with their human, kept as plain org-roam files."""
_EXIT_STATUS = """\
Exit status: 0 found or done, 1 nothing found, 2 error, 3 refused, 4 changed on disk,
  5 written but not known to be durable, 75 busy."""


def first_screen() -> str:
    """Return the help that is shown first."""
    topics = ", ".join(TOPICS)
    others = (
        ("roamkb help COMMAND", "one command; `roamkb COMMAND -h` says the same"),
        ("roamkb help TOPIC", f"the commands about {topics}"),
        (f"roamkb help {EVERY_COMMAND}", f"all {len(OPERATIONS)} commands"),
        ("roamkb --version", "the version"),
    )
    groups = [
        _list(title, _rows([operation for name in names.split() if (operation := find_operation(name))]))
        for title, names in _EVERYDAY.items()
    ]
    return _fit_screen("\n\n".join((_HEAD, *groups, _list("More", others), _EXIT_STATUS)))


def _rows(operations: list[Operation]) -> "list[tuple[str, str]]":
    return [(operation.name, operation.summary) for operation in operations]


def _list(title: str, rows: "list[tuple[str, str]] | tuple[tuple[str, str], ...]") -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join([f"{title}:", *(f"  {name:{width}}  {about}" for name, about in rows)])


def topic_screen(topic: str) -> str:
    """Return the commands of a topic, or of all."""
    groups = [
        _list(
            panel,
            [
                *_rows([operation for operation in OPERATIONS if operation.panel == panel]),
                *_BESIDE_THE_TABLE.get(name, ()),
            ],
        )
        for name, panel in TOPICS.items()
        if topic in (name, EVERY_COMMAND)
    ]
    return _fit_screen("\n\n".join((*groups, "`roamkb help COMMAND` has the options and an example.")))


def _fit_screen(text: str) -> str:
    """Return `text` with the lines that are too long for the screen broken, their rests below their last column."""
    columns = shutil.get_terminal_size((0, 0)).columns
    if columns < _LEAST_COLUMNS:
        return text
    return "\n".join(part for line in text.splitlines() for part in _fit_line(line, columns))


def _fit_line(line: str, columns: int) -> list[str]:
    column = _LAST_COLUMN.match(line)
    indent = " " * min(column.end() if column else 2, columns // 2)
    return textwrap.wrap(line, columns, subsequent_indent=indent) or [line]


def serve(call: OperationCall) -> int:
    """Print the help that `roamkb help [TOPIC]` asks for; return the exit status.

    Raises:
        UsageError: there is no such command or topic.
    """
    topic = call.arguments["topic"]
    if topic is None:
        print(first_screen())
        return 0
    name = str(topic)
    if name in TOPICS or name == EVERY_COMMAND:
        print(topic_screen(name))
        return 0
    if find_operation(name):
        return main.run_typer([name, "--help"])
    other = meant_command([name])
    question = f"did you mean {other}? " if other else ""
    raise UsageError(f"no help on {one_line(name)}", hint=f"{question}topics: {', '.join(TOPICS)}, {EVERY_COMMAND}")


def meant_command(words: list[str]) -> str:
    """Return the command that a word means elsewhere; empty where it is one here, or means none."""
    name = words[0] if words else ""
    return "" if find_operation(name) else _COMMANDS_ELSEWHERE.get(name, "")


def meant_text(words: list[str]) -> str:
    """Return the question whether the words behind a command that takes one text are one, with `; ` behind it."""
    operation = find_operation(words[0]) if words else None
    split = split_words(operation, words[1:]) if operation else None
    if operation is None or split is None:
        return ""
    texts = [parameter for parameter in operation.parameters if not parameter.flag]
    is_free = len(texts) == 1 and texts[0].shape is ParameterShape.TEXT and not texts[0].choices
    if len(split[1]) < 2 or not is_free:
        return ""
    return f"did you mean {shlex.quote(' '.join(split[1]))}, in quotes? "


def meant_value(call: OperationCall) -> str:
    """Return the question whether another value was meant, where one is no choice of its parameter's."""
    for parameter in call.operation.parameters:
        given = call.arguments.get(parameter.name)
        for value in given if isinstance(given, tuple) else (given,):
            if parameter.choices and isinstance(value, str) and value not in parameter.choices:
                close = get_close_matches(value, parameter.choices, 1, _LEAST_LIKENESS)
                return f"did you mean {close[0]}?" if close else ""
    return ""
