"""Parts that each operation of a knowledge base needs: the rule, the permit, the notes, their index."""

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import cached_property
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path

from roamkb import __version__
from roamkb.app.environment import ProcessEnvironment
from roamkb.app.hooks import session_project
from roamkb.app.log import learn
from roamkb.app.log import project_log
from roamkb.boundary import human_consent
from roamkb.boundary import policy
from roamkb.boundary.store import call_origin
from roamkb.boundary.store import folder_evidence
from roamkb.boundary.store import installed_rule
from roamkb.boundary.store import session_evidence
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoNode
from roamkb.core.errors import UsageError
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import EVERY_KB
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Self
from roamkb.core.text import one_line
from roamkb.fs import locks
from roamkb.fs import tree_digest
from roamkb.fs.user_dirs import CACHE_FOLDER
from roamkb.fs.user_dirs import default_state_dir
from roamkb.kb import daily
from roamkb.kb import write
from roamkb.kb.notes.file_names import require_name
from roamkb.kb.notes.store import bibliographies
from roamkb.kb.notes.store import lookup
from roamkb.kb.notes.store import notes as kb_notes
from roamkb.kb.notes.store import own_writes
from roamkb.kb.notes.store import trash
from roamkb.kb.notes.store import walk
from roamkb.kb.search import query
from roamkb.kb.search.index import index
from roamkb.kb.search.index import node_directory
from roamkb.kb.search.semantic import cache
from roamkb.org import writer
from roamkb.secrets import detector


class KnowledgeBaseContext(ABC):
    """One knowledge base seen from one project: its place, its permit and its operations' parts."""

    def __init__(
        self,
        around: ProcessEnvironment,
        *,
        project: str | Path | None = None,
        ask: Callable[[str], str] | None = None,
        human: "human_consent.HumanAtTerminal | None" = None,
    ) -> None:
        self.environment = around
        self.project_folder = None if project is None else Path(project)
        self._ask = ask
        self._human = human
        #: The notes' folder, where this process has just looked at it and answers a single question.
        self.seen_tree: tree_digest.TreeDigest | None = None
        #: Finds the notes again and again, where this process answers many questions.
        self._live_walk: Callable[[Path], walk.NotesWalk] | None = None
        #: Which of the rule's knowledge bases this is.
        self.kb_name = DEFAULT_KB
        #: The same for the default one, to which the projects' logs belong; None where this is it.
        self._default: Self | None = None

    @property
    @abstractmethod
    def log(self) -> "project_log.ProjectLog":
        """The log of the current project."""

    def of_kb(self, name: str | None) -> Self:
        """Return the same for the knowledge base called `name`; without a name this.

        Raises:
            UsageError: the rule names none like that; nothing was read or written.
        """
        default = self._default or self
        if name is None or name == self.kb_name:
            return self
        if name == default.kb_name:
            return default
        if name == EVERY_KB:
            raise UsageError("--kb all is for search, show and snapshot", hint="name one of them")
        other = self._open_again()
        other.kb_name, other._default = name, default  # noqa: SLF001 - its own class
        # a rule that is broken otherwise is said in its place
        other.find_rule()
        return other

    def _open_again(self) -> Self:
        """Return another of this session, which has found out nothing yet."""
        return type(self)(self.environment, project=self.project_folder, ask=self._ask, human=self._human)

    @property
    def is_named(self) -> bool:
        """Whether this is one of the knowledge bases with a name."""
        return self._default is not None

    @property
    def kb_names(self) -> tuple[str, ...]:
        """The names of the rule's knowledge bases, the default one's first; raise `BadRule` where it can't be read."""
        rule = (self._default or self).rule
        return (rule.kb_name, *(other.name for other in rule.others))

    def find_rule(self, kb_name: str = "") -> Rule | BadRule:
        """Return the rule for this knowledge base or another, or its fault as a value."""
        return installed_rule.find_rule(
            self.environment.home, account_home=self.environment.account_home, kb_name=kb_name or self.kb_name
        )

    @property
    def rule(self) -> Rule:
        """The rule that holds here, for this knowledge base; raise `BadRule` where it can't be read."""
        rule = self.find_rule()
        if isinstance(rule, BadRule):
            raise rule
        self._require_own_places(rule)
        return rule

    def _require_own_places(self, rule: Rule) -> None:
        """Raise `DiskError` where what is kept of one of several knowledge bases would lie in another."""
        if rule.others:
            self.state_folders.require_apart(rule.all_folders)

    @property
    def current_project(self) -> Project:
        """The project of this session, classified by the strictest of all evidence."""
        return self.judge_project(self.find_rule())

    def project_of_session(self, session: str) -> Project:
        """Return the project of what a session learned: this one's, or work where that one was there."""
        project = self.current_project
        if not session_project.is_session_at_work(session, self.environment):
            return project
        return policy.strictest_project((session_evidence.EARLIER_WORK, project))

    def judge_project(self, rule: Rule | BadRule) -> Project:
        """Return what `rule` makes of this session, and of who had it begun from inside of a wall."""
        return session_project.judge_session(self._call_origin, rule, self.environment)

    @property
    def _call_origin(self) -> "call_origin.CallOrigin":
        return call_origin.read_call_origin(
            self.environment.variables,
            cwd=self.environment.cwd,
            pid=self.environment.pid,
            project=self.project_folder,
        )

    def _require_permit(
        self, fact: str, *, keep: "Callable[[], write.NodeContent] | None" = None, undone: str = ""
    ) -> "tuple[policy.WritePermit, kb_notes.Notes]":
        """Return a permit to write `fact`, and the notes that it is for; read the rule once.

        A rule that another process puts in place meanwhile counts from the next call on. Where
        there is no leave, the project's own log takes `keep`, if it has one.
        """
        rule = self.find_rule()
        project = self.judge_project(rule)
        if isinstance(rule, Rule) and project.kind is ProjectKind.UNKNOWN and not self.is_named:
            project = self._with_permitted_names(project)
        kept_in = learn.keep_refused(self.log, keep()) if keep and project.kind is not ProjectKind.PERSONAL else None
        if isinstance(rule, BadRule):
            # no project is personal then, so there is no KB to name either
            policy.require_permit(project, fact, kb=Path(), written_to=kept_in, undone=undone)
            raise rule
        self._require_own_places(rule)
        warnings = tuple(
            f"the work root {root} isn't there: if that is a slip, work is taken for personal; mend it in "
            f"{rule.source}, or make the folder"
            for root in installed_rule.missing_roots(rule)
        )
        write_permit = policy.require_permit(
            project, fact, kb=rule.kb, written_to=kept_in, undone=undone, warnings=warnings, kb_name=self.kb_name
        )
        return write_permit, self._open_notes_of_rule(rule)

    def permitted_names(self) -> tuple[str, ...]:
        """Return the names of the knowledge bases with one that this session may write to."""
        rule = (self._default or self).find_rule()
        return tuple(
            other.name
            for other in (rule.others if isinstance(rule, Rule) else ())
            if self.judge_project(self.find_rule(other.name)).kind is ProjectKind.PERSONAL
        )

    def _with_permitted_names(self, project: Project) -> Project:
        """Return a refused project with a hint at the knowledge bases that it may write to by name."""
        names = self.permitted_names()
        permitted = " or ".join(f"`--kb {name}`" for name in names)
        return replace(project, hint=f"{permitted} would be permitted; {project.hint}") if names else project

    def _open_notes(self) -> "kb_notes.Notes":
        """Return the notes as they are now; nothing is cached from one call to the next."""
        return self._open_notes_of_rule(self.rule)

    def _open_notes_of_rule(self, rule: Rule) -> "kb_notes.Notes":
        own = self._own_writes(rule.kb)
        return kb_notes.Notes(
            rule.kb,
            todo_lines=rule.todo_lines,
            own=own,
            tree=self.seen_tree,
            live_walk=self._live_walk,
            label=rule.kb_name if rule.others else None,
        )

    def _own_writes(self, kb: Path) -> "own_writes.OwnWrites | None":
        folder = self.state_folders.journal_folder(kb)
        return None if folder is None else own_writes.OwnWrites(kb=kb, folder=folder)

    def _open_index(self, notes: "kb_notes.Notes", *, semantic: bool = False) -> "index.Index":
        folder = self.state_folders.cache_folder(notes.kb)
        model = None
        if semantic:
            model = cache.sentence_model(folder)
        return index.Index(notes, folder, version=__version__, model=model)

    def _open_directory(self, notes: "kb_notes.Notes") -> "lookup.NodeDirectory":
        folder = self.state_folders.cache_folder(notes.kb)
        if folder is None or not folder.is_dir():
            # nothing was ever indexed, and to import the index takes as long as to read some dozens of notes
            return lookup.WholeReading(notes)
        return node_directory.IndexDirectory(self._open_index(notes), notes)

    @cached_property
    def state_folders(self) -> "locks.StateFolders":
        """Where this account keeps what roamkb remembers beside the notes."""
        state = self.environment.state or Path(default_state_dir())
        return locks.StateFolders(state=state, cache=self.environment.cache or state / CACHE_FOLDER)

    def _bibliographies(self, notes: "kb_notes.Notes") -> "bibliographies.Bibliographies":
        def may_read(path: Path) -> bool:
            folders = {path.parent, path.resolve().parent}
            kinds = {folder_evidence.classify_folder(folder, self.rule).kind for folder in folders}
            return ProjectKind.WORK not in kinds

        return bibliographies.Bibliographies(self.environment.home, notes.kb, may_read=may_read)

    def _open_trash(self, kb: Path) -> "trash.Trash":
        return trash.Trash(
            kb=kb,
            folder=self.state_folders.trash_folder(kb),
            lock_file=self.state_folders.lock_file(kb),
            now=self.environment.now,
            own=self._own_writes(kb),
        )

    @contextmanager
    def _explain_unknown_name(self, notes: "kb_notes.Notes") -> Iterator[None]:
        """Raise the error for an unknown name with what else is known of it: it was trashed, or is a cited work."""
        try:
            yield
        except NoNode as error:
            if entry := self._open_trash(notes.kb).find_entry(error.name):
                command = f"roamkb restore {entry.id}{self._kb_option}"
                hint = f"it was trashed on {entry.when[:10]}; `{command}` brings it back"
                raise NoNode(error.name, hint=hint) from error
            self._bibliographies(notes).raise_if_cited(error)
            raise

    @property
    def _kb_option(self) -> str:
        """What a command says to mean this knowledge base; empty for the default one."""
        return f" --kb {self.kb_name}" if self.is_named else ""

    def _new_stamp(self) -> "write.NodeStamp":
        now = self.environment.now()
        new_id = self.environment.new_node_id or self.environment.new_id
        return write.NodeStamp(new_id=lambda: new_id(now), now=now)

    def _parse_day_option(self, option: str, text: str | None) -> str | None:
        if text is None:
            return None
        day = query.parse_day(text, today=self.environment.now().date())
        if day is None:
            raise UsageError(f"{option} {one_line(text)} is no day", hint="say 2026-06-10, 2026-06, today or 7d")
        return day

    def _parse_daily_day(self, text: str | None) -> date:
        return daily.parse_daily_day(text, today=self.environment.now().date())

    def _absolute_path(self, path: str) -> Path:
        """Return `path` as an absolute path, from the current folder and with `~` expanded."""
        return (self.environment.cwd or Path("/")) / expanduser(require_name(path, "the path"))

    def _optional_absolute_path(self, path: str | None) -> Path | None:
        return None if path is None else self._absolute_path(path)

    def _project_name(self, project: Project) -> str:
        """Return the project's root as a note shows it: below HOME with `~`, in a named knowledge base its last name.

        Raises:
            SecretFound: the path holds a credential, and every note would.
        """
        root = project.root or Path()
        # how a person's folders are called is nothing to those who share a named one
        name = root.name if self.is_named or not project.root else self._tilde_path(root)
        detector.refuse_secrets(name)
        return name

    def _project_aliases(self, project: str) -> frozenset[str]:
        """Return the names that the notes of a project may call it."""
        folder = self._absolute_path(project)
        names = [project.rstrip("/"), self._tilde_path(folder), self._tilde_path(folder.resolve())]
        names += [folder.name] if self.is_named else []
        return frozenset(map(writer.stored_value, names))

    def _tilde_path(self, folder: Path) -> str:
        home = self.environment.home
        return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
