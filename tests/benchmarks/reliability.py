"""The reliability sheet: each promise, the command that tries it, and what came out.

    python -m tests.benchmarks.reliability [NUMBER...] [--list]

A row holds where its command ends well. What a machine can't try (another file system, Emacs, Syncthing, a loop device)
is skipped by its tests, and the row says how many were. A row takes seconds to many minutes; all of them an hour.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PASSED = re.compile(r"(\d+) passed")
_SKIPPED = re.compile(r"(\d+) skipped")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One promise, and what tries it."""

    number: int
    promise: str
    #: The command's words after `python -m`.
    words: Sequence[str]

    @property
    def command(self) -> str:
        """The command as it is typed."""
        return " ".join(["python", "-m", *(f"'{word}'" if " " in word else word for word in self.words)])


def _row(number: int, promise: str, *tests: str, only: str = "") -> SheetRow:
    """Return a row that tests of the suite try."""
    return SheetRow(number, promise, ["pytest", "-q", *tests, *(["-k", only] if only else [])])


ROWS = (
    _row(1, "killed at any call, no note or line is lost, partial or falsely acknowledged", "tests/faults"),
    SheetRow(
        2,
        "every operation, killed or failed at each call that writes: nothing lost, told what is half done, ends well",
        ["tests.faults.operation_sweep", "--runs", "24"],
    ),
    _row(
        3, "a full disk keeps what is there, and the next write works", "tests/fs/test_files.py", only="full or limit"
    ),
    _row(4, "after a power cut, what was acknowledged is there and whole", "tests/faults/test_powercut.py"),
    _row(5, "32 writers of one title lose nothing, appended lines are whole", "tests/fs/test_files.py", only="32"),
    _row(6, "with Emacs beside it no byte of a human's is lost, and the index follows", "tests/emacs"),
    _row(7, "with two real Syncthings no note is lost, and no conflict copy is ours", "tests/syncthing"),
    _row(
        8,
        "conflict copies, locks and backups are never notes, and always reported",
        "tests/kb/test_conflicts.py",
        "tests/kb/notes/test_file_names.py",
    ),
    _row(9, "clocks that go back, ahead or stand still", "tests/contracts/test_clocks.py", "tests/core/test_ids.py"),
    _row(
        10,
        "a base that is read-only, missing or not mounted is searched or named, never written into",
        "tests/fs/test_files.py",
        "tests/kb/test_write.py",
        "tests/kb/notes/store/test_walk.py",
        only="read_only or permission or mounted or isnt_there",
    ),
    SheetRow(
        11, "100,000 notes: built, refreshed and asked, with figures", ["tests.benchmarks.speed", "--sizes", "100000"]
    ),
    _row(
        12,
        "what is huge, deep or no file is never waited for",
        "tests/fs/test_files.py",
        "tests/kb/notes/store/test_walk.py",
        only="never_waited or huge or deep",
    ),
    _row(
        13,
        "any bytes are read, and untouched ones never changed",
        "tests/org/test_coding.py",
        "tests/org/test_reader.py",
    ),
    _row(14, "a damaged, deleted or future index answers as a scan does", "tests/faults/test_index.py"),
    _row(15, "the journal of any release is read, and a future one refused", "tests/journal"),
    _row(16, "any merge of a log by git has every line of both sides", "tests/machines/test_log.py"),
    _row(
        17,
        "the boundary denies every bypass, through every door",
        "tests/contracts/test_boundary_table.py",
        "tests/boundary",
    ),
    _row(18, "no note leaves its frame in a prompt", "tests/core/test_untrusted.py"),
    _row(19, "no note runs anything in Emacs", "tests/emacs/test_written_notes.py", "tests/org/test_escape.py"),
    SheetRow(20, "no query of 100,000 is an error", ["tests.faults.queries", "--count", "100000"]),
    _row(21, "reading takes time in proportion, for any bytes", "tests/org/test_reader.py", "tests/org/syntax"),
    _row(22, "no request over HTTP is a server's error, or writes without its token", "tests/interfaces/http"),
    _row(23, "no frame over MCP ends the server, or writes", "tests/interfaces/mcp"),
    _row(24, "random histories agree with a model", "tests/machines"),
    SheetRow(25, "nine of ten mutants of what must not break are killed", ["tests.benchmarks.mutation"]),
    _row(26, "every kind of secret is refused, and ordinary notes aren't", "tests/secrets"),
    SheetRow(
        27,
        "10 worktrees, 100 learnings each, by processes killed at random: all in the one log",
        ["tests.app.log.killed_learners"],
    ),
    SheetRow(
        28,
        "50 agents on 10 copies of a shared log, killed and cut off: each has all 5,000 learnings, once",
        ["tests.benchmarks.shared_crowd"],
    ),
)


def try_row(row: SheetRow) -> bool:
    """Run a row's command and print its line; return whether it holds."""
    ran = subprocess.run(
        [sys.executable, "-m", *row.words],
        cwd=ROOT,
        env={**os.environ, "ROAMKB_TEST_THOROUGH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{row.number:>2}  {'holds ' if ran.returncode == 0 else 'FAILS '} {row.promise}: {_figure(ran.stdout, row)}")
    print(f"            {row.command}", flush=True)
    if ran.returncode:
        print("".join(f"            | {line}\n" for line in _ending(f"{ran.stdout}\n{ran.stderr}")), flush=True)
    return ran.returncode == 0


def _figure(out: str, row: SheetRow) -> str:
    """Return what a command counted."""
    if row.words[0] != "pytest":
        return next(iter(_ending(out, 1)), "nothing printed")
    passed, skipped = (sum(map(int, pattern.findall(out))) for pattern in (_PASSED, _SKIPPED))
    return f"{passed} tests" + (f", {skipped} SKIPPED" if skipped else "")


def _ending(text: str, count: int = 12) -> Iterable[str]:
    return [line for line in text.splitlines() if line.strip()][-count:]


def main() -> int:
    """Print the sheet; return 1 where a row fails."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
    options.add_argument("--list", action="store_true", help="print the rows and run nothing")
    given = options.parse_args()
    rows = [row for row in ROWS if row.number in (given.numbers or [row.number])]
    if given.list:
        print("\n".join(f"{row.number:>2}  {row.promise}\n      {row.command}" for row in rows))
        return 0
    failed = [row for row in rows if not try_row(row)]
    print(f"{len(rows) - len(failed)} of {len(rows)} rows hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
