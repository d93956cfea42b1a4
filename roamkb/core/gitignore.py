"""Match of folders against entries of the rule, in gitignore's syntax.

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

from roamkb import TYPE_CHECKING
from roamkb.core.startup.lazy_regex import lazily

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Of one learning or task; and characters, as Linux has it (PATH_MAX).
_MOST_PATTERNS = 100
_LONGEST_PATH = 4096
_LONE_SURROGATES = lazily(r"[\ud800-\udfff]")
_ESCAPE = lazily(r"\\(.)", re.DOTALL)
_WILDCARD = lazily(r"(?<!\\)(?:\\\\)*[*?\[]")
_CHARACTER_SET = lazily(r"\[[!^]?[^\]\\/\[]+\]")


def escape_path(path: str) -> str:
    """Return the entry that means exactly `path`; trailing blanks of a name would be cut off."""
    return re.sub(r"([\\*?\[\]$#!{},;]|\s(?=\s*(?:/|\Z)))", r"\\\1", path)


def literal_path(entry: str) -> str | None:
    """Return the one path that `entry` means, or None where it has wildcards."""
    return None if _WILDCARD.search(entry) else "/" + "/".join(path_parts(_ESCAPE.sub(r"\1", entry)))


def entry_fault(entry: str) -> str | None:
    """Return the reason why gitignore couldn't match what `entry` seems to mean, or None."""
    for part in entry.split("/"):
        if (len(part) - len(part.rstrip("\\"))) % 2:
            return "ends a name in a lone backslash"
        bare = _ESCAPE.sub("", part)
        if separator := re.search(r"[{},;]", bare):
            # other tools' lists; gitignore has none, and a folder of that whole name is hardly meant
            return f"has an unescaped `{separator[0]}`; write one folder in a line, or `\\{separator[0]}` in a name"
        if "**" in bare and bare != "**":
            return "has ** beside other characters"
        if "[" in _CHARACTER_SET.sub("", bare):
            return "has a [ without its ], or a set that isn't plain"
        if any(
            range_start > range_end
            for range_start, range_end in re.findall(r"(.)-(.)", "".join(_CHARACTER_SET.findall(bare)))
        ):
            return "has a range that runs backwards"
    return None


def is_within(path: str, top: str, *, fold: bool = False) -> bool:
    """Return whether `path` is `top` or lies below it; neither is a pattern."""
    top_parts = path_parts(top, fold=fold)
    return path_parts(path, fold=fold)[: len(top_parts)] == top_parts


def is_under(path: str, entry: str, *, fold: bool = False) -> bool:
    """Return whether `path` is a folder that `entry` means, or lies below one."""
    plain = literal_path(entry)
    return _matches_entry(path, entry, fold) if plain is None else is_within(path, plain, fold=fold)


def may_contain(path: str, entry: str, *, fold: bool = False) -> bool:
    """Return whether a folder that `entry` means could lie below `path`."""
    parts = path_parts(path, fold=fold)
    plain = literal_path(entry)
    if plain is not None:
        below = path_parts(plain, fold=fold)
        return len(parts) < len(below) and below[: len(parts)] == parts
    segments = path_parts(entry)
    for depth, segment in enumerate(segments[: len(parts)]):
        if segment == "**":
            return _matches_entry("/".join(parts[:depth]), "/".join(segments[:depth]), fold)
    return len(parts) < len(segments) and _matches_entry("/".join(parts), "/".join(segments[: len(parts)]), fold)


def deepest_common_folder(entry: str) -> str:
    """Return the deepest folder that all folders meant by `entry` are in (or are)."""
    segments = path_parts(entry)
    wild = next((n for n, segment in enumerate(segments) if _WILDCARD.search(segment)), len(segments))
    return "/" + "/".join(_ESCAPE.sub(r"\1", segment) for segment in segments[:wild])


@lru_cache(maxsize=4096)
def path_parts(path: str, *, fold: bool = False) -> tuple[str, ...]:
    """Return the components of `path`, normalized for comparison."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", path)
    if fold:
        path = unicodedata.normalize("NFC", path.casefold())
    return tuple(part for part in path.split("/") if part)


def _matches_entry(path: str, entry: str, fold: bool) -> bool:
    """Return whether `path` is or lies below a match of `entry`, as git would."""
    segments = path_parts(entry)
    if not segments:
        return True
    if segments[-1] == "**":
        # git: "matches everything inside"; the folder itself isn't inside
        segments = (*segments, "*")
    parts = path_parts(path, fold=fold)
    return bool(parts) and _compile_entry("/" + "/".join(segments), fold).match_file("/".join(parts))


@lru_cache(maxsize=256)
def _compile_entry(entry: str, fold: bool) -> "GitIgnoreSpec":
    """Return `entry` compiled by pathspec."""
    return _read_lines([unicodedata.normalize("NFC", entry.casefold()) if fold else entry])


def _read_lines(lines: Sequence[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def last_match(patterns: Sequence[str], path: str) -> bool | None:
    """Return whether the last of gitignore's `patterns` that matches `path` ignores it; None without one.

    A folder's path ends with a slash. What is said of a folder above is no word on `path`: `!*/`
    lets git look into folders, and `*` ignores each file in them nevertheless.
    """
    for pattern in reversed(_compile_patterns(patterns).patterns):
        match = pattern.regex.match(path) if pattern.regex else None
        # pathspec marks the slash of the folder that it met
        if match and match.groupdict().get("ps_d") and match.start("ps_d") < len(path) - 1:
            continue
        if match:
            return pattern.include
    return None


def matches_file(patterns: Iterable[str], path: str) -> bool:
    """Return whether one of gitignore's `patterns` matches the file `path`, relative to the project.

    Patterns come from anybody: of very many the first count, and none that no path could meet.
    """
    if not _is_system_path(path):
        return False
    usable = tuple(filter(_is_system_path, islice(patterns, _MOST_PATTERNS)))
    if not any(_may_match(pattern, path) for pattern in usable):
        return False
    try:
        return _compile_patterns(usable).match_file(path)
    except Exception:  # noqa: BLE001 - pathspec's engines each have errors of their own
        return any(_pattern_matches(pattern, path) for pattern in usable)


def _may_match(pattern: str, path: str) -> bool:
    """Return whether `path` holds all literal parts of `pattern`: a quick test that most paths fail."""
    if _NOT_LITERAL.search(pattern):
        return not pattern.startswith("!")
    return all(piece.strip("/") in path for piece in _WILDCARD_RUN.split(pattern.strip()))


def _pattern_matches(pattern: str, path: str) -> bool:
    """Return whether one pattern matches `path`; an unreadable pattern matches nothing."""
    with contextlib.suppress(Exception):
        return _compile_patterns([pattern]).match_file(path)
    return False


_WILDCARD_RUN = lazily(r"[*?]+")
#: Characters by which a pattern says what isn't there to the letter.
_NOT_LITERAL = lazily(r"[\\\[!#]")


def _is_system_path(text: str) -> bool:
    """Return whether `text` could be a path on a system: pathspec's engines fail on all else."""
    return len(text) <= _LONGEST_PATH and "\0" not in text and not _LONE_SURROGATES.search(text)


def _compile_patterns(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """Return the valid ones of `patterns` compiled by pathspec; git passes over the others."""
    return _compile_cached_patterns(tuple(patterns))


# a log's learnings share their patterns, and are asked about file after file
@lru_cache(maxsize=4096)
def _compile_cached_patterns(patterns: tuple[str, ...]) -> "GitIgnoreSpec":
    spec = _read_lines(())
    for pattern in patterns:
        with contextlib.suppress(ValueError):
            spec += _read_lines([pattern])
    return spec


def compile_ignore_test(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate that tells whether gitignore's `patterns` leave out a relative path."""
    return _read_lines(patterns).match_file
