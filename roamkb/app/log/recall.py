"""Recall of the learnings of a project's agents."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import UsageError
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import parse_hundredths

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
        raise UsageError(f"no scope {one_line(request.scope)}", hint=f"one of {', '.join(SCOPES)}")
    log = context.log_to_read()
    author = context.make_author(agent=request.agent, session=request.session)
    contents = log.read_contents()
    as_of = context.parse_moment("--as-of", request.as_of)
    state = contents.replay_state(as_of=as_of)
    if request.stats:
        return recalling.log_figures(state)
    if request.id is not None:
        recall_result = recalling.recall_by_name(log, state, request.id)
    else:
        recall_result = recalling.recall(
            state,
            # a look back takes nothing out of the index
            context.learning_index(log, state if as_of is None else contents.replay_state()),
            parse_query(
                request.words if isinstance(request.words, str) else " ".join(request.words),
                today=author.now.date(),
            ),
            RecallFilter(
                type=canonical_type(request.type) if request.type else "",
                topic=request.topic or "",
                scope=request.scope or "",
                least_confidence=parse_hundredths(request.min_confidence) or 0,
                action=request.action or "",
                tags=as_text_tuple(request.tags),
                concerns=_file_matcher(context, log, request.file),
                archived=request.all,
            ),
            recalling.RecallPage(
                limit=_first_given(request.recent, request.limit, recalling.DEFAULT_LIMIT),
                offset=request.offset or 0,
                by_time=request.recent is not None,
            ),
            agent=author.agent,
            doubts_of=noise_finder(log),
            now=author.ts,
        )
    if request.kb:
        nodes = matching_nodes(context, request.words, recall_result.limit)
        recall_result = recalling.join_nodes(recall_result, nodes, agent=author.agent, now=author.ts)
    ids = [recalled.standing.id for recalled in recall_result.learnings]
    context.keep_receipt(log, author, ids, shown_by="recall", task=request.task)
    wanted_type = canonical_type(request.type) if request.type else ""
    return replace(
        recall_result,
        form="raw" if request.raw else "framed" if request.framed else "plain",
        unknown_type=(request.type or "") if wanted_type and not state.learnings_with("type", wanted_type) else "",
    )


def matching_nodes(context: "ProjectContext", words: Sequence[str] | str, limit: int) -> "Sequence[Hit]":
    """Return the nodes that answer `words`; none for an empty query."""
    text = words if isinstance(words, str) else " ".join(words)
    return context.kb.search(text, limit=limit).hits if text.strip() else ()


def noise_finder(log: "Log") -> "Callable[[LearningState], Mapping[str, str]]":
    """Return a function that names the reasons why a learning ranks lower: ledger, text, missing files."""
    from roamkb.curation.audit import noise_flags
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    references = ProjectReferences(log.root)
    return lambda learning_state: noise_flags(learning_state, references)


def _file_matcher(context: "ProjectContext", log: "Log", file: str | None) -> Callable[[Sequence[str]], bool] | None:
    """Return a function that tells whether patterns match `file`, a path from here or from the root."""
    if file is None:
        return None
    from roamkb.core.gitignore import matches_file

    path = Path(require_name(file, "the file"))
    if path.is_absolute() or (context.environment.cwd and (context.environment.cwd / path).exists()):
        path = (context.environment.cwd or Path("/")) / path
        if not path.is_relative_to(log.root):
            raise UsageError(f"{one_line(file)} isn't a file of {one_line(str(log.root))}")
        path = path.relative_to(log.root)
    relative_path, cached_matches = str(path), dict[tuple[str, ...], bool]()

    def has_match(patterns: Sequence[str]) -> bool:
        key = tuple(patterns)
        if key not in cached_matches:
            cached_matches[key] = bool(patterns) and matches_file(patterns, relative_path)
        return cached_matches[key]

    return has_match


def _first_given(*values: int | None) -> int:
    return next(value for value in values if value is not None)
