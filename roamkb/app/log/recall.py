"""Recall of the learnings of a project's agents."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from os.path import lexists
from pathlib import Path

from roamkb.app.log.project_context import SHARE_PATIENCE
from roamkb.app.log.project_context import ProjectContext
from roamkb.core import gitignore
from roamkb.core import model
from roamkb.core.errors import UsageError
from roamkb.core.startup import dataclasses
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.curation import audit
from roamkb.kb.notes.file_names import require_name
from roamkb.kb.search import query
from roamkb.log import learning
from roamkb.log import recall as log_recall
from roamkb.log import recall_ranking
from roamkb.log.state import learning_state
from roamkb.log.state.confidence import parse_hundredths
from roamkb.log.store import project_log
from roamkb.pipeline.store import references_on_disk


def recall(
    context: ProjectContext, request: "log_recall.RecallRequest"
) -> "log_recall.RecallResult | log_recall.LogFigures":
    """Return the learnings that answer `words`, best first; without words the latest.

    With `kb`, the nodes of the knowledge base that answer stand among them.

    Raises:
        NoLog: the project has none.
    """
    require_name(request.task or "", "the task")
    if request.trace and (request.framed or request.raw):
        raise UsageError("--trace isn't for a prompt", hint="leave --framed and --raw out")
    if request.trace and (request.offset or not "".join(request.words).strip()):
        raise UsageError("--trace explains how words are ranked, from the best on", hint="roamkb recall WORDS --trace")
    if request.scope and request.scope not in learning_state.SCOPES:
        raise UsageError(f"no scope {one_line(request.scope)}", hint=f"one of {', '.join(learning_state.SCOPES)}")
    log = context.log_to_read(patience=SHARE_PATIENCE)
    author = context.author_of(request)
    contents = log.read_contents()
    as_of = context.parse_moment("--as-of", request.as_of)
    state = contents.replay_state(as_of=as_of)
    if request.stats:
        return log_recall.log_figures(state)
    if request.id is not None:
        recall_result = log_recall.recall_by_name(log, state, request.id)
    else:
        recall_result = log_recall.recall(
            state,
            # a look back takes nothing out of the index
            context.learning_index(log, state if as_of is None else contents.replay_state()),
            query.parse_query(
                request.words if isinstance(request.words, str) else " ".join(request.words),
                today=author.now.date(),
            ),
            _filter_of(context, log, request),
            log_recall.RecallPage(
                limit=_first_given(request.recent, request.limit, log_recall.DEFAULT_LIMIT),
                offset=request.offset or 0,
                by_time=request.recent is not None,
                is_traced=request.trace,
            ),
            agent=author.agent,
            doubts_of=noise_finder(log, state),
            now=author.ts,
        )
    if request.kb:
        nodes = matching_nodes(context, request.words, recall_result.limit)
        recall_result = log_recall.join_nodes(recall_result, nodes, agent=author.agent, now=author.ts)
    ids = [recalled.standing.id for recalled in recall_result.learnings]
    context.keep_receipt(log, author, ids, shown_by="recall", task=request.task)
    wanted_type = learning.canonical_type(request.type) if request.type else ""
    return dataclasses.replace(
        recall_result,
        form="raw" if request.raw else "framed" if request.framed else "plain",
        unknown_type=(request.type or "") if wanted_type and not state.learnings_with("type", wanted_type) else "",
    )


def _filter_of(
    context: ProjectContext, log: "project_log.Log", request: "log_recall.RecallRequest"
) -> "recall_ranking.RecallFilter":
    """Return the conditions that a request names beside its words."""
    return recall_ranking.RecallFilter(
        type=learning.canonical_type(request.type) if request.type else "",
        topic=request.topic or "",
        scope=request.scope or "",
        least_confidence=parse_hundredths(request.min_confidence) or 0,
        action=request.action or "",
        tags=as_text_tuple(request.tags),
        concerns=_file_matcher(context, log, request.file),
        archived=request.all,
    )


def matching_nodes(context: ProjectContext, words: Sequence[str] | str, limit: int) -> "Sequence[model.Hit]":
    """Return the nodes that answer `words`; none for an empty query."""
    text = words if isinstance(words, str) else " ".join(words)
    return context.kb.search(text, limit=limit).hits if text.strip() else ()


def noise_finder(
    log: "project_log.Log", state: "learning_state.LogState"
) -> "Callable[[learning_state.LearningState], Mapping[str, str]]":
    """Return a function that names the reasons why a learning ranks lower: ledger, text, missing files."""
    references = references_on_disk.ProjectReferences(log.root)
    return lambda standing: audit.noise_flags(state, standing, references)


def _file_matcher(
    context: ProjectContext, log: "project_log.Log", file: str | None
) -> Callable[[Sequence[str]], bool] | None:
    """Return a function that tells whether patterns match `file`, a path from here or from the root."""
    if file is None:
        return None

    path = Path(require_name(file, "the file"))
    if path.is_absolute() or (context.environment.cwd and lexists(context.environment.cwd / path)):
        path = (context.environment.cwd or Path("/")) / path
        if not path.is_relative_to(log.root):
            raise UsageError(f"{one_line(file)} isn't a file of {one_line(str(log.root))}")
        path = path.relative_to(log.root)
    relative_path, cached_matches = str(path), dict[tuple[str, ...], bool]()

    def has_match(patterns: Sequence[str]) -> bool:
        key = tuple(patterns)
        if key not in cached_matches:
            cached_matches[key] = bool(patterns) and gitignore.matches_file(patterns, relative_path)
        return cached_matches[key]

    return has_match


def _first_given(*values: int | None) -> int:
    return next(value for value in values if value is not None)
