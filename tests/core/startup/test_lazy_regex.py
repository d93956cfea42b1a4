"""An expression that waits is the expression."""

import re

import pytest

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.lazy_regex import lazily_foreign


def test_it_answers_as_the_compiled_one_does() -> None:
    """By each of its methods, and again."""
    waiting, compiled = lazily(r"(?P<a>x)+|y", re.IGNORECASE), re.compile(r"(?P<a>x)+|y", re.IGNORECASE)
    for _ in range(2):
        assert compiled.findall("Xxy") == waiting.findall("Xxy")
        assert compiled.sub("-", "axby") == waiting.sub("-", "axby")
        assert compiled.pattern == waiting.pattern
    assert waiting.match("z") is None


def test_a_fault_shows_when_it_is_asked() -> None:
    """Not before."""
    waiting = lazily("(")
    with pytest.raises(re.error):
        waiting.match("")


def test_what_no_ascii_text_holds_is_looked_for_in_others_alone() -> None:
    """By each of its methods; an ASCII text compiles nothing, so that not even a fault shows."""
    waiting, compiled = lazily_foreign("[à-ÿ]+"), re.compile("[à-ÿ]+")
    for text in ("eté", "été", "ete", ""):
        for method in ("match", "search"):
            expected, found = (getattr(pattern, method)(text) for pattern in (compiled, waiting))
            assert (expected and expected.span()) == (found and found.span())
        assert compiled.findall(text) == waiting.findall(text)
    assert lazily_foreign("(").search("plain") is None
