"""The terminal as a screen: paths as people write them, to be clicked, and a pager for what is longer than it."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
from os.path import exists
from os.path import expanduser
from socket import gethostname
from urllib.parse import quote

#: A location at the start of a line, coloured or indented: what comes before it, its path, its line.
_LOCATION = re.compile(r"(?m)^((?:\x1b\[\d+m|[ ])*)(/[^\x1b\n:]+)(:\d+)?(?=\x1b|:|$)")
#: A step's line of `install`, `setup` and `init`: what is done to what, and its path.
_STEP = re.compile(r"(?m)^((?:(?:link|write|remove|keep|skip|WARN|show) +[^:/\n]+: |made |write ))(/[^\x1b\n]*)")
#: The folders that `install` and `setup` end with.
_FOLDERS = re.compile(r"(?m)(?<=^work: )/.*|(?<=^personal, may write: )/.*")
#: Terminals that show the escapes of links as text begin with none of these.
_LINKING_TERMINALS = ("xterm", "tmux", "alacritty", "foot", "kitty", "vte", "wezterm", "rxvt")
#: As git has it: what fits is printed, colours are shown, the screen stays.
_PAGER_SETTINGS = {"LESS": "FRX", "LV": "-c"}


def with_home_paths(text: str, *, has_links: bool, is_short: bool) -> str:
    """Return `text` with each location of a file in the user's home as a link, and from `~` on if it is to be short.

    Links (OSC 8) name the whole path, and are made where the terminal knows them. Elsewhere than in the home a
    line of a note that looks like a path could have us ask an automounter for somebody's server.
    """
    is_linked = has_links and os.environ.get("TERM", "").startswith(_LINKING_TERMINALS)
    host, home = quote(gethostname()) if is_linked else "", expanduser("~").rstrip("/") + "/"

    def shorten(path: str) -> str:
        return f"~/{path.removeprefix(home)}" if is_short and path.startswith(home) else path

    def show_location(match: re.Match[str]) -> str:
        before, path, line = match[1], match[2], match[3] or ""
        if not path.startswith(home) or not exists(path):  # noqa: PTH110 - Path's raises where a name is too long
            return match[0]
        shown = f"{shorten(path)}{line}"
        if not is_linked:
            return before + shown
        return f"{before}\x1b]8;;file://{host}{quote(os.fsencode(path))}\x1b\\{shown}\x1b]8;;\x1b\\"

    text = _LOCATION.sub(show_location, text)
    text = _STEP.sub(lambda step: step[1] + shorten(step[2]), text)
    return _FOLDERS.sub(lambda listed: ", ".join(map(shorten, listed[0].split(", "))), text)


def show_in_pager(text: str) -> bool:
    """Show `text` in the user's pager if it is longer than the screen; return whether it was shown."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    columns, lines = shutil.get_terminal_size((0, 0))
    if not lines or sum(1 + len(line) // max(columns, 1) for line in text.splitlines()) < lines:
        return False
    try:
        command = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        # a quote that nothing closes
        return False
    if not command or shutil.which(command[0]) is None:
        return False
    data = f"{text}\n".encode(errors="backslashreplace")
    # Ctrl-C is the pager's
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        subprocess.run(command, input=data, env={**_PAGER_SETTINGS, **os.environ}, check=False)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, handler)
    return True


def drop_typed_ahead() -> None:
    """Drop what was typed while nothing was asked: it answers no question that nobody saw."""
    with contextlib.suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
