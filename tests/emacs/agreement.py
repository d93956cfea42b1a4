"""How far our reader and real org-roam say the same of a folder."""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import NamedTuple

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.org.coding import decode_note
from roamkb.org.reader import parse_note

#: What is compared of each node.
FIELDS = (
    *("file", "level", "line", "pos", "title", "olp", "todo", "priority", "scheduled", "deadline"),
    *("tags", "aliases", "refs", "links", "citations", "properties"),
)

#: What org-roam adds to a drawer's entries.
_ADDED = frozenset(
    "ALLTAGS BLOCKED CLOCKSUM CLOCKSUM_T CLOSED DEADLINE FILE ITEM PRIORITY SCHEDULED TAGS TIMESTAMP "
    "TIMESTAMP_IA TODO".split()
)

#: One node, by the names in `FIELDS`.
Row = dict[str, Any]


class Difference(NamedTuple):
    """One field of one node on which the two disagree."""

    id: str
    field: str
    theirs: object
    ours: object


def notes_in(folder: Path) -> list[Note]:
    """Return every note below `folder` as we read it, in the order in which org-roam takes them."""
    files = sorted(path for path in folder.rglob("*.org") if path.is_file())
    return [_note(path, folder) for path in files]


def _note(path: Path, folder: Path) -> Note:
    def setup(name: str) -> str | None:
        other = folder / Path(name).expanduser()
        return decode_note(other.read_bytes())[0] if other.is_file() else None

    return parse_note(decode_note(path.read_bytes())[0], file=str(path.relative_to(folder)), setup=setup)


def our_rows(notes: Iterable[Note]) -> dict[str, Row]:
    """Return our nodes by id; of equal ids the first stays, and takes what the others hold."""
    found: dict[str, Row] = {}
    for node in (node for note in notes for node in note.nodes):
        row = _our_row(node)
        if node.id in found:
            for field in ("tags", "aliases", "refs", "links", "citations"):
                found[node.id][field] += row[field]
        else:
            found[node.id] = row
    return found


def _our_row(node: Node) -> Row:
    row: Row = {field: getattr(node, field) for field in FIELDS[:10]}
    row["olp"] = list(node.olp)
    row["tags"] = list(node.tags)
    row["aliases"] = list(node.aliases)
    row["refs"] = [(ref.type, ref.ref) for ref in node.refs]
    row["links"] = Counter((link.type, link.dest, link.line) for link in node.links)
    row["citations"] = Counter((cite.key, cite.line) for cite in node.citations)
    row["properties"] = dict(node.properties)
    return row


def their_rows(tables: dict[str, Any], folder: Path, *, newer: dict[str, Any] | None = None) -> dict[str, Row]:
    """Return org-roam's nodes by id; positions and links as in `newer`, where that is given."""
    newlines = _Lines(folder)
    found: dict[str, Row] = {}
    for node in tables["nodes"]:
        found[node["id"]] = _their_row(node)
    for node in (*tables["nodes"], *(newer or tables)["nodes"]):
        if node["id"] in found:
            found[node["id"]]["pos"] = node["pos"]
            found[node["id"]]["line"] = newlines.line(node["file"], node["pos"])
    for table, field in (("tags", "tag"), ("aliases", "alias")):
        for row in tables[table]:
            found[row["node_id"]][table].append(row[field])
    for row in reversed(tables["refs"]):
        found[row["node_id"]]["refs"].append((row["type"], row["ref"]))
    for row in (newer or tables)["links"]:
        if row["source"] in found:
            mine = found[row["source"]]
            dest = row["dest"].partition("::")[0]
            mine["links"][(row["type"], dest, newlines.line(mine["file"], row["pos"]))] += 1
    for row in tables["citations"]:
        mine = found[row["node_id"]]
        mine["citations"][(row["key"], newlines.line(mine["file"], row["pos"]))] += 1
    return found


def _their_row(node: dict[str, Any]) -> Row:
    row: Row = {field: node[field] for field in ("file", "level", "title", "olp", "todo")}
    row["priority"] = chr(node["priority"]) if node["priority"] else None
    for field in ("scheduled", "deadline"):
        # org-roam 2.2 adds the zone
        row[field] = node[field][:19] if node[field] else None
    row |= {"pos": node["pos"], "tags": [], "aliases": [], "refs": []}
    row |= {"links": Counter(), "citations": Counter()}
    row["properties"] = {key: value or "" for key, value in node["properties"] if key not in _ADDED}
    return row


class _Lines:
    """Line numbers of positions, as in the text that we decode."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: dict[str, str] = {}

    def line(self, file: str, pos: int) -> int:
        if file not in self._texts:
            self._texts[file] = decode_note((self._folder / file).read_bytes())[0]
        return self._texts[file].count("\n", 0, pos - 1) + 1


def differences(theirs: dict[str, Row], ours: dict[str, Row]) -> Iterator[Difference]:
    """Yield what is not the same; a node that one side lacks is one difference, in the field `node`."""
    for identity in sorted(theirs.keys() | ours.keys()):
        if identity not in ours:
            yield Difference(identity, "node", theirs[identity]["file"], None)
        elif identity not in theirs:
            yield Difference(identity, "node", None, ours[identity]["file"])
        else:
            yield from _field_differences(identity, theirs[identity], ours[identity])


def _field_differences(identity: str, theirs: Row, ours: Row) -> Iterator[Difference]:
    for field in FIELDS:
        their, our = theirs[field], ours[field]
        if field == "properties" and "CATEGORY" not in our:
            # org-roam answers it for every node: the file's name
            their = {key: value for key, value in their.items() if key != "CATEGORY"}
        if their != our:
            if isinstance(their, Counter):
                their, our = sorted((their - our).elements()), sorted((our - their).elements())
            yield Difference(identity, field, their, our)
