"""Command line: parse, call, render; the one place where an error becomes a message and a status.

The one place where an error becomes a message and a status.
"""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING
from typing import Annotated

from roamkb import __version__
from roamkb import lazy_module
from roamkb.app import knowledge_base
from roamkb.app import spool
from roamkb.boundary import human_consent
from roamkb.core.errors import NotWritable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import Unanswered
from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.fs import package_manager
from roamkb.interfaces.cli import help
from roamkb.interfaces.cli import progress
from roamkb.interfaces.cli import screen
from roamkb.interfaces.cli import terminal
from roamkb.interfaces.cli.fast_args import JSON_FLAG
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.operations import COMMON_PARAMETERS
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.output import render
from roamkb.wall import broker

if TYPE_CHECKING:
    import typer

#: What a beginner types.
_FIRST_SCREEN_CALLS: tuple[list[str], ...] = ([], ["--help"], ["-h"], ["help"])
#: Both ask for help everywhere.
_HELP_OPTIONS = {"help_option_names": ["--help", "-h"]}
#: Ctrl-C, as shells count it.
_INTERRUPTED_STATUS = 130


def run(words: list[str]) -> int:
    """Execute the command line `words`; return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        # a C locale splits what isn't ASCII into bytes; put together it is text again
        words = [os.fsencode(word).decode() for word in words]
    except UnicodeDecodeError:
        return _report_error(UsageError("the words aren't UTF-8 text"), as_json=JSON_FLAG in words)
    _open_closed_output()
    try:
        status = _run_words(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED_STATUS
    except _LostOutput as unheard:
        return unheard.status
    except BrokenPipeError:
        _silence_stream()
        return 0
    except OSError as error:
        # the help, too, may meet a full disk
        _silence_stream()
        _print_error_line(f"can't print: {error.strerror}")
        return RoamkbError.exit_code
    return status


def _run_words(words: list[str]) -> int:
    """Carry out a call, by the quick parser where it is sure; a first call shows the help."""
    if words in _FIRST_SCREEN_CALLS:
        print(help.first_screen())
        return 0
    call = parse_words(words)
    return execute_call(call) if call else run_typer(words)


def report_failure(words: list[str], message: str, *, hint: str) -> int:
    """Report why `words` weren't carried out, as any other call's error; return the exit status."""
    try:
        return _report_error(RoamkbError(message, hint=hint), as_json=JSON_FLAG in words)
    except _LostOutput as unheard:
        return unheard.status


class _LostOutput(Exception):
    """A result that couldn't be printed; the status of its call stands."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


def _print_output(text: str, status: int) -> None:
    """Print `text`; a reader that went away changes nothing about what was done, so `status` stands."""
    if not text:
        return
    try:
        if "\0" in text:
            # for a program: names as the disk has them
            sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        else:
            print(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stream()
        raise _LostOutput(status) from None
    except OSError as error:
        _silence_stream()
        _print_error_line(f"can't print: {error.strerror}")
        raise _LostOutput(status or RoamkbError.exit_code) from None


def _open_closed_output() -> None:
    """Open a standard output that the caller closed for reading, so that each print fails, as GNU's stdopen does."""
    if sys.stdout is None:
        file = os.open(os.devnull, os.O_RDONLY)
        if file != 1:
            os.dup2(file, 1)
            os.close(file)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it lives as long as the process


def _silence_stream(stream: int = 1) -> None:
    """Redirect the rest of a stream to nowhere: Python would complain again when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _print_error_line(message: str) -> None:
    """Print a line on standard error, if it is open and takes it."""
    if sys.stderr is None:
        return
    try:
        print(f"roamkb: {strip_hidden(message)}", file=sys.stderr, flush=True)
    except OSError:
        _silence_stream(2)


def execute_call(call: OperationCall) -> int:
    """Carry out one call and print its result or its error; return the exit status."""
    try:
        if call.operation.door:
            _warn_of_project(call)
            return _serve_interface(call)
        kb = knowledge_base.KnowledgeBase.open(
            project=call.project,
            ask=_ask_human if _is_dialogue() else None,
            human=_human_at_terminal() if call.operation.is_of_log or call.operation.asks_human else None,
        )
        with progress.shown_progress():
            name, result = _execute_or_queue(kb, call)
    except RoamkbError as error:
        if isinstance(error, UsageError):
            error.hint = " ".join(filter(None, (help.meant_value(call), error.hint)))
        return _report_error(error, as_json=call.as_json)
    except OSError as error:
        if call.operation.door and isinstance(error, BrokenPipeError):
            raise
        # what storage did not expect: still one line, never a traceback for a bad disk
        return _report_error(RoamkbError(f"{error.filename or 'disk'}: {error.strerror}"), as_json=call.as_json)
    _warn_of_project(call)
    printed = render.render_result(name, result)
    text = render.dump_json(printed.as_json) if call.as_json else _layout_text(printed)
    for warning in () if call.as_json else printed.warnings:
        _print_error_line(warning)
    is_paged = printed.is_pageable and not call.as_json and "\0" not in text and _is_for_reader()
    if not is_paged or not screen.show_in_pager(text):
        _print_output(text, printed.status)
    if not (text or printed.warnings or printed.advice) and printed.status and _is_for_reader():
        _print_error_line("nothing found")
    if printed.advice and not call.as_json and _is_for_reader():
        _print_error_line(printed.advice)
    return printed.status


def _warn_of_project(call: OperationCall) -> None:
    """Say on standard error that the named project isn't there: what is read is answered all the same."""
    # Path's raises where a name is too long
    if call.project is not None and not os.path.isdir(call.project):  # noqa: PTH112
        _print_error_line(f"{one_line(call.project)} is no folder: is the project spelt right?")


def _is_for_reader() -> bool:
    """Say whether a human reads this at a terminal: a pager would wait for an agent's keys for ever."""
    return _is_dialogue() and not human_consent.agent_evidence(os.environ, None)


def _execute_or_queue(kb: "knowledge_base.KnowledgeBase", call: OperationCall) -> tuple[str, object]:
    """Carry out a call, or queue it for a hook where a sandbox prevents it; return the result to render."""
    owner = kb.log if call.operation.is_of_log else kb
    arguments = _with_standard_input(kb, call)
    try:
        return call.operation.name, getattr(owner, call.operation.method_name)(**arguments)
    except NotWritable:
        queued_call = (
            spool.queue_call(kb, call.operation.name, arguments)
            if call.operation.name in broker.FORWARDED_VERBS
            else None
        )
        if queued_call is None:
            raise
        return "queued", queued_call


def _serve_interface(call: OperationCall) -> int:
    """Start another interface, whose libraries come with the extra of its name."""
    name = call.operation.name
    try:
        serve = lazy_module(f"roamkb.interfaces.{call.operation.door}").serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("roamkb"):
            raise
        # the page's extra has all that serving needs
        extra = "page" if call.arguments.get("page") else name
        raise UsageError(
            f"{name} needs the extra roamkb[{extra}], which isn't installed ({error.name} is missing)",
            hint=package_manager.extra_install_command(extra),
        ) from error
    status: int = serve(call)
    return status


def _report_error(error: RoamkbError, *, as_json: bool) -> int:
    if as_json:
        _print_output(render.dump_json(render.error_json(error)), error.exit_code)
    else:
        _print_error_line(render.error_text(error))
    return error.exit_code


def _with_standard_input(kb: "knowledge_base.KnowledgeBase", call: OperationCall) -> Arguments:
    """Return the arguments, with texts read from standard input where they are `-`.

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
        kb.require_writable_place(str(arguments["title"]))
        arguments["body"] = _standard_input(hint="leave --body out for a node without text")
    return arguments


def _standard_input(*, errors: str = "strict", hint: str = "write to it what is to be read") -> str:
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="give the text with --body TEXT")
    try:
        text = sys.stdin.buffer.read().decode(errors=errors)
    except UnicodeDecodeError as error:
        raise UsageError("standard input isn't UTF-8 text", hint="convert it first, e.g. with iconv") from error
    if not text.strip():
        raise UsageError("standard input is empty", hint=hint)
    return text


def _is_dialogue() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _human_at_terminal() -> "human_consent.HumanAtTerminal":
    return terminal.Terminal()


def _ask_human(question: str) -> str:
    """Ask the human at the terminal, and return the answer.

    Raises:
        Unanswered: the terminal's input ended, which answers nothing.
    """
    screen.drop_typed_ahead()
    print(question, end=" ", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise Unanswered("the question wasn't answered", hint="call it again, and press Enter after the answer")
    return line.strip()


def _layout_text(printed: render.PrintedResult) -> str:
    """Return a result's text laid out for a terminal or a pipe; without colours the lines are the same."""
    is_terminal = sys.stdout.isatty()
    text = printed.text(is_terminal)
    if "\0" in text:
        return text
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    if is_plain:
        text = render.without_colours(text)
    if not is_terminal:
        return text
    # an agent with a terminal gives paths to its tools, which know no ~
    return screen.with_home_paths(text, has_links=not is_plain, is_short=_is_for_reader())


def run_typer(words: list[str], carry_out: Callable[[OperationCall], int] = execute_call) -> int:
    """Parse the words by Typer: help, completion, and explanations of errors."""
    import typer

    try:
        status = _typer_app(words, carry_out)(args=words, prog_name="roamkb", standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message().rstrip(".") or "give a command"
        if command := help.meant_command(words):
            message = f"No such command '{one_line(words[0])}'. Did you mean '{command}'?"
        # no option has a blank: it is a text
        is_text = any(word.startswith("-") and " " in word for word in words)
        text_hint = "; a text that begins with - goes behind --" if is_text else ""
        hint = f"{help.meant_text(words)}see `roamkb {_help_topic(words)}--help`{text_hint}"
        return _report_error(UsageError(message, hint=hint), as_json=JSON_FLAG in words)
    except UsageError as error:
        error.hint = f"see `roamkb {_help_topic(words)}--help`"
        return _report_error(error, as_json=JSON_FLAG in words)
    except typer.Abort:
        return _INTERRUPTED_STATUS
    except SystemExit as left:
        # so it leaves where nobody reads the help any more
        raise BrokenPipeError from left
    return status if isinstance(status, int) else 0


def _help_topic(words: list[str]) -> str:
    operation_names = {operation.name for operation in OPERATIONS}
    return f"{words[0]} " if words and words[0] in operation_names else ""


def _typer_app(words: list[str], carry_out: Callable[[OperationCall], int]) -> "typer.Typer":
    """Return the Typer program; commands that `words` don't name have no parameters in it.

    What a command takes is declared in its verb's module, and to import all of them takes time.
    """
    import typer

    named_commands = {next((word for word in words if not word.startswith("-")), "")}

    app = typer.Typer(
        name="roamkb",
        help="A knowledge base that coding agents share with their human, kept as plain org-roam files.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_HELP_OPTIONS,
    )
    app.callback()(_main_options())
    for operation in OPERATIONS:
        help_text = f"{operation.summary}\n\nExample: {operation.example}"
        app.command(operation.name, help=help_text, short_help=operation.summary, context_settings=_HELP_OPTIONS)(
            _typer_command(operation, carry_out) if operation.name in named_commands else _uncalled_command
        )
    return app


def _uncalled_command() -> int:
    """Return success for a command that only the list of commands shows."""
    return 0


def _main_options() -> Callable[..., None]:
    import typer

    def show_version(is_requested: bool) -> None:
        if is_requested:
            print(f"roamkb {__version__}")
            raise typer.Exit

    def main(
        version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="The version."),
    ) -> None:
        pass

    return main


def _typer_command(operation: Operation, carry_out: Callable[[OperationCall], int]) -> Callable[..., int]:
    """Return a function whose signature declares the operation's parameters to Typer."""
    import inspect

    def run_command(**option_values: object) -> int:
        as_json, project = bool(option_values.pop("as_json")), option_values.pop("project")
        arguments: Arguments = {
            parameter.name: _from_typer(parameter, option_values[parameter.name]) for parameter in operation.parameters
        }
        return carry_out(
            OperationCall(
                operation=operation,
                arguments=arguments,
                as_json=as_json,
                project=project if isinstance(project, str) else None,
            )
        )

    hints: dict[str, object] = {parameter.name: _typer_annotation(parameter) for parameter in operation.parameters}
    hints |= {parameter.name: _typer_annotation(parameter) for parameter in COMMON_PARAMETERS}
    defaults = {parameter.name: _typer_default(parameter) for parameter in operation.parameters}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint,
            default=defaults.get(name, False if name == "as_json" else None),
        )
        for name, hint in hints.items()
    ]
    run_command.__annotations__ = hints
    run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run_command


def _from_typer(parameter: VerbParameter, value: object) -> str | int | bool | tuple[str, ...] | None:
    if parameter.shape is ParameterShape.TEXTS:
        return tuple(map(str, value)) if isinstance(value, list) else ()
    if parameter.shape is ParameterShape.COUNT and isinstance(value, str):
        return _whole_number(parameter, value)
    return value if isinstance(value, (str, int)) else None


def _whole_number(parameter: VerbParameter, value: str) -> int:
    # Typer's own words for it change with what else is installed
    if not (value.isascii() and value.isdigit()):
        raise UsageError(f"invalid value for '{parameter.flag}': '{one_line(value)}' is no count, such as 5")
    return int(value)


def _typer_default(parameter: VerbParameter) -> object:
    import inspect

    if parameter.required:
        return inspect.Parameter.empty
    return False if parameter.shape is ParameterShape.FLAG else None


def _typer_annotation(parameter: VerbParameter) -> object:
    import typer

    kinds: dict[ParameterShape, object] = {
        ParameterShape.TEXT: str | None,
        ParameterShape.TEXTS: list[str] | None,
        ParameterShape.COUNT: str | None,
        ParameterShape.FLAG: bool,
        ParameterShape.OBJECTS: str | None,
    }
    kind = kinds[parameter.shape]
    if parameter.required:
        kind = str
    if parameter.flag:
        return Annotated[kind, typer.Option(parameter.flag, help=parameter.help, metavar=parameter.metavar)]
    return Annotated[kind, typer.Argument(help=parameter.help, metavar=parameter.metavar)]
