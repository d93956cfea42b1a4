"""A program that is asked once: text on standard input, bounded in time and in output."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from roamkb.core.progress import waiting
from roamkb.core.startup.dataclasses import dataclass

_PIECE_SIZE: Final = 64 * 1024
#: Letters of standard error that tell what was wrong.
_MAX_ERROR_BYTES: Final = 16 * 1024
#: Seconds between two looks at whether a program ended that left its output open to a child.
_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutput:
    """A program's output and exit status."""

    status: int = 0
    out: str = ""
    err: str = ""
    #: Why it was stopped, a clause; empty where it ended by itself.
    trouble: str = ""


def run_program(
    words: Sequence[str],
    input_bytes: bytes,
    *,
    environment: Mapping[str, str],
    folder: str | None,
    seconds: float,
    most_bytes: int,
) -> ProgramOutput:
    """Run a program, without a shell, and return its output; its whole process group is stopped.

    Raises:
        OSError: it can't be run.
    """
    process = subprocess.Popen(
        list(words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        # so that what it started can be stopped with it
        start_new_session=True,
    )
    with process, waiting(f"waiting for {Path(words[0]).name}"):
        try:
            talk = _ProgramTalk(process, input_bytes, most_bytes)
            trouble = talk.exchange_until(time.monotonic() + seconds)
        except BaseException:
            # Ctrl-C reaches no session of its own
            _kill_group(process)
            raise
        if trouble == _LATE_TROUBLE:
            trouble = f"it took more than {seconds:g} s"
        if trouble:
            _kill_group(process)
        return ProgramOutput(
            status=process.wait(),
            out=talk.out.decode("utf-8", "replace"),
            err=talk.err.decode("utf-8", "replace"),
            trouble=trouble,
        )


_LATE_TROUBLE: Final = "late"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # while it isn't waited for, its number is nobody else's
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


class _ProgramTalk:
    """An exchange with a program: input written and output read at the same time."""

    def __init__(self, process: subprocess.Popen[bytes], input_bytes: bytes, most_bytes: int) -> None:
        self._process = process
        self._left = memoryview(input_bytes)
        self._most = most_bytes
        self.out = bytearray()
        self.err = bytearray()

    def exchange_until(self, deadline: float) -> str:
        """Exchange input and output; return why to stop the program, empty once it has ended."""
        process = self._process
        with selectors.DefaultSelector() as selector:
            for pipe, buffer in ((process.stdin, None), (process.stdout, self.out), (process.stderr, self.err)):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    selector.register(pipe, selectors.EVENT_WRITE if buffer is None else selectors.EVENT_READ, buffer)
            while selector.get_map():
                if time.monotonic() >= deadline:
                    return _LATE_TROUBLE
                has_ended = process.poll() is not None
                ready = selector.select(0 if has_ended else min(_POLL_SECONDS, deadline - time.monotonic()))
                if has_ended and all(key.data is None for key, _ in ready):
                    return ""
                for key, _ in ready:
                    if self._write_input(key.fd) if key.data is None else self._read_output(key.fd, key.data):
                        selector.unregister(key.fileobj)
                        if key.data is None and process.stdin is not None:
                            process.stdin.close()
                if len(self.out) > self._most:
                    return f"it said more than {self._most:,} bytes"
        return self._wait_for_end(deadline)

    def _wait_for_end(self, deadline: float) -> str:
        try:
            self._process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return _LATE_TROUBLE
        return ""

    def _write_input(self, fd: int) -> bool:
        """Write some input; say whether that was all."""
        try:
            self._left = self._left[os.write(fd, self._left[:_PIECE_SIZE]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            # it answers without having read all
            return True
        return not self._left

    def _read_output(self, fd: int, buffer: bytearray) -> bool:
        """Read some output; say whether it has ended."""
        try:
            data = os.read(fd, _PIECE_SIZE)
        except BlockingIOError:
            return False
        if buffer is self.out or len(buffer) < _MAX_ERROR_BYTES:
            buffer += data
        return not data
