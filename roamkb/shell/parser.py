"""The parser of shell text: its simple commands, with their words as the shell would pass them on.

Reads what bash and zsh agree on: quotes, escapes, operators, redirections, heredocs, subshells and
substitutions, by bash's manual and, where that is silent, by what bash 5.2 does. Nothing is expanded:
`$NAME`, `$(…)`, globs and braces stay as written, but for `$(cat <<EOF …)` and `$(echo …)`, whose values
are known.
Every character is read once, whatever the text is; there is no error.
"""

import re

from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import ShellScript
from roamkb.shell.programs import printed_text

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = r"#[^\n]*+"
_OPERATOR = re.compile(
    # `>!` is zsh's `>|`
    r"(?P<redirect>&>>?|<<<|<<-?|[<>]&|<>|>>?!(?=[ \t])|>>|>\||[<>](?!\())"
    r"|(?P<other>&&|\|\||\|&|;;&|;;|;&|[;&|()\n])"
)
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;&|<>()]++")
_PLAIN_IN_DOUBLE = r"[^\"\\$`]++"
_PLAIN_IN_BRACES = r"[^}'\"\\$`]++"
_IN_SINGLE = r"'([^']*+)'"
_IN_ANSI = r"(?s)\$'((?:[^'\\]|\\.)*)'"
_IN_BACKTICKS = r"(?s)`((?:[^`\\]|\\.)*)`"
_ESCAPED = r"\\([$`\\\n])"
_EXPANSION = r"(?<!\\)(?:\\\\)*[$`]"
_INDENTATION = r"(?m)^\t++"
#: The tabs of a line that continues another are none of its indentation.
_ESCAPED_OR_INDENTATION = r"(?m)\\([$`\\]|\n\t*+)|^\t++"
_DESCRIPTOR = r"\d+|\{\w+\}"
_ANSI_ESCAPE = (
    r"(?P<bytes>(?:\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3})+)|\\u(?P<u>[0-9a-fA-F]{1,4})"
    r"|\\U(?P<U>[0-9a-fA-F]{1,8})|\\c(?P<control>[?-_a-z])|\\(?P<letter>[abeEfnrtv\\'\"?])"
)
_ANSI_BYTE = r"\\x([0-9a-fA-F]+)|\\([0-7]+)"
_ANSI_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_FUNCTION = r"\([ \t]*+\)"
#: `"$a"b` isn't `$ab`.
_NAME_THAT_ENDS = re.compile(r"\$([A-Za-z_]\w*+|\d)(?=['\"\\]++\w)")
#: What stands before a command and is none.
_RESERVED = frozenset("if then elif else fi while until do done case esac ! { }".split())
#: A `(` right behind one of these belongs to the word: an array, a pattern.
_BEFORE_PATTERN = ("=", "?", "*", "+", "@", "!")
#: More levels of substitutions than anybody writes, and few enough for Python's own stack.
_DEEPEST = 40
_DEEPEST_SUBSHELL = 400


def read_commands(text: str) -> list[ShellCommand]:
    """Return the simple commands of `text` in their order, those of a substitution before its command.

    Of a line with an unclosed quote or a stray parenthesis a shell runs nothing: such a line, and what
    follows it, has no commands here either.
    """
    return [command for command in read_script(text).commands if command.words]


def read_script(text: str) -> ShellScript:
    """Return all commands, bare redirections included, and whether the whole text was read."""
    reader = _ShellReader(text, depth=0)
    return ShellScript(reader.read_all(), is_whole=reader.is_whole)


class _FaultError(Exception):
    """A syntax error of the shell, or substitutions nested too deeply."""


class _PendingHeredoc:
    """A heredoc whose text is still to come."""

    __slots__ = ("command", "end", "is_indented", "is_quoted")

    def __init__(self, command: ShellCommand, end: str, *, is_quoted: bool, is_indented: bool) -> None:
        self.command = command
        self.end = end
        self.is_quoted = is_quoted
        self.is_indented = is_indented


class _ShellReader:
    """A position in a text, with the commands found before it."""

    def __init__(self, text: str, *, depth: int, scope: tuple[int, ...] = ()) -> None:
        self.is_whole = True
        self._text = text
        self._at = 0
        self._depth = depth
        self._scope = scope
        self._found: list[ShellCommand] = []
        #: How many commands stood on lines that are known to be whole.
        self._whole = 0
        self._closing = _closing_parentheses(text)
        self._expansions = 0

    def read_all(self) -> list[ShellCommand]:
        try:
            self._read_list(is_nested=False)
        except _FaultError:
            self.is_whole = False
            del self._found[self._whole :]
        return self._found

    def _read_list(self, *, is_nested: bool) -> None:  # noqa: C901 - one loop over the grammar
        """Read commands up to the end, or behind the `)` that closes a substitution."""
        command = ShellCommand(scope=self._scope)
        opened: list[str] = []
        heredocs: list[_PendingHeredoc] = []
        while True:
            self._skip_match(_BLANKS)
            if self._next_character() == "#":
                self._skip_match(_COMMENT)
            if self._at == len(self._text):
                if is_nested:
                    raise _FaultError
                self._finish_command(command)
                return
            operator = _OPERATOR.match(self._text, self._at)
            if operator is None:
                self._add_word(command, opened, heredocs)
                continue
            if operator["redirect"]:
                self._read_redirection(command, "", heredocs)
                continue
            sign = operator["other"]
            if sign == "(" and self._skip_arithmetic():
                continue
            if sign == "(" and command.words and not self._may_open_behind(command.words):
                raise _FaultError
            self._at = operator.end()
            self._finish_command(command)
            if sign == "(":
                self._enter_subshell()
            elif sign == ")" and opened[-1:] == ["("]:
                self._scope = self._scope[:-1]
            is_piped = sign in ("|", "|&")
            command = ShellCommand(
                piped_from=command if is_piped and command.words else None,
                is_fed=is_piped or (sign == "(" and command.is_fed),
                scope=self._scope,
            )
            if sign == "\n":
                self._read_heredocs(heredocs, is_nested=is_nested)
                self._whole = self._whole if is_nested else len(self._found)
            elif sign == "(":
                opened.append(sign)
            elif sign == ")" and not opened:
                if is_nested:
                    return
                raise _FaultError
            # in a `case` it only ends a pattern
            elif sign == ")" and opened[-1] == "(":
                opened.pop()

    def _may_open_behind(self, words: list[str]) -> bool:
        """Say whether a parenthesis may follow words: in `case`, in `[[`, in the head of a function."""
        return bool(words[0] in ("case", "[[") or "=~" in words or re.compile(_FUNCTION).match(self._text, self._at))

    def _finish_command(self, command: ShellCommand) -> None:
        if command.words or command.redirections or command.stdin:
            self._found.append(command)

    def _add_word(self, command: ShellCommand, opened: list[str], heredocs: list[_PendingHeredoc]) -> None:
        start, expansions = self._at, self._expansions
        word = self._read_word()
        command.expands |= self._expansions > expansions
        if self._next_character() in ("<", ">") and re.fullmatch(_DESCRIPTOR, written := self._text[start : self._at]):
            self._read_redirection(command, written, heredocs)
        elif command.words or word not in _RESERVED:
            command.words.append(word)
            return
        if word == "case":
            opened.append("case")
            command.words.append(word)
        elif word == "esac" and opened[-1:] == ["case"]:
            opened.pop()

    def _read_redirection(self, command: ShellCommand, descriptor: str, heredocs: list[_PendingHeredoc]) -> None:
        """Read a redirection with its target; record its effect on standard input and output."""
        operator = _OPERATOR.match(self._text, self._at)
        if operator is None or not operator["redirect"]:
            return
        sign, self._at = operator["redirect"], operator.end()
        self._skip_match(_BLANKS)
        start, expansions = self._at, self._expansions
        target = self._read_word()
        if sign in ("<<", "<<-"):
            is_quoted = any(mark in self._text[start : self._at] for mark in "'\"\\")
            reader = command if descriptor in ("", "0") else ShellCommand()
            heredocs.append(_PendingHeredoc(reader, target, is_quoted=is_quoted, is_indented=sign == "<<-"))
        elif sign == "<<<":
            command.stdin = target + "\n" if descriptor in ("", "0") else command.stdin
            command.expands |= self._expansions > expansions
        else:
            command.redirections.append((sign, target))
        if sign in (">", ">|") and descriptor in ("", "1"):
            command.output = target
        elif sign[0] in "&>" and descriptor in ("", "1"):
            command.output = ""

    def _read_heredocs(self, heredocs: list[_PendingHeredoc], *, is_nested: bool) -> None:
        """Read the texts that begin on this line; one without an end runs to the end of all."""
        for heredoc in heredocs:
            tabs = r"\t*+" if heredoc.is_indented else ""
            # bash takes `EOF)` for the end, too, where the parenthesis closes the substitution
            ending = r"(?:\n|\Z|(?=[ \t]*\)))" if is_nested else r"(?:\n|\Z)"
            end = re.compile(f"^{tabs}{re.escape(heredoc.end)}{ending}", re.MULTILINE).search(self._text, self._at)
            body = self._text[self._at : end.start() if end else None]
            self._at = end.end() if end else len(self._text)
            if heredoc.is_quoted:
                body = re.sub(_INDENTATION, "", body) if heredoc.is_indented else body
            else:
                heredoc.command.expands |= re.search(_EXPANSION, body) is not None
                body = re.sub(_ESCAPED_OR_INDENTATION if heredoc.is_indented else _ESCAPED, _unescape_match, body)
            heredoc.command.stdin = body
        heredocs.clear()

    def _read_word(self) -> str:
        parts: list[str] = []
        while True:
            sign = self._next_character()
            if sign in ("<", ">") and not parts and self._text.startswith("(", self._at + 1):
                parts.append(self._read_substitution(2))
            elif sign == "(" and parts and parts[-1].endswith(_BEFORE_PATTERN):
                parts.append(self._read_substitution(1, runs=False))
            elif sign and sign not in " \t\n;&|<>()":
                parts.append(self._read_piece(sign))
            else:
                return "".join(parts)

    def _read_piece(self, sign: str) -> str:
        match sign:
            case "'":
                return self._take_match(_IN_SINGLE)[1]
            case '"':
                return self._read_double()
            case "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                self._at += 1 + len(escaped)
                return "" if escaped == "\n" else escaped or "\\"
            case "$":
                return self._read_dollar(is_quoted=False)
            case "`":
                return self._read_backticks()
            case _:
                return self._take_match(_PLAIN)[0]

    def _read_double(self) -> str:
        parts: list[str] = []
        self._at += 1
        while (sign := self._next_character()) != '"':
            if sign == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                self._at += 1 + len(escaped)
                parts.append("" if escaped == "\n" else escaped if escaped in '$`"\\' else "\\" + escaped)
            elif sign == "$":
                parts.append(self._read_dollar(is_quoted=True))
            elif sign == "`":
                parts.append(self._read_backticks())
            else:
                parts.append(self._take_match(_PLAIN_IN_DOUBLE)[0])
        self._at += 1
        return "".join(parts)

    def _read_dollar(self, *, is_quoted: bool) -> str:
        next_character = self._text[self._at + 1 : self._at + 2]
        self._expansions += next_character not in "'\""
        if next_character == "(":
            start = self._at
            self._at += 1
            if self._skip_arithmetic():
                return self._text[start : self._at]
            self._at = start
            return self._read_substitution(2)
        if next_character == "{":
            return self._read_braces(is_quoted=is_quoted)
        if next_character == "'" and not is_quoted:
            return re.sub(_ANSI_ESCAPE, _ansi_character, self._take_match(_IN_ANSI)[1]).partition("\0")[0]
        if name_match := _NAME_THAT_ENDS.match(self._text, self._at):
            self._at = name_match.end()
            return f"${{{name_match[1]}}}"
        self._at += 1
        return "" if next_character == '"' and not is_quoted else "$"

    def _read_substitution(self, opening: int, *, runs: bool = True) -> str:
        """Read `$(…)`, `<(…)` or `(…)`: keep its commands, and return its text as written."""
        start, count_before, scope = self._at, len(self._found), self._scope
        self._expansions += 1
        self._at += opening
        self._enter_nesting()
        self._enter_subshell()
        self._read_list(is_nested=True)
        self._depth, self._scope = self._depth - 1, scope
        commands = self._found[count_before:]
        if not runs:
            del self._found[count_before:]
        return _substitution_value(commands, self._text[start : self._at])

    def _read_braces(self, *, is_quoted: bool) -> str:
        start = self._at
        self._at += 2
        self._enter_nesting()
        while (sign := self._next_character()) != "}":
            if sign == "'" and is_quoted:
                self._at += 1
            elif sign and sign in "'\"\\$`":
                self._read_piece(sign)
            else:
                self._take_match(_PLAIN_IN_BRACES)
        self._depth -= 1
        self._at += 1
        return self._text[start : self._at]

    def _read_backticks(self) -> str:
        written = self._take_match(_IN_BACKTICKS)
        self._expansions += 1
        self._enter_nesting()
        inner = _ShellReader(
            re.sub(_ESCAPED, _unescape_match, written[1]), depth=self._depth, scope=(*self._scope, -self._at)
        )
        commands = inner.read_all()
        self.is_whole &= inner.is_whole
        self._depth -= 1
        self._found += commands
        return _substitution_value(commands, written[0])

    def _enter_subshell(self) -> None:
        """Begin a subshell or the like, numbered by its position."""
        if len(self._scope) > _DEEPEST_SUBSHELL:
            raise _FaultError
        self._scope = (*self._scope, self._at)

    def _enter_nesting(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _FaultError

    def _skip_arithmetic(self) -> bool:
        """Skip `((…))`, where `<<` is no heredoc, and say whether there was one."""
        end = self._closing.get(self._at)
        is_arithmetic = end is not None and self._closing.get(self._at + 1) == end - 1
        if end is not None and is_arithmetic:
            self._at = end + 1
        return is_arithmetic

    def _next_character(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_match(self, pattern: str | re.Pattern[str]) -> None:
        if match := re.compile(pattern).match(self._text, self._at):
            self._at = match.end()

    def _take_match(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        match = re.compile(pattern).match(self._text, self._at)
        if match is None:
            raise _FaultError
        self._at = match.end()
        return match


def _closing_parentheses(text: str) -> dict[int, int]:
    """Return the closing place of each parenthesis, quoted or not."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    if "((" in text:
        for parenthesis in re.finditer(r"[()]", text):
            if parenthesis[0] == "(":
                opened.append(parenthesis.start())
            elif opened:
                closing[opened.pop()] = parenthesis.start()
    return closing


def _substitution_value(commands: list[ShellCommand], written: str) -> str:
    """Return the output of a substitution where it is known, else the text as written."""
    only = commands[0] if len(commands) == 1 else None
    value = printed_text(only) if only is not None and only.output is None else None
    return written if value is None or not written.startswith(("$(", "`")) else value.rstrip("\n")


def _unescape_match(match: re.Match[str]) -> str:
    return (match[1] or "").removeprefix("\n")


def _ansi_character(match: re.Match[str]) -> str:
    if run := match["bytes"]:
        numbers = (int(byte[1], 16) if byte[1] else int(byte[2], 8) & 255 for byte in re.finditer(_ANSI_BYTE, run))
        return bytes(numbers).decode(errors="replace")
    if code := match["u"] or match["U"]:
        number = int(code, 16)
        return match[0] if number > 0x10FFFF or 0xD800 <= number < 0xE000 else chr(number)
    if control := match["control"]:
        return "\x7f" if control == "?" else chr(ord(control.upper()) & 31)
    return _ANSI_LETTERS[match["letter"]]
