"""Commands that take their orders from whoever types: what they are told no hook hears of.

Codex may start one on a terminal of its own and type into it afterwards, by a tool (`write_stdin`) that it
tells no hook of. Hooks import this, so it imports next to nothing.
"""

import re
import shlex

_SHELLS = frozenset("ash bash csh dash fish ksh pwsh sh tcsh zsh".split())
_OTHERS = frozenset("irb ipython ipython3 node nodejs perl php pypy3 python ruby screen script tmux".split())
_PYTHON = re.compile(r"python[\d.]*")
#: Programs that run another; what `sudo` and `su` start without a command is a shell.
_RUNNERS = frozenset("builtin command env exec nice nohup setsid stdbuf sudo time doas".split())
_ROOT = frozenset("doas su sudo".split())
#: Options with which an interpreter still waits; any other makes it do something and end.
_WAITING = re.compile(r"-(?:[ilsuqBEIOx]+|-login|-norc|-noprofile|-posix|-interactive|)")
_DOCUMENT = re.compile(r"<<.*", re.DOTALL)
#: Of what is escaped, too: such a quote opens nothing.
_QUOTED = re.compile(r"\\[^\n]|('[^']*'|\"(?:\\.|[^\"\\])*+\")", re.DOTALL)
_PARTS = re.compile(r"\|\||&&|[;&\n(){}]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
#: Longer parts are no such command.
_LONGEST = 400


def awaited(command: str) -> str:
    """Return the program in a shell command that would wait for orders; empty where there is none."""
    # what is quoted or stands in a here-document is no command
    for part in _PARTS.split(_QUOTED.sub(_unquoted, _DOCUMENT.sub("<<", command))):
        if len(part) <= _LONGEST and not any(mark in part for mark in "|<`"):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                continue
            if name := _waits(words):
                return name
    return ""


def _unquoted(found: re.Match[str]) -> str:
    return "Q" if found[1] else found[0]


def _waits(words: list[str]) -> str:
    is_root = False
    while words:
        name, words = words[0].rpartition("/")[2], words[1:]
        if name in _ROOT:
            is_root = True
        elif name not in _RUNNERS and not _ASSIGNED.match(name) and not (is_root and name.startswith("-")):
            break
    else:
        return "sudo" if is_root else ""
    if name not in _SHELLS and name not in _OTHERS and not _PYTHON.fullmatch(name):
        return ""
    return name if all(_WAITING.fullmatch(word) for word in words) else ""
