"""Templates: the learnings that a kind of task begins with, made from what earlier ones proved.

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
from roamkb.core.wilson_score import lower_bound
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState

TEMPLATED: Final = "templated"
TASK: Final = "task"
#: What `templates` goes by.
NAMES: Final = (TEMPLATED, TASK)
CREATE: Final = "create"
UPDATE: Final = "update"
DEPRECATE: Final = "deprecate"

_SUCCESS: Final = frozenset({"success", "done"})
_FAILURE: Final = frozenset({"failure", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """What a template held from one change to the next."""

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
    """A template, all its versions, and how the tasks went that used it; only `templates` changes it."""

    JSON = (
        "name current.version current.task_types current.learnings is_deprecated uses successes "
        "failures lower_bound"
    )
    name: str
    #: The oldest first; at least one.
    versions: list[TemplateVersion] = field(default_factory=list)
    is_deprecated: bool = False
    #: Tasks that used it, and how each went: True, False, or None where nobody said.
    tasks: dict[str, bool | None] = field(default_factory=dict)

    @property
    def current(self) -> TemplateVersion:
        """The version that counts."""
        return self.versions[-1]

    @property
    def uses(self) -> int:
        """How many tasks used it."""
        return len(self.tasks)

    @property
    def successes(self) -> int:
        """How many of the tasks went well."""
        return sum(went is True for went in self.tasks.values())

    @property
    def failures(self) -> int:
        """How many of them didn't."""
        return sum(went is False for went in self.tasks.values())

    @property
    def lower_bound(self) -> Share:
        """Wilson's lower bound of its share of successes, by which templates are ordered."""
        return lower_bound(self.successes, self.successes + self.failures)


def templates(events: Iterable[LedgerEvent]) -> Mapping[str, Template]:
    """Return the templates that `events`, in order, made, by their names; the deprecated ones too."""
    found: dict[str, Template] = {}
    used: dict[str, set[str]] = {}
    for event in events:
        if event.event == TEMPLATED:
            _change(found, event)
        elif event.event == TASK and event.task:
            name = event.text("template")
            if name in found:
                found[name].tasks.setdefault(event.task, None)
                used.setdefault(event.task, set()).add(name)
            went = outcome(event)
            for one in used.get(event.task, ()) if went is not None else ():
                found[one].tasks[event.task] = went
    return found


def _change(found: dict[str, Template], event: LedgerEvent) -> None:
    name, action = event.text("template"), event.text("action")
    template = found.get(name)
    if not name or action not in (CREATE, UPDATE, DEPRECATE) or (template is None and action == DEPRECATE):
        return
    if action == DEPRECATE:
        found[name].is_deprecated = True
        return
    before = template.current if template else None
    version = TemplateVersion(
        version=before.version + 1 if before else 1,
        task_types=event.texts("task_types") or (before.task_types if before else ()),
        learnings=event.texts("learnings") or (before.learnings if before else ()),
        ts=event.ts,
        agent=event.agent,
        from_task=event.text("from_task"),
        reason=event.text("reason"),
    )
    template = found.setdefault(name, Template(name=name))
    template.versions.append(version)
    template.is_deprecated = False


def outcome(event: LedgerEvent) -> bool | None:
    """Return whether a `task` event says that its task went well; None where it doesn't say."""
    said = event.text("outcome")
    return True if said in _SUCCESS else False if said in _FAILURE else None


def went_well(events: Iterable[LedgerEvent], task: str) -> bool | None:
    """Return how `task` went by the last event that says so; None where none does."""
    last = None
    for event in events:
        if event.event == TASK and event.task == task and (went := outcome(event)) is not None:
            last = went
    return last


def best_first(found: Iterable[Template]) -> list[Template]:
    """Return templates by how well their tasks went; of equals the latest made first."""
    return sorted(
        found, key=lambda one: (one.lower_bound, one.successes, one.current.ts, one.name), reverse=True
    )


def proven(state: LogState, task: str) -> list[LearningState]:
    """Return the verified learnings of `task`, in the order in which they were said."""
    return [
        one
        for one in state.standings.values()
        if task in (one.learning.task, one.learning.bead)
        and one.verdict == "verified"
        and one.status != SUPERSEDED
    ]


def held(state: LogState, ids: Sequence[str]) -> list[LearningState]:
    """Return the learnings with those ids that are still there."""
    return [state.standings[id] for id in ids if id in state.standings]


def usable(state: LogState, ids: Sequence[str]) -> list[LearningState]:
    """Return what of a template still stands: what replaced a learning stands for it, the invalidated go."""
    found: dict[str, LearningState] = {}
    for id in ids:
        seen = set()
        while (one := state.standings.get(id)) and one.status == SUPERSEDED and id not in seen:
            seen.add(id)
            id = one.superseded_by
        if one and one.status != SUPERSEDED and one.verdict != "invalidated":
            found[one.id] = one
    return list(found.values())
