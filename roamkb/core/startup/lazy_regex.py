"""Regular expressions that are compiled on first use: most processes need few of them."""

import re
from functools import cached_property

from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import AnyStr
from roamkb.core.startup.typing import cast


class _LazyPattern:
    """Stand-in for an expression that compiles it when one of its methods is first used."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._told: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._told), name)
        vars(self)[name] = attribute
        return attribute


class _ForeignPattern(_LazyPattern):
    """The same of an expression that no ASCII text holds, as most texts are: those don't compile it."""

    def match(self, text: str) -> re.Match[str] | None:
        return None if text.isascii() else self._find("match", text)

    def search(self, text: str) -> re.Match[str] | None:
        return None if text.isascii() else self._find("search", text)

    def _find(self, method: str, text: str) -> re.Match[str] | None:
        return cast("re.Match[str] | None", getattr(self._compiled, method)(text))

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._told)


def lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that compiles itself on first use; a fault in it shows only then."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


def lazily_foreign(pattern: str) -> re.Pattern[str]:
    """Return such a pattern for what no ASCII text holds."""
    return cast("re.Pattern[str]", _ForeignPattern(pattern, 0))
