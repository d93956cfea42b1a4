"""What each hook, and each command that agents call most, costs as a multiple of Python's start.

    python -m tests.benchmarks.hooks [--notes 500,10000] [--lines 5000] [--runs N] [--only WORDS]

Whole processes, each right after one of Python that does nothing, so that a busy machine is as busy for both.
Of each the processor's time (its own and the system's), which others' work changes little, and the time that
passed; the ratios are medians over the pairs. The notes are indexed before, as a search does it, and nothing
changes them: no hook builds an index.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(_ROOT)]

from tests.benchmarks.logs import fill  # noqa: E402
from tests.benchmarks.speed import make_notes  # noqa: E402
from tests.conftest import World  # noqa: E402
from tests.conftest import make_world  # noqa: E402

_SESSION = "11111111-2222-4333-8444-555555555555"
#: One with a long transcript.
_LONG_SESSION = "11111111-2222-4333-8444-666666666666"
_FAILED = "make: *** No rule to make target 'x'."


def _bash(command: str, **more: object) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, **more}


#: (name, event, project, payload).
_CASES: tuple[tuple[str, str, str, dict[str, object]], ...] = (
    ("session-start", "session-start", "personal", {"source": "startup"}),
    (
        "prompt that fits",
        "user-prompt-submit",
        "personal",
        {"prompt": "redis evicts sessions, is it maxmemory?"},
    ),
    ("prompt that doesn't", "user-prompt-submit", "personal", {"prompt": "go on then, as you said"}),
    (
        "pre: read",
        "pre-tool-use",
        "personal",
        {"tool_name": "Read", "tool_input": {"file_path": "x"}},
    ),
    ("pre: command", "pre-tool-use", "personal", _bash("make test")),
    (
        "pre: edit",
        "pre-tool-use",
        "personal",
        {"tool_name": "Edit", "tool_input": {"file_path": "README.md"}},
    ),
    ("pre: command at work", "pre-tool-use", "work", _bash("make")),
    ("pre: ls ~", "pre-tool-use", "work", _bash("ls ~")),
    ("pre: cd .. && make", "pre-tool-use", "personal", _bash("cd .. && make -j4 2>&1 | tail -20")),
    ("pre: globs", "pre-tool-use", "work", _bash("prettier --check 'src/**/*.ts' && rm -rf dist/*")),
    (
        "pre: a loop",
        "pre-tool-use",
        "personal",
        _bash('for f in src/*.py; do echo "$f"; sed -n 1p "$f"; done'),
    ),
    (
        "pre: a heredoc",
        "pre-tool-use",
        "work",
        _bash("python3 - <<'EOF'\nfrom pathlib import Path\nprint(Path('~').expanduser())\nEOF"),
    ),
    ("pre: denied", "pre-tool-use", "work", _bash("echo x > ~/roam/x.org")),
    ("post: command", "post-tool-use", "personal", _bash("make", tool_response={"stdout": "ok"})),
    ("post: no log", "post-tool-use", "work", _bash("make")),
    ("failure", "post-tool-use-failure", "personal", _bash("make", error=_FAILED)),
    ("stop", "stop", "personal", {"stop_hook_active": False, "last_assistant_message": "Done."}),
    ("stop: 20 MB, 20 kB new", "stop", "personal", {"stop_hook_active": False, "session_id": _LONG_SESSION}),
    ("pre-compact", "pre-compact", "personal", {"trigger": "auto"}),
    ("session-end", "session-end", "personal", {"reason": "exit"}),
)


#: (name, words) of commands in the personal project.
_COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("recall", ("recall", "redis", "maxmemory")),
    ("search", ("search", "how", "is", "the", "index", "refreshed")),
    ("write --dry-run", ("write", "A fact that nobody wrote", "--dry-run")),
)
#: Seconds after which a file's stat is trusted, and a little more.
_SETTLED = 2.2


class Took(NamedTuple):
    """What one process took, in seconds."""

    processor: float
    passed: float


def timed(words: list[str], environment: dict[str, str], cwd: Path, payload: object = None) -> Took:
    """Run a process to its end."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as given, Path(os.devnull).open("wb") as nothing:
        given.write(json.dumps(payload).encode())
        given.seek(0)
        process = subprocess.Popen(words, cwd=cwd, env={**environment, "PWD": str(cwd)}, stdin=given, stdout=nothing)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    # of a search that finds nothing it is 1
    if process.returncode not in (0, 1):
        raise SystemExit(f"{words}: {process.returncode}")
    return Took(used.ru_utime + used.ru_stime, time.perf_counter() - began)


def prepare(world: World, notes: int, lines: int) -> None:
    """Fill the knowledge base and the personal project's log, and have both indexed."""
    (world.kb / ".stfolder").rmdir()
    make_notes(world.kb, notes)
    world.run("init")
    fill(world.log(), lines, random.Random(7))
    world.run("learn", "Redis evicts sessions when maxmemory is reached")
    world.run("index")
    time.sleep(_SETTLED)
    # the first trusts the stats of the notes, the second those of the index
    for _ in range(2):
        world.run("search", "redis")
        time.sleep(_SETTLED)
    world.run("recall", "redis")
    transcript = world.home / "transcript.jsonl"
    told = {"session_id": _LONG_SESSION, "cwd": str(world.personal), "transcript_path": str(transcript)}
    for calls in (2_000, 2):
        with transcript.open("a") as file:
            file.writelines(_read_lines(calls))
        if calls > 2:
            world.run("hook", "stop", input=json.dumps(told))


def _read_lines(calls: int) -> Iterator[str]:
    """Yield a transcript's lines of so many calls, each with ten kilobytes read."""
    for number in range(calls):
        id = f"toolu_{number}"
        use = {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/x"}}
        result = {"type": "tool_result", "tool_use_id": id, "content": "x" * 10_000}
        for role, block in (("assistant", use), ("user", result)):
            yield json.dumps({"type": role, "message": {"role": role, "content": [block]}}) + "\n"


def _installed(world: World) -> Path:
    """Return the command as pip writes it."""
    path = world.home / "roamkb"
    lines = ("import re", "import sys", "from roamkb.__main__ import run_program", "sys.exit(run_program())")
    path.write_text("\n".join([f"#!{sys.executable}", *lines, ""]))
    path.chmod(0o755)
    return path


def _payload_of(world: World, event: str, cwd: Path, more: dict[str, object]) -> dict[str, object]:
    """Return what a harness gives to the hook of an event."""
    told = "".join(part.capitalize() for part in event.split("-"))
    payload = {"session_id": _SESSION, "cwd": str(cwd), "hook_event_name": told, **more}
    if payload["session_id"] == _LONG_SESSION:
        payload["transcript_path"] = str(world.home / "transcript.jsonl")
    return payload


def _processes(world: World, only: str) -> Iterator[tuple[str, list[str], Path, dict[str, object] | None]]:
    """Yield the name of each case that `only` is a part of, its words, its folder and its payload."""
    program = str(_installed(world))
    for name, event, place, more in _CASES:
        cwd: Path = getattr(world, place)
        if only in name:
            yield name, [program, "hook", event], cwd, _payload_of(world, event, cwd, more)
    for name, words in _COMMANDS:
        if only in name:
            yield name, [program, *words], world.personal, None


def measure(world: World, runs: int, only: str = "") -> None:
    """Print a line for each hook and command."""
    environment = world.environment()
    processes = list(_processes(world, only))
    for _, words, cwd, payload in processes:
        # what the first of a session does, and no other
        timed(words, environment, cwd, payload)
    pairs: dict[str, list[tuple[Took, Took]]] = {name: [] for name, *_ in processes}
    for _ in range(runs):
        for name, words, cwd, payload in processes:
            bare = timed([sys.executable, "-c", "pass"], environment, world.personal)
            pairs[name].append((timed(words, environment, cwd, payload), bare))
    print(f"{'':24} {'processor':>10} {'ratio':>6} {'passed':>10} {'ratio':>6}")
    for name, took in pairs.items():
        figures = []
        for field in ("processor", "passed"):
            ours = [getattr(mine, field) for mine, _ in took]
            ratios = [getattr(mine, field) / getattr(bare, field) for mine, bare in took]
            figures.append(f"{statistics.median(ours) * 1e3:7.1f} ms {statistics.median(ratios):6.1f}")
        print(f"{name:24} {' '.join(figures)}", flush=True)


def main() -> None:
    """Print a table for each size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--notes", default="500,10000")
    options.add_argument("--lines", type=int, default=5000)
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--only", default="", help="the part of a name: `prompt`, `pre:`, `recall`")
    given = options.parse_args()
    for notes in map(int, given.notes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            world = make_world(Path(folder) / "home")
            prepare(world, notes, given.lines)
            print(f"{notes} notes, a log of {given.lines} lines, medians of {given.runs} pairs")
            measure(world, given.runs, given.only)


if __name__ == "__main__":
    main()
