"""Whether a word of a command, or a piece of code, leads to a folder, by any of the names that it has."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from enum import IntEnum

#: Stands for what only the running shell knows; in a path it may be any name.
UNKNOWN = "\0"
#: How the names of files end that may be notes.
ENDINGS = ("org", "gpg", "age", "org_archive")
_VARIABLE = (
    r"(?<!\\)\$(?:(\w+|[@*])|\{(\w+|[@*])(?:\[[^]}]{0,200}+\])?(?:(:?[-=]|%%?|##?)([^{}]*+)|[^{}]*+)\})"
)
_SUBSTITUTION = r"\$\([^()]*+\)|`[^`]*+`|\$\{[^{}]*+\}|\$\w++"
_BRACES = r"\{([^{},]*+,[^{}]*+)\}"
_LIVE = frozenset("*?[\0")
#: Of a hostile word or command: what comes after is not looked at on the disk, only as it is spelled.
_MOST_SPELLINGS = 64
_MOST_LOOKS = 400
_LONGEST_PATH = 4096
#: What code says for the home folder, and that the path ends there or goes on below with a pattern.
_HOME_IN_CODE = r"~|HOME\b|\bhome\b|homedir"
_GOES_ON = r"(?!\W{0,6}[/\\]\W{0,4}\w|\W{0,3},\s*['\"]\w|\w)"


class PathReach(IntEnum):
    """Where a path leads."""

    NONE = 0
    #: To a folder that the guarded one lies in.
    ABOVE = 1
    #: To the guarded folder or file, or into it.
    INSIDE = 2


class FolderNames:
    """Folders by all that they are called; looks at the disk through `resolve` alone."""

    def __init__(
        self,
        folders: Sequence[str],
        *,
        home: str,
        resolve: Callable[[str], str],
    ) -> None:
        """Take the folders' names."""
        self.folders = tuple(dict.fromkeys(_normal(one) for one in folders if one.strip("/")))
        self.home = _normal(home)
        self._parts = tuple(tuple(one.strip("/").split("/")) for one in self.folders)
        self._resolve = resolve
        self._resolved: dict[str, str] = {}
        near = self.home.rstrip("/") + "/"
        #: The folders' names below the home folder.
        self._tails = tuple(
            tuple(one.removeprefix(near).split("/")) for one in self.folders if one.startswith(near)
        )

    @property
    def any_note(self) -> str:
        """A file of the first folder that nobody knows."""
        return f"{self.folders[0]}/{UNKNOWN}" if self.folders else ""

    def find(self, word: str, cwd: str) -> tuple[PathReach, str]:
        """Return where a word leads at most, and the path."""
        best = (PathReach.NONE, "")
        for spelled in unbraced(word.removeprefix("file://")):
            best = max(best, self._find_path(spelled, cwd), key=lambda one: one[0])
        return best

    def _find_path(self, spelled: str, cwd: str) -> tuple[PathReach, str]:
        if not spelled or len(spelled) > _LONGEST_PATH:
            return PathReach.NONE, ""
        path = self.path(spelled, cwd)
        reach = self._spelled(path)
        if reach is not PathReach.INSIDE and UNKNOWN not in path and (real := self._real(path)) != path:
            really = self._spelled(real)
            if really > reach:
                return really, real
        return reach, path

    def path(self, spelled: str, cwd: str) -> str:
        """Return the path that a word is, as it is best known."""
        # from the inside out: `$(dirname $(which x))`
        for _ in range(3 if "$" in spelled or "`" in spelled else 0):
            spelled = re.sub(_SUBSTITUTION, UNKNOWN, spelled)
        if spelled.startswith("~"):
            who, slash, rest = spelled[1:].partition("/")
            if who in ("", posixpath.basename(self.home)):
                spelled = self.home + slash + rest
        return spelled if spelled.startswith(UNKNOWN) else _normal(posixpath.join(cwd, spelled))

    def _spelled(self, path: str) -> PathReach:
        """Say where an absolute, normal path leads by its spelling; globs match as in a shell."""
        parts = path.strip("/").split("/") if path.strip("/") else []
        return max((_reach(parts, kb) for kb in self._parts), default=PathReach.NONE)

    def _real(self, path: str) -> str:
        if path not in self._resolved:
            if len(self._resolved) >= _MOST_LOOKS:
                return path
            self._resolved[path] = self._resolve(path)
        return self._resolved[path]

    def in_text(self, text: str, cwd: str) -> str:
        """Return the first path in a piece of code that leads into a folder, or nothing."""
        for folder in self.folders:
            if folder in text and (found := re.search(re.escape(folder) + r"(?![\w-])", text)):
                return self._whole(text, found, folder)
        for tail in self._tails:
            below = r"\W{1,8}".join(map(re.escape, tail))
            start = rf"(?:{_HOME_IN_CODE}|{re.escape(self.home)})\W{{1,12}}"
            if tail[-1] in text and (found := re.search(rf"{start}{below}(?![\w-])", text)):
                return self._whole(text, found, "/".join((self.home, *tail)))
        for folder in self.folders:
            relative = posixpath.relpath(folder, cwd)
            at = text.find(relative) if "/" in relative else -1
            if at >= 0 and not text[:at][-1:].isalnum():
                return folder
        return ""

    def above_in_text(self, text: str) -> bool:
        """Say whether code names a folder that one of these lies in, home or below, and stops there."""
        for tail in self._tails:
            way = "".join(rf"(?:\W{{1,8}}{re.escape(one)}" for one in tail[:-1]) + ")?" * (len(tail) - 1)
            if re.search(rf"(?:{_HOME_IN_CODE}|{re.escape(self.home)})(?:\W{{0,4}}\))*{way}{_GOES_ON}", text):
                return True
        return False

    def _whole(self, text: str, found: re.Match[str], folder: str) -> str:
        rest = re.compile(r"/[^\s'\"`;|&<>(){}$]*+").match(text, found.end())
        return folder + (rest[0] if rest else "")


def expand(word: str, variables: Mapping[str, str], substituted: str = UNKNOWN) -> str:
    """Return a word with the variables that are known; `substituted` is what a command in it prints."""
    if "$" in word:
        word = re.sub(_VARIABLE, lambda found: _value(found, variables), word, count=_MOST_SPELLINGS)
    if substituted != UNKNOWN and re.search(r"\$\(|`|(?:^|=)[<>]\(", word):
        # one word may hold several; where they print a file's name, that is all that counts
        word = (re.match(r"\w+\+?=|", word) or [""])[0] + substituted
    return word


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    sign, pattern = found[3] or "", found[4] or ""
    value = variables.get(found[1] or found[2])
    if value is None:
        return expand(pattern, variables) if sign[-1:] in ("-", "=") and sign else found[0]
    if sign in ("%", "%%"):
        if pattern == "/*":
            return value.rpartition("/")[0]
        is_ending = pattern[:2] == ".*" and "." in value
        return value[: value.rfind(".")] if is_ending else value.removesuffix(pattern)
    if sign in ("#", "##"):
        return value.rpartition("/")[2] if pattern == "*/" else value.removeprefix(pattern)
    return value


def unbraced(word: str) -> list[str]:
    """Return the words that `{a,b}` makes of one."""
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) < _MOST_SPELLINGS:
        one = waiting.pop()
        braces = re.search(_BRACES, one) if "{" in one else None
        if braces is None:
            done.append(one)
        else:
            parts = braces[1].split(",", maxsplit=_MOST_SPELLINGS)
            waiting += [one[: braces.start()] + part + one[braces.end() :] for part in parts]
    return done + waiting


def may_be_note(glob: str) -> bool:
    """Say whether a file's name that is like a glob may be a note's."""
    if re.search(r"[$`\0]", glob):
        return True
    # what follows the last wildcard is how the name ends
    tail = re.split(r"[*?\]]", glob)[-1].lower()
    is_open = len(tail) != len(glob)
    return any(tail.endswith(f".{one}") or (is_open and f".{one}".endswith(tail)) for one in ENDINGS)


def _normal(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/") if path.startswith("/") else posixpath.normpath(path)


def _reach(parts: Sequence[str], kb: Sequence[str]) -> PathReach:
    for at, (part, name) in enumerate(zip(parts, kb, strict=False)):
        if part == "**":
            rest = parts[at + 1 :]
            is_below = len(rest) != 1 or may_be_note(rest[0]) or any(matches(rest[0], one) for one in kb[at:])
            return PathReach.INSIDE if is_below else PathReach.NONE
        # what nobody knows is no name for the folder by itself
        is_last = at == len(kb) - 1
        is_like = bool(_LIVE.intersection(part)) and matches(part, name) and not (is_last and part == UNKNOWN)
        if part != name and not is_like:
            return PathReach.NONE
    return PathReach.INSIDE if len(parts) >= len(kb) else PathReach.ABOVE


def matches(glob: str, name: str) -> bool:
    """Match a glob, in a time that grows with the two lengths' product at most; UNKNOWN is any text."""
    glob = re.sub(r"\[[^]]{1,100}+\]", "?", glob).replace(UNKNOWN, "*")
    at, here, star, mark = 0, 0, -1, 0
    while here < len(name):
        if at < len(glob) and glob[at] == "*":
            star, mark = at, here
            at += 1
        elif at < len(glob) and glob[at] in ("?", name[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return not glob[at:].strip("*")
