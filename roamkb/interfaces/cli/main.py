"""The command line: parse, call, render. The one place where an error becomes a message and a status."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from roamkb.core.errors import NotWritable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.text import cleaned
from roamkb.interfaces.cli.fast_args import JSON_FLAG
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output import render

if TYPE_CHECKING:
    import typer

    from roamkb.app import KnowledgeBase
    from roamkb.boundary.human_consent import HumanAtTerminal

#: Seconds after which a person wonders what it is doing.
_PATIENCE = 1.0
#: Ctrl-C, as shells count it.
_INTERRUPTED = 130


def run(words: list[str]) -> int:
    """Do what `words` ask for; return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        # a C locale splits what isn't ASCII into bytes; put together it is text again
        words = [os.fsencode(word).decode() for word in words]
    except UnicodeDecodeError:
        return _report(UsageError("the words aren't UTF-8 text"), as_json=JSON_FLAG in words)
    try:
        call = parse_words(words)
        status = execute(call) if call else run_typer(words)
        _flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _LostOutput as unheard:
        return unheard.status
    except BrokenPipeError:
        _silence()
        return 0
    except OSError as error:
        # the help, too, may meet a full disk
        _silence()
        _complain(f"can't print: {error.strerror}")
        return RoamkbError.exit_code
    return status


def fail(words: list[str], message: str, *, hint: str) -> int:
    """Say why `words` weren't done, as an error of any other call; return the exit status."""
    try:
        return _report(RoamkbError(message, hint=hint), as_json=JSON_FLAG in words)
    except _LostOutput as unheard:
        return unheard.status


class _LostOutput(Exception):
    """What was done couldn't be printed; its status stands."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


def _say(text: str, status: int) -> None:
    """Print `text`. A reader that went away changes nothing about what was done, so `status` stands."""
    if not text or sys.stdout is None:
        return
    try:
        print(text)
        _flush()
    except BrokenPipeError:
        _silence()
        raise _LostOutput(status) from None
    except OSError as error:
        _silence()
        _complain(f"can't print: {error.strerror}")
        raise _LostOutput(status or RoamkbError.exit_code) from None


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _silence(stream: int = 1) -> None:
    """Send the rest of a stream nowhere: Python would complain again when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _complain(message: str) -> None:
    """Print a line on standard error, if there is one that takes it."""
    if sys.stderr is None:
        return
    try:
        print(f"roamkb: {cleaned(message)}", file=sys.stderr, flush=True)
    except OSError:
        _silence(2)


def execute(call: OperationCall) -> int:
    """Carry out one call and print its result or its error; return the exit status."""
    from roamkb.app import KnowledgeBase

    try:
        if call.operation.door:
            return _serve(call)
        kb = KnowledgeBase.open(
            project=call.project,
            ask=_ask if _is_dialogue() else None,
            progress=_ReadingProgress() if sys.stderr is not None and sys.stderr.isatty() else None,
            human=_human() if call.operation.is_of_log or call.operation.asks_human else None,
        )
        name, result = _done_or_queued(kb, call)
    except RoamkbError as error:
        return _report(error, as_json=call.as_json)
    except OSError as error:
        # what storage did not expect: still one line, never a traceback for a bad disk
        return _report(RoamkbError(f"{error.filename or 'disk'}: {error.strerror}"), as_json=call.as_json)
    printed = render.render(name, result)
    text = render.dumps(printed.json) if call.as_json else _laid_out(printed)
    for warning in () if call.as_json else printed.warnings:
        _complain(warning)
    _say(text, printed.status)
    return printed.status


def _done_or_queued(kb: "KnowledgeBase", call: OperationCall) -> tuple[str, object]:
    """Carry out a call, or have it wait for a hook where a sandbox is in its way; return what to render."""
    door = kb.log if call.operation.is_of_log else kb
    arguments = _with_standard_input(kb, call)
    try:
        return call.operation.name, getattr(door, call.operation.method)(**arguments)
    except NotWritable:
        from roamkb.app.spool import queue
        from roamkb.wall.broker import VERBS

        waits = queue(kb, call.operation.name, arguments) if call.operation.name in VERBS else None
        if waits is None:
            raise
        return "queued", waits


def _serve(call: OperationCall) -> int:
    """Open another door, whose libraries come with the extra of its name."""
    from importlib import import_module

    name = call.operation.name
    try:
        door = import_module(f"roamkb.interfaces.{call.operation.door}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("roamkb"):
            raise
        from roamkb.fs.package_manager import how_to_add

        raise UsageError(
            f"{name} needs the extra roamkb[{name}], which isn't installed ({error.name} is missing)",
            hint=how_to_add(name),
        ) from error
    status: int = door.serve(call)
    return status


def _report(error: RoamkbError, *, as_json: bool) -> int:
    if as_json:
        _say(render.dumps(render.error_json(error)), error.exit_code)
    else:
        _complain(render.error_text(error))
    return error.exit_code


def _with_standard_input(kb: "KnowledgeBase", call: OperationCall) -> Arguments:
    """Return the arguments, the body read from standard input where they say so.

    A refusal beats every other answer: who may write nowhere is told so before anything is read.
    """
    arguments = dict(call.arguments)
    if arguments.get("text") == "-":
        arguments["text"] = _standard_input()
    if arguments.get("proposals") == "-":
        arguments["proposals"] = _standard_input()
    if arguments.get("error") == "-":
        # a program's output, in whatever encoding it has
        arguments["error"] = _standard_input(errors="replace")
    if arguments.get("body") == "-":
        kb.require_place(str(arguments["title"]))
        arguments["body"] = _standard_input()
    return arguments


def _standard_input(*, errors: str = "strict") -> str:
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="give the text with --body TEXT")
    try:
        text = sys.stdin.buffer.read().decode(errors=errors)
    except UnicodeDecodeError as error:
        raise UsageError(
            "standard input isn't UTF-8 text", hint="convert it first, e.g. with iconv"
        ) from error
    if not text.strip():
        raise UsageError("standard input is empty", hint="leave --body out for a node without text")
    return text


class _ReadingProgress:
    """A line on the terminal that counts the notes, once a second has passed, and goes when all are read."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._is_shown = False

    def __call__(self, done: int, all_of_them: int) -> None:
        if done < all_of_them and time.monotonic() - self._start > _PATIENCE:
            self._is_shown = True
            print(f"\rroamkb: reading notes, {done} of {all_of_them}", end="", file=sys.stderr, flush=True)
        elif self._is_shown:
            self._is_shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _is_dialogue() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _human() -> "HumanAtTerminal":
    from roamkb.interfaces.cli.terminal import Terminal

    return Terminal()


def _ask(question: str) -> str:
    """Return what the human at the terminal answers."""
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _laid_out(printed: render.PrintedResult) -> str:
    """Return a result's text as a terminal or a pipe wants it; who wants no colours has the same lines."""
    text = printed.text(sys.stdout is not None and sys.stdout.isatty())
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return render.without_colours(text) if is_plain else text


def run_typer(words: list[str], carry_out: Callable[[OperationCall], int] = execute) -> int:
    """Let Typer read the words: help, completion, and what is wrong with them."""
    import typer

    try:
        status = _typer_app(words, carry_out)(
            args=words or ["--help"], prog_name="roamkb", standalone_mode=False
        )
    except typer.TyperException as error:
        return _report(
            UsageError(
                error.format_message().rstrip(".") or "give a command",
                hint=f"see `roamkb {_topic(words)}--help`",
            ),
            as_json=JSON_FLAG in words,
        )
    except typer.Abort:
        return _INTERRUPTED
    return status if isinstance(status, int) else 0


def _topic(words: list[str]) -> str:
    known = {operation.name for operation in OPERATIONS}
    return f"{words[0]} " if words and words[0] in known else ""


def _typer_app(words: list[str], carry_out: Callable[[OperationCall], int]) -> "typer.Typer":
    """Return the program as Typer knows it; of commands that `words` don't name, the names alone.

    What a command takes is declared in its verb's module, and to import all of them takes time.
    """
    import typer

    named = {next((word for word in words if not word.startswith("-")), "")}
    if "_ROAMKB_COMPLETE" in os.environ:
        named = {operation.name for operation in OPERATIONS}

    app = typer.Typer(
        name="roamkb",
        help="A knowledge base that coding agents share with their human, kept as plain org-roam files.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog="Exit status: 0 found or done, 1 nothing found, 2 error, 3 refused, 4 changed on disk, "
        "5 written but not known to be durable, 75 busy.",
    )
    app.callback()(_main_options())
    for operation in OPERATIONS:
        help = f"{operation.summary}\n\nExample: {operation.example}"
        app.command(operation.name, help=help, short_help=operation.summary)(
            _command(operation, carry_out) if operation.name in named else _not_called
        )
    return app


def _not_called() -> int:
    """Stand for a command that only the list of commands shows."""
    return 0


def _main_options() -> Callable[..., None]:
    import typer

    def show_version(wanted: bool) -> None:
        if wanted:
            from roamkb import __version__

            print(f"roamkb {__version__}")
            raise typer.Exit

    def main(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="The version."
        ),
    ) -> None:
        pass

    return main


def _command(operation: Operation, carry_out: Callable[[OperationCall], int]) -> Callable[..., int]:
    """Return a function whose signature tells Typer what the operation takes."""
    import inspect
    from typing import Annotated

    import typer

    def command(**given: object) -> int:
        as_json, project = bool(given.pop("as_json")), given.pop("project")
        arguments: Arguments = {
            parameter.name: _from_typer(parameter, given[parameter.name])
            for parameter in operation.parameters
        }
        return carry_out(
            OperationCall(
                operation=operation,
                arguments=arguments,
                as_json=as_json,
                project=project if isinstance(project, str) else None,
            )
        )

    hints: dict[str, object] = {parameter.name: _hint(parameter) for parameter in operation.parameters}
    hints["as_json"] = Annotated[bool, typer.Option(JSON_FLAG, help="One JSON object.")]
    hints["project"] = Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project (the current folder).")
    ]
    defaults = {parameter.name: _default(parameter) for parameter in operation.parameters}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint,
            default=defaults.get(name, False if name == "as_json" else None),
        )
        for name, hint in hints.items()
    ]
    command.__annotations__ = hints
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _from_typer(parameter: VerbParameter, value: object) -> str | int | bool | tuple[str, ...] | None:
    if parameter.shape is ParameterShape.TEXTS:
        return tuple(map(str, value)) if isinstance(value, list) else ()
    return value if isinstance(value, (str, int)) else None


def _default(parameter: VerbParameter) -> object:
    import inspect

    if parameter.required:
        return inspect.Parameter.empty
    return False if parameter.shape is ParameterShape.FLAG else None


def _hint(parameter: VerbParameter) -> object:
    from typing import Annotated

    import typer

    kinds: dict[ParameterShape, object] = {
        ParameterShape.TEXT: str | None,
        ParameterShape.TEXTS: list[str] | None,
        ParameterShape.COUNT: int | None,
        ParameterShape.FLAG: bool,
        ParameterShape.OBJECTS: str | None,
    }
    kind = kinds[parameter.shape]
    if parameter.required:
        kind = str
    if parameter.flag:
        return Annotated[kind, typer.Option(parameter.flag, help=parameter.help, metavar=parameter.metavar)]
    return Annotated[kind, typer.Argument(help=parameter.help, metavar=parameter.metavar)]
