"""Hits of a search as a page shows them: addresses, who wrote them, words of the query marked."""

from collections.abc import Sequence
from collections.abc import Set
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request

from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import Hit
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import shorten_title
from roamkb.org.agent_node import AGENT_TAG
from roamkb.org.html.markup import shown
from roamkb.text.tokenize import text_terms

_WORD = lazily(r"\w+")
#: Marks of org that a line of a list is read more easily without.
_BULLET = lazily(r"^\s*[-+]\s+(?:\[[ X-]\]\s+)?")
_CODE_MARKS = lazily(r"(?<!\w)([=~*])(?=\S)([^=~*]+)(?<=\S)\1(?!\w)")
#: Letters of a line in a list.
_LONGEST_LINE = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """A hit for a template."""

    href: str
    #: The knowledge base that has it, where it isn't the default one.
    kb: str
    title: Markup
    lines: tuple[Markup, ...]
    tags: tuple[str, ...]
    date: str
    is_sure: bool
    is_agent: bool
    is_replaced: bool


def asked_kb(request: Request) -> str | None:
    """Return the name of the knowledge base that an address asks for; None for the default one."""
    return request.query_params.get("kb") or None


def node_href(id: str, *, line: int | None = None, kb: str = DEFAULT_KB) -> str:
    """Return the address of a node's page, at one of its note's lines."""
    return _href({"id": id}, line, kb)


def place_href(path: str, *, line: int | None = None, kb: str = DEFAULT_KB) -> str:
    """Return the address of the page of a note or of text without a node, by its path."""
    return _href({"name": path if line is None else f"{path}:{line}"}, line, kb)


def _href(names: dict[str, str], line: int | None, kb: str) -> str:
    query = urlencode(names | ({"line": str(line)} if line else {}) | ({} if kb == DEFAULT_KB else {"kb": kb}))
    return f"/note?{query}" + ("#here" if line else "")


def shown_hit(hit: Hit, terms: Set[str]) -> ShownHit:
    """Return a hit with the words marked that have one of `terms`."""
    lines = hit.lines or ((hit.line, hit.text),)
    line = lines[0][0] if hit.lines else hit.line
    kb = hit.kb or DEFAULT_KB
    texts = dict.fromkeys(clip_text(plain_line(text), _LONGEST_LINE) for _, text in lines if text.strip() != hit.title)
    excerpts = [mark_terms(text, terms) for text in texts]
    return ShownHit(
        href=node_href(hit.id, line=line, kb=kb) if hit.id else place_href(str(hit.path), line=line, kb=kb),
        kb="" if kb == DEFAULT_KB else kb,
        title=mark_terms(shorten_title(hit.full_title) or "untitled", terms),
        lines=tuple(excerpts),
        tags=tuple(tag for tag in hit.tags if tag != AGENT_TAG),
        date=hit.date[:10],
        # without words nothing was to be sure of
        is_sure=hit.sure and bool(terms),
        is_agent=AGENT_TAG in hit.tags,
        is_replaced="superseded" in hit.why,
    )


def plain_line(line: str) -> str:
    """Return a line of a note without the marks of an item, of code and of bold words."""
    return _CODE_MARKS.sub(r"\2", _BULLET.sub("", line))


def mark_terms(text: str, terms: Set[str]) -> Markup:
    """Return `text` as HTML, the words marked that have one of `terms`."""
    parts: list[str] = []
    position = 0
    for word in _WORD.finditer(text) if terms else ():
        if not terms.isdisjoint(text_terms(word[0])):
            parts += (shown(text[position : word.start()]), f"<mark>{shown(word[0])}</mark>")
            position = word.end()
    return Markup("".join((*parts, shown(text[position:]))))


def query_terms(terms: Sequence[str], phrases: Sequence[str]) -> frozenset[str]:
    """Return what is marked in the answers to a query."""
    return frozenset(terms).union(*(text_terms(phrase) for phrase in phrases))
