"""One knowledge base, seen from one project: reading it and writing to it.

What an operation takes and gives is the same here, on the command line, through MCP and over HTTP.
"""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from typing import Literal
from typing import NamedTuple
from typing import overload

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.maintenance import KnowledgeBaseMaintenance
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoNode
from roamkb.core.errors import UsageError
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.text import texts_of

if TYPE_CHECKING:
    from roamkb.app.log.remedies import ProjectRemedies
    from roamkb.boundary.human_consent import HumanAtTerminal
    from roamkb.core.model import Hit
    from roamkb.kb.graph import LinkGraph
    from roamkb.kb.index_admin import IndexState
    from roamkb.kb.links import NodeLinks
    from roamkb.kb.nodes import NodeList
    from roamkb.kb.notes.store.notes import Notes
    from roamkb.kb.search.search import SearchResult
    from roamkb.kb.show import ShownNode
    from roamkb.kb.supersede import SupersededNode
    from roamkb.kb.tags import TagList
    from roamkb.kb.trash import NodeInventory
    from roamkb.kb.trash import RestoredNodes
    from roamkb.kb.trash import TrashedNodes
    from roamkb.kb.write import WriteRequest
    from roamkb.kb.write import WrittenNode
    from roamkb.sharing.snapshot import KbSide


class KnowledgeBaseReading(NamedTuple):
    """A knowledge base as it was a moment ago."""

    notes: int
    #: Of them, those that a search would have to read first; and whether that takes a moment only.
    waiting: int
    is_ready: bool
    conflict_copies: int
    #: Does what `KnowledgeBase.offered` does.
    offered: "Callable[..., tuple[Hit, ...]]"
    #: Reads some of those that wait, for so many seconds.
    read_on: "Callable[[float], None]"


class KnowledgeBase(KnowledgeBaseMaintenance):
    """The human's knowledge base, with the leave that the current project has."""

    @classmethod
    def open(
        cls,
        *,
        project: str | None = None,
        ask: Callable[[str], str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        human: "HumanAtTerminal | None" = None,
    ) -> "KnowledgeBase":
        """Return the knowledge base that the installed rule names; nothing is read before it's needed.

        `project` is the folder that the session works in, beside the current one. `ask` puts a
        question to a human at a terminal and returns the answer; without it nobody is asked.
        `progress` hears how many notes of how many the index has read. `human` is somebody at a
        terminal, whose word some operations need; without it they are refused.
        """
        return cls(ProcessEnvironment.gathered(), project=project, ask=ask, progress=progress, human=human)

    @property
    def log(self) -> "ProjectRemedies":
        """The log of the current project."""
        from roamkb.app.log.remedies import ProjectRemedies

        return ProjectRemedies(
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
        from roamkb.kb.search.query import narrowed
        from roamkb.kb.search.query import parse_query
        from roamkb.kb.search.search import search

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

    def glance(self) -> KnowledgeBaseReading:
        """Return what can be told of the notes without reading any."""
        from roamkb.context.brief_text import READ_IN_A_MOMENT
        from roamkb.context.suggestions import offered_nodes

        notes = self._notes()
        index = self._index(notes)
        waiting = index.waiting()
        return KnowledgeBaseReading(
            notes=len(notes.walk.files),
            waiting=waiting,
            is_ready=waiting <= READ_IN_A_MOMENT,
            conflict_copies=len(notes.walk.conflict_copies),
            # who asks on has the files that were seen: to look for them takes most of the time
            offered=partial(offered_nodes, index, notes),
            read_on=index.advance,
        )

    def offered(
        self, text: str, *, limit: int, besides: Container[str] = (), loose: bool = False
    ) -> "tuple[Hit, ...]":
        """Return the nodes that `text`, in which nothing is a filter, makes worth showing unasked."""
        from roamkb.context.suggestions import offered_nodes

        notes = self._notes()
        return offered_nodes(self._index(notes), notes, text, limit=limit, besides=besides, loose=loose)

    def _related(self, name: str, text: str, *, limit: int | None, budget: int | None) -> "SearchResult":
        from dataclasses import replace

        from roamkb.kb.related import related
        from roamkb.kb.search.search import check_limit
        from roamkb.kb.search.search import fitting

        if text.strip():
            raise UsageError("--related takes no words", hint="roamkb search --related ID")
        check_limit(budget, option="--budget")
        notes = self._notes()
        with self._offering_nodes(notes):
            found = related(self._index(notes), notes, name, limit=limit, folder=self._around.cwd)
        return replace(found, hits=fitting(found.hits, budget))

    def show(self, name: str) -> "ShownNode":
        """Return the node called `name` by id, title, alias or path, with its text."""
        from roamkb.kb.show import show

        notes = self._notes()
        with self._offering_nodes(notes):
            return show(notes, name, folder=self._around.cwd)

    @overload
    def links(self, name: str | None = None, *, graph: Literal[False] = False) -> "NodeLinks": ...

    @overload
    def links(self, name: str | None = None, *, graph: Literal[True]) -> "LinkGraph": ...

    def links(self, name: str | None = None, *, graph: bool = False) -> "NodeLinks | LinkGraph":
        """Return the links of the node called `name`, both ways; with `graph`, all nodes and links."""
        if graph == (name is not None):
            raise UsageError("the links of what?", hint="roamkb links ID, or roamkb links --graph")
        if name is None:
            from roamkb.kb.graph import graph as whole

            notes = self._notes()
            return whole(self._index(notes), notes.kb)
        from roamkb.kb.links import links

        notes = self._notes()
        with self._offering_nodes(notes):
            return links(notes, name, folder=self._around.cwd)

    def tags(self) -> "TagList":
        """Return the tags that are in use, with counts."""
        from roamkb.kb.tags import tags

        return tags(self._index(self._notes()))

    def index(self, *, rebuild: bool = False, check: bool = False, stats: bool = False) -> "IndexState":
        """Return the state of the search index; build it again or check it where asked."""
        from roamkb.kb.index_admin import index

        if stats and (rebuild or check):
            raise UsageError("--stats changes and checks nothing", hint="give one option")
        return index(self._index(self._notes()), rebuild=rebuild, check=check)

    def nodes(self) -> "NodeList":
        """Return every node with all its fields, as org-roam sees them."""
        from roamkb.kb.nodes import nodes

        return nodes(self._notes())

    def inventory(self) -> "NodeInventory":
        """Return every node that agents wrote, newest first."""
        from roamkb.kb.trash import inventory

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
    ) -> "WrittenNode":
        """Write one fact as a new agent node.

        Raises:
            Refused: the project is work or unknown; this comes before every other answer.
            SecretFound, NearDuplicate, UsageError, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        fact = partial(self._fact, title, body, markdown, tags, aliases, refs, links, source, by)
        permit, notes = self._leave(title, keep=None if dry_run else fact)
        from roamkb.kb.write import write

        with self._offering_nodes(notes):
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

    def write_as(self, fact: "WriteRequest", id: str, dry_run: bool) -> "WrittenNode":
        """Write `fact` as the node `id`, which nobody else uses: what was promoted has an id of its own."""
        from dataclasses import replace

        from roamkb.kb.write import write

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
        from roamkb.kb.search.query import parse_query

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
    ) -> "SupersededNode":
        """Write one fact as a new agent node that replaces the one called `name`; see `write`."""
        fact = partial(self._fact, title, body, markdown, tags, aliases, refs, links, source, by)
        permit, notes = self._leave(title, keep=None if dry_run else fact)
        from roamkb.fs.locks import lock
        from roamkb.kb.supersede import supersede

        with self._offering_nodes(notes):
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
    ) -> "TrashedNodes":
        """Move one agent node, or all that the filters let through, to this machine's trash."""
        permit, notes = self._leave(name or "agent nodes", undone="nothing was moved to the trash")
        from roamkb.kb.trash import sweep
        from roamkb.kb.trash import trash

        if from_project is not None and not from_project.strip():
            raise UsageError("--from names no project", hint="leave --from out to mean all")
        if all_agent == (name is not None):
            raise UsageError("trash what?", hint="roamkb trash ID, or roamkb trash --all-agent [--since D]")
        if name is not None:
            with self._offering_nodes(notes):
                return trash(notes, permit, self._trash(permit.kb), name, folder=self._around.cwd)
        return sweep(
            notes,
            permit,
            self._trash(permit.kb),
            since=self._day("--since", since),
            projects=self._names_of(from_project) if from_project else frozenset(),
            yes=yes,
        )

    def restore(self, name: str | None = None, *, last: bool = False) -> "RestoredNodes":
        """Put a trashed node back, or all that was trashed last; without either, list the trash."""
        from roamkb.kb.trash import restore
        from roamkb.kb.trash import restore_last
        from roamkb.kb.trash import trashed

        if last:
            if name is not None:
                raise UsageError("restore what?", hint="roamkb restore ID, or roamkb restore --last")
            permit, notes = self._leave("agent nodes", undone="nothing was taken out of the trash")
            return restore_last(notes, permit, self._trash(permit.kb))
        if name is None:
            kb = self._rule.kb
            return trashed(self._trash(kb), kb)
        permit, notes = self._leave(name, undone="nothing was taken out of the trash")
        return restore(notes, permit, self._trash(permit.kb), name)

    # The boundary and the rule

    def kb_side(self, fact: str) -> "KbSide | None":
        """Return what a personal project may look after in the knowledge base; None for any other."""
        from roamkb.boundary.store.folder_evidence import classify_folder
        from roamkb.core.errors import Refused
        from roamkb.sharing.snapshot import KbSide

        try:
            permit, notes = self._leave(fact)
        except (BadRule, Refused):
            return None
        folder = self._state.snapshot_folder(permit.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or classify_folder(folder, self._rule).kind is ProjectKind.WORK:
            return None
        return KbSide(notes=notes, permit=permit, trash=self._trash(permit.kb), folder=folder)

    # What the operations need

    @contextmanager
    def _offering_nodes(self, notes: "Notes") -> Iterator[None]:
        """Have the error for a name that no node has offer what a search for it finds.

        Raises:
            NoNode: with the candidates, unless it has some that are spelt nearly so.
        """
        try:
            yield
        except NoNode as error:
            from roamkb.kb.notes.store.lookup import MOST_CANDIDATES
            from roamkb.kb.search.query import parse_words

            query = parse_words(error.name)
            if error.candidates or query.is_empty:
                raise
            found = self._index(notes).find(query, limit=MOST_CANDIDATES).answers
            candidates = [
                NodeCandidate(id=one.id, title=one.title, path=notes.kb / one.file) for one in found if one.id
            ]
            raise NoNode(error.name, candidates) from error

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
    ) -> "WriteRequest":
        from roamkb.kb.write import WriteRequest

        return WriteRequest(
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
