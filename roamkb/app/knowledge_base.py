"""One knowledge base seen from one project: reading it and writing to it.

What an operation takes and gives is the same here, on the command line, through MCP and over HTTP.
"""

import sys
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import NamedTuple

from roamkb.app import every_kb
from roamkb.app.environment import ProcessEnvironment
from roamkb.app.log import project_log
from roamkb.app.named_kb import for_each_kb
from roamkb.app.named_kb import for_named_kb
from roamkb.app.operation_method import takes_request
from roamkb.app.setup import KnowledgeBaseSetup
from roamkb.boundary import human_consent
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.context import brief_text
from roamkb.context import relevance_threshold
from roamkb.context import suggestions
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NoNode
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.model import Hit
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.fs import locks
from roamkb.journal.store import past_folder
from roamkb.kb import daily as kb_daily
from roamkb.kb import graph
from roamkb.kb import index_admin
from roamkb.kb import links as kb_links
from roamkb.kb import nodes as kb_nodes
from roamkb.kb import related
from roamkb.kb import show as kb_show
from roamkb.kb import supersede as kb_supersede
from roamkb.kb import tags as kb_tags
from roamkb.kb import trash as kb_trash
from roamkb.kb import write as kb_write
from roamkb.kb.notes.store import lookup
from roamkb.kb.notes.store import notes as kb_notes
from roamkb.kb.notes.store import past_notes
from roamkb.kb.search import query as search_query
from roamkb.kb.search import search as kb_search
from roamkb.kb.search.index import past as past_index
from roamkb.sharing import snapshot


class KnowledgeBaseReading(NamedTuple):
    """State of a knowledge base a moment ago."""

    notes: int
    #: Of them, those that a search would have to read first; and whether that takes a moment only.
    waiting: int
    is_ready: bool
    conflict_copies: int
    #: Does what `KnowledgeBase.offered` does.
    find_relevant: "Callable[..., suggestions.Suggested[Hit]]"
    #: Reads some of those that wait, for so many seconds.
    index_more: "Callable[[float], None]"


class KnowledgeBase(KnowledgeBaseSetup):
    """The human's knowledge base, with the permit that the current project has."""

    @classmethod
    def open(
        cls,
        *,
        project: str | None = None,
        ask: Callable[[str], str] | None = None,
        human: "human_consent.HumanAtTerminal | None" = None,
    ) -> "KnowledgeBase":
        """Return the knowledge base that the installed rule names; nothing is read before it's needed.

        `project` is the folder that the session works in, beside the current one. `ask` puts a
        question to a human at a terminal and returns the answer; without it nobody is asked.
        `human` is somebody at a terminal, whose word some operations need; without it they are refused.
        """
        return cls(ProcessEnvironment.from_process(), project=project, ask=ask, human=human)

    @property
    def log(self) -> "project_log.ProjectLog":
        """The log of the current project."""
        return project_log.ProjectLog(
            self.environment,
            # allowance for a named knowledge base says nothing about a log
            self._default or self,
            folder=self.project_folder,
            ask=self._ask,
            human=self._human,
        )

    # Reading

    @takes_request(lambda: kb_search.SearchRequest)
    @for_each_kb(lambda: every_kb.search)
    def search(self, request: "kb_search.SearchRequest") -> "kb_search.SearchResult":
        """Return the nodes that answer `words`, best first.

        Raises:
            UsageError: nothing to search for, a bad date or pattern.
            NoKnowledgeBase: it isn't on this machine. BadRule: nobody says where it is.
        """
        if request.agent and request.human:
            raise UsageError("--agent and --human leave nothing", hint="give one of them")
        if request.all and request.limit is not None:
            raise UsageError("--all has no limit", hint="give --all or --limit")
        text = request.text
        if request.semantic and (request.regex or request.related is not None):
            raise UsageError("--semantic ranks words", hint="roamkb search WORDS --semantic")
        if request.as_of is not None and (request.regex or request.related is not None):
            raise UsageError("--as-of ranks words", hint="roamkb search WORDS --as-of D")
        if request.trace and (request.regex or request.related is not None):
            raise UsageError("--trace explains how words are ranked", hint="roamkb search WORDS --trace")
        if request.trace and request.budget is not None:
            raise UsageError("--trace says all of each candidate", hint="leave --budget out")
        if request.related is not None:
            limit = sys.maxsize if request.all else request.limit
            return self._search_related(request.related, text, limit=limit, budget=request.budget)
        query = search_query.narrow_query(
            search_query.parse_query("" if request.regex else text, today=self.environment.now().date()),
            tags=tuple(tag.strip(":") for tag in as_text_tuple(request.tags)),
            by_agent=True if request.agent else False if request.human else None,
            since=self._parse_day_option("--since", request.since),
            before=self._parse_day_option("--before", request.before),
        )
        notes = self._open_notes()
        index = self._open_index(notes, semantic=request.semantic)
        answer_query = partial(
            kb_search.search,
            query=query,
            request=request,
            # imported once there is something to rate
            rate_evidence=lambda *asked: relevance_threshold.rate_evidence(*asked),
        )
        if request.as_of is None:
            return answer_query(index, notes)
        view = self._view_past(notes, request.as_of)
        answer = answer_query(past_index.PastIndex(index, past_notes.PastNotes(notes, view.folder)), notes)
        return replace(answer, as_of=past_folder.describe_basis(view, notes.kb, answer.hits))

    def _view_past(self, notes: "kb_notes.Notes", as_of: str) -> "past_folder.PastView":
        """Return the notes' folder as it was at the moment or the end of the day that `as_of` names."""
        now = self.environment.now()
        context = self.journal_context()
        return past_folder.read_past_folder(
            context.journal if context else None,
            notes.kb_walk,
            when=search_query.parse_moment("--as-of", as_of, today=now.date()),
            now=now.timestamp(),
        )

    def glance_at_notes(self) -> KnowledgeBaseReading:
        """Return a count of the notes, the unindexed and the conflict copies without reading any note."""
        notes = self._open_notes()
        index = self._open_index(notes)
        changes = index.find_unread_notes()
        waiting = len(changes.to_read)
        return KnowledgeBaseReading(
            notes=changes.notes,
            waiting=waiting,
            is_ready=waiting <= brief_text.MOST_UNINDEXED,
            conflict_copies=changes.conflict_copies,
            # who asks on has the files that were seen: to look for them takes most of the time
            find_relevant=partial(suggestions.suggest_nodes, index, notes),
            index_more=index.read_ahead,
        )

    def find_relevant_nodes(
        self, text: str, *, limit: int, besides: Container[str] = (), loose: bool = False
    ) -> "suggestions.Suggested[Hit]":
        """Return the nodes relevant enough to `text` to show them unasked; no word of it is a filter."""
        notes = self._open_notes()
        return suggestions.suggest_nodes(
            self._open_index(notes), notes, text, limit=limit, besides=besides, loose=loose
        )

    def _search_related(
        self, name: str, text: str, *, limit: int | None, budget: int | None
    ) -> "kb_search.SearchResult":
        if text.strip():
            raise UsageError("--related takes no words", hint="roamkb search --related ID")
        kb_search.check_limit(budget, option="--budget")
        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            related_result = related.related(
                self._open_index(notes), notes, name, limit=limit, folder=self.environment.cwd
            )
        return replace(related_result, hits=kb_search.fit_budget(related_result.hits, budget))

    @takes_request(lambda: kb_show.ShowRequest)
    @for_each_kb(lambda: every_kb.show)
    def show(self, request: "kb_show.ShowRequest") -> "kb_show.ShownNode":
        """Return the node called `name` by id, title, alias or path, with its text."""
        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            return kb_show.show(
                notes, request.name, folder=self.environment.cwd, bibliographies=self._bibliographies(notes)
            )

    @takes_request(lambda: kb_links.LinksRequest)
    @for_named_kb
    def links(self, request: "kb_links.LinksRequest") -> "kb_links.NodeLinks | graph.LinkGraph":
        """Return the links of the node called `name`, both ways; with `graph`, all nodes and links."""
        if request.graph == (request.name is not None):
            raise UsageError("the links of what?", hint="roamkb links ID, or roamkb links --graph")
        if request.name is None:
            notes = self._open_notes()
            return graph.graph(self._open_index(notes), notes.kb)

        notes = self._open_notes()
        with self._suggest_nodes_on_error(notes):
            return kb_links.links(
                notes,
                request.name,
                home=self.environment.home,
                folder=self.environment.cwd,
                bibliographies=self._bibliographies(notes),
            )

    @takes_request(lambda: kb_daily.DailyRequest)
    @for_named_kb
    def daily(self, request: "kb_daily.DailyRequest") -> "kb_daily.DailyNote":
        """Return the note of a day, and what agents did that day; what this project's log promoted is marked."""
        notes = self._open_notes()
        return kb_daily.daily(
            notes,
            self._parse_daily_day(request.day),
            home=self.environment.home,
            trashed=self._open_trash(notes.kb).list_entries(),
            learnings_by_node=self.log.promoted_keys(),
        )

    def _parse_daily_day(self, text: str | None) -> date:
        return kb_daily.parse_daily_day(text, today=self.environment.now().date())

    @takes_request(lambda: kb_tags.TagsRequest)
    @for_named_kb
    def tags(self, _: "kb_tags.TagsRequest") -> "kb_tags.TagList":
        """Return the tags that are in use, with counts."""
        return kb_tags.tags(self._open_index(self._open_notes()))

    @takes_request(lambda: index_admin.IndexRequest)
    @for_named_kb
    def index(self, request: "index_admin.IndexRequest") -> "index_admin.IndexState":
        """Return the state of the search index; build it again or check it where asked."""
        if request.stats and (request.rebuild or request.check):
            raise UsageError("--stats changes and checks nothing", hint="give one option")
        return index_admin.index(self._open_index(self._open_notes()), rebuild=request.rebuild, check=request.check)

    @takes_request(lambda: kb_nodes.NodesRequest)
    @for_named_kb
    def nodes(self, _: "kb_nodes.NodesRequest") -> "kb_nodes.NodeList":
        """Return every node with all its fields, as org-roam sees them."""
        return kb_nodes.nodes(self._open_notes())

    @takes_request(lambda: kb_trash.InventoryRequest)
    @for_named_kb
    def inventory(self, _: "kb_trash.InventoryRequest") -> "kb_trash.NodeInventory":
        """Return every node that agents wrote, newest first."""
        return kb_trash.inventory(self._open_notes())

    # Writing

    @takes_request(lambda: kb_write.WriteRequest)
    @for_named_kb
    def write(self, request: "kb_write.WriteRequest") -> "kb_write.WrittenNode":
        """Write one fact as a new agent node.

        Raises:
            Refused: the project is work or unknown; this comes before every other answer.
            SecretFound, NearDuplicate, UsageError, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        fact = partial(self._node_content, request)
        permit, notes = self._require_permit(request.title, keep=None if request.dry_run else fact)

        content = fact()
        if request.daily is not None:
            day = self._parse_daily_day(request.daily)
            daily_node = kb_daily.get_daily_node(notes, day, home=self.environment.home)
            content = replace(content, links=(*content.links, daily_node.id))
        with self._suggest_nodes_on_error(notes):
            return kb_write.write(
                notes,
                self._open_index(notes),
                permit,
                content,
                self._new_stamp(),
                self._write_options(permit, anyway=request.anyway, dry_run=request.dry_run),
            )

    def write_as(self, fact: "kb_write.NodeContent", id: str, dry_run: bool) -> "kb_write.WrittenNode":
        """Write `fact` as the node `id`, an id that was made for it: a promoted learning has one already."""
        permit, notes = self._require_permit(fact.title)
        return kb_write.write(
            notes,
            self._open_index(notes),
            permit,
            fact,
            replace(self._new_stamp(), new_id=lambda: id),
            self._write_options(permit, dry_run=dry_run),
        )

    def _write_options(
        self, permit: "policy.WritePermit", *, anyway: bool = False, dry_run: bool = False
    ) -> "kb_write.WriteOptions":
        return kb_write.WriteOptions(
            project_name=self._project_name(permit.project),
            anyway=anyway,
            dry_run=dry_run,
            folder=self.environment.cwd,
            require_own_ids=self._require_own_ids if self.is_named else lambda _: None,
        )

    def _require_own_ids(self, ids: Collection[str]) -> None:
        """Raise `UsageError` for an id that this named knowledge base lacks and another one has, or may have.

        An id tells those who share it of a note that they haven't got.
        """
        foreign_ids = {*ids} - {*self.find_titles(ids)}
        for name in self.kb_names if foreign_ids else ():
            if name == self.kb_name:
                continue
            try:
                known = self.of_kb(name).find_titles(foreign_ids)
            except NoKnowledgeBase as error:
                raise UsageError(
                    f"{one_line(min(foreign_ids))} is no node of {self.kb_name}, and whether it is one of {name} can't "
                    f"be seen: {error.why}; nothing was written",
                    hint="leave the link out",
                ) from error
            if known:
                raise UsageError(
                    f"{one_line(min(known))} is a node of {name}, and not of {self.kb_name}; nothing was written",
                    hint="leave the link out: what is shared tells nothing of other notes",
                )

    def has_node_id(self, id: str) -> bool:
        """Return whether a node has that id, or a note in the trash had it."""
        notes = self._open_notes()
        query = search_query.parse_query(f"id:{id}", today=self.environment.now().date())
        if self._open_index(notes).find_passages(query, limit=1).answers:
            return True
        try:
            self._open_trash(notes.kb).get_entry(id)
        except NotFound:
            return False
        return True

    def find_titles(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the titles of the nodes with those ids; what is gone has none.

        Raises:
            NoKnowledgeBase: it isn't on this machine. BadRule: nobody says where it is.
        """
        if not ids:
            return {}
        query = replace(search_query.parse_words(""), ids=tuple(ids))
        answers = self._open_index(self._open_notes()).find_passages(query).answers
        return {answer.id: answer.title for answer in answers if answer.id}

    def require_write_permit(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact`; nothing else is checked."""
        self._require_permit(fact)

    def require_writable_place(self, fact: str) -> None:
        """Raise `Refused` where the project may not write `fact` and has no log to keep it in."""
        if not self.log.has_writable_log:
            self._require_permit(fact)

    @takes_request(lambda: kb_supersede.SupersedeRequest)
    @for_named_kb
    def supersede(self, request: "kb_supersede.SupersedeRequest") -> "kb_supersede.SupersededNode":
        """Write one fact as a new agent node that replaces the one called `name`; see `write`."""
        fact = partial(self._node_content, request)
        permit, notes = self._require_permit(request.title, keep=None if request.dry_run else fact)

        with self._suggest_nodes_on_error(notes):
            return kb_supersede.supersede(
                notes,
                self._open_index(notes),
                permit,
                request.name,
                fact(),
                self._new_stamp(),
                self._write_options(permit, anyway=request.anyway, dry_run=request.dry_run),
                lock=locks.hold_lock(self.state_folders.lock_file(permit.kb)),
            )

    @takes_request(lambda: kb_trash.TrashRequest)
    @for_named_kb
    def trash(self, request: "kb_trash.TrashRequest") -> "kb_trash.TrashedNodes":
        """Move one agent node, or all that the filters let through, to this machine's trash."""
        permit, notes = self._require_permit(request.name or "agent nodes", undone="nothing was moved to the trash")

        if request.from_project is not None and not request.from_project.strip():
            raise UsageError("--from names no project", hint="leave --from out to mean all")
        if request.all_agent == (request.name is not None):
            raise UsageError("trash what?", hint="roamkb trash ID, or roamkb trash --all-agent [--since D]")
        if request.name is not None:
            with self._suggest_nodes_on_error(notes):
                return kb_trash.trash(
                    notes, permit, self._open_trash(permit.kb), request.name, folder=self.environment.cwd
                )
        return kb_trash.sweep_nodes(
            notes,
            permit,
            self._open_trash(permit.kb),
            since=self._parse_day_option("--since", request.since),
            projects=self._project_aliases(request.from_project) if request.from_project else frozenset(),
            yes=request.yes,
        )

    @takes_request(lambda: kb_trash.RestoreRequest)
    @for_named_kb
    def restore(self, request: "kb_trash.RestoreRequest") -> "kb_trash.RestoredNodes":
        """Put a trashed node back, or all that was trashed last; without either, list the trash."""
        if request.last:
            if request.name is not None:
                raise UsageError("restore what?", hint="roamkb restore ID, or roamkb restore --last")
            permit, notes = self._require_permit("agent nodes", undone="nothing was taken out of the trash")
            return kb_trash.restore_last(notes, permit, self._open_trash(permit.kb))
        if request.name is None:
            kb = self.rule.kb
            return kb_trash.list_trashed(self._open_trash(kb), kb)
        permit, notes = self._require_permit(request.name, undone="nothing was taken out of the trash")
        return kb_trash.restore(notes, permit, self._open_trash(permit.kb), request.name)

    # The boundary and the rule

    def kb_side(self, fact: str) -> "snapshot.KbSnapshotSource | None":
        """Return the notes, trash and snapshots that a personal project may maintain; None for any other."""
        try:
            permit, notes = self._require_permit(fact)
        except (BadRule, Refused):
            return None
        folder = self.state_folders.snapshot_folder(permit.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or folder_evidence.classify_folder(folder, self.rule).kind is ProjectKind.WORK:
            return None
        return snapshot.KbSnapshotSource(notes=notes, permit=permit, trash=self._open_trash(permit.kb), folder=folder)

    # What the operations need

    @contextmanager
    def _suggest_nodes_on_error(self, notes: "kb_notes.Notes") -> Iterator[None]:
        """Add the hits of a search for an unknown name to the error for that name.

        Raises:
            NoNode: with the candidates, unless it has some that are spelt nearly so.
        """
        try:
            yield
        except NoNode as error:
            if entry := self._open_trash(notes.kb).find_entry(error.name):
                hint = f"it was trashed on {entry.when[:10]}; `roamkb restore {entry.id}` brings it back"
                raise NoNode(error.name, hint=hint) from error
            self._bibliographies(notes).raise_if_cited(error)
            query = search_query.parse_words(error.name)
            if error.candidates or query.is_empty:
                raise
            answers = self._open_index(notes).find_passages(query, limit=lookup.MOST_CANDIDATES).answers
            candidates = [
                NodeCandidate(id=answer.id, title=answer.title, path=notes.kb / answer.file)
                for answer in answers
                if answer.id
            ]
            raise NoNode(error.name, candidates) from error

    def _node_content(self, request: "kb_write.WriteRequest | kb_supersede.SupersedeRequest") -> "kb_write.NodeContent":
        return kb_write.NodeContent(
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
