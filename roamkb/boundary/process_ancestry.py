"""Ancestry of a process: its parents up to the first process, and whether all are visible (D24).

Parents tell of work. So where they can't be seen to the end something is hidden, and a session is unknown,
never personal. `boundary/store/processes` gathers; here it is judged, by structure where that is evidence.
Names stand for two things alone: harnesses, which account for what they run, and programs on whose terminals
humans type.
"""

from posixpath import basename
from typing import Final

from roamkb.boundary import human_consent
from roamkb.core.data_tables import words_by_role
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.harnesses.registry import declared_by
from roamkb.harnesses.registry import declared_of
from roamkb.harnesses.registry import get_harness

#: The most letters of a process's name.
_MAX_NAME_LENGTH: Final = 15
_PROGRAMS_BY_ROLE: Final = words_by_role("session_programs.tsv")
#: On whose terminals humans type.
_TERMINAL_PROGRAMS: Final = frozenset(
    name[:_MAX_NAME_LENGTH]
    for kind in ("login", "multiplexer", "emulator", "editor")
    for name in _PROGRAMS_BY_ROLE[kind]
)
_INTERPRETER_NAME: Final = lazily(r"(?:python|node|bash|dash|sh)[\d.]*")
#: A program's file by its plain name: `.emacs-29.4-wrapped` is Emacs.
_PROGRAM_NAME: Final = lazily(r"^\.?(.*?)(?:-[\d.]+)?(?:-wrapped)?$")
#: A harness's background server, which runs for all sessions, by the first word of its command.
_SERVERS: Final = declared_by("server_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class AncestorProcess:
    """A process as the process table shows it."""

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
    #: Whether it has mounts of its own, seen from outside: behind a wall any program can be called anything.
    is_walled: bool = False

    @property
    def is_harness(self) -> bool:
        """Whether it is a harness that works for one session."""
        return bool(self._harness_name) and not self.is_server and not self.is_walled

    @property
    def is_server(self) -> bool:
        """Whether it is a harness's background server."""
        return bool(self.server_of)

    @property
    def server_of(self) -> str:
        """The harness whose background server it is; empty where it is none."""
        name = _SERVERS.get("".join(self.words[1:2]), "")
        return name if name and self._harness_name in declared_of(name, "programs") else ""

    @property
    def _harness_name(self) -> str:
        harness = human_consent.find_harness([("", (self.name, *self.words))])
        return harness[1] if harness else ""

    @property
    def gives_terminals(self) -> bool:
        """Whether humans type on terminals that it makes."""
        if self.is_walled:
            return False
        name = self.program or self.name.partition(":")[0]
        if _INTERPRETER_NAME.fullmatch(name):
            name = basename("".join(self.words[1:2])).removesuffix(".js")
        names = {name[:_MAX_NAME_LENGTH], _PROGRAM_NAME.sub(r"\1", name, count=1)[:_MAX_NAME_LENGTH]}
        return not names.isdisjoint(_TERMINAL_PROGRAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessAncestry:
    """A process and its visible parents, the nearest first."""

    processes: tuple[AncestorProcess, ...] = ()
    #: What began all others.
    root_process: AncestorProcess | None = None
    #: The table is neither the machine's nor a container's, as far as that can be told.
    is_shut_off: bool = False
    #: Why the table can't be trusted, as a clause.
    doubt: str = ""


def hidden_reason(lineage: ProcessAncestry, *, knows_session: bool = False) -> str:
    """Return why a process's ancestors can't be seen, as a clause; empty where they can.

    `knows_session` says that a variable names the session, as a harness sets one for what it runs in its sandbox
    or from its background server. Any command can set it: it never accounts for what was left behind.
    """
    if lineage.doubt:
        return lineage.doubt
    parents = lineage.processes[1:]
    if any(process.is_harness for process in parents):
        return ""
    # its servers of tools and hooks are its own children; a command has a shell between
    if server := next((process.server_of for process in parents[1:] if process.is_server), ""):
        (variable, *_) = declared_of(server, "session_variables")
        title = get_harness(server).title
        reason = f"{title}'s background server began it, and {variable} doesn't say for which session"
        return "" if knows_session else reason
    if parents and parents[0].is_server:
        return ""
    if lineage.is_shut_off and not knows_session:
        return "it runs in a process table of its own, so that its parents can't be seen"
    if scheduler := next((process for process in parents if process.name in _PROGRAMS_BY_ROLE["later"]), None):
        return f"{scheduler.name} ({scheduler.pid}) began it, for whoever asked it to"
    top = _topmost_process(lineage)
    if top is None or not top.is_ours or any(process.gives_terminals for process in lineage.processes):
        return ""
    if lineage.root_process is None or top.session == lineage.root_process.session:
        return ""
    return f"the process {top.name} ({top.pid}) was left behind, so that who began it can't be seen"


def _topmost_process(lineage: ProcessAncestry) -> AncestorProcess | None:
    """Return the child of the first process, or of the user's first process; None without one.

    Who loses their parent gets one of those in its place.
    """
    managers = {1} | {process.pid for process in lineage.processes if process.parent == 1 and process.name == "systemd"}
    descendants = (process for process in lineage.processes if process.pid not in managers)
    return next((process for process in descendants if process.parent in managers), None)


def missing_login_reason(lineage: ProcessAncestry) -> str:
    """Return why no human login on the process's terminal is visible; empty where one is.

    The terminal's first process is begun by what made it: a login, an emulator, a multiplexer, an editor.
    """
    if reason := hidden_reason(lineage):
        return reason
    by_pid = {process.pid: process for process in lineage.processes}
    process_at_hand = lineage.processes[0] if lineage.processes else None
    while process_at_hand is not None:
        leader = by_pid.get(process_at_hand.session)
        if leader is None or not leader.terminal:
            return "it isn't seen who began the session on this terminal"
        if leader.parent == 0:
            # a container's terminal is made outside of it
            return ""
        maker = by_pid.get(leader.parent)
        if maker is None or maker.gives_terminals:
            return "" if maker else f"what began {leader.name} ({leader.pid}) isn't seen"
        if _PROGRAMS_BY_ROLE["passer"].isdisjoint((maker.program, maker.name)):
            return f"the terminal was made by {maker.name} ({maker.pid}), which isn't known to give humans one"
        process_at_hand = maker
    return ""
