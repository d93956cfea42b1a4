"""What is known while a shell script is read: where it is, what variables hold, what commands print."""

from collections.abc import Sequence

from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import expand
from roamkb.shell.programs import ParsedArguments
from roamkb.shell.programs import ProgramRow
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import program_name

_READS_NAMES = frozenset("read mapfile readarray".split())


class ShellState:
    """One shell's view of things; a script in a script has one of its own."""

    __slots__ = (
        "_cwd", "_kept", "_names", "is_late", "nested", "prints", "read", "variables",
    )  # fmt: skip

    def __init__(self, cwd: str, variables: dict[str, str], names: FolderNames) -> None:
        """Begin in `cwd` with what the shell around knows."""
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

    def inner(self, cwd: str, positional: Sequence[str], variables: dict[str, str]) -> "ShellState":
        """Return the scene of a script that runs in this one."""
        given = {str(at): word for at, word in enumerate(positional[:99])}
        everything = " ".join(positional[1:])
        known = {**self.variables, **variables, **given, "@": everything, "*": everything}
        return ShellState(cwd, known, self._names)

    def cwd(self, scope: tuple[int, ...]) -> str:
        """Return the folder that commands of a scope run in."""
        return next(self._cwd[scope[:n]] for n in range(len(scope), -1, -1) if scope[:n] in self._cwd)

    def settle(self, scope: tuple[int, ...], cwd: str) -> None:
        """Go on in another folder."""
        self._cwd[scope] = cwd

    def restart(self, cwd: str) -> None:
        """Begin anew in `cwd`, with all that is known by now."""
        self._cwd = {(): cwd}
        self.read.clear()
        self.is_late = False

    def words(self, command: ShellCommand, substituted: str) -> list[str]:
        """Return a command's words with what is known of them."""
        words: list[str] = []
        for word in command.words:
            value = expand(word, self.variables, substituted or UNKNOWN)
            # the program's name is hardly quoted
            words += value.split() if word.startswith("$") and not words and value != word else [value]
        return words

    def remember(self, call: "ShellCall") -> None:
        """Know what a command of the shell itself leaves behind."""
        name, *rest = call.words
        if name in ("builtin", "command"):
            name, rest = "".join(rest[:1]), rest[1:]
        if name in ("cd", "pushd", "popd"):
            self._go(name, rest, call.scope)
        elif name == "set" and rest and (rest[0] == "--" or not rest[0].startswith(("-", "+"))):
            self.variables = self.inner("", ["", *rest[rest[0] == "--" :]], {}).variables
        elif name in ("for", "select") and rest:
            items = rest[2:] or [self.variables.get("@", "")]
            named = (one for one in items[:200] if self._names.find(one, call.cwd)[0])
            self.variables[rest[0]] = next(named, items[0])
        elif name in _READS_NAMES:
            names = [word for word in rest if word.isidentifier()] or ["REPLY", "MAPFILE"]
            self.read += names
            if value := call.fed or (call.stdin or "").strip():
                self.variables.update(dict.fromkeys(names, value))

    def _go(self, name: str, words: Sequence[str], scope: tuple[int, ...]) -> None:
        """Follow `cd`, `pushd` and `popd`."""
        cwd, named = self.cwd(scope), [word for word in words if not word.startswith(("-", "+"))]
        if name == "popd":
            where = self._kept.pop() if self._kept else cwd
        elif "-" in words:
            where = self.variables.get("OLDPWD", cwd)
        else:
            where = self._names.path(named[0], cwd) if named else self.variables["HOME"]
        if name == "pushd":
            self._kept.append(cwd)
        if not where.startswith(UNKNOWN):
            self.variables.update(OLDPWD=cwd, PWD=where)
            self.settle(scope, where)


class ShellCall:
    """A simple command as it is about to run."""

    __slots__ = (
        "cwd", "fed", "folder", "parsed", "program", "scene", "scope", "settings", "stdin", "text", "words",
    )  # fmt: skip

    def __init__(
        self, words: list[str], cwd: str, scene: ShellState, *, text: str, stdin: str | None = None
    ) -> None:
        """Take its words as far as they are known, and the whole script that it stands in."""
        self.words = words
        self.cwd = cwd
        #: The folder that it works in.
        self.folder = cwd
        self.scene = scene
        self.text = text
        self.stdin = stdin
        #: A file that stands for those whose names it reads.
        self.fed = ""
        self.scope: tuple[int, ...] = ()
        #: The variables that stand before it.
        self.settings: dict[str, str] = {}
        self.program = ProgramRow("spares", "")
        self.parsed = ParsedArguments([], {})

    @property
    def name(self) -> str:
        """The program's name."""
        return program_name(self.words[0]) if self.words else ""

    @property
    def operands(self) -> list[str]:
        """What isn't an option, nor an option's value."""
        return self.parsed.operands

    def has(self, flag: str) -> bool:
        """Say whether an option or a mark of the table is given."""
        return flag in self.parsed.flags or flag in self.program.marks

    def values(self, role: str) -> list[str]:
        """Return the values of the options that do one thing."""
        return self.parsed.values.get(role, [])
