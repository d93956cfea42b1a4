"""Paths in commands and code: whether one leads to a folder, by any of that folder's names."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from enum import IntEnum

#: Stands for what only the running shell knows; in a path it may be any name.
UNKNOWN = "\0"
#: How the names of files end that may be notes.
NOTE_ENDINGS = ("org", "gpg", "age", "org_archive")
_VARIABLE_REFERENCE = (
    r"(?<!\\)\$(?:(\w+|[@*])|\{(\w+|[@*])(?:\[[^]}]{0,200}+\])?(?:(:?[-=]|%%?|##?)([^{}]*+)|[^{}]*+)\})"
)
_SUBSTITUTION = r"\$\([^()]*+\)|`[^`]*+`|\$\{[^{}]*+\}|\$\w++"
_BRACE_LIST = r"\{([^{},]*+,[^{}]*+)\}"
_WILDCARD_SIGNS = frozenset("*?[\0")
#: Of a hostile word or command: what comes after is not looked at on the disk, only as it is spelled.
_MAX_SPELLINGS = 64
_MAX_LOOKUPS = 400
_MAX_PATH_LENGTH = 4096
#: What code says for the home folder.
_HOME_IN_CODE = r"~|HOME\b|\bhome\b|homedir"


class PathReach(IntEnum):
    """The relation of a path to a guarded folder."""

    NONE = 0
    #: To a folder that the guarded one lies in.
    ABOVE = 1
    #: To the guarded folder or file, or into it.
    INSIDE = 2


class FolderNames:
    """Folders with all their names; reads the disk through `resolve` alone."""

    def __init__(
        self,
        folders: Sequence[str],
        *,
        home: str,
        resolve: Callable[[str], str],
    ) -> None:
        """Take the folders' names."""
        self.folders = tuple(dict.fromkeys(_normal_path(folder) for folder in folders if folder.strip("/")))
        self.home = _normal_path(home)
        self._parts = tuple(tuple(folder.strip("/").split("/")) for folder in self.folders)
        self._resolve = resolve
        self._resolved: dict[str, str] = {}
        home_prefix = self.home.rstrip("/") + "/"
        #: The folders' names below the home folder.
        self._tails = tuple(
            tuple(folder.removeprefix(home_prefix).split("/"))
            for folder in self.folders
            if folder.startswith(home_prefix)
        )

    @property
    def any_note(self) -> str:
        """An unknown file of the first folder."""
        return f"{self.folders[0]}/{UNKNOWN}" if self.folders else ""

    def find_reach(self, word: str, cwd: str) -> tuple[PathReach, str]:
        """Return the furthest reach of a word, and the path that it leads to."""
        furthest = (PathReach.NONE, "")
        for spelled in expand_braces(word.removeprefix("file://")):
            furthest = max(furthest, self._find_path(spelled, cwd), key=lambda reach_and_path: reach_and_path[0])
        return furthest

    def _find_path(self, spelled: str, cwd: str) -> tuple[PathReach, str]:
        if not spelled or len(spelled) > _MAX_PATH_LENGTH:
            return PathReach.NONE, ""
        path = self.resolve_word(spelled, cwd)
        reach = self._reach_by_spelling(path)
        if reach is not PathReach.INSIDE and UNKNOWN not in path and (real := self._real_path(path)) != path:
            real_reach = self._reach_by_spelling(real)
            if real_reach > reach:
                return real_reach, real
        return reach, path

    def resolve_word(self, spelled: str, cwd: str) -> str:
        """Return the path that a word stands for, as far as it is known."""
        # from the inside out: `$(dirname $(which x))`
        for _ in range(3 if "$" in spelled or "`" in spelled else 0):
            spelled = re.sub(_SUBSTITUTION, UNKNOWN, spelled)
        if spelled.startswith("~"):
            user, slash, relative_path = spelled[1:].partition("/")
            if user in ("", posixpath.basename(self.home)):
                spelled = self.home + slash + relative_path
        return spelled if spelled.startswith(UNKNOWN) else _normal_path(posixpath.join(cwd, spelled))

    def _reach_by_spelling(self, path: str) -> PathReach:
        """Return the reach of an absolute, normal path by its spelling; globs match as in a shell."""
        parts = path.strip("/").split("/") if path.strip("/") else []
        return max((_reach_of_parts(parts, kb) for kb in self._parts), default=PathReach.NONE)

    def _real_path(self, path: str) -> str:
        if path not in self._resolved:
            if len(self._resolved) >= _MAX_LOOKUPS:
                return path
            self._resolved[path] = self._resolve(path)
        return self._resolved[path]

    def find_in_text(self, text: str, cwd: str) -> str:
        """Return the first path in a piece of code that leads into a folder; empty without one."""
        for folder in self.folders:
            if folder in text and (match := re.search(re.escape(folder) + r"(?![\w-])", text)):
                return self._extend_path(text, match, folder)
        for tail in self._tails:
            tail_pattern = r"\W{1,8}".join(map(re.escape, tail))
            start = rf"(?:{_HOME_IN_CODE}|{re.escape(self.home)})\W{{1,12}}"
            if tail[-1] in text and (match := re.search(rf"{start}{tail_pattern}(?![\w-])", text)):
                return self._extend_path(text, match, "/".join((self.home, *tail)))
        for folder in self.folders:
            relative = posixpath.relpath(folder, cwd)
            position = text.find(relative) if "/" in relative else -1
            if position >= 0 and not text[:position][-1:].isalnum():
                return folder
        return ""

    def _extend_path(self, text: str, match: re.Match[str], folder: str) -> str:
        continuation = re.compile(r"/[^\s'\"`;|&<>(){}$]*+").match(text, match.end())
        return folder + (continuation[0] if continuation else "")


def expand_variables(word: str, variables: Mapping[str, str], substituted: str = UNKNOWN) -> str:
    """Return a word with the known variables expanded; `substituted` is the output of a command in it."""
    if "$" in word:
        word = re.sub(_VARIABLE_REFERENCE, lambda match: _variable_value(match, variables), word, count=_MAX_SPELLINGS)
    if substituted != UNKNOWN and re.search(r"\$\(|`|(?:^|=)[<>]\(", word):
        # one word may hold several; where they print a file's name, that is all that counts
        word = (re.match(r"\w+\+?=|", word) or [""])[0] + substituted
    return word


def _variable_value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    operator, pattern = match[3] or "", match[4] or ""
    value = variables.get(match[1] or match[2])
    if value is None:
        return expand_variables(pattern, variables) if operator[-1:] in ("-", "=") and operator else match[0]
    if operator in ("%", "%%"):
        if pattern == "/*":
            return value.rpartition("/")[0]
        is_ending = pattern[:2] == ".*" and "." in value
        return value[: value.rfind(".")] if is_ending else value.removesuffix(pattern)
    if operator in ("#", "##"):
        return value.rpartition("/")[2] if pattern == "*/" else value.removeprefix(pattern)
    return value


def expand_braces(word: str) -> list[str]:
    """Return the words that `{a,b}` expands to."""
    expanded: list[str] = []
    pending = [word]
    while pending and len(expanded) + len(pending) < _MAX_SPELLINGS:
        candidate = pending.pop()
        braces = re.search(_BRACE_LIST, candidate) if "{" in candidate else None
        if braces is None:
            expanded.append(candidate)
        else:
            parts = braces[1].split(",", maxsplit=_MAX_SPELLINGS)
            pending += [candidate[: braces.start()] + part + candidate[braces.end() :] for part in parts]
    return expanded + pending


def may_be_note(glob: str) -> bool:
    """Say whether a file's name that matches a glob may be a note's."""
    if re.search(r"[$`\0]", glob):
        return True
    # what follows the last wildcard is how the name ends
    tail = re.split(r"[*?\]]", glob)[-1].lower()
    is_open = len(tail) != len(glob)
    return any(tail.endswith(f".{ending}") or (is_open and f".{ending}".endswith(tail)) for ending in NOTE_ENDINGS)


def _normal_path(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/") if path.startswith("/") else posixpath.normpath(path)


def _reach_of_parts(parts: Sequence[str], kb: Sequence[str]) -> PathReach:
    for index, (part, name) in enumerate(zip(parts, kb, strict=False)):
        if part == "**":
            remaining_parts = parts[index + 1 :]
            is_below = (
                len(remaining_parts) != 1
                or may_be_note(remaining_parts[0])
                or any(matches_glob(remaining_parts[0], folder_name) for folder_name in kb[index:])
            )
            return PathReach.INSIDE if is_below else PathReach.NONE
        # what nobody knows is no name for the folder by itself
        is_last = index == len(kb) - 1
        is_like = (
            bool(_WILDCARD_SIGNS.intersection(part)) and matches_glob(part, name) and not (is_last and part == UNKNOWN)
        )
        if part != name and not is_like:
            return PathReach.NONE
    return PathReach.INSIDE if len(parts) >= len(kb) else PathReach.ABOVE


def matches_glob(glob: str, name: str) -> bool:
    """Match a glob, in a time that grows with the two lengths' product at most; UNKNOWN is any text."""
    glob = re.sub(r"\[[^]]{1,100}+\]", "?", glob).replace(UNKNOWN, "*")
    glob_position, name_position, star_position, retry_position = 0, 0, -1, 0
    while name_position < len(name):
        if glob_position < len(glob) and glob[glob_position] == "*":
            star_position, retry_position = glob_position, name_position
            glob_position += 1
        elif glob_position < len(glob) and glob[glob_position] in ("?", name[name_position]):
            glob_position, name_position = glob_position + 1, name_position + 1
        elif star_position >= 0:
            retry_position += 1
            glob_position, name_position = star_position + 1, retry_position
        else:
            return False
    return not glob[glob_position:].strip("*")
