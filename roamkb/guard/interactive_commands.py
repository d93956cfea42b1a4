"""Interactive commands, which take orders from the keyboard and so past the hooks.

A harness may start one on a terminal of its own and type into it afterwards, by a tool (`write_stdin`) that
it tells no hook of. Hooks import this, so it imports next to nothing.
"""

import re
import shlex

from roamkb.core.data_tables import words_by_role
from roamkb.core.startup.lazy_regex import lazily

_PROGRAMS_BY_ROLE = words_by_role("interactive_programs.tsv")
_RUNNER_PROGRAMS = _PROGRAMS_BY_ROLE["runner"]
_WAITING_PROGRAMS = _PROGRAMS_BY_ROLE["shell"] | _PROGRAMS_BY_ROLE["interpreter"]
_PYTHON_NAME = lazily(r"python[\d.]*")
#: Options with which an interpreter still waits; any other makes it do something and end.
_WAITING_OPTION = lazily(r"-(?:[ilsuqBEIOx]+|-login|-norc|-noprofile|-posix|-interactive|)")
#: What names a file that a program writes to.
_REDIRECTION = lazily(r"(?<!\S)(?:\d*|&)>{1,2}&?[ \t]*[^\s;&|<>]+")
#: What is escaped, whose quote opens nothing; a here-document, and the rest of its first line; a quoted text.
_QUOTED_TEXT = lazily(
    r"\\[^\n]"
    r"|(?<![\d<])<<-?[ \t]*[\\'\"]?(?P<mark>[A-Za-z_]\w*)['\"]?(?P<rest>[^\n]*)"
    r"(?:\n(?:.*?\n)??[ \t]*(?P=mark)[ \t]*(?=\n|\Z)|.*)"
    r"|(?P<text>'[^']*'|\"(?:[^\"\\]++|\\.)*\")",
    re.DOTALL,
)
_COMMAND_SEPARATOR = lazily(r"\|\||&&|[;&\n(){}]")
_ASSIGNMENT = lazily(r"[A-Za-z_]\w*=")
#: Longer parts are no such command.
_MAX_PART_LENGTH = 400


def find_interactive_program(command: str) -> str:
    """Return the program in a shell command that would wait for input; empty without one."""
    # what is quoted or stands in a here-document is no command
    for part in _COMMAND_SEPARATOR.split(_QUOTED_TEXT.sub(_mask_quoted, command)):
        if len(part) <= _MAX_PART_LENGTH and not any(mark in part for mark in "|<`"):
            try:
                words = shlex.split(_REDIRECTION.sub("", part), comments=True)
            except ValueError:
                continue
            if name := _waiting_program(words):
                return name
    return ""


def _mask_quoted(match: re.Match[str]) -> str:
    if match["mark"]:
        return f"<<{match['rest']}"
    return "Q" if match["text"] else match[0]


def _waiting_program(words: list[str]) -> str:
    is_root = False
    while words:
        name, words = words[0].rpartition("/")[2], words[1:]
        if name in _PROGRAMS_BY_ROLE["root"]:
            is_root = True
        elif name in _PROGRAMS_BY_ROLE["keyword"]:
            continue
        elif name not in _RUNNER_PROGRAMS and not _ASSIGNMENT.match(name) and not (is_root and name.startswith("-")):
            break
    else:
        return "sudo" if is_root else ""
    if name not in _WAITING_PROGRAMS and not _PYTHON_NAME.fullmatch(name):
        return ""
    return name if all(_WAITING_OPTION.fullmatch(word) for word in words) else ""
