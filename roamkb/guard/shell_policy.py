"""Why a tool call isn't to be made: what its commands would do to the notes, by the table of programs.

It explains, and stops what is plain; what it doesn't understand it lets go. The kernel's wall stops that, and
the journal undoes it (design D23).
"""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Sequence

from roamkb.guard.code_write_targets import targets
from roamkb.guard.find_commands import FindCall
from roamkb.guard.find_commands import mark_of_xargs
from roamkb.guard.find_commands import with_files
from roamkb.guard.find_commands import with_input
from roamkb.guard.hook_tampering import drops_prefix
from roamkb.guard.hook_tampering import is_settings
from roamkb.guard.hook_tampering import is_unhooked
from roamkb.guard.hook_tampering import may_unhook
from roamkb.guard.hook_tampering import unhooks
from roamkb.guard.human_only_commands import approval_in_text
from roamkb.guard.human_only_commands import find_approval
from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import PathReach
from roamkb.guard.paths import expand
from roamkb.guard.paths import may_be_note
from roamkb.guard.policy import PROTECTED
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.policy import approval_denial
from roamkb.guard.policy import note_denial
from roamkb.guard.policy import paths_of_patch
from roamkb.guard.policy import protected
from roamkb.guard.policy import rule_denial
from roamkb.guard.shell_state import ShellCall
from roamkb.guard.shell_state import ShellState
from roamkb.shell.programs import ASSIGNMENT
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import ShellScript
from roamkb.shell.programs import command_run
from roamkb.shell.programs import parse_words
from roamkb.shell.programs import script_of
from roamkb.shell.programs import stdin_of

_OPERATOR = r"[;|&(<>\n]"
_DUPLICATE = r"\d*-?"
#: Print what they are given.
_ECHOES = frozenset("echo printf realpath readlink dirname".split())
_SETTERS = frozenset("export declare local readonly typeset".split())
_RULE_IN_TEXT = "|".join(re.escape(one).replace("/", r"\W{1,8}") for one in PROTECTED[:5])
_SETTINGS_IN_TEXT = r"\.claude\W{1,8}settings(?:\.local)?\.json"
_QUOTING = str.maketrans("", "", "'\"\\")
#: Of a piece of code, that is looked at one by one.
_PATH = r"[^\s'\"`;|&<>(){},=]*/[^\s'\"`;|&<>(){},=]+"
_MOST_PATHS = 50
#: A path that is spelled out, `x.md` as well.
_SPELLED_PATH = r"['\"]([^'\"\s]*(?:/|\w\.\w)[^'\"\n]*)['\"]|(?:^|\s)([~/][^\s'\"]+)"
_DEEPEST = 6
#: Of one call, and so many words take as long as a command does.
_MOST_COMMANDS = 2000
_WORDS_OF_COMMAND = 4
#: Characters of scripts in scripts, by the length of the call.
_READ_AT_MOST = 5
_LONGEST_VALUE = 1024
_MOST_GIVEN = 200


class _DeniedError(Exception):
    """The call isn't to be made."""

    def __init__(self, denial: Denial) -> None:
        self.denial = denial


def judge_script(text: str, ground: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a shell script is denied; `read` parses shell text."""
    return _ShellJudge(ground, read, text).denial(lambda judge: judge.script(text, judge.call.scene))


def judge_words(words: list[str], ground: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a command is denied that is started without a shell."""
    command = ShellCommand(words=list(words))
    return _ShellJudge(ground, read, " ".join(words)).denial(
        lambda judge: judge.command(command, judge.call.scene)
    )


def judge_code(code: str, ground: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a piece of code is denied, in a language that nobody told."""
    return _ShellJudge(ground, read, code).denial(lambda judge: judge.code("*", [code], judge.call))


def judge_path(path: str, contents: str, ground: GuardContext, *, spares_hooks: bool) -> Denial | None:
    """Return why a file isn't to be written with `contents`; an edit of other settings `spares_hooks`."""
    judge = _ShellJudge(ground, lambda text: ShellScript([], is_whole=not text), contents)
    return judge.denial(lambda judge: judge.file(path, spares_hooks=spares_hooks))


class _ShellJudge:
    """The interpreter of one call; a command that isn't to be run ends it."""

    def __init__(self, ground: GuardContext, read: Callable[[str], ShellScript], text: str) -> None:
        self._ground = ground
        self._read = read
        self._text = text
        self._rule = protected(ground)
        self._kb = FolderNames(ground.kb, home=ground.home, resolve=ground.resolve)
        user = posixpath.basename(ground.home)
        known = {"HOME": ground.home, "PWD": ground.cwd, "USER": user, "LOGNAME": user}
        #: What stands for the whole, where there is no command.
        self.call = ShellCall(
            [], ground.cwd, ShellState(ground.cwd, {**ground.variables, **known}, self._kb), text=text
        )
        self._depth = 0
        self._budget = _READ_AT_MOST * len(text)
        self._commands = _MOST_COMMANDS

    def denial(self, work: "Callable[[_ShellJudge], object]") -> Denial | None:
        """Return why `work` found that the call isn't to be made."""
        try:
            work(self)
        except _DeniedError as denied:
            return denied.denial
        return None

    # Scripts and commands

    def script(self, script: str, scene: ShellState) -> None:
        """Judge each command."""
        self._budget -= len(script)
        if len(re.findall(_OPERATOR, script)) > 2 * _MOST_COMMANDS:
            self._may_go_on(_MOST_COMMANDS + 1)
            return
        if self._depth > _DEEPEST or self._budget < 0:
            self._judge_unread(script, scene)
            return
        self._depth += 1
        parsed = self._read(script)
        start = scene.cwd(())
        for command in parsed.commands:
            self.command(command, scene)
        if scene.is_late:
            # what a loop reads is known behind its end
            scene.restart(start)
            for command in parsed.commands:
                self.command(command, scene)
        self._depth -= 1
        if not parsed.is_whole:
            self._judge_unread(script, scene)

    def command(self, command: ShellCommand, scene: ShellState) -> None:
        """Judge one simple command, and remember what it means for those behind it."""
        if not self._may_go_on(1 + len(command.words) // _WORDS_OF_COMMAND):
            return
        cwd, stdin = scene.cwd(command.scope), stdin_of(command)
        substituted = scene.nested.pop(command.scope, "")
        stdin = stdin and expand(stdin, scene.variables)
        call = ShellCall(scene.words(command, substituted), cwd, scene, stdin=stdin, text=self._text)
        call.scope, call.fed = command.scope, self._fed(command, call, substituted)
        outputs = [
            expand(target, scene.variables)
            for sign, target in command.redirections
            if ">" in sign and not (sign.endswith("&") and re.fullmatch(_DUPLICATE, target))
        ]
        for target in outputs:
            self._write(target, call, "the redirection")
        if not call.words and call.fed and scene.read:
            scene.variables.update(dict.fromkeys(scene.read, call.fed))
            scene.is_late = True
        emission = self._run(call) if call.words else ""
        scene.prints[id(command)] = emission
        if command.scope:
            outer = command.scope[:-1]
            scene.nested[outer] = scene.nested.get(outer) or emission

    def _fed(self, command: ShellCommand, call: ShellCall, substituted: str) -> str:
        """Return the file that stands for those whose names a command reads."""
        if command.piped_from is not None:
            return call.scene.prints.get(id(command.piped_from), "")
        if command.stdin is not None and re.search(r"\$\(|`", command.stdin):
            return substituted
        targets = (target for sign, target in command.redirections if sign == "<")
        return substituted if any(word.startswith("<(") for word in (*command.words, *targets)) else ""

    def _run(self, call: ShellCall) -> str:
        """Judge what a command starts; return a file that stands for those whose names it prints."""
        scene = call.scene
        while call.words and (found := re.match(ASSIGNMENT, call.words[0])):
            name = re.split(r"[\[+=]", call.words[0], maxsplit=1)[0]
            call.settings[name] = self._value(call.words[0][found.end() :])
            call.words = call.words[1:]
        words = call.words
        if drops_prefix(words, call.settings):
            raise _DeniedError(rule_denial())
        if not words:
            scene.variables.update(call.settings)
            return ""
        if len(words) == 1 and re.search(r"\s", words[0].strip()):
            return self._inner(words[0], call)
        call.program, call.parsed = parse_words(words)
        if verb := find_approval(words, call.program, call.stdin or "", self._text):
            raise _DeniedError(approval_denial(verb))
        for one in words[1:] if words[0] in _SETTERS else ():
            key, _, value = one.partition("=")
            scene.variables[key] = self._value(value)
        self._judge_options(call)
        kind = "reads" if call.has("show") else call.program.kind
        emission: str | None = getattr(self, f"_judge_{kind}")(call)
        scene.remember(call)
        return emission or call.fed

    def _value(self, value: str) -> str:
        """Return what a variable is set to."""
        value = value.strip("()")
        is_there = value == "~" or value.startswith("~/")
        return (self._ground.home + value[1:] if is_there else value)[:_LONGEST_VALUE]

    # What words mean

    def _judge_options(self, call: ShellCall) -> None:
        """Judge what options alone say, and find out in which folder the program works."""
        for place in filter(None, call.values("in")):
            is_near = any(names.find(call.folder, "/")[0] for names in (self._kb, self._rule))
            if not is_near or call.folder == call.cwd:
                call.folder = self._kb.path(place, call.folder).removesuffix("/.git")
        for word in call.values("out"):
            if word != "-":
                self._write(word, call)
        for word in call.values("run") if call.program.kind not in ("runs", "starts") else ():
            # `-c core.pager=…`, `--checkpoint-action=exec=…`
            self._inner(re.sub(r"^[\w.-]+=", "", word).lstrip("|!"), call)
        self._judge_shares(call)
        if call.values("code") and call.program.kind not in ("code", "edits"):
            self.code(call.name, call.values("code"), call)
        if call.has("all"):
            self._write_all(call)

    def _judge_shares(self, call: ShellCall) -> None:
        """Judge what a container is shown: its processes aren't behind the wall."""
        for word in call.values("share"):
            if not re.search(r":ro\b|readonly", word):
                for place in re.split(r"[:=,]", word):
                    self._reach(place, call, f"`{call.name}` may write to what it is shown", "filled")

    def _write_all(self, call: ShellCall, how: str = "") -> None:
        has_code = call.has("first") and not call.values("code")
        for word in call.operands[int(has_code) :]:
            if not (call.has("link") and self._is_link_elsewhere(word, call)):
                self._write(word, call, how="deep" if call.has("deep") else how)

    def _judge_reads(self, call: ShellCall) -> str:
        operands = call.operands
        if call.has("last") and len(operands) > 1:
            self._write(operands[-1], call)
        if call.has("archive") and operands:
            self._write(operands[0], call)
        return (
            self._named_operand(call) or self._named(" ".join(operands), call) if call.name in _ECHOES else ""
        )

    _judge_spares = _judge_reads

    def _judge_lists(self, call: ShellCall) -> str:
        globs = [one for one in call.values("glob") if not one.startswith("!")]
        if globs and not any(one == "org" or may_be_note(one) for one in globs):
            return ""
        operands = call.operands[int(call.has("first") and "-e" not in call.words) :]
        is_tree = call.has("tree") or call.has("deep")
        for word in operands or (["."] if is_tree or call.name == "ls" else []):
            reach, path = self._kb.find(word, call.folder)
            if reach is PathReach.INSIDE or (reach and is_tree):
                return self._kb.any_note
            if reach:
                return path.rstrip("*") + "/*"
        return self._kb.any_note if call.name == "roamkb" else ""

    def _judge_writes(self, call: ShellCall) -> None:
        # what has an output of its own leaves its operands alone
        if not call.values("out"):
            self._write_all(call)
        if call.has("here"):
            self._write(".", call)

    def _judge_edits(self, call: ShellCall) -> None:
        code = [*call.values("code"), *([call.stdin] if call.stdin else [])]
        if code:
            self.code(call.name, code, call)
        else:
            self._write_all(call)

    def _judge_moves(self, call: ShellCall) -> None:
        self._write_all(call, "deep")
        if call.name == "mv":
            self._judge_last(call)

    def _judge_last(self, call: ShellCall) -> None:
        """Judge where copies end up: in the folder by their own names, or at the one name that is given."""
        folders = call.values("to")
        *sources, last = [*call.operands, *folders[-1:]] or [""]
        options = [word for word in call.words if word.startswith("-")]
        reach, path = self._kb.find(last, call.folder)
        is_file = reach is PathReach.INSIDE and path not in self._kb.folders and re.search(r"\.\w+$", path)
        is_exact = (
            (is_file and not folders)
            or self._is_settings(self._kb.path(last, call.folder))
            or (call.name == "rsync" and any(one.endswith("/") for one in sources))
            or (call.name == "ln" and any(re.match(r"-[a-zA-Z]*[Tnh]", one) for one in options))
        )
        landed = [posixpath.join(last, posixpath.basename(one.rstrip("/"))) for one in sources]
        how = "filled" if not is_file and (is_exact or call.has("deep") or call.name == "mv") else ""
        for one in [last] if is_exact and sources else landed:
            self._write(one, call, how=how)

    def _judge_fills(self, call: ShellCall) -> None:
        self._write(call.folder, call, how="filled")
        for word in call.operands if call.name == "patch" else ():
            self._write(word, call)

    def _judge_makes(self, call: ShellCall) -> None:
        for word in call.operands:
            self._write(word, call, how="new")

    def _judge_tends(self, call: ShellCall) -> None:
        if call.values("in") or call.name == "git":
            self._reach(call.folder, call, f"`{call.name}` would work in {{path}}", "new")

    def _judge_litters(self, call: ShellCall) -> None:
        for word in call.operands or ["."]:
            self._write(posixpath.join(word, ".git" if call.name == "git" else ".venv"), call)

    def _judge_runs(self, call: ShellCall) -> str:
        return self._start(command_run(call.program, call.parsed), call, fed=call.fed)

    _judge_starts = _judge_runs

    def _start(self, words: list[str], call: ShellCall, *, fed: str = "") -> str:
        """Judge a command that another starts."""
        if not words or self._depth > _DEEPEST or not self._may_go_on(1):
            return ""
        inner = ShellCall(words, call.folder, call.scene, stdin=call.stdin, text=self._text)
        inner.fed, inner.scope, inner.settings = fed, call.scope, dict(call.settings)
        self._depth += 1
        emission = self._run(inner)
        self._depth -= 1
        return emission

    def _judge_each(self, call: ShellCall) -> str:
        """Judge what xargs and parallel start with what they read."""
        words = [*call.operands, *call.parsed.rest]
        own, text = call.words[1 : len(call.words) - len(words)], call.stdin or ""
        mark = mark_of_xargs(own) or ("{}" if call.name == "parallel" and "{}" in " ".join(words) else "")
        given = text.splitlines() if mark else text.split()[:_MOST_GIVEN]
        if call.fed and (not given or re.search(r"[$`]", text)):
            given = [call.fed]
        return self._start(with_input(words or ["echo"], given or [UNKNOWN], mark), call)

    def _judge_finds(self, call: ShellCall) -> str:
        search = FindCall(call.words)
        hit = next(
            (
                names.any_note if is_note else file
                for names, is_note in ((self._kb, True), (self._rule, False))
                for folder in search.folders
                if (found := names.find(folder, call.cwd))[0]
                for file in names.folders
                if search.may_find(found[1], file, is_note=is_note)
            ),
            "",
        )
        for word in search.outputs:
            self._write(word, call)
        if search.deletes and hit:
            self._write(hit, call, how="deep")
        for words in search.commands:
            self._start(with_files(words, hit or UNKNOWN), call)
        return hit

    def _judge_shell(self, call: ShellCall) -> None:
        words = call.words
        self._reach(call.fed, call, f"`{call.name}` is fed with names of notes")
        script = script_of(words, call.stdin)
        if script is not None:
            given = words[words.index(script) + 1 :] if script in words else [words[0], *call.operands[1:]]
            self._inner(script, call, given, keeps=words[0] == "eval")

    def _judge_text(self, call: ShellCall) -> None:
        """Judge a command that starts what its operands say."""
        for word in call.operands[: 1 if call.has("first") else None]:
            if re.search(r"\s", word):
                self._inner(word, call)

    def _judge_code(self, call: ShellCall) -> None:
        code = [*call.values("code"), *call.values("also")]
        operands = call.operands
        if call.has("text"):
            code += operands
        elif call.has("first") and not call.values("code"):
            code += operands[:1]
        if call.stdin and not any(code):
            code.append(call.stdin)
        self.code(call.name, code, call)

    def _judge_harness(self, call: ShellCall) -> None:
        asked = set(call.operands)
        drops = (
            "plugin" in asked and {"disable", "uninstall", "remove"} & asked and "roamkb" in " ".join(asked)
        )
        if drops or is_unhooked(call.parsed, call.settings):
            raise _DeniedError(rule_denial())

    def _judge_removes(self, call: ShellCall) -> None:
        is_ours = any(re.match(r"roamkb\b(?!-)", one) for one in call.operands)
        if is_ours and not {"install", "upgrade", "list"}.intersection(call.operands):
            raise _DeniedError(rule_denial())

    def _judge_patch(self, call: ShellCall) -> None:
        for path in paths_of_patch("\n".join([*call.words[1:], call.stdin or ""])):
            self._write(path, call, "the patch")

    # What may not be written

    def file(self, path: str, *, spares_hooks: bool) -> None:
        """Judge a file that a tool writes."""
        is_rule = not spares_hooks and self._rule.find(path, self.call.cwd)[0] is PathReach.INSIDE
        if is_rule or (self._is_settings(self._kb.path(path, self.call.cwd)) and unhooks(self._text)):
            raise _DeniedError(rule_denial())
        self._reach(path, self.call, "the tool would write to a file there")

    def _write(self, word: str, call: ShellCall, what: str = "", how: str = "") -> None:
        """Judge a word that names what would be written.

        `how`: it is taken along with all that lies below (`deep`), much is put into it (`filled`), or
        nothing was there before (`new`).
        """
        reach, path = self._rule.find(word, call.folder)
        place = self._kb.path(word, call.folder)
        is_brought = call.program.kind in ("last", "moves")
        if (
            reach is PathReach.INSIDE
            or (reach and self._is_taken(path, how))
            or (self._is_settings(place) and (is_brought or may_unhook(self._text.translate(_QUOTING))))
        ):
            raise _DeniedError(rule_denial())
        self._reach(word, call, f"{what or f'`{call.name}`'} would write to {{path}}", how)

    def _reach(self, word: str, call: ShellCall, what: str, how: str = "") -> None:
        reach, path = self._kb.find(word, call.folder)
        if reach is PathReach.INSIDE or (reach and self._is_taken(path, how)):
            # what is filled or lies above holds notes that nobody names
            place = path if reach is PathReach.INSIDE and how != "filled" else f"{path}/*"
            denial = note_denial(place, what.format(path=_shown(path)), self._ground, is_new=how == "new")
            if denial:
                raise _DeniedError(denial)

    def _is_taken(self, path: str, how: str) -> bool:
        """Say whether a folder around is changed with all that lies in it."""
        # a whole home is unpacked into and undone for other reasons
        is_near = path.startswith(self._ground.home.rstrip("/") + "/") and not re.search(r"[*?\[]", path)
        return UNKNOWN not in path and (how == "deep" or (how == "filled" and is_near))

    def _is_link_elsewhere(self, word: str, call: ShellCall) -> bool:
        """Say whether a word names something in a folder that has nothing to do with notes, and no more."""
        folder = posixpath.dirname(self._kb.path(word, call.folder))
        return (
            not word.endswith("/")
            and not self._kb.find(folder, "/")[0]
            and not self._rule.find(folder, "/")[0]
        )

    def _is_settings(self, place: str) -> bool:
        return UNKNOWN not in place and (is_settings(place) or is_settings(self._ground.resolve(place)))

    def code(self, language: str, texts: Sequence[str], call: ShellCall) -> None:
        """Judge code: it names notes, or a folder around and `.org`, and has a verb of writing.

        That is a guess, which nobody needs about notes where the wall stands.
        """
        code = "\n".join(texts)
        if not code.strip():
            return
        if verb := approval_in_text(code):
            raise _DeniedError(approval_denial(verb))
        where = self._place_in_code(code, call)
        plain = code.translate(_QUOTING)
        at_settings = _SETTINGS_IN_TEXT if posixpath.basename(call.cwd) != ".claude" else "settings"
        names_rule = re.search(_RULE_IN_TEXT, plain) or (re.search(at_settings, plain) and may_unhook(plain))
        is_guess = call.program.kind != "edits"
        if not names_rule and (not where or (is_guess and self._ground.wall_stands())):
            return
        if not any(names_rule or self._may_be_note(target, call) for target in targets(language, code)):
            return
        denial = rule_denial() if names_rule else None
        denial = denial or note_denial(
            where, f"`{_shown(language)}` may write to {_shown(where)}", self._ground
        )
        if denial:
            raise _DeniedError(denial)

    def _place_in_code(self, code: str, call: ShellCall) -> str:
        """Return where code leads that names notes, or finds them; empty where it does neither."""
        around = code if call.has("filter") else "\n".join([code, *call.words])
        known = expand(around, call.scene.variables)
        if where := self._named(known, call):
            return where
        reach = self._kb.find(call.cwd, "/")[0]
        if reach is PathReach.INSIDE:
            return call.cwd + "/*"
        if not call.has("filter") and (where := self._named_operand(call) or call.fed):
            return where
        for one in [*dict.fromkeys(re.findall(_PATH, known))][:_MOST_PATHS]:
            found, path = self._kb.find(one, call.cwd)
            if found is PathReach.INSIDE:
                return path
        finds_them = re.search(r"\.org\b", code) and (
            (reach and "*.org" in code) or self._kb.above_in_text(known)
        )
        return self._kb.any_note if finds_them else ""

    def _may_be_note(self, target: str, call: ShellCall) -> bool:
        """Say whether what code says of where it writes may lead to notes; what says nothing may."""
        target = expand(target, call.scene.variables)
        spelled = [one[1] or one[2] for one in re.finditer(_SPELLED_PATH, target)]
        is_elsewhere = bool(spelled) or "mkdtemp" in target or "tempfile" in target
        return (
            not is_elsewhere
            or bool(self._named(target, call))
            or self._kb.above_in_text(target)
            or any(self._kb.find(one, call.cwd)[0] for one in spelled)
        )

    # Smaller questions

    def _named(self, text: str, call: ShellCall) -> str:
        return self._kb.in_text(text, call.cwd) if text else ""

    def _named_operand(self, call: ShellCall) -> str:
        found = (self._kb.find(one, call.cwd) for one in call.operands)
        return next((path for reach, path in found if reach is PathReach.INSIDE), "")

    def _inner(self, script: str, call: ShellCall, given: Sequence[str] = (), *, keeps: bool = False) -> str:
        """Judge a script that a command starts, with its own arguments; it prints what the command reads."""
        scene = call.scene.inner(call.folder, given, call.settings)
        if script.strip():
            self.script(script, scene)
        if keeps:
            call.scene.variables.update(scene.variables)
            call.scene.settle(call.scope, scene.cwd(()))
        return call.fed

    def _judge_unread(self, text: str, scene: ShellState) -> None:
        """Judge what no shell reads as we do by what it names, where nothing else stops it."""
        if verb := approval_in_text(text):
            raise _DeniedError(approval_denial(verb))
        if not self._ground.wall_stands():
            plain = text.replace("\\\n", "").translate(_QUOTING)
            self.code("sh", [plain], ShellCall([], scene.cwd(()), scene, text=self._text))

    def _may_go_on(self, spent: int) -> bool:
        """Say whether there is time for another command; without a wall, what takes longer is denied."""
        was, self._commands = self._commands, self._commands - spent
        if (
            self._commands < 0 <= was
            and not self._ground.wall_stands()
            and self._named(self._text, self.call)
        ):
            reason = "the call has more commands than can be judged in time, and names the knowledge base"
            raise _DeniedError(Denial(reason=reason, hint="make several calls of it"))
        return self._commands >= 0


def _shown(path: str) -> str:
    return re.sub(r"[^\w./~@+-]", "?", path)[:120]
