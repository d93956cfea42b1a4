"""`roamkb` and `python -m roamkb`."""

import os
import sys

#: Not in the table of operations, which a hook has no time to read.
_HOOK_HELP = """\
Usage: roamkb hook EVENT

  Answer a hook of Claude Code or Codex: its JSON on standard input, ours on standard output, status 0.
  `roamkb install --claude` and `--codex` have harnesses call it; `roamkb doctor` tries each.

Events: session-start, subagent-start, user-prompt-submit, pre-tool-use, post-tool-use, post-tool-use-failure,
  stop, subagent-stop, pre-compact, post-compact, session-end. Without one, the JSON's hook_event_name counts.

Example: echo '{"cwd": "'"$PWD"'"}' | roamkb hook session-start"""

_EXEC_HELP = """\
Usage: roamkb exec -- COMMAND
       roamkb exec -- PROGRAM ARGUMENT...

  Run a command where the kernel lets nothing write the notes, the rules, harnesses' settings and roamkb's
  own files; status, signals, terminal and descriptors are the command's own. One argument is a line for your
  shell. `roamkb install --claude` has Claude Code run its shell commands by it; `roamkb doctor` tries it.

Example: roamkb exec -- codex"""


#: As many objects more have to be there before Python looks for garbage: most commands end before.
_MANY_OBJECTS = 50_000


def main() -> int:
    """Run the command line; return its exit status."""
    if sys.argv[1:] == ["--version"] and _version_is_printed():
        return 0
    if sys.argv[1:2] == ["hook"] and {"-h", "--help"} & set(sys.argv[2:]):
        print(_HOOK_HELP)
        return 0
    if sys.argv[1:2] == ["hook"]:
        return _hook(sys.argv[2:])
    if "ROAMKB_BROKER" in os.environ and (status := _forwarded()) is not None:
        return status
    if sys.argv[1:2] == ["exec"] and {"-h", "--help"} & set(sys.argv[2:3]):
        print(_EXEC_HELP)
        return 0
    if sys.argv[1:2] == ["exec"]:
        # each shell command of an agent's waits for it
        from roamkb.wall.launch import main as run_walled

        return run_walled(sys.argv[2:])
    return _command(sys.argv[1:])


def _version_is_printed() -> bool:
    """Print the version, and return whether it could be printed; the command line then says why not."""
    """Print the version, and return whether it could be; the command line says why not."""
    from roamkb import __version__

    try:
        # nothing is left in a buffer where it fails
        os.write(1, f"roamkb {__version__}\n".encode())
    except OSError:
        return False
    return True


def _command(words: list[str]) -> int:
    """Run one command, without the looks for garbage that take an eighth of a search."""
    import gc

    gc.set_threshold(_MANY_OBJECTS)
    from roamkb.interfaces.cli.main import run

    status = run(words)
    # nor at the end, when all goes anyway
    gc.freeze()
    return status


def _hook(words: list[str]) -> int:
    """Answer a harness; it does so at every step of an agent's, and the command line's table takes time."""
    import gc

    # one process a call: to look for garbage, now and at its end, takes as long as Python takes to start
    gc.disable()
    from roamkb.interfaces.hooks.main import run

    status = run(words)
    gc.freeze()
    return status


def _forwarded() -> int | None:
    """Return the status of what was done outside of the wall around this; None where nobody is there."""
    from roamkb.wall.broker import VERBS
    from roamkb.wall.broker import UnansweredRequest
    from roamkb.wall.broker import forward

    if "".join(sys.argv[1:2]) not in VERBS:
        return None
    try:
        return forward(sys.argv[1:])
    except UnansweredRequest as error:
        from roamkb.interfaces.cli.main import fail

        return fail(sys.argv[1:], error.message, hint=error.hint)


if __name__ == "__main__":
    raise SystemExit(main())
