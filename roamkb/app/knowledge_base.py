"""One knowledge base seen from one project: reading it and writing to it.

What an operation takes and gives is the same here, on the command line, through MCP and over HTTP.
"""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from typing import NamedTuple

from roamkb.app import requests
from roamkb.app.environment import ProcessEnvironment
from roamkb.app.maintenance import KnowledgeBaseMaintenance
from roamkb.app.operation_method import takes_request
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoNode
from roamkb.core.errors import UsageError
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.text import as_text_tuple

if TYPE_CHECKING:
    from roamkb.app.log.project_log import ProjectLog
    from roamkb.boundary.human_consent import HumanAtTerminal
    from roamkb.boundary.policy import WritePermit
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
    from roamkb.kb.write import NodeContent
    from roamkb.kb.write import WriteOptions
    from roamkb.kb.write import WrittenNode
    from roamkb.sharing.snapshot import KbSnapshotSource


class KnowledgeBaseReading(NamedTuple):
    """State of a knowledge base a moment ago."""

    notes: int
    #: Of them, those that a search would have to read first; and whether that takes a moment only.
    waiting: int
    is_ready: bool
    conflict_copies: int
    #: Does what `KnowledgeBase.offered` does.
    find_relevant: "Callable[..., tuple[Hit, ...]]"
    #: Reads some of those that wait, for so many seconds.
    index_more: "Callable[[float], None]"


class KnowledgeBase(KnowledgeBaseMaintenance):
    """The human's knowledge base, with the permit that the current project has."""

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
        return cls(ProcessEnvironment.from_process(), project=project, ask=ask, progress=progress, human=human)

    @property
    def log(self) -> "ProjectLog":
        """The log of the current project."""
        from roamkb.app.log.project_log import ProjectLog

        return ProjectLog(
            self.environment,
            self,
            folder=self.project_folder,
            ask=self._ask,
            progress=self._progress,
            human=self._human,
        )

    # Reading

    @takes_request(lambda: requests.SearchRequest)
    def search(self, request: "requests.SearchRequest") -> "SearchResult":
        """Return the nodes that answer `words`, best first.

        Raises:
            UsageError: nothing to search for, a bad date or pattern.
            NoKnowledgeBase: it isn't on this machine. BadRule: nobody says where it is.
        """
        from roamkb.kb.search.query import narrow_query
        from roamkb.kb.search.query import parse_query
        from roamkb.kb.search.search import search

        if request.agent and request.human:
            raise UsageError("--agent and --human leave nothing", hint="give one of them")
        text = request.words if isinstance(request.words, str) else " ".join(request.words)
        if request.semantic and (request.regex or request.related is not None):
            raise UsageError("--semantic ranks words", hint="roamkb search WORDS --semantic")
        if request.related is not None:
            return self._search_related(request.related, text, limit=request.limit, budget=request.budget)
        query = narrow_query(
            parse_query("" if request.regex else text, today=self.environment.now().date()),
            tags=tuple(tag.strip(":") for tag in as_text_tuple(request.tags)),
            by_agent=True if request.agent else False if request.human else None,
            since=self._parse_day_option("--since", request.since),
            before=self._parse_day_option("--before", request.before),
        )
        notes = self._open_notes()
        return search(
            self._open_index(notes, semantic=request.semantic),
            notes,
            query,
            pattern=text if request.regex else None,
            every_line=request.lines,
            one_per_file=request.files,
            limit=request.limit,
            budget=request.budget,
        )

    def glance_at_notes(self) -> KnowledgeBaseReading:
        """Return a count of the notes, the unindexed and the conflict copies without reading any note."""
        from roamkb.context.brief_text import MOST_UNINDEXED
        from roamkb.context.suggestions import suggest_nodes

        notes = self._open_notes()
        index = self._open_index(notes)
        waiting = index.count_unread_notes()
        return KnowledgeBaseReading(
            notes=len(notes.kb_walk.files),
            waiting=waiting,
            is_ready=waiting <= MOST_UNINDEXED,
            conflict_copies=len(notes.kb_walk.conflict_copies),
            # who asks on has the files that were seen: to look for them takes most of the time
            find_relevant=partial(suggest_nodes, index, notes),
            index_more=index.read_ahead,
        )

    def find_relevant_nodes(
        self, text: str, *, limit: int, besides: Container[str] = (), loose: bool = False
    ) -> "tuple[Hit, ...]":
        """Return the nodes relevant enough to `text` to show them unasked; no word of it is a filter."""
        from roamkb.context.suggestions import suggest_nodes

        notes = self._open_notes()
        return suggest_nodes(self._open_index(notes), notes, text, limit=limit, besides=besides, loose=loose)

    def _search_related(self, name: str, text: str, *, limit: int | None, budget: int | None) -> "SearchResult":
        from roamkb.core.startup.dataclasses import replace
        from roamkb.kb.related import related
        from roamkb.kb.search.search import check_limit
        from roamkb.kb.search.search import fit_budget

        if text.strip():
            raise UsageError("--related takes no words", hint="roamkb search --related ID")
        check_limit(budget, option="--budget")
        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            related_result = related(self._open_index(notes), notes, name, limit=limit, folder=self.environment.cwd)
        return replace(related_result, hits=fit_budget(related_result.hits, budget))

    @takes_request(lambda: requests.ShowRequest)
    def show(self, request: "requests.ShowRequest") -> "ShownNode":
        """Return the node called `name` by id, title, alias or path, with its text."""
        from roamkb.kb.show import show

        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            return show(notes, request.name, folder=self.environment.cwd)

    @takes_request(lambda: requests.LinksRequest)
    def links(self, request: "requests.LinksRequest") -> "NodeLinks | LinkGraph":
        """Return the links of the node called `name`, both ways; with `graph`, all nodes and links."""
        if request.graph == (request.name is not None):
            raise UsageError("the links of what?", hint="roamkb links ID, or roamkb links --graph")
        if request.name is None:
            from roamkb.kb.graph import graph as whole

            notes = self._open_notes()
            return whole(self._open_index(notes), notes.kb)
        from roamkb.kb.links import links

        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            return links(notes, request.name, folder=self.environment.cwd)

    def tags(self) -> "TagList":
        """Return the tags that are in use, with counts."""
        from roamkb.kb.tags import tags

        return tags(self._open_index(self._open_notes()))

    @takes_request(lambda: requests.IndexRequest)
    def index(self, request: "requests.IndexRequest") -> "IndexState":
        """Return the state of the search index; build it again or check it where asked."""
        from roamkb.kb.index_admin import index

        if request.stats and (request.rebuild or request.check):
            raise UsageError("--stats changes and checks nothing", hint="give one option")
        return index(self._open_index(self._open_notes()), rebuild=request.rebuild, check=request.check)

    def nodes(self) -> "NodeList":
        """Return every node with all its fields, as org-roam sees them."""
        from roamkb.kb.nodes import nodes

        return nodes(self._open_notes())

    def inventory(self) -> "NodeInventory":
        """Return every node that agents wrote, newest first."""
        from roamkb.kb.trash import inventory

        return inventory(self._open_notes())

    # Writing

    @takes_request(lambda: requests.WriteRequest)
    def write(self, request: "requests.WriteRequest") -> "WrittenNode":
        """Write one fact as a new agent node.

        Raises:
            Refused: the project is work or unknown; this comes before every other answer.
            SecretFound, NearDuplicate, UsageError, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        fact = partial(self._node_content, request)
        permit, notes = self._require_permit(request.title, keep=None if request.dry_run else fact)
        from roamkb.kb.write import write

        with self._suggest_nodes_on_error(notes):
            return write(
                notes,
                self._open_index(notes),
                permit,
                fact(),
                self._new_stamp(),
                self._write_options(permit, anyway=request.anyway, dry_run=request.dry_run),
            )

    def write_as(self, fact: "NodeContent", id: str, dry_run: bool) -> "WrittenNode":
        """Write `fact` as the node `id`, an id that was made for it: a promoted learning has one already."""
        from roamkb.core.startup.dataclasses import replace
        from roamkb.kb.write import write

        permit, notes = self._require_permit(fact.title)
        return write(
            notes,
            self._open_index(notes),
            permit,
            fact,
            replace(self._new_stamp(), new_id=lambda: id),
            self._write_options(permit, dry_run=dry_run),
        )

    def _write_options(self, permit: "WritePermit", *, anyway: bool = False, dry_run: bool = False) -> "WriteOptions":
        from roamkb.kb.write import WriteOptions

        return WriteOptions(
            project_name=self._project_name(permit.project),
            anyway=anyway,
            dry_run=dry_run,
            folder=self.environment.cwd,
        )

    def has_node_id(self, id: str) -> bool:
        """Return whether a node has that id, or a note in the trash had it."""
        from roamkb.core.errors import NotFound
        from roamkb.kb.search.query import parse_query

        notes = self._open_notes()
        query = parse_query(f"id:{id}", today=self.environment.now().date())
        if self._open_index(notes).find_passages(query, limit=1).answers:
            return True
        try:
            self._open_trash(notes.kb).get_entry(id)
        except NotFound:
            return False
        return True

    def require_write_permit(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact`; nothing else is checked."""
        self._require_permit(fact)

    def require_writable_place(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact` and has no log to keep it in."""
        if not self.log.has_writable_log:
            self._require_permit(fact)

    @takes_request(lambda: requests.SupersedeRequest)
    def supersede(self, request: "requests.SupersedeRequest") -> "SupersededNode":
        """Write one fact as a new agent node that replaces the one called `name`; see `write`."""
        fact = partial(self._node_content, request)
        permit, notes = self._require_permit(request.title, keep=None if request.dry_run else fact)
        from roamkb.fs.locks import hold_lock
        from roamkb.kb.supersede import supersede

        with self._suggest_nodes_on_error(notes):
            return supersede(
                notes,
                self._open_index(notes),
                permit,
                request.name,
                fact(),
                self._new_stamp(),
                self._write_options(permit, anyway=request.anyway, dry_run=request.dry_run),
                lock=hold_lock(self.state_folders.lock_file(permit.kb)),
            )

    @takes_request(lambda: requests.TrashRequest)
    def trash(self, request: "requests.TrashRequest") -> "TrashedNodes":
        """Move one agent node, or all that the filters let through, to this machine's trash."""
        permit, notes = self._require_permit(request.name or "agent nodes", undone="nothing was moved to the trash")
        from roamkb.kb.trash import sweep_nodes
        from roamkb.kb.trash import trash

        if request.from_project is not None and not request.from_project.strip():
            raise UsageError("--from names no project", hint="leave --from out to mean all")
        if request.all_agent == (request.name is not None):
            raise UsageError("trash what?", hint="roamkb trash ID, or roamkb trash --all-agent [--since D]")
        if request.name is not None:
            with self._suggest_nodes_on_error(notes):
                return trash(notes, permit, self._open_trash(permit.kb), request.name, folder=self.environment.cwd)
        return sweep_nodes(
            notes,
            permit,
            self._open_trash(permit.kb),
            since=self._parse_day_option("--since", request.since),
            projects=self._project_aliases(request.from_project) if request.from_project else frozenset(),
            yes=request.yes,
        )

    @takes_request(lambda: requests.RestoreRequest)
    def restore(self, request: "requests.RestoreRequest") -> "RestoredNodes":
        """Put a trashed node back, or all that was trashed last; without either, list the trash."""
        from roamkb.kb.trash import list_trashed
        from roamkb.kb.trash import restore
        from roamkb.kb.trash import restore_last

        if request.last:
            if request.name is not None:
                raise UsageError("restore what?", hint="roamkb restore ID, or roamkb restore --last")
            permit, notes = self._require_permit("agent nodes", undone="nothing was taken out of the trash")
            return restore_last(notes, permit, self._open_trash(permit.kb))
        if request.name is None:
            kb = self.rule.kb
            return list_trashed(self._open_trash(kb), kb)
        permit, notes = self._require_permit(request.name, undone="nothing was taken out of the trash")
        return restore(notes, permit, self._open_trash(permit.kb), request.name)

    # The boundary and the rule

    def kb_side(self, fact: str) -> "KbSnapshotSource | None":
        """Return the notes, trash and snapshots that a personal project may maintain; None for any other."""
        from roamkb.boundary.store.folder_evidence import classify_folder
        from roamkb.core.errors import Refused
        from roamkb.sharing.snapshot import KbSnapshotSource

        try:
            permit, notes = self._require_permit(fact)
        except (BadRule, Refused):
            return None
        folder = self.state_folders.snapshot_folder(permit.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or classify_folder(folder, self.rule).kind is ProjectKind.WORK:
            return None
        return KbSnapshotSource(notes=notes, permit=permit, trash=self._open_trash(permit.kb), folder=folder)

    # What the operations need

    @contextmanager
    def _suggest_nodes_on_error(self, notes: "Notes") -> Iterator[None]:
        """Add the hits of a search for an unknown name to the error for that name.

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
            answers = self._open_index(notes).find_passages(query, limit=MOST_CANDIDATES).answers
            candidates = [
                NodeCandidate(id=answer.id, title=answer.title, path=notes.kb / answer.file)
                for answer in answers
                if answer.id
            ]
            raise NoNode(error.name, candidates) from error

    def _node_content(self, request: "requests.WriteRequest | requests.SupersedeRequest") -> "NodeContent":
        from roamkb.kb.write import NodeContent

        return NodeContent(
            title=request.title,
            body=request.body or "",
            markdown=request.markdown,
            tags=as_text_tuple(request.tags),
            aliases=as_text_tuple(request.aliases),
            refs=as_text_tuple(request.refs),
            links=as_text_tuple(request.links),
            source=request.source or "observed",
            by=request.by or self.environment.agent_name,
        )
