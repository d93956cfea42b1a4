"""Regular expressions that are compiled when they are first asked: most processes need few of them."""

import re
from typing import Any
from typing import AnyStr
from typing import cast


class _LazyPattern:
    """Stands for an expression until one of its methods is wanted; then it has them all."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._told: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._told), name)
        vars(self)[name] = found
        return found


def lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` does, for who calls its methods; a fault in it shows only then."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
