"""What an agent's tool call would do to the knowledge base, and whether it may: the boundary's second wall.

`guard/tool_calls.judge_tool` is the door: it reads the call and asks here.
"""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping

from roamkb.guard.paths import ENDINGS
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import PathReach


class GuardContext:
    """What the hook found on the disk, and what it finds out when it is asked."""

    # no dataclass, since hooks import this: that module takes twice as long as Python to start
    __slots__ = (
        "_kind", "cwd", "guarded", "home", "is_agent_note", "kb", "ports", "resolve", "token",
        "variables", "wall_stands",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a value, without what dataclasses cost
        self,
        *,
        kb: tuple[str, ...],
        kind: Callable[[], str],
        cwd: str,
        home: str,
        is_agent_note: Callable[[str], bool],
        resolve: Callable[[str], str],
        variables: Mapping[str, str] | None = None,
        ports: tuple[str, ...] = (),
        token: str = "",
        guarded: tuple[str, ...] = (),
        wall_stands: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take what was found; all paths are absolute."""
        #: Every name of the knowledge base: as typed, its real path, what other mounts call it.
        #: Where the rule is broken, the last good one's.
        self.kb = kb
        #: Tells the session's project, in `ProjectKind`'s words: that takes time, and is asked last.
        self._kind: Callable[[], str] | str = kind
        #: Where the command runs.
        self.cwd = cwd
        self.home = home
        #: Whether a path is an agent node's file, or is not there yet.
        self.is_agent_note = is_agent_note
        #: The real path of a path, links followed as far as it exists.
        self.resolve = resolve
        #: What the agent's shell knows already: its environment.
        self.variables = variables or {}
        #: On which `roamkb serve` may listen, and the file that holds its token; empty for none.
        self.ports = ports
        self.token = token
        #: Where the program lies, and what else makes it count beside `PROTECTED`.
        self.guarded = guarded
        #: Whether the kernel stops what nobody understands: without it, what can't be read is denied.
        self.wall_stands = wall_stands

    @property
    def kind(self) -> str:
        """What the session's project is, found out once."""
        if not isinstance(self._kind, str):
            self._kind = self._kind()
        return self._kind

    @property
    def is_personal(self) -> bool:
        """Whether agents may write notes of their own here."""
        return self.kind == "personal"

    def moved(self, cwd: str) -> "GuardContext":
        """Return the same with the command run in `cwd`."""
        moved = GuardContext.__new__(GuardContext)
        for name in GuardContext.__slots__:
            setattr(moved, name, getattr(self, name))
        moved._kind, moved.cwd = lambda: self.kind, posixpath.normpath(cwd)  # noqa: SLF001
        return moved


class Denial:
    """Why a tool call is not to be made."""

    __slots__ = ("hint", "reason")

    def __init__(self, *, reason: str, hint: str) -> None:
        """Take one sentence for the agent, and one that says what to do instead."""
        self.reason = reason
        self.hint = hint


#: Below the home folder: what makes the rule and its hooks count, and where the program is put.
PROTECTED = (
    ".claude/rules/knowledge-base.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".local/bin/roamkb",
    ".local/share/uv/tools/roamkb",
    ".local/share/pipx/venvs/roamkb",
    ".local/state/roamkb",
)
#: What no project puts among the notes: it changes how Emacs or Syncthing treats all of them.
_LITTER = (".dir-locals.el", ".dir-locals-2.el", ".stignore", ".git", ".venv")
_QUOTING = str.maketrans("", "", "'\"\\")
_TOKEN = r"[^\s'\"=:;|&<>(),]+"
_OURS = r"roamkb|knowledge-base|claude|codex|settings\.|hooks\.json|SHELL_PREFIX"
#: What may lead anywhere: home, upwards, a glob from the root. Each word is read once, for all its slashes.
_FAR = r"~|\$\{?HOME|\$\(|`|\.\.|(?<!\S)/\S*[*?\[{]|\$'"
_LIVE = "*?[\0$`"
#: Of a command, that is looked up on the disk before anything else is done; of a longer one, nothing.
_MOST_TOKENS = 64
_MOST_READ = 4096


def may_concern(text: str, ground: GuardContext) -> bool:
    """Say whether a command is worth reading: cheap, and true wherever in doubt."""
    plain = text.translate(_QUOTING).replace("\n", "") if "\\\n" in text else text.translate(_QUOTING)
    home = ground.home.rstrip("/") + "/"
    names = {part for folder in ground.kb for part in folder.removeprefix(home).strip("/").split("/") if part}
    if any(name in plain for name in names) or re.search(_OURS, plain) or re.search(_FAR, text):
        return True
    unbraced = plain.replace("{", "")
    if "$" in unbraced and any(value and f"${name}" in unbraced for name, value in ground.variables.items()):
        return True
    tokens = dict.fromkeys(re.findall(_TOKEN, text)) if len(text) <= _MOST_READ else ()
    if not tokens or len(tokens) > _MOST_TOKENS:
        return bool(text.strip())
    return _is_any_near([".", *(one for one in tokens if not one.startswith("-"))], ground)


def may_concern_path(path: str, ground: GuardContext) -> bool:
    """Say the same of the path of a file."""
    return re.search(f"{_OURS}|{_FAR}", path) is not None or _is_any_near(
        [path.removeprefix("file://")], ground
    )


def _is_any_near(paths: Iterable[str], ground: GuardContext) -> bool:
    guarded = [*ground.kb, *(posixpath.join(ground.home, one) for one in PROTECTED), *ground.guarded]
    places = {one.rstrip("/") for name in guarded for one in (name, ground.resolve(name))}
    named = [posixpath.normpath(posixpath.join(ground.cwd, one)) for one in paths]
    return any(
        _is_near(one, place) for path in named for one in (path, ground.resolve(path)) for place in places
    )


def _is_near(place: str, folder: str) -> bool:
    return f"{place}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{place}/")


def protected(ground: GuardContext) -> FolderNames:
    """Return what only a human changes, by its paths and its real paths."""
    files = (*(posixpath.join(ground.home, one) for one in PROTECTED), *ground.guarded)
    names = (*files, *map(ground.resolve, files))
    return FolderNames(names, home=ground.home, resolve=ground.resolve)


def refusal(ground: GuardContext, what: str) -> Denial:
    """Return the denial of a write into the knowledge base."""
    if ground.is_personal:
        return Denial(
            reason=f"{what}, a note that is the human's: agents never edit, move or delete those",
            hint="write a fact of your own with `roamkb write` and link to it; "
            "correct your own with `roamkb supersede`",
        )
    return Denial(
        reason=f"{ground.kind} project: {what}, and nothing from here is written to the knowledge base",
        hint="report the fact to your human, and keep it in the project's own tree; to read, use "
        "`roamkb search`, or rg, cat and the like by themselves; `roamkb write` is for personal projects",
    )


def rule_denial() -> Denial:
    """Return the denial of a change to the rule or to what enforces it."""
    return Denial(
        reason="that would change the rule, or the settings that make it count: only your human does that",
        hint="tell your human what you would change there, and why",
    )


def approval_denial(verb: str) -> Denial:
    """Return the denial of an approval that an agent would give itself."""
    return Denial(
        reason=f"`roamkb {verb}` is a human's word: an agent doesn't give it",
        hint="show your human the command, for them to run at their own terminal",
    )


def server_denial(ground: GuardContext) -> Denial:
    """Return the denial of a way around the boundary by `roamkb serve`."""
    return Denial(
        reason=f"{ground.kind} project: the call names the token or the port of `roamkb serve`, which "
        "serves personal projects",
        hint="use the command itself: `roamkb search` reads everywhere",
    )


def names_the_server(text: str, ground: GuardContext) -> bool:
    """Say whether a command, a path or an address names the server's port, or the file of its token."""
    plain = text.translate(_QUOTING)
    if any(re.search(rf"(?<![\w.]){port}(?![\w.])", plain) for port in ground.ports):
        return True
    if not ground.token:
        return False
    if posixpath.basename(ground.token) in plain:
        return True
    names = FolderNames((ground.token,), home=ground.home, resolve=ground.resolve)
    words = dict.fromkeys(re.findall(_TOKEN, text)) if len(text) <= _MOST_READ else ()
    return any(names.find(word, ground.cwd)[0] is PathReach.INSIDE for word in [*words][:_MOST_TOKENS])


def note_denial(path: str, what: str, ground: GuardContext, *, is_new: bool = False) -> Denial | None:
    """Return why a file of the knowledge base isn't to be written: by what it is, and what the project is.

    `is_new` says that nothing that was there before changes.
    """
    if posixpath.basename(path.rstrip("/")) in _LITTER:
        return Denial(
            reason=f"{what}: that would change how your human's programs treat all notes",
            hint="keep it out of the folder of notes; what it is for your human can decide",
        )
    if not is_new and any(mark in path for mark in _LIVE):
        # the same in every project, so that nobody has to find out what this one is
        return Denial(
            reason=f"{what}, and notes there are your human's: agents change none of those, in no project",
            hint="tell your human what you would change; to read, use `roamkb search`, rg, cat and the like; "
            "for a fact of your own, `roamkb write` in a personal project",
        )
    if ground.is_personal and (is_new or not _is_humans(path, ground)):
        return None
    return refusal(ground, what)


def _is_humans(path: str, ground: GuardContext) -> bool:
    """Say whether a path in the knowledge base may be a human's note, or hold some."""
    path = path.rstrip("/")
    _, dot, ending = posixpath.basename(path).rpartition(".")
    if dot and ending not in ENDINGS:
        return False
    return not ground.is_agent_note(path)


def paths_of_patch(patch: str) -> list[str]:
    """Return the paths that a patch in Codex's form changes."""
    return re.findall(
        r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *([^\r\n]+?) *\r?$", patch, re.MULTILINE
    )
