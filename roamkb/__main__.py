"""Entry point of `roamkb` and `python -m roamkb`."""

import os
import sys

from roamkb import __version__

#: Not in the table of operations, which a hook has no time to read.
HOOK_HELP = """\
Usage: roamkb hook EVENT [--trace]

  Answer a hook of Claude Code, Codex or Gemini CLI: its JSON on standard input, ours on standard output,
  status 0.
  `roamkb install --claude`, `--codex` and `--gemini` have harnesses call it; `roamkb doctor` tries each.

Events: session-start, subagent-start, user-prompt-submit, pre-tool-use, post-tool-use, post-tool-use-failure,
  stop, subagent-stop, pre-compact, post-compact, session-end. Without one, the JSON's hook_event_name counts.

With --trace, standard error says what was weighed, what was shown and why the rest wasn't.

Example: echo '{"cwd": "'"$PWD"'"}' | roamkb hook session-start"""

EXEC_HELP = """\
Usage: roamkb exec -- COMMAND
       roamkb exec -- PROGRAM ARGUMENT...

  Run a command where the kernel lets nothing write the notes, the rules, harnesses' settings and roamkb's
  own files; status, signals, terminal and descriptors are the command's own. One argument is a line for your
  shell. `roamkb install --claude` has Claude Code run its shell commands by it; `roamkb doctor` tries it.

Example: roamkb exec -- codex"""


#: Ctrl-C, as shells count it.
_INTERRUPTED_STATUS = 130
#: As many objects more have to be there before Python looks for garbage: most commands end before.
_GARBAGE_THRESHOLD = 50_000


def main() -> int:
    """Run the command line; return its exit status."""
    if sys.argv[1:] == ["--version"] and _print_version():
        return 0
    if sys.argv[1:2] == ["help"] and sys.argv[2:] in (["hook"], ["exec"]):
        sys.argv[1:] = [sys.argv[2], "--help"]
    if sys.argv[1:2] == ["hook"] and {"-h", "--help"} & set(sys.argv[2:]):
        return _print_help(HOOK_HELP)
    if sys.argv[1:2] == ["hook"]:
        return _run_hook(sys.argv[2:])
    if sys.argv[1:2] == ["--complete"]:
        from roamkb.interfaces.completion.values import print_values

        return print_values(sys.argv[2:])
    if "ROAMKB_BROKER" in os.environ and (status := _forward_to_broker()) is not None:
        return status
    if sys.argv[1:2] == ["exec"] and {"-h", "--help"} & set(sys.argv[2:3]):
        return _print_help(EXEC_HELP)
    if sys.argv[1:2] == ["exec"]:
        # each shell command of an agent's waits for it
        from roamkb.wall.launch import main as run_walled

        return run_walled(sys.argv[2:])
    return _run_command(sys.argv[1:])


def _print_version() -> bool:
    """Print the version, and return whether that succeeded; the command line then gives the cause."""
    try:
        # nothing is left in a buffer where it fails
        os.write(1, f"roamkb {__version__}\n".encode())
    except OSError:
        return False
    return True


def _print_help(text: str) -> int:
    """Print a help and return the status; a reader that went away is no fault."""
    try:
        os.write(1, f"{text}\n".encode())
    except BrokenPipeError:
        return 0
    except OSError as error:
        from roamkb.interfaces.cli.main import report_failure

        return report_failure([], f"can't print: {error.strerror}", hint="")
    return 0


def _run_command(arguments: list[str]) -> int:
    """Run one command without garbage collections, which take an eighth of a search."""
    import gc

    gc.set_threshold(_GARBAGE_THRESHOLD)
    _load_lightly()
    from roamkb.interfaces.cli.main import run

    status = run(arguments)
    # nor at the end, when all goes anyway
    gc.freeze()
    return status


def _run_hook(arguments: list[str]) -> int:
    """Answer a harness's hook without the command line's table, which takes time at each step of an agent."""
    import gc

    # one process a call: to look for garbage, now and at its end, takes as long as Python takes to start
    gc.disable()
    _load_lightly()
    from roamkb.interfaces.hooks.main import run

    status = run(arguments)
    gc.freeze()
    return status


def _load_lightly() -> None:
    from roamkb.core.startup.standard_library import load_lightly

    load_lightly()


def _forward_to_broker() -> int | None:
    """Return the status of a command run by the broker outside the wall; None where no broker applies."""
    from roamkb.wall import broker

    if "".join(sys.argv[1:2]) not in broker.BROKERED_VERBS:
        return None
    try:
        return broker.forward_call(sys.argv[1:])
    except broker.UnansweredRequest as error:
        from roamkb.interfaces.cli.main import report_failure

        return report_failure(sys.argv[1:], error.message, hint=error.hint)


def run_program() -> int:
    """Run the command line as a process of its own; return its exit status.

    A hook's process doesn't return: to take down what Python has loaded takes nearly as long as to start it.
    """
    try:
        status = main()
    except KeyboardInterrupt:
        # as early as in an import; later, the command line says what was done
        status = _INTERRUPTED_STATUS
    if sys.argv[1:2] == ["hook"]:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except (OSError, ValueError):
                # nobody listens
                continue
        os._exit(status)
    return status


if __name__ == "__main__":
    raise SystemExit(run_program())
