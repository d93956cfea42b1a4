"""The judgement on an agent's tool call: the boundary's second wall.

`guard/tool_calls.judge_tool` is the door: it reads the call and asks here.
"""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping

from roamkb.guard.paths import NOTE_ENDINGS
from roamkb.guard.paths import FolderNames
from roamkb.guard.paths import PathReach
from roamkb.harnesses.registry import declared


class GuardContext:
    """The state that a hook found on the disk, with lookups that run only when asked."""

    # no dataclass, since hooks import this: that module takes twice as long as Python to start
    __slots__ = (
        "_kind", "cwd", "guarded", "home", "is_agent_note", "is_in_default_kb", "kb", "ports", "resolve",
        "token", "variables", "wall_stands",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a value, without what dataclasses cost
        self,
        *,
        kb: tuple[str, ...],
        kind: Callable[[], str],
        cwd: str,
        home: str,
        is_agent_note: Callable[[str], bool],
        is_in_default_kb: Callable[[str], bool] = lambda _: True,
        resolve: Callable[[str], str],
        variables: Mapping[str, str] | None = None,
        ports: tuple[str, ...] = (),
        token: str = "",
        guarded: tuple[str, ...] = (),
        wall_stands: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the state that was found; all paths are absolute."""
        #: Every name of each knowledge base: as typed, its real path, what other mounts call it.
        #: Where the rule is broken, the last good one's.
        self.kb = kb
        #: Tells the session's project, in `ProjectKind`'s words: that takes time, and is asked last.
        self._kind: Callable[[], str] | str = kind
        #: Where the command runs.
        self.cwd = cwd
        self.home = home
        #: Whether a path is an agent node's file, or is not there yet.
        self.is_agent_note = is_agent_note
        #: Whether a path is certainly the default knowledge base's, to which alone `kind` and `is_agent_note` apply.
        self.is_in_default_kb = is_in_default_kb
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
    def project_kind(self) -> str:
        """The kind of the session's project, determined once."""
        if not isinstance(self._kind, str):
            self._kind = self._kind()
        return self._kind

    @property
    def is_personal(self) -> bool:
        """Whether agents may write their own notes here."""
        return self.project_kind == "personal"

    def with_cwd(self, cwd: str) -> "GuardContext":
        """Return a copy whose command runs in `cwd`."""
        context = GuardContext.__new__(GuardContext)
        for name in GuardContext.__slots__:
            setattr(context, name, getattr(self, name))
        context._kind, context.cwd = lambda: self.project_kind, posixpath.normpath(cwd)  # noqa: SLF001
        return context


class Denial:
    """The reason why a tool call is denied, with a hint."""

    __slots__ = ("hint", "reason")

    def __init__(self, *, reason: str, hint: str) -> None:
        """Take one sentence with the reason, and one that says what to do instead."""
        self.reason = reason
        self.hint = hint


#: Below the home folder: what makes the rule and its hooks count, and where the program is put.
PROTECTED = (
    *declared("guarded"),
    ".local/bin/roamkb",
    ".local/share/uv/tools/roamkb",
    ".local/share/pipx/venvs/roamkb",
    ".local/state/roamkb",
)
#: What no project puts among the notes: it changes how Emacs or Syncthing treats all of them.
_PROGRAM_FILES = (".dir-locals.el", ".dir-locals-2.el", ".stignore", ".git", ".venv")
_QUOTING_SIGNS = str.maketrans("", "", "'\"\\")
_TOKEN_PATTERN = r"[^\s'\"=:;|&<>(),]+"
_OWN_NAMES = rf"roamkb|knowledge-base|{'|'.join(declared('programs'))}|settings\.|hooks\.json|SHELL_PREFIX"
#: What may lead anywhere: home, upwards, a glob from the root. Each word is read once, for all its slashes.
_FAR_REACHING = r"~|\$\{?HOME|\$\(|`|\.\.|(?<!\S)/\S*[*?\[{]|\$'"
_WILDCARD_SIGNS = "*?[\0$`"
#: Of a command, that is looked up on the disk before anything else is done; of a longer one, nothing.
_MAX_TOKENS = 64
_MAX_TEXT_READ = 4096


def may_concern(text: str, context: GuardContext) -> bool:
    """Say whether a command is worth reading: cheap, and true wherever in doubt."""
    plain = text.translate(_QUOTING_SIGNS).replace("\n", "") if "\\\n" in text else text.translate(_QUOTING_SIGNS)
    home = context.home.rstrip("/") + "/"
    names = {part for folder in context.kb for part in folder.removeprefix(home).strip("/").split("/") if part}
    if any(name in plain for name in names) or re.search(_OWN_NAMES, plain) or re.search(_FAR_REACHING, text):
        return True
    without_braces = plain.replace("{", "")
    if "$" in without_braces and any(
        value and f"${name}" in without_braces for name, value in context.variables.items()
    ):
        return True
    tokens = dict.fromkeys(re.findall(_TOKEN_PATTERN, text)) if len(text) <= _MAX_TEXT_READ else ()
    if not tokens or len(tokens) > _MAX_TOKENS:
        return bool(text.strip())
    return _is_any_near([".", *(token for token in tokens if not token.startswith("-"))], context)


def may_concern_path(path: str, context: GuardContext) -> bool:
    """Say whether a file's path is worth judging: cheap, and true wherever in doubt."""
    return re.search(f"{_OWN_NAMES}|{_FAR_REACHING}", path) is not None or _is_any_near(
        [path.removeprefix("file://")], context
    )


def _is_any_near(paths: Iterable[str], context: GuardContext) -> bool:
    guarded = [*context.kb, *(posixpath.join(context.home, spelling) for spelling in PROTECTED), *context.guarded]
    guarded_places = {spelling.rstrip("/") for name in guarded for spelling in (name, context.resolve(name))}
    named_paths = [posixpath.normpath(posixpath.join(context.cwd, spelling)) for spelling in paths]
    return any(
        _is_near(spelling, place)
        for path in named_paths
        for spelling in (path, context.resolve(path))
        for place in guarded_places
    )


def _is_near(place: str, folder: str) -> bool:
    # the root ends with its slash
    place = place.rstrip("/")
    return f"{place}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{place}/")


def protected_files(context: GuardContext) -> FolderNames:
    """Return the files that only a human changes, by their paths and real paths."""
    files = (*(posixpath.join(context.home, name) for name in PROTECTED), *context.guarded)
    names = (*files, *map(context.resolve, files))
    return FolderNames(names, home=context.home, resolve=context.resolve)


def write_denial(context: GuardContext, statement: str) -> Denial:
    """Return the denial of a write into the knowledge base."""
    if context.is_personal:
        return Denial(
            reason=f"{statement}, a note that is the human's: agents never edit, move or delete those",
            hint="write a fact of your own with `roamkb write` and link to it; "
            "correct your own with `roamkb supersede`",
        )
    return Denial(
        reason=f"{context.project_kind} project: {statement}, and nothing from here is written to the knowledge base",
        hint="report the fact to your human, and keep it in the project's own tree; to read, use "
        "`roamkb search`, or rg, cat and the like by themselves; `roamkb write` is for personal projects",
    )


def rule_denial() -> Denial:
    """Return the denial of a change to the rule or to what enforces it."""
    return Denial(
        reason="that would change the rule, or the settings that make it count: only your human does that",
        hint="tell your human what you would change there, and why",
    )


def unread_settings_denial() -> Denial:
    """Return the denial of a change to a project's settings that the call doesn't spell out."""
    return Denial(
        reason="that may change the settings that make the rule count, and doesn't say how: only your human does that",
        hint="write a project's own settings with your file tool, which shows what they will say",
    )


def share_denial(program: str, path: str) -> Denial:
    """Return the denial of a container that could write to notes, or to what guards them, in or below `path`."""
    return Denial(
        reason=f"`{program}` would show {path} to a container, which isn't behind the wall and may write to "
        "notes there, or to the rule and its settings",
        hint="show it a folder without them, or the same one to read: `SOURCE:TARGET:ro`",
    )


def approval_denial(verb: str) -> Denial:
    """Return the denial of an approval that an agent would give to itself."""
    return Denial(
        reason=f"`roamkb {verb}` is a human's word: an agent doesn't give it",
        hint="show your human the command, for them to run at their own terminal",
    )


def server_denial(context: GuardContext) -> Denial:
    """Return the denial of a way around the boundary by `roamkb serve`."""
    return Denial(
        reason=f"{context.project_kind} project: the call names the token or the port of `roamkb serve`, which "
        "serves personal projects",
        hint="use the command itself: `roamkb search` reads everywhere",
    )


def names_server(text: str, context: GuardContext) -> bool:
    """Say whether a command, a path or an address names the server's port, or the file of its token."""
    plain = text.translate(_QUOTING_SIGNS)
    if any(re.search(rf"(?<![\w.]){port}(?![\w.])", plain) for port in context.ports):
        return True
    if not context.token:
        return False
    if posixpath.basename(context.token) in plain:
        return True
    names = FolderNames((context.token,), home=context.home, resolve=context.resolve)
    words = dict.fromkeys(re.findall(_TOKEN_PATTERN, text)) if len(text) <= _MAX_TEXT_READ else ()
    return any(names.find_reach(word, context.cwd)[0] is PathReach.INSIDE for word in [*words][:_MAX_TOKENS])


def note_denial(path: str, statement: str, context: GuardContext, *, is_new: bool = False) -> Denial | None:
    """Return why a file of the knowledge base may not be written: by its kind, and the project's.

    `is_new` says that nothing that was there before changes.
    """
    if posixpath.basename(path.rstrip("/")) in _PROGRAM_FILES:
        return Denial(
            reason=f"{statement}: that would change how your human's programs treat all notes",
            hint="keep it out of the folder of notes; what it is for your human can decide",
        )
    if not is_new and any(mark in path for mark in _WILDCARD_SIGNS):
        # the same in every project, so that nobody has to find out what this one is
        return Denial(
            reason=f"{statement}, and notes there are your human's: agents change none of those, in no project",
            hint="tell your human what you would change; to read, use `roamkb search`, rg, cat and the like; "
            "for a fact of your own, `roamkb write` in a personal project",
        )
    if context.is_personal and not context.is_in_default_kb(path):
        return Denial(
            reason=f"{statement}, of a knowledge base with a name, or it can't be seen of which: no project's allowance"
            " for one counts for another",
            hint="`roamkb write --kb NAME` writes there, where your human allows it",
        )
    if context.is_personal and (is_new or not _may_be_humans(path, context)):
        return None
    return write_denial(context, statement)


def _may_be_humans(path: str, context: GuardContext) -> bool:
    """Say whether a path in the knowledge base may be a human's note, or hold one."""
    path = path.rstrip("/")
    _, dot, ending = posixpath.basename(path).rpartition(".")
    if dot and ending not in NOTE_ENDINGS:
        return False
    return not context.is_agent_note(path)


def patch_paths(patch: str) -> list[str]:
    """Return the paths that a patch changes that begins with `*** Begin Patch`."""
    return re.findall(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *([^\r\n]+?) *\r?$", patch, re.MULTILINE)
