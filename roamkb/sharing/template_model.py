"""Templates: the learnings that a kind of task begins with, made from proven earlier ones.

They are events of the ledger, so that they travel with git and replay like everything else:

`templated`   action (create, update or deprecate), template (its name), version, task_types, learnings
              (ids), from_task, reason. `version` is what the writer saw; what counts is the order of the
              events, so that two machines' versions merged by git become two versions.
`task`        task, template, version, learnings: the template was put into a task's scope. A later `task`
              event with the same task and an `outcome` says how that went.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Share
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.timestamps import Time
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.wilson_score import wilson_lower_bound

TEMPLATED_EVENT: Final = "templated"
TASK_EVENT: Final = "task"
#: What `templates` goes by.
EVENT_NAMES: Final = (TEMPLATED_EVENT, TASK_EVENT)
CREATE_ACTION: Final = "create"
UPDATE_ACTION: Final = "update"
DEPRECATE_ACTION: Final = "deprecate"

_SUCCESS_WORDS: Final = frozenset({"success", "done"})
_FAILURE_WORDS: Final = frozenset({"failure", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """The content of a template from one change to the next."""

    #: From 1.
    version: int
    task_types: tuple[str, ...]
    #: The learnings' ids.
    learnings: tuple[str, ...]
    #: The task that it was made from.
    from_task: OrNull = ""
    reason: OrNull = ""
    agent: OrNull = ""
    #: Seconds since 1970.
    ts: Time


@dataclass(slots=True, kw_only=True)
class Template:
    """A template with its versions and its tasks' outcomes; only `replay_templates` changes it."""

    JSON = "name current.version current.task_types current.learnings is_deprecated uses successes failures lower_bound"
    name: str
    #: The oldest first; at least one.
    versions: list[TemplateVersion] = field(default_factory=list)
    is_deprecated: bool = False
    #: Tasks that used it, and how each went: True, False, or None where nobody said.
    tasks: dict[str, bool | None] = field(default_factory=dict)

    @property
    def current(self) -> TemplateVersion:
        """The version in force."""
        return self.versions[-1]

    @property
    def uses(self) -> int:
        """The number of tasks that used it."""
        return len(self.tasks)

    @property
    def successes(self) -> int:
        """The number of its tasks that succeeded."""
        return sum(went is True for went in self.tasks.values())

    @property
    def failures(self) -> int:
        """The number of its tasks that failed."""
        return sum(went is False for went in self.tasks.values())

    @property
    def lower_bound(self) -> Share:
        """Wilson's lower bound of its share of successes, by which templates are ordered."""
        return wilson_lower_bound(self.successes, self.successes + self.failures)


def replay_templates(events: Iterable[LedgerEvent]) -> Mapping[str, Template]:
    """Return the templates that result from `events`, in order, by name; the deprecated ones too."""
    templates_by_name: dict[str, Template] = {}
    templates_by_task: dict[str, set[str]] = {}
    for event in events:
        if event.event == TEMPLATED_EVENT:
            _apply_change(templates_by_name, event)
        elif event.event == TASK_EVENT and event.task:
            name = event.text_field("template")
            if name in templates_by_name:
                templates_by_name[name].tasks.setdefault(event.task, None)
                templates_by_task.setdefault(event.task, set()).add(name)
            is_success = task_outcome(event)
            for template_name in templates_by_task.get(event.task, ()) if is_success is not None else ():
                templates_by_name[template_name].tasks[event.task] = is_success
    return templates_by_name


def _apply_change(templates_by_name: dict[str, Template], event: LedgerEvent) -> None:
    name, action = event.text_field("template"), event.text_field("action")
    template = templates_by_name.get(name)
    if (
        not name
        or action not in (CREATE_ACTION, UPDATE_ACTION, DEPRECATE_ACTION)
        or (template is None and action == DEPRECATE_ACTION)
    ):
        return
    if action == DEPRECATE_ACTION:
        templates_by_name[name].is_deprecated = True
        return
    previous = template.current if template else None
    version = TemplateVersion(
        version=previous.version + 1 if previous else 1,
        task_types=event.text_list_field("task_types") or (previous.task_types if previous else ()),
        learnings=event.text_list_field("learnings") or (previous.learnings if previous else ()),
        ts=event.ts,
        agent=event.agent,
        from_task=event.text_field("from_task"),
        reason=event.text_field("reason"),
    )
    template = templates_by_name.setdefault(name, Template(name=name))
    template.versions.append(version)
    template.is_deprecated = False


def task_outcome(event: LedgerEvent) -> bool | None:
    """Return whether a `task` event records success; None without an outcome."""
    word = event.text_field("outcome")
    return True if word in _SUCCESS_WORDS else False if word in _FAILURE_WORDS else None


def last_outcome(events: Iterable[LedgerEvent], task: str) -> bool | None:
    """Return whether `task` succeeded, by the last event with an outcome; None without one."""
    latest = None
    for event in events:
        if event.event == TASK_EVENT and event.task == task and (is_success := task_outcome(event)) is not None:
            latest = is_success
    return latest


def sort_by_success(unsorted: Iterable[Template]) -> list[Template]:
    """Return templates by their rate of success; of equals the latest made first."""
    return sorted(
        unsorted,
        key=lambda template: (template.lower_bound, template.successes, template.current.ts, template.name),
        reverse=True,
    )


def proven_learnings(state: LogState, task: str) -> list[LearningState]:
    """Return the verified learnings of `task`, in the order of the log."""
    return [
        standing
        for standing in state.standings.values()
        if task in (standing.learning.task, standing.learning.bead)
        and standing.verdict == "verified"
        and standing.status != SUPERSEDED
    ]


def existing_learnings(state: LogState, ids: Sequence[str]) -> list[LearningState]:
    """Return the learnings with those ids that still exist."""
    return [state.standings[id] for id in ids if id in state.standings]


def usable_learnings(state: LogState, ids: Sequence[str]) -> list[LearningState]:
    """Return a template's valid learnings: a replaced one by its successor, without the invalidated."""
    standings: dict[str, LearningState] = {}
    for learning_id in ids:
        seen_ids = set()
        while (
            (standing := state.standings.get(learning_id))
            and standing.status == SUPERSEDED
            and learning_id not in seen_ids
        ):
            seen_ids.add(learning_id)
            learning_id = standing.superseded_by
        if standing and standing.status != SUPERSEDED and standing.verdict != "invalidated":
            standings[standing.id] = standing
    return list(standings.values())
