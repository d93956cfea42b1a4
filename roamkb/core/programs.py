"""The simple commands of shell text as values, and which program one really runs behind sudo, env and sh."""

import re

ASSIGNMENT = r"[A-Za-z_]\w*+(?:\[[^]]*+\])?\+?="
#: Programs that run another: their options that take a value, and how many words stand before the other.
RUNNERS: dict[str, tuple[str, int]] = {
    "builtin": ("", 0),
    "busybox": ("", 0),
    "chronic": ("", 0),
    "command": ("", 0),
    "coproc": ("", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C --unset --chdir", 0),
    "exec": ("-a", 0),
    "flock": ("-w -E --timeout --wait --conflict-exit-code", 1),
    "ionice": ("-c -n", 0),
    "ltrace": ("-e -o -p -u", 0),
    "nice": ("-n --adjustment", 0),
    "noglob": ("", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "strace": ("-e -E -o -p -P -s -S -u", 0),
    "sudo": ("-u -g -h -p -C -D -R -T -U --user --group --chdir", 0),
    "systemd-run": ("-p -u -E --property --unit --setenv", 0),
    "time": ("-f -o", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "toybox": ("", 0),
    "unbuffer": ("", 0),
}
#: Their options that say where the program runs, or what they write themselves.
_TELLING = {
    "env": (("-C", "folder"), ("--chdir", "folder")),
    "ltrace": (("-o", "output"), ("--output", "output")),
    "strace": (("-o", "output"), ("--output", "output")),
    "sudo": (("-D", "folder"), ("--chdir", "folder")),
    "time": (("-o", "output"), ("--output", "output")),
}
#: Has env itself part its value into words.
_ENV_SCRIPT = r"(?s)(?:--split-string=?|-[iv0]*S)(.*)"
SHELLS = frozenset("ash bash dash fish ksh mksh sh zsh".split())
#: Of a `printf` that repeats its form.
_MOST_ROWS = 99


class Command:
    """One simple command; not frozen, since a heredoc's text follows after the line's other commands."""

    # no dataclass, since hooks import this: that module takes twice as long as Python to start
    __slots__ = ("is_fed", "output", "piped_from", "redirections", "scope", "stdin", "words")

    def __init__(
        self,
        *,
        words: list[str] | None = None,
        piped_from: "Command | None" = None,
        is_fed: bool = False,
        scope: tuple[int, ...] = (),
    ) -> None:
        """Begin a command; its words and all else are added as they are read."""
        self.words: list[str] = words or []
        #: The text of its heredoc or here-string, with the last line end.
        self.stdin: str | None = None
        #: The file that `>` sends its output to; empty where the output goes elsewhere.
        self.output: str | None = None
        #: The simple command whose output it reads.
        self.piped_from = piped_from
        #: Whether it, or the group that it begins, reads a pipe.
        self.is_fed = is_fed
        #: Its redirections but for heredocs and here-strings: the operator and the target.
        self.redirections: list[tuple[str, str]] = []
        #: The subshells and substitutions around it, the outermost first, each by a number of its own.
        self.scope = scope

    @property
    def copied(self) -> str | None:
        """What `cat` with a heredoc prints; None for any other command."""
        return self.stdin if self.words in (["cat"], ["cat", "-"]) else None


class Script:
    """Shell text, read."""

    __slots__ = ("commands", "is_whole")

    def __init__(self, commands: list[Command], *, is_whole: bool) -> None:
        """Take the commands; those without words redirect a group, or make a file.

        `is_whole` says whether all of the text could be read.
        """
        self.commands = commands
        self.is_whole = is_whole


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
    return behind_runners(words)[0]


def behind_runners(words: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the words from the program on, and what was told to those before it.

    Each is `folder` and where it goes to run the program, or `output` and a file that it writes.
    """
    told: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        name = name_of(words[at])
        if re.match(ASSIGNMENT, words[at]):
            at += 1
        elif name in RUNNERS:
            valued, leading = RUNNERS[name]
            at += 1
            while at < len(words) and words[at].startswith("-"):
                if name == "env" and (found := re.match(_ENV_SCRIPT, words[at])):
                    text = found[1] or " ".join(words[at + 1 : at + 2])
                    words = [*text.split(), *words[at + (1 if found[1] else 2) :]]
                    at, leading = 0, 0
                    break
                told += _told(name, words[at], "".join(words[at + 1 : at + 2]))
                at += 2 if _is_valued(words[at], valued) else 1
            at += leading
        else:
            break
    return words[at:], told


def _is_valued(word: str, valued: str) -> bool:
    """Say whether an option takes the next word: by itself, or as the last letter of a cluster."""
    is_cluster = re.fullmatch(r"-[a-zA-Z]{2,}", word) is not None
    return (f"-{word[-1]}" if is_cluster else word) in valued.split()


def _told(runner: str, word: str, follows: str) -> list[tuple[str, str]]:
    """Return what one option tells a runner."""
    if runner == "sudo" and re.fullmatch(r"-[a-zA-Z]*i[a-zA-Z]*|--login", word):
        return [("folder", "~")]
    for option, meaning in _TELLING.get(runner, ()):
        if word == option or (len(option) == 2 and re.fullmatch(rf"-[a-zA-Z]*{option[1]}", word)):
            return [(meaning, follows)]
        if word.startswith(f"{option}=" if option.startswith("--") else option):
            return [(meaning, word[len(option) :].removeprefix("="))]
    return []


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
        case ["echo", *texts] if texts and not texts[0].startswith("-") and "\\" not in " ".join(texts):
            return " ".join(texts) + "\n"
        case ["printf", form, *texts] if not form.startswith("-"):
            return formatted(form, texts)
        case _:
            return command.copied


def formatted(form: str, texts: list[str]) -> str | None:
    """Return what printf makes of its words; None where its form has more than `%s`."""
    form = form.replace("\\n", "\n")
    parts = form.split("%s")
    if "%" in "".join(parts) or "\\" in form:
        return None
    if len(parts) == 1:
        return form
    each = len(parts) - 1
    rows = [texts[at : at + each] for at in range(0, len(texts), each)] or [[]]
    return "".join(
        "".join(part + text for part, text in zip(parts, [*row, *[""] * (each - len(row)), ""], strict=True))
        for row in rows[:_MOST_ROWS]
    )
