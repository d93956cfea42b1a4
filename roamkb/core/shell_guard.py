"""What a shell script would do to the knowledge base, command by command (see `core/guard`)."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from itertools import islice

from roamkb.core.approvals import approval_in_text
from roamkb.core.approvals import find_approval
from roamkb.core.guard import PROTECTED
from roamkb.core.guard import Denial
from roamkb.core.guard import Ground
from roamkb.core.guard import approval_denial
from roamkb.core.guard import is_spared
from roamkb.core.guard import paths_of_patch
from roamkb.core.guard import refusal
from roamkb.core.guard import rule_denial
from roamkb.core.model import Kind
from roamkb.core.programs import ASSIGNMENT
from roamkb.core.programs import SHELLS
from roamkb.core.programs import Command
from roamkb.core.programs import Script
from roamkb.core.programs import name_of
from roamkb.core.programs import script_of
from roamkb.core.programs import stdin_of
from roamkb.core.programs import without_runners
from roamkb.core.reach import Names
from roamkb.core.reach import Reach
from roamkb.core.reach import expand
from roamkb.core.readers import program_of_xargs
from roamkb.core.readers import reads_only
from roamkb.core.writers import MINDERS
from roamkb.core.writers import TALKERS
from roamkb.core.writers import takes_folders
from roamkb.core.writers import targets

_TAKERS = TALKERS | frozenset("curl nc pbcopy tee wl-copy xclip".split())
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|deno|bun|perl|ruby|php|lua|Rscript|osascript|tclsh|expect|emacs|emacsclient|vim?|nvim"
    r"|ex|ed|sqlite3|awk|gawk|uv|uvx|ipython|julia|ghci|guile|sbcl|groovy|pwsh)[\d.]*"
)
_WRITEISH = re.compile(
    r"open\s*\([^()\n]{0,200},\s*(?:mode\s*=\s*)?['\"][^'\"\n]{0,3}[wax+]|\bwrite|unlink|remove|rename|rmtree"
    r"|truncate|copy|\bmove|touch|delete|[^-=<]>|system|subprocess|\bexec|spawn|popen|sed\s+-\w*i"
    r"|\b(?:rm|mv|cp|tee|dd)\s|\bsave|append|os\.replace|\bw(?:q|rite)?!?\s|-i\b",
    re.IGNORECASE,
)
_RULE_IN_TEXT = re.compile(
    r"\.claude\W{1,8}(?:rules\W{1,8}knowledge-base\.md|settings(?:\.local)?\.json)|\.codex\W{1,8}(?:hooks\.json|config\.toml)"
)
_FUNCTION = re.compile(
    r"([\w.-]{1,64})[ \t]{0,8}\([ \t]{0,8}\)|\bfunction[ \t]{1,8}([\w.-]+)|\balias[ \t]{1,8}([\w.-]+)="
)
_FOLDER_OPTIONS = ("-C", "--directory", "--chdir", "--cwd", "--work-tree", "--git-dir", "--prefix")
_PATH = re.compile(r"[^\s'\"`;|&<>(){},=]+")
#: Of a piece of code, that is looked at one by one.
_MOST_PATHS = 100
_READS_NAMES = frozenset("read mapfile readarray".split())
_DEEPEST = 4
_READ_AT_MOST = 4
#: Of a variable: `x=$x$x` doubles it.
_LONGEST_VALUE = 1024

#: Whether what a command prints names files of the knowledge base: roamkb may, others that name it do.
_MAYBE, _SURE = 1, 2


def judge_script(text: str, ground: Ground, read: Callable[[str], Script]) -> Denial | None:
    """Return why a shell script is denied; `read` parses shell text."""
    return _Judge(ground, read, budget=_READ_AT_MOST * len(text)).judge(text)


def judge_words(words: list[str], ground: Ground, read: Callable[[str], Script]) -> Denial | None:
    """Return why a command is denied that is started without a shell."""
    text = " ".join(words)
    judge = _Judge(ground, read, budget=_READ_AT_MOST * len(text))
    return judge.judge_command(Command(words=list(words)), text)


@dataclass(slots=True)
class _Scene:
    """What is known while a script is read."""

    variables: dict[str, str]
    cwds: dict[tuple[int, ...], str]
    #: By the command's identity.
    prints: dict[int, int] = field(default_factory=dict)
    #: Files that this script writes with text that names the knowledge base.
    tainted: set[str] = field(default_factory=set)
    renamed: frozenset[str] = frozenset()
    has_named: bool = False
    #: What the substitutions print that belong to the next command of a scope.
    nested: dict[tuple[int, ...], int] = field(default_factory=dict)
    start: str = ""


class _Judge:
    def __init__(self, ground: Ground, read: Callable[[str], Script], *, budget: int) -> None:
        self._ground = ground
        self._read = read
        self._is_personal = ground.kind is Kind.PERSONAL
        self._kb = Names(ground.kb, home=ground.home, resolve=ground.resolve)
        rule = tuple(posixpath.join(ground.home, one) for one in PROTECTED)
        self._rule = Names(
            (*rule, *(ground.resolve(one) for one in rule)), home=ground.home, resolve=ground.resolve
        )
        user = posixpath.basename(ground.home)
        known = {"HOME": ground.home, "PWD": ground.cwd, "USER": user, "LOGNAME": user}
        self._scene = _Scene(
            variables=dict(ground.variables) | known, cwds={(): ground.cwd}, start=ground.cwd
        )
        self._depth = 0
        #: Whether a substitution in the command at hand prints what names the knowledge base.
        self._is_given = False
        #: Of characters of scripts in scripts.
        self._budget = budget

    def judge(self, text: str) -> Denial | None:
        script = self._read(text)
        self._scene.renamed |= {name for found in _FUNCTION.findall(text) for name in found if name}
        denial = self._judge_commands(script, text)
        if denial is None and self._scene.has_named and self._taint_what_is_read(script):
            denial = self._judge_commands(script, text)
        if denial is not None:
            return denial
        return None if script.is_whole else self._judge_unread(text)

    def _judge_commands(self, script: Script, text: str) -> Denial | None:
        return next(
            (denial for command in script.commands if (denial := self.judge_command(command, text))), None
        )

    def _judge_unread(self, text: str) -> Denial | None:
        """Judge what no shell reads as we do by what it names."""
        plain = text.replace("\\\n", "").translate(str.maketrans("", "", "'\"\\"))
        if verb := approval_in_text(text):
            return approval_denial(verb)
        where = self._names(text, self._cwd(())) or self._names(plain, self._cwd(()))
        if where and (not self._is_personal or (_WRITEISH.search(text) and is_spared(where, self._ground))):
            return refusal(self._ground, "the command can't be read and names the knowledge base")
        return rule_denial() if _RULE_IN_TEXT.search(plain) and _WRITEISH.search(text) else None

    def judge_command(self, command: Command, text: str) -> Denial | None:
        """Return why one simple command is denied, and remember what it means for those behind it."""
        scene, cwd = self._scene, self._cwd(command.scope)
        self._is_given = scene.nested.pop(command.scope, 0) is _SURE
        words = [self._expand(word) for word in command.words]
        words = self._assign(words)
        program = without_runners(words)
        fed = self._fed(command, cwd)
        denial = (
            self._judge_targets(command, cwd)
            or self._judge_approval(program, command, text)
            or self._judge_program(command, words, program, cwd, fed)
        )
        self._remember(command, words, program, cwd, fed)
        return denial

    # -- what is known

    def _expand(self, word: str) -> str:
        """Return a word with what is known of it; a substitution may print any note."""
        if self._is_given and ("$(" in word or "`" in word or word.startswith(("<(", ">("))):
            found = ASSIGNMENT.match(word)
            return (found[0] if found else "") + self._any_note()
        return expand(word, self._scene.variables)

    def _cwd(self, scope: tuple[int, ...]) -> str:
        for length in range(len(scope), 0, -1):
            if (cwd := self._scene.cwds.get(scope[:length])) is not None:
                return cwd
        return self._scene.cwds[()]

    def _find(self, word: str, cwd: str, names: Names | None = None) -> tuple[Reach, str]:
        return (names or self._kb).find(word, cwd, self._scene.variables.get("HOME", self._ground.home))

    def _path(self, word: str, cwd: str) -> str:
        return self._kb.find_path(word, cwd, self._scene.variables.get("HOME", ""))[1] or cwd

    def _names(self, text: str, cwd: str) -> str:
        return self._kb.in_text(text, cwd) or (
            self._kb.in_text(expand(text, self._scene.variables), cwd) if "$" in text else ""
        )

    def _assign(self, words: list[str]) -> list[str]:
        """Keep what assignments say, and put aliases' words in their place."""
        variables = self._scene.variables
        at = 0
        while at < len(words) and ASSIGNMENT.match(words[at]):
            at += 1
        rest = words[at:]
        name = rest[0] if rest else ""
        if name in ("export", "declare", "local", "readonly", "typeset", "env", "sudo"):
            settings = words
        elif name == "alias":
            variables.update({f"alias {one.partition('=')[0]}": one.partition("=")[2] for one in rest[1:]})
            settings = words[:at]
        elif name == "printf" and rest[1:2] == ["-v"] and len(rest) > 4:
            variables[rest[2]] = rest[4][:_LONGEST_VALUE]
            settings = words[:at]
        elif name == "set" and "--" in rest:
            variables.update(_positional(rest[rest.index("--") + 1 :]))
            settings = words[:at]
        elif name in ("for", "select") and rest[2:3] == ["in"]:
            cwd = self._cwd(())
            items = rest[3:] or [""]
            variables[rest[1]] = next((one for one in items[:200] if self._find(one, cwd)[0]), items[0])
            settings = []
        else:
            settings = words[:at]
        for one in settings:
            if found := ASSIGNMENT.match(one):
                value = one[found.end() :].strip("()")
                key = re.split(r"[\[+=]", one, maxsplit=1)[0]
                if value.startswith("~"):
                    value = (
                        variables.get("HOME", self._ground.home) + value[1:]
                        if value[1:2] in ("", "/")
                        else value
                    )
                variables[key] = value[:_LONGEST_VALUE]
        if f"alias {name}" in variables:
            return [*words[:at], *variables[f"alias {name}"].split(), *rest[1:]]
        return words

    def _taint_what_is_read(self, script: Script) -> bool:
        """Take what `read` reads for a file of the knowledge base; say whether anything is read."""
        names: list[str] = []
        for command in script.commands:
            program = without_runners(command.words)
            if program and program[0] in _READS_NAMES:
                names += [word for word in program[1:] if word.isidentifier()] or ["REPLY", "MAPFILE"]
        self._scene.variables.update({name: self._any_note() for name in names})
        self._scene.cwds = {(): self._scene.start}
        return bool(names)

    def _any_note(self) -> str:
        return next(iter(self._kb.folders), "") + "/\0"

    def _fed(self, command: Command, cwd: str) -> int:
        """Say whether standard input names files of the knowledge base, or is one."""
        level = 0
        if command.piped_from is not None:
            level = self._scene.prints.get(id(command.piped_from), 0)
        elif command.is_fed:
            level = _SURE if self._scene.has_named else 0
        for sign, target in command.redirections:
            if sign in ("<", "<>"):
                reach, path = self._find(self._expand(target), cwd)
                path = path or self._path(self._expand(target), cwd)
                if reach is Reach.INSIDE or path in self._scene.tainted or self._names(target, cwd):
                    level = _SURE
        return level

    def _remember(self, command: Command, words: list[str], program: list[str], cwd: str, fed: int) -> None:
        scene = self._scene
        text = " ".join(words) + (f" {command.stdin}" if command.stdin else "")
        is_named = (
            bool(self._names(text, cwd))
            or self._is_inside(cwd)
            or any(self._find(word, cwd)[0] is Reach.INSIDE for word in words)
        )
        scene.has_named |= is_named
        level = _SURE if is_named else fed
        if program[:1] and name_of(program[0]) == "roamkb":
            level = max(level, _MAYBE)
        scene.prints[id(command)] = level
        if command.scope:
            scene.nested[command.scope[:-1]] = max(level, scene.nested.get(command.scope[:-1], 0))
        name = name_of(program[0]) if program else ""
        if level is _SURE:
            outputs = [target for sign, target in command.redirections if ">" in sign]
            outputs += [word for word in program[1:] if name == "tee" and not word.startswith("-")]
            for target in outputs:
                scene.tainted.add(self._path(self._expand(target), cwd))
        if name in ("cd", "pushd"):
            self._go(program[1:], command.scope, cwd, text)

    def _go(self, words: list[str], scope: tuple[int, ...], cwd: str, text: str) -> None:
        named = [word for word in words if not word.startswith("-")]
        if words == ["-"]:
            where = self._scene.variables.get("OLDPWD", cwd)
        else:
            where = self._path(named[0], cwd) if named else self._scene.variables["HOME"]
            where = where if where and "\0" not in where else self._names(text, cwd) or cwd
        self._scene.variables["OLDPWD"] = cwd
        self._scene.variables["PWD"] = where
        self._scene.cwds[scope] = where

    def _is_inside(self, cwd: str) -> bool:
        return self._find(cwd, "/")[0] is Reach.INSIDE

    # -- what is judged

    def _judge_targets(self, command: Command, cwd: str) -> Denial | None:
        for sign, target in command.redirections:
            if ">" not in sign or (sign.endswith("&") and re.fullmatch(r"\d*-?", target)):
                continue
            if denial := self._judge_write(self._expand(target), cwd, "the redirection"):
                return denial
        return None

    def _judge_write(self, word: str, cwd: str, what: str) -> Denial | None:
        """Judge a word that names what would be written."""
        if self._find(word, cwd, self._rule)[0] is Reach.INSIDE:
            return rule_denial()
        reach, path = self._find(word, cwd)
        if reach is Reach.INSIDE and (not self._is_personal or is_spared(path, self._ground)):
            return refusal(self._ground, f"{what} would write to {_shown(path)}")
        return None

    def _judge_approval(self, program: list[str], command: Command, text: str) -> Denial | None:
        verb = find_approval(program, stdin_of(command) or "", text)
        return approval_denial(verb) if verb else None

    def _judge_program(
        self, command: Command, words: list[str], program: list[str], cwd: str, fed: int
    ) -> Denial | None:
        if not program:
            return None
        name = name_of(program[0])
        script = script_of(program, stdin_of(command)) if name in SHELLS or name == "eval" else None
        if script is None and name == "trap" and len(program) > 1:
            script = program[1]
        if script is not None:
            return self._judge_inner(script, program, cwd, fed)
        if name == "apply_patch":
            return self._judge_patch(program, command, cwd)
        is_reader = name not in self._scene.renamed and reads_only(words)
        if is_reader:
            return None
        if denial := self._judge_rule(program, command, cwd) or self._judge_folders(program, cwd):
            return denial
        if self._is_personal:
            return self._judge_personal(program, command, cwd, fed)
        if self._touches(command, words, name, cwd) or self._runs_tainted(program, cwd):
            return refusal(self._ground, f"`{_shown(name)}` is pointed at the knowledge base")
        if fed and self._may_act_on_input(program, fed):
            return refusal(self._ground, f"`{_shown(name)}` is fed from the knowledge base")
        return None

    def _judge_inner(self, script: str, program: list[str], cwd: str, fed: int) -> Denial | None:
        """Judge the script of `bash -c`, with its own arguments."""
        self._budget -= len(script)
        if self._depth >= _DEEPEST or self._budget < 0:
            return self._judge_unread(script)
        outer = self._scene
        inner = [word for word in program if word != script]
        variables = outer.variables | _positional(
            program[program.index(script) + 2 :] if script in program else inner
        )
        self._scene = _Scene(
            variables=variables,
            cwds={(): cwd},
            start=cwd,
            tainted=outer.tainted,
            renamed=outer.renamed,
            has_named=bool(fed),
        )
        self._depth += 1
        denial = self.judge(script)
        self._depth -= 1
        if denial is None and fed is _SURE and not self._is_personal:
            commands = self._read(script).commands
            if not all(reads_only([expand(word, variables) for word in one.words]) for one in commands):
                denial = refusal(self._ground, "a script is fed from the knowledge base")
        if program[0] == "eval":
            outer.variables, outer.cwds[()] = self._scene.variables, self._scene.cwds[()]
        self._scene = outer
        return denial

    def _judge_patch(self, program: list[str], command: Command, cwd: str) -> Denial | None:
        for path in paths_of_patch("\n".join([*program[1:], stdin_of(command) or ""])):
            if denial := self._judge_write(path, cwd, "the patch"):
                return denial
        return None

    def _judge_rule(self, program: list[str], command: Command, cwd: str) -> Denial | None:
        """Judge what would change the rule or the hooks, in any project."""
        changed = targets(program)
        if any(self._find(word, cwd, self._rule)[0] is Reach.INSIDE for word in changed or ()):
            return rule_denial()
        if takes_folders(program) and any(self._find(word, cwd, self._rule)[0] for word in program[1:]):
            return rule_denial()
        code = " ".join([*program, command.stdin or ""])
        if changed is None and _INTERPRETER.fullmatch(name_of(program[0])):
            return rule_denial() if _RULE_IN_TEXT.search(code) and _WRITEISH.search(code) else None
        return None

    def _judge_folders(self, program: list[str], cwd: str) -> Denial | None:
        """Judge `rm -r` of a folder that the knowledge base lies in."""
        if takes_folders(program) and any(self._find(word, cwd)[0] is Reach.ABOVE for word in program[1:]):
            return refusal(
                self._ground, f"`{_shown(name_of(program[0]))}` would take the knowledge base along"
            )
        return None

    def _judge_personal(self, program: list[str], command: Command, cwd: str, fed: int) -> Denial | None:
        name = name_of(program[0])
        changed = targets(program)
        bases = [cwd, *self._folders_of(program, cwd)]
        for word in changed or ():
            for base in bases:
                if denial := self._judge_write(word, base, f"`{_shown(name)}`"):
                    return denial
        if fed and name == "xargs" and changed is not None:
            return refusal(self._ground, "`xargs` would hand over the knowledge base's files")
        if changed is None and _INTERPRETER.fullmatch(name):
            code = "\n".join([*program[1:], command.stdin or ""])
            where = self._names(code, cwd)
            if where and _WRITEISH.search(code) and is_spared(where, self._ground):
                return refusal(self._ground, f"`{_shown(name)}` may write to {_shown(where)}")
        return None

    def _folders_of(self, words: list[str], cwd: str) -> Iterator[str]:
        """Yield where a program is told to go: `git -C DIR`, `make --directory=DIR`."""
        for at, word in enumerate(words[1:], 1):
            for option in _FOLDER_OPTIONS:
                if word == option and at + 1 < len(words):
                    yield self._path(words[at + 1], cwd)
                elif word.startswith(option + "=") or (
                    option == "-C" and word.startswith("-C") and word != "-C"
                ):
                    yield self._path(word[len(option) :].removeprefix("="), cwd)

    def _touches(self, command: Command, words: list[str], name: str, cwd: str) -> bool:
        """Say whether a program's words, input or folder lead to the knowledge base."""
        is_talker = name in TALKERS
        if name not in MINDERS and self._is_inside(cwd):
            return True
        bases = [cwd, *self._folders_of(words, cwd)]
        for word in (*words, *(targets(without_runners(words)) or ())):
            # a message may say anything
            if is_talker and re.search(r"\s", word) and not word.startswith("-"):
                if self._kb.find_path(word, cwd)[0] is Reach.INSIDE:
                    return True
                continue
            if any(self._find(word, base)[0] is Reach.INSIDE for base in bases[:8]):
                return True
            if not is_talker and self._is_named_in(word, cwd):
                return True
        if name == "xargs":
            given = self._expand(command.stdin or "").strip()
            paths = [given, *given.split()[:_MOST_PATHS]]
            return any(self._find(word, cwd)[0] is Reach.INSIDE for word in paths)
        return name not in _TAKERS and self._is_named_in(command.stdin or "", cwd)

    def _is_named_in(self, code: str, cwd: str) -> bool:
        """Say whether code names a path there, spelled in whatever way."""
        if not code:
            return False
        paths = islice((found[0] for found in _PATH.finditer(code) if "/" in found[0]), _MOST_PATHS)
        return bool(self._names(code, cwd)) or any(
            self._find(path, cwd)[0] is Reach.INSIDE for path in dict.fromkeys(paths)
        )

    def _runs_tainted(self, program: list[str], cwd: str) -> bool:
        """Say whether a script is run that was written here, naming the knowledge base."""
        name = name_of(program[0])
        runs = name in SHELLS or name in ("source", ".", "xargs") or _INTERPRETER.fullmatch(name) is not None
        candidates = program[: 4 if runs else 1]
        return bool(self._scene.tainted) and any(
            posixpath.normpath(posixpath.join(cwd, word)) in self._scene.tainted for word in candidates
        )

    def _may_act_on_input(self, program: list[str], fed: int) -> bool:
        name = name_of(program[0])
        if name == "xargs":
            return fed is _SURE or name_of((program_of_xargs(program[1:]) or ["echo"])[0]) in MINDERS
        if fed is _MAYBE:
            return name in SHELLS or name == "parallel"
        if name in _TAKERS or name in MINDERS:
            return False
        if _INTERPRETER.fullmatch(name) and any(
            word in ("-c", "-e", "-E", "-ne", "-pe", "-p") for word in program
        ):
            return _WRITEISH.search(" ".join(program[1:])) is not None
        return True


def _positional(words: list[str]) -> dict[str, str]:
    numbered = {str(at): word for at, word in enumerate(words[:99], 1)}
    return numbered | {"@": " ".join(words), "*": " ".join(words)}


def _shown(path: str) -> str:
    return re.sub(r"[^\w./~@+-]", "?", path)[:120]
