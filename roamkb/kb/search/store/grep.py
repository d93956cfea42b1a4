"""Grep over the notes: a regular expression against each line of the files, and as it is shown."""

import re
import signal
import threading
import warnings
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from roamkb.core.errors import UsageError
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import shown
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.body import lines_as_shown

#: Seconds that Python's backtracking `re` may take for a whole search; RE2 needs no limit.
_PATIENCE = 10.0


#: Python's `re` has no POSIX classes, ripgrep and the rule's own commands have.
_POSIX = lazily(r"\[:(\^?)(alnum|alpha|ascii|blank|cntrl|digit|lower|punct|space|upper|word|xdigit):\]")
_CLASSES = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": "A-Za-z0-9_",
    "xdigit": "0-9A-Fa-f",
}


#: A lone bracket in brackets, as grep knows it; to `re` it may be the beginning of a set within a set.
_BRACKET = lazily(r"\\.|\[\[\]", re.DOTALL)


def _posix_class(match: re.Match[str]) -> str:
    inside = _CLASSES[match[2]]
    return _others(inside) if match[1] else inside


def _others(inside: str) -> str:
    """Return what a class leaves, to stand among others between brackets."""
    if inside == r"\s":
        return r"\S"
    one = re.compile(f"[{inside}]")
    left = (f"\\x{code:02x}" for code in range(128) if not one.match(chr(code)))
    return "".join(left) + r"\x80-\U0010ffff"


def _in_python(pattern: str) -> str:
    """Return `pattern` as Python's `re` says the same."""
    spelt = _POSIX.sub(_posix_class, pattern)
    return _BRACKET.sub(lambda found: r"[\[]" if found[0] == "[[]" else found[0], spelt)


class _LineMatcher(Protocol):
    def search(self, string: str, /) -> object | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedNote:
    """A note with the lines that a pattern matches."""

    note: Note
    lines: tuple[tuple[int, str], ...]


class Grep:
    """The lines of all notes that match, in the order of files and lines."""

    def __init__(self, notes: Notes, pattern: str) -> None:
        """Compile `pattern`.

        Raises:
            UsageError: it is no regular expression.
        """
        self._notes = notes
        self._matcher, self._is_linear = _compiled(pattern)
        self.skipped: list[UnreadableFile] = []

    def find(self) -> tuple[MatchedNote, ...]:
        """Return the notes with matching lines.

        Raises:
            UsageError: the pattern took too long.
        """
        if self._is_linear:
            return tuple(self._matches())
        with _time_limit():
            return tuple(self._matches())

    def _matches(self) -> Iterator[MatchedNote]:
        self.skipped += self._notes.walk.unreadable
        for file in self._notes.walk.files:
            text = self._notes.text(file)
            if isinstance(text, UnreadableFile):
                self.skipped.append(text)
                continue
            if lines := tuple(self._matching(text)):
                yield MatchedNote(note=self._notes.parse(file, text), lines=lines)

    def _matching(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the lines that match: as `show` has them, or else as they stand in the file."""
        told = lines_as_shown(text)
        for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
            if number in told and self._matcher.search(told[number]):
                yield number, told[number]
            elif self._matcher.search(line):
                yield number, line


def _compiled(pattern: str) -> tuple[_LineMatcher, bool]:
    """Return the compiled pattern, and whether its time is linear in the text."""
    try:
        import re2
    except ImportError:
        pass
    else:
        try:
            return re2.compile(pattern, options=_quiet()), True
        except (re2.error, UnicodeEncodeError):
            # what RE2 has not (look-around, back references) `re` may have, in its time limit
            pass
    try:
        with warnings.catch_warnings():
            # sets within sets, which `re` announces and takes for something else
            warnings.simplefilter("error")
            return re.compile(_in_python(pattern)), False
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise UsageError(
            f"no regular expression here: {error}",
            hint="quote it, search without --regex, or `pip install google-re2`, which knows more",
        ) from error


def _quiet() -> object:
    """Return options for RE2 by which it says nothing on standard error by itself."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return options


def linear(pattern: str) -> Callable[[str], bool] | None:
    """Return what says whether a text has a match, in time linear in it; None where RE2 isn't installed.

    Raises:
        UsageError: RE2 can't read the pattern.
    """
    try:
        import re2
    except ImportError:
        return None
    try:
        compiled = re2.compile(pattern, options=_quiet())
    except (re2.error, UnicodeEncodeError) as error:
        raise UsageError(
            f"no regular expression of RE2: {shown(pattern)}",
            hint="it has no look-around and no back references: github.com/google/re2/wiki/Syntax",
        ) from error
    return lambda text: compiled.search(text) is not None


@contextmanager
def _time_limit() -> Iterator[None]:
    """Bound what `re`, which can take exponential time, may take: an error, never a hang."""
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("regular expressions need google-re2 here", hint="pip install google-re2")

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise UsageError(
            f"the pattern took more than {_PATIENCE:.0f} s",
            hint="make it simpler, or `pip install google-re2`, whose time is linear",
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
