"""The knowledge base for a server, with the evidence of its callers."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from roamkb.app import access_token
from roamkb.app import callers as app_callers
from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log import learn
from roamkb.boundary import human_consent
from roamkb.boundary import policy
from roamkb.boundary.store import call_origin
from roamkb.boundary.store import server_ports as boundary_server_ports
from roamkb.boundary.store import socket_peers
from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import parent_processes
from roamkb.context.store import injections
from roamkb.core.errors import BadRule
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.install.checks import doctor_wall
from roamkb.journal import moments
from roamkb.kb import conflicts
from roamkb.kb import hygiene
from roamkb.kb import node_view
from roamkb.kb.graph import layout
from roamkb.kb.graph import selection
from roamkb.kb.graph.store import layouts
from roamkb.kb.notes import versions
from roamkb.kb.notes.store import images
from roamkb.kb.notes.store import walk
from roamkb.kb.notes.store import watched_walk
from roamkb.kb.search import query
from roamkb.log import new_learning
from roamkb.log.state import learning_state
from roamkb.log.store import changes
from roamkb.log.store import project_log
from roamkb.log.store import share_process


@dataclass(frozen=True, slots=True, kw_only=True)
class _ServerProcess:
    """What a server finds out once, for all of its requests and knowledge bases."""

    #: The folders of its parents, by what to call them.
    parents: Mapping[str, str]
    #: Where it was begun.
    origin: "call_origin.CallOrigin"
    #: Finds the notes again and again.
    live_walk: Callable[[Path], walk.NotesWalk]


class ServedKnowledgeBase(KnowledgeBase):
    """A knowledge base whose session lasts: evidence from the shell that began it stays."""

    def __init__(
        self,
        around: ProcessEnvironment,
        *,
        project: str | Path | None = None,
        process: "_ServerProcess | None" = None,
        human: "human_consent.HumanWithKey | None" = None,
    ) -> None:
        """Look at the process's parents, unless that was done.

        Raises:
            UsageError: there are more of them than can be looked at.
        """
        super().__init__(around, project=project, human=human)
        self._process = process or _ServerProcess(
            parents=dict(_named_parents(around.pid)),
            origin=super()._call_origin,
            live_walk=watched_walk.WatchedWalk().walk,
        )
        self._live_walk = self._process.live_walk
        #: Who asks; nobody else where that is who began this.
        self.callers: tuple[call_origin.CallOrigin | None, ...] = ()

    def _open_again(self, human: "human_consent.HumanWithKey | None" = None) -> Self:
        again = type(self)(self.environment, project=self.project_folder, process=self._process, human=human)
        again.callers = self.callers
        return again

    @classmethod
    def open_for_server(cls, *, project: str | None = None) -> "ServedKnowledgeBase":
        """Return the knowledge base as this process serves it; no question is put to a human."""
        return cls(ProcessEnvironment.from_process(), project=project)

    @property
    def _call_origin(self) -> "call_origin.CallOrigin":
        # who began it is gone when the shell is, and was seen
        began = self._process.origin
        return replace(
            super()._call_origin, parents=self._process.parents, hidden=began.hidden, named_by=began.named_by
        )

    def for_connection(
        self, client: "socket_peers.Address | None", server: "socket_peers.Address | None"
    ) -> "ServedKnowledgeBase":
        """Return the knowledge base for one request over a connection, judged by the client's session.

        Where it can't be seen who that is, they are unknown.
        """
        peer_pids: tuple[int, ...] = ()
        with suppress(OSError):
            peer_pids = socket_peers.find_peers(client, server, call_origin.PROC) if client and server else ()
        served = self._open_again()
        served.callers = tuple(map(socket_peers.read_peer_origin, peer_pids)) or (None,)
        return served

    def for_browser(
        self, client: "socket_peers.Address | None", server: "socket_peers.Address | None"
    ) -> "ServedKnowledgeBase":
        """Return the knowledge base for one request of the page's browser.

        Nobody works where a browser happened to be begun: like a parent's folder, that one can only make the
        project work. Who can't be seen, or has hidden who began them, is unknown.
        """
        served = self.for_connection(client, server)
        served.callers = tuple(origin and self._without_place(origin) for origin in served.callers)
        return served

    def for_signer(self, human: "human_consent.HumanWithKey") -> "ServedKnowledgeBase":
        """Return the knowledge base for an act of who proves a yes by a key; who asks is judged as before."""
        return self._open_again(human)

    def _without_place(self, origin: "call_origin.CallOrigin") -> "call_origin.CallOrigin":
        if origin.cwd is None:
            return origin
        folders = {"the browser's folder": str(origin.cwd)}
        if origin.pwd:
            folders["the browser's $PWD"] = origin.pwd
        return replace(origin, cwd=self.environment.cwd, pwd=None, parents={**origin.parents, **folders})

    def judge_project(self, rule: "Rule | BadRule") -> Project:
        """Return the strictest of what began the server and of who asks."""
        callers = (app_callers.judge_asker(one, rule) for one in self.callers)
        return policy.strictest_project((super().judge_project(rule), *callers))

    def access_token(self) -> "access_token.AccessToken":
        """Return the token that callers of the server must show.

        Raises:
            DiskError: it can't be kept, would lie in the knowledge base, or others could know it.
        """
        rule = self.find_rule()
        if not isinstance(rule, BadRule):
            # who syncs a knowledge base would sync the token
            self.state_folders.require_apart(rule.all_folders)
        return access_token.open_access_token(self.state_folders.state)

    def keep_port(self, port: int) -> None:
        """Store the server's port for hooks."""
        boundary_server_ports.keep_port(str(self.state_folders.state), port)

    def log_change_feed(self) -> "changes.LogChangeFeed":
        """Return the feed of changes to the project's log; it is empty as long as there is no log."""
        root = self.classify(str(self.project_folder or self.environment.cwd or "/")).root
        return changes.LogChangeFeed(
            None
            if root is None
            else project_log.Log(root, self.state_folders.state, account_home=self.environment.trust_home)
        )

    def follow_shared_log(self) -> None:
        """Have a process exchange the lines of a shared log as long as this one lives."""
        with suppress(RoamkbError):
            log = self.log.log_or_none()
            if log is not None and log.shared_settings.exists():
                share_process.start_worker(log, self.state_folders.state, parent=self.environment.pid)

    def notes_state(self) -> "tuple[walk.NoteFile, ...]":
        """Return the notes with their stats, which differ once one is written, moved or gone."""
        try:
            return self._open_notes().kb_walk.files
        except (RoamkbError, OSError):
            return ()

    def changing_state(self) -> tuple[object, ...]:
        """Return what differs once a note or a line of the log came, changed or went, or a hook failed."""
        notes: tuple[object, ...] = ()
        log_files: tuple[object, ...] = ()
        with suppress(RoamkbError, OSError):
            kb_walk = self._open_notes().kb_walk
            notes = kb_walk.files, kb_walk.conflict_copies
        with suppress(RoamkbError, OSError):
            log = self.log.log_to_read()
            log_files = *log.files_stamp(), injections.hook_errors_stamp(log.local_folder)
        return notes, log_files

    def view_node(self, name: str) -> "node_view.NodeView":
        """Return the node called `name` with what is around it, for a reader."""
        notes = self._open_notes()
        with self._explain_unknown_name(notes):
            return node_view.view_node(self._open_index(notes), notes, name, folder=self.environment.cwd)

    def latest_agent_nodes(self, most: int) -> "node_view.AgentNodes":
        """Return at most `most` of the nodes that agents wrote, the latest first."""
        notes = self._open_notes()
        return node_view.latest_agent_nodes(self._open_index(notes), notes, most=most)

    def select_graph(
        self, *, query: "query.Query | None" = None, around: str = "", depth: int = 1
    ) -> "selection.GraphSelection":
        """Return the nodes that `query` finds, and the links between them; `around` a node those within `depth` links.

        Raises:
            NotFound: there is no node `around`.
        """
        return selection.select_graph(self._open_index(self._open_notes()), query=query, around=around, depth=depth)

    def place_graph(self, graph: "selection.GraphSelection") -> "layout.Places":
        """Return where each node of a graph is drawn."""
        return layouts.place_nodes(self.state_folders.cache_folder(self.rule.kb), len(graph.nodes), graph.edges)

    def has_image(self, file: str) -> bool:
        """Say whether the knowledge base has an image at that path."""
        return images.find_image(self.rule.kb, file) is not None

    def read_image(self, file: str) -> "images.ImageFile":
        """Return an image of the knowledge base, by its path in there.

        Raises:
            NotFound: there is none, or it lies elsewhere.
        """
        return images.read_image(self.rule.kb, file)

    def compare_versions(self, first: str, second: str) -> "versions.VersionComparison":
        """Return two versions of a note side by side, by their paths below the knowledge base."""
        return versions.compare_versions(self._open_notes(), first, second)

    def list_versions(self) -> "tuple[tuple[conflicts.ConflictCopy, ...], tuple[hygiene.DuplicateNodes, ...]]":
        """Return Syncthing's conflict copies, and the nodes that share their id with another one."""
        notes = self._open_notes()
        directory = self._open_directory(notes)
        copies = self.conflicts().copies
        return copies, hygiene.duplicate_ids(notes, directory.read_sharing_ids())

    def journal_moments(self) -> "tuple[moments.Moment, ...]":
        """Return the journal's moments, the latest first, without another look at the notes."""
        context = self.journal_context()
        return context.journal.list_moments() if context and context.journal.is_there else ()

    def journal_changes(self, mark: str) -> "tuple[moments.EntryChange, ...]":
        """Return what had changed by the last look since the moment or session `mark`; raise `NotFound` for none."""
        context = self.journal_context()
        if context is None or not context.journal.is_there:
            return ()
        return context.journal.changes_since(context.journal.find_moment(mark))

    def served_project(self) -> Project:
        """Return the project whose log is served, classified by its folder alone."""
        return self.log.log_project

    def disputed_pairs(self) -> "Sequence[tuple[learning_state.LearningState, learning_state.LearningState]]":
        """Return the project's learnings that may contradict each other; raise `NoLog` where it has no log."""
        return tuple(self.log.log_to_read().read_contents().replay_state().disputed_pairs())

    def hook_errors(self) -> tuple[str, ...]:
        """Return the latest errors of hooks in this project, a line each; none without a log."""
        try:
            log = self.log.log_to_read()
        except RoamkbError:
            return ()
        return injections.recent_hook_errors(log.local_folder, now=self.current_time)

    def wall_settings(self) -> "tuple[doctor_wall.WallSetting, ...]":
        """Return which harnesses' settings put the wall before their shell commands; `doctor` tries it."""
        return tuple(doctor_wall.wall_settings(self.environment.home))

    def add_learning(
        self, new_learning: "new_learning.NewLearning", *, agent: str | None, session: str | None
    ) -> "tuple[str, learning_state.LearningState]":
        """Add one learning, as `learn` does; return the outcome, new or repeated, and its present state."""
        learned = learn.take_learning(self.log, new_learning, agent=agent, session=session)
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
    named_folders = []
    for parent in parent_processes(pid, call_origin.PROC):
        if not isinstance(parent, ParentProcess):
            raise UsageError(
                f"there are more than {parent.seen} parent processes, and any may be at work",
                hint="start it from a shell of your own",
            )
        named_folders.append((f"the process {parent.name} ({parent.pid}) that began it", parent.folder))
    return named_folders
