"""One knowledge base, seen from one project: wires storage, boundary and actions together.

The only reader of HOME, the environment and the clock. What an operation takes and gives
is the same here, on the command line and, later, through MCP and HTTP.
"""

import os
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from functools import partial
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Literal
from typing import overload

from roamkb.core.errors import BadRule
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Kind
from roamkb.core.model import Project
from roamkb.core.model import Rule
from roamkb.core.names import require_name
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.storage.nodes import Notes

if TYPE_CHECKING:
    from roamkb.actions.conflicts import Conflicts
    from roamkb.actions.graph import LinkGraph
    from roamkb.actions.hygiene import Hygiene
    from roamkb.actions.index import IndexState
    from roamkb.actions.links import Links
    from roamkb.actions.nodes import NodeList
    from roamkb.actions.search import SearchResult
    from roamkb.actions.show import Shown
    from roamkb.actions.snapshot import KbSide
    from roamkb.actions.supersede import Superseded
    from roamkb.actions.tags import Tags
    from roamkb.actions.trash import Inventory
    from roamkb.actions.trash import Restored
    from roamkb.actions.trash import Trashed
    from roamkb.actions.write import Fact
    from roamkb.actions.write import Stamp
    from roamkb.actions.write import Written
    from roamkb.app_experience import ProjectExperience
    from roamkb.core.boundary import WritePermit
    from roamkb.core.checkup import Checkup
    from roamkb.core.consent import Human
    from roamkb.core.installation import InstallReport
    from roamkb.core.model import Hit
    from roamkb.storage.index import Index
    from roamkb.storage.places import Session
    from roamkb.storage.state import State
    from roamkb.storage.trash import Trash

#: Who is running, by a variable that only it sets.
_AGENTS = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini-cli",
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the process finds around it, gathered once."""

    home: Path
    #: The home that the password database names, whatever HOME says.
    account_home: Path
    environment: Mapping[str, str]
    #: None where the current folder was deleted.
    cwd: Path | None
    pid: int
    now: Callable[[], datetime]
    new_id: Callable[[datetime], str]
    #: The user's own state and cache folders; None for the system's usual ones.
    state: Path | None = None
    cache: Path | None = None
    #: The account's name, by the password database: who answers for what a human says.
    login: str = "someone"

    @property
    def agent(self) -> str:
        """The agent that is running, as far as the environment tells."""
        running = (name for variable, name in _AGENTS.items() if self.environment.get(variable))
        return next(running, "agent")

    @property
    def harness(self) -> tuple[str, str] | None:
        """The nearest harness of agents among the parent processes: its number and name."""
        from roamkb.core.consent import find_harness
        from roamkb.storage.places import PROC
        from roamkb.storage.processes import commands_of_parents

        return find_harness(commands_of_parents(self.pid, PROC))

    @property
    def led_by(self) -> str:
        """By what an agent is known to run this; empty where nothing says so."""
        from roamkb.core.consent import agent_at_work

        return agent_at_work(self.environment, self.harness)

    @staticmethod
    def gathered() -> "Surroundings":
        """Return what is around this process."""
        from roamkb.core.ids import new_id

        home = Path(os.environ.get("HOME") or _account_home(Path("/")))
        return Surroundings(
            home=home,
            account_home=_account_home(home),
            environment=dict(os.environ),
            cwd=_current_folder(),
            pid=os.getpid(),
            now=datetime.now,
            new_id=new_id,
            login=_login(),
        )


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _account_home(home: Path) -> Path:
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        # a user that the system doesn't know, or a system without users
        return home


def _login() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "someone"


class KnowledgeBase:
    """The human's knowledge base, with the leave that the current project has."""

    def __init__(
        self,
        around: Surroundings,
        *,
        project: str | None = None,
        ask: Callable[[str], str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        human: "Human | None" = None,
    ) -> None:
        self._around = around
        self._project_folder = None if project is None else Path(project)
        self._ask = ask
        self._progress = progress
        self._human = human

    @classmethod
    def open(
        cls,
        *,
        project: str | None = None,
        ask: Callable[[str], str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        human: "Human | None" = None,
    ) -> "KnowledgeBase":
        """Return the knowledge base that the installed rule names; nothing is read before it's needed.

        `project` is the folder that the session works in, beside the current one. `ask` puts a
        question to a human at a terminal and returns the answer; without it nobody is asked.
        `progress` hears how many notes of how many the index has read. `human` is somebody at a
        terminal, whose word some operations need; without it they are refused.
        """
        return cls(Surroundings.gathered(), project=project, ask=ask, progress=progress, human=human)

    @property
    def log(self) -> "ProjectExperience":
        """The log of the current project."""
        from roamkb.app_experience import ProjectExperience

        return ProjectExperience(
            self._around,
            self,
            folder=self._project_folder,
            ask=self._ask,
            progress=self._progress,
            human=self._human,
        )

    # Reading

    def search(
        self,
        words: Sequence[str] | str = (),
        *,
        tags: Sequence[str] = (),
        agent: bool = False,
        human: bool = False,
        since: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        regex: bool = False,
        lines: bool = False,
        files: bool = False,
        related: str | None = None,
        budget: int | None = None,
        semantic: bool = False,
    ) -> "SearchResult":
        """Return the nodes that answer `words`, best first.

        Raises:
            UsageError: nothing to search for, a bad date or pattern.
            NoKnowledgeBase: it isn't on this machine. BadRule: nobody says where it is.
        """
        from roamkb.actions.search import search
        from roamkb.core.query import narrowed
        from roamkb.core.query import parse_query

        if agent and human:
            raise UsageError("--agent and --human leave nothing", hint="give one of them")
        text = words if isinstance(words, str) else " ".join(words)
        if semantic and (regex or related is not None):
            raise UsageError("--semantic ranks words", hint="roamkb search WORDS --semantic")
        if related is not None:
            return self._related(related, text, limit=limit, budget=budget)
        query = narrowed(
            parse_query("" if regex else text, today=self._around.now().date()),
            tags=tuple(tag.strip(":") for tag in texts_of(tags)),
            by_agent=True if agent else False if human else None,
            since=self._day("--since", since),
            before=self._day("--before", before),
        )
        notes = self._notes()
        return search(
            self._index(notes, semantic=semantic),
            notes,
            query,
            pattern=text if regex else None,
            every_line=lines,
            one_per_file=files,
            limit=limit,
            budget=budget,
        )

    def glance(self) -> tuple[int, int]:
        """Return how many notes a search would have to read first, and how many conflict copies there are."""
        notes = self._notes()
        return self._index(notes).waiting(), len(notes.walk.conflict_copies)

    def offered(
        self, text: str, *, limit: int, besides: Collection[str] = (), loose: bool = False
    ) -> "tuple[Hit, ...]":
        """Return the nodes that `text`, in which nothing is a filter, makes worth showing unasked."""
        from roamkb.actions.offer import offered_nodes

        notes = self._notes()
        return offered_nodes(self._index(notes), notes, text, limit=limit, besides=besides, loose=loose)

    def _related(self, name: str, text: str, *, limit: int | None, budget: int | None) -> "SearchResult":
        from dataclasses import replace

        from roamkb.actions.related import related
        from roamkb.actions.search import check_limit
        from roamkb.actions.search import fitting

        if text.strip():
            raise UsageError("--related takes no words", hint="roamkb search --related ID")
        check_limit(budget, option="--budget")
        notes = self._notes()
        found = related(self._index(notes), notes, name, limit=limit, folder=self._around.cwd)
        return replace(found, hits=fitting(found.hits, budget))

    def show(self, name: str) -> "Shown":
        """Return the node called `name` by id, title, alias or path, with its text."""
        from roamkb.actions.show import show

        return show(self._notes(), name, folder=self._around.cwd)

    @overload
    def links(self, name: str | None = None, *, graph: Literal[False] = False) -> "Links": ...

    @overload
    def links(self, name: str | None = None, *, graph: Literal[True]) -> "LinkGraph": ...

    def links(self, name: str | None = None, *, graph: bool = False) -> "Links | LinkGraph":
        """Return the links of the node called `name`, both ways; with `graph`, all nodes and links."""
        if graph == (name is not None):
            raise UsageError("the links of what?", hint="roamkb links ID, or roamkb links --graph")
        if name is None:
            from roamkb.actions.graph import graph as whole

            notes = self._notes()
            return whole(self._index(notes), notes.kb)
        from roamkb.actions.links import links

        return links(self._notes(), name, folder=self._around.cwd)

    def tags(self) -> "Tags":
        """Return the tags that are in use, with counts."""
        from roamkb.actions.tags import tags

        return tags(self._index(self._notes()))

    def index(self, *, rebuild: bool = False, check: bool = False, stats: bool = False) -> "IndexState":
        """Return the state of the search index; build it again or check it where asked."""
        from roamkb.actions.index import index

        if stats and (rebuild or check):
            raise UsageError("--stats changes and checks nothing", hint="give one option")
        return index(self._index(self._notes()), rebuild=rebuild, check=check)

    def nodes(self) -> "NodeList":
        """Return every node with all its fields, as org-roam sees them."""
        from roamkb.actions.nodes import nodes

        return nodes(self._notes())

    def inventory(self) -> "Inventory":
        """Return every node that agents wrote, newest first."""
        from roamkb.actions.trash import inventory

        return inventory(self._notes())

    # Writing

    def write(
        self,
        title: str,
        *,
        body: str | None = None,
        markdown: bool = False,
        tags: Sequence[str] = (),
        aliases: Sequence[str] = (),
        refs: Sequence[str] = (),
        links: Sequence[str] = (),
        source: str | None = None,
        by: str | None = None,
        anyway: bool = False,
        dry_run: bool = False,
    ) -> "Written":
        """Write one fact as a new agent node.

        Raises:
            Refused: the project is work or unknown; this comes before every other answer.
            SecretFound, NearDuplicate, UsageError, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        fact = partial(self._fact, title, body, markdown, tags, aliases, refs, links, source, by)
        permit, notes = self._leave(title, keep=None if dry_run else fact)
        from roamkb.actions.write import write

        return write(
            notes,
            self._index(notes),
            permit,
            fact(),
            self._stamp(),
            project_name=self._project_name(permit.project),
            anyway=anyway,
            dry_run=dry_run,
            folder=self._around.cwd,
        )

    def write_as(self, fact: "Fact", id: str, dry_run: bool) -> "Written":
        """Write `fact` as the node `id`, which nobody else uses: what was promoted has an id of its own."""
        from dataclasses import replace

        from roamkb.actions.write import write

        permit, notes = self._leave(fact.title)
        return write(
            notes,
            self._index(notes),
            permit,
            fact,
            replace(self._stamp(), new_id=lambda: id),
            project_name=self._project_name(permit.project),
            dry_run=dry_run,
            folder=self._around.cwd,
        )

    def has(self, id: str) -> bool:
        """Say whether a node has that id, or a note in the trash had it."""
        from roamkb.core.errors import NotFound
        from roamkb.core.query import parse_query

        notes = self._notes()
        query = parse_query(f"id:{id}", today=self._around.now().date())
        if self._index(notes).find(query, limit=1).answers:
            return True
        try:
            self._trash(notes.kb).get(id)
        except NotFound:
            return False
        return True

    def require_leave(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact`; nothing else is looked at."""
        self._leave(fact)

    def require_place(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact` and has no log to keep it in."""
        if not self.log.is_there:
            self._leave(fact)

    def supersede(
        self,
        name: str,
        title: str,
        *,
        body: str | None = None,
        markdown: bool = False,
        tags: Sequence[str] = (),
        aliases: Sequence[str] = (),
        refs: Sequence[str] = (),
        links: Sequence[str] = (),
        source: str | None = None,
        by: str | None = None,
        anyway: bool = False,
        dry_run: bool = False,
    ) -> "Superseded":
        """Write one fact as a new agent node that replaces the one called `name`; see `write`."""
        fact = partial(self._fact, title, body, markdown, tags, aliases, refs, links, source, by)
        permit, notes = self._leave(title, keep=None if dry_run else fact)
        from roamkb.actions.supersede import supersede
        from roamkb.storage.state import lock

        return supersede(
            notes,
            self._index(notes),
            permit,
            name,
            fact(),
            self._stamp(),
            lock=lock(self._state.lock_file(permit.kb)),
            project_name=self._project_name(permit.project),
            anyway=anyway,
            dry_run=dry_run,
            folder=self._around.cwd,
        )

    def trash(
        self,
        name: str | None = None,
        *,
        all_agent: bool = False,
        since: str | None = None,
        from_project: str | None = None,
        yes: bool = False,
    ) -> "Trashed":
        """Move one agent node, or all that the filters let through, to this machine's trash."""
        permit, notes = self._leave(name or "agent nodes", undone="nothing was moved to the trash")
        from roamkb.actions.trash import sweep
        from roamkb.actions.trash import trash

        if from_project is not None and not from_project.strip():
            raise UsageError("--from names no project", hint="leave --from out to mean all")
        if all_agent == (name is not None):
            raise UsageError("trash what?", hint="roamkb trash ID, or roamkb trash --all-agent [--since D]")
        if name is not None:
            return trash(notes, permit, self._trash(permit.kb), name, folder=self._around.cwd)
        return sweep(
            notes,
            permit,
            self._trash(permit.kb),
            since=self._day("--since", since),
            projects=self._names_of(from_project) if from_project else frozenset(),
            yes=yes,
        )

    def restore(self, name: str | None = None) -> "Restored":
        """Put a trashed node back; without `name`, return what is in the trash."""
        from roamkb.actions.trash import restore
        from roamkb.actions.trash import trashed

        if name is None:
            kb = self._rule.kb
            return trashed(self._trash(kb), kb)
        permit, notes = self._leave(name, undone="nothing was taken out of the trash")
        return restore(notes, permit, self._trash(permit.kb), name)

    # The boundary and the rule

    def classify(self, folder: str | None = None) -> Project:
        """Return what the project of `folder` is, and why; without it, what this session's is."""
        from roamkb.actions.classify import classify

        if folder is None:
            return self._project
        return classify(
            self._absolute(folder), home=self._around.home, account_home=self._around.account_home
        )

    @property
    def _rule(self) -> Rule:
        from roamkb.storage.places import load_rule

        return load_rule(self._around.home, account_home=self._around.account_home)

    @property
    def _project(self) -> Project:
        """What this session's project is, by the strictest of all evidence."""
        from roamkb.storage.places import find_rule
        from roamkb.storage.places import session_project

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        return session_project(self._session, rule)

    @property
    def _session(self) -> "Session":
        from roamkb.storage.places import session_of

        return session_of(
            self._around.environment, cwd=self._around.cwd, pid=self._around.pid, project=self._project_folder
        )

    def _leave(
        self, fact: str, *, keep: "Callable[[], Fact] | None" = None, undone: str = ""
    ) -> "tuple[WritePermit, Notes]":
        """Return leave to write `fact`, and the notes that it is for, by one reading of the rule.

        A rule that another process puts in place meanwhile counts from the next call on. Where
        there is no leave, the project's own log takes `keep`, if it has one.
        """
        from roamkb.core.boundary import permit
        from roamkb.storage.places import find_rule
        from roamkb.storage.places import session_project

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        project = session_project(self._session, rule)
        kept = self.log.keep(keep()) if keep and project.kind is not Kind.PERSONAL else None
        if isinstance(rule, BadRule):
            # no project is personal then, so there is no KB to name either
            permit(project, fact, kb=Path(), written_to=kept, undone=undone)
            raise rule
        return permit(project, fact, kb=rule.kb, written_to=kept, undone=undone), _notes_of(rule)

    def kb_side(self, fact: str) -> "KbSide | None":
        """Return what a personal project may look after in the knowledge base; None for any other."""
        from roamkb.actions.snapshot import KbSide
        from roamkb.core.errors import Refused
        from roamkb.storage.places import classify_folder

        try:
            permit, notes = self._leave(fact)
        except (BadRule, Refused):
            return None
        folder = self._state.snapshot_folder(permit.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or classify_folder(folder, self._rule).kind is Kind.WORK:
            return None
        return KbSide(notes=notes, permit=permit, trash=self._trash(permit.kb), folder=folder)

    def hygiene(self, *, org: bool = False) -> "Hygiene":
        """Return what the knowledge base holds that its human may want to tidy."""
        from roamkb.actions.hygiene import hygiene

        return hygiene(self._notes(), org=org)

    def conflicts(self, file: str | None = None, *, adopt: bool = False) -> "Conflicts":
        """Return syncers' conflict copies; with `adopt`, those with an id of their own get a proper name."""
        if not adopt:
            from roamkb.actions.conflicts import conflicts

            return conflicts(self._notes(), file=file, folder=self._around.cwd)
        permit, notes = self._leave(file or "conflict copies", undone="nothing was renamed")
        from roamkb.actions.conflicts import adopt as adopt_copies

        return adopt_copies(
            notes,
            permit,
            lock_file=self._state.lock_file(permit.kb),
            now=self._around.now(),
            file=file,
            folder=self._around.cwd,
        )

    def doctor(self) -> "Checkup":
        """Return what is wrong with this installation, and what to do about it."""
        import platform

        from roamkb import __version__
        from roamkb.actions.doctor import Patient
        from roamkb.actions.doctor import doctor
        from roamkb.storage.places import find_rule

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        log = None
        with suppress(RoamkbError):
            log = self.log.whole()
        return doctor(
            Patient(
                rule=rule,
                project=self._project,
                home=self._around.home,
                search_path=self._around.environment.get("PATH", ""),
                host=platform.node(),
                state=self._state,
                now=self._around.now(),
                version=__version__,
                log=log,
            )
        )

    def install(
        self,
        *,
        kb: str | None = None,
        work_roots: Sequence[str] = (),
        project_parents: Sequence[str] = (),
        agents_md: str | None = None,
        create_kb: bool = False,
        snippets: str | None = None,
        claude: bool = False,
        codex: bool = False,
        yes: bool = False,
        dry_run: bool = False,
    ) -> "InstallReport":
        """Put the rule, and what else is wished for, in place; a second call changes nothing."""
        from importlib.util import find_spec

        from roamkb.actions.install import install
        from roamkb.core.installation import Wishes
        from roamkb.storage.installed import shipped_rules

        now = self._around.now()
        wishes = Wishes(
            kb=self._place(kb),
            work_roots=tuple(map(self._absolute, texts_of(work_roots))),
            project_parents=tuple(map(self._absolute, texts_of(project_parents))),
            agents_md=self._place(agents_md),
            snippets=self._place(snippets),
            create_kb=create_kb,
            dry_run=dry_run,
            claude=claude,
            codex=codex,
            yes=yes,
            program=self._program(),
            has_mcp=find_spec("mcp") is not None,
        )
        return install(
            wishes,
            home=self._around.home,
            account_home=self._around.account_home,
            session=self._session,
            rules=shipped_rules(),
            now=now,
            new_id=lambda: self._around.new_id(now),
            ask=self._ask,
        )

    def uninstall(
        self,
        *,
        agents_md: str | None = None,
        snippets: str | None = None,
        claude: bool = False,
        codex: bool = False,
        dry_run: bool = False,
    ) -> "InstallReport":
        """Take away what `install` made, and nothing else."""
        from roamkb.actions.uninstall import uninstall
        from roamkb.core.installation import Wishes
        from roamkb.storage.installed import shipped_rules

        wishes = Wishes(
            agents_md=self._place(agents_md),
            snippets=self._place(snippets),
            dry_run=dry_run,
            claude=claude,
            codex=codex,
        )
        return uninstall(
            wishes,
            home=self._around.home,
            account_home=self._around.account_home,
            session=self._session,
            rules=shipped_rules(),
        )

    # What the operations need

    def _program(self) -> Path | None:
        """Return the command that hooks run."""
        import sys

        from roamkb.storage.harnesses import find_program

        search_path = self._around.environment.get("PATH", "")
        return find_program(self._around.home, search_path, Path(sys.executable))

    def _notes(self) -> Notes:
        """Return the notes as they are now; what one call read is not kept for the next."""
        return _notes_of(self._rule)

    def _index(self, notes: Notes, *, semantic: bool = False) -> "Index":
        from roamkb import __version__
        from roamkb.storage.index import Index

        folder = self._state.cache_folder(notes.kb)
        model = None
        if semantic:
            from roamkb.storage.sentence_model import sentence_model

            model = sentence_model(folder, progress=self._progress)
        return Index(notes, folder, version=__version__, progress=self._progress, model=model)

    @cached_property
    def _state(self) -> "State":
        from platformdirs import user_cache_path
        from platformdirs import user_state_path

        from roamkb.storage.state import State

        return State(
            state=self._around.state or user_state_path("roamkb"),
            cache=self._around.cache or user_cache_path("roamkb"),
        )

    def _trash(self, kb: Path) -> "Trash":
        from roamkb.storage.trash import Trash

        return Trash(
            kb=kb,
            folder=self._state.trash_folder(kb),
            lock_file=self._state.lock_file(kb),
            now=self._around.now,
        )

    def _fact(
        self,
        title: str,
        body: str | None,
        markdown: bool,
        tags: Sequence[str],
        aliases: Sequence[str],
        refs: Sequence[str],
        links: Sequence[str],
        source: str | None,
        by: str | None,
    ) -> "Fact":
        from roamkb.actions.write import Fact

        return Fact(
            title=title,
            body=body or "",
            markdown=markdown,
            tags=texts_of(tags),
            aliases=texts_of(aliases),
            refs=texts_of(refs),
            links=texts_of(links),
            source=source or "observed",
            by=by or self._around.agent,
        )

    def _stamp(self) -> "Stamp":
        from roamkb.actions.write import Stamp

        now = self._around.now()
        return Stamp(new_id=lambda: self._around.new_id(now), now=now)

    def _day(self, option: str, text: str | None) -> str | None:
        from roamkb.core.query import parse_day

        if text is None:
            return None
        day = parse_day(text, today=self._around.now().date())
        if day is None:
            raise UsageError(f"{option} {shown(text)} is no day", hint="say 2026-06-10, 2026-06, today or 7d")
        return day

    def _absolute(self, path: str) -> Path:
        """Return `path` as the user meant it, from the current folder."""
        return (self._around.cwd or Path("/")) / expanduser(require_name(path, "the path"))

    def _place(self, path: str | None) -> Path | None:
        return None if path is None else self._absolute(path)

    def _project_name(self, project: Project) -> str:
        """Return the project's root as a note shows it: below HOME with `~`.

        Raises:
            SecretFound: the path holds a credential, and every note would.
        """
        from roamkb.core.errors import SecretFound
        from roamkb.core.secrets import find_secret

        name = self._tilde(project.root) if project.root else ""
        if secret := find_secret(name):
            raise SecretFound(secret.kind, secret.start)
        return name

    def _names_of(self, project: str) -> frozenset[str]:
        """Return what the notes of a project may call it."""
        from roamkb.formats.org.write import stored_value

        folder = self._absolute(project)
        names = (project.rstrip("/"), self._tilde(folder), self._tilde(folder.resolve()))
        return frozenset(map(stored_value, names))

    def _tilde(self, folder: Path) -> str:
        home = self._around.home
        return (
            f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
        )


def _notes_of(rule: Rule) -> Notes:
    return Notes(rule.kb, todo_lines=rule.todo_lines)
