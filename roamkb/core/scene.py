"""What is known while a script is read: where it is, what variables hold, what a command is fed.

`core/shell_guard` asks it about each command, and tells it of each that is done.
"""

import posixpath
import re
from collections.abc import Iterator

from roamkb.core.guard import Ground
from roamkb.core.programs import ASSIGNMENT
from roamkb.core.programs import Command
from roamkb.core.programs import Script
from roamkb.core.programs import formatted
from roamkb.core.programs import name_of
from roamkb.core.programs import without_runners
from roamkb.core.reach import Names
from roamkb.core.reach import Reach
from roamkb.core.reach import expand
from roamkb.core.writers import targets

_FUNCTION = (
    r"([\w.-]{1,64})[ \t]{0,8}\([ \t]{0,8}\)|\bfunction[ \t]{1,8}([\w.-]+)|\balias[ \t]{1,8}([\w.-]+)="
)
_FOLDER_OPTIONS = ("-C", "--directory", "--chdir", "--cwd", "--work-tree", "--git-dir", "--prefix")
_FOLDER_VARIABLES = ("GIT_WORK_TREE", "GIT_DIR")
_READS_NAMES = frozenset("read mapfile readarray".split())
#: Programs that write what they are given to where their words say.
_MAKERS = frozenset("cp dd install mv sponge tee".split())
#: Programs that print the files below a folder.
_FINDERS = frozenset("fd fdfind find rg".split())
#: Programs that let a folder be reached by another name.
_LINKERS = frozenset("bindfs ln mount sshfs".split())
_SETTERS = frozenset("export declare local readonly typeset env sudo".split())
#: Of a variable: `x=$x$x` doubles it.
_LONGEST_VALUE = 1024
#: Parts words where it isn't quoted; of what is, the value is only compared.
_SEPARATOR = r"\$IFS\b|\$\{IFS(?!:\d+:0\})[^{}]*\}"
_ARRAY = r"\w+\+?=\(.*(?:\$\(|`)"
_OPERATORS = r"[;|&<>()\n]"
_NOTHING = r"\$\{IFS:\d+:0\}"
#: `~1`, `~+1`, `~-1`, `~-`: of the folders that `pushd` keeps, the first is the current one.
_KEPT_FOLDER = r"~(?P<sign>[+-]?)(?P<number>\d{1,3})?(?=/|\Z)"
_TURN = r"([+-])(\d{1,3})"
#: Of folders that `pushd` keeps.
_MOST_KEPT = 50

#: Whether what a command prints names files of the knowledge base: roamkb may, others that name it do.
MAYBE, SURE = 1, 2


class Scene:
    """One shell's view of things; a script in a script has one of its own."""

    __slots__ = (
        "_fed",
        "_given",
        "_ground",
        "_kb",
        "_kept",
        "_nested",
        "_prints",
        "_start",
        "has_named",
        "renamed",
        "tainted",
        "variables",
    )

    def __init__(self, ground: Ground, kb: Names, *, variables: dict[str, str], cwd: str) -> None:
        """Begin in `cwd` with what the shell around knows."""
        self._ground = ground
        self._kb = kb
        self.variables = variables
        #: The current folder and behind it what `pushd` keeps, by the subshells around a command.
        self._kept: dict[tuple[int, ...], list[str]] = {(): [cwd]}
        self._start = cwd
        #: By the command's identity.
        self._prints: dict[int, int] = {}
        #: What the substitutions print that belong to the next command of a scope, and to the one at hand.
        self._nested: dict[tuple[int, ...], int] = {}
        self._given = 0
        #: The subshells that a pipe feeds.
        self._fed: set[tuple[int, ...]] = set()
        #: Files that this script writes with text that names the knowledge base.
        self.tainted: set[str] = set()
        #: Names that a function or an alias may stand behind.
        self.renamed: frozenset[str] = frozenset()
        self.has_named = False

    def inner(self, *, positional: dict[str, str], cwd: str, fed: int) -> "Scene":
        """Return the scene of a script that runs in this one."""
        scene = Scene(self._ground, self._kb, variables=self.variables | positional, cwd=cwd)
        scene.tainted, scene.renamed, scene.has_named = self.tainted, self.renamed, bool(fed)
        return scene

    def take_over(self, inner: "Scene") -> None:
        """Know what `eval` left behind."""
        self.variables = inner.variables
        self._kept[()] = inner.kept(())

    def rename(self, text: str) -> None:
        """Know the functions and aliases that a text makes."""
        self.renamed |= {name for found in re.findall(_FUNCTION, text) for name in found if name}

    # Where a word leads

    def cwd(self, scope: tuple[int, ...]) -> str:
        """Return the folder that commands of a scope run in."""
        return self.kept(scope)[0]

    def kept(self, scope: tuple[int, ...]) -> list[str]:
        """Return that folder, and behind it those that `pushd` keeps there."""
        for length in range(len(scope), 0, -1):
            if (kept := self._kept.get(scope[:length])) is not None:
                return kept
        return self._kept[()]

    def find(self, word: str, cwd: str, names: Names | None = None) -> tuple[Reach, str]:
        """Return where a word leads at most, and the path."""
        return (names or self._kb).find(word, cwd, self.variables.get("HOME", self._ground.home))

    def all(self, word: str, cwd: str) -> Iterator[tuple[Reach, str]]:
        """Yield where each path leads that a word may hold, and the path."""
        return self._kb.all(word, cwd, self.variables.get("HOME", self._ground.home))

    def find_path(self, word: str, cwd: str) -> tuple[Reach, str]:
        """Return where a word leads that is one path, and the path."""
        return self._kb.find_path(word, cwd, self.variables.get("HOME", ""))

    def is_here(self, host: str) -> bool:
        """Say whether a host's name may be this machine's."""
        return self._kb.is_here(host)

    def path(self, word: str, cwd: str) -> str:
        """Return the path that a word is, as it is best known."""
        return self.find_path(word, cwd)[1] or cwd

    def named(self, text: str, cwd: str) -> str:
        """Return the first path in a piece of code that leads into the knowledge base, or nothing."""
        return self._kb.in_text(text, cwd) or (
            self._kb.in_text(expand(text, self.variables), cwd) if "$" in text else ""
        )

    def is_inside(self, cwd: str) -> bool:
        """Say whether a folder lies in the knowledge base."""
        return self.find(cwd, "/")[0] is Reach.INSIDE

    def folders_of(self, words: list[str], cwd: str) -> Iterator[str]:
        """Yield where a program is told to go: `git -C DIR`, `make --directory=DIR`, `GIT_DIR=DIR git`."""
        for name in _FOLDER_VARIABLES:
            if folder := self.variables.get(name):
                yield self.path(folder, cwd).removesuffix("/.git")
        for at, word in enumerate(words[1:], 1):
            for option in _FOLDER_OPTIONS:
                if word == option and at + 1 < len(words):
                    yield self.path(words[at + 1], cwd)
                elif word.startswith(option + "=") or (
                    option == "-C" and word.startswith("-C") and word != "-C"
                ):
                    yield self.path(word[len(option) :].removeprefix("="), cwd)

    # What a command is given

    def words(self, command: Command) -> list[str]:
        """Return a command's words with what is known of them, and keep what they assign."""
        self._given = self._nested.pop(command.scope, 0)
        words: list[str] = []
        for word in command.words:
            if "IFS" in word and re.search(_SEPARATOR, word):
                words += [
                    self._kept_folder(self.expand(one), command.scope) for one in re.split(_SEPARATOR, word)
                ]
            else:
                value = self._kept_folder(self.expand(re.sub(_NOTHING, "", word)), command.scope)
                # the program's name is hardly quoted
                words += value.split() if word.startswith("$") and not words and value != word else [value]
        return self._assign(words)

    def _kept_folder(self, word: str, scope: tuple[int, ...]) -> str:
        """Return a word with `~1`, `~-` and zsh's `~name` in front as the folders that they are."""
        if not word.startswith("~"):
            return word
        found = re.match(_KEPT_FOLDER, word)
        if found is None or not (found["sign"] or found["number"]):
            name, slash, rest = word.partition("/")
            return self.variables.get(name, name) + slash + rest
        kept = self.kept(scope)
        at = int(found["number"] or 0)
        where = kept[0] if found["sign"] == "+" else self.variables.get("OLDPWD", "~")
        if found["number"]:
            where = kept[min(at, len(kept) - 1) if found["sign"] != "-" else max(0, len(kept) - 1 - at)]
        return where + word[found.end() :]

    def expand(self, word: str) -> str:
        """Return a word with what is known of it; a substitution may print any note."""
        # commands in an array aren't read one by one
        if re.match(_ARRAY, word) and self.named(word, self._start):
            return word.partition("=")[0] + "=" + self.any_note()
        if self._given is SURE and ("$(" in word or "`" in word or word.startswith(("<(", ">("))):
            found = re.match(ASSIGNMENT, word)
            return (found[0] if found else "") + self.any_note()
        return expand(word, self.variables)

    def fed(self, command: Command, cwd: str) -> int:
        """Say whether standard input names files of the knowledge base, or is one."""
        level = 0
        if command.is_fed and command.piped_from is None:
            self._fed.add(command.scope)
        if command.piped_from is not None:
            level = self._prints.get(id(command.piped_from), 0)
        elif command.is_fed or any(
            command.scope[:at] in self._fed for at in range(1, len(command.scope) + 1)
        ):
            level = SURE if self.has_named else 0
        for sign, target in command.redirections:
            if sign in ("<", "<>"):
                reach, path = self.find(self.expand(target), cwd)
                path = path or self.path(self.expand(target), cwd)
                if reach is Reach.INSIDE or path in self.tainted or self.named(target, cwd):
                    level = SURE
        return level

    def any_note(self) -> str:
        """Return what stands for a note that nobody knows."""
        return next(iter(self._kb.folders), "") + "/\0"

    # What a command leaves behind

    def _assign(self, words: list[str]) -> list[str]:
        """Keep what assignments say, and put aliases' words in their place."""
        variables = self.variables
        at = 0
        while at < len(words) and re.match(ASSIGNMENT, words[at]):
            at += 1
        rest = words[at:]
        name = rest[0] if rest else ""
        settings = words[:at]
        if name in _SETTERS:
            settings = words
        elif name == "alias":
            variables.update({f"alias {one.partition('=')[0]}": one.partition("=")[2] for one in rest[1:]})
        elif name == "printf" and rest[1:2] == ["-v"] and len(rest) > 4:
            value = formatted(rest[3], rest[4:])
            variables[rest[2]] = (rest[4] if value is None else value)[:_LONGEST_VALUE]
        elif name == "hash" and rest[1:2] == ["-p"]:
            self.renamed |= set(rest[3:])
        elif name == "hash" and rest[1:2] == ["-d"]:
            variables.update(
                {f"~{one.partition('=')[0]}": self._at_home(one.partition("=")[2]) for one in rest[2:]}
            )
        elif name == "set":
            given = rest[rest.index("--") + 1 :] if "--" in rest else rest[1:]
            variables.update(positional(given) if given and not given[0].startswith(("-", "+")) else {})
        elif name in ("for", "select") and (rest[2:3] == ["in"] or len(rest) == 2):
            cwd = self.cwd(())
            items = rest[3:] or [variables.get("@", "") if len(rest) == 2 else ""]
            variables[rest[1]] = next((one for one in items[:200] if self.find(one, cwd)[0]), items[0])
            settings = []
        for one in settings:
            self._set(one)
        if name in _SETTERS and "-n" in rest:
            self._refer(rest)
        if f"alias {name}" in variables:
            value = variables[f"alias {name}"]
            if re.search(_OPERATORS, value):
                return [*words[:at], "eval", " ".join([value, *rest[1:]])]
            return [*words[:at], *value.split(), *rest[1:]]
        return words

    def _set(self, word: str) -> None:
        found = re.match(ASSIGNMENT, word)
        if found is None:
            return
        value = word[found.end() :]
        value = self._at_home(value.strip("()") if value.startswith("(") else value)
        self.variables[re.split(r"[\[+=]", word, maxsplit=1)[0]] = value[:_LONGEST_VALUE]

    def _refer(self, words: list[str]) -> None:
        """Let names stand for what other names stand for: `declare -n`."""
        for name, _, other in (word.partition("=") for word in words if "=" in word):
            self.variables[name] = self.variables.get(other, other)

    def _at_home(self, value: str) -> str:
        is_there = value == "~" or value.startswith("~/")
        return self.variables.get("HOME", self._ground.home) + value[1:] if is_there else value

    def take_what_is_read(self, script: Script) -> bool:
        """Take what `read` reads for a file of the knowledge base; say whether anything is read."""
        names: list[str] = []
        for command in script.commands:
            program = without_runners(command.words)
            if program and program[0] in _READS_NAMES:
                names += [word for word in program[1:] if word.isidentifier()] or ["REPLY", "MAPFILE"]
        self.variables.update({name: self.any_note() for name in names})
        self._kept = {(): [self._start]}
        return bool(names)

    def remember(self, command: Command, words: list[str], program: list[str], cwd: str, fed: int) -> None:
        """Know what a command prints, what it writes to, and where it goes."""
        text = " ".join(words) + (f" {command.stdin}" if command.stdin else "")
        is_named = (
            bool(self.named(text, cwd))
            or self.is_inside(cwd)
            or any(self.find(word, cwd)[0] is Reach.INSIDE for word in words)
            or (bool(self.tainted) and any(self.path(word, cwd) in self.tainted for word in words[1:]))
        )
        name = name_of(program[0]) if program else ""
        if name in _FINDERS and not is_named:
            # of a folder that the knowledge base lies in, but for home itself
            near = self._ground.home.rstrip("/") + "/"
            found = (self.find(word, cwd) for word in program[1:])
            is_named = any(reach is Reach.ABOVE and path.startswith(near) for reach, path in found)
        self.has_named |= is_named
        level = SURE if is_named else fed
        if program[:1] and name_of(program[0]) == "roamkb":
            level = max(level, MAYBE)
        self._prints[id(command)] = level
        if command.scope:
            outer = command.scope[:-1]
            self._nested[outer] = max(level, self._nested.get(outer, 0))
        if level is SURE:
            outputs = [target for sign, target in command.redirections if ">" in sign]
            outputs += [*(targets(program) or ()), program[-1]] if name in _MAKERS else []
            self.tainted.update(self.path(self.expand(target), cwd) for target in outputs)
        if name in ("cd", "pushd", "popd"):
            self._go(name, program[1:], command.scope, text)
        elif name in _LINKERS or (
            name == "cp" and any(re.match(r"-[a-zA-Z]*s|--symbolic", one) for one in program)
        ):
            self._link(program, cwd)

    def _go(self, name: str, words: list[str], scope: tuple[int, ...], text: str) -> None:
        """Follow `cd`, `pushd` and `popd`."""
        kept = self.kept(scope)
        cwd = kept[0]
        named = [word for word in words if not re.match(r"-|\+\d", word)]
        turn = next((found for word in words if (found := re.fullmatch(_TURN, word))), None)
        at = min(int(turn[2]), len(kept) - 1) if turn else 0
        at = len(kept) - 1 - at if turn and turn[1] == "-" else at
        if name == "popd":
            del (kept := [*kept])[at if turn else min(1, len(kept) - 1) if "-n" in words else 0]
            kept = kept or [cwd]
        elif turn:
            kept = [*kept[at:], *kept[:at]] if name == "pushd" else [kept[at], *kept[1:]]
        elif name == "pushd" and not named and "-" not in words:
            kept = [*kept[1:2], cwd, *kept[2:]]
        else:
            where = self._gone_to(named[0], cwd) if named else self.variables["HOME"]
            if words == ["-"]:
                where = self.variables.get("OLDPWD", cwd)
            elif not where or "\0" in where:
                where = self.named(text, cwd) or cwd
            kept = [where, *(kept if name == "pushd" else kept[1:])]
            if name == "pushd" and "-n" in words:
                kept[:2] = [cwd, where]
        self.variables["OLDPWD"] = cwd
        self.variables["PWD"] = kept[0]
        self.variables["DIRSTACK"] = next((one for one in kept if self.is_inside(one)), kept[0])
        self._kept[scope] = kept[:_MOST_KEPT]

    def _gone_to(self, word: str, cwd: str) -> str:
        """Return where `cd` leads: a folder of CDPATH comes first where that is one that counts."""
        for folder in self.variables.get("CDPATH", "").split(":")[:9]:
            if folder and not word.startswith(("/", "~", ".")):
                reach, where = self.find_path(f"{folder}/{word}", cwd)
                if reach:
                    return where
        return self.path(word, cwd)

    def _link(self, words: list[str], cwd: str) -> None:
        """Know a link that is made, or a mount, whatever it leads to."""
        *sources, last = [word for word in words[1:] if not word.startswith("-") and word != "bind"] or [""]
        if not sources:
            # `ln -s TARGET` makes one of the same name here
            sources, last = [last], "."
        at = self.path(last, cwd)
        for source in sources:
            target = self.path(self._kb.place_here(source) or source, cwd)
            self._kb.link(posixpath.join(at, posixpath.basename(target)), target)
            if not last.endswith((".", "/")):
                self._kb.link(at, target)


def positional(words: list[str], name: str = "") -> dict[str, str]:
    """Return a script's arguments by the names that it has for them; `name` is its own."""
    numbered = {str(at): word for at, word in enumerate(words[:99], 1)} | ({"0": name} if name else {})
    return numbered | {"@": " ".join(words), "*": " ".join(words)}
