"""What a project's agents went through: errors, and what was done about them (document 004)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.pipeline import ProjectPipeline
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.remedies.remedy import KnownErrors
    from roamkb.remedies.remedy import SuggestedRemedies


class ProjectRemedies(ProjectPipeline):
    """The project's log, and what it knows against errors."""

    @property
    def knows_remedies(self) -> bool:
        """Whether anybody recorded what was done about any error; asked before the rest is imported."""
        from roamkb.log.state.learning_state import ATTEMPTED

        return bool(self._log_to_read().read().state().named(ATTEMPTED))

    def remedy(
        self,
        action: str,
        name: str | None = None,
        *,
        error: str | None = None,
        technique: str | None = None,
        steps: Sequence[str] = (),
        outcome: str | None = None,
        error_type: str | None = None,
        category: str | None = None,
        file: str | None = None,
        pattern: str | None = None,
        regex: str | None = None,
        task: str | None = None,
        limit: int | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> "SuggestedRemedies | KnownErrors":
        """Record what was done about an error, suggest what to do about one, or show and list what is known.

        `action` is record, suggest, show or list; `name` is the fingerprint or technique to show.

        Raises:
            UsageError, SecretFound, NotFound, DiskError: nothing was written. NoLog, Refused: as `learn`.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        from roamkb.remedies import remedy as remedying

        told = remedying.ErrorReport(
            error=error or "",
            type=error_type or "",
            category=category or "",
            file=require_name(file or "", "the file"),
        )
        cure = remedying.NewRemedy(
            technique=technique or "",
            steps=texts_of(steps),
            outcome=(outcome or "").strip().casefold(),
            task=require_name(task or "", "the task"),
            pattern=pattern or "",
            regex=regex or "",
        )
        is_of_error = action in ("record", "suggest")
        if (
            action not in ("record", "suggest", "show", "list")
            or is_of_error != (error is not None)
            or (action == "show") != (name is not None)
            or (action != "record" and cure != remedying.NewRemedy(technique="", task=task or ""))
            or (action in ("record", "show") and limit is not None)
        ):
            raise UsageError(
                f"that isn't how `remedy {shown(action)}` goes",
                hint="remedy record --error TEXT --technique TEXT [--step S] [--outcome O], "
                "remedy suggest --error TEXT [--limit N], remedy show FINGERPRINT|TECHNIQUE, or remedy list",
            )
        if action == "record":
            hand = self._hand(agent=agent, session=session)
            return remedying.record(self._log(cure.technique), told, cure, hand)
        state = self._log_to_read().read().state()
        if action == "suggest":
            return remedying.suggest(state, told, agent=agent or self._around.agent, limit=limit)
        if name is not None:
            return remedying.show_known(state, name)
        return remedying.list_known(state, limit=limit)
