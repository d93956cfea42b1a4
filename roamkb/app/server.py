"""The knowledge base for a server, with the evidence of its callers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from roamkb.app import KnowledgeBase
from roamkb.app import ProcessEnvironment
from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import parent_processes
from roamkb.core.errors import BadRule
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Project

if TYPE_CHECKING:
    from roamkb.app.access_token import AccessToken
    from roamkb.boundary.store.folder_evidence import CallOrigin
    from roamkb.boundary.store.socket_peers import Address
    from roamkb.core.model import Rule
    from roamkb.log.new_learning import NewLearning
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.store.changes import LogChangeFeed


class ServedKnowledgeBase(KnowledgeBase):
    """A knowledge base whose session lasts: evidence from the shell that began it stays."""

    def __init__(self, around: ProcessEnvironment, *, project: str | None = None) -> None:
        """Look at the process's parents, once.

        Raises:
            UsageError: there are more of them than can be looked at.
        """
        super().__init__(around, project=project)
        self._parents: Mapping[str, str] = dict(_named_parents(around.pid))
        self._hidden = super()._call_origin.hidden
        #: Who asks; nobody else where that is who began this.
        self.callers: tuple[CallOrigin | None, ...] = ()

    @classmethod
    def open_for_server(cls, *, project: str | None = None) -> "ServedKnowledgeBase":
        """Return the knowledge base as this process serves it; no question is put to a human."""
        return cls(ProcessEnvironment.from_process(), project=project)

    @property
    def _call_origin(self) -> "CallOrigin":
        from roamkb.core.startup.dataclasses import replace

        # who began it is gone when the shell is, and was seen
        return replace(super()._call_origin, parents=self._parents, hidden=self._hidden)

    def for_connection(self, client: "Address | None", server: "Address | None") -> "ServedKnowledgeBase":
        """Return the knowledge base for one request over a connection, judged by the client's session.

        Where it can't be seen who that is, they are unknown.
        """
        from contextlib import suppress
        from copy import copy

        from roamkb.boundary.store.folder_evidence import PROC
        from roamkb.boundary.store.socket_peers import find_peers
        from roamkb.boundary.store.socket_peers import read_peer_origin

        peer_pids: tuple[int, ...] = ()
        with suppress(OSError):
            peer_pids = find_peers(client, server, PROC) if client and server else ()
        served = copy(self)
        served.callers = tuple(map(read_peer_origin, peer_pids)) or (None,)
        return served

    def judge_project(self, rule: "Rule | BadRule") -> Project:
        """Return the strictest of what began the server and of who asks."""
        from roamkb.app.callers import judge_asker
        from roamkb.boundary.policy import strictest_project

        callers = (judge_asker(one, rule) for one in self.callers)
        return strictest_project((super().judge_project(rule), *callers))

    def access_token(self) -> "AccessToken":
        """Return the token that callers of the server must show.

        Raises:
            DiskError: it can't be kept, would lie in the knowledge base, or others could know it.
        """
        from roamkb.app.access_token import open_access_token
        from roamkb.boundary.store.folder_evidence import find_rule

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        if not isinstance(rule, BadRule):
            # who syncs the knowledge base would sync the token
            self.state_folders.lock_file(rule.kb)
        return open_access_token(self.state_folders.state)

    def keep_port(self, port: int) -> None:
        """Store the server's port for hooks."""
        from roamkb.boundary.store.server_ports import keep_port

        keep_port(str(self.state_folders.state), port)

    def log_change_feed(self) -> "LogChangeFeed":
        """Return the feed of changes to the project's log; it is empty as long as there is no log."""
        from roamkb.log.store.changes import LogChangeFeed
        from roamkb.log.store.project_log import Log

        root = self.classify(str(self.project_folder or self.environment.cwd or "/")).root
        return LogChangeFeed(None if root is None else Log(root, self.state_folders.state))

    def notes_stamp(self) -> int:
        """Return a number that differs once a note is written, moved or gone: by their stats alone."""
        try:
            files = self._open_notes().kb_walk.files
        except (RoamkbError, OSError):
            return 0
        return hash(tuple((file.file, file.stat) for file in files))

    def add_learning(
        self, new_learning: "NewLearning", *, agent: str | None, session: str | None
    ) -> "tuple[str, LearningState]":
        """Add one learning, as `learn` does; return the outcome, new or repeated, and its present state."""
        from roamkb.app.log.learn import take_learning

        learned = take_learning(self.log, new_learning, agent=agent, session=session)
        return learned.outcome, self.log.explain(learned.learning.id).standing

    @property
    def current_time(self) -> float:
        """The time, in seconds since 1970."""
        return self.environment.now().timestamp()

    @property
    def server_agent(self) -> str:
        """The agent that began the server, as far as the environment names it."""
        return self.environment.agent_name


def _named_parents(pid: int) -> list[tuple[str, str]]:
    from roamkb.boundary.store.folder_evidence import PROC

    named_folders = []
    for parent in parent_processes(pid, PROC):
        if not isinstance(parent, ParentProcess):
            raise UsageError(
                f"there are more than {parent.seen} parent processes, and any may be at work",
                hint="start it from a shell of your own",
            )
        named_folders.append((f"the process {parent.name} ({parent.pid}) that began it", parent.folder))
    return named_folders
