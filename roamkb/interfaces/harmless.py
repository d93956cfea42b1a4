"""Calls of tools that nobody has to be asked about: harmless at a glance, or free by the strictest judgement.

A session makes hundreds, and to find out what its project is takes ten times as long as Python takes to
start. So that is asked only of what might be denied somewhere; tests hold this to it that what `core/guard`
denies is neither harmless nor free. This imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH109, PTH116, PTH117, PTH118, PTH120

import os

from roamkb.storage.belonging import usual_state
from roamkb.storage.kb_names import names_of_kb
from roamkb.storage.served import TOKEN
from roamkb.storage.served import served_ports

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    Payload = dict[str, Any]

_SHELLS = frozenset("Bash shell exec_command".split())
#: Words and places that the guard looks at, wherever they stand; what may lead anywhere; what parts words.
_GUARDED = ("roamkb", "knowledge-base", ".claude", ".codex", "settings.", "hooks.json", "config.toml")
_GUARDED_PLACES = ("/.claude/", "/.codex/")
#: As in `core/guard`, which takes longer to import than this takes to run; a test compares them.
_PROTECTED = (
    ".claude/rules/knowledge-base.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
)
_FAR = ("~", "$", "`", "..", "*", "?", "[", "{")
_BETWEEN = frozenset(" \t\n\r'\"=:;|&<>(),")
#: Of a call: it runs in another folder.
_MOVERS = ("workdir", "working_directory", "cwd", "action")
_MOST_READ = 4096
_MOST_WORDS = 64
#: What a shell takes out of a word.
_QUOTES = str.maketrans("", "", "'\"\\")


def is_harmless(payload: "Payload", file: str) -> bool:
    """Say whether a call is sure to be no concern of the guard's, by what takes no time to see.

    A test holds it to that: what `core/guard` denies is never harmless.
    """
    kb = names_of_kb()
    if file:
        if TOKEN in file or TOKEN in named(payload):
            return False
        return not _is_guarded(file, named(payload)) and not _leads_to(file, kb)
    given = payload.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    if payload.get("tool_name") not in _SHELLS or not isinstance(command, str) or len(command) > _MOST_READ:
        return False
    plain = command.translate(_QUOTES).replace("\n", "")
    state = usual_state()
    if any(word in plain for word in (*_GUARDED, TOKEN, *served_ports(state))) or any(
        mark in command for mark in _FAR
    ):
        return False
    home = _home().rstrip("/") + "/"
    if any(part in plain for name in kb for part in name.removeprefix(home).split("/") if part):
        return False
    here = cwd(payload)
    if isinstance(given, dict) and any(key in given for key in _MOVERS):
        return False
    words = "".join(" " if letter in _BETWEEN else letter for letter in command).split()
    if len(words) > _MOST_WORDS:
        return False
    places = [here, *(os.path.join(here, word) for word in dict.fromkeys(words) if not word.startswith("-"))]
    guarded = {*_protected(), os.path.realpath(os.path.join(state, TOKEN))}
    if not guarded.isdisjoint(map(os.path.realpath, places)):
        return False
    return not any(_leads_to(place, kb) or _holds(place, kb) for place in places)


def is_free(payload: "Payload") -> bool:
    """Say whether no kind of project would have the call denied.

    It is judged as if every note were a human's; where nobody knows what the knowledge base is called, or
    what other mounts call it, somebody has to look.
    """
    from roamkb.core.guard import Ground
    from roamkb.formats.tool_calls import judge_tool
    from roamkb.storage.mounts import other_names
    from roamkb.storage.mounts import read_mounts

    kb = names_of_kb()
    try:
        mounts = read_mounts("/proc")
    except OSError:
        return False
    names = tuple(dict.fromkeys((*kb, *(other for one in kb for other in other_names(one, mounts)))))
    given = payload.get("tool_input")
    for kind in ("unknown", "personal") if names else ():
        ground = Ground(
            kb=names,
            kind=kind,
            cwd=cwd(payload),
            home=_home(),
            is_agent_note=lambda _: False,
            resolve=os.path.realpath,
            variables=os.environ,
            hosts=(os.uname().nodename,),
            ports=served_ports(usual_state()),
            token=os.path.join(usual_state(), TOKEN),
        )
        if judge_tool(str(payload.get("tool_name", "")), given if isinstance(given, dict) else {}, ground):
            return False
    return bool(names)


def _is_guarded(file: str, named: str) -> bool:
    """Say whether a file, by its real path and as it is named, may be what makes the rule count."""
    if any(part in one for part in _GUARDED_PLACES for one in (file, named)):
        return True
    return file in _protected()


def _protected() -> set[str]:
    home = _home()
    return {os.path.realpath(os.path.join(home, name)) for name in _PROTECTED}


def _leads_to(path: str, kb: list[str]) -> bool:
    """Say whether `path` is in the knowledge base, by links and by what other mounts call it, too."""
    real = os.path.realpath(path)
    if any(_is_in(one, name) for one in (path, real) for name in kb):
        return True
    inodes = {_inode(name) for name in kb} - {None}
    while inodes:
        if _inode(real) in inodes:
            return True
        top = os.path.dirname(real)
        if top == real:
            break
        real = top
    return False


def _holds(path: str, kb: list[str]) -> bool:
    """Say whether the knowledge base is below `path`."""
    return any(_is_in(name, one) for one in (path, os.path.realpath(path)) for name in kb)


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _home() -> str:
    return os.environ.get("HOME") or "/"


def edited(payload: "Payload") -> str:
    """Return the real path of the file that an editor's call is about."""
    path = named(payload)
    return os.path.realpath(path) if path else ""


def named(payload: "Payload") -> str:
    """Return the path of the file that an editor's call is about, as it is named there, from the root."""
    given = payload.get("tool_input")
    told = (given.get("file_path") or given.get("notebook_path")) if isinstance(given, dict) else None
    if not isinstance(told, str) or not told or "\0" in told:
        return ""
    return os.path.join(cwd(payload), os.path.expanduser(told))


def cwd(payload: "Payload") -> str:
    told = payload.get("cwd")
    return told if isinstance(told, str) and os.path.isabs(told) else os.getcwd()
