"""One knowledge base seen from one project: reading it and writing to it.

What an operation takes and gives is the same here, on the command line, through MCP and over HTTP.
"""

import sys
from collections.abc import Callable
from functools import partial

from roamkb.app import every_kb
from roamkb.app.environment import ProcessEnvironment
from roamkb.app.kb_writing import KnowledgeBaseWriting
from roamkb.app.log import project_log
from roamkb.app.named_kb import for_each_kb
from roamkb.app.named_kb import for_named_kb
from roamkb.app.operation_method import takes_request
from roamkb.app.setup import KnowledgeBaseSetup
from roamkb.boundary import human_consent
from roamkb.context import suggestions
from roamkb.context import word_evidence
from roamkb.core.errors import UsageError
from roamkb.core.model import Hit
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import as_text_tuple
from roamkb.journal.store import past_folder
from roamkb.kb import daily as kb_daily
from roamkb.kb import index_admin
from roamkb.kb import links as kb_links
from roamkb.kb import nodes as kb_nodes
from roamkb.kb import related
from roamkb.kb import show as kb_show
from roamkb.kb import tags as kb_tags
from roamkb.kb import trash as kb_trash
from roamkb.kb.graph import link_graph
from roamkb.kb.notes.store import notes as kb_notes
from roamkb.kb.notes.store import past_notes
from roamkb.kb.search import query as search_query
from roamkb.kb.search import search as kb_search
from roamkb.kb.search.index import past as past_index


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


class KnowledgeBase(KnowledgeBaseSetup, KnowledgeBaseWriting):
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
            rate_evidence=lambda *asked: word_evidence.rate_evidence(*asked),
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
            is_ready=waiting <= suggestions.MOST_UNINDEXED,
            conflict_copies=changes.conflict_copies,
            # who asks on has the files that were seen: to look for them takes most of the time
            find_relevant=partial(suggestions.suggest_nodes, index, notes),
            index_more=index.read_ahead,
        )

    def find_relevant_nodes(self, text: str, *, limit: int) -> "suggestions.Suggested[Hit]":
        """Return the nodes relevant enough to `text` to show them unasked; no word of it is a filter."""
        notes = self._open_notes()
        return suggestions.suggest_nodes(self._open_index(notes), notes, text, limit=limit)

    def _search_related(
        self, name: str, text: str, *, limit: int | None, budget: int | None
    ) -> "kb_search.SearchResult":
        if text.strip():
            raise UsageError("--related takes no words", hint="roamkb search --related ID")
        kb_search.check_limit(budget, option="--budget")
        notes = self._open_notes()
        with self._explain_unknown_name(notes):
            related_result = related.related(
                self._open_index(notes), notes, name, limit=limit, folder=self.environment.cwd
            )
        return replace(related_result, hits=kb_search.fit_budget(related_result.hits, budget))

    @takes_request(lambda: kb_show.ShowRequest)
    @for_each_kb(lambda: every_kb.show)
    def show(self, request: "kb_show.ShowRequest") -> "kb_show.ShownNode":
        """Return the node called `name` by id, title, alias or path, with its text."""
        notes = self._open_notes()
        with self._explain_unknown_name(notes):
            return kb_show.show(
                self._open_directory(notes),
                request.name,
                folder=self.environment.cwd,
                bibliographies=self._bibliographies(notes),
            )

    @takes_request(lambda: kb_links.LinksRequest)
    @for_named_kb
    def links(self, request: "kb_links.LinksRequest") -> "kb_links.NodeLinks | link_graph.LinkGraph":
        """Return the links of the node called `name`, both ways; with `graph`, all nodes and links."""
        if request.graph and request.name is not None:
            raise UsageError("the links of one node, or --graph with those of all: not both")
        if not request.graph and request.name is None:
            raise UsageError("the links of what?", hint="roamkb links ID, or roamkb links --graph")
        if request.name is None:
            notes = self._open_notes()
            return link_graph.find_links(self._open_index(notes), notes.kb)

        notes = self._open_notes()
        with self._explain_unknown_name(notes):
            return kb_links.links(
                self._open_directory(notes),
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
