"""Answer payloads of a harness as `roamkb hook pre-tool-use` does, each in a process of its own.

It runs inside a cage with the installed roamkb, whose program it forks after its imports: a thousand payloads
then cost what a hundred starts do. It takes one JSON object a line and prints the hook's answer, one a line.
"""

import importlib
import io
import os
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Answer standard input, line by line."""
    command, event = sys.argv[1:]
    for payload in sys.stdin.buffer.read().splitlines():
        sys.stdout.buffer.write(_answer(command, event, payload).replace(b"\n", b" ") + b"\n")
    sys.stdout.buffer.flush()


def _answer(command: str, event: str, payload: bytes) -> bytes:
    """Return what a process of its own prints, and import what it had to, so that the next need not."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as told,
    ):
        given.write(payload)
        given.seek(0)
        child = os.fork()
        if child == 0:
            _become(command, event, given=given.fileno(), answer=answer.fileno(), told=told.fileno())
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"the hook ended with {os.waitstatus_to_exitcode(status)}")
        told.seek(0)
        for name in told.read().decode().split():
            importlib.import_module(name)
        answer.seek(0)
        return answer.read()


def _become(command: str, event: str, *, given: int, answer: int, told: int) -> None:
    os.dup2(given, 0)
    os.dup2(answer, 1)
    sys.stdin, sys.stdout = io.TextIOWrapper(io.FileIO(0)), io.TextIOWrapper(io.FileIO(1, "w"))
    sys.argv = [command, "hook", event]
    known = set(sys.modules)
    from roamkb.__main__ import main as roamkb

    status = roamkb()
    sys.stdout.flush()
    new = (name for name in sys.modules.keys() - known if name.startswith("roamkb"))
    os.write(told, " ".join(new).encode())
    os._exit(status)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    main()
