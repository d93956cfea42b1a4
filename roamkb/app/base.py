"""Parts that each operation of a knowledge base needs: the rule, the permit, the notes, their index."""

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
from roamkb.core.text import one_line
from roamkb.fs.user_dirs import default_cache_dir
from roamkb.fs.user_dirs import default_state_dir
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
    """One knowledge base seen from one project: its place, its permit and its operations' parts."""

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
    def _current_project(self) -> Project:
        """The project of this session, classified by the strictest of all evidence."""
        from roamkb.boundary.store.folder_evidence import find_rule

        return self.judge_project(find_rule(self.environment.home, account_home=self.environment.account_home))

    def judge_project(self, rule: Rule | BadRule) -> Project:
        """Return what `rule` makes of this session, and of who had it begun from inside of a wall."""
        from roamkb.app.hooks.session_project import judge_session

        return judge_session(self._call_origin, rule, self.environment)

    @property
    def _call_origin(self) -> "CallOrigin":
        from roamkb.boundary.store.folder_evidence import read_call_origin

        return read_call_origin(
            self.environment.variables,
            cwd=self.environment.cwd,
            pid=self.environment.pid,
            project=self.project_folder,
        )

    def _require_permit(
        self, fact: str, *, keep: "Callable[[], NodeContent] | None" = None, undone: str = ""
    ) -> "tuple[WritePermit, Notes]":
        """Return a permit to write `fact`, and the notes that it is for; read the rule once.

        A rule that another process puts in place meanwhile counts from the next call on. Where
        there is no leave, the project's own log takes `keep`, if it has one.
        """
        from roamkb.app.log.learn import keep_refused
        from roamkb.boundary.policy import require_permit
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.boundary.store.folder_evidence import missing_roots

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        project = self.judge_project(rule)
        kept_in = keep_refused(self.log, keep()) if keep and project.kind is not ProjectKind.PERSONAL else None
        if isinstance(rule, BadRule):
            # no project is personal then, so there is no KB to name either
            require_permit(project, fact, kb=Path(), written_to=kept_in, undone=undone)
            raise rule
        warnings = tuple(
            f"the work root {root} isn't there: if that is a slip, work is taken for personal; mend it in "
            f"{rule.source}, or make the folder"
            for root in missing_roots(rule)
        )
        write_permit = require_permit(project, fact, kb=rule.kb, written_to=kept_in, undone=undone, warnings=warnings)
        return write_permit, self._open_notes_of_rule(rule)

    def _open_notes(self) -> "Notes":
        """Return the notes as they are now; nothing is cached from one call to the next."""
        return self._open_notes_of_rule(self.rule)

    def _open_notes_of_rule(self, rule: Rule) -> "Notes":
        from roamkb.kb.notes.store.notes import Notes

        return Notes(rule.kb, todo_lines=rule.todo_lines, own=self._own_writes(rule.kb))

    def _own_writes(self, kb: Path) -> "OwnWrites | None":
        from roamkb.kb.notes.store.own_writes import OwnWrites

        folder = self.state_folders.journal_folder(kb)
        return None if folder is None else OwnWrites(kb=kb, folder=folder)

    def _open_index(self, notes: "Notes", *, semantic: bool = False) -> "Index":
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
            state=self.environment.state or Path(default_state_dir()),
            cache=self.environment.cache or Path(default_cache_dir()),
        )

    def _open_trash(self, kb: Path) -> "Trash":
        from roamkb.kb.notes.store.trash import Trash

        return Trash(
            kb=kb,
            folder=self.state_folders.trash_folder(kb),
            lock_file=self.state_folders.lock_file(kb),
            now=self.environment.now,
            own=self._own_writes(kb),
        )

    def _new_stamp(self) -> "NodeStamp":
        from roamkb.kb.write import NodeStamp

        now = self.environment.now()
        return NodeStamp(new_id=lambda: self.environment.new_id(now), now=now)

    def _parse_day_option(self, option: str, text: str | None) -> str | None:
        from roamkb.kb.search.query import parse_day

        if text is None:
            return None
        day = parse_day(text, today=self.environment.now().date())
        if day is None:
            raise UsageError(f"{option} {one_line(text)} is no day", hint="say 2026-06-10, 2026-06, today or 7d")
        return day

    def _absolute_path(self, path: str) -> Path:
        """Return `path` as an absolute path, from the current folder and with `~` expanded."""
        return (self.environment.cwd or Path("/")) / expanduser(require_name(path, "the path"))

    def _optional_absolute_path(self, path: str | None) -> Path | None:
        return None if path is None else self._absolute_path(path)

    def _project_name(self, project: Project) -> str:
        """Return the project's root as a note shows it: below HOME with `~`.

        Raises:
            SecretFound: the path holds a credential, and every note would.
        """
        from roamkb.secrets.detector import refuse_secrets

        name = self._tilde_path(project.root) if project.root else ""
        refuse_secrets(name)
        return name

    def _project_aliases(self, project: str) -> frozenset[str]:
        """Return the names that the notes of a project may call it."""
        from roamkb.org.writer import stored_value

        folder = self._absolute_path(project)
        names = (project.rstrip("/"), self._tilde_path(folder), self._tilde_path(folder.resolve()))
        return frozenset(map(stored_value, names))

    def _tilde_path(self, folder: Path) -> str:
        home = self.environment.home
        return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
