"""Reading in each of the rule's knowledge bases in turn."""

import sys

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NoNode
from roamkb.core.errors import UsageError
from roamkb.core.model import NodeCandidate
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import replace
from roamkb.kb.search.search import DEFAULT_LIMIT
from roamkb.kb.search.search import MOST_HITS
from roamkb.kb.search.search import SearchRequest
from roamkb.kb.search.search import SearchResult
from roamkb.kb.search.search import fit_budget
from roamkb.kb.show import ShownNode
from roamkb.kb.show import ShowRequest


def search(base: KnowledgeBase, request: SearchRequest) -> SearchResult:
    """Return the hits of each knowledge base, ranked together; one that isn't on this machine is named as skipped.

    Raises:
        NoKnowledgeBase: none of them is.
    """
    if request.related is not None or request.trace:
        raise UsageError("--kb all ranks words", hint="with --related or --trace name one knowledge base")
    results: list[SearchResult] = []
    missing: list[NoKnowledgeBase] = []
    for name in base.kb_names:
        try:
            results.append(type(base).search.run(base.of_kb(name), replace(request, kb=None, budget=None)))
        except NoKnowledgeBase as error:
            missing.append(error)
    if not results:
        raise missing[0]
    hits = [hit for result in results for hit in result.hits]
    is_unranked = request.regex or request.lines or request.files
    if not is_unranked:
        # a score is relative to the best of its own search, and sure ones are compared by what they share
        hits.sort(key=lambda hit: (not hit.sure, -hit.score))
    shown = hits[: _most_hits(request, is_unranked=is_unranked)]
    is_cut_unasked = request.limit is None and not is_unranked
    return replace(
        results[0],
        hits=fit_budget(tuple(shown), request.budget),
        left_out=sum(result.left_out for result in results) + is_cut_unasked * (len(hits) - len(shown)),
        skipped=(
            *(file for result in results for file in result.skipped),
            *(UnreadableFile(path=error.kb, reason=error.why) for error in missing),
        ),
        conflict_copies=sum(result.conflict_copies for result in results),
        nothing_sure=bool(hits) and all(result.nothing_sure or not result.hits for result in results),
        encrypted=None if hits else sum(result.encrypted or 0 for result in results),
        as_of="; ".join(filter(None, (result.as_of for result in results))) or None,
    )


def _most_hits(request: SearchRequest, *, is_unranked: bool) -> int:
    if request.limit is not None:
        return request.limit
    if request.all or is_unranked:
        return sys.maxsize
    return MOST_HITS if request.text.strip() else DEFAULT_LIMIT


def show(base: KnowledgeBase, request: ShowRequest) -> ShownNode:
    """Return the node of that name, whichever knowledge base has it.

    Raises:
        Ambiguous: several have one. NoNode: none has, and what the default one says of it.
    """
    shown: list[ShownNode] = []
    errors: list[NoNode | NoKnowledgeBase] = []
    for name in base.kb_names:
        try:
            shown.append(type(base).show.run(base.of_kb(name), replace(request, kb=None)))
        except (NoNode, NoKnowledgeBase) as error:
            errors.append(error)
    if not shown:
        raise errors[0]
    if len(shown) > 1:
        candidates = [NodeCandidate(id=one.node.id, title=one.node.title, path=one.path) for one in shown]
        # their ids may be the same
        raise Ambiguous(request.name, candidates, hint=" or ".join(f"--kb {one.kb}" for one in shown))
    return shown[0]
