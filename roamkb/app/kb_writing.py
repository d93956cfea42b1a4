"""Operations that write to a knowledge base, each of them with a permit for that one."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from functools import partial

from roamkb.app.base import KnowledgeBaseContext
from roamkb.app.named_kb import for_named_kb
from roamkb.app.operation_method import takes_request
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.fs import locks
from roamkb.kb import daily as kb_daily
from roamkb.kb import supersede as kb_supersede
from roamkb.kb import trash as kb_trash
from roamkb.kb import write as kb_write
from roamkb.kb.graph import link_graph
from roamkb.kb.notes.store import notes as kb_notes
from roamkb.kb.search import query as search_query
from roamkb.sharing import snapshot

#: The writer before may have many notes to compare.
_WRITER_WAIT_SECONDS = 30.0


class KnowledgeBaseWriting(KnowledgeBaseContext):
    """Operations that add agents' notes, replace them, and move them to the trash and back."""

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
        with self._explain_unknown_name(notes), self._one_writer(notes, dry_run=request.dry_run):
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
        with self._one_writer(notes, dry_run=dry_run):
            return kb_write.write(
                notes,
                self._open_index(notes),
                permit,
                fact,
                replace(self._new_stamp(), new_id=lambda: id),
                self._write_options(permit, dry_run=dry_run),
            )

    @contextmanager
    def _one_writer(self, notes: "kb_notes.Notes", *, dry_run: bool) -> Iterator[None]:
        """Hold off other writers of new notes: of two that write the same fact at once, the later finds the first's.

        The index is built before, which may take longer than another writer waits. Where a sandbox allows no lock it
        allows no note either, and what can be refused is refused all the same.
        """
        with ExitStack() as held:
            if not dry_run:
                if not self._open_index(notes).is_built():
                    # what was seen of the folder until then is old
                    self._open_index(self._open_notes()).build()
                lock = self.state_folders.new_note_lock(notes.kb)
                with suppress(NotWritable):
                    held.enter_context(locks.hold_lock(lock, wait=_WRITER_WAIT_SECONDS))
            yield

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
                known = self.of_kb(name).find_respelt_ids(foreign_ids)
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

    def find_respelt_ids(self, ids: Collection[str]) -> Collection[str]:
        """Return those of `ids` that a node has, in whatever case: in another case they tell of it as well."""
        graph = link_graph.find_links(self._open_index(self._open_notes()), self.rule.kb).graph
        own_ids = {node.id.casefold() for node in graph.nodes}
        return {id for id in ids if id.casefold() in own_ids}

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

        with self._explain_unknown_name(notes), self._one_writer(notes, dry_run=request.dry_run):
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
            with self._explain_unknown_name(notes):
                trashed = kb_trash.trash(
                    self._open_directory(notes),
                    permit,
                    self._open_trash(permit.kb),
                    request.name,
                    folder=self.environment.cwd,
                )
            return replace(trashed, kb_option=self._kb_option)
        swept = kb_trash.sweep_nodes(
            notes,
            permit,
            self._open_trash(permit.kb),
            since=self._parse_day_option("--since", request.since),
            projects=self._project_aliases(request.from_project) if request.from_project else frozenset(),
            yes=request.yes,
        )
        return replace(swept, kb_option=self._kb_option)

    @takes_request(lambda: kb_trash.RestoreRequest)
    @for_named_kb
    def restore(self, request: "kb_trash.RestoreRequest") -> "kb_trash.RestoredNodes":
        """Put a trashed node back, or all that was trashed last; without either, list the trash."""
        if request.last:
            if request.name is not None:
                raise UsageError("restore what?", hint="roamkb restore ID, or roamkb restore --last")
            permit, notes = self._require_permit("agent nodes", undone="nothing was taken out of the trash")
            return kb_trash.restore_last(self._open_directory(notes), permit, self._open_trash(permit.kb))
        if request.name is None:
            kb = self.rule.kb
            return replace(kb_trash.list_trashed(self._open_trash(kb), kb), kb_option=self._kb_option)
        permit, notes = self._require_permit(request.name, undone="nothing was taken out of the trash")
        return kb_trash.restore(self._open_directory(notes), permit, self._open_trash(permit.kb), request.name)

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

    def find_snapshot_source(self, fact: str) -> "snapshot.KbSnapshotSource | None":
        """Return the notes, trash and snapshots that a personal project may maintain; None for any other."""
        try:
            return self.get_snapshot_source(fact)
        except (BadRule, Refused, UsageError):
            return None

    def get_snapshot_source(self, fact: str) -> "snapshot.KbSnapshotSource":
        """Return the notes, trash and snapshots of this knowledge base, for a project that may write to it.

        Raises:
            Refused: this one may not. UsageError: its snapshots have no place.
        """
        permit, notes = self._require_permit(fact, undone="no snapshot was made, listed or put back")
        folder = self.state_folders.snapshot_folder(permit.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or folder_evidence.classify_folder(folder, self.rule).kind is ProjectKind.WORK:
            raise UsageError(
                "the snapshots have no place",
                hint="the state folder lies in the knowledge base or at work; see XDG_STATE_HOME",
            )
        return snapshot.KbSnapshotSource(
            notes=notes,
            permit=permit,
            trash=self._open_trash(permit.kb),
            folder=folder,
            what=f"kb/{self.kb_name}" if self.is_named else "kb",
        )
