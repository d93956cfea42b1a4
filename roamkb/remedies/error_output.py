"""What a program's output says went wrong: the line that tells, and what the program calls it.

Whole outputs are read (tracebacks, compilers, test runs, shells, package managers, databases) as well as
one line by itself. Nothing here fails: of what it doesn't know, it takes the line that sounds worst.
"""

import errno
import re
from collections.abc import Iterator
from typing import Final

from roamkb.core.data_tables import lines as lines_of
from roamkb.core.data_tables import rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import cleaned
from roamkb.secrets.detector import masked
from roamkb.text.store.lexicons import alternatives

#: Characters of a long output that are read at its beginning and at its end, where the telling lines are.
_HEAD: Final = 30_000
_TAIL: Final = 50_000
#: Lines of it likewise; many lines cost more than long ones.
_FIRST: Final = 600
_LAST: Final = 900
#: Characters of a line; messages of databases can hold a whole query.
_LONGEST: Final = 1_000
#: From this weight on, a line tells what happened by itself, and not only that something did.
_STRONG: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLine:
    """One line that says what went wrong."""

    #: Its class or code, as its program calls it (`KeyError`, `E0382`, `ENOENT`); empty where it has none.
    name: str
    message: str
    #: How surely this is the error, and not what became of it; 1 to 9.
    weight: int
    #: Whether of several such lines the first one is it (compilers), or the last (tracebacks).
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class _ErrorForm:
    """How a kind of program says it, by `data/error_forms.tsv`."""

    weight: int
    pattern: re.Pattern[str]
    is_first: bool = False


def _forms() -> Iterator[_ErrorForm]:
    for weight, which, pattern in rows("error_forms.tsv"):
        if weight == "let":
            _PARTS[f"<{which}>"] = pattern
        else:
            pattern = re.sub("<[A-Z]+>", lambda part: _PARTS[part[0]], pattern)
            yield _ErrorForm(int(weight), re.compile(pattern), which == "first")


#: Expressions that forms are put together from, by their names.
_PARTS: Final[dict[str, str]] = {}
_FORMS: Final = tuple(_forms())
#: A class of errors.
_CLASS: Final = _PARTS["<CLASS>"]
#: A class at the beginning of a line, anywhere in it, or alone at its end.
_BEGINS: Final = lazily(
    rf"(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?(?:: (?P<message>.*)| (?P<quoted>['\"].+)|:?)"
)
_WITHIN: Final = lazily(rf"(?<![\w$.:\\])(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?: (?P<message>\S.*)")
_ENDS: Final = lazily(rf".*: (?P<name>{_CLASS})")
#: What only a traceback, or its package, calls an error: `psycopg2.errors.UndefinedTable: …`
_RAISED: Final = lazily(r"(?P<name>(?:[a-z_]\w*\.)+[A-Z]\w*)(?:: (?P<message>.*)|:?)")
_PACKAGE: Final = lazily(r"[\w.]*\b(?:exceptions?|errors?|exc)\.[A-Z]\w*:")
#: In which no class is one that was raised.
_CODE: Final = lazily(r"\s*(?:except|raise|raises|catch|throw|throws|class|import|from|def)\b")
_SOUNDS_BAD: Final = lazily(rf"\b{alternatives('failures')}\b", re.IGNORECASE)
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


def tellings(output: str) -> list[ErrorLine]:
    """Return the lines of an output that say what went wrong, the one that tells most first.

    Of a text without any, the last line is it; of no text, there is none.
    """
    found: list[tuple[int, ErrorLine]] = []
    last = ""
    is_traceback = "Traceback (most recent call last)" in output[-_TAIL:]
    has_panicked = False
    for number, line in enumerate(map(_without_prefixes, lines(output))):
        if not _FRAME.match(line):
            last = line.strip() or last
        if has_panicked:
            # Rust says on the line after the place what happened there
            found.append((number, _named("", line.strip(), weight=8)))
        has_panicked = _PANICKED.fullmatch(line.strip()) is not None
        if not has_panicked and (telling := _read(line, is_traceback=is_traceback)):
            found.append((number, telling))
    if not found and last:
        return [_named("", last, weight=1)]
    found.sort(key=lambda one: (-one[1].weight, one[0] if one[1].is_first else -one[0]))
    return [telling for _, telling in found]


def weighed_lines(output: str) -> Iterator[tuple[int, str]]:
    """Yield each line of an output that is no place in a stack, and how surely it says what went wrong."""
    is_traceback = "Traceback (most recent call last)" in output[-_TAIL:]
    for line in map(_without_prefixes, lines(output)):
        if not _FRAME.match(line):
            telling = _read(line, is_traceback=is_traceback)
            yield telling.weight if telling else 0, line


def is_strong(telling: ErrorLine) -> bool:
    """Say whether the line tells what happened, and not only that something did."""
    return telling.weight >= _STRONG


def lines(output: str) -> Iterator[str]:
    """Yield the lines of an output that are read, as they can be shown, without what may not be kept."""
    if len(output) > _HEAD + _TAIL:
        output = output[:_HEAD] + "\n" + output[-_TAIL:]
    found = re.split(r"[\r\n]+", _ANSI.sub("", output))
    if len(found) > _FIRST + _LAST:
        found = found[:_FIRST] + found[-_LAST:]
    for line in found:
        plain = masked(cleaned(line[:_LONGEST])).rstrip()
        if plain.strip():
            yield plain


def _read(line: str, *, is_traceback: bool) -> ErrorLine | None:
    """Return what a line tells, by the form that tells most."""
    is_indented = line[:1].isspace()
    text = line.strip()
    best: ErrorLine | None = None
    for form in _FORMS:
        if (best is None or form.weight > best.weight) and (found := form.pattern.fullmatch(text)):
            groups = {key: value for key, value in found.groupdict().items() if value is not None}
            name = " ".join(filter(None, (_short(groups.get("name", "")), groups.get("code", ""))))
            best = _named(name, groups.get("message", ""), weight=form.weight, is_first=form.is_first)
    return _classed(text, best, is_indented=is_indented, is_traceback=is_traceback)


def _classed(text: str, best: ErrorLine | None, *, is_indented: bool, is_traceback: bool) -> ErrorLine | None:
    """Return what a line tells by naming a class, where no form told as much."""
    known = best.weight if best else 0
    if known < 8 and not is_indented and (found := _BEGINS.fullmatch(text)):
        return _of_class(found, 8)
    if known < 7 and not is_indented and (is_traceback or _PACKAGE.match(text)):
        found = _RAISED.fullmatch(text)
        if found:
            return _of_class(found, 7)
    if known < 6 and not _CODE.match(text) and (found := _WITHIN.search(text)):
        return _of_class(found, 5 if is_indented else 6)
    if known < 3 and not _CODE.match(text) and (found := _ENDS.fullmatch(text)):
        return _of_class(found, 3)
    if best is None and _SOUNDS_BAD.search(text):
        return _named("", text, weight=2)
    return best


def _of_class(found: re.Match[str], weight: int) -> ErrorLine:
    groups = found.groupdict()
    name = " ".join(filter(None, (_short(found["name"]), groups.get("code") or "")))
    return _named(name, groups.get("message") or groups.get("quoted") or "", weight=weight)


def _named(name: str, message: str, *, weight: int, is_first: bool = False) -> ErrorLine:
    """Return a telling; a class that the message begins with, or a code that it holds, is its name."""
    if not name and (found := _BEGINS.fullmatch(message)):
        name = " ".join(filter(None, (_short(found["name"]), found["code"] or "")))
        message = found["message"] or found["quoted"] or ""
    if not name and message.startswith("assert "):
        name = "AssertionError"
    for found in _ERRNO_WORD.finditer(message):
        if found[1] in _ERRNO:
            name, message = found[1], message[: found.start()] + message[found.end() :]
            break
    words = [word for word in name.split() if word not in _GENERIC]
    return ErrorLine(name=" ".join(words), message=message.strip(), weight=weight, is_first=is_first)


def _short(name: str) -> str:
    """Return a class without its package."""
    return re.split(r"[.:\\]+", name)[-1]


def _without_prefixes(line: str) -> str:
    if found := _BARS.match(line):
        line = line[found.end() :]
    for prefix in _PREFIXES:
        if found := prefix.match(line):
            line = line[found.end() :]
    return line
