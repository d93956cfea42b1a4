"""The human at the terminal, asked on the device itself: standard input may be anybody's (D19)."""

import os
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

from roamkb.boundary.process_ancestry import why_no_login
from roamkb.boundary.store.processes import lineage_of
from roamkb.core.errors import UsageError
from roamkb.core.text import cleaned

_DEVICE = "/dev/tty"
#: No word that is asked for is longer.
_ANSWER = 1024


class Terminal:
    """The terminal that controls this process, if there is one."""

    def confirm(self, question: str, word: str) -> bool:
        """Say whether the human typed `word` after reading `question`.

        Raises:
            UsageError: no terminal controls this process, or it runs in the background.
        """
        import termios

        with _opened() as tty:
            # what was typed before the question is no answer to it
            termios.tcflush(tty, termios.TCIFLUSH)
            os.write(tty, f"{cleaned(question)}\nType {word} to do it: ".encode())
            answer = os.read(tty, _ANSWER)
        return answer.decode("utf-8", "replace").strip() == word

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open `path` in the editor on the terminal; say whether it ended well."""
        import subprocess

        with _opened() as tty:
            try:
                done = subprocess.run([*editor, str(path)], stdin=tty, stdout=tty, stderr=tty, check=False)
            except OSError as error:
                raise UsageError(
                    f"can't run the editor {editor[0]}: {error.strerror}",
                    hint="set EDITOR to one that is there",
                ) from error
        return done.returncode == 0


@contextmanager
def _opened() -> Iterator[int]:
    try:
        tty = os.open(_DEVICE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(
            "a human must say so at a terminal, and there is none; nothing was written",
            hint="run it yourself in a terminal; what comes through a pipe doesn't count",
        ) from error
    try:
        if os.tcgetpgrp(tty) != os.getpgrp():
            raise UsageError(
                "a human must say so, and this doesn't run in the terminal's foreground; nothing was written",
                hint="run it yourself in a terminal",
            )
        if reason := why_no_login(lineage_of(os.getpid(), Path("/proc"))):
            raise UsageError(
                f"a human must say so at a terminal of theirs, and {reason}; nothing was written",
                hint="run it yourself in a terminal, tmux, Emacs or ssh, without a program between",
            )
        yield tty
    finally:
        os.close(tty)
