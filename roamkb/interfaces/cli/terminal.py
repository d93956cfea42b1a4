"""The human at the terminal, asked on the device itself: standard input may be a program's (D19)."""

import os
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

from roamkb.boundary.human_consent import SecurityKey
from roamkb.boundary.process_ancestry import missing_login_reason
from roamkb.boundary.store.processes import read_ancestry
from roamkb.core.errors import UsageError
from roamkb.core.text import strip_hidden
from roamkb.log.proof import key_signature
from roamkb.log.trust.store.system_programs import find_system_program

_TERMINAL_DEVICE = "/dev/tty"
#: No word that is asked for is longer.
_ANSWER_BYTES = 1024


class Terminal:
    """The terminal that controls this process, if there is one."""

    is_signing_only = False

    def confirm(self, question: str, word: str) -> bool:
        """Return whether the human typed `word` after reading `question`.

        Raises:
            UsageError: no terminal controls this process, or it runs in the background.
        """
        import termios

        with _open_terminal() as tty:
            # what was typed before the question is no answer to it
            termios.tcflush(tty, termios.TCIFLUSH)
            os.write(tty, f"{strip_hidden(question)}\nType {word} to do it: ".encode())
            answer = os.read(tty, _ANSWER_BYTES)
        return answer.decode("utf-8", "replace").strip() == word

    def sign(self, message: bytes, keys: Sequence[SecurityKey], *, shown: str) -> bytes:  # noqa: ARG002 - as asked before
        """Return the signature by the first key whose file is here and that the human touches; empty without one."""
        program = find_system_program("ssh-keygen")
        if not program:
            raise UsageError(
                "there is no ssh-keygen to sign with; nothing was written", hint="install OpenSSH's client"
            )
        with _open_terminal() as tty:
            for file in (key.file for key in keys):
                if not file or not (Path(file).exists() or Path(f"{file}.pub").exists()):
                    continue
                os.write(tty, f"Touch the security key of {strip_hidden(file)}.\n".encode())
                command = [program, "-Y", "sign", "-f", file, "-n", key_signature.NAMESPACE]
                status, output = _run_on(tty, command, message=message)
                if status == 0:
                    return key_signature.unarmour(output)
        return b""

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open `path` in the editor on the terminal; return whether it ended well."""
        with _open_terminal() as tty:
            try:
                status, _ = _run_on(tty, [*editor, str(path)])
            except OSError as error:
                raise UsageError(
                    f"can't run the editor {editor[0]}: {error.strerror}",
                    hint="set EDITOR to one that is there",
                ) from error
        return status == 0


def _run_on(tty: int, command: Sequence[str], *, message: bytes | None = None) -> tuple[int, bytes]:
    """Run a program on the terminal; of one that is given a message return what it prints, too."""
    import subprocess

    if message is None:
        return subprocess.run(command, stdin=tty, stdout=tty, stderr=tty, check=False).returncode, b""
    process = subprocess.run(command, input=message, stdout=subprocess.PIPE, stderr=tty, check=False)
    return process.returncode, process.stdout


@contextmanager
def _open_terminal() -> Iterator[int]:
    try:
        tty = os.open(_TERMINAL_DEVICE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
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
        if reason := missing_login_reason(read_ancestry(os.getpid(), Path("/proc"))):
            raise UsageError(
                f"a human must say so at a terminal of theirs, and {reason}; nothing was written",
                hint="run it yourself in a terminal, tmux, Emacs or ssh, without a program between",
            )
        yield tty
    finally:
        os.close(tty)
