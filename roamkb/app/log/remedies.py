"""What a project's agents went through: errors, and what was done about them (document 004)."""

from typing import TYPE_CHECKING

from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.remedies.remedy import KnownErrors
    from roamkb.remedies.remedy import SuggestedRemedies


def knows_remedies(context: "ProjectContext") -> bool:
    """Whether anybody recorded what was done about any error; asked before the rest is imported."""
    from roamkb.log.state.learning_state import ATTEMPTED

    return bool(context.log_to_read().read().state().named(ATTEMPTED))


def remedy(context: "ProjectContext", request: "requests.RemedyRequest") -> "SuggestedRemedies | KnownErrors":
    """Record what was done about an error, suggest what to do about one, or show and list what is known.

    `action` is record, suggest, show or list; `name` is the fingerprint or technique to show.

    Raises:
        UsageError, SecretFound, NotFound, DiskError: nothing was written. NoLog, Refused: as `learn`.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    from roamkb.remedies import remedy as remedying

    told = remedying.ErrorReport(
        error=request.error or "",
        type=request.error_type or "",
        category=request.category or "",
        file=require_name(request.file or "", "the file"),
    )
    cure = remedying.NewRemedy(
        technique=request.technique or "",
        steps=texts_of(request.steps),
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
        or (request.action != "record" and cure != remedying.NewRemedy(technique="", task=request.task or ""))
        or (request.action in ("record", "show") and request.limit is not None)
    ):
        raise UsageError(
            f"that isn't how `remedy {shown(request.action)}` goes",
            hint="remedy record --error TEXT --technique TEXT [--step S] [--outcome O], "
            "remedy suggest --error TEXT [--limit N], remedy show FINGERPRINT|TECHNIQUE, or remedy list",
        )
    if request.action == "record":
        hand = context.author(agent=request.agent, session=request.session)
        return remedying.record(context.log_to_write(cure.technique), told, cure, hand)
    state = context.log_to_read().read().state()
    if request.action == "suggest":
        return remedying.suggest(
            state, told, agent=request.agent or context.environment.agent, limit=request.limit
        )
    if request.name is not None:
        return remedying.show_known(state, request.name)
    return remedying.list_known(state, limit=request.limit)
