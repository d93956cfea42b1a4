"""Experience of a project's agents: errors, and the remedies tried against them (document 004)."""

from roamkb.app.log.project_context import ProjectContext
from roamkb.context import relevance_threshold
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state import learning_state
from roamkb.remedies import effectiveness
from roamkb.remedies import remedy as remedy_verb


def knows_remedies(context: ProjectContext) -> bool:
    """Return whether any remedy was ever recorded; a cheap test before the rest is imported."""
    return bool(context.log_to_read().read_contents().replay_state().events_named(learning_state.ATTEMPTED))


def _is_sure(known_remedy: "effectiveness.Remedy", suggested: "remedy_verb.SuggestedRemedies", error: str) -> bool:
    """Say whether a remedy is surely for this error, and not for another library's in the same words."""
    past_errors = [attempt.error.line for attempt in known_remedy.attempts]
    return effectiveness.is_surely_for(known_remedy, suggested.fingerprint) and relevance_threshold.is_transferable(
        known_remedy.technique, past_errors=past_errors, error=error
    )


def remedy(
    context: ProjectContext, request: "remedy_verb.RemedyRequest"
) -> "remedy_verb.SuggestedRemedies | remedy_verb.KnownErrors":
    """Record a remedy for an error, suggest remedies for one, or show and list the known ones.

    `action` is record, suggest, show or list; `name` is the fingerprint or technique to show.

    Raises:
        UsageError, SecretFound, NotFound, DiskError: nothing was written. NoLog, Refused: as `learn`.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    error_report = remedy_verb.ErrorReport(
        error=request.error or "",
        type=request.error_type or "",
        category=request.category or "",
        file=require_name(request.file or "", "the file"),
    )
    new_remedy = remedy_verb.NewRemedy(
        technique=request.technique or "",
        steps=as_text_tuple(request.steps),
        outcome=(request.outcome or "").strip().casefold(),
        task=require_name(request.task or "", "the task"),
        pattern=request.pattern or "",
        regex=request.regex or "",
    )
    is_of_error = request.action in ("record", "suggest")
    if (
        request.action not in ("record", "suggest", "show", "list")
        or is_of_error != (request.error is not None)
        or (request.action == "show") != (request.name is not None)
        or (request.action != "record" and new_remedy != remedy_verb.NewRemedy(technique="", task=request.task or ""))
        or (request.action in ("record", "show") and request.limit is not None)
    ):
        raise UsageError(
            f"that isn't how `remedy {one_line(request.action)}` goes",
            hint="remedy record --error TEXT --technique TEXT [--step S] [--outcome O], "
            "remedy suggest --error TEXT [--limit N], remedy show FINGERPRINT|TECHNIQUE, or remedy list",
        )
    if request.action == "record":
        author = context.author_of(request)
        return remedy_verb.record_attempt(context.log_to_write(new_remedy.technique), error_report, new_remedy, author)
    state = context.log_to_read().read_contents().replay_state()
    if request.action == "suggest":
        suggested = remedy_verb.suggest_remedies(
            state, error_report, agent=request.agent or context.environment.agent_name, limit=request.limit
        )
        judged = (
            replace(known_remedy, is_sure=_is_sure(known_remedy, suggested, error_report.error))
            for known_remedy in suggested.remedies
        )
        return replace(suggested, remedies=tuple(sorted(judged, key=lambda known_remedy: not known_remedy.is_sure)))
    if request.name is not None:
        return remedy_verb.show_errors(state, request.name)
    return remedy_verb.list_errors(state, limit=request.limit)
