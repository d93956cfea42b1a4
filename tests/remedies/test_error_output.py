"""Of a program's output, the line that tells what went wrong."""

import pytest

from roamkb.remedies.error_output import error_lines
from roamkb.remedies.error_output import is_telling
from roamkb.remedies.error_output import readable_lines


@pytest.mark.parametrize(
    ("output", "name", "message"),
    [
        # compilers tell it first, tracebacks last
        ("a.c:1:2: error: one\na.c:9:2: error: two\ncollect2: error: ld returned 1 exit status", "", "one"),
        ("KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nOSError: b", "OSError", "b"),
        # what failed, and not that make did
        ("cc1: fatal error: no.c: No such file or directory\nmake: *** [Makefile:1: a] Error 1", "", "no.c: No such file or directory"),
        ("make: *** [Makefile:1: a] Error 2", "", "Error 2"),
        ("error[E0308]: mismatched types\nerror: could not compile `x` due to 1 previous error", "E0308", "mismatched types"),
        ("  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: several (2 sub-exceptions)\n    | ValueError: a\n    +----\n", "ValueError", "a"),
        # code is no error
        ("    except KeyError: pass\n    raise ValueError\nOSError: disk", "OSError", "disk"),
        ("INFO starting\nall is well so far\nthe door is locked", "", "the door is locked"),
        ("fine\nsomething could not be opened\nbye", "", "something could not be opened"),
        ("2026-06-10 12:00:00,114 [main] ERROR com.example.App - java.sql.SQLException: no connection", "SQLException", "no connection"),
        ("##[error]Error: Process completed with exit code 1.", "", "Process completed with exit code 1."),
        ("Jun 10 12:00:00 host app[77]: ValueError: odd", "ValueError", "odd"),
        ("psycopg2.errors.UniqueViolation: duplicate key value", "UniqueViolation", "duplicate key value"),
    ],
)  # fmt: skip
def test_the_telling_line(output: str, name: str, message: str) -> None:
    """By its class and its message."""
    best, *_ = error_lines(output)
    assert (name, message) == (best.name, best.message)


def test_no_text_tells_nothing() -> None:
    """Nor do blanks, and what can't be seen."""
    assert [] == error_lines("") == error_lines(" \n\t\r\n\x1b[0m\u200b")


def test_that_something_failed_is_weak() -> None:
    """What only passes on another's failure joins no errors."""
    assert not is_telling(error_lines("make: *** [a] Error 1")[0])
    assert is_telling(error_lines("KeyError: 'a'")[0])


@pytest.mark.parametrize("piece", ["word ", "x\n", "Error: \n", "a.", "'", "a: ", "/a", "\x1b[", "`", "A.Error "])
def test_of_a_megabyte_the_ends_are_read(piece: str) -> None:
    """So that the time is bounded, whatever it is made of; the last line is always among them."""
    output = piece * (1_000_000 // len(piece)) + "\nKeyError: 'last'"
    read = list(readable_lines(output))
    assert len(read) <= 1_500
    assert sum(map(len, read)) <= 80_001
    assert "KeyError" == error_lines(output)[0].name
