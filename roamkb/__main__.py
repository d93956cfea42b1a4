"""`roamkb` and `python -m roamkb`."""

import sys

#: Not in the table of operations, which a hook has no time to read.
_HOOK_HELP = """\
Usage: roamkb hook EVENT

  Answer a hook of Claude Code or Codex: its JSON on standard input, ours on standard output, status 0.
  `roamkb install --claude` and `--codex` have harnesses call it; `roamkb doctor` tries each.

Events: session-start, subagent-start, user-prompt-submit, pre-tool-use, post-tool-use, post-tool-use-failure,
  stop, subagent-stop, pre-compact, post-compact, session-end. Without one, the JSON's hook_event_name counts.

Example: echo '{"cwd": "'"$PWD"'"}' | roamkb hook session-start"""


def main() -> int:
    """Run the command line; return its exit status."""
    if sys.argv[1:2] == ["hook"] and {"-h", "--help"} & set(sys.argv[2:]):
        print(_HOOK_HELP)
        return 0
    if sys.argv[1:2] == ["hook"]:
        # it runs at every step of an agent's, and the command line's table takes time
        from roamkb.interfaces.hooks import run as run_hook

        return run_hook(sys.argv[2:])
    from roamkb.interfaces.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
