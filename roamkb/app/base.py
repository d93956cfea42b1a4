"""What each operation of a knowledge base needs: the rule, the leave, the notes, their index."""

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app.environment import ProcessEnvironment
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.text import shown
from roamkb.fs.user_dirs import usual_cache
from roamkb.fs.user_dirs import usual_state
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app.log.project_log import ProjectLog
    from roamkb.boundary.human_consent import HumanAtTerminal
    from roamkb.boundary.policy import WritePermit
    from roamkb.boundary.store.folder_evidence import CallOrigin
    from roamkb.fs.locks import StateFolders
    from roamkb.kb.notes.store.notes import Notes
    from roamkb.kb.notes.store.own_writes import OwnWrites
    from roamkb.kb.notes.store.trash import Trash
    from roamkb.kb.search.index.index import Index
    from roamkb.kb.write import NodeContent
    from roamkb.kb.write import NodeStamp


class KnowledgeBaseContext(ABC):
    """One knowledge base, seen from one project: where it is, what it may, and what its operations need."""

    def __init__(
        self,
        around: ProcessEnvironment,
        *,
        project: str | None = None,
        ask: Callable[[str], str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        human: "HumanAtTerminal | None" = None,
    ) -> None:
        self.environment = around
        self.project_folder = None if project is None else Path(project)
        self._ask = ask
        self._progress = progress
        self._human = human

    @property
    @abstractmethod
    def log(self) -> "ProjectLog":
        """The log of the current project."""

    @property
    def rule(self) -> Rule:
        """The rule that holds here; raise `BadRule` where it can't be read."""
        from roamkb.boundary.store.folder_evidence import load_rule

        return load_rule(self.environment.home, account_home=self.environment.account_home)

    @property
    def _project(self) -> Project:
        """What this session's project is, by the strictest of all evidence."""
        from roamkb.boundary.store.folder_evidence import find_rule

        return self.judge_project(
            find_rule(self.environment.home, account_home=self.environment.account_home)
        )

    def judge_project(self, rule: Rule | BadRule) -> Project:
        """Return what `rule` makes of this session, and of who had it begun from inside of a wall."""
        from roamkb.app.hooks.session_project import judged_session

        return judged_session(self._session, rule, self.environment)

    @property
    def _session(self) -> "CallOrigin":
        from roamkb.boundary.store.folder_evidence import session_of

        return session_of(
            self.environment.variables,
            cwd=self.environment.cwd,
            pid=self.environment.pid,
            project=self.project_folder,
        )

    def _leave(
        self, fact: str, *, keep: "Callable[[], NodeContent] | None" = None, undone: str = ""
    ) -> "tuple[WritePermit, Notes]":
        """Return leave to write `fact`, and the notes that it is for, by one reading of the rule.

        A rule that another process puts in place meanwhile counts from the next call on. Where
        there is no leave, the project's own log takes `keep`, if it has one.
        """
        from roamkb.app.log.learn import keep_refused
        from roamkb.boundary.policy import permit
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.boundary.store.folder_evidence import missing_roots

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        project = self.judge_project(rule)
        kept = keep_refused(self.log, keep()) if keep and project.kind is not ProjectKind.PERSONAL else None
        if isinstance(rule, BadRule):
            # no project is personal then, so there is no KB to name either
            permit(project, fact, kb=Path(), written_to=kept, undone=undone)
            raise rule
        warnings = tuple(
            f"the work root {root} isn't there: if that is a slip, work is taken for personal; mend it in "
            f"{rule.source}, or make the folder"
            for root in missing_roots(rule)
        )
        leave = permit(project, fact, kb=rule.kb, written_to=kept, undone=undone, warnings=warnings)
        return leave, self._notes_of(rule)

    def _notes(self) -> "Notes":
        """Return the notes as they are now; what one call read is not kept for the next."""
        return self._notes_of(self.rule)

    def _notes_of(self, rule: Rule) -> "Notes":
        from roamkb.kb.notes.store.notes import Notes

        return Notes(rule.kb, todo_lines=rule.todo_lines, own=self._own_writes(rule.kb))

    def _own_writes(self, kb: Path) -> "OwnWrites | None":
        from roamkb.kb.notes.store.own_writes import OwnWrites

        folder = self.state_folders.journal_folder(kb)
        return None if folder is None else OwnWrites(kb=kb, folder=folder)

    def _index(self, notes: "Notes", *, semantic: bool = False) -> "Index":
        from roamkb import __version__
        from roamkb.kb.search.index.index import Index

        folder = self.state_folders.cache_folder(notes.kb)
        model = None
        if semantic:
            from roamkb.kb.search.semantic.cache import sentence_model

            model = sentence_model(folder, progress=self._progress)
        return Index(notes, folder, version=__version__, progress=self._progress, model=model)

    @cached_property
    def state_folders(self) -> "StateFolders":
        """Where this account keeps what roamkb remembers beside the notes."""
        from roamkb.fs.locks import StateFolders

        return StateFolders(
            state=self.environment.state or Path(usual_state()),
            cache=self.environment.cache or Path(usual_cache()),
        )

    def _trash(self, kb: Path) -> "Trash":
        from roamkb.kb.notes.store.trash import Trash

        return Trash(
            kb=kb,
            folder=self.state_folders.trash_folder(kb),
            lock_file=self.state_folders.lock_file(kb),
            now=self.environment.now,
            own=self._own_writes(kb),
        )

    def _stamp(self) -> "NodeStamp":
        from roamkb.kb.write import NodeStamp

        now = self.environment.now()
        return NodeStamp(new_id=lambda: self.environment.new_id(now), now=now)

    def _day(self, option: str, text: str | None) -> str | None:
        from roamkb.kb.search.query import parse_day

        if text is None:
            return None
        day = parse_day(text, today=self.environment.now().date())
        if day is None:
            raise UsageError(f"{option} {shown(text)} is no day", hint="say 2026-06-10, 2026-06, today or 7d")
        return day

    def _absolute(self, path: str) -> Path:
        """Return `path` as the user meant it, from the current folder."""
        return (self.environment.cwd or Path("/")) / expanduser(require_name(path, "the path"))

    def _place(self, path: str | None) -> Path | None:
        return None if path is None else self._absolute(path)

    def _project_name(self, project: Project) -> str:
        """Return the project's root as a note shows it: below HOME with `~`.

        Raises:
            SecretFound: the path holds a credential, and every note would.
        """
        from roamkb.secrets.detector import refuse_secrets

        name = self._tilde(project.root) if project.root else ""
        refuse_secrets(name)
        return name

    def _names_of(self, project: str) -> frozenset[str]:
        """Return what the notes of a project may call it."""
        from roamkb.org.writer import stored_value

        folder = self._absolute(project)
        names = (project.rstrip("/"), self._tilde(folder), self._tilde(folder.resolve()))
        return frozenset(map(stored_value, names))

    def _tilde(self, folder: Path) -> str:
        home = self.environment.home
        return (
            f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
        )
