"""Search: the command line's query language, its hits with marks for what is sure."""

from datetime import datetime

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import UsageError
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
    values: dict[str, object] = {"query": text, "every": every, "hits": (), "result": None, "problem": None}
    if not text:
        return 200, render_page("search.html", **values)
    today = datetime.fromtimestamp(kb.current_time).date()
    query = search_query.parse_query(text, today=today)
    try:
        result: SearchResult = kb.search(text, limit=_MOST_LISTED if query.is_empty and not every else None, all=every)
    except UsageError as error:
        return 400, render_page("search.html", **values | {"problem": error})
    terms = query_terms(query.terms, query.phrases)
    hits = [shown_hit(hit, terms) for hit in result.hits]
    return 200, render_page("search.html", **values | {"hits": hits, "result": result})
