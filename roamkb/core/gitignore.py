"""Which folders an entry of the rule means, in gitignore's syntax.

Entries are absolute and stand for folders, so that an entry means the folder itself and
all that lies below. Components are compared, never the beginnings of strings:
`/p/workshop` isn't under `/p/work`. Unicode is compared in NFC, since the same name
arrives composed from one system and decomposed from another; case counts, unless the
caller says `fold` because the file system doesn't care.

Most entries are plain paths. They are decided here, without pathspec: it costs as much to
import as the whole rest of a write.
"""

import contextlib
import re
import unicodedata
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from roamkb.core.startup.lazy_regex import lazily

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Of one learning or task; and characters, as Linux has it (PATH_MAX).
_MOST_PATTERNS = 100
_LONGEST_PATH = 4096
_HALVES = lazily(r"[\ud800-\udfff]")
_ESCAPE = lazily(r"\\(.)", re.DOTALL)
_WILD = lazily(r"(?<!\\)(?:\\\\)*[*?\[]")
_SET = lazily(r"\[[!^]?[^\]\\/\[]+\]")


def literal(path: str) -> str:
    """Return the entry that means exactly `path`; a name's last blanks would be cut off."""
    return re.sub(r"([\\*?\[\]$#!{},;]|\s(?=\s*(?:/|\Z)))", r"\\\1", path)


def literal_path(entry: str) -> str | None:
    """Return the one path that `entry` means, or None where it has wildcards."""
    return None if _WILD.search(entry) else "/" + "/".join(parts_of(_ESCAPE.sub(r"\1", entry)))


def fault_of(entry: str) -> str | None:
    """Return why gitignore couldn't match what `entry` seems to mean, or None where it can."""
    for part in entry.split("/"):
        if (len(part) - len(part.rstrip("\\"))) % 2:
            return "ends a name in a lone backslash"
        bare = _ESCAPE.sub("", part)
        if found := re.search(r"[{},;]", bare):
            # other tools' lists; gitignore has none, and a folder of that whole name is hardly meant
            return f"has an unescaped `{found[0]}`; write one folder in a line, or `\\{found[0]}` in a name"
        if "**" in bare and bare != "**":
            return "has ** beside other characters"
        if "[" in _SET.sub("", bare):
            return "has a [ without its ], or a set that isn't plain"
        if any(first > last for first, last in re.findall(r"(.)-(.)", "".join(_SET.findall(bare)))):
            return "has a range that runs backwards"
    return None


def is_within(path: str, top: str, *, fold: bool = False) -> bool:
    """Say whether `path` is `top` or lies below it; neither is a pattern."""
    above = parts_of(top, fold=fold)
    return parts_of(path, fold=fold)[: len(above)] == above


def is_under(path: str, entry: str, *, fold: bool = False) -> bool:
    """Say whether `path` is a folder that `entry` means, or lies below one."""
    plain = literal_path(entry)
    return _matches(path, entry, fold) if plain is None else is_within(path, plain, fold=fold)


def may_contain(path: str, entry: str, *, fold: bool = False) -> bool:
    """Say whether a folder that `entry` means could lie below `path`."""
    parts = parts_of(path, fold=fold)
    plain = literal_path(entry)
    if plain is not None:
        below = parts_of(plain, fold=fold)
        return len(parts) < len(below) and below[: len(parts)] == parts
    segments = parts_of(entry)
    for n, segment in enumerate(segments[: len(parts)]):
        if segment == "**":
            return _matches("/".join(parts[:n]), "/".join(segments[:n]), fold)
    return len(parts) < len(segments) and _matches("/".join(parts), "/".join(segments[: len(parts)]), fold)


def anchor(entry: str) -> str:
    """Return the deepest folder that all folders meant by `entry` are in (or are)."""
    segments = parts_of(entry)
    wild = next((n for n, segment in enumerate(segments) if _WILD.search(segment)), len(segments))
    return "/" + "/".join(_ESCAPE.sub(r"\1", segment) for segment in segments[:wild])


@lru_cache(maxsize=4096)
def parts_of(path: str, *, fold: bool = False) -> tuple[str, ...]:
    """Return the components of `path`, as they are compared."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", path)
    if fold:
        path = unicodedata.normalize("NFC", path.casefold())
    return tuple(part for part in path.split("/") if part)


def _matches(path: str, entry: str, fold: bool) -> bool:
    """Say whether `path` is or lies below a match of `entry`, as git would."""
    segments = parts_of(entry)
    if not segments:
        return True
    if segments[-1] == "**":
        # git: "matches everything inside"; the folder itself isn't inside
        segments = (*segments, "*")
    parts = parts_of(path, fold=fold)
    return bool(parts) and _spec("/" + "/".join(segments), fold).match_file("/".join(parts))


@lru_cache(maxsize=256)
def _spec(entry: str, fold: bool) -> "GitIgnoreSpec":
    """Return pathspec's reading of `entry`."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([unicodedata.normalize("NFC", entry.casefold()) if fold else entry])


def last_match(patterns: Sequence[str], path: str) -> bool | None:
    """Say what the last of gitignore's `patterns` that meets `path` says: ignore it or not; None: none does.

    A folder's path ends with a slash. What is said of a folder above is no word on `path`: `!*/`
    lets git look into folders, and `*` ignores each file in them nevertheless.
    """
    for pattern in reversed(_spec_of(patterns).patterns):
        met = pattern.regex.match(path) if pattern.regex else None
        # pathspec marks the slash of the folder that it met
        if met and met.groupdict().get("ps_d") and met.start("ps_d") < len(path) - 1:
            continue
        if met:
            return pattern.include
    return None


def concerns(patterns: Iterable[str], path: str) -> bool:
    """Say whether one of gitignore's `patterns` means the file `path`, relative to the project.

    Patterns come from anybody: of very many the first count, and none that no path could meet.
    """
    if not _is_plain(path):
        return False
    usable = tuple(filter(_is_plain, islice(patterns, _MOST_PATTERNS)))
    if not any(_may_meet(pattern, path) for pattern in usable):
        return False
    try:
        return _spec_of(usable).match_file(path)
    except Exception:  # noqa: BLE001 - pathspec's engines each have errors of their own
        return any(_is_met(pattern, path) for pattern in usable)


def _may_meet(pattern: str, path: str) -> bool:
    """Say whether `path` holds all that `pattern` has to the letter: most don't, and this is seen at once."""
    if _NOT_LITERAL.search(pattern):
        return not pattern.startswith("!")
    return all(piece.strip("/") in path for piece in _STARS.split(pattern.strip()))


def _is_met(pattern: str, path: str) -> bool:
    """Say whether one pattern meets `path`; one that no engine can read meets nothing."""
    with contextlib.suppress(Exception):
        return _spec_of([pattern]).match_file(path)
    return False


_STARS = lazily(r"[*?]+")
#: Characters by which a pattern says what isn't there to the letter.
_NOT_LITERAL = lazily(r"[\\\[!#]")


def _is_plain(text: str) -> bool:
    """Say whether a system's path could be `text`: pathspec's engines fail at what else there is."""
    return len(text) <= _LONGEST_PATH and "\0" not in text and not _HALVES.search(text)


def _spec_of(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """Return pathspec's reading of those of `patterns` that are any; git passes over the others."""
    return _spec_of_all(tuple(patterns))


# a log's learnings share their patterns, and are asked about file after file
@lru_cache(maxsize=4096)
def _spec_of_all(patterns: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    read = GitIgnoreSpec.from_lines(())
    for pattern in patterns:
        with contextlib.suppress(ValueError):
            read += GitIgnoreSpec.from_lines([pattern])
    return read


def ignoring(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return what says whether gitignore's `patterns` leave out a path, relative to their own folder."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file
