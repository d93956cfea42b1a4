"""Commands that take their orders from whoever types: what they are told no hook hears of.

Codex may start one on a terminal of its own and type into it afterwards, by a tool (`write_stdin`) that it
tells no hook of. Hooks import this, so it imports next to nothing.
"""

import re
import shlex

from roamkb.core.data_tables import words_by_role
from roamkb.core.startup.lazy_regex import lazily

_PROGRAMS = words_by_role("interactive_programs.tsv")
_RUNNERS = _PROGRAMS["runner"]
_WAITERS = _PROGRAMS["shell"] | _PROGRAMS["interpreter"]
_PYTHON = lazily(r"python[\d.]*")
#: Options with which an interpreter still waits; any other makes it do something and end.
_WAITING = lazily(r"-(?:[ilsuqBEIOx]+|-login|-norc|-noprofile|-posix|-interactive|)")
#: What names a file that a program writes to.
_REDIRECTED = lazily(r"(?<!\S)(?:\d*|&)>{1,2}&?[ \t]*[^\s;&|<>]+")
#: What is escaped, whose quote opens nothing; a here-document, and the rest of its first line; a quoted text.
_QUOTED = lazily(
    r"\\[^\n]"
    r"|(?<![\d<])<<-?[ \t]*[\\'\"]?(?P<mark>[A-Za-z_]\w*)['\"]?(?P<rest>[^\n]*)"
    r"(?:\n(?:.*?\n)??[ \t]*(?P=mark)[ \t]*(?=\n|\Z)|.*)"
    r"|(?P<text>'[^']*'|\"(?:[^\"\\]++|\\.)*\")",
    re.DOTALL,
)
_PARTS = lazily(r"\|\||&&|[;&\n(){}]")
_ASSIGNED = lazily(r"[A-Za-z_]\w*=")
#: Longer parts are no such command.
_LONGEST = 400


def awaited(command: str) -> str:
    """Return the program in a shell command that would wait for orders; empty where there is none."""
    # what is quoted or stands in a here-document is no command
    for part in _PARTS.split(_QUOTED.sub(_unquoted, command)):
        if len(part) <= _LONGEST and not any(mark in part for mark in "|<`"):
            try:
                words = shlex.split(_REDIRECTED.sub("", part), comments=True)
            except ValueError:
                continue
            if name := _waits(words):
                return name
    return ""


def _unquoted(found: re.Match[str]) -> str:
    if found["mark"]:
        return f"<<{found['rest']}"
    return "Q" if found["text"] else found[0]


def _waits(words: list[str]) -> str:
    is_root = False
    while words:
        name, words = words[0].rpartition("/")[2], words[1:]
        if name in _PROGRAMS["root"]:
            is_root = True
        elif name in _PROGRAMS["keyword"]:
            continue
        elif name not in _RUNNERS and not _ASSIGNED.match(name) and not (is_root and name.startswith("-")):
            break
    else:
        return "sudo" if is_root else ""
    if name not in _WAITERS and not _PYTHON.fullmatch(name):
        return ""
    return name if all(_WAITING.fullmatch(word) for word in words) else ""
