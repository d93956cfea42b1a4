"""State of a shell while a script is read: folder, variables, and the output of commands."""

import re
from collections.abc import Sequence

from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import expand_variables
from roamkb.shell.programs import ParsedArguments
from roamkb.shell.programs import ProgramRow
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import program_name

#: What may make `cat`, `echo` or `printf` another program.
_OTHER_PROGRAM = r"\b(?:alias|function|enable|hash)\b|\b(?:cat|echo|printf)\s*\("
_READS_NAMES = frozenset("read mapfile readarray".split())


class ShellState:
    """The state of one shell; a script in a script has one of its own."""

    __slots__ = (
        "_cwd", "_kept", "_names", "is_late", "nested", "prints", "read", "variables",
    )  # fmt: skip

    def __init__(self, cwd: str, variables: dict[str, str], names: FolderNames) -> None:
        """Begin in `cwd` with the variables of the surrounding shell."""
        self.variables = variables
        self._names = names
        #: By the subshells around a command.
        self._cwd: dict[tuple[int, ...], str] = {(): cwd}
        self._kept: list[str] = []
        #: By the command's identity: a file of the knowledge base that stands for those that it prints.
        self.prints: dict[int, str] = {}
        #: What the substitutions print that belong to the next command of a scope.
        self.nested: dict[tuple[int, ...], str] = {}
        #: Variables that `read` has set, and whether it is known by now what they hold.
        self.read: list[str] = []
        self.is_late = False

    def inner_state(self, cwd: str, positional: Sequence[str], variables: dict[str, str]) -> "ShellState":
        """Return the state for a script that runs in this one."""
        numbered = {str(number): word for number, word in enumerate(positional[:99])}
        everything = " ".join(positional[1:])
        all_variables = {**self.variables, **variables, **numbered, "@": everything, "*": everything}
        return ShellState(cwd, all_variables, self._names)

    def folder_of_scope(self, scope: tuple[int, ...]) -> str:
        """Return the folder that commands of a scope run in."""
        return next(self._cwd[scope[:depth]] for depth in range(len(scope), -1, -1) if scope[:depth] in self._cwd)

    def set_folder(self, scope: tuple[int, ...], cwd: str) -> None:
        """Set the folder in which the scope's next commands run."""
        self._cwd[scope] = cwd

    def restart_in(self, cwd: str) -> None:
        """Begin anew in `cwd`, with all variables that are known by now."""
        self._cwd = {(): cwd}
        self.read.clear()
        self.is_late = False

    def expand_words(self, command: ShellCommand, substituted: str) -> list[str]:
        """Return a command's words with the known variables expanded."""
        words: list[str] = []
        for word in command.words:
            value = expand_variables(word, self.variables, substituted or UNKNOWN)
            # the program's name is hardly quoted
            words += value.split() if word.startswith("$") and not words and value != word else [value]
        return words

    def update_after(self, call: "ShellCall") -> None:
        """Update the state by the effects of a command of the shell itself."""
        name, *arguments = call.words
        if name in ("builtin", "command"):
            name, arguments = "".join(arguments[:1]), arguments[1:]
        if name in ("cd", "pushd", "popd"):
            self._change_folder(name, arguments, call.scope)
        elif name == "set" and arguments and (arguments[0] == "--" or not arguments[0].startswith(("-", "+"))):
            self.variables = self.inner_state("", ["", *arguments[arguments[0] == "--" :]], {}).variables
        elif name in ("for", "select") and arguments:
            items = arguments[2:] or [self.variables.get("@", "")]
            guarded_items = (item for item in items[:200] if self._names.find_reach(item, call.cwd)[0])
            self.variables[arguments[0]] = next(guarded_items, items[0])
        elif name in _READS_NAMES:
            names = [word for word in arguments if word.isidentifier()] or ["REPLY", "MAPFILE"]
            self.read += names
            if value := call.fed or (call.stdin or "").strip():
                self.variables.update(dict.fromkeys(names, value))

    def _change_folder(self, name: str, words: Sequence[str], scope: tuple[int, ...]) -> None:
        """Apply `cd`, `pushd` and `popd`."""
        cwd, folders = self.folder_of_scope(scope), [word for word in words if not word.startswith(("-", "+"))]
        if name == "popd":
            new_folder = self._kept.pop() if self._kept else cwd
        elif "-" in words:
            new_folder = self.variables.get("OLDPWD", cwd)
        else:
            new_folder = self._names.resolve_word(folders[0], cwd) if folders else self.variables["HOME"]
        if name == "pushd":
            self._kept.append(cwd)
        if not new_folder.startswith(UNKNOWN):
            self.variables.update(OLDPWD=cwd, PWD=new_folder)
            self.set_folder(scope, new_folder)


class ShellCall:
    """A simple command that is about to run."""

    __slots__ = (
        "cwd", "fed", "folder", "is_fed_unread", "parsed", "program", "scene", "scope", "settings", "stdin", "text",
        "words",
    )  # fmt: skip

    def __init__(self, words: list[str], cwd: str, scene: ShellState, *, text: str, stdin: str | None = None) -> None:
        """Take its words as far as they are known, and the whole script that contains it."""
        self.words = words
        self.cwd = cwd
        #: The folder that it works in.
        self.folder = cwd
        self.scene = scene
        self.text = text
        self.stdin = stdin
        #: Whether more may come from its input than the script spells out.
        self.is_fed_unread = False
        #: A file that stands for those whose names it reads.
        self.fed = ""
        self.scope: tuple[int, ...] = ()
        #: The variables that stand before it.
        self.settings: dict[str, str] = {}
        self.program = ProgramRow("spares", "")
        self.parsed = ParsedArguments([], {})

    @property
    def command_name(self) -> str:
        """The program's name."""
        return program_name(self.words[0]) if self.words else ""

    def known_output(self, command: ShellCommand) -> str | None:
        """Return all that `command` prints, None where the script spells it out in other ways than a heredoc's.

        UNKNOWN stands for what it doesn't spell out.
        """
        if not command.spells_output or re.search(_OTHER_PROGRAM, self.text):
            return UNKNOWN
        return command.stdin if command.words == ["cat"] and "\\" not in (command.stdin or "\\") else None

    @property
    def operands(self) -> list[str]:
        """The words that are neither options nor values of options."""
        return self.parsed.operands

    def has_flag(self, flag: str) -> bool:
        """Say whether an option or a mark of the table is given."""
        return flag in self.parsed.flags or flag in self.program.marks

    def option_values(self, role: str) -> list[str]:
        """Return the values of the options with that role."""
        return self.parsed.values.get(role, [])
