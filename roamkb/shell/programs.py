"""Simple commands as values, and what programs do with their words: `data/programs.tsv`."""

import re
from collections.abc import Sequence

from roamkb.core.data_tables import rows

ASSIGNMENT = r"[A-Za-z_]\w*+(?:\[[^]]*+\])?\+?="
#: Options with a value, by what is done with it.
_VALUED = frozenset("out to in code also run share glob arg set".split())
#: Whose first operand begins a command.
_RUNNING = frozenset("runs starts each".split())
#: Ask a program only what it would do; an interpreter passes them on.
_ASKS = ("--dry-run", "--help", "--version")
_ASKED = frozenset("spares writes moves last fills makes tends litters edits".split())
_FIND_ACTS = r"-(?:exec|ok|delete|fprint|fls)|-[xX]$|--exec"
#: Of a `printf` that repeats its form.
_MOST_ROWS = 99


class ShellCommand:
    """One simple command; not frozen, since a heredoc's text follows after the line's other commands."""

    # no dataclass, since hooks import this: that module takes twice as long as Python to start
    __slots__ = ("is_fed", "output", "piped_from", "redirections", "scope", "stdin", "words")

    def __init__(
        self,
        *,
        words: list[str] | None = None,
        piped_from: "ShellCommand | None" = None,
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


class ShellScript:
    """Shell text, read."""

    __slots__ = ("commands", "is_whole")

    def __init__(self, commands: list[ShellCommand], *, is_whole: bool) -> None:
        """Take the commands; those without words redirect a group, or make a file.

        `is_whole` says whether all of the text could be read.
        """
        self.commands = commands
        self.is_whole = is_whole


class ProgramRow:
    """What a row of the table says of a program."""

    __slots__ = ("kind", "leading", "marks", "options")

    def __init__(self, kind: str, told: str, base: "ProgramRow | None" = None) -> None:
        """Take a row; a subcommand knows its program's options as well."""
        self.kind, _, leading = kind.partition(" ")
        #: How many words stand before the command that it runs.
        self.leading = int(leading or 0)
        self.options: dict[str, str] = dict(base.options) if base else {}
        self.options |= dict.fromkeys(_ASKS if self.kind in _ASKED else (), "show")
        marks: set[str] = set()
        for one in told.split():
            role, colon, options = one.partition(":")
            self.options |= dict.fromkeys(options.split(",") if colon else (), role)
            marks |= set() if colon else {role}
        self.marks = frozenset(marks)


class ParsedArguments:
    """The words behind a program's name, by what they are."""

    __slots__ = ("flags", "operands", "rest", "values")

    def __init__(self, words: Sequence[str], options: dict[str, str], *, is_runner: bool = False) -> None:
        """Part them; what a runner runs begins with its first operand, and is left as it is."""
        self.operands: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.flags: set[str] = set()
        at, is_over = 0, False
        while at < len(words):
            word = words[at]
            at += 1
            if is_over or not word.startswith(("-", "+")) or len(word) == 1:
                name, equals, value = word.partition("=")
                if equals and (role := options.get(f"{name}=")):
                    self._add(role, value)
                    continue
                self.operands.append(word)
                if options.get(word) == "show":
                    self.flags.add("show")
                elif is_runner and not re.match(ASSIGNMENT, word):
                    break
            elif word == "--":
                is_over = True
            else:
                at += self._option(word, words[at] if at < len(words) else "", options)
        #: What follows the first operand of a runner.
        self.rest = list(words[at:])

    def _option(self, word: str, follows: str, options: dict[str, str]) -> int:
        """Take an option; return how many of the words that follow it takes."""
        name, equals, value = word.partition("=")
        if role := options.get(name):
            takes = not equals and role in _VALUED
            self._add(role, value if equals else follows if takes else "")
            return int(takes)
        if word.startswith("+") and "+" in options:
            self._add(options["+"], word[1:])
        if word.startswith("--"):
            return 0
        for at, letter in enumerate(word[1:], 2):
            role = options.get(f"-{letter}")
            if role in _VALUED:
                self._add(role, word[at:].removeprefix("=") or follows)
                return int(at == len(word))
            if role:
                self._add(role, "")
            if not letter.isalpha():
                break
        return 0

    def _add(self, role: str, value: str) -> None:
        if role in _VALUED:
            self.values.setdefault(role, []).append(value)
        else:
            self.flags.add(role)


#: What the table says by a program's names, and the rows of its subcommands.
_told: dict[str, list[str]] = {}
_subcommands: dict[str, list[list[str]]] = {}


def _row(name: str) -> list[str] | None:
    """Return a program's kind and options; the rest of the table is only parted, since hooks have no time."""
    for names, *told in () if _told else rows("programs.tsv"):
        first, colon, others = names.partition(": ")
        if colon:
            _subcommands.setdefault(first, []).append([others, *told])
        else:
            _told.update(dict.fromkeys(names.split(" "), told))
    return _told.get(name)


def _find_program(name: str) -> ProgramRow | None:
    """Return what the table says of a program."""
    told = _row(name)
    return ProgramRow(told[0], "".join(told[1:])) if told else None


def _find_subcommand(name: str, asked: Sequence[str], base: ProgramRow) -> ProgramRow | None:
    for names, kind, *told in _subcommands.get(name, ()):
        if not set(names.split(" ")).isdisjoint(asked):
            return ProgramRow(kind, "".join(told), base)
    return None


def options_of(program: str, role: str) -> frozenset[str]:
    """Return the options of a program that have a role in `data/options.tsv`."""
    return frozenset(next(words.split() for *key, words in rows("options.tsv") if key == [program, role]))


def parse_words(words: Sequence[str]) -> tuple[ProgramRow, ParsedArguments]:
    """Return what is known of the program that a command starts, or its subcommand, and the other words."""
    name, rest = program_name(words[0]), list(words[1:])
    program = (
        _find_program(name_of(words[0]))
        or _find_program(name)
        or ProgramRow("spares", "".join((_row("*") or ["", ""])[1]))
    )
    name = "tar" if name == "bsdtar" else name
    if name == "tar" and rest and rest[0].isalpha():
        rest[0] = f"-{rest[0]}"
    if name in _subcommands:
        before = ParsedArguments(rest, program.options, is_runner=True)
        if found := _find_subcommand(name, before.operands[:1], program):
            behind = ParsedArguments(before.rest, found.options, is_runner=found.kind in _RUNNING)
            behind.flags |= before.flags
            for role, values in before.values.items():
                behind.values[role] = [*values, *behind.values.get(role, ())]
            return found, behind
        letters = [f"-{one}" for word in rest if re.fullmatch(r"-[A-Za-z]+", word) for one in word[1:]]
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        program = _find_subcommand(name, [*options, *letters], program) or program
    return program, ParsedArguments(rest, program.options, is_runner=program.kind in _RUNNING)


def name_of(program: str) -> str:
    """Return a program's name without its folder."""
    return program.rpartition("/")[2]


def program_name(program: str) -> str:
    """Return a program's name without its folder and version."""
    return name_of(program).rstrip("0123456789.") or program


def reads_only(words: Sequence[str]) -> bool:
    """Say whether a simple command only reads the files that its words name, by the table."""
    words = without_runners(list(words))
    if not words:
        return True
    program, parsed = parse_words(words)
    if program.kind == "each":
        return program_name(words[0]) == "xargs" and reads_only([*parsed.operands, *parsed.rest])
    if program.kind == "finds":
        return not any(re.match(_FIND_ACTS, one) for one in words)
    if "show" in parsed.flags:
        return True
    return (program.kind in ("reads", "lists") or "filter" in program.marks) and not (
        "all" in parsed.flags or {"out", "run"} & parsed.values.keys()
    )


def stdin_of(command: ShellCommand) -> str | None:
    """Return what a command reads, from its heredoc or from the command before it."""
    before = command.piped_from
    if command.stdin is not None or before is None or before.output is not None:
        return command.stdin
    return printed(before)


def without_runners(words: list[str]) -> list[str]:
    """Return the words from the program on that is really run."""
    while words:
        if re.match(ASSIGNMENT, words[0]):
            words = words[1:]
            continue
        program, parsed = parse_words(words)
        if program.kind != "runs":
            break
        words = command_run(program, parsed)
    return words


def command_run(program: ProgramRow, parsed: ParsedArguments) -> list[str]:
    """Return the command that a runner starts; `env -S` has the first of its words in one."""
    split = [word for text in parsed.values.get("run", ()) for word in text.split()]
    words = [*split, *[*parsed.operands, *parsed.rest][program.leading :]]
    # `flock FILE -c SCRIPT`
    return ["sh", *words] if words[:1] == ["-c"] else words


def script_of(words: list[str], stdin: str | None) -> str | None:
    """Return the shell text that a command runs: the argument of `bash -c`, or what `bash` is fed."""
    if words[:1] == ["eval"]:
        return " ".join(words[1:])
    if not words or words[0] in ("source", ".") or parse_words(words)[0].kind != "shell":
        return None
    is_given, rest = False, iter(words[1:])
    for word in rest:
        if not word.startswith(("-", "+")) or word == "-":
            return word if is_given else None
        if word in ("--rcfile", "--init-file") or (word[1:2] != "-" and "o" in word.lower()):
            next(rest, None)
        is_given |= word[1:2] != "-" and "c" in word
    return None if is_given else stdin


def printed(command: ShellCommand) -> str | None:
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
