"""Simple commands as values, and the effect of programs on their arguments: `data/programs.tsv`."""

import re
from collections.abc import Sequence

from roamkb.core.data_tables import data_rows

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
    """A simple command; mutable, since a heredoc's text follows after the line's other commands."""

    # no dataclass, since hooks import this: that module takes twice as long as Python to start
    __slots__ = ("expands", "is_fed", "output", "piped_from", "redirections", "scope", "stdin", "words")

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
        #: Whether the shell puts something into its words, or its heredoc, that they don't say.
        self.expands = False
        #: Its redirections but for heredocs and here-strings: the operator and the target.
        self.redirections: list[tuple[str, str]] = []
        #: The subshells and substitutions around it, the outermost first, each by a number of its own.
        self.scope = scope

    @property
    def heredoc_text(self) -> str | None:
        """The heredoc that `cat` prints; None for any other command."""
        return self.stdin if self.words in (["cat"], ["cat", "-"]) else None

    @property
    def spells_output(self) -> bool:
        """Whether all that it prints stands in the script."""
        if self.expands or not self.words:
            return False
        return self.words[0] in ("echo", "printf") or (self.words == ["cat"] and self.spells_input)

    @property
    def spells_input(self) -> bool:
        """Whether all that it reads as input, if anything, stands in the script."""
        if any("<" in sign for sign, _ in self.redirections):
            return False
        if self.stdin is not None:
            return not self.expands
        return self.piped_from.spells_output if self.piped_from else not self.is_fed


class ShellScript:
    """Shell text as a list of commands."""

    __slots__ = ("commands", "is_whole")

    def __init__(self, commands: list[ShellCommand], *, is_whole: bool) -> None:
        """Store the commands; those without words redirect a group, or make a file.

        `is_whole` says whether all of the text could be read.
        """
        self.commands = commands
        self.is_whole = is_whole


class ProgramRow:
    """A program's row of the table."""

    __slots__ = ("kind", "leading", "marks", "options")

    def __init__(self, kind: str, roles_text: str, base: "ProgramRow | None" = None) -> None:
        """Parse a row; a subcommand knows its program's options as well."""
        self.kind, _, leading = kind.partition(" ")
        #: How many words stand before the command that it runs.
        self.leading = int(leading or 0)
        self.options: dict[str, str] = dict(base.options) if base else {}
        self.options |= dict.fromkeys(_ASKS if self.kind in _ASKED else (), "show")
        marks: set[str] = set()
        for role_text in roles_text.split():
            role, colon, options = role_text.partition(":")
            self.options |= dict.fromkeys(options.split(",") if colon else (), role)
            marks |= set() if colon else {role}
        self.marks = frozenset(marks)


class ParsedArguments:
    """The words behind a program's name, sorted by role."""

    __slots__ = ("flags", "operands", "rest", "values")

    def __init__(self, words: Sequence[str], options: dict[str, str], *, is_runner: bool = False) -> None:
        """Sort the words; a runner's command, from its first operand on, stays as it is."""
        self.operands: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.flags: set[str] = set()
        index, is_over = 0, False
        while index < len(words):
            word = words[index]
            index += 1
            if is_over or not word.startswith(("-", "+")) or len(word) == 1:
                name, equals, value = word.partition("=")
                if equals and (role := options.get(f"{name}=")):
                    self._add_value(role, value)
                    continue
                self.operands.append(word)
                if options.get(word) == "show":
                    self.flags.add("show")
                elif is_runner and not re.match(ASSIGNMENT, word):
                    break
            elif word == "--":
                is_over = True
            else:
                index += self._take_option(word, words[index] if index < len(words) else "", options)
        #: What follows the first operand of a runner.
        self.rest = list(words[index:])

    def _take_option(self, word: str, next_word: str, options: dict[str, str]) -> int:
        """Add an option; return how many of the following words it takes."""
        name, equals, value = word.partition("=")
        if role := options.get(name):
            takes = not equals and role in _VALUED
            self._add_value(role, value if equals else next_word if takes else "")
            return int(takes)
        if word.startswith("+") and "+" in options:
            self._add_value(options["+"], word[1:])
        if word.startswith("--"):
            return 0
        for index, letter in enumerate(word[1:], 2):
            role = options.get(f"-{letter}")
            if role in _VALUED:
                self._add_value(role, word[index:].removeprefix("=") or next_word)
                return int(index == len(word))
            if role:
                self._add_value(role, "")
            if not letter.isalpha():
                break
        return 0

    def _add_value(self, role: str, value: str) -> None:
        if role in _VALUED:
            self.values.setdefault(role, []).append(value)
        else:
            self.flags.add(role)


#: What the table says by a program's names, and the rows of its subcommands.
_columns_by_program: dict[str, list[str]] = {}
_subcommands: dict[str, list[list[str]]] = {}


def _program_columns(name: str) -> list[str] | None:
    """Return a program's kind and options; the rest of the table is only split, to save time."""
    for names, *columns in () if _columns_by_program else data_rows("programs.tsv"):
        program, colon, others = names.partition(": ")
        if colon:
            _subcommands.setdefault(program, []).append([others, *columns])
        else:
            _columns_by_program.update(dict.fromkeys(names.split(" "), columns))
    return _columns_by_program.get(name)


def _find_program(name: str) -> ProgramRow | None:
    """Return a program's row of the table, parsed."""
    columns = _program_columns(name)
    return ProgramRow(columns[0], "".join(columns[1:])) if columns else None


def _find_subcommand(name: str, words: Sequence[str], base: ProgramRow) -> ProgramRow | None:
    for names, kind, *columns in _subcommands.get(name, ()):
        if not set(names.split(" ")).isdisjoint(words):
            return ProgramRow(kind, "".join(columns), base)
    return None


def options_of(program: str, role: str) -> frozenset[str]:
    """Return the options of a program that have a role in `data/options.tsv`."""
    return frozenset(next(words.split() for *key, words in data_rows("options.tsv") if key == [program, role]))


def parse_words(words: Sequence[str]) -> tuple[ProgramRow, ParsedArguments]:
    """Return the row of the program or subcommand that a command starts, and its arguments."""
    name, arguments = program_name(words[0]), list(words[1:])
    program = (
        _find_program(name_of(words[0]))
        or _find_program(name)
        or ProgramRow("spares", "".join((_program_columns("*") or ["", ""])[1]))
    )
    name = "tar" if name == "bsdtar" else name
    if name == "tar" and arguments and arguments[0].isalpha():
        arguments[0] = f"-{arguments[0]}"
    if name in _subcommands:
        program_arguments = ParsedArguments(arguments, program.options, is_runner=True)
        if subcommand := _find_subcommand(name, program_arguments.operands[:1], program):
            subcommand_arguments = ParsedArguments(
                program_arguments.rest, subcommand.options, is_runner=subcommand.kind in _RUNNING
            )
            subcommand_arguments.flags |= program_arguments.flags
            for role, values in program_arguments.values.items():
                subcommand_arguments.values[role] = [*values, *subcommand_arguments.values.get(role, ())]
            return subcommand, subcommand_arguments
        letters = [f"-{letter}" for word in arguments if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]]
        options = [word.partition("=")[0] for word in arguments if word.startswith("-")]
        program = _find_subcommand(name, [*options, *letters], program) or program
    return program, ParsedArguments(arguments, program.options, is_runner=program.kind in _RUNNING)


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
        return not any(re.match(_FIND_ACTS, word) for word in words)
    if "show" in parsed.flags:
        return True
    return (program.kind in ("reads", "lists") or "filter" in program.marks) and not (
        "all" in parsed.flags or {"out", "run"} & parsed.values.keys()
    )


def stdin_of(command: ShellCommand) -> str | None:
    """Return the standard input of a command, from its heredoc or from the command before it."""
    source = command.piped_from
    if command.stdin is not None or source is None or source.output is not None:
        return command.stdin
    return printed_text(source)


def without_runners(words: list[str]) -> list[str]:
    """Return the words from the program on that is run in the end."""
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
    """Return the command that a runner starts; `env -S` has the first of its words in one string."""
    split = [word for text in parsed.values.get("run", ()) for word in text.split()]
    words = [*split, *[*parsed.operands, *parsed.rest][program.leading :]]
    # `flock FILE -c SCRIPT`
    return ["sh", *words] if words[:1] == ["-c"] else words


def script_of(words: list[str], stdin: str | None) -> str | None:
    """Return the shell text that a command runs: the argument of `bash -c`, or its standard input."""
    if words[:1] == ["eval"]:
        return " ".join(words[1:])
    if not words or words[0] in ("source", ".") or parse_words(words)[0].kind != "shell":
        return None
    is_given, arguments = False, iter(words[1:])
    for word in arguments:
        if not word.startswith(("-", "+")) or word == "-":
            return word if is_given else None
        if word in ("--rcfile", "--init-file") or (word[1:2] != "-" and "o" in word.lower()):
            next(arguments, None)
        is_given |= word[1:2] != "-" and "c" in word
    return None if is_given else stdin


def printed_text(command: ShellCommand) -> str | None:
    """Return the output of a command; None where it isn't certain."""
    match command.words:
        case ["echo", *texts] if texts and not texts[0].startswith("-") and "\\" not in " ".join(texts):
            return " ".join(texts) + "\n"
        case ["printf", form, *texts] if not form.startswith("-"):
            return printf_text(form, texts)
        case _:
            return command.heredoc_text


def printf_text(form: str, texts: list[str]) -> str | None:
    """Return the output of printf; None where its format has more than `%s`."""
    form = form.replace("\\n", "\n")
    parts = form.split("%s")
    if "%" in "".join(parts) or "\\" in form:
        return None
    if len(parts) == 1:
        return form
    slots = len(parts) - 1
    rows = [texts[start : start + slots] for start in range(0, len(texts), slots)] or [[]]
    return "".join(
        "".join(part + text for part, text in zip(parts, [*row, *[""] * (slots - len(row)), ""], strict=True))
        for row in rows[:_MOST_ROWS]
    )
