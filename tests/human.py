"""A human at a real terminal: a pseudo-terminal that controls the process, and answers on it.

It is made by a program of an emulator's name, as a human's is: one that any program makes is no human's.
"""

import os
import re
import select
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import Ran
from tests.conftest import World
from tests.conftest import emulator

#: What the question at the terminal ends with; the word is what it asks for.
_PROMPT = re.compile(rb"Type (\S+) to do it: ")
#: A question that waits for its answer.
_WAITS = re.compile(r"(?:\]|:) \Z")
#: Seconds between two looks at whether it ended.
_MOMENT = 0.05


#: Runs a command on the terminal whose number it gets, as an emulator runs a shell.
_EMULATE = """
import fcntl, os, subprocess, sys, termios
where, terminal, *command = sys.argv[1:]
def take_over():
    os.setsid()
    fcntl.ioctl(int(terminal), termios.TIOCSCTTY, 0)
    if where == "background" and (child := os.fork()):
        # the parent stays in the foreground, as a shell's job would
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if where == "background":
        os.setpgid(0, 0)
environment = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
sys.exit(subprocess.Popen(command, env=environment, preexec_fn=take_over, pass_fds=[int(terminal)]).wait())
"""


def at_a_terminal(
    world: World,
    *words: str,
    answer: Callable[[str], str] = lambda word: word,
    cwd: Path | None = None,
    extra: dict[str, str] | None = None,
    in_background: bool = False,
    early: str = "",
    is_emulator: bool = True,
) -> tuple[Ran, str]:
    """Run `roamkb` under a terminal on which `answer` is typed; return the run and what the terminal showed.

    `early` is typed before the program begins; without `is_emulator` the terminal is of another program's
    making.
    """
    folder = cwd or world.personal
    return run_at_a_terminal(
        [sys.executable, "-m", "roamkb", *words],
        maker=emulator(world.home.parent, "xterm" if is_emulator else "expect"),
        cwd=folder,
        environment={**world.environment(), "PWD": str(folder), **(extra or {})},
        answer=answer,
        in_background=in_background,
        early=early,
    )


def run_at_a_terminal(
    command: Sequence[str],
    *,
    maker: Path,
    cwd: Path,
    environment: Mapping[str, str],
    answer: Callable[[str], str] = lambda word: word,
    in_background: bool = False,
    early: str = "",
) -> tuple[Ran, str]:
    """Run a command under a terminal that `maker` made, as above.

    Standard input, output and error are pipes: only the device is the human's.
    """
    master, slave = os.openpty()
    os.write(master, early.encode())
    place = "background" if in_background else "foreground"
    process = subprocess.Popen(
        [maker, "-c", _EMULATE, place, str(slave), *command],
        cwd=cwd,
        env={**environment, "PYTHONHOME": sys.base_prefix},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(slave,),
    )
    shown = _answered(process, master, answer)
    out, err = process.communicate()
    # a terminal without any opener hangs up, so that this one is kept until the end
    os.close(slave)
    os.close(master)
    return Ran(status=process.returncode, out=out.decode(), err=err.decode()), shown


def converse(
    command: Sequence[str],
    *,
    maker: Path,
    cwd: Path,
    environment: Mapping[str, str],
    answers: Sequence[tuple[str, str]],
) -> tuple[int, str]:
    """Run a command whose input and output are a terminal; return its status and all that was shown.

    `answers` has for each question, in order, words in it and what is typed then; the call fails where the
    program asks for more or less.
    """
    master, slave = os.openpty()
    process = subprocess.Popen(
        [maker, "-c", _EMULATE, "foreground", str(slave), *command],
        cwd=cwd,
        env={**environment, "PYTHONHOME": sys.base_prefix},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        pass_fds=(slave,),
    )
    shown, seen, left = b"", 0, list(answers)
    while True:
        has_ended = process.poll() is not None
        if select.select([master], [], [], 0 if has_ended else _MOMENT)[0]:
            # a part of what is being shown may end like a question
            shown += os.read(master, 4096)
            continue
        if has_ended:
            break
        text = shown.decode("utf-8", "replace")
        if _WAITS.search(text, seen):
            question, seen = text[seen:], len(text)
            assert left, f"nobody answers {question}"
            words, answer = left.pop(0)
            assert words in question, f"{words!r} isn't asked: {question}"
            os.write(master, f"{answer}\n".encode())
    os.close(slave)
    os.close(master)
    assert not left, f"not asked: {left}; shown: {shown.decode('utf-8', 'replace')}"
    return process.returncode, shown.decode("utf-8", "replace")


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
