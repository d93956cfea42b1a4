"""The knowledge base for a server: as `app` wires it, with the evidence that it started with."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from roamkb.app import KnowledgeBase
from roamkb.app import ProcessEnvironment
from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import parents_of
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
    """A knowledge base whose session lasts: the shell that began it may end, and what it told stays."""

    def __init__(self, around: ProcessEnvironment, *, project: str | None = None) -> None:
        """Look at the process's parents, once.

        Raises:
            UsageError: there are more of them than can be looked at.
        """
        super().__init__(around, project=project)
        self._parents: Mapping[str, str] = dict(_parents(around.pid))
        self._hidden = super()._session.hidden
        #: Who asks; nobody else where that is who began this.
        self.callers: tuple[CallOrigin | None, ...] = ()

    @classmethod
    def begin(cls, *, project: str | None = None) -> "ServedKnowledgeBase":
        """Return the knowledge base as this process serves it; nobody is asked anything."""
        return cls(ProcessEnvironment.gathered(), project=project)

    @property
    def _session(self) -> "CallOrigin":
        from roamkb.core.startup.dataclasses import replace

        # who began it is gone when the shell is, and was seen
        return replace(super()._session, parents=self._parents, hidden=self._hidden)

    def asked_by(self, client: "Address | None", server: "Address | None") -> "ServedKnowledgeBase":
        """Return the knowledge base for one request over a connection, judged as if who asks had called us.

        Where it can't be seen who that is, they are unknown.
        """
        from contextlib import suppress
        from copy import copy

        from roamkb.boundary.store.folder_evidence import PROC
        from roamkb.boundary.store.socket_peers import find_peers
        from roamkb.boundary.store.socket_peers import session_of_peer

        found: tuple[int, ...] = ()
        with suppress(OSError):
            found = find_peers(client, server, PROC) if client and server else ()
        served = copy(self)
        served.callers = tuple(map(session_of_peer, found)) or (None,)
        return served

    def judge_project(self, rule: "Rule | BadRule") -> Project:
        """Return the strictest of what began the server and of who asks."""
        from roamkb.app.callers import judged_asker
        from roamkb.boundary.policy import strictest

        callers = (judged_asker(one, rule) for one in self.callers)
        return strictest((super().judge_project(rule), *callers))

    def bearer(self) -> "AccessToken":
        """Return the token that callers of the server must show.

        Raises:
            DiskError: it can't be kept, would lie in the knowledge base, or others could know it.
        """
        from roamkb.app.access_token import bearer
        from roamkb.boundary.store.folder_evidence import find_rule

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        if not isinstance(rule, BadRule):
            # who syncs the knowledge base would sync the token
            self.state_folders.lock_file(rule.kb)
        return bearer(self.state_folders.state)

    def keep_port(self, port: int) -> None:
        """Let hooks know on which port the server listens."""
        from roamkb.guard.store.server_ports import keep_port

        keep_port(str(self.state_folders.state), port)

    def feed(self) -> "LogChangeFeed":
        """Return the news of the project's log; there are none as long as it has no log."""
        from roamkb.log.store.changes import LogChangeFeed
        from roamkb.log.store.project_log import Log

        root = self.classify(str(self.project_folder or self.environment.cwd or "/")).root
        return LogChangeFeed(None if root is None else Log(root, self.state_folders.state))

    def stamp(self) -> int:
        """Return what is another number once a note is written, moved or gone: by their stats alone."""
        try:
            files = self._notes().walk.files
        except (RoamkbError, OSError):
            return 0
        return hash(tuple((file.file, file.stat) for file in files))

    def say(
        self, saying: "NewLearning", *, agent: str | None, session: str | None
    ) -> "tuple[str, LearningState]":
        """Add one learning, as `learn` does; return new or repeated, and what the log makes of it now."""
        from roamkb.app.log.learn import take_learning

        learned = take_learning(self.log, saying, agent=agent, session=session)
        return learned.outcome, self.log.explain(learned.learning.id).standing

    @property
    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self.environment.now().timestamp()

    @property
    def agent(self) -> str:
        """The agent that began the server, as far as the environment tells."""
        return self.environment.agent


def _parents(pid: int) -> list[tuple[str, str]]:
    from roamkb.boundary.store.folder_evidence import PROC

    found = []
    for parent in parents_of(pid, PROC):
        if not isinstance(parent, ParentProcess):
            raise UsageError(
                f"there are more than {parent.seen} parent processes, and any may be at work",
                hint="start it from a shell of your own",
            )
        found.append((f"the process {parent.name} ({parent.pid}) that began it", parent.folder))
    return found
