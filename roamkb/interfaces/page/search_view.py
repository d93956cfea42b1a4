"""Search: the command line's query language, its hits with marks for what is sure."""

from datetime import datetime

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import EVERY_KB
from roamkb.interfaces.page.hits import asked_kb
from roamkb.interfaces.page.hits import query_terms
from roamkb.interfaces.page.hits import shown_hit
from roamkb.interfaces.page.templating import render_page
from roamkb.kb.search import query as search_query
from roamkb.kb.search.search import SearchResult

#: Hits of a query with filters alone, which nothing ranks.
_MOST_LISTED = 100


def view_search(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of a query; without one, the query language."""
    text = request.query_params.get("q", "").strip()
    every = request.query_params.get("all") == "1"
    name = asked_kb(request)
    values: dict[str, object] = {
        "query": text,
        "every": every,
        "hits": (),
        "result": None,
        "problem": None,
        "kb": name,
        "kbs": _list_kbs(kb),
    }
    if not text:
        return 200, render_page("search.html", **values)
    today = datetime.fromtimestamp(kb.current_time).date()
    try:
        query = search_query.parse_query(text, today=today)
        result: SearchResult = kb.search(
            text, limit=_MOST_LISTED if query.is_empty and not every else None, all=every, kb=name
        )
    except UsageError as error:
        return 400, render_page("search.html", **values | {"problem": error})
    terms = query_terms(query.terms, query.phrases)
    hits = [shown_hit(hit, terms) for hit in result.hits]
    return 200, render_page("search.html", **values | {"hits": hits, "result": result})


def _list_kbs(kb: "server.ServedKnowledgeBase") -> tuple[tuple[str, str], ...]:
    """Return what a search may be in, each with what it is called; nothing where there is no choice."""
    try:
        names = kb.kb_names
    except RoamkbError:
        # the search says so
        return ()
    kbs = (("" if name == DEFAULT_KB else name, "your notes" if name == DEFAULT_KB else name) for name in names)
    return (*kbs, (EVERY_KB, "all")) if len(names) > 1 else ()
