"""What a shell script would do to the knowledge base, command by command (see `core/guard`)."""

import posixpath
import re
from collections.abc import Callable
from itertools import islice

from roamkb.core.approvals import approval_in_text
from roamkb.core.approvals import find_approval
from roamkb.core.copies import outputs_of
from roamkb.core.errands import find_errands
from roamkb.core.errands import find_handed
from roamkb.core.errands import find_side_errands
from roamkb.core.guard import NOTES_END
from roamkb.core.guard import Denial
from roamkb.core.guard import Ground
from roamkb.core.guard import approval_denial
from roamkb.core.guard import is_note
from roamkb.core.guard import is_spared
from roamkb.core.guard import paths_of_patch
from roamkb.core.guard import protected
from roamkb.core.guard import refusal
from roamkb.core.guard import rule_denial
from roamkb.core.programs import SHELLS
from roamkb.core.programs import Command
from roamkb.core.programs import Script
from roamkb.core.programs import behind_runners
from roamkb.core.programs import name_of
from roamkb.core.programs import script_of
from roamkb.core.programs import stdin_of
from roamkb.core.reach import Names
from roamkb.core.reach import Reach
from roamkb.core.reach import expand
from roamkb.core.readers import lists_of_xargs
from roamkb.core.readers import program_of_xargs
from roamkb.core.readers import reads_only
from roamkb.core.scene import MAYBE
from roamkb.core.scene import SURE
from roamkb.core.scene import Scene
from roamkb.core.scene import positional
from roamkb.core.writeish import may_write
from roamkb.core.writers import FINDERS
from roamkb.core.writers import MINDERS
from roamkb.core.writers import TALKERS
from roamkb.core.writers import takes_folders
from roamkb.core.writers import targets

_TAKERS = TALKERS | frozenset("curl nc pbcopy tee wl-copy xclip".split())
_INTERPRETER = (
    r"(?:python|pypy|node|deno|bun|perl|ruby|php|lua|Rscript|osascript|tclsh|expect|emacs|emacsclient|vim?|nvim"
    r"|ex|ed|sqlite3|awk|gawk|g?sed|uv|uvx|ipython|julia|ghci|guile|sbcl|groovy|pwsh)[\d.]*"
)
#: Whatever they are told, it may be saved.
_EDITOR = r"(?:emacs|emacsclient|vim?|nvim|ex|ed)[\d.]*"
#: Programs that put many files where their words say, or undo what was done to them.
_FILLERS = frozenset("7z bsdtar cp cpio git patch rsync tar unzip".split())
#: Programs that show a folder to others: `-v FOLDER:/there`.
_MOUNTERS = frozenset("docker nerdctl podman".split())
_RUNNERS_OF_FILES = SHELLS | frozenset("source . xargs make gmake just".split())
#: Programs that run later what they are fed.
_LATER = frozenset("at batch crontab".split())
#: What these run without being told.
_UNSAID = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "npm": ("package.json",),
    "pytest": ("conftest.py",),
}
_RULE_IN_TEXT = (
    r"\.claude\W{1,8}(?:rules\W{1,8}knowledge-base\.md|settings(?:\.local)?\.json)"
    r"|\.codex\W{1,8}(?:hooks\.json|config\.toml)"
)
_PATH = r"[^\s'\"`;|&<>(){},=]+"
#: Of a piece of code, that is looked at one by one.
_MOST_PATHS = 100
_DEEPEST = 4
_READ_AT_MOST = 4
#: Of one call: a harness waits some seconds, and lets the call go on if nobody answered.
_MOST_COMMANDS = 4000
#: So many words take as long as a command does.
_WORDS_OF_COMMAND = 8


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
        links: dict[str, str] = {}
        self._rule = protected(ground, links)
        user = posixpath.basename(ground.home)
        known = {"HOME": ground.home, "PWD": ground.cwd, "USER": user, "LOGNAME": user}
        self._scene = Scene(
            ground,
            Names(
                ground.kb,
                home=ground.home,
                resolve=ground.resolve,
                links=links,
                hosts=ground.hosts,
                endings=NOTES_END,
            ),
            variables=dict(ground.variables) | known,
            cwd=ground.cwd,
        )
        self._depth = 0
        self._text = ""
        #: Of characters of scripts in scripts.
        self._budget = budget
        self._commands = _MOST_COMMANDS

    def judge(self, text: str) -> Denial | None:
        script = self._read(text)
        self._text = self._text or text
        self._scene.rename(text)
        denial = self._judge_commands(script, text)
        if denial is None and self._scene.has_named and self._scene.take_what_is_read(script):
            denial = self._judge_commands(script, text)
        if denial is not None:
            return denial
        return None if script.is_whole else self._judge_unread(text)

    def _judge_commands(self, script: Script, text: str) -> Denial | None:
        self._commands -= sum(1 + len(command.words) // _WORDS_OF_COMMAND for command in script.commands)
        if self._commands < 0:
            return Denial(
                reason="the call has more commands than can be judged in time, and may write to notes",
                hint="make several calls of it",
            )
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
        if where and (not self._is_personal or (may_write(text) and is_spared(where, self._ground))):
            return refusal(self._ground, "the command can't be read and names the knowledge base")
        return rule_denial() if re.search(_RULE_IN_TEXT, plain) and may_write(text) else None

    def judge_command(self, command: Command, text: str) -> Denial | None:
        """Return why one simple command is denied, and remember what it means for those behind it."""
        scene = self._scene
        cwd = scene.cwd(command.scope)
        words = scene.words(command)
        call = _Call(command, words, cwd, fed=scene.fed(command, cwd), text=text)
        denial = self._judge_targets(command, cwd)
        for meaning, value in call.told:
            if meaning == "folder":
                call.cwd = scene.path(value, call.cwd)
            elif value.startswith(("|", "!")):
                denial = denial or self._judge_inner(value[1:], [value], cwd, 0)
            else:
                denial = denial or self._judge_write(value, cwd, "the report")
        denial = denial or self._judge_approval(call) or self._judge_program(call)
        scene.remember(command, words, call.program, cwd, call.fed)
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
        for reach, path in self._scene.all(word, cwd):
            if reach is Reach.INSIDE and (not self._is_personal or is_spared(path, self._ground)):
                return refusal(self._ground, f"{what} would write to {_shown(path)}")
        return None

    def _judge_approval(self, call: "_Call") -> Denial | None:
        verb = find_approval(call.program, stdin_of(call.command) or "", call.text)
        return approval_denial(verb) if verb else None

    def _judge_program(self, call: "_Call") -> Denial | None:
        program, name = call.program, call.name
        for script in find_side_errands(program, call.words):
            base = next(self._scene.folders_of(call.words, call.cwd), call.cwd)
            if denial := self._judge_inner(script, ["git", script], base, 0):
                return denial
        if not program:
            return None
        errands = find_errands(program, call.command.words, stdin_of(call.command), self._scene.is_here)
        if errands:
            denials = (
                self._judge_inner(one, program, self._scene.path(folder, call.cwd), call.fed)
                for one, folder in errands
            )
            return next((denial for denial in denials if denial), None)
        if denial := self._judge_handed(call):
            return denial
        if name == "apply_patch":
            return self._judge_patch(call)
        if name not in self._scene.renamed and (reads_only(call.words) or self._only_copies(call)):
            return None
        if denial := self._judge_rule(call) or self._judge_folders(call):
            return denial
        if self._is_personal:
            return self._judge_personal(call)
        if self._touches(call) or self._runs_tainted(call):
            return refusal(self._ground, f"`{_shown(name)}` is pointed at the knowledge base")
        if call.fed and self._may_act_on_input(call):
            return refusal(self._ground, f"`{_shown(name)}` is fed from the knowledge base")
        return None

    def _judge_handed(self, call: "_Call") -> Denial | None:
        """Judge the script that `xargs sh -c` and its like run for each file; one that passes is a reader."""
        handed = find_handed(call.program)
        if handed is None or (script := script_of(handed[1], None)) is None:
            return None
        start, words, mark = handed
        stdin = stdin_of(call.command) or ""
        finds = (
            call.fed
            or self._is_named_in(stdin, call.cwd)
            or any(self._scene.find(one, call.cwd)[0] for one in call.program[1:start])
        )
        note = self._scene.any_note() if finds or self._scene.is_inside(call.cwd) else "\0"
        if finds and mark and re.match(rf"\s*(?:eval\s+)?[\"']?{re.escape(mark)}", script):
            return refusal(self._ground, f"`{_shown(call.name)}` would run what names the knowledge base")
        given = [note if word == mark else word for word in words[words.index(script) + 1 :]]
        script = script.replace(mark, note) if mark else script
        denial = self._judge_inner(script, ["sh", "-c", "", *given, note, note, note], call.cwd, 0)
        if denial is None:
            call.replace(start, len(words))
        return denial

    def _only_copies(self, call: "_Call") -> bool:
        """Say whether all that a command writes is known, and lies elsewhere."""
        written = None if self._is_personal else outputs_of(call.program)
        if written is None or any("\0" in one or "$" in one for one in call.program):
            return False
        found = [self._scene.find_path(one, call.cwd)[0] for one in written]
        return not any(found) and not self._judge_rule(call)

    def _judge_inner(self, script: str, program: list[str], cwd: str, fed: int) -> Denial | None:
        """Judge the script of `bash -c`, with its own arguments."""
        self._budget -= len(script)
        if self._depth >= _DEEPEST or self._budget < 0:
            return self._judge_unread(script)
        outer = self._scene
        known = script if script in program else "" if "" in program else None
        given = program[program.index(known) + 1 :] if known is not None else ["", *program]
        self._scene = outer.inner(positional=positional(given[1:], "".join(given[:1])), cwd=cwd, fed=fed)
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

    def _judge_patch(self, call: "_Call") -> Denial | None:
        for path in paths_of_patch("\n".join([*call.program[1:], stdin_of(call.command) or ""])):
            if denial := self._judge_write(path, call.cwd, "the patch"):
                return denial
        return None

    def _judge_rule(self, call: "_Call") -> Denial | None:
        """Judge what would change the rule or the hooks, in any project."""
        program, cwd = call.program, call.cwd
        changed = targets(program)
        if any(self._scene.find(word, cwd, self._rule)[0] is Reach.INSIDE for word in changed or ()):
            return rule_denial()
        taken = changed if call.name in FINDERS else program[1:]
        if takes_folders(program) and any(self._scene.find(word, cwd, self._rule)[0] for word in taken or ()):
            return rule_denial()
        if changed is None and re.fullmatch(_INTERPRETER, call.name):
            is_change = re.search(_RULE_IN_TEXT, call.code) and may_write(call.code)
            return rule_denial() if is_change else None
        return None

    def _judge_folders(self, call: "_Call") -> Denial | None:
        """Judge `rm -r` of a folder that the knowledge base lies in, and what is unpacked or undone there."""
        program, cwd = call.program, call.cwd
        changed = [path for word in targets(program) or () if (path := self._above(word, cwd))]
        # what find looks at is among its targets already
        named = () if call.name in FINDERS else program[1:]
        above = [path for word in named if (path := self._above(word, cwd))] + changed
        # a whole home is unpacked into and undone for other reasons
        near = self._ground.home.rstrip("/") + "/"
        is_filled = call.name in _FILLERS and any(
            path.startswith(near) and not re.search(r"[*?\[\0]", path) for path in changed
        )
        if call.name in _MOUNTERS:
            is_filled = any(path.startswith(near) for path in above) and not re.search(
                r":ro\b|readonly", call.code
            )
        if is_filled or (above and takes_folders(program)):
            return refusal(self._ground, f"`{_shown(call.name)}` would take the knowledge base along")
        return None

    def _above(self, word: str, cwd: str) -> str:
        reach, path = self._scene.find(word, cwd)
        return path if reach is Reach.ABOVE else ""

    def _judge_personal(self, call: "_Call") -> Denial | None:
        """Judge what may not happen to a human's note, where an agent may write notes of its own."""
        program, name = call.program, call.name
        changed = targets(program)
        bases = [call.cwd, *self._scene.folders_of(call.words, call.cwd)]
        for word in changed or ():
            for base in bases:
                if denial := self._judge_write(word, base, f"`{_shown(name)}`"):
                    return denial
        is_fed = (
            call.fed
            or self._scene.is_inside(call.cwd)
            or any(self._scene.find(one, call.cwd)[0] for one in lists_of_xargs(program))
        )
        if is_fed and name == "xargs" and changed is not None:
            return refusal(self._ground, "`xargs` would hand over the knowledge base's files")
        is_later = name in _LATER and may_write(call.text)
        runs_it = name in SHELLS or (name == "parallel" and not SHELLS.isdisjoint(program))
        if call.fed is SURE and (runs_it or is_later):
            return refusal(self._ground, f"`{_shown(name)}` is fed from the knowledge base")
        is_code = re.fullmatch(_INTERPRETER, name) is not None or name in self._scene.renamed
        if changed is None or is_code or self._runs_tainted(call):
            return self._judge_code(call)
        return None

    def _judge_code(self, call: "_Call") -> Denial | None:
        """Judge a program that nobody knows, or that runs what its words say, by what it names."""
        program, name = call.program, call.name
        if self._runs_tainted(call) and may_write(call.text):
            return refusal(self._ground, f"`{_shown(name)}` runs what was made here and names it")
        if name in TALKERS:
            return None
        where = self._scene.named(call.code, call.cwd)
        if not where and re.fullmatch(_INTERPRETER, name) and self._scene.is_inside(call.cwd):
            where = call.cwd
        is_writer = may_write(call.code, name) or re.fullmatch(_EDITOR, name) is not None
        if where and is_writer and is_spared(where, self._ground):
            return refusal(self._ground, f"`{_shown(name)}` may write to {_shown(where)}")
        if name in self._scene.renamed and may_write(call.text):
            found = (self._scene.find(word, call.cwd) for word in program)
            if any(reach is Reach.INSIDE and is_spared(path, self._ground) for reach, path in found):
                return refusal(
                    self._ground, f"`{_shown(name)}` is a function or an alias and is given a note"
                )
        if re.fullmatch(_INTERPRETER, name) and _has_code(program):
            return None
        bases = [call.cwd, *self._scene.folders_of(call.words, call.cwd)]
        for word, base in ((word, base) for word in program for base in bases[:8]):
            reach, path = self._scene.find(word, base)
            is_shared = (
                name in _MOUNTERS and re.search(r"[:=]", word) and not re.search(r":ro\b|readonly", word)
            )
            is_handed = is_note(path) or is_shared
            if reach is Reach.INSIDE and is_handed and is_spared(path, self._ground):
                return refusal(self._ground, f"`{_shown(name)}` may write to {_shown(path)}")
        return None

    def _touches(self, call: "_Call") -> bool:
        """Say whether a program's words, input or folder lead to the knowledge base."""
        words, name, cwd = call.words, call.name, call.cwd
        is_talker = name in TALKERS
        if name not in MINDERS and self._scene.is_inside(cwd):
            return True
        bases = [cwd, *self._scene.folders_of(words, cwd)]
        for word in (*words, *(targets(call.program) or ())):
            # a message may say anything
            if is_talker and re.search(r"\s", word) and not word.startswith("-"):
                if self._scene.find_path(word, cwd)[0] is Reach.INSIDE:
                    return True
                continue
            if any(self._scene.find(word, base)[0] is Reach.INSIDE for base in bases[:8]):
                return True
            if not is_talker and self._is_named_in(word, cwd):
                return True
        stdin = call.command.stdin or ""
        if name == "xargs":
            given = self._scene.expand(stdin).strip()
            paths = [given, *given.split()[:_MOST_PATHS]]
            return any(self._scene.find(word, cwd)[0] is Reach.INSIDE for word in paths)
        is_taken = name in _TAKERS and targets(call.program) is not None
        return not (is_talker or is_taken) and self._is_named_in(stdin, cwd)

    def _is_named_in(self, code: str, cwd: str) -> bool:
        """Say whether code names a path there, spelled in whatever way."""
        if not code:
            return False
        paths = islice((found[0] for found in re.finditer(_PATH, code) if "/" in found[0]), _MOST_PATHS)
        return bool(self._scene.named(code, cwd)) or any(
            self._scene.find(path, cwd)[0] is Reach.INSIDE for path in dict.fromkeys(paths)
        )

    def _runs_tainted(self, call: "_Call") -> bool:
        """Say whether a script is run that was written here, naming the knowledge base."""
        tainted = self._scene.tainted
        if not tainted:
            return False
        runs = call.name in _RUNNERS_OF_FILES or (
            re.fullmatch(_INTERPRETER, call.name) is not None and not call.name.endswith("sed")
        )
        words = [*call.program[: 4 if runs else 1], *_UNSAID.get(call.name, ())]
        return any(posixpath.normpath(posixpath.join(call.cwd, word)) in tainted for word in words) or (
            call.name == "git" and any("/.git/hooks/" in path for path in tainted)
        )

    def _may_act_on_input(self, call: "_Call") -> bool:
        name, program = call.name, call.program
        if name == "xargs":
            return call.fed is SURE or name_of((program_of_xargs(program[1:]) or ["echo"])[0]) in MINDERS
        if call.fed is MAYBE:
            return name in SHELLS or name == "parallel"
        if name in _TAKERS or name in MINDERS:
            return False
        if re.fullmatch(_INTERPRETER, name) and _has_code(program):
            return may_write(" ".join(program[1:]), name)
        return True


class _Call:
    """A simple command as it is about to run."""

    __slots__ = ("command", "cwd", "fed", "name", "program", "text", "told", "words")

    def __init__(self, command: Command, words: list[str], cwd: str, *, fed: int, text: str) -> None:
        """Take the command, its words as far as they are known, and the whole script that it stands in."""
        self.command = command
        self.words = words
        self.program, self.told = behind_runners(words)
        self.name = name_of(self.program[0]) if self.program else ""
        self.cwd = cwd
        self.fed = fed
        self.text = text

    @property
    def code(self) -> str:
        """What it is told to do."""
        return "\n".join([*self.words, self.command.stdin or ""])

    def replace(self, start: int, length: int) -> None:
        """Have a reader stand where a script was started that is judged already."""
        self.program = [*self.program[:start], "cat", *self.program[start + length :]]
        self.words = self.program


def _has_code(program: list[str]) -> bool:
    return any(re.fullmatch(r"-c|--eval|--print|-[lanpwW0-9]*[eEp]", word) for word in program[1:])


def _shown(path: str) -> str:
    return re.sub(r"[^\w./~@+-]", "?", path)[:120]
