"""Errors in a program's output: the line that tells most, and the error's name.

Whole outputs are read (tracebacks, compilers, test runs, shells, package managers, databases) as well as
one line by itself. Nothing here fails: of what it doesn't know, it takes the line that sounds worst.
"""

import errno
import re
from collections.abc import Iterator
from typing import Final

from roamkb.core.data_tables import data_lines as lines_of
from roamkb.core.data_tables import data_rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import strip_hidden
from roamkb.secrets.detector import mask_secrets
from roamkb.text.store.lexicons import alternatives_pattern

#: Characters of a long output that are read at its beginning and at its end, where the telling lines are.
_HEAD_LENGTH: Final = 30_000
_TAIL_LENGTH: Final = 50_000
#: Lines of it likewise; many lines cost more than long ones.
_FIRST_LINES: Final = 600
_LAST_LINES: Final = 900
#: Characters of a line; messages of databases can hold a whole query.
_LONGEST_LINE: Final = 1_000
#: From this weight on, a line tells what happened by itself, and not only that something did.
_TELLING_WEIGHT: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLine:
    """One line that names an error."""

    #: Its class or code, as its program calls it (`KeyError`, `E0382`, `ENOENT`); empty where it has none.
    name: str
    message: str
    #: How surely this is the error, and not what became of it; 1 to 9.
    weight: int
    #: Whether of several such lines the first one is it (compilers), or the last (tracebacks).
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class _ErrorForm:
    """A form of error lines, by `data/error_forms.tsv`."""

    weight: int
    pattern: re.Pattern[str]
    is_first: bool = False


def _load_error_forms() -> Iterator[_ErrorForm]:
    for weight, which, pattern in data_rows("error_forms.tsv"):
        if weight == "let":
            _PARTS[f"<{which}>"] = pattern
        else:
            pattern = re.sub("<[A-Z]+>", lambda part: _PARTS[part[0]], pattern)
            yield _ErrorForm(int(weight), re.compile(pattern), which == "first")


#: Expressions that forms are put together from, by their names.
_PARTS: Final[dict[str, str]] = {}
_FORMS: Final = tuple(_load_error_forms())
#: A class of errors.
_CLASS: Final = _PARTS["<CLASS>"]
#: A class at the beginning of a line, anywhere in it, or alone at its end.
_CLASS_AT_START: Final = lazily(
    rf"(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?(?:: (?P<message>.*)| (?P<quoted>['\"].+)|:?)"
)
_CLASS_WITHIN: Final = lazily(rf"(?<![\w$.:\\])(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?: (?P<message>\S.*)")
_CLASS_AT_END: Final = lazily(rf".*: (?P<name>{_CLASS})")
#: What only a traceback, or its package, calls an error: `psycopg2.errors.UndefinedTable: …`
_RAISED: Final = lazily(r"(?P<name>(?:[a-z_]\w*\.)+[A-Z]\w*)(?:: (?P<message>.*)|:?)")
_PACKAGE: Final = lazily(r"[\w.]*\b(?:exceptions?|errors?|exc)\.[A-Z]\w*:")
#: In which no class is one that was raised.
_CODE: Final = lazily(r"\s*(?:except|raise|raises|catch|throw|throws|class|import|from|def)\b")
_FAILURE_WORDS: Final = lazily(rf"\b{alternatives_pattern('failures')}\b", re.IGNORECASE)
#: A place in a stack, which tells nothing by itself.
_FRAME: Final = lazily(r"\s+at \S")
_PANICKED: Final = lazily(r"thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:")

_ANSI: Final = lazily(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
#: What stands before the message: a service of Compose, a time, a host's syslog, a thread, a level, a mark.
_PREFIXES: Final = tuple(map(re.compile, lines_of("output_prefixes.txt")))
#: Of one group of exceptions, drawn with bars.
_BARS: Final = lazily(r"\s*(?:\+-\+-{3,}.*|\+-{3,}.*|[|+](?: |$)+)")

_ERRNO: Final = frozenset({*errno.errorcode.values(), "ENOTFOUND", "EAI_AGAIN"})
_ERRNO_WORD: Final = lazily(r"(?:^|(?<=[\s:(]))(E[A-Z_0-9]{3,})\b:? ?")
#: Says only that it is an error.
_GENERIC: Final = frozenset({"Error", "Exception", "Failure", "Fault"})


def error_lines(output: str) -> list[ErrorLine]:
    """Return the error lines of an output, the one that tells most first.

    Of a text without any, the last line is it; of no text, there is none.
    """
    numbered_lines: list[tuple[int, ErrorLine]] = []
    last_line = ""
    is_traceback = "Traceback (most recent call last)" in output[-_TAIL_LENGTH:]
    has_panicked = False
    for number, line in enumerate(map(_without_prefixes, readable_lines(output))):
        if not _FRAME.match(line):
            last_line = line.strip() or last_line
        if has_panicked:
            # Rust says on the line after the place what happened there
            numbered_lines.append((number, _make_error_line("", line.strip(), weight=8)))
        has_panicked = _PANICKED.fullmatch(line.strip()) is not None
        if not has_panicked and (telling := _parse_line(line, is_traceback=is_traceback)):
            numbered_lines.append((number, telling))
    if not numbered_lines and last_line:
        return [_make_error_line("", last_line, weight=1)]
    numbered_lines.sort(
        key=lambda numbered: (-numbered[1].weight, numbered[0] if numbered[1].is_first else -numbered[0])
    )
    return [telling for _, telling in numbered_lines]


def weighed_lines(output: str) -> Iterator[tuple[int, str]]:
    """Yield each line of an output that is no stack frame, with the weight of the error that it tells."""
    is_traceback = "Traceback (most recent call last)" in output[-_TAIL_LENGTH:]
    for line in map(_without_prefixes, readable_lines(output)):
        if not _FRAME.match(line):
            telling = _parse_line(line, is_traceback=is_traceback)
            yield telling.weight if telling else 0, line


def is_telling(telling: ErrorLine) -> bool:
    """Say whether the line tells the error itself, and not only that there was one."""
    return telling.weight >= _TELLING_WEIGHT


def readable_lines(output: str) -> Iterator[str]:
    """Yield the lines of an output that are read, cleaned for display and with secrets masked."""
    if len(output) > _HEAD_LENGTH + _TAIL_LENGTH:
        output = output[:_HEAD_LENGTH] + "\n" + output[-_TAIL_LENGTH:]
    raw_lines = re.split(r"[\r\n]+", _ANSI.sub("", output))
    if len(raw_lines) > _FIRST_LINES + _LAST_LINES:
        raw_lines = raw_lines[:_FIRST_LINES] + raw_lines[-_LAST_LINES:]
    for line in raw_lines:
        plain = mask_secrets(strip_hidden(line[:_LONGEST_LINE])).rstrip()
        if plain.strip():
            yield plain


def _parse_line(line: str, *, is_traceback: bool) -> ErrorLine | None:
    """Return the error of a line, by the form with the greatest weight."""
    is_indented = line[:1].isspace()
    text = line.strip()
    best: ErrorLine | None = None
    for form in _FORMS:
        if (best is None or form.weight > best.weight) and (matched := form.pattern.fullmatch(text)):
            groups = {key: value for key, value in matched.groupdict().items() if value is not None}
            name = " ".join(filter(None, (_class_name(groups.get("name", "")), groups.get("code", ""))))
            best = _make_error_line(name, groups.get("message", ""), weight=form.weight, is_first=form.is_first)
    return _line_by_class(text, best, is_indented=is_indented, is_traceback=is_traceback)


def _line_by_class(text: str, best: ErrorLine | None, *, is_indented: bool, is_traceback: bool) -> ErrorLine | None:
    """Return the error of a line that names a class, where no form has as much weight."""
    known_weight = best.weight if best else 0
    if known_weight < 8 and not is_indented and (matched := _CLASS_AT_START.fullmatch(text)):
        return _line_of_class(matched, 8)
    if known_weight < 7 and not is_indented and (is_traceback or _PACKAGE.match(text)):
        matched = _RAISED.fullmatch(text)
        if matched:
            return _line_of_class(matched, 7)
    if known_weight < 6 and not _CODE.match(text) and (matched := _CLASS_WITHIN.search(text)):
        return _line_of_class(matched, 5 if is_indented else 6)
    if known_weight < 3 and not _CODE.match(text) and (matched := _CLASS_AT_END.fullmatch(text)):
        return _line_of_class(matched, 3)
    if best is None and _FAILURE_WORDS.search(text):
        return _make_error_line("", text, weight=2)
    return best


def _line_of_class(matched: re.Match[str], weight: int) -> ErrorLine:
    groups = matched.groupdict()
    name = " ".join(filter(None, (_class_name(matched["name"]), groups.get("code") or "")))
    return _make_error_line(name, groups.get("message") or groups.get("quoted") or "", weight=weight)


def _make_error_line(name: str, message: str, *, weight: int, is_first: bool = False) -> ErrorLine:
    """Return an error line, its name taken from the message where that begins with a class or has a code."""
    if not name and (matched := _CLASS_AT_START.fullmatch(message)):
        name = " ".join(filter(None, (_class_name(matched["name"]), matched["code"] or "")))
        message = matched["message"] or matched["quoted"] or ""
    if not name and message.startswith("assert "):
        name = "AssertionError"
    for matched in _ERRNO_WORD.finditer(message):
        if matched[1] in _ERRNO:
            name, message = matched[1], message[: matched.start()] + message[matched.end() :]
            break
    words = [word for word in name.split() if word not in _GENERIC]
    return ErrorLine(name=" ".join(words), message=message.strip(), weight=weight, is_first=is_first)


def _class_name(name: str) -> str:
    """Return a class without its package."""
    return re.split(r"[.:\\]+", name)[-1]


def _without_prefixes(line: str) -> str:
    if matched := _BARS.match(line):
        line = line[matched.end() :]
    for prefix in _PREFIXES:
        if matched := prefix.match(line):
            line = line[matched.end() :]
    return line
