"""Other views of the index: tag counts, links and citations of a node, the link graph, related nodes."""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection
from collections.abc import Iterator
from typing import Annotated

from roamkb.core.json_form import Rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import parse_words
from roamkb.kb.search.stored_text import SEPARATOR

#: Words of a note that are looked for in others: its title's, and the rarest of its text.
_WORDS = 24
#: What a common neighbour and a common tag are worth beside the words, whose best has 1.
_NEIGHBOUR = 0.25
_TAG = 0.1
#: More of either say no more.
_MOST = 3
#: Where a link leads; its id is no word of the text.
_ID_LINK = lazily(r"\[\[id:[^\]\[]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    """A tag and the number of nodes that have it, inherited or their own."""

    tag: str
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A node of the link graph."""

    id: str
    title: str
    file: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The nodes and the links between them, each pair once."""

    nodes: tuple[GraphNode, ...]
    edges: Annotated[tuple[tuple[str, str], ...], Rows("source dest")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlace:
    """A place where a node links to another, or cites what it is about."""

    id: str
    title: str
    #: Relative to the knowledge base.
    file: str
    #: 0 where the index doesn't know it.
    line: int


def node_file(db: sqlite3.Connection, id: str) -> str | None:
    """Return the first file that holds the node `id`."""
    row = db.execute("SELECT file FROM entry WHERE node = ? ORDER BY file, line LIMIT 1", (id,)).fetchone()
    return None if row is None else str(row[0])


def node_titles(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, str]:
    """Return the titles of those of the nodes `ids` that there are."""
    rows = db.execute(
        "SELECT node, title FROM entry JOIN content USING(id) "
        "WHERE node IN (SELECT value FROM json_each(?)) ORDER BY file DESC, line DESC",
        (json.dumps(list(ids)),),
    )
    return dict(rows.fetchall())


def link_places(db: sqlite3.Connection, id: str) -> list[LinkPlace]:
    """Return the places that link to the node `id`, in the order of files and lines."""
    rows = db.execute(
        "SELECT DISTINCT source, file, line FROM link JOIN note ON note.id = link.note "
        "WHERE dest = ? AND source != dest ORDER BY file, line",
        (id,),
    ).fetchall()
    titles = node_titles(db, {source for source, _, _ in rows})
    return [LinkPlace(id=source, title=titles.get(source, ""), file=file, line=line) for source, file, line in rows]


def citing_places(db: sqlite3.Connection, keys: Collection[str]) -> list[LinkPlace]:
    """Return the nodes that cite one of the works `keys`."""
    rows = db.execute(
        "SELECT DISTINCT node, file FROM reference JOIN note ON note.id = reference.note "
        "WHERE type = 'cite' AND NOT is_own AND target IN (SELECT value FROM json_each(?)) ORDER BY file",
        (json.dumps(list(keys)),),
    ).fetchall()
    titles = node_titles(db, {node for node, _ in rows})
    return [LinkPlace(id=node, title=titles.get(node, ""), file=file, line=0) for node, file in rows]


def nodes_about(db: sqlite3.Connection, keys: Collection[str]) -> dict[str, str]:
    """Return the ids of the nodes about the cited works `keys`, as far as there are some."""
    rows = db.execute(
        "SELECT target, node FROM reference "
        "WHERE type = 'cite' AND is_own AND target IN (SELECT value FROM json_each(?))",
        (json.dumps(list(keys)),),
    )
    return dict(rows.fetchall())


def tag_counts(db: sqlite3.Connection) -> tuple[TagCount, ...]:
    """Return the tags, the most frequent first."""
    counts: Counter[str] = Counter()
    for (tags,) in db.execute("SELECT tags FROM content JOIN entry USING(id) WHERE node IS NOT NULL"):
        counts.update(set(_split_tags(tags)))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(TagCount(tag=tag, nodes=nodes) for tag, nodes in ordered)


def link_graph(db: sqlite3.Connection) -> Graph:
    """Return all nodes, and the links between existing nodes."""
    rows = db.execute(
        "SELECT node, title, file, tags FROM entry JOIN content USING(id) WHERE node IS NOT NULL ORDER BY file, line"
    ).fetchall()
    nodes = {row[0]: row for row in reversed(rows)}
    edges = db.execute("SELECT DISTINCT source, dest FROM link ORDER BY source, dest").fetchall()
    return Graph(
        nodes=tuple(
            GraphNode(id=id, title=title, file=file, tags=_split_tags(tags))
            for id, title, file, tags in reversed(nodes.values())
        ),
        edges=tuple((source, dest) for source, dest in edges if dest in nodes and source != dest),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedNode:
    """A node as a drawing of the links shows it."""

    id: str
    title: str
    is_agent: bool


def drawable_graph(
    db: sqlite3.Connection, query: Query | None
) -> tuple[dict[str, LinkedNode], dict[str, set[str]], set[str] | None]:
    """Return all nodes by their ids, what each is linked with, and the ids that `query` finds, if there is one.

    By words it finds what isn't far below the best, as a search does.
    """
    rows = db.execute(
        "SELECT node, title, agent FROM entry JOIN content USING(id) WHERE node IS NOT NULL "
        "ORDER BY file DESC, line DESC"
    )
    nodes = {id: LinkedNode(id=id, title=title, is_agent=bool(agent)) for id, title, agent in rows}
    neighbours: dict[str, set[str]] = {}
    for source, dest in db.execute("SELECT DISTINCT source, dest FROM link WHERE source != dest"):
        neighbours.setdefault(source, set()).add(dest)
        neighbours.setdefault(dest, set()).add(source)
    if query is None:
        return nodes, neighbours, None
    keys = [key for key, _, _ in IndexQuery(db, query).find_places(None, near_best=True)]
    found = db.execute("SELECT node FROM entry WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(keys),))
    return nodes, neighbours, {id for (id,) in found if id is not None}


def related_passages(db: sqlite3.Connection, id: str, limit: int) -> Iterator[PassageHit]:
    """Yield the nodes that share words, tags or neighbours with the node `id`, and no link."""
    linked = _linked_nodes(db, id)
    seconds = Counter(second for neighbour in linked for second in _linked_nodes(db, neighbour))
    own_tags, query = _tags_and_query(db, id)
    answers = {hit.id: hit for hit in IndexQuery(db, query).find_answers(limit + len(linked) + 1)}
    missing = tuple(second for second in seconds if second not in answers)
    if missing:
        answers |= {hit.id: hit for hit in IndexQuery(db, Query(text="", ids=missing)).find_answers(None)}
    rated = []
    for key, answer in answers.items():
        if key is None or key == id or key in linked:
            continue
        tags = own_tags.intersection(answer.tags)
        points = answer.score + _NEIGHBOUR * min(seconds[key], _MOST) + _TAG * min(len(tags), _MOST)
        why = ("neighbour",) * bool(seconds[key]) + ("tag",) * bool(tags) + ("words",) * bool(answer.score)
        rated.append(replace(answer, score=round(points, 4), why=why))
    rated.sort(key=lambda answer: (answer.score, answer.date), reverse=True)
    yield from rated[:limit]


def _linked_nodes(db: sqlite3.Connection, id: str) -> set[str]:
    rows = db.execute("SELECT dest FROM link WHERE source = ?1 UNION SELECT source FROM link WHERE dest = ?1", (id,))
    return {key for (key,) in rows} - {id}


def _tags_and_query(db: sqlite3.Connection, id: str) -> tuple[frozenset[str], Query]:
    """Return the tags of a node, and a query for its subject."""
    title, tags, body = db.execute(
        "SELECT title, tags, body FROM content JOIN entry USING(id) WHERE node = ? ORDER BY file, line", (id,)
    ).fetchone()
    title_query = parse_words(title)
    rare_words = IndexQuery(db, parse_words(_ID_LINK.sub(" ", body))).rarest_words(_WORDS)
    return frozenset(_split_tags(tags)) - {"agent"}, parse_words(" ".join((*title_query.words, *rare_words)))


def _split_tags(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(SEPARATOR)) if joined else ()
