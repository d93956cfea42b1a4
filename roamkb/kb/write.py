"""Writing of one fact as one new agent node: permitted, free of secrets, new, valid, durable."""

import unicodedata
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import DiskError
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.json_form import null_if_empty
from roamkb.core.model import PROVENANCES
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import Project
from roamkb.core.model import Ref
from roamkb.core.model import UnreadableFile
from roamkb.core.request import Argument
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import left_out_warning
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.core.text import storable_text
from roamkb.fs.files import read_file
from roamkb.kb.notes.file_names import note_names
from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.lookup import node_candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.near_duplicates import near_entries
from roamkb.kb.search.index.near_duplicates import nodes_with_ref
from roamkb.kb.search.index.node_directory import IndexDirectory
from roamkb.org import from_markdown
from roamkb.org import orgparse_check
from roamkb.org.body import body_of
from roamkb.org.reader import parse_note
from roamkb.org.slug import slug
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import check_written
from roamkb.org.writer import normalised_body
from roamkb.org.writer import normalised_tag
from roamkb.org.writer import reduced_targets
from roamkb.org.writer import render_node
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import names_a_secret
from roamkb.secrets.detector import refuse_secrets
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness

#: As on `learn` (docs/architecture.md): a person would call these the same.
ALIKE = 0.80
_IN_TAGS = "org allows letters, digits and _ @ # % in one"
#: Also where org takes it for no link: another program may, and a reader does.
_USUAL_ID = lazily(r"(?i)(?<![\da-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-f])")
_AFTER_ID = ".,;:!?)}*/_=~+"
_ID_REFERENCE = lazily(r"(?i)\bid:([^\s\[\]<>\"']+)")
#: Shorter bodies say too little to be compared with others.
_COMPARABLE = 40


@dataclass(frozen=True, slots=True)
class ContentOptions:
    """The options of the verbs that write a node."""

    _: KW_ONLY
    body: str | None = text_option(
        "--body", "The text, in org (headings become plain lines); - reads standard input.", metavar="TEXT|-"
    )
    markdown: bool = flag_option("--markdown", "The body is Markdown; it is converted to org.")
    tags: Sequence[str] = repeatable_option("--tag", "A tag beside :agent:.", metavar="T", values="tags")
    aliases: Sequence[str] = repeatable_option("--alias", "Another name of the node.", metavar="A")
    refs: Sequence[str] = repeatable_option("--ref", "What it is about: a URL or @citekey.", metavar="R")
    links: Sequence[str] = repeatable_option(
        "--link", "A related node, by id, title, alias, ref or path.", metavar="ID", values="titles"
    )
    source: str | None = text_option(
        "--source",
        "Where the fact comes from: user-stated, observed (default), inferred, external.",
        metavar="S",
        values=PROVENANCES,
    )
    by: str | None = text_option("--by", "Who writes (the agent that is running).", metavar="AGENT")
    anyway: bool = flag_option("--anyway", "Write it although a node like it is there.")
    dry_run: bool = flag_option("--dry-run", "Show the file; write nothing.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True)
class WriteRequest(ContentOptions):
    """Options of `write`."""

    title: Annotated[str, Argument("The fact in one line.", metavar="TITLE")]
    _: KW_ONLY
    daily: str | None = text_option("--daily", "The day whose daily it links to: today, yesterday, -3.", metavar="DAY")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContent:
    """The content of a new node, as the caller gave it."""

    title: str
    body: str = ""
    markdown: bool = False
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    #: Related nodes, by id, title, alias or path.
    links: tuple[str, ...] = ()
    source: str = "observed"
    by: str = "agent"

    def given_texts(self) -> Iterator[str]:
        """Yield every text that the caller gave."""
        yield from (self.title, self.body, self.source, self.by)
        yield from (*self.tags, *self.aliases, *self.refs)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenNode:
    """The node that was written, or would be."""

    JSON = "id path title tags project warnings dry_run? text=planned_text?"
    id: str
    path: Path
    title: str
    tags: tuple[str, ...]
    project: Annotated[Project, Keys("kind root")]
    warnings: tuple[str, ...]
    #: The file's text.
    text: str
    dry_run: Annotated[bool, null_if_empty]
    #: Nodes of nearly the same words that may say otherwise.
    rivals: tuple[NodeCandidate, ...] = ()
    #: Id and title of the nodes that it links to as related.
    related: Annotated[tuple[tuple[str, str], ...], Rows("id title")] = ()

    @property
    def planned_text(self) -> str | None:
        """The text where it is only shown; the file has it otherwise."""
        return self.text if self.dry_run else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStamp:
    """The id and the time of a new node."""

    new_id: Callable[[], str]
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a node is to be written."""

    #: Stands in the node's drawer.
    project_name: str
    anyway: bool = False
    dry_run: bool = False
    #: Paths of related nodes are relative to it.
    folder: Path | None = None
    #: Raises for ids of a text that only another knowledge base has.
    require_own_ids: Callable[[Collection[str]], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A node that may be written: checked, and not yet on the disk."""

    #: As a dry run shows it.
    node: WrittenNode
    #: Names for its file, the best first.
    names: tuple[str, ...]


def write(
    notes: Notes,
    index: Index,
    permit: WritePermit,
    fact: NodeContent,
    stamp: NodeStamp,
    options: WriteOptions,
) -> WrittenNode:
    """Write `fact` and return the node that is now on the disk.

    Raises:
        SecretFound, UsageError, NotFound, Ambiguous, NearDuplicate: nothing was written.
        DiskError: nothing was written. NotDurable: it was, but see there.
    """
    planned = plan_write(notes, index, permit, fact, stamp, options)
    return planned.node if options.dry_run else write_planned(notes, permit, planned)


def write_planned(notes: Notes, permit: WritePermit, planned: PlannedNode) -> WrittenNode:
    """Write the planned node, which a second reader of org agrees with, and read it back."""
    node = planned.node
    orgparse_check.check_by_orgparse(node.text, id=node.id, title=node.title, tags=node.tags)
    path = notes.create_note(permit, planned.names, planned.node.text)
    _read_back(path, planned.node.text)
    return replace(planned.node, path=path, dry_run=False)


def plan_write(
    notes: Notes,
    index: Index,
    permit: WritePermit,
    fact: NodeContent,
    stamp: NodeStamp,
    options: WriteOptions,
    *,
    supersedes: Node | None = None,
) -> PlannedNode:
    """Return the node that `write` would write; raise the errors that it raises before writing."""
    permit.require_for(notes.kb)
    refuse_secrets([*fact.given_texts()])
    warnings = [*permit.warnings, *_content_warnings(fact)]
    fact = _storable(fact)
    if fact.source not in PROVENANCES:
        raise UsageError(f"no source {one_line(fact.source)}", hint=f"one of {', '.join(PROVENANCES)}")
    directory = IndexDirectory(index, notes)
    related = [get_node(directory, name, folder=options.folder)[1] for name in fact.links]
    if supersedes:
        related.insert(0, supersedes)
    draft = NodeDraft(
        id=stamp.new_id(),
        created=stamp.now,
        agent=fact.by,
        project=options.project_name,
        source=fact.source,
        title=fact.title,
        body=_org_body(fact),
        tags=fact.tags,
        aliases=fact.aliases,
        refs=fact.refs,
        related=tuple((node.id, node.title) for node in related),
    )
    text = render_node(draft)
    parsed_node = _parse_checked(draft, text)
    options.require_own_ids(_linked_ids(text, parsed_node))
    about_same = _nodes_with_refs(notes, index, parsed_node.refs, besides=supersedes)
    if about_same and not options.anyway:
        raise NearDuplicate(about_same, likeness="has the same ref as")
    warnings += [f"has the same ref as {shorten_title(node.title)} ({node.id})" for node in about_same]
    near = _near_nodes(notes, index, parsed_node.title, draft.body, besides=supersedes)
    alike = [near_node for near_node, degree in near if degree is not TextLikeness.MAY_CONTRADICT]
    if alike and not options.anyway:
        raise NearDuplicate(alike)
    for near_node, degree in near:
        says = "may contradict" if degree is TextLikeness.MAY_CONTRADICT else "looks like"
        warnings.append(f"{says} {shorten_title(near_node.title)} ({near_node.id})")
    names = note_names(stamp.now, slug(parsed_node.title), draft.id)
    node = WrittenNode(
        id=parsed_node.id,
        path=notes.kb / names[0],
        title=parsed_node.title,
        tags=parsed_node.tags,
        project=permit.project,
        warnings=tuple(warnings),
        text=text,
        dry_run=True,
        rivals=tuple(near_node for near_node, degree in near if degree is TextLikeness.MAY_CONTRADICT),
        related=draft.related,
    )
    return PlannedNode(node=node, names=tuple(names))


def find_written_before(node: WrittenNode, candidates: Sequence[NodeCandidate]) -> WrittenNode | None:
    """Return the planned node as an earlier call wrote it, one of `candidates`; None where none has the same text."""
    wanted = _timeless_lines(node.text)
    for candidate in candidates:
        data = read_file(candidate.path)
        if isinstance(data, bytes) and _timeless_lines(data.decode(errors="replace")) == wanted:
            return replace(node, id=candidate.id, path=candidate.path, text=data.decode())
    return None


def _timeless_lines(text: str) -> list[str]:
    """Return the lines of a node's text but for its id and its time."""
    return [line for line in text.split("\n") if not line.startswith((":ID:", ":CREATED:"))]


def _linked_ids(text: str, node: Node) -> set[str]:
    """Return the ids that a text names as a link would, in whatever syntax, and all words of an id's usual form."""
    named_ids = {id.rstrip(_AFTER_ID) for id in _ID_REFERENCE.findall(text)}
    return {link.dest for link in node.links if link.type == "id"} | named_ids | {*_USUAL_ID.findall(text)} - {node.id}


def _storable(fact: NodeContent) -> NodeContent:
    """Return `fact` without what wouldn't show; before any conversion, which writes such characters itself."""
    return replace(
        fact,
        title=storable_text(fact.title),
        body=storable_text(fact.body),
        tags=tuple(map(storable_text, fact.tags)),
        aliases=tuple(map(storable_text, fact.aliases)),
        refs=tuple(map(storable_text, fact.refs)),
        by=storable_text(fact.by),
    )


def _org_body(fact: NodeContent) -> str:
    if not fact.markdown:
        return fact.body

    # measured before, since converting may take time that grows with the square of the length
    return from_markdown.org_from_markdown(normalised_body(fact.body))


def _parse_checked(draft: NodeDraft, text: str) -> Node:
    """Return the node that our own reader finds in `text`, after comparing it with the draft."""
    note = parse_note(text, file="new.org")
    check_written(draft, note)
    return note.nodes[0]


def _content_warnings(fact: NodeContent) -> Iterator[str]:
    for tag in fact.tags:
        stored = normalised_tag(tag)
        if stored != unicodedata.normalize("NFC", tag.strip()):
            yield f"the tag {one_line(tag)!r} is {f'stored as {stored}' if stored else 'left out'}: {_IN_TAGS}"
    for target in reduced_targets(fact.title):
        yield f"the title keeps a link's words alone; give {one_line(target)} with --ref or in the text"
    if warning := left_out_warning((fact.title, fact.body)):
        yield warning
    if any(names_a_secret(text) for text in (fact.title, fact.body)):
        yield "it reads as if it told a password; if it does, trash the node now"
    elif any(has_high_entropy(text) for text in (fact.title, fact.body)):
        yield "a word in it looks random; if it is a secret, trash the node now"


def _read_back(path: Path, text: str) -> None:
    """Compare the file on the disk with the text that was written."""
    data = read_file(path, patience=1.0)
    if isinstance(data, UnreadableFile):
        raise DiskError(path, f"was written and can't be read back: {data.reason}")
    if data != text.encode():
        raise DiskError(path, "isn't what was written", hint="another program changed it at once; look at it")


def _nodes_with_refs(
    notes: Notes, index: Index, refs: Sequence[Ref], *, besides: Node | None
) -> Sequence[NodeCandidate]:
    """Return the nodes in force that are about what the new one is: to org-roam a ref leads to one node."""
    if not refs:
        return ()
    rows = index.read_view(lambda db: [row for ref in refs for row in nodes_with_ref(db, ref)])
    return [
        NodeCandidate(id=id, title=title, path=notes.kb / file)
        for id, title, file in dict.fromkeys(rows)
        if besides is None or id != besides.id
    ]


def _near_nodes(
    notes: Notes, index: Index, title: str, body: str, *, besides: Node | None
) -> Sequence[tuple[NodeCandidate, TextLikeness]]:
    """Return the nodes whose title or text is like the new one's, the likest first."""
    new_title, new_body = prepare_text(title), prepare_text(body)
    rated_nodes: list[tuple[NodeCandidate, TextLikeness]] = []
    for note, node in _sharing_words(notes, index, new_title, new_body):
        if besides and node.id == besides.id:
            continue
        degree = _node_likeness(new_title, new_body, note, node)
        if degree is not TextLikeness.DIFFERENT:
            rated_nodes.append((node_candidate(notes, note, node), degree))
    order = (TextLikeness.SAME, TextLikeness.SIMILAR, TextLikeness.MAY_CONTRADICT)
    return sorted(rated_nodes, key=lambda pair: order.index(pair[1]))


def _sharing_words(notes: Notes, index: Index, title: PreparedText, body: PreparedText) -> Iterator[tuple[Note, Node]]:
    """Yield each node that may be like the new one; the index spares reading the other notes."""
    ids_by_file: dict[str, set[str]] = {}
    comparable_body = body if len(body.normal) >= _COMPARABLE else None
    for entry in index.read_view(lambda db: list(near_entries(db, title, comparable_body, limit=ALIKE))):
        ids_by_file.setdefault(entry.file, set()).add(entry.node)
    for name, ids in sorted(ids_by_file.items()):
        if file := notes.find_note_file(name):
            note = notes.read_note(file)
            if not isinstance(note, UnreadableFile):
                yield from ((note, node) for node in note.nodes if node.id in ids)


def _node_likeness(new_title: PreparedText, new_body: PreparedText, note: Note, node: Node) -> TextLikeness:
    for name in (node.title, *node.aliases):
        degree = text_likeness(new_title, prepare_text(name), limit=ALIKE)
        if degree is not TextLikeness.DIFFERENT:
            return degree
    if len(new_body.normal) < _COMPARABLE:
        return TextLikeness.DIFFERENT
    body = body_of(note, node)
    # texts of very different length can't be alike: their words are no more than the shorter one's
    if not 0.5 <= len(body) / len(new_body.text) <= 2.0:
        return TextLikeness.DIFFERENT
    return text_likeness(new_body, prepare_text(body), limit=ALIKE)
