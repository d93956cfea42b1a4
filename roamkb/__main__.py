"""`roamkb` and `python -m roamkb`."""

import sys


def main() -> int:
    """Run the command line; return its exit status."""
    from roamkb.interfaces.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
