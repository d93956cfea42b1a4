"""Grep over the notes: a regular expression against each line of the files, raw and as shown."""

import re
import signal
import threading
import warnings
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextlib import contextmanager
from contextlib import nullcontext
from types import FrameType
from typing import Protocol

from roamkb.core.errors import UsageError
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.kb.notes.store import copied_notes
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.body import lines_as_shown

#: Seconds of the processor that Python's backtracking `re` may take for a whole search, and beyond them for each letter
#: of the notes: twice and more what a pattern takes that doesn't backtrack. RE2 needs no limit.
_PATIENCE = 10.0
_PATIENCE_A_LETTER = 2e-7


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
    return _complement_class(inside) if match[1] else inside


def _complement_class(inside: str) -> str:
    """Return the complement of a class, as it can stand between brackets."""
    if inside == r"\s":
        return r"\S"
    class_pattern = re.compile(f"[{inside}]")
    remaining = (f"\\x{code:02x}" for code in range(128) if not class_pattern.match(chr(code)))
    return "".join(remaining) + r"\x80-\U0010ffff"


def _in_python(pattern: str) -> str:
    """Return `pattern` in the syntax of Python's `re`."""
    spelt = _POSIX.sub(_posix_class, pattern)
    return _BRACKET.sub(lambda match: r"[\[]" if match[0] == "[[]" else match[0], spelt)


class _LineMatcher(Protocol):
    def search(self, string: str, /) -> object | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedNote:
    """A note with the lines that match a pattern."""

    note: Note
    lines: tuple[tuple[int, str], ...]


class Grep:
    """The search for matching lines in all notes, in the order of files and lines."""

    def __init__(self, notes: Notes, pattern: str) -> None:
        """Compile `pattern`.

        Raises:
            UsageError: it is no regular expression.
        """
        self._notes = notes
        self._matcher, self._is_linear = _compile_pattern(pattern)
        self.skipped: list[UnreadableFile] = []
        #: A syncer's renamed copies, which aren't looked through, with their originals.
        self.copies = copied_notes.CopiedNotes(notes).find_all()

    def find_matches(self) -> tuple[MatchedNote, ...]:
        """Return the notes with matching lines.

        Raises:
            UsageError: the pattern took too long.
        """
        if self._is_linear:
            return tuple(self._matching_notes(lambda _letters: nullcontext()))
        with _matching_limit() as limit_for:
            return tuple(self._matching_notes(limit_for))

    def _matching_notes(self, limit_for: "_LimitForLetters") -> Iterator[MatchedNote]:
        self.skipped += self._notes.kb_walk.unreadable
        for file in self._notes.kb_walk.files:
            if file.file in self.copies:
                continue
            text = self._notes.read_text(file)
            if isinstance(text, UnreadableFile):
                self.skipped.append(text)
                continue
            with limit_for(len(text)):
                lines = tuple(self._matching_lines(text))
            if lines:
                yield MatchedNote(note=self._notes.parse_text(file, text), lines=lines)

    def _matching_lines(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the lines that match, as `show` prints them or else as they stand in the file."""
        shown_lines = lines_as_shown(text)
        for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
            if number in shown_lines and self._matcher.search(shown_lines[number]):
                yield number, shown_lines[number]
            elif self._matcher.search(line):
                yield number, line


def _compile_pattern(pattern: str) -> tuple[_LineMatcher, bool]:
    """Return the compiled pattern, and whether its time is linear in the text."""
    try:
        import re2
    except ImportError:
        pass
    else:
        try:
            return re2.compile(pattern, options=_quiet_options()), True
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
            hint="quote it, or search without --regex",
        ) from error


def _quiet_options() -> object:
    """Return options for RE2 that keep it from writing to standard error."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return options


def linear_matcher(pattern: str) -> Callable[[str], bool] | None:
    """Return a test for a match in linear time; None where RE2 isn't installed.

    Raises:
        UsageError: RE2 can't read the pattern.
    """
    try:
        import re2
    except ImportError:
        return None
    try:
        compiled = re2.compile(pattern, options=_quiet_options())
    except (re2.error, UnicodeEncodeError) as error:
        raise UsageError(
            f"no regular expression of RE2: {one_line(pattern)}",
            hint="it has no look-around and no back references: github.com/google/re2/wiki/Syntax",
        ) from error
    return lambda text: compiled.search(text) is not None


#: Limits the time of matching so many letters.
_LimitForLetters = Callable[[int], AbstractContextManager[None]]


@contextmanager
def _matching_limit() -> Iterator[_LimitForLetters]:
    """Limit the time of `re`, which may be exponential, to raise an error instead of hanging.

    Only matching counts: how long it takes to read the notes says nothing about the pattern.
    """
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("regular expressions need google-re2 here", hint="pip install google-re2")
    left = _PATIENCE

    def raise_timeout(_signal: int, _frame: FrameType | None) -> None:
        raise UsageError(
            f"the pattern took more than {_PATIENCE:.0f} s",
            hint="make it simpler, or `pip install google-re2`, whose time is linear",
        )

    @contextmanager
    def limit_for(letters: int) -> Iterator[None]:
        nonlocal left
        signal.setitimer(signal.ITIMER_VIRTUAL, left + letters * _PATIENCE_A_LETTER)
        try:
            yield
        finally:
            left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    previous_handler = signal.signal(signal.SIGVTALRM, raise_timeout)
    try:
        yield limit_for
    finally:
        signal.signal(signal.SIGVTALRM, previous_handler)
