"""The command `template`: the learnings that a kind of task begins with (document 002, stage 6)."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Final

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.request import Argument
from roamkb.core.request import AsOfOption
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.text import one_line
from roamkb.log.known_learnings import get_learning
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.secrets.detector import refuse_secrets
from roamkb.sharing import template_model as templates
from roamkb.sharing.template_model import Template

_MAX_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class TemplateRequest:
    """The options of `template`."""

    action: Annotated[
        str,
        Argument(
            "create, list, show, use, update or deprecate.",
            metavar="ACTION",
            values=("create", "list", "show", "use", "update", "deprecate"),
        ),
    ]
    name: str | None = optional_argument("The template's name.", metavar="NAME")
    _: KW_ONLY
    task_types: Sequence[str] = repeatable_option("--task-type", "A kind of task that it is for.", metavar="T")
    from_task: str | None = text_option(
        "--from-task", "create, update: of this task's verified learnings.", metavar="ID", values="tasks"
    )
    learnings: Sequence[str] = repeatable_option(
        "--learning", "create, update: of this learning, by key or id.", metavar="KEY", values="keys"
    )
    task: str | None = text_option("--task", "use: the task whose scope it is put into.", metavar="ID", values="tasks")
    reason: str | None = text_option("--reason", "update, deprecate: why.", metavar="TEXT")
    all: bool = flag_option("--all", "list: the deprecated as well.")
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateScope:
    """The requested name, task types and learnings of a template."""

    name: str
    task_types: tuple[str, ...] = ()
    from_task: str = ""
    #: Keys or ids of learnings.
    learnings: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateShown:
    """A template with its learnings, after an action on it."""

    JSON = "*template outcome=done task learnings template.versions left_out"
    #: "created", "updated", "deprecated", "used", or "shown".
    done: str
    template: Template
    #: Of the current version; for "used" those that the task was given.
    learnings: Annotated[
        tuple[LearningState, ...], Keys("id learning.key learning.type learning.content status verdict")
    ]
    #: The task that it was put into the scope of.
    task: OrNull = ""
    #: Learnings of the version that have no line in the log, or no longer stand.
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateList:
    """The templates of a project, those that served best first."""

    templates: tuple[Template, ...] = field(default=())


def list_templates(state: LogState, *, task_types: Sequence[str] = (), deprecated: bool = False) -> TemplateList:
    """Return the templates for any of `task_types`, or for all."""
    wanted_types = {_fold_type(type) for type in task_types}
    matching = (
        template
        for template in templates.replay_templates(state.events_named(*templates.EVENT_NAMES)).values()
        if (deprecated or not template.is_deprecated)
        and (not wanted_types or wanted_types & set(map(_fold_type, template.current.task_types)))
    )
    return TemplateList(templates=tuple(templates.sort_by_success(matching)))


def show_template(state: LogState, name: str) -> TemplateShown:
    """Return the template called `name`, deprecated or not."""
    return _show_result(state, _get_template(state, name, deprecated=True), "shown")


def create_template(log: Log, scope: TemplateScope, hand: Author) -> TemplateShown:
    """Create a template from a task's verified learnings, from named ones, or from both.

    Raises:
        UsageError: it can't be made so. NotFound, Ambiguous: no such learning, or several.
        DiskError: nothing was written. NotDurable: it was, and the disk would not promise to keep it.
    """
    _check_texts(scope)
    if not scope.task_types:
        raise UsageError("a template of what for?", hint="say the kind of task with --task-type T")

    def plan_creation(state: LogState) -> dict[str, object]:
        existing = templates.replay_templates(state.events_named(*templates.EVENT_NAMES)).get(scope.name)
        if existing and not existing.is_deprecated:
            raise UsageError(
                f"there is a template {one_line(scope.name)} already",
                hint=f"`roamkb template update {one_line(scope.name)}` makes its next version",
            )
        ids = _learning_ids(log, state, scope)
        if not ids:
            raise UsageError("a template of what?", hint="give --from-task ID, or --learning KEY (again for more)")
        return _event_fields(templates.CREATE_ACTION, scope, existing, ids)

    return _write_event(log, scope.name, hand, plan_creation, "created")


def update_template(log: Log, scope: TemplateScope, hand: Author) -> TemplateShown:
    """Write the next version of a template; options not given stay. Raises as `create_template`.

    Raises as `create_template`.
    """
    _check_texts(scope)
    if not (scope.task_types or scope.from_task or scope.learnings):
        raise UsageError("update what?", hint="give --task-type T, --from-task ID, or --learning KEY")

    def plan_update(state: LogState) -> dict[str, object]:
        return _event_fields(
            templates.UPDATE_ACTION, scope, _get_template(state, scope.name), _learning_ids(log, state, scope)
        )

    return _write_event(log, scope.name, hand, plan_update, "updated")


def deprecate_template(log: Log, scope: TemplateScope, hand: Author) -> TemplateShown:
    """Deprecate a template; its versions stay, and its name is free again."""

    def plan_deprecation(state: LogState) -> dict[str, object]:
        template = _get_template(state, scope.name)
        fields: dict[str, object] = {
            "action": templates.DEPRECATE_ACTION,
            "template": template.name,
            "version": template.current.version,
        }
        return fields | ({"reason": scope.reason} if scope.reason else {})

    return _write_event(log, scope.name, hand, plan_deprecation, "deprecated")


def use_template(log: Log, name: str, hand: Author, *, task: str) -> TemplateShown:
    """Put a template's usable learnings into the scope of `task`; a second call changes nothing.

    Raises:
        NotFound: no such template in use. UsageError: nothing of it stands.
    """
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        template = _get_template(state, name)
        usable_standings = templates.usable_learnings(state, template.current.learnings)
        if not usable_standings:
            raise UsageError(
                f"nothing of template {one_line(name)} stands any more",
                hint=f"give it other learnings: `roamkb template update {one_line(name)} --learning KEY`",
            )
        if not (task in template.tasks and all(task in standing.tasks for standing in usable_standings)):
            event = EventFactory(hand, after=contents.last_event, command="template").new_event(
                templates.TASK_EVENT,
                "",
                task=task,
                template=template.name,
                version=template.current.version,
                learnings=[standing.id for standing in usable_standings],
            )
            log.append_entries(events=[event])
            state = contents.plus_lines(events=[event]).replay_state()
            template = _get_template(state, name)
    left_out = len(set(template.current.learnings) - {standing.id for standing in usable_standings})
    return TemplateShown(
        done="used", template=template, learnings=tuple(usable_standings), task=task, left_out=left_out
    )


#: What writes a template's next event, by the word for it.
WRITING_ACTIONS: Final[Mapping[str, Callable[[Log, TemplateScope, Author], TemplateShown]]] = {
    "create": create_template,
    "update": update_template,
    "deprecate": deprecate_template,
}


def _write_event(
    log: Log, name: str, hand: Author, plan: Callable[[LogState], dict[str, object]], action: str
) -> TemplateShown:
    """Append the event that `plan` makes from the present log, and return the resulting template."""
    with log.append_lock():
        contents = log.read_contents()
        fields = plan(contents.replay_state())
        stamps = EventFactory(hand, after=contents.last_event, command="template")
        event: LedgerEvent = stamps.new_event(templates.TEMPLATED_EVENT, "", task="", **fields)
        log.append_entries(events=[event])
    state = contents.plus_lines(events=[event]).replay_state()
    return _show_result(state, _get_template(state, name, deprecated=True), action)


def _show_result(state: LogState, template: Template, action: str) -> TemplateShown:
    ids = template.current.learnings
    standings = templates.existing_learnings(state, ids)
    return TemplateShown(done=action, template=template, learnings=tuple(standings), left_out=len(ids) - len(standings))


def _event_fields(
    action: str, scope: TemplateScope, existing: Template | None, ids: Sequence[str]
) -> dict[str, object]:
    all_fields: dict[str, object] = {
        "task_types": list(scope.task_types),
        "learnings": list(ids),
        "from_task": scope.from_task,
        "reason": scope.reason,
    }
    version = existing.current.version + 1 if existing else 1
    given_fields = {key: value for key, value in all_fields.items() if value}
    return {"action": action, "template": scope.name, "version": version, **given_fields}


def _learning_ids(log: Log, state: LogState, scope: TemplateScope) -> list[str]:
    """Return the ids of the learnings in `scope`."""
    ids = [standing.id for standing in _proven_learnings(state, scope.from_task)] if scope.from_task else []
    for name in scope.learnings:
        standing = get_learning(log, state, name)
        if standing.status == SUPERSEDED or standing.verdict == "invalidated":
            raise UsageError(
                f"{one_line(standing.learning.key)} doesn't stand any more",
                hint="leave it out, or name what replaced it",
            )
        if standing.verdict != VERIFIED:
            raise UsageError(
                f"{one_line(standing.learning.key)} is {standing.verdict}",
                hint=f"`roamkb verify {one_line(standing.learning.key)}` first",
            )
        ids.append(standing.id)
    return list(dict.fromkeys(ids))


def _proven_learnings(state: LogState, task: str) -> list[LearningState]:
    if templates.last_outcome(state.events_named(templates.TASK_EVENT), task) is False:
        raise UsageError(f"task {one_line(task)} failed", hint="make a template of a task that went well")
    standings = templates.proven_learnings(state, task)
    if not standings:
        raise NotFound(
            task,
            kind="verified learning of task",
            hint="verify what it taught first, or name learnings with --learning KEY",
        )
    return standings


def _get_template(state: LogState, name: str, *, deprecated: bool = False) -> Template:
    template = templates.replay_templates(state.events_named(*templates.EVENT_NAMES)).get(name)
    if template is None or (template.is_deprecated and not deprecated):
        raise NotFound(name, kind="template in use", hint="`roamkb template list` shows what there is")
    return template


def _check_texts(scope: TemplateScope) -> None:
    """Raise where a text of `scope` can't be stored."""
    if not one_line(scope.name).strip() or len(scope.name) > _MAX_NAME_LENGTH:
        raise UsageError(f"no name of a template: {one_line(scope.name[:_MAX_NAME_LENGTH])}", hint="a word or a few")
    refuse_secrets([scope.name, scope.from_task, scope.reason, *scope.task_types])


def _fold_type(type: str) -> str:
    return type.strip().casefold()
