"""`template`: what a kind of task begins with, made of what earlier ones proved (document 002, stage 6)."""

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
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.text import shown
from roamkb.log.known_learnings import called
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

_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class TemplateRequest:
    """What `template` takes."""

    action: Annotated[str, Argument("create, list, show, use, update or deprecate.", metavar="ACTION")]
    name: str | None = argument("The template's name.", metavar="NAME")
    _: KW_ONLY
    task_types: Sequence[str] = options("--task-type", "A kind of task that it is for.", metavar="T")
    from_task: str | None = option(
        "--from-task", "create, update: of this task's verified learnings.", metavar="ID"
    )
    learnings: Sequence[str] = options(
        "--learning", "create, update: of this learning, by key or id.", metavar="KEY"
    )
    task: str | None = option("--task", "use: the task whose scope it is put into.", metavar="ID")
    reason: str | None = option("--reason", "update, deprecate: why.", metavar="TEXT")
    all: bool = switch("--all", "list: the deprecated as well.")
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateScope:
    """What a template is to be."""

    name: str
    task_types: tuple[str, ...] = ()
    from_task: str = ""
    #: Keys or ids of learnings.
    learnings: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateShown:
    """One template and what it holds, after what was done to it."""

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


def list_templates(
    state: LogState, *, task_types: Sequence[str] = (), deprecated: bool = False
) -> TemplateList:
    """Return the templates for any of `task_types`, or for all."""
    wanted = {_folded(type) for type in task_types}
    found = (
        one
        for one in templates.templates(state.named(*templates.NAMES)).values()
        if (deprecated or not one.is_deprecated)
        and (not wanted or wanted & set(map(_folded, one.current.task_types)))
    )
    return TemplateList(templates=tuple(templates.best_first(found)))


def show_template(state: LogState, name: str) -> TemplateShown:
    """Return the template called `name`, deprecated or not."""
    return _shown(state, _get(state, name, deprecated=True), "shown")


def create_template(log: Log, wish: TemplateScope, hand: Author) -> TemplateShown:
    """Make a template of a task's verified learnings, of named ones, or of both.

    Raises:
        UsageError: it can't be made so. NotFound, Ambiguous: no such learning, or several.
        DiskError: nothing was written. NotDurable: it was, and the disk would not promise to keep it.
    """
    _check(wish)
    if not wish.task_types:
        raise UsageError("a template of what for?", hint="say the kind of task with --task-type T")

    def plan(state: LogState) -> dict[str, object]:
        known = templates.templates(state.named(*templates.NAMES)).get(wish.name)
        if known and not known.is_deprecated:
            raise UsageError(
                f"there is a template {shown(wish.name)} already",
                hint=f"`roamkb template update {shown(wish.name)}` makes its next version",
            )
        ids = _wanted(log, state, wish)
        if not ids:
            raise UsageError(
                "a template of what?", hint="give --from-task ID, or --learning KEY (again for more)"
            )
        return _fields(templates.CREATE, wish, known, ids)

    return _written(log, wish.name, hand, plan, "created")


def update_template(log: Log, wish: TemplateScope, hand: Author) -> TemplateShown:
    """Make the next version of a template; what `wish` doesn't say stays. Raises as `create_template`."""
    _check(wish)
    if not (wish.task_types or wish.from_task or wish.learnings):
        raise UsageError("update what?", hint="give --task-type T, --from-task ID, or --learning KEY")

    def plan(state: LogState) -> dict[str, object]:
        return _fields(templates.UPDATE, wish, _get(state, wish.name), _wanted(log, state, wish))

    return _written(log, wish.name, hand, plan, "updated")


def deprecate_template(log: Log, wish: TemplateScope, hand: Author) -> TemplateShown:
    """Take a template out of use; its versions stay, and its name is free again."""

    def plan(state: LogState) -> dict[str, object]:
        template = _get(state, wish.name)
        fields: dict[str, object] = {
            "action": templates.DEPRECATE,
            "template": template.name,
            "version": template.current.version,
        }
        return fields | ({"reason": wish.reason} if wish.reason else {})

    return _written(log, wish.name, hand, plan, "deprecated")


def use_template(log: Log, name: str, hand: Author, *, task: str) -> TemplateShown:
    """Put what still stands of a template into the scope of `task`; a second call changes nothing.

    Raises:
        NotFound: no such template in use. UsageError: nothing of it stands.
    """
    with log.locked():
        contents = log.read()
        state = contents.state()
        template = _get(state, name)
        given = templates.usable(state, template.current.learnings)
        if not given:
            raise UsageError(
                f"nothing of template {shown(name)} stands any more",
                hint=f"give it other learnings: `roamkb template update {shown(name)} --learning KEY`",
            )
        if not (task in template.tasks and all(task in one.tasks for one in given)):
            event = EventFactory(hand, after=contents.last_event, by="template").event(
                templates.TASK,
                "",
                task=task,
                template=template.name,
                version=template.current.version,
                learnings=[one.id for one in given],
            )
            log.append(events=[event])
            state = contents.plus(events=[event]).state()
            template = _get(state, name)
    left_out = len(set(template.current.learnings) - {one.id for one in given})
    return TemplateShown(done="used", template=template, learnings=tuple(given), task=task, left_out=left_out)


#: What writes a template's next event, by the word for it.
ACTIONS: Final[Mapping[str, Callable[[Log, TemplateScope, Author], TemplateShown]]] = {
    "create": create_template,
    "update": update_template,
    "deprecate": deprecate_template,
}


def _written(
    log: Log, name: str, hand: Author, plan: Callable[[LogState], dict[str, object]], done: str
) -> TemplateShown:
    """Append the event that `plan` makes of the log as it stands, and return what that gives."""
    with log.locked():
        contents = log.read()
        fields = plan(contents.state())
        stamps = EventFactory(hand, after=contents.last_event, by="template")
        event: LedgerEvent = stamps.event(templates.TEMPLATED, "", task="", **fields)
        log.append(events=[event])
    state = contents.plus(events=[event]).state()
    return _shown(state, _get(state, name, deprecated=True), done)


def _shown(state: LogState, template: Template, done: str) -> TemplateShown:
    ids = template.current.learnings
    found = templates.held(state, ids)
    return TemplateShown(done=done, template=template, learnings=tuple(found), left_out=len(ids) - len(found))


def _fields(
    action: str, wish: TemplateScope, known: Template | None, ids: Sequence[str]
) -> dict[str, object]:
    told: dict[str, object] = {
        "task_types": list(wish.task_types),
        "learnings": list(ids),
        "from_task": wish.from_task,
        "reason": wish.reason,
    }
    version = known.current.version + 1 if known else 1
    kept = {key: value for key, value in told.items() if value}
    return {"action": action, "template": wish.name, "version": version, **kept}


def _wanted(log: Log, state: LogState, wish: TemplateScope) -> list[str]:
    """Return the ids of the learnings that `wish` names."""
    ids = [one.id for one in _proven(state, wish.from_task)] if wish.from_task else []
    for name in wish.learnings:
        one = called(log, state, name)
        if one.status == SUPERSEDED or one.verdict == "invalidated":
            raise UsageError(
                f"{shown(one.learning.key)} doesn't stand any more",
                hint="leave it out, or name what replaced it",
            )
        if one.verdict != VERIFIED:
            raise UsageError(
                f"{shown(one.learning.key)} is {one.verdict}",
                hint=f"`roamkb verify {shown(one.learning.key)}` first",
            )
        ids.append(one.id)
    return list(dict.fromkeys(ids))


def _proven(state: LogState, task: str) -> list[LearningState]:
    if templates.went_well(state.named(templates.TASK), task) is False:
        raise UsageError(f"task {shown(task)} failed", hint="make a template of a task that went well")
    found = templates.proven(state, task)
    if not found:
        raise NotFound(
            task,
            what="verified learning of task",
            hint="verify what it taught first, or name learnings with --learning KEY",
        )
    return found


def _get(state: LogState, name: str, *, deprecated: bool = False) -> Template:
    found = templates.templates(state.named(*templates.NAMES)).get(name)
    if found is None or (found.is_deprecated and not deprecated):
        raise NotFound(name, what="template in use", hint="`roamkb template list` shows what there is")
    return found


def _check(wish: TemplateScope) -> None:
    """Raise where a text of `wish` can't be kept."""
    if not shown(wish.name).strip() or len(wish.name) > _LONGEST_NAME:
        raise UsageError(f"no name of a template: {shown(wish.name[:_LONGEST_NAME])}", hint="a word or a few")
    refuse_secrets([wish.name, wish.from_task, wish.reason, *wish.task_types])


def _folded(type: str) -> str:
    return type.strip().casefold()
