"""The simple commands of shell text as values, and which program one really runs behind sudo, env and sh."""

import re
from dataclasses import dataclass
from dataclasses import field

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+(?:\[[^]]*+\])?\+?=")
#: Programs that run another: their options that take a value, and how many words stand before the other.
RUNNERS: dict[str, tuple[str, int]] = {
    "builtin": ("", 0),
    "command": ("", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C --unset --chdir", 0),
    "exec": ("-a", 0),
    "ionice": ("-c -n", 0),
    "nice": ("-n --adjustment", 0),
    "noglob": ("", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "sudo": ("-u -g -h -p -C -D -R -T -U --user --group --chdir", 0),
    "time": ("-f -o", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
}
SHELLS = frozenset("bash dash ksh sh zsh".split())


@dataclass(slots=True)
class Command:
    """One simple command; not frozen, since a heredoc's text follows after the line's other commands."""

    words: list[str] = field(default_factory=list)
    #: The text of its heredoc or here-string, with the last line end.
    stdin: str | None = None
    #: The file that `>` sends its output to; empty where the output goes elsewhere.
    output: str | None = None
    #: The simple command whose output it reads.
    piped_from: "Command | None" = field(default=None, repr=False)
    #: Whether it, or the group that it begins, reads a pipe.
    is_fed: bool = field(default=False, repr=False)
    #: Its redirections but for heredocs and here-strings: the operator and the target.
    redirections: list[tuple[str, str]] = field(default_factory=list, repr=False)
    #: The subshells and substitutions around it, the outermost first, each by a number of its own.
    scope: tuple[int, ...] = field(default=(), repr=False)

    @property
    def copied(self) -> str | None:
        """What `cat` with a heredoc prints; None for any other command."""
        return self.stdin if self.words in (["cat"], ["cat", "-"]) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Shell text, read."""

    #: Those without words redirect a group, or make a file.
    commands: list[Command]
    #: Whether all of it could be read.
    is_whole: bool


def name_of(program: str) -> str:
    return program.rpartition("/")[2]


def stdin_of(command: Command) -> str | None:
    """Return what a command reads, from its heredoc or from the command before it."""
    before = command.piped_from
    if command.stdin is not None or before is None or before.output is not None:
        return command.stdin
    return printed(before)


def without_runners(words: list[str]) -> list[str]:
    """Return the words from the program on that is really run."""
    at = 0
    while at < len(words):
        name = name_of(words[at])
        if ASSIGNMENT.match(words[at]):
            at += 1
        elif name in RUNNERS:
            valued, leading = RUNNERS[name]
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 2 if words[at] in valued.split() else 1
            at += leading
        else:
            break
    return words[at:]


def script_of(words: list[str], stdin: str | None) -> str | None:
    """Return the shell text that a command runs: the argument of `bash -c`, or what `bash` is fed."""
    if words[:1] == ["eval"]:
        return " ".join(words[1:])
    if not words or name_of(words[0]) not in SHELLS:
        return None
    is_given, rest = False, iter(words[1:])
    for word in rest:
        if not word.startswith(("-", "+")) or word == "-":
            return word if is_given else None
        if word in ("--rcfile", "--init-file") or (word[1:2] != "-" and "o" in word):
            next(rest, None)
        is_given |= word[1:2] != "-" and "c" in word
    return None if is_given else stdin


def printed(command: Command) -> str | None:
    """Return what a command prints, where that needs no guess."""
    match command.words:
        case ["echo", text] if not text.startswith("-") and "\\" not in text:
            return text + "\n"
        case ["printf", "%s" | "%s\n" | "%s\\n", text]:
            return text
        case _:
            return command.copied
