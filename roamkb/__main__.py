"""`roamkb` and `python -m roamkb`."""

import sys


def main() -> int:
    """Run the command line; return its exit status."""
    if sys.argv[1:2] == ["hook"] and {"-h", "--help"} & set(sys.argv[2:]):
        print("roamkb hook EVENT: harnesses call it, with JSON on standard input (`roamkb install`)")
        return 0
    if sys.argv[1:2] == ["hook"]:
        # it runs at every step of an agent's, and the command line's table takes time
        from roamkb.interfaces.hooks import run as run_hook

        return run_hook(sys.argv[2:])
    from roamkb.interfaces.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
