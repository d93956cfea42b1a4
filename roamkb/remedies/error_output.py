"""What a program's output says went wrong: the line that tells, and what the program calls it.

Whole outputs are read (tracebacks, compilers, test runs, shells, package managers, databases) as well as
one line by itself. Nothing here fails: of what it doesn't know, it takes the line that sounds worst.
"""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from roamkb.core.text import cleaned
from roamkb.secrets.detector import masked

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
    """How a kind of program says it: groups `message`, and `name` or `code` where it has one."""

    weight: int
    pattern: re.Pattern[str]
    is_first: bool = False


def _form(weight: int, *patterns: str, first: bool = False) -> _ErrorForm:
    return _ErrorForm(weight, re.compile("|".join(patterns) if len(patterns) > 1 else patterns[0]), first)


_SUFFIX = (
    r"(?:Error|Exception|Fault|Failure|Violation|Interrupt|Iteration|Timeout|Panic|NotFound|DoesNotExist"
    r"|Exit)"
)
_OWNER = r"(?:[A-Za-z_$][\w$]*(?:\.|::|\\))*"
_CLASS = rf"{_OWNER}(?:[A-Z][\w$]*{_SUFFIX}|[A-Z]{_SUFFIX}|{_SUFFIX})(?:Group)?"
_SYSTEM = (
    "No such file or directory|Permission denied|Is a directory|Not a directory|Operation not permitted"
    "|Device or resource busy|Argument list too long|File exists|No space left on device|Connection refused"
    "|Read-only file system|Directory not empty|Text file busy|Too many open files|Cannot allocate memory"
    "|Broken pipe|Connection timed out|Connection reset by peer|No route to host|Network is unreachable"
    "|Exec format error|Invalid argument|Input/output error|Disk quota exceeded|No such process"
    "|Address already in use|Too many levels of symbolic links|Invalid cross-device link|File too large"
)
_SIGNALS = "Segmentation fault|Bus error|Aborted|Illegal instruction|Floating point exception|Killed"

_FORMS: Final = (
    # Rust, whose summary says only that there was an error
    _form(9, r"error\[(?P<code>[EF]\d{4})\]: (?P<message>.+)", first=True),
    _form(3, r"error: (?P<message>could not compile .+|aborting due to .+|build failed.*)"),
    _form(7, r"thread '.*?' (?:\(\d+\) )?panicked at '(?P<message>.+)', \S+"),
    # pytest: the lines of a failure, then the summary
    _form(
        9,
        r"E\s+(?P<message>fixture '.+' not found|Failed: .+|assert .+)",
        rf"E\s+(?P<name>{_CLASS})(?:: (?P<said>.*))?",
        first=True,
    ),
    _form(5, r"(?:FAILED|ERROR) \S+ - (?P<message>.+)", first=True),
    # Java, by the root of the matter
    _form(9, rf"Caused by: (?P<name>{_CLASS})(?:: (?P<message>.*))?"),
    _form(8, rf"Exception in thread \".*?\" (?P<name>{_CLASS})(?:: (?P<message>.*))?"),
    _form(8, r"\S+\.(?:java|kt|scala):\d+: error: (?P<message>.+)", first=True),
    _form(8, r"(?:\[ERROR\] )?\S+\.(?:java|kt):\[\d+,\d+\] (?:error: )?(?P<message>.+)", first=True),
    _form(4, r"(?:\[ERROR\] )?(?P<message>Failed to execute goal .+)"),
    # Go, and what its tests and others' print
    _form(8, r"(?:panic|fatal error): (?P<message>(?!.*: No such file).+?)(?: \[recovered\])?"),
    _form(8, r"\S+\.go:\d+:\d+: (?P<message>.+)", first=True),
    _form(7, r"go: (?P<message>.+)"),
    _form(7, r"\S+_test\.go:\d+: (?P<message>.+)", first=True),
    _form(8, r"(?:Error: )?(?P<message>expect\(.*\)\..+|Cannot find module .+ from .+)", first=True),
    # TypeScript, C#, MSVC
    _form(8, r".*?\berror (?P<code>(?:TS|CS|MSB|LNK|BC|FS|NETSDK|C)\d{3,5}): (?P<message>.+)", first=True),
    # linters: the rule is what it is
    _form(8, r"\d+:\d+ +error +(?P<message>.+?) {2,}(?P<code>[\w@/-]+)", first=True),
    _form(7, r"\S+:\d+:\d+: (?P<code>[A-Z]{1,4}\d{3,4}):? (?:\[\*\] )?(?P<message>.+)", first=True),
    # C and what links it
    _form(8, r"\S+?:\d+(?::\d+)?: (?:fatal )?error: (?P<message>.+)", first=True),
    _form(
        8,
        r"\S*(?:gcc|g\+\+|cc1|cc1plus|clang|clang\+\+|ld|ld\.lld): (?:fatal )?error: (?P<message>.+)",
        first=True,
    ),
    _form(8, r".*?\b(?P<message>(?:undefined reference|multiple definition|undefined symbol).+)", first=True),
    _form(8, r".*?\b(?P<message>cannot find -l\S+).*", first=True),
    _form(3, r"(?P<message>collect2: error: .+|compilation terminated\.?)"),
    _form(8, rf"(?:.*[\s:])?(?P<message>{_SIGNALS})(?: \(core dumped\))?(?:\s+\S.*)?"),
    # databases
    _form(8, r"ERROR (?P<code>\d{4} \(\w{5}\))(?: at line \d+)?: (?P<message>.+)"),
    _form(8, r"(?P<code>ORA-\d{5}): (?P<message>.+)"),
    _form(
        8,
        r"psql: error: (?:.* failed: FATAL: +)?(?P<message>.+)",
        r"(?:psql:\S+ )?(?:ERROR|FATAL|PANIC): {2}(?P<said>.+)",
    ),
    _form(8, r"Error: (?:in prepare|stepping|near line \d+), (?P<message>.+?)(?: \(\d+\))?"),
    # package managers
    _form(9, r"npm (?:ERR!|error) code (?P<code>E[A-Z0-9_]+)(?P<message>)"),
    _form(8, r"npm (?:ERR!|error) (?P<message>Missing script: .+)"),
    _form(
        4, r"npm (?:ERR!|error) (?P<message>(?!A complete log|code |errno |path |syscall )\S.*)", first=True
    ),
    _form(8, r"ERROR: (?P<message>(?:Could not|Cannot|Failed|Invalid requirement|Package).+)", first=True),
    _form(7, r"ERROR: (?P<message>No matching distribution found for .+)"),
    _form(8, r"E: (?P<message>\S.+)", first=True),
    # make and CMake, which mostly pass on that something else failed
    _form(6, r"(?:\S*make)(?:\[\d+\])?: \*\*\* (?P<message>No rule to make target .+)"),
    _form(6, r"\S+:\d+: \*\*\* (?P<message>.+)"),
    _form(4, r"(?:\S*make)(?:\[\d+\])?: \*\*\* (?:\[.*?\] )?(?P<message>.+)"),
    _form(6, r"CMake Error(?: at .+?)?: (?P<message>.+)"),
    # git
    _form(5, r"fatal: (?P<message>Could not read from remote repository\.)"),
    _form(8, r"fatal: (?P<message>(?!Could not read from remote).+)"),
    _form(8, r"(?:\S+: )?(?P<message>Permission denied \(.+\)|Host key verification failed)\.?"),
    _form(8, r"(?P<message>CONFLICT \([^)]*\)): .*", first=True),
    _form(8, r"!\s+\[(?:remote )?rejected\].*?\((?P<message>.+)\)"),
    _form(4, r"error: (?P<message>failed to push some refs.*)"),
    _form(7, r"error: (?P<message>pathspec .+|Your local changes .+|src refspec .+|branch .+ not found.*)"),
    # shells
    _form(
        8,
        r"(?:(?:\S+|line \d+): ){0,4}(?P<message>command not found)(?:: \S+)?",
        r"\S*sh: (?:line )?\d+: \S+: (?P<unfound>not found)",
    ),
    _form(
        7,
        rf"[^:]+: (?:.*: )?(?:\S.*[:'’\"] )?(?P<message>{_SYSTEM})\.?",
        r"\S*sh: (?:line \d+: )?(?P<shell>(?:syntax error|.*unbound variable|.*cannot execute|.*bad).*)",
    ),
    # the network
    _form(8, r"ssh: (?P<message>connect to host .+)"),
    _form(9, r"(?:.*: )?An error occurred \((?P<code>\w+)\) when calling the (?P<message>.+)"),
    _form(7, r"curl: (?P<code>\(\d+\)) (?P<message>.+)"),
    _form(7, r"(?:.*\s)?HTTP(?:/[\d.]+)?[ =:]+(?P<code>[45]\d\d)\b[ :,-]*(?P<message>.*)"),
    _form(6, r".*?\b(?P<message>(?:status code|response code|returned error|status)[ :=]+[45]\d\d\b).*"),
    _form(6, r"(?:docker: )?Error response from daemon: (?P<message>.+)"),
    # Ruby, Elixir and PHP
    _form(8, rf"(?P<name>{_CLASS}) \((?P<message>.+)\)"),
    _form(8, rf"\*\* \((?P<name>{_CLASS})\) (?P<message>.+)"),
    _form(8, rf"\S+:\d+:in .*?: (?P<message>.*) \((?P<name>{_CLASS})\)"),
    _form(8, rf"PHP Fatal error: +Uncaught (?P<name>{_CLASS}): (?P<message>.+?)(?: in \S+:\d+)?"),
    # anybody's
    _form(5, r"(?:\S+: )?(?:fatal error|[Ee]rror|ERROR|[Ff]atal|FATAL): (?P<message>\S.*)", first=True),
)
#: A class at the beginning of a line, anywhere in it, or alone at its end.
_BEGINS: Final = re.compile(
    rf"(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?(?:: (?P<message>.*)| (?P<quoted>['\"].+)|:?)"
)
_WITHIN: Final = re.compile(rf"(?<![\w$.:\\])(?P<name>{_CLASS})(?: \[(?P<code>\w+)\])?: (?P<message>\S.*)")
_ENDS: Final = re.compile(rf".*: (?P<name>{_CLASS})")
#: What only a traceback, or its package, calls an error: `psycopg2.errors.UndefinedTable: …`
_RAISED: Final = re.compile(r"(?P<name>(?:[a-z_]\w*\.)+[A-Z]\w*)(?:: (?P<message>.*)|:?)")
_PACKAGE: Final = re.compile(r"[\w.]*\b(?:exceptions?|errors?|exc)\.[A-Z]\w*:")
#: In which no class is one that was raised.
_CODE: Final = re.compile(r"\s*(?:except|raise|raises|catch|throw|throws|class|import|from|def)\b")
_SOUNDS_BAD: Final = re.compile(
    r"(?i)\b(?:error|failed|failure|fatal|cannot|can't|could ?n[o']t|unable|denied|refused|invalid|missing"
    r"|not found|timed out|exception)\b"
)
#: A place in a stack, which tells nothing by itself.
_FRAME: Final = re.compile(r"\s+at \S")
_PANICKED: Final = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:")

_ANSI: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
#: What stands before the message: a service of Compose, a time, a host's syslog, a thread, a level, a mark.
_PREFIXES: Final = tuple(
    map(
        re.compile,
        (
            r"[\w.-]+\s{1,20}\| ",
            r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
            r"(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?[\])]?[ :,-]*",
            r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s+",
            r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} "
            r"\d\d:\d\d:\d\d \S+ \S+\[\d+\]: ",
            # a step of a container's build
            r"#\d+ (?:\d+\.\d+ )?",
            r"\[[\w.@#-]+\]\s+",
            r"##\[error\]",
            r"(?:\[(?:ERROR|FATAL|CRITICAL|SEVERE|WARN(?:ING)?|INFO|DEBUG)\]|(?:CRITICAL|SEVERE))[:\s-]+",
            r"(?:ERROR|FATAL|WARN(?:ING)?|INFO) +(?:\[[^\]]*\] +)?[\w.$-]+ +- ",
            r"ERROR:[\w.]+:(?=\S)",
            r"(?:Uncaught|Unhandled)(?: exception)?:? (?:\(in promise\):? )?",
        ),
    )
)
#: Of one group of exceptions, drawn with bars.
_BARS: Final = re.compile(r"\s*(?:\+-\+-{3,}.*|\+-{3,}.*|[|+](?: |$)+)")

_ERRNO: Final = frozenset({*errno.errorcode.values(), "ENOTFOUND", "EAI_AGAIN"})
_ERRNO_WORD: Final = re.compile(r"(?:^|(?<=[\s:(]))(E[A-Z_0-9]{3,})\b:? ?")
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
            message = next(
                (groups[key] for key in ("message", "said", "unfound", "shell") if key in groups), ""
            )
            name = " ".join(filter(None, (_short(groups.get("name", "")), groups.get("code", ""))))
            best = _named(name, message, weight=form.weight, is_first=form.is_first)
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
