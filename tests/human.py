"""A human at a real terminal: a pseudo-terminal that controls the process, and answers on it."""

import fcntl
import os
import re
import select
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Ran
from tests.conftest import World

#: What the question at the terminal ends with; the word is what it asks for.
_PROMPT = re.compile(rb"Type (\S+) to do it: ")
#: Seconds between two looks at whether it ended.
_MOMENT = 0.05


def at_a_terminal(
    world: World,
    *words: str,
    answer: Callable[[str], str] = lambda word: word,
    cwd: Path | None = None,
    extra: dict[str, str] | None = None,
    in_background: bool = False,
    early: str = "",
) -> tuple[Ran, str]:
    """Run `roamkb` under a terminal on which `answer` is typed; return the run and what the terminal showed.

    `early` is typed before the program begins.

    Standard input, output and error are pipes: only the device is the human's.
    """
    master, slave = os.openpty()
    folder = cwd or world.personal
    os.write(master, early.encode())

    def take_over() -> None:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        if in_background and (child := os.fork()):
            # the parent stays in the foreground, as a shell's job would
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        if in_background:
            os.setpgid(0, 0)

    process = subprocess.Popen(
        [sys.executable, "-m", "roamkb", *words],
        cwd=folder,
        env={**world.environment(), "PWD": str(folder), **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=take_over,
    )
    shown = _answered(process, master, answer)
    out, err = process.communicate()
    # a terminal without any opener hangs up, so that this one is kept until the end
    os.close(slave)
    os.close(master)
    return Ran(status=process.returncode, out=out.decode(), err=err.decode()), shown


def _answered(process: subprocess.Popen[bytes], master: int, answer: Callable[[str], str]) -> str:
    """Answer the question on the terminal, once; return all that it showed until the program ended."""
    shown = b""
    is_answered = False
    while True:
        has_ended = process.poll() is not None
        if select.select([master], [], [], 0 if has_ended else _MOMENT)[0]:
            shown += os.read(master, 4096)
        elif has_ended:
            return shown.decode("utf-8", "replace")
        if not is_answered and (found := _PROMPT.search(shown)):
            os.write(master, (answer(found[1].decode()) + "\n").encode())
            is_answered = True
