"""A program that is asked once: given text on standard input, bounded in time and in what it may say."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from roamkb.core.startup.dataclasses import dataclass

_PIECE: Final = 64 * 1024
#: Letters of standard error that tell what was wrong.
_MOST_ERRORS: Final = 16 * 1024
#: Seconds between two looks at whether a program ended that left its output open to a child.
_MOMENT: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutput:
    """What a program said, and how it ended."""

    status: int = 0
    out: str = ""
    err: str = ""
    #: Why it was stopped, a clause; empty where it ended by itself.
    trouble: str = ""


def run_program(
    words: Sequence[str],
    given: bytes,
    *,
    environment: Mapping[str, str],
    folder: str | None,
    seconds: float,
    most_bytes: int,
) -> ProgramOutput:
    """Run a program, without a shell, and return what it said; it is stopped with all that it started.

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
    with process:
        try:
            talk = _ProgramTalk(process, given, most_bytes)
            trouble = talk.listen(time.monotonic() + seconds)
        except BaseException:
            # Ctrl-C reaches no session of its own
            _stop(process)
            raise
        if trouble == _LATE:
            trouble = f"it took more than {seconds:g} s"
        if trouble:
            _stop(process)
        return ProgramOutput(
            status=process.wait(),
            out=talk.out.decode("utf-8", "replace"),
            err=talk.err.decode("utf-8", "replace"),
            trouble=trouble,
        )


_LATE: Final = "late"


def _stop(process: subprocess.Popen[bytes]) -> None:
    # while it isn't waited for, its number is nobody else's
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


class _ProgramTalk:
    """Writes to a program and reads from it at the same time."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes, most_bytes: int) -> None:
        self._process = process
        self._left = memoryview(given)
        self._most = most_bytes
        self.out = bytearray()
        self.err = bytearray()

    def listen(self, end: float) -> str:
        """Return why to stop the program; nothing once it has said all and ended."""
        process = self._process
        with selectors.DefaultSelector() as selector:
            for pipe, kept in ((process.stdin, None), (process.stdout, self.out), (process.stderr, self.err)):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    selector.register(
                        pipe, selectors.EVENT_WRITE if kept is None else selectors.EVENT_READ, kept
                    )
            while selector.get_map():
                if time.monotonic() >= end:
                    return _LATE
                has_ended = process.poll() is not None
                ready = selector.select(0 if has_ended else min(_MOMENT, end - time.monotonic()))
                if has_ended and all(key.data is None for key, _ in ready):
                    return ""
                for key, _ in ready:
                    if self._write(key.fd) if key.data is None else self._read(key.fd, key.data):
                        selector.unregister(key.fileobj)
                        if key.data is None and process.stdin is not None:
                            process.stdin.close()
                if len(self.out) > self._most:
                    return f"it said more than {self._most:,} bytes"
        return self._wait(end)

    def _wait(self, end: float) -> str:
        try:
            self._process.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return _LATE
        return ""

    def _write(self, fd: int) -> bool:
        """Write some; say whether that was all."""
        try:
            self._left = self._left[os.write(fd, self._left[:_PIECE]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            # it answers without having read all
            return True
        return not self._left

    def _read(self, fd: int, kept: bytearray) -> bool:
        """Read some; say whether there is no more."""
        try:
            data = os.read(fd, _PIECE)
        except BlockingIOError:
            return False
        if kept is self.out or len(kept) < _MOST_ERRORS:
            kept += data
        return not data
