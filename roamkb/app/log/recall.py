"""What a project's agents learned, found again."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import hundredths

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.core.model import Hit
    from roamkb.log.recall import LogFigures
    from roamkb.log.recall import RecallResult
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.store.project_log import Log


def recall(context: "ProjectContext", request: "requests.RecallRequest") -> "RecallResult | LogFigures":
    """Return the learnings that answer `words`, best first; without words the latest.

    With `kb`, the nodes of the knowledge base that answer stand among them.

    Raises:
        NoLog: the project has none.
    """
    from roamkb.core.startup.dataclasses import replace
    from roamkb.kb.search.query import parse_query
    from roamkb.log import recall as recalling
    from roamkb.log.learning import canonical_type
    from roamkb.log.recall_ranking import RecallFilter
    from roamkb.log.state.learning_state import SCOPES

    require_name(request.task or "", "the task")
    if request.scope and request.scope not in SCOPES:
        raise UsageError(f"no scope {shown(request.scope)}", hint=f"one of {', '.join(SCOPES)}")
    log = context.log_to_read()
    hand = context.author(agent=request.agent, session=request.session)
    contents = log.read()
    at = context.moment("--as-of", request.as_of)
    state = contents.state(as_of=at)
    if request.stats:
        return recalling.figures(state)
    if request.id is not None:
        found = recalling.recall_one(log, state, request.id)
    else:
        found = recalling.recall(
            state,
            # a look back takes nothing out of the index
            context.learning_index(log, state if at is None else contents.state()),
            parse_query(
                request.words if isinstance(request.words, str) else " ".join(request.words),
                today=hand.now.date(),
            ),
            RecallFilter(
                type=canonical_type(request.type) if request.type else "",
                topic=request.topic or "",
                scope=request.scope or "",
                least_confidence=hundredths(request.min_confidence) or 0,
                action=request.action or "",
                tags=texts_of(request.tags),
                concerns=_concerns(context, log, request.file),
                archived=request.all,
            ),
            recalling.RecallPage(
                limit=_first(request.recent, request.limit, recalling.DEFAULT),
                offset=request.offset or 0,
                by_time=request.recent is not None,
            ),
            agent=hand.agent,
            doubts_of=noise_of(log),
            now=hand.ts,
        )
    if request.kb:
        nodes = matching_nodes(context, request.words, found.limit)
        found = recalling.joined(found, nodes, agent=hand.agent, now=hand.ts)
    ids = [one.standing.id for one in found.learnings]
    context.keep_receipt(log, hand, ids, by="recall", task=request.task)
    wanted = canonical_type(request.type) if request.type else ""
    return replace(
        found,
        form="raw" if request.raw else "framed" if request.framed else "plain",
        unknown_type=(request.type or "") if wanted and not state.having("type", wanted) else "",
    )


def matching_nodes(context: "ProjectContext", words: Sequence[str] | str, limit: int) -> "Sequence[Hit]":
    """Return the nodes that answer `words`; none where nothing is asked for."""
    text = words if isinstance(words, str) else " ".join(words)
    return context.kb.search(text, limit=limit).hits if text.strip() else ()


def noise_of(log: "Log") -> "Callable[[LearningState], Mapping[str, str]]":
    """Return what says why a learning ranks lower: the ledger, its own text, and files that are gone."""
    from roamkb.curation.audit import doubts_about
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    grounds = ProjectReferences(log.root)
    return lambda standing: doubts_about(standing, grounds)


def _concerns(
    context: "ProjectContext", log: "Log", file: str | None
) -> Callable[[Sequence[str]], bool] | None:
    """Return what says whether patterns mean `file`, a path from here or from the project's root."""
    if file is None:
        return None
    from roamkb.core.gitignore import concerns

    path = Path(require_name(file, "the file"))
    if path.is_absolute() or (context.environment.cwd and (context.environment.cwd / path).exists()):
        path = (context.environment.cwd or Path("/")) / path
        if not path.is_relative_to(log.root):
            raise UsageError(f"{shown(file)} isn't a file of {shown(str(log.root))}")
        path = path.relative_to(log.root)
    asked, known = str(path), dict[tuple[str, ...], bool]()

    def concerned(patterns: Sequence[str]) -> bool:
        key = tuple(patterns)
        if key not in known:
            known[key] = bool(patterns) and concerns(patterns, asked)
        return known[key]

    return concerned


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)
