"""The judgement on shell commands: what they would do to the notes, by the table of programs.

It explains, and stops what is plain; what it doesn't understand it lets go. The kernel's wall stops that, and
the journal undoes it (design D23).
"""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Sequence
from itertools import product

from roamkb.guard import code_write_targets
from roamkb.guard import find_commands
from roamkb.guard.container_shares import writable_folders
from roamkb.guard.hook_tampering import QUOTING_SIGNS
from roamkb.guard.hook_tampering import disables_hooks
from roamkb.guard.hook_tampering import drops_prefix
from roamkb.guard.hook_tampering import is_project_settings
from roamkb.guard.hook_tampering import may_disable_hooks
from roamkb.guard.hook_tampering import starts_without_hooks
from roamkb.guard.human_only_commands import find_approval
from roamkb.guard.human_only_commands import find_approval_in_text
from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import PathReach
from roamkb.guard.paths import expand_variables
from roamkb.guard.paths import may_be_note
from roamkb.guard.policy import PROTECTED
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.policy import approval_denial
from roamkb.guard.policy import note_denial
from roamkb.guard.policy import patch_paths
from roamkb.guard.policy import protected_files
from roamkb.guard.policy import rule_denial
from roamkb.guard.policy import share_denial
from roamkb.guard.policy import unread_settings_denial
from roamkb.guard.shell_state import ShellCall
from roamkb.guard.shell_state import ShellState
from roamkb.harnesses.registry import declared
from roamkb.shell.programs import ASSIGNMENT
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import ShellScript
from roamkb.shell.programs import command_run
from roamkb.shell.programs import parse_words
from roamkb.shell.programs import script_of
from roamkb.shell.programs import stdin_of

_OPERATOR_SIGN = r"[;|&(<>\n]"
_DUPLICATED_DESCRIPTOR = r"\d*-?"
#: Print what they are given.
_ECHO_PROGRAMS = frozenset("echo printf realpath readlink dirname".split())
_SETTER_PROGRAMS = frozenset("export declare local readonly typeset".split())
_RULE_IN_TEXT = "|".join(re.escape(one).replace("/", r"\W{1,8}") for one in PROTECTED[:5])
_FOLDERS = tuple(dict.fromkeys(path.partition("/")[0] for path in declared("project_settings")))
_SETTINGS_IN_TEXT = rf"(?:{'|'.join(map(re.escape, _FOLDERS))})\W{{1,8}}settings(?:\.local)?\.json"
#: Of a piece of code, that is looked at one by one.
_PATH_PATTERN = r"[^\s'\"`;|&<>(){},=]*/[^\s'\"`;|&<>(){},=]+"
_MAX_PATHS = 50
_MAX_DEPTH = 6
#: Of one call, and so many words take as long as a command does.
_MAX_COMMANDS = 2000
_WORDS_OF_COMMAND = 4
#: Characters of scripts in scripts, by the length of the call.
_MAX_READ_RATIO = 5
_MAX_VALUE_LENGTH = 1024
_MAX_INPUT_WORDS = 200


class _DeniedError(Exception):
    """The denial of a call, raised to end its interpretation."""

    def __init__(self, denial: Denial) -> None:
        self.denial = denial


def judge_script(text: str, context: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a shell script is denied; `read` parses shell text."""
    return _ShellJudge(context, read, text).find_denial(lambda judge: judge.judge_script_text(text, judge.call.scene))


def judge_words(words: list[str], context: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a command is denied that is started without a shell."""
    command = ShellCommand(words=list(words))
    return _ShellJudge(context, read, " ".join(words)).find_denial(
        lambda judge: judge.judge_command(command, judge.call.scene)
    )


def judge_code(code: str, context: GuardContext, read: Callable[[str], ShellScript]) -> Denial | None:
    """Return why a piece of code is denied, in an unknown language."""
    return _ShellJudge(context, read, code).find_denial(lambda judge: judge.judge_code_texts("*", [code], judge.call))


def judge_path(path: str, contents: str, context: GuardContext, *, spares_hooks: bool) -> Denial | None:
    """Return why a file may not be written with `contents`; an edit of other settings `spares_hooks`."""
    judge = _ShellJudge(context, lambda text: ShellScript([], is_whole=not text), contents)
    return judge.find_denial(lambda judge: judge.judge_file(path, spares_hooks=spares_hooks))


class _ShellJudge:
    """The interpreter of one call, which a denied command ends."""

    def __init__(self, context: GuardContext, read: Callable[[str], ShellScript], text: str) -> None:
        self._ground = context
        self._read = read
        self._text = text
        self._rule = protected_files(context)
        self._kb = FolderNames(context.kb, home=context.home, resolve=context.resolve)
        user = posixpath.basename(context.home)
        home_variables = {"HOME": context.home, "PWD": context.cwd, "USER": user, "LOGNAME": user}
        #: What stands for the whole, where there is no command.
        self.call = ShellCall(
            [], context.cwd, ShellState(context.cwd, {**context.variables, **home_variables}, self._kb), text=text
        )
        self._depth = 0
        self._budget = _MAX_READ_RATIO * len(text)
        self._commands = _MAX_COMMANDS

    def find_denial(self, work: "Callable[[_ShellJudge], object]") -> Denial | None:
        """Run `work` and return the denial that it ends with; None without one."""
        try:
            work(self)
        except _DeniedError as denied:
            return denied.denial
        return None

    # Scripts and commands

    def judge_script_text(self, script: str, scene: ShellState) -> None:
        """Judge each command of a script."""
        self._budget -= len(script)
        if len(re.findall(_OPERATOR_SIGN, script)) > 2 * _MAX_COMMANDS:
            self._spend_commands(_MAX_COMMANDS + 1)
            return
        if self._depth > _MAX_DEPTH or self._budget < 0:
            self._judge_unread(script, scene)
            return
        self._depth += 1
        parsed = self._read(script)
        start = scene.folder_of_scope(())
        for command in parsed.commands:
            self.judge_command(command, scene)
        if scene.is_late:
            # what a loop reads is known behind its end
            scene.restart_in(start)
            for command in parsed.commands:
                self.judge_command(command, scene)
        self._depth -= 1
        if not parsed.is_whole:
            self._judge_unread(script, scene)

    def judge_command(self, command: ShellCommand, scene: ShellState) -> None:
        """Judge one simple command, and remember what it means for those behind it."""
        if not self._spend_commands(1 + len(command.words) // _WORDS_OF_COMMAND):
            return
        cwd, stdin = scene.folder_of_scope(command.scope), stdin_of(command)
        substituted = scene.nested.pop(command.scope, "")
        stdin = stdin and expand_variables(stdin, scene.variables)
        call = ShellCall(scene.expand_words(command, substituted), cwd, scene, stdin=stdin, text=self._text)
        call.scope, call.fed = command.scope, self._input_file(command, call, substituted)
        call.is_fed_unread = not command.spells_input
        for sign, target in command.redirections:
            if ">" in sign and not (sign.endswith("&") and re.fullmatch(_DUPLICATED_DESCRIPTOR, target)):
                contents = call.known_output(command)
                contents = contents if sign == ">" or contents == UNKNOWN else None
                self._deny_write(expand_variables(target, scene.variables), call, "the redirection", contents=contents)
        if not call.words and call.fed and scene.read:
            scene.variables.update(dict.fromkeys(scene.read, call.fed))
            scene.is_late = True
        emission = self._run_call(call) if call.words else ""
        scene.prints[id(command)] = emission
        if command.scope:
            outer = command.scope[:-1]
            scene.nested[outer] = scene.nested.get(outer) or emission

    def _input_file(self, command: ShellCommand, call: ShellCall, substituted: str) -> str:
        """Return the file that stands for those whose names a command reads as input."""
        if command.piped_from is not None:
            return call.scene.prints.get(id(command.piped_from), "")
        if command.stdin is not None and re.search(r"\$\(|`", command.stdin):
            return substituted
        targets = (target for sign, target in command.redirections if sign == "<")
        return substituted if any(word.startswith("<(") for word in (*command.words, *targets)) else ""

    def _run_call(self, call: ShellCall) -> str:
        """Judge the program of a command; return a file that stands for those whose names it prints."""
        scene = call.scene
        while call.words and (match := re.match(ASSIGNMENT, call.words[0])):
            name = re.split(r"[\[+=]", call.words[0], maxsplit=1)[0]
            call.settings[name] = self._variable_value(call.words[0][match.end() :])
            call.words = call.words[1:]
        words = call.words
        if drops_prefix(words, call.settings):
            raise _DeniedError(rule_denial())
        if not words:
            scene.variables.update(call.settings)
            return ""
        if len(words) == 1 and re.search(r"\s", words[0].strip()):
            return self._judge_inner_script(words[0], call)
        call.program, call.parsed = parse_words(words)
        if verb := find_approval(words, call.program, call.stdin or "", self._text):
            raise _DeniedError(approval_denial(verb))
        for assignment in words[1:] if words[0] in _SETTER_PROGRAMS else ():
            key, _, value = assignment.partition("=")
            scene.variables[key] = self._variable_value(value)
        self._judge_options(call)
        kind = "reads" if call.has_flag("show") else call.program.kind
        emission: str | None = getattr(self, f"_judge_{kind}")(call)
        scene.update_after(call)
        return emission or call.fed

    def _variable_value(self, value: str) -> str:
        """Return the value that a variable is set to."""
        value = value.strip("()")
        is_there = value == "~" or value.startswith("~/")
        return (self._ground.home + value[1:] if is_there else value)[:_MAX_VALUE_LENGTH]

    # What words mean

    def _judge_options(self, call: ShellCall) -> None:
        """Judge the options alone, and determine the folder in which the program works."""
        for place in filter(None, call.option_values("in")):
            is_near = any(names.find_reach(call.folder, "/")[0] for names in (self._kb, self._rule))
            if not is_near or call.folder == call.cwd:
                call.folder = self._kb.resolve_word(place, call.folder).removesuffix("/.git")
        for word in call.option_values("out"):
            if word != "-":
                self._deny_write(word, call, contents=UNKNOWN)
        for word in call.option_values("run") if call.program.kind not in ("runs", "starts") else ():
            # `-c core.pager=…`, `--checkpoint-action=exec=…`
            self._judge_inner_script(re.sub(r"^[\w.-]+=", "", word).lstrip("|!"), call)
        self._judge_shares(call)
        if call.option_values("code") and call.program.kind not in ("code", "edits"):
            self.judge_code_texts(call.command_name, call.option_values("code"), call)
        if call.has_flag("all"):
            self._write_all(call)

    def _judge_shares(self, call: ShellCall) -> None:
        """Judge what a container is shown, by a folder around it as well."""
        folders = (folder for value in call.option_values("share") for folder in writable_folders(value))
        for folder, names in product(folders, (self._rule, self._kb)):
            reach, path = names.find_reach(folder, call.folder)
            if reach and UNKNOWN not in path:
                raise _DeniedError(share_denial(call.command_name, _printable_path(path)))

    def _write_all(self, call: ShellCall, how: str = "") -> None:
        has_code = call.has_flag("first") and not call.option_values("code")
        for word in call.operands[int(has_code) :]:
            if not (call.has_flag("link") and self._is_link_elsewhere(word, call)):
                self._deny_write(word, call, how="deep" if call.has_flag("deep") else how)

    def _judge_reads(self, call: ShellCall) -> str:
        operands = call.operands
        if call.has_flag("last") and len(operands) > 1:
            self._deny_write(operands[-1], call, contents=UNKNOWN)
        if call.has_flag("archive") and operands:
            self._deny_write(operands[0], call, contents=UNKNOWN)
        return (
            self._named_operand(call) or self._path_in_text(" ".join(operands), call)
            if call.command_name in _ECHO_PROGRAMS
            else ""
        )

    _judge_spares = _judge_reads

    def _judge_lists(self, call: ShellCall) -> str:
        globs = [glob for glob in call.option_values("glob") if not glob.startswith("!")]
        if globs and not any(glob == "org" or may_be_note(glob) for glob in globs):
            return ""
        operands = call.operands[int(call.has_flag("first") and "-e" not in call.words) :]
        is_tree = call.has_flag("tree") or call.has_flag("deep")
        for word in operands or (["."] if is_tree or call.command_name == "ls" else []):
            reach, path = self._kb.find_reach(word, call.folder)
            if reach is PathReach.INSIDE or (reach and is_tree):
                return self._kb.any_note
            if reach:
                return path.rstrip("*") + "/*"
        return self._kb.any_note if call.command_name == "roamkb" else ""

    def _judge_writes(self, call: ShellCall) -> None:
        # what has an output of its own leaves its operands alone
        if not call.option_values("out"):
            self._write_all(call)
        if call.has_flag("here"):
            self._deny_write(".", call)

    def _judge_edits(self, call: ShellCall) -> None:
        code = [*call.option_values("code"), *([call.stdin] if call.stdin else [])]
        if code:
            self.judge_code_texts(call.command_name, code, call)
        else:
            self._write_all(call)

    def _judge_moves(self, call: ShellCall) -> None:
        self._write_all(call, "deep")
        if call.command_name == "mv":
            self._judge_last(call)

    def _judge_last(self, call: ShellCall) -> None:
        """Judge the targets of copies: in the folder by their own names, or at the one given name."""
        folders = call.option_values("to")
        *sources, destination = [*call.operands, *folders[-1:]] or [""]
        options = [word for word in call.words if word.startswith("-")]
        reach, path = self._kb.find_reach(destination, call.folder)
        is_file = reach is PathReach.INSIDE and path not in self._kb.folders and re.search(r"\.\w+$", path)
        is_exact = (
            (is_file and not folders)
            or self._is_settings(self._kb.resolve_word(destination, call.folder))
            or (call.command_name == "rsync" and any(target.endswith("/") for target in sources))
            or (call.command_name == "ln" and any(re.match(r"-[a-zA-Z]*[Tnh]", target) for target in options))
        )
        landed = [posixpath.join(destination, posixpath.basename(target.rstrip("/"))) for target in sources]
        how = "filled" if not is_file and (is_exact or call.has_flag("deep") or call.command_name == "mv") else ""
        for target in [destination] if is_exact and sources else landed:
            self._deny_write(target, call, how=how)

    def _judge_fills(self, call: ShellCall) -> None:
        self._deny_write(call.folder, call, how="filled")
        for word in call.operands if call.command_name == "patch" else ():
            self._deny_write(word, call)

    def _judge_makes(self, call: ShellCall) -> None:
        for word in call.operands:
            self._deny_write(word, call, how="new")

    def _judge_tends(self, call: ShellCall) -> None:
        if call.option_values("in") or call.command_name == "git":
            self._deny_reach(call.folder, call, f"`{call.command_name}` would work in {{path}}", "new")

    def _judge_litters(self, call: ShellCall) -> None:
        for word in call.operands or ["."]:
            self._deny_write(posixpath.join(word, ".git" if call.command_name == "git" else ".venv"), call)

    def _judge_runs(self, call: ShellCall) -> str:
        return self._start_command(command_run(call.program, call.parsed), call, input_file=call.fed)

    _judge_starts = _judge_runs

    def _start_command(self, words: list[str], call: ShellCall, *, input_file: str = "") -> str:
        """Judge a command that another command starts."""
        if not words or self._depth > _MAX_DEPTH or not self._spend_commands(1):
            return ""
        inner = ShellCall(words, call.folder, call.scene, stdin=call.stdin, text=self._text)
        inner.fed, inner.scope, inner.settings = input_file, call.scope, dict(call.settings)
        inner.is_fed_unread = call.is_fed_unread
        self._depth += 1
        emission = self._run_call(inner)
        self._depth -= 1
        return emission

    def _judge_each(self, call: ShellCall) -> str:
        """Judge the command that xargs or parallel starts with its input."""
        words = [*call.operands, *call.parsed.rest]
        own_words, text = call.words[1 : len(call.words) - len(words)], call.stdin or ""
        mark = find_commands.input_mark(own_words) or (
            "{}" if call.command_name == "parallel" and "{}" in " ".join(words) else ""
        )
        input_words = text.splitlines() if mark else text.split()[:_MAX_INPUT_WORDS]
        if call.fed and (not input_words or re.search(r"[$`]", text)):
            input_words = [call.fed]
        return self._start_command(
            find_commands.add_input_words(words or ["echo"], input_words or [UNKNOWN], mark), call
        )

    def _judge_finds(self, call: ShellCall) -> str:
        search = find_commands.FindCall(call.words)
        found_path = next(
            (
                names.any_note if is_note else file
                for names, is_note in ((self._kb, True), (self._rule, False))
                for folder in search.folders
                if (reach_and_path := names.find_reach(folder, call.cwd))[0]
                for file in names.folders
                if search.may_find(reach_and_path[1], file, is_note=is_note)
            ),
            "",
        )
        for word in search.outputs:
            self._deny_write(word, call)
        if search.deletes and found_path:
            self._deny_write(found_path, call, how="deep")
        for words in search.commands:
            self._start_command(find_commands.add_found_file(words, found_path or UNKNOWN), call)
        return found_path

    def _judge_shell(self, call: ShellCall) -> None:
        words = call.words
        self._deny_reach(call.fed, call, f"`{call.command_name}` is fed with names of notes")
        script = script_of(words, call.stdin)
        if script is not None:
            positional = words[words.index(script) + 1 :] if script in words else [words[0], *call.operands[1:]]
            self._judge_inner_script(script, call, positional, keeps=words[0] == "eval")

    def _judge_text(self, call: ShellCall) -> None:
        """Judge a command whose operands are shell text."""
        for word in call.operands[: 1 if call.has_flag("first") else None]:
            if re.search(r"\s", word):
                self._judge_inner_script(word, call)

    def _judge_code(self, call: ShellCall) -> None:
        code = [*call.option_values("code"), *call.option_values("also")]
        operands = call.operands
        if call.has_flag("text"):
            code += operands
        elif call.has_flag("first") and not call.option_values("code"):
            code += operands[:1]
        if call.stdin and not any(code):
            code.append(call.stdin)
        self.judge_code_texts(call.command_name, code, call)

    def _judge_harness(self, call: ShellCall) -> None:
        operands = set(call.operands)
        drops = (
            "plugin" in operands and {"disable", "uninstall", "remove"} & operands and "roamkb" in " ".join(operands)
        )
        if drops or starts_without_hooks(call.parsed, call.settings):
            raise _DeniedError(rule_denial())

    def _judge_removes(self, call: ShellCall) -> None:
        is_ours = any(re.match(r"roamkb\b(?!-)", operand) for operand in call.operands)
        if is_ours and not {"install", "upgrade", "list"}.intersection(call.operands):
            raise _DeniedError(rule_denial())

    def _judge_patch(self, call: ShellCall) -> None:
        for path in patch_paths("\n".join([*call.words[1:], call.stdin or ""])):
            self._deny_write(path, call, "the patch")

    # What may not be written

    def judge_file(self, path: str, *, spares_hooks: bool) -> None:
        """Judge a file that a tool writes."""
        is_rule = not spares_hooks and self._rule.find_reach(path, self.call.cwd)[0] is PathReach.INSIDE
        if is_rule or (self._is_settings(self._kb.resolve_word(path, self.call.cwd)) and disables_hooks(self._text)):
            raise _DeniedError(rule_denial())
        self._deny_reach(path, self.call, "the tool would write to {path}")

    def _deny_write(
        self, word: str, call: ShellCall, actor: str = "", how: str = "", *, contents: str | None = None
    ) -> None:
        """Judge a word that names a path that would be written.

        `how`: it is taken along with all that lies below (`deep`), much is put into it (`filled`), or
        nothing was there before (`new`). `contents` is all that will be in it, None where the call
        spells it out in several places, UNKNOWN where it doesn't.
        """
        reach, path = self._rule.find_reach(word, call.folder)
        if reach is PathReach.INSIDE or (reach and self._includes_contents(path, how)):
            raise _DeniedError(rule_denial())
        if self._is_settings(self._kb.resolve_word(word, call.folder)):
            if contents == UNKNOWN or call.program.kind in ("last", "moves") or call.is_fed_unread:
                raise _DeniedError(unread_settings_denial())
            if self._may_disable_hooks(contents):
                raise _DeniedError(rule_denial())
        self._deny_reach(word, call, f"{actor or f'`{call.command_name}`'} would write to {{path}}", how)

    def _may_disable_hooks(self, contents: str | None) -> bool:
        """Say whether settings may come to turn hooks off: by their contents, else by all that the call says."""
        if contents is not None:
            return disables_hooks(contents)
        return may_disable_hooks(self._text)

    def _deny_reach(self, word: str, call: ShellCall, statement: str, how: str = "") -> None:
        reach, path = self._kb.find_reach(word, call.folder)
        if reach is PathReach.INSIDE or (reach and self._includes_contents(path, how)):
            # what is filled or lies above holds notes that nobody names
            place = path if reach is PathReach.INSIDE and how != "filled" else f"{path}/*"
            denial = note_denial(place, statement.format(path=_printable_path(path)), self._ground, is_new=how == "new")
            if denial:
                raise _DeniedError(denial)

    def _includes_contents(self, path: str, how: str) -> bool:
        """Say whether a folder around the notes is changed with all its contents."""
        # a whole home is unpacked into and undone for other reasons
        is_near = path.startswith(self._ground.home.rstrip("/") + "/") and not re.search(r"[*?\[]", path)
        return UNKNOWN not in path and (how == "deep" or (how == "filled" and is_near))

    def _is_link_elsewhere(self, word: str, call: ShellCall) -> bool:
        """Say whether a word names only an entry of a folder that has nothing to do with notes."""
        folder = posixpath.dirname(self._kb.resolve_word(word, call.folder))
        return (
            not word.endswith("/")
            and not self._kb.find_reach(folder, "/")[0]
            and not self._rule.find_reach(folder, "/")[0]
        )

    def _is_settings(self, place: str) -> bool:
        return UNKNOWN not in place and (is_project_settings(place) or is_project_settings(self._ground.resolve(place)))

    def judge_code_texts(self, language: str, texts: Sequence[str], call: ShellCall) -> None:
        """Judge code: it names notes, or a folder around and `.org`, and has a verb of writing.

        That is a guess, which nobody needs about notes where the wall stands.
        """
        code = "\n".join(texts)
        if not code.strip():
            return
        if verb := find_approval_in_text(code):
            raise _DeniedError(approval_denial(verb))
        note_path = self._note_path_in_code(code, call)
        plain = code.translate(QUOTING_SIGNS)
        at_settings = _SETTINGS_IN_TEXT if posixpath.basename(call.cwd) not in _FOLDERS else "settings"
        names_rule = re.search(_RULE_IN_TEXT, plain) or (re.search(at_settings, plain) and may_disable_hooks(code))
        is_guess = call.program.kind != "edits"
        if not names_rule and (not note_path or (is_guess and self._ground.wall_stands())):
            return
        if not any(
            names_rule or self._may_be_note(target, call)
            for target in code_write_targets.find_write_targets(language, code)
        ):
            return
        denial = rule_denial() if names_rule else None
        denial = denial or note_denial(
            note_path, f"`{_printable_path(language)}` may write to {_printable_path(note_path)}", self._ground
        )
        if denial:
            raise _DeniedError(denial)

    def _note_path_in_code(self, code: str, call: ShellCall) -> str:
        """Return the path of notes that code names or finds; empty where it does neither."""
        surrounding_text = code if call.has_flag("filter") else "\n".join([code, *call.words])
        expanded = expand_variables(surrounding_text, call.scene.variables)
        if note_path := self._path_in_text(expanded, call):
            return note_path
        reach = self._kb.find_reach(call.cwd, "/")[0]
        if reach is PathReach.INSIDE:
            return call.cwd + "/*"
        if not call.has_flag("filter") and (note_path := self._named_operand(call) or call.fed):
            return note_path
        for candidate in [*dict.fromkeys(re.findall(_PATH_PATTERN, expanded))][:_MAX_PATHS]:
            candidate_reach, path = self._kb.find_reach(candidate, call.cwd)
            if candidate_reach is PathReach.INSIDE:
                return path
        return self._kb.any_note if reach and "*.org" in code else ""

    def _may_be_note(self, target: str, call: ShellCall) -> bool:
        """Say whether the target of a write in code may lead to notes; an empty one may."""
        target = expand_variables(target, call.scene.variables)
        # `HOME + "/org"`
        places = (target, f"~/{target}")
        return not target or any(self._path_in_text(p, call) or self._kb.find_reach(p, call.cwd)[0] for p in places)

    # Smaller questions

    def _path_in_text(self, text: str, call: ShellCall) -> str:
        return self._kb.find_in_text(text, call.cwd) if text else ""

    def _named_operand(self, call: ShellCall) -> str:
        reaches = (self._kb.find_reach(operand, call.cwd) for operand in call.operands)
        return next((path for reach, path in reaches if reach is PathReach.INSIDE), "")

    def _judge_inner_script(
        self, script: str, call: ShellCall, positional: Sequence[str] = (), *, keeps: bool = False
    ) -> str:
        """Judge a script that a command starts, with its own arguments; it prints what the command reads."""
        scene = call.scene.inner_state(call.folder, positional, call.settings)
        if script.strip():
            self.judge_script_text(script, scene)
        if keeps:
            call.scene.variables.update(scene.variables)
            call.scene.set_folder(call.scope, scene.folder_of_scope(()))
        return call.fed

    def _judge_unread(self, text: str, scene: ShellState) -> None:
        """Judge unparsed shell text by the names in it, where no wall stops it."""
        if verb := find_approval_in_text(text):
            raise _DeniedError(approval_denial(verb))
        if not self._ground.wall_stands():
            plain = text.replace("\\\n", "").translate(QUOTING_SIGNS)
            self.judge_code_texts("sh", [plain], ShellCall([], scene.folder_of_scope(()), scene, text=self._text))

    def _spend_commands(self, spent: int) -> bool:
        """Count commands; say whether more may be judged. Without a wall, an excess is denied."""
        remaining_before, self._commands = self._commands, self._commands - spent
        if (
            self._commands < 0 <= remaining_before
            and not self._ground.wall_stands()
            and self._path_in_text(self._text, self.call)
        ):
            reason = "the call has more commands than can be judged in time, and names the knowledge base"
            raise _DeniedError(Denial(reason=reason, hint="make several calls of it"))
        return self._commands >= 0


def _printable_path(path: str) -> str:
    return re.sub(r"[^\w./~@+-]", "?", path)[:120]
