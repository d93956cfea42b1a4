"""Who began a process, and whether that can be seen: its parents, up to what began them all (D24).

Parents tell of work. So where they can't be seen to the end something is hidden, and a session is unknown,
never personal. `boundary/store/processes` gathers; here it is judged, by structure where that is evidence.
Names stand for two things alone: harnesses, which account for what they run, and programs on whose terminals
humans type.
"""

from posixpath import basename
from typing import Final

from roamkb.boundary.human_consent import find_harness
from roamkb.core.data_tables import words_by_role
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: The most letters of a process's name.
_LONGEST: Final = 15
_PROGRAMS: Final = words_by_role("session_programs.tsv")
#: On whose terminals humans type.
_TERMINALS: Final = frozenset(
    name[:_LONGEST] for kind in ("login", "multiplexer", "emulator", "editor") for name in _PROGRAMS[kind]
)
_INTERPRETER: Final = lazily(r"(?:python|node|bash|dash|sh)[\d.]*")
#: A program's file by its plain name: `.emacs-29.4-wrapped` is Emacs.
_PROGRAM: Final = lazily(r"^\.?(.*?)(?:-[\d.]+)?(?:-wrapped)?$")
#: Codex's background server, which runs for all sessions.
_SERVER: Final = "app-server"


@dataclass(frozen=True, slots=True, kw_only=True)
class AncestorProcess:
    """A process, as the table has it."""

    pid: int
    name: str
    #: Of its command; empty where that can't be looked into.
    words: tuple[str, ...] = ()
    #: What its program's file is called; empty where that can't be looked into.
    program: str = ""
    parent: int
    session: int
    #: The device of the terminal that controls it; 0 for none.
    terminal: int = 0
    #: Whether it belongs to the user that asks.
    is_ours: bool = True

    @property
    def is_harness(self) -> bool:
        """Whether it is one that works for one session, which its folder then tells of."""
        return bool(self._harness) and not self.is_server

    @property
    def is_server(self) -> bool:
        """Whether it is Codex's background server."""
        return self._harness == "codex" and _SERVER in self.words[1:2]

    @property
    def _harness(self) -> str:
        found = find_harness([("", (self.name, *self.words))])
        return found[1] if found else ""

    @property
    def gives_terminals(self) -> bool:
        """Whether humans type on terminals of its making; its file must say so where that can be seen."""
        name = self.program or self.name.partition(":")[0]
        if _INTERPRETER.fullmatch(name):
            name = basename("".join(self.words[1:2])).removesuffix(".js")
        names = {name[:_LONGEST], _PROGRAM.sub(r"\1", name, count=1)[:_LONGEST]}
        return not names.isdisjoint(_TERMINALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessAncestry:
    """A process and its parents, the nearest first, as far as they can be seen."""

    relatives: tuple[AncestorProcess, ...] = ()
    #: What began all others.
    first: AncestorProcess | None = None
    #: The table is neither the machine's nor a container's, as far as that can be told.
    is_shut_off: bool = False
    #: Why the table can't be trusted, as a clause.
    doubt: str = ""


def why_hidden(lineage: ProcessAncestry, *, knows_session: bool = False) -> str:
    """Return why it can't be seen who began a process, as a clause; empty where it can.

    `knows_session` says that Codex told whose it is.
    """
    if lineage.doubt:
        return lineage.doubt
    parents = lineage.relatives[1:]
    if knows_session or any(one.is_harness for one in parents):
        return ""
    # its servers of tools and hooks are its own children; a command has a shell between
    if any(one.is_server for one in parents[1:]):
        return "Codex's background server began it, and CODEX_THREAD_ID doesn't say for which session"
    if parents and parents[0].is_server:
        return ""
    if lineage.is_shut_off:
        return "it runs in a process table of its own, so that its parents can't be seen"
    if later := next((one for one in parents if one.name in _PROGRAMS["later"]), None):
        return f"{later.name} ({later.pid}) began it, for whoever asked it to"
    top = _topmost(lineage)
    if top is None or not top.is_ours or any(one.gives_terminals for one in lineage.relatives):
        return ""
    if lineage.first is None or top.session == lineage.first.session:
        return ""
    return f"the process {top.name} ({top.pid}) was left behind, so that who began it can't be seen"


def _topmost(lineage: ProcessAncestry) -> AncestorProcess | None:
    """Return the child of what began all others, or of what began all of the user's; None without one.

    Who loses their parent gets one of those in its place.
    """
    managers = {1} | {one.pid for one in lineage.relatives if one.parent == 1 and one.name == "systemd"}
    below = (one for one in lineage.relatives if one.pid not in managers)
    return next((one for one in below if one.parent in managers), None)


def why_no_login(lineage: ProcessAncestry) -> str:
    """Return why it can't be seen that a human logged in to a process's terminal; empty where it can.

    The terminal's first process is begun by what made it: a login, an emulator, a multiplexer, an editor.
    """
    if reason := why_hidden(lineage):
        return reason
    by_pid = {one.pid: one for one in lineage.relatives}
    at = lineage.relatives[0] if lineage.relatives else None
    while at is not None:
        leader = by_pid.get(at.session)
        if leader is None or not leader.terminal:
            return "it isn't seen who began the session on this terminal"
        if leader.parent == 0:
            # a container's terminal is made outside of it
            return ""
        maker = by_pid.get(leader.parent)
        if maker is None or maker.gives_terminals:
            return "" if maker else f"what began {leader.name} ({leader.pid}) isn't seen"
        if _PROGRAMS["passer"].isdisjoint((maker.program, maker.name)):
            return (
                f"the terminal was made by {maker.name} ({maker.pid}), which isn't known to give humans one"
            )
        at = maker
    return ""
