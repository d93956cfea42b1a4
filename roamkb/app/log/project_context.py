"""The log of one project with its surroundings: the parts that each verb needs."""

import os
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path

from roamkb import __version__
from roamkb.app import environment
from roamkb.app import knowledge_base
from roamkb.boundary import human_consent
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.boundary.store import installed_rule
from roamkb.core import model
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.typing import Final
from roamkb.fs import worktrees
from roamkb.kb.notes.file_names import require_name
from roamkb.kb.search import query
from roamkb.log import new_learning
from roamkb.log import verb_context
from roamkb.log.state import learning_state
from roamkb.log.state import promoted_notes
from roamkb.log.store import build_budget
from roamkb.log.store import index
from roamkb.log.store import project_log
from roamkb.log.store import receipts

#: Seconds that a question may wait for what other machines wrote, where the service wasn't heard of just now.
SHARE_PATIENCE: Final = 1.0


class ProjectContext:
    """The project's log, its session, and the knowledge base beside it."""

    def __init__(
        self,
        around: "environment.ProcessEnvironment",
        kb: "knowledge_base.KnowledgeBase",
        *,
        folder: Path | None,
        ask: Callable[[str], str] | None = None,
        human: "human_consent.HumanAtTerminal | None" = None,
    ) -> None:
        """Take the environment that `KnowledgeBase` gathered, and the knowledge base itself."""
        self.environment = around
        self.kb = kb
        self.folder = folder
        self.ask = ask
        self.terminal = human
        #: Of a hook, which can't wait until a long log is indexed.
        self.build_budget: build_budget.BuildBudget | None = None

    def session_project(self) -> "model.Project":
        """Return this session's project, classified by the strictest of all evidence."""
        return self.kb.current_project

    @property
    def human_at_terminal(self) -> "human_consent.HumanAtTerminal | None":
        """The human at the terminal, if there is one.

        Raises:
            UsageError: an agent runs this, and may have made the terminal itself.
        """
        if self.terminal is not None:
            human_consent.require_no_agent(self.environment.agent_evidence)
        return self.terminal

    @property
    def agent_suspicion(self) -> str:
        """The reason why an answer given here is no human's word; empty where it may be one's."""
        is_asked_at_a_terminal = self.ask is not None and self.terminal is not None
        return self.environment.agent_evidence or (
            self.environment.missing_login_reason if is_asked_at_a_terminal else ""
        )

    @property
    def login(self) -> str:
        """The name of the human's account."""
        return self.environment.login

    @property
    def current_folder(self) -> Path:
        """The folder that relative paths begin at."""
        return self.environment.cwd or Path("/")

    @property
    def has_writable_log(self) -> bool:
        """Whether the project has a log that this session may write to."""
        try:
            self.log_to_write("")
        except RoamkbError:
            return False
        return True

    @cached_property
    def checkout_project(self) -> "model.Project":
        """The project of the checkout at hand, classified by its folder alone."""
        folder = self.folder if self.folder is not None else self.environment.cwd
        if folder is None:
            raise NoLog(None)
        return self._classify_folder((self.environment.cwd or Path("/")) / folder)

    @cached_property
    def log_project(self) -> "model.Project":
        """The log's project, classified by its folder alone: a worktree's is its main checkout."""
        root = self.checkout_project.root
        home = root and Path(worktrees.shared_folder(str(root)))
        return self.checkout_project if home is None or home == root else self._classify_folder(home)

    def _classify_folder(self, folder: Path) -> "model.Project":
        rule = installed_rule.find_rule(self.environment.home, account_home=self.environment.account_home)
        return folder_evidence.classify_folder(folder, rule)

    @property
    def project_root(self) -> Path:
        """The folder of the checkout at hand; raise `NoLog` where there is none."""
        if self.checkout_project.root is None:
            raise NoLog(None)
        return self.checkout_project.root

    @property
    def unlogged_folder(self) -> Path:
        """The folder for what a person set while the project had no log, for all its worktrees; may raise `NoLog`."""
        return self.kb.state_folders.unlogged_folder(Path(worktrees.shared_folder(str(self.project_root))))

    def unchecked_log(self) -> "project_log.Log":
        """Return the log of the project's folder, even one that is missing or doesn't count."""
        return project_log.Log(
            self.project_root,
            self.kb.state_folders.state,
            account_home=self.environment.trust_home,
            budget=self.build_budget,
            must_sign=lambda: self.must_sign,
            stays_in_tree=lambda: self.log_project.kind is not model.ProjectKind.PERSONAL,
        )

    @property
    def must_sign(self) -> bool:
        """Whether the rule demands a signed yes of a human; one that can't be read might."""
        rule = self.kb.find_rule()
        if isinstance(rule, BadRule):
            return True
        return rule.must_sign or (rule.account is not None and rule.account.must_sign)

    def log_to_read(self, *, patience: float = 0.0) -> "project_log.Log":
        """Return the project's log; raise `NoLog` where it has none.

        One that is shared waits up to `patience` seconds for what other machines wrote.

        Raises:
            DiskError: the learnings' file is gone.
        """
        log = self.log_to_restore(patience=patience)
        log.require_files()
        return log

    def log_to_restore(self, *, patience: float = 0.0) -> "project_log.Log":
        """Return the log as `log_to_read` does, also where a file of it is gone, which a snapshot may have.

        A worktree shares that of its main checkout, but not where that is of a stricter kind: what is told there
        might be written here.
        """
        log = self.unchecked_log()
        if policy.strictest_project((self.checkout_project, self.log_project)).kind is not self.checkout_project.kind:
            raise NoLog(log.root)
        log.require_adopted().sync_soon(patience=patience)
        return log

    def log_to_write(self, fact: str, *, session: str | None = None) -> "project_log.Log":
        """Return the log to write `fact` to, unless this session, or the named one, is stricter than its project."""
        log = self.log_to_read()
        policy.require_as_strict(self.kb.project_of_session(session or ""), self.log_project, fact)
        return log

    def learning_index(self, log: "project_log.Log", state: "learning_state.LogState") -> "index.LogIndex":
        """Return the index of the learnings that are in force in `state`."""
        return index.LogIndex(
            log.cache_folder / "index",
            state.learnings,
            version=__version__,
            digest=state.index_digest,
            since=state.ids_since,
            budget=self.build_budget,
        )

    def make_author(self, *, agent: str | None = None, session: str | None = None) -> "new_learning.Author":
        """Return what signs new lines: this agent, session and moment, unless others are named.

        Raises:
            UsageError: no file could hold a name, or it says that a human signs.
        """
        now, kind = self.environment.now(), self.session_project().kind
        return new_learning.Author(
            agent=model.require_agent_name(require_name(agent or self.environment.agent_name, "the agent")),
            session=require_name(session or self.environment.session_id, "the session"),
            # what `platform.node` gives, without the time that importing it takes
            machine=os.uname().nodename,
            kind=kind,
            kbs=self.kb.permitted_names() if kind is model.ProjectKind.UNKNOWN else (),
            now=now,
            new_id=lambda: self.environment.new_id(now),
            is_human=self.ask is not None and not self.agent_suspicion,
            process="" if session or self.environment.session_id else self._process_name(),
        )

    def author_of(self, request: "verb_context.SignedRequest | None" = None) -> "new_learning.Author":
        """Return what signs new lines for a request, which may name another agent and session."""
        return self.make_author(agent=request.agent, session=request.session) if request else self.make_author()

    def _process_name(self) -> str:
        """Return the harness's process id, in place of the session of an agent that names none."""
        harness = self.environment.nearest_harness
        return harness[0] if harness else ""

    def parse_moment(self, option: str, text: str | None) -> float | None:
        """Parse `text` into a moment in seconds since 1970; of a day, its end."""
        if text is None:
            return None
        return query.parse_moment(option, text, today=self.environment.now().date())

    def log_or_none(self, *, patience: float = 0.0) -> "project_log.Log | None":
        """Return the log if it is readable; one that holds links isn't, as `doctor` reports."""
        try:
            return self.log_to_read(patience=patience)
        except (NoLog, DiskError):
            return None

    def promoted_keys(self) -> Mapping[str, str]:
        """Return the keys of the learnings that became nodes, by the nodes' ids; none without a readable log."""
        log = self.log_or_none()
        standings = log.read_contents().replay_state().standings.values() if log else ()
        return {standing.node: standing.learning.key for standing in standings if standing.node}

    def lapsed_note_notices(
        self, log: "project_log.Log", *, latest: int | None = None, most: int | None = None
    ) -> Iterator[str]:
        """Yield lines about notes that say what doesn't hold any more in `log`, and the command that replaces each.

        Of so many promotions the latest, and so many notes of those.

        Raises:
            DiskError, NoKnowledgeBase, BadRule: the log or the notes can't be read.
        """
        lapsed = promoted_notes.lapsed_notes(log.read_contents().replay_state(), latest=latest)
        for note in islice(lapsed, most):
            hits: Sequence[model.Hit] = ()
            # the rule may name that knowledge base no more
            with suppress(UsageError):
                hits = self.kb.of_kb(note.kb_name or None).search(f"id:{note.id}", limit=1).hits
            if hits and not hits[0].replaced_mark:
                yield f"{hits[0].title} says what doesn't hold any more ({note.reason}): `{note.command}`"

    def keep_receipt(
        self,
        log: "project_log.Log",
        author: "new_learning.Author",
        ids: Sequence[str],
        *,
        shown_by: str,
        task: str | None = None,
        is_empty_kept: bool = False,
    ) -> None:
        """Record the ids shown to a session; where that fails, they are shown all the same.

        What a stricter project's session asks for is its own affair, and recorded in no other's tree (D11).
        """
        if not (ids or is_empty_kept):
            return
        with suppress(RoamkbError):
            # the author was made for this call, by a judgement that takes as long as Python's start
            if policy.is_as_strict(author.kind, self.log_project.kind):
                receipts.save_receipt(
                    log.local_folder,
                    author,
                    ids,
                    requested_by=shown_by,
                    task=task or "",
                    worktree=worktrees.worktree_name(str(log.root)),
                )
