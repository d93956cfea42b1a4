"""An expression that waits is the expression."""

import re

import pytest

from roamkb.core.startup.lazy_regex import lazily


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
