"""Addresses of remotes: whose they are by host and owner, and the folders of this machine that they lead to.

Neither git nor ssh is asked. Hosts are what ssh_config(5) makes of them for the user: of several values that may hold,
all count, since an address may make a project less than personal and never more.
"""

import os
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from posixpath import join
from posixpath import normpath
from posixpath import realpath

from roamkb import TYPE_CHECKING
from roamkb import lazy_module
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file

if TYPE_CHECKING:
    from urllib import parse as url_parse
else:
    # it takes a tenth of the time of Python's start, for the few remotes that need it
    url_parse = lazy_module("urllib.parse")

#: `HELPER::ADDRESS` of gitremote-helpers(7).
_HELPER = lazily(r"([A-Za-z0-9][\w.+-]*)::")
_SCHEME = lazily(r"[A-Za-z][\w.+-]*")
_FILE = lazily(r"(?i)file:(?://[^/]*(?=/))?")
#: The same service by another name, for where a network closes the port of ssh: `ssh.github.com`, `altssh.gitlab.com`.
_SERVICE_PREFIXES = ("ssh", "altssh", "vs-ssh", "www")
#: The end of a host of the internet; any other word may be an alias of a configuration that isn't seen.
_TOP_NAME = lazily(r"[a-z]+|xn--[a-z0-9-]+")
#: As inet_aton(3) reads it: `127.1`, `0x7f.1` and `2130706433` are one address.
_IP_NUMBER = lazily(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}")
_SSH_KEY = lazily(r'\s*(?:([A-Za-z]+)(?:\s*=\s*|\s+)|"([A-Za-z]+)"\s*(?:=\s*)?)')
#: Of the words of a line: an escape, a piece in quotes of either kind, a gap and a comment behind it, anything else.
_WORD_PIECE = lazily(
    r"""\\(["'\\ ])|"((?:\\["'\\]|\\(?!["'\\])|[^"\\])*)"|'((?:\\["'\\]|\\(?!["'\\])|[^'\\])*)'"""
    r"""|([ \t]+(?:#.*)?)|([^"'\\ \t]+|.)"""
)
_QUOTED_ESCAPE = lazily(r"""\\(["'\\])""")
_SYSTEM_CONFIG = "/etc/ssh/ssh_config"
_MOST_CONFIGS = 256
#: What lets the name of a host not tell where ssh leads.
_LEADING_KEYS = ("canonicalizehostname", "proxycommand")
#: Of a command that leads where plain ssh does: its flags, its `-o`, and what a shell does more than split it.
_PLAIN_FLAGS = lazily(r"-[46AaCknqTvxX]+")
_PLAIN_OPTIONS = (
    "identit",
    "addkeystoagent",
    "stricthostkey",
    "userknownhosts",
    "batchmode",
    "connecttimeout",
    "server",
)
_SHELL_SIGN = lazily(r"[;&|<>()`$\n]")
_AZURE = "dev.azure.com"
#: Far above what a path or a name of the internet may have.
_LONGEST_ADDRESS = 4096
_LONGEST_HOST = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class _Address:
    """What a URL says: a path here where `host` is None, else a path there."""

    host: str | None
    path: str
    scheme: str = ""

    @property
    def is_ssh(self) -> bool:
        return "ssh" in self.scheme

    def find_leading_setting(self, commands: Iterable[tuple[str, str]]) -> str | None:
        """Return the setting whose command may lead elsewhere than the host says."""
        for key, command in commands:
            if key == "sshcommand" and self.is_ssh and _leads_elsewhere(command):
                return "core.sshCommand"
            if key == "gitproxy" and self.scheme == "git" and command.split()[:1] != ["none"]:
                return "core.gitProxy"
        return None


class RemoteAddresses:
    """The addresses of remotes as the user's own configuration in `homes` makes them."""

    def __init__(self, homes: Iterable[Path]) -> None:
        self.homes = tuple(str(home) for home in homes)

    @property
    def git_configs(self) -> tuple[str, ...]:
        """The files in which git finds what it does with URLs in every repository; they needn't be there."""
        return (
            "/etc/gitconfig",
            *(join(home, name) for home in self.homes for name in (".config/git/config", ".gitconfig")),
        )

    def find_owners(self, url: str, *, commands: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
        """Yield the host of a remote and the first name of its path there, `HOST/OWNER`: whose it is.

        Without an owner the whole host is one's. `/OWNER` says that the host can't be told, `/` that nothing can.
        `commands` are the configured ones, as `RepositoryPointers` has them.
        """
        address = _parse_address(url)
        if address.host is None or len(address.host) > _LONGEST_HOST:
            return
        parts = normpath("/" + _unquote(address.path)).casefold().strip("/").split("/")
        hosts = tuple(self._real_hosts(address.host))
        for host in hosts:
            yield from _accounts(host, parts)
        if not self._is_told(address, own_name=hosts[-1], commands=commands):
            yield from ("/" + account.partition("/")[2] for account in _accounts(hosts[-1], parts))

    def find_local_paths(self, url: str, folder: str) -> Iterator[str]:
        """Yield the paths on this machine that a remote of the repository `folder` is, also with `%20` decoded."""
        address = _parse_address(url)
        tops: tuple[str, ...] = (folder,)
        if address.host is not None:
            if (
                not (address.is_ssh or address.scheme == "git")
                or len(address.host) > _LONGEST_HOST
                or not any(_is_this_machine(name) or _is_number(name) for name in self._real_hosts(address.host))
            ):
                return
            tops = self.homes
        for path in dict.fromkeys((address.path, _unquote(address.path))):
            if not path or "\0" in path:
                continue
            # git-upload-pack and a shell know the home by it
            is_in_home = path.removeprefix("/").startswith("~/")
            for top in self.homes if is_in_home else tops:
                yield join(realpath(top), path.removeprefix("/").removeprefix("~/") if is_in_home else path)

    def find_doubt(self, url: str, *, commands: Sequence[tuple[str, str]] = ()) -> str | None:
        """Return why it can't be told where a remote leads to, as a clause: a command says it, or too much does."""
        address = _parse_address(url)
        if len(url) > _LONGEST_ADDRESS or len(address.host or "") > _LONGEST_HOST:
            return "the address of its remote is longer than any"
        for helper in _helpers(url):
            if helper[1].casefold() in ("ext", "fd"):
                return f"its remote {helper[1]}::… is a command, which may lead anywhere"
        if setting := address.find_leading_setting(commands):
            return f"its {setting} may lead anywhere"
        return self._ssh.doubt if address.is_ssh else None

    def _real_hosts(self, host: str) -> Iterator[str]:
        """Yield the names of a host that ssh may know it by, the real ones first, and its own."""
        names = [
            name.replace("%h", host).replace("%%", "%")
            for patterns, name in self._ssh.hosts
            if patterns is None or patterns.match(host)
        ]
        yield from dict.fromkeys(map(_canonical_host, (*names, host)))

    def _is_told(self, address: _Address, *, own_name: str, commands: Sequence[tuple[str, str]]) -> bool:
        """Say whether it is known which host that is; a `Match` may be for another one."""
        host = address.host or ""
        if address.find_leading_setting(commands) or (
            address.is_ssh and any(patterns is None or patterns.match(host) for patterns in self._ssh.leading)
        ):
            return False
        return (
            _is_full_name(own_name)
            or _is_this_machine(own_name)
            or any(patterns.has_name(host) for patterns in self._ssh.blocks)
            or any(patterns.match(host) for patterns in self._ssh.telling)
        )

    @cached_property
    def _ssh(self) -> "_SshConfig":
        pending = [(join(home, ".ssh/config"), join(home, ".ssh")) for home in self.homes]
        pending.append((_SYSTEM_CONFIG, "/etc/ssh"))
        ssh = _SshConfig()
        visited: set[str] = set()
        while pending:
            config, folder = pending.pop(0)
            if config in visited:
                continue
            if len(visited) == _MOST_CONFIGS:
                ssh.doubt = f"more than {_MOST_CONFIGS} files belong to ssh's configuration"
                break
            visited.add(config)
            pending += ((path, folder) for word in ssh.read(config) for path in _included(word, folder))
        return ssh


class _SshConfig:
    """What ssh's configuration says of hosts; patterns that are None may be any host's."""

    def __init__(self) -> None:
        self.blocks: list[_HostPatterns] = []
        self.hosts: list[tuple[_HostPatterns | None, str]] = []
        #: Of the hosts that a `Host` line with a `HostName` tells.
        self.telling: list[_HostPatterns] = []
        #: Of the hosts whose name doesn't tell where ssh leads.
        self.leading: list[_HostPatterns | None] = []
        #: Why it may say more, as a clause.
        self.doubt: str | None = None

    def read(self, config: str) -> list[str]:
        """Read one file, and return the words of its `Include` lines."""
        patterns: _HostPatterns | None = _HostPatterns(["*"])
        is_match = False
        included: list[str] = []
        data = read_file(Path(config))
        if isinstance(data, UnreadableFile):
            # ssh, too, does without a file that it may not read
            self.doubt = f"ssh's file {config} {data.reason}" if os.access(config, os.R_OK) else self.doubt
            return []
        for key, words in _ssh_settings(os.fsdecode(data)):
            if key == "include":
                included += words
            elif key in ("host", "match"):
                is_match = key == "match"
                patterns = _match_patterns(words) if is_match else _HostPatterns(words)
                self.blocks += () if is_match or patterns is None else (patterns,)
            elif words:
                self._add(patterns, key, words[0], is_match=is_match)
        return included

    def _add(self, patterns: "_HostPatterns | None", key: str, value: str, *, is_match: bool) -> None:
        if key == "hostname":
            self.hosts.append((patterns, value))
            self.telling += () if is_match or patterns is None else (patterns,)
        elif key in _LEADING_KEYS and value.casefold() not in ("no", "none"):
            # a `Match` may ask about the host's other name
            self.leading.append(None if is_match else patterns)


class _HostPatterns:
    """The patterns of one `Host` line of ssh_config(5)."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._wanted: list[str] = []
        self._unwanted: list[str] = []
        for pattern in patterns:
            (self._unwanted if pattern.startswith("!") else self._wanted).append(pattern.removeprefix("!").casefold())

    def match(self, host: str) -> bool:
        """Say whether the line is for `host`."""
        host = host.casefold()
        return self._wants(host) and not self._refuses(host)

    def has_name(self, host: str) -> bool:
        """Say whether the line names `host` itself, without wildcards."""
        return host.casefold() in self._wanted and self.match(host)

    @cached_property
    def _wants(self) -> Callable[[str], bool]:
        return _make_matcher(self._wanted)

    @cached_property
    def _refuses(self) -> Callable[[str], bool]:
        return _make_matcher(self._unwanted)


def _match_patterns(words: Sequence[str]) -> _HostPatterns | None:
    """Return the patterns of a `Match` that begins with the host; what else it asks about isn't asked here."""
    if len(words) > 1 and words[0].casefold() in ("host", "originalhost"):
        return _HostPatterns(words[1].split(","))
    return None


def _make_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test of whether a host is one of `patterns`, which takes time in proportion to both."""
    names = {pattern for pattern in patterns if not _has_wildcard(pattern)}
    globs = [re.compile(_glob_expression(pattern), re.DOTALL) for pattern in patterns if _has_wildcard(pattern)]
    return lambda host: host in names or any(glob.fullmatch(host) for glob in globs)


def _has_wildcard(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _glob_expression(pattern: str) -> str:
    """Return a pattern as an expression that never goes back: the first place where a piece stands is the best."""
    first, *middle = (re.escape(piece).replace(r"\?", ".") for piece in pattern.split("*"))
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + f".*{last}"


def _helpers(url: str) -> Iterator[re.Match[str]]:
    """Yield the helpers that stand before an address, one behind another."""
    start = 0
    while helper := _HELPER.match(url, start):
        yield helper
        start = helper.end()


def _parse_address(url: str) -> _Address:
    start = 0
    for helper in _helpers(url):
        start = helper.end()
    url = url[start:]
    if file := _FILE.match(url):
        return _Address(host=None, path=url[file.end() :])
    scheme, is_url, rest = url.partition("://")
    if is_url and _SCHEME.fullmatch(scheme):
        name, slash, path = rest.partition("/")
        return _Address(host=_unquote(_host_of(name)), path=slash + path, scheme=scheme.casefold())
    host, path = _split_scp(url)
    return _Address(host=_host_of(host), path=path, scheme="ssh") if host else _Address(host=None, path=url)


def _split_scp(url: str) -> tuple[str, str]:
    """Return host and path of `[USER@]HOST:PATH` of ssh, as git tells it from a path; the host is empty for one."""
    name = url.partition("/")[0]
    boxed = name.find("@[") + 1
    end = name.find("]", boxed) + 1 if name.startswith("[", boxed) else 0
    colon = name.find(":", end)
    if colon < 0:
        return "", url
    # the box may hold all, `[USER@HOST:PORT]`
    return name[boxed + 1 : end - 1] if end else name[:colon], url[colon + 1 :]


def _host_of(name: str) -> str:
    """Return the host of `[USER@]HOST[:PORT]`, with or without brackets."""
    name = name.rpartition("@")[2]
    if name.startswith("["):
        return name[1:].partition("]")[0]
    # more colons are of IPv6
    return name.partition(":")[0] if name.count(":") == 1 else name


def _unquote(path: str) -> str:
    return url_parse.unquote(path) if "%" in path else path


def _canonical_host(host: str) -> str:
    name = host.casefold().strip("[]").rstrip(".")
    service, _, rest = name.partition(".")
    return rest if service in _SERVICE_PREFIXES and "." in rest else name


def _accounts(host: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield whose the path `parts` of `host` is, `HOST/OWNER`, also where a service has several names of an account."""
    account, _, service = host.partition(".")
    if service == "visualstudio.com":
        yield f"{_AZURE}/{account}"
        return
    host = _AZURE if host == "visualstudio.com" else host
    if host == _AZURE and parts[0] == "v3":
        parts = parts[1:]
    owner = parts[0] if len(parts) > 1 else ""
    yield f"{host}/{owner}"
    # Bitbucket Server and Gerrit, where these are no more than the way by https
    if owner in ("scm", "a") and len(parts) > 2:
        yield f"{host}/{parts[1]}"


def _leads_elsewhere(command: str) -> bool:
    """Say whether a command may lead elsewhere than ssh by the user's configuration."""
    if len(command) > _LONGEST_ADDRESS or _SHELL_SIGN.search(command.replace("$HOME/", "~/")):
        return True
    words = iter(_split_words(command))
    if next(words, "") not in ("ssh", "/usr/bin/ssh"):
        return True
    for word in words:
        if word[:2] not in ("-i", "-o"):
            if not _PLAIN_FLAGS.fullmatch(word):
                return True
            continue
        value = word[2:] or next(words, "")
        if word[1] == "o" and not value.casefold().startswith(_PLAIN_OPTIONS):
            return True
    return False


def _is_full_name(host: str) -> bool:
    top = host.rpartition(".")
    if not host.isascii():
        # a browser's rules make `github.com` of letters that look so
        return False
    return bool(top[0] and _TOP_NAME.fullmatch(top[2]))


def _is_number(host: str) -> bool:
    """Say whether a host is an address by number, in whatever form: it may be any host's, this machine's as well."""
    return ":" in host or _IP_NUMBER.fullmatch(host) is not None


def _is_this_machine(host: str) -> bool:
    name = os.uname().nodename.casefold()
    return host == "localhost" or host.endswith(".localhost") or host in (name, name.partition(".")[0], f"{name}.local")


def _ssh_settings(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the entries of one file."""
    for line in text.split("\n"):
        if key := _SSH_KEY.match(line):
            yield (key[1] or key[2]).casefold(), _split_words(line[key.end() :].strip())


def _split_words(text: str) -> list[str]:
    """Return the words of a line as ssh splits it: a comment begins where a word would."""
    if not any(character in text for character in "\"'\\#"):
        return text.split()
    words = [""]
    for piece in _WORD_PIECE.finditer(" " + text):
        escape, double, single, gap, other = piece.groups()
        if gap is None:
            words[-1] += escape or other or _QUOTED_ESCAPE.sub(r"\1", double or single or "")
        elif "#" in gap:
            break
        else:
            words.append("")
    return [word for word in words if word]


def _included(word: str, folder: str) -> Iterator[str]:
    """Yield the files of an `Include`, which may have wildcards."""
    pattern = normpath(join(folder, "..", word[2:]) if word.startswith("~/") else join(folder, word))
    try:
        yield from sorted(map(str, Path("/").glob(pattern.lstrip("/"))))
    # pathlib's own word for a pattern that it doesn't take
    except (OSError, ValueError, NotImplementedError):
        return
