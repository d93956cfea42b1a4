"""Whether a word of a command, or a piece of code, leads to the knowledge base, by any of its names."""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from enum import IntEnum
from itertools import islice

_VARIABLE = r"\$(?:(\w+|[@*])|\{(!?\w+|[@*])(?:\[[^]}]{0,200}+\])?(?::?[-=]([^{}]*+))?\}|\{\w[^{}]*+\})"
_CHANGED = r"\$\{(\w+)(%%?|##?|//?|\^\^?|,,?|[:@])([^{}]*)\}"
_SUBSTITUTION = r"\$\([^()$]*+\)|`[^`]*+`|\$\{[^{}$]*+\}|\$\w++"
_BRACES = r"\{([^{},]*+,[^{}]*+)\}"
_SEQUENCE = r"\{(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d{1,6})?\}"
_EXTENDED_GLOB = r"[@!+*?]\([^()]*+\)"
#: A process's own root and folder.
_PROC = r"/proc/(?:self|thread-self|\d+|\$\$)/(?:root|(cwd))(?![\w-])"
#: What this machine calls itself, and what only the shell knows; `ADA@HOST:PATH` and its like.
_HERE = r"localhost(?:\.\w+)*|127(?:\.\d+){1,3}|0(?:\.0\.0\.0)?|\[::1?\]|ip6-localhost|[^/@]*[$`\0][^/@]*"
_UNSAID = r"[$`\0]"
#: One way to read each place of it: a hostile word could be read in as many ways as it has such places.
_NAMED = r"(?:\$\([^()]*\)|`[^`]*`|\$(?!\([^()]*\))|`(?![^`]*`)|[^\s/@:\[$`])+"
_ON_HOST = rf"(?:(?:file|rsync|scp|sftp|ssh)://)?(?:[^\s/@:]*@)?(?P<host>\[[^]]*\]|{_NAMED})(?P<rest>(?s:.*))"
_PARTS = r"[=:@,]"
_LIVE = frozenset("*?[\0")
#: Stands for what only the running shell knows.
_UNKNOWN = "\0"
#: Of a hostile word or command: what comes after is not looked at on the disk, only as it is spelled.
_MOST_SPELLINGS = 64
_MOST_LOOKS = 400
_MOST_LINKS = 20
_LONGEST_PATH = 4096


class Reach(IntEnum):
    """Where a path leads."""

    NONE = 0
    #: To a folder that the knowledge base lies in.
    ABOVE = 1
    #: To the knowledge base, or into it.
    INSIDE = 2


class Names:
    """The knowledge base by all that it is called; looks at the disk through `resolve` alone."""

    def __init__(
        self,
        folders: Sequence[str],
        *,
        home: str,
        resolve: Callable[[str], str],
        links: dict[str, str] | None = None,
        hosts: Sequence[str] = (),
        endings: Sequence[str] = (),
    ) -> None:
        """Take the folders' names, the `links` that a script made by now, and this machine's names.

        `endings` are those of the files below that count; without any there is nothing below.
        """
        self._endings = tuple(endings)
        self.folders = tuple(dict.fromkeys(_normal(one) for one in folders if one.strip("/")))
        self.home = _normal(home)
        self._kb = tuple(tuple(one.strip("/").split("/")) for one in self.folders)
        self._resolve = resolve
        self._links = {} if links is None else links
        named = "".join(rf"|{re.escape(one)}(?:\.[\w.-]+)?" for one in hosts if one)
        self._here = re.compile(_HERE + named, re.IGNORECASE)
        #: By the word, where it stands, and the links that were made before.
        self._found: dict[tuple[str, str, str, int], tuple[tuple[Reach, str], ...]] = {}
        #: By the path and the links that were made before.
        self._resolved: dict[tuple[str, int], str] = {}
        self._tails = tuple(
            kb[len(own) :]
            for kb in self._kb
            if (own := tuple(self.home.strip("/").split("/"))) == kb[: len(own)] and len(kb) > len(own)
        )
        #: The same with more and more of the home folder before them.
        self._longer_tails = tuple(
            kb[at:]
            for kb, tail in zip(self._kb, self._tails, strict=False)
            for at in range(len(kb) - len(tail), -1, -1)
        )

    def reach(self, path: str) -> Reach:
        """Say where an absolute, normal path leads by its spelling; globs match as in a shell."""
        parts = path.strip("/").split("/") if path.strip("/") else []
        return max((_reach(parts, kb, self._endings) for kb in self._kb), default=Reach.NONE)

    def find(self, word: str, cwd: str, home: str) -> tuple[Reach, str]:
        """Return where a word leads at most, and the path; it may hold one: `of=PATH`, `-oPATH`, `@PATH`."""
        best, where = Reach.NONE, ""
        for reach, path in self.all(word, cwd, home):
            if reach > best:
                best, where = reach, path
        return best, where

    def all(self, word: str, cwd: str, home: str) -> Iterator[tuple[Reach, str]]:
        """Yield where each path leads that a word may hold, and the path."""
        # a judge asks about each word again and again, and a hook has to answer in time
        asked = (word, cwd, home, len(self._links))
        if asked not in self._found:
            spellings = islice(self._spellings(word), _MOST_SPELLINGS)
            self._found[asked] = tuple(self.find_path(spelled, cwd, home) for spelled in spellings)
        yield from self._found[asked]

    def _spellings(self, word: str) -> Iterator[str]:
        if (":" in word or "//" in word) and (place := self.place_here(word)) is not None:
            yield place
            yield "/" + place.removeprefix("~/")
        yield from _spellings(word)

    def place_here(self, word: str) -> str | None:
        """Return the path that `HOST:PATH` names, from the home folder, where the host is this machine."""
        found = re.fullmatch(_ON_HOST, word)
        if found is None or not self.is_here(found["host"]):
            return None
        if "://" in word:
            place = re.sub(r"^:\d+", "", found["rest"]).lstrip("/")
            return f"~/{place}"
        place = found["rest"].removeprefix(":").removeprefix(":")
        if re.match(_UNSAID, place) and re.search(_UNSAID, found["host"]):
            # `$USER:$GROUP`
            return None
        return place if place.startswith(("/", "~")) else f"~/{place}" if found["rest"][:1] == ":" else None

    def is_here(self, host: str) -> bool:
        """Say whether a host's name may be this machine's."""
        return self._here.fullmatch(host.rpartition("@")[2].removeprefix("ssh://").strip("/")) is not None

    def find_path(self, spelled: str, cwd: str, home: str = "") -> tuple[Reach, str]:
        """Return where one path leads, and the path as it is best known."""
        home = home or self.home
        if not spelled or len(spelled) > _LONGEST_PATH:
            return Reach.NONE, ""
        spelled = self._expand_tilde(spelled.removeprefix("file://"), cwd, home)
        if "/proc/" in spelled:
            spelled = re.sub(_PROC, lambda found: cwd if found[1] else "", spelled)
        if "(" in spelled and "$(" not in spelled:
            spelled = re.sub(_EXTENDED_GLOB, "*", spelled)
        # from the inside out: `$(dirname $(which x))`
        for _ in range(3 if "$" in spelled or "`" in spelled else 0):
            spelled = re.sub(_SUBSTITUTION, _UNKNOWN, spelled)
        if spelled.startswith(_UNKNOWN):
            return self._find_tail(spelled)
        joined = posixpath.join(cwd, spelled)
        path = _normal(joined)
        reach = self.reach(path)
        if reach is not Reach.INSIDE and _UNKNOWN not in joined and (real := self._real(joined)) != path:
            really = self.reach(real)
            if really > reach:
                return really, real
        return reach, path

    def _find_tail(self, spelled: str) -> tuple[Reach, str]:
        """Judge `$UNKNOWN/sync/org/roam/…`: the variable may well be the home folder."""
        rest = spelled.lstrip(_UNKNOWN).strip("/").split("/")
        for tail in self._longer_tails if rest[0] != "**" else ():
            if len(tail) > 1 and _reach(rest, tail, self._endings) is Reach.INSIDE:
                return Reach.INSIDE, posixpath.join(self.folders[0], *rest[len(tail) :])
        return Reach.NONE, ""

    def _expand_tilde(self, spelled: str, cwd: str, home: str) -> str:
        if not spelled.startswith("~"):
            return spelled
        who, slash, rest = spelled[1:].partition("/")
        if who == "+":
            return cwd + slash + rest
        own = who == posixpath.basename(self.home)
        return (self.home if own else home) + slash + rest if own or not who else spelled

    def link(self, at: str, to: str) -> None:
        """Take `at` for a link to `to` from now on: the script makes it."""
        if len(self._links) < _MOST_LINKS:
            self._links[_normal(at)] = to

    def _real(self, path: str) -> str:
        known = (path, len(self._links))
        if known not in self._resolved:
            if len(self._resolved) >= _MOST_LOOKS:
                return _normal(path)
            self._resolved[known] = self._resolve(self._linked(path))
        return self._resolved[known]

    def _linked(self, path: str) -> str:
        for _ in self._links:
            normal = _normal(path)
            at = next((at for at in self._links if f"{normal}/".startswith(f"{at}/")), None)
            if at is None:
                break
            path = _normal(self._links[at] + normal[len(at) :])
        return path

    def in_text(self, text: str, cwd: str) -> str:
        """Return the first path in a piece of code that leads into the knowledge base, or nothing."""
        if not any(kb[-1] in text for kb in self._kb):
            return ""
        if found := re.search("|".join(self._code_patterns()) or r"(?!)", text):
            return self._whole(text, found)
        for folder in self.folders:
            relative = posixpath.relpath(folder, cwd)
            at = text.find(relative) if "/" in relative else -1
            if at >= 0 and not text[:at][-1:].isalnum():
                return folder
        return ""

    def _whole(self, text: str, found: re.Match[str]) -> str:
        rest = re.compile(r"/[^\s'\"`;|&<>(){}$]*+").match(text, found.end())
        return self.folders[0] + (rest[0] if rest else "")

    def _code_patterns(self) -> Iterator[str]:
        """Yield what code says for the folder: itself, or the home folder and the names below it."""
        for folder in self.folders:
            yield re.escape(folder) + r"(?![\w-])"
        for tail in self._tails:
            below = r"\W{1,8}".join(map(re.escape, tail))
            yield rf"(?:~|HOME|home|homedir|{re.escape(self.home)})\W{{1,12}}{below}(?![\w-])"


def expand(word: str, variables: dict[str, str]) -> str:
    """Return a word with the variables that are known; `${NAME:-other}` is the other where it isn't."""
    if "$" not in word:
        return word
    return re.sub(_VARIABLE, lambda found: _variable_value(found, variables), word, count=_MOST_SPELLINGS)


def _variable_value(found: re.Match[str], variables: dict[str, str]) -> str:
    name = found[1] or found[2]
    if name and name.startswith("!"):
        name = variables.get(name[1:], "")
    if name in variables:
        return variables[name]
    if name is None and (changed := re.fullmatch(_CHANGED, found[0])) and changed[1] in variables:
        return _trimmed(variables[changed[1]], changed[2], changed[3])
    return found[3] if found[3] is not None else found[0]


def _trimmed(value: str, sign: str, pattern: str) -> str:
    """Return `${NAME%pattern}` and its like; of what changes a value otherwise, the value as it was."""
    if sign in ("%", "%%"):
        return value[: _cut(value, pattern, is_longest=sign == "%%")]
    if sign in ("#", "##"):
        rest = _cut(value[::-1], _simple(pattern)[::-1], is_longest=sign == "##")
        return value[len(value) - rest :]
    if sign in ("/", "//"):
        old, _, new = pattern.partition("/")
        is_plain = old and not _LIVE.intersection(old)
        return value.replace(old, new, -1 if sign == "//" else 1) if is_plain else value
    if sign in (",", ",,"):
        return value.lower() if sign == ",," else value[:1].lower() + value[1:]
    if sign in ("^", "^^"):
        return value.upper() if sign == "^^" else value[:1].upper() + value[1:]
    return value


def _cut(value: str, pattern: str, *, is_longest: bool) -> int:
    """Return where the end of `value` begins that is like a glob; the length where none is.

    All ends at once, as the bits of a number, since a hostile script may ask hundreds of times.
    """
    begins = 1 << len(value)
    pattern = _simple(pattern)
    places = {sign: _places(sign, value) for sign in set(pattern)}
    for sign in reversed(pattern):
        begins = (1 << begins.bit_length()) - 1 if sign == "*" else begins >> 1 & places[sign]
        if not begins:
            return len(value)
    return ((begins & -begins) if is_longest else begins).bit_length() - 1


def _places(sign: str, value: str) -> int:
    """Return where a letter stands in `value`, as bits; `?` is any."""
    if sign == "?":
        return (1 << len(value)) - 1
    return sum(1 << at for at, one in enumerate(value) if one == sign) if sign in value else 0


def _spellings(word: str) -> Iterator[str]:
    """Yield every path that a word may hold."""
    for one in _unbraced(word):
        yield one
        if one.startswith("-"):
            yield one[2:]
            yield from (one[at:] for at in (one.find("/"), one.find("~")) if at > 1)
        if re.search(_PARTS, one):
            yield from re.split(_PARTS, one, maxsplit=_MOST_SPELLINGS)[1:]
            yield re.split(_PARTS, one, maxsplit=1)[0]


def _unbraced(word: str) -> list[str]:
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) < _MOST_SPELLINGS:
        one = waiting.pop()
        braces = (re.search(_BRACES, one) or re.search(_SEQUENCE, one)) if "{" in one else None
        if braces is None:
            done.append(one)
        else:
            waiting += [one[: braces.start()] + part + one[braces.end() :] for part in _parts_of(braces)]
    return done + waiting


def _parts_of(braces: re.Match[str]) -> list[str]:
    if ".." not in braces[0] or "," in braces[0]:
        return braces[1].split(",", maxsplit=_MOST_SPELLINGS)
    first, last = braces[1], braces[2]
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return ["*"]
    is_number = first.lstrip("-").isdigit()
    ends = sorted((int(one) if is_number else ord(one)) for one in (first, last))
    if ends[1] - ends[0] >= _MOST_SPELLINGS // 2:
        return ["*"]
    each = range(ends[0], ends[1] + 1)
    return [str(one) if is_number else chr(one) for one in each]


def _normal(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/") if path.startswith("/") else posixpath.normpath(path)


def _reach(parts: Sequence[str], kb: Sequence[str], endings: Sequence[str]) -> Reach:
    for at, (part, name) in enumerate(zip(parts, kb, strict=False)):
        if part == "**":
            return Reach.INSIDE if _is_below(parts[at + 1 :], kb[at:], endings) else Reach.NONE
        if part != name and not (
            _LIVE.intersection(part) and _matches(part, name, is_last=at == len(kb) - 1)
        ):
            return Reach.NONE
    return Reach.INSIDE if len(parts) >= len(kb) else Reach.ABOVE


def _is_below(rest: Sequence[str], names: Sequence[str], endings: Sequence[str]) -> bool:
    """Say whether `**/REST` may be a folder on the way, or a file below that counts."""
    if len(rest) != 1:
        return True
    pattern = rest[0]
    if any(_matches(pattern, name, is_last=False) for name in names):
        return True
    # what follows the last wildcard is how the name ends
    tail = re.split(r"[*?\]\0$`]", pattern)[-1]
    is_open = tail != pattern
    return any(tail.endswith(one) or (is_open and one.endswith(tail)) for one in endings)


def _simple(pattern: str) -> str:
    """Return a glob with `*` and `?` alone."""
    return re.sub(r"\[[^]]{1,100}+\]", "?", pattern).replace(_UNKNOWN, "*")


def _matches(pattern: str, name: str, *, is_last: bool) -> bool:
    """Match a glob; what nobody knows matches anything, but is no name for the folder by itself."""
    if is_last and not pattern.strip(_UNKNOWN):
        return False
    pattern = _simple(pattern)
    at = star = -1
    here, mark = 0, 0
    at = 0
    while here < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, here
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")
