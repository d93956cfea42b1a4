"""What a shell script would do to the knowledge base, command by command (see `core/guard`)."""

import posixpath
import re
from collections.abc import Callable
from itertools import islice

from roamkb.core.approvals import approval_in_text
from roamkb.core.approvals import find_approval
from roamkb.core.guard import Denial
from roamkb.core.guard import Ground
from roamkb.core.guard import approval_denial
from roamkb.core.guard import is_spared
from roamkb.core.guard import paths_of_patch
from roamkb.core.guard import protected
from roamkb.core.guard import refusal
from roamkb.core.guard import rule_denial
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
from roamkb.core.scene import MAYBE
from roamkb.core.scene import SURE
from roamkb.core.scene import Scene
from roamkb.core.scene import positional
from roamkb.core.writers import MINDERS
from roamkb.core.writers import TALKERS
from roamkb.core.writers import takes_folders
from roamkb.core.writers import targets

_TAKERS = TALKERS | frozenset("curl nc pbcopy tee wl-copy xclip".split())
_INTERPRETER = (
    r"(?:python|pypy|node|deno|bun|perl|ruby|php|lua|Rscript|osascript|tclsh|expect|emacs|emacsclient|vim?|nvim"
    r"|ex|ed|sqlite3|awk|gawk|uv|uvx|ipython|julia|ghci|guile|sbcl|groovy|pwsh)[\d.]*"
)
_WRITEISH = (
    r"(?i:open\s*\([^()\n]{0,200},\s*(?:mode\s*=\s*)?['\"][^'\"\n]{0,3}[wax+]|\bwrite|unlink|remove|rename|rmtree"
    r"|truncate|copy|\bmove|touch|delete|[^-=<]>|system|subprocess|\bexec|spawn|popen|sed\s+-\w*i"
    r"|\b(?:rm|mv|cp|tee|dd)\s|\bsave|append|os\.replace|\bw(?:q|rite)?!?\s|-i\b)"
)
_RULE_IN_TEXT = (
    r"\.claude\W{1,8}(?:rules\W{1,8}knowledge-base\.md|settings(?:\.local)?\.json)"
    r"|\.codex\W{1,8}(?:hooks\.json|config\.toml)"
)
_PATH = r"[^\s'\"`;|&<>(){},=]+"
#: Of a piece of code, that is looked at one by one.
_MOST_PATHS = 100
_DEEPEST = 4
_READ_AT_MOST = 4


def judge_script(text: str, ground: Ground, read: Callable[[str], Script]) -> Denial | None:
    """Return why a shell script is denied; `read` parses shell text."""
    return _Judge(ground, read, budget=_READ_AT_MOST * len(text)).judge(text)


def judge_words(words: list[str], ground: Ground, read: Callable[[str], Script]) -> Denial | None:
    """Return why a command is denied that is started without a shell."""
    text = " ".join(words)
    judge = _Judge(ground, read, budget=_READ_AT_MOST * len(text))
    return judge.judge_command(Command(words=list(words)), text)


class _Judge:
    def __init__(self, ground: Ground, read: Callable[[str], Script], *, budget: int) -> None:
        self._ground = ground
        self._read = read
        self._is_personal = ground.is_personal
        self._rule = protected(ground)
        user = posixpath.basename(ground.home)
        known = {"HOME": ground.home, "PWD": ground.cwd, "USER": user, "LOGNAME": user}
        self._scene = Scene(
            ground,
            Names(ground.kb, home=ground.home, resolve=ground.resolve),
            variables=dict(ground.variables) | known,
            cwd=ground.cwd,
        )
        self._depth = 0
        #: Of characters of scripts in scripts.
        self._budget = budget

    def judge(self, text: str) -> Denial | None:
        script = self._read(text)
        self._scene.rename(text)
        denial = self._judge_commands(script, text)
        if denial is None and self._scene.has_named and self._scene.take_what_is_read(script):
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
        cwd = self._scene.cwd(())
        where = self._scene.named(text, cwd) or self._scene.named(plain, cwd)
        if where and (
            not self._is_personal or (re.search(_WRITEISH, text) and is_spared(where, self._ground))
        ):
            return refusal(self._ground, "the command can't be read and names the knowledge base")
        return rule_denial() if re.search(_RULE_IN_TEXT, plain) and re.search(_WRITEISH, text) else None

    def judge_command(self, command: Command, text: str) -> Denial | None:
        """Return why one simple command is denied, and remember what it means for those behind it."""
        scene = self._scene
        cwd, words = scene.cwd(command.scope), scene.words(command)
        program = without_runners(words)
        fed = scene.fed(command, cwd)
        denial = (
            self._judge_targets(command, cwd)
            or self._judge_approval(program, command, text)
            or self._judge_program(command, words, program, cwd, fed)
        )
        scene.remember(command, words, program, cwd, fed)
        return denial

    def _judge_targets(self, command: Command, cwd: str) -> Denial | None:
        for sign, target in command.redirections:
            if ">" not in sign or (sign.endswith("&") and re.fullmatch(r"\d*-?", target)):
                continue
            if denial := self._judge_write(self._scene.expand(target), cwd, "the redirection"):
                return denial
        return None

    def _judge_write(self, word: str, cwd: str, what: str) -> Denial | None:
        """Judge a word that names what would be written."""
        if self._scene.find(word, cwd, self._rule)[0] is Reach.INSIDE:
            return rule_denial()
        reach, path = self._scene.find(word, cwd)
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
        given = (
            program[program.index(script) + 2 :]
            if script in program
            else [word for word in program if word != script]
        )
        self._scene = outer.inner(positional=positional(given), cwd=cwd, fed=fed)
        variables = dict(self._scene.variables)
        self._depth += 1
        denial = self.judge(script)
        self._depth -= 1
        if denial is None and fed is SURE and not self._is_personal:
            commands = self._read(script).commands
            if not all(reads_only([expand(word, variables) for word in one.words]) for one in commands):
                denial = refusal(self._ground, "a script is fed from the knowledge base")
        if program[0] == "eval":
            outer.take_over(self._scene)
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
        if any(self._scene.find(word, cwd, self._rule)[0] is Reach.INSIDE for word in changed or ()):
            return rule_denial()
        if takes_folders(program) and any(self._scene.find(word, cwd, self._rule)[0] for word in program[1:]):
            return rule_denial()
        code = " ".join([*program, command.stdin or ""])
        if changed is None and re.fullmatch(_INTERPRETER, name_of(program[0])):
            return rule_denial() if re.search(_RULE_IN_TEXT, code) and re.search(_WRITEISH, code) else None
        return None

    def _judge_folders(self, program: list[str], cwd: str) -> Denial | None:
        """Judge `rm -r` of a folder that the knowledge base lies in."""
        if takes_folders(program) and any(
            self._scene.find(word, cwd)[0] is Reach.ABOVE for word in program[1:]
        ):
            return refusal(
                self._ground, f"`{_shown(name_of(program[0]))}` would take the knowledge base along"
            )
        return None

    def _judge_personal(self, program: list[str], command: Command, cwd: str, fed: int) -> Denial | None:
        name = name_of(program[0])
        changed = targets(program)
        bases = [cwd, *self._scene.folders_of(program, cwd)]
        for word in changed or ():
            for base in bases:
                if denial := self._judge_write(word, base, f"`{_shown(name)}`"):
                    return denial
        if fed and name == "xargs" and changed is not None:
            return refusal(self._ground, "`xargs` would hand over the knowledge base's files")
        if changed is None and re.fullmatch(_INTERPRETER, name):
            code = "\n".join([*program[1:], command.stdin or ""])
            where = self._scene.named(code, cwd)
            if where and re.search(_WRITEISH, code) and is_spared(where, self._ground):
                return refusal(self._ground, f"`{_shown(name)}` may write to {_shown(where)}")
        return None

    def _touches(self, command: Command, words: list[str], name: str, cwd: str) -> bool:
        """Say whether a program's words, input or folder lead to the knowledge base."""
        is_talker = name in TALKERS
        if name not in MINDERS and self._scene.is_inside(cwd):
            return True
        bases = [cwd, *self._scene.folders_of(words, cwd)]
        for word in (*words, *(targets(without_runners(words)) or ())):
            # a message may say anything
            if is_talker and re.search(r"\s", word) and not word.startswith("-"):
                if self._scene.find_path(word, cwd)[0] is Reach.INSIDE:
                    return True
                continue
            if any(self._scene.find(word, base)[0] is Reach.INSIDE for base in bases[:8]):
                return True
            if not is_talker and self._is_named_in(word, cwd):
                return True
        if name == "xargs":
            given = self._scene.expand(command.stdin or "").strip()
            paths = [given, *given.split()[:_MOST_PATHS]]
            return any(self._scene.find(word, cwd)[0] is Reach.INSIDE for word in paths)
        return name not in _TAKERS and self._is_named_in(command.stdin or "", cwd)

    def _is_named_in(self, code: str, cwd: str) -> bool:
        """Say whether code names a path there, spelled in whatever way."""
        if not code:
            return False
        paths = islice((found[0] for found in re.finditer(_PATH, code) if "/" in found[0]), _MOST_PATHS)
        return bool(self._scene.named(code, cwd)) or any(
            self._scene.find(path, cwd)[0] is Reach.INSIDE for path in dict.fromkeys(paths)
        )

    def _runs_tainted(self, program: list[str], cwd: str) -> bool:
        """Say whether a script is run that was written here, naming the knowledge base."""
        name = name_of(program[0])
        runs = (
            name in SHELLS or name in ("source", ".", "xargs") or re.fullmatch(_INTERPRETER, name) is not None
        )
        candidates = program[: 4 if runs else 1]
        return bool(self._scene.tainted) and any(
            posixpath.normpath(posixpath.join(cwd, word)) in self._scene.tainted for word in candidates
        )

    def _may_act_on_input(self, program: list[str], fed: int) -> bool:
        name = name_of(program[0])
        if name == "xargs":
            return fed is SURE or name_of((program_of_xargs(program[1:]) or ["echo"])[0]) in MINDERS
        if fed is MAYBE:
            return name in SHELLS or name == "parallel"
        if name in _TAKERS or name in MINDERS:
            return False
        if re.fullmatch(_INTERPRETER, name) and any(
            word in ("-c", "-e", "-E", "-ne", "-pe", "-p") for word in program
        ):
            return re.search(_WRITEISH, " ".join(program[1:])) is not None
        return True


def _shown(path: str) -> str:
    return re.sub(r"[^\w./~@+-]", "?", path)[:120]
