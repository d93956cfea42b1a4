"""Templates by replay: versions, names, outcomes, and what of them still stands."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.sharing.template_model import Template
from roamkb.sharing.template_model import last_outcome
from roamkb.sharing.template_model import proven_learnings
from roamkb.sharing.template_model import replay_templates
from roamkb.sharing.template_model import sort_by_success
from roamkb.sharing.template_model import usable_learnings
from tests.examples import examples

_numbers = count(1)


def event(name: str, of: str = "", *, task: str = "", **fields: object) -> LedgerEvent:
    """An event later than all before it."""
    number = next(_numbers)
    return LedgerEvent(id=f"{number:012}", ts=float(number), event=name, of=of, task=task, fields=fields)


def templated(name: str, action: str = "create", **fields: Any) -> LedgerEvent:
    """A change of the template called `name`."""
    return event("templated", action=action, template=name, **fields)


def used(name: str, task: str, went: str = "") -> list[LedgerEvent]:
    """A task that used the template, and how it went."""
    events = [event("task", task=task, template=name, version=1, learnings=["a"])]
    return events + ([event("task", task=task, outcome=went)] if went else [])


def made(*events: LedgerEvent | Sequence[LedgerEvent]) -> dict[str, Template]:
    """The templates of a ledger."""
    flat: list[LedgerEvent] = []
    for one in events:
        flat += [one] if isinstance(one, LedgerEvent) else one
    return dict(replay_templates(replay([], flat).events))


def test_an_update_is_a_version_and_what_it_does_not_say_stays() -> None:
    """The older one is kept."""
    found = made(
        templated("auth", task_types=["login"], learnings=["a", "b"]),
        templated("auth", "update", learnings=["c"], reason="new"),
    )["auth"]
    assert [(1, ("a", "b")), (2, ("c",))] == [(one.version, one.learnings) for one in found.versions]
    assert (("login",), "new") == (found.current.task_types, found.current.reason)


def test_two_machines_that_make_one_name_give_two_versions() -> None:
    """Whichever way git joins their lines."""
    one = templated("auth", task_types=["x"], learnings=["a"], version=1)
    other = templated("auth", task_types=["x"], learnings=["b"], version=1)
    for order in ((one, other), (other, one), (other, one, other)):
        assert [("a",), ("b",)] == [version.learnings for version in made(*order)["auth"].versions]


def test_a_deprecated_name_is_free_again_and_counts_on() -> None:
    """Its versions stay to be seen."""
    gone = made(templated("auth", learnings=["a"]), templated("auth", "deprecate"))["auth"]
    assert gone.is_deprecated
    again = made(
        templated("auth", learnings=["a"]), templated("auth", "deprecate"), templated("auth", learnings=["b"])
    )["auth"]
    assert (False, 2) == (again.is_deprecated, again.current.version)


@pytest.mark.parametrize(
    "strange",
    [
        templated("", learnings=["a"]),
        templated("auth", "deprecate"),
        templated("auth", "explode"),
        event("templated", action=["create"], template=7, learnings={"a": 1}),
        event("task", template="auth"),
        event("task", task="t", outcome="success"),
    ],
)
def test_what_makes_no_sense_makes_no_template(strange: LedgerEvent) -> None:
    """Nor an error: the ledger is read from anybody's repository."""
    assert {} == made(strange)


def test_the_last_word_on_a_task_counts_once() -> None:
    """However often it was tried or told."""
    found = made(
        templated("auth", learnings=["a"]),
        used("auth", "t1", "failed"),
        event("task", task="t1", outcome="done"),
        used("auth", "t2", "failure"),
        used("auth", "t3"),
        event("task", task="elsewhere", outcome="success"),
    )["auth"]
    assert (1, 1, {"t1": True, "t2": False, "t3": None}) == (found.successes, found.failures, found.tasks)


def test_an_outcome_may_name_the_template_itself() -> None:
    """One event for both."""
    found = made(templated("auth", learnings=["a"]), event("task", task="t", template="auth", outcome="success"))
    assert 1 == found["auth"].successes


def test_what_served_often_comes_before_what_served_once() -> None:
    """By Wilson's lower bound; the untried come last, the latest first."""
    found = made(
        *(templated(name, learnings=["a"]) for name in ("once", "often", "never", "newest")),
        used("once", "t0", "done"),
        *(used("often", f"o{number}", "done") for number in range(9)),
        used("often", "o9", "failed"),
    )
    assert ["often", "once", "newest", "never"] == [one.name for one in sort_by_success(found.values())]


def test_how_a_task_went() -> None:
    """By its last word, of nobody else's."""
    events = [event("task", task="t", outcome="done"), event("task", task="t", outcome="failed")]
    assert (None, True, False) == tuple(last_outcome(events[:cut], "t") for cut in range(3))
    assert last_outcome(events, "other") is None


def learning(id: str, task: str = "t") -> Learning:
    """A learning of a task."""
    return Learning(id=id, key=id, type="fact", content=id, ts=1, task=task)


def test_only_what_is_verified_and_stands_is_proven() -> None:
    """By task or bead."""
    said = [*map(learning, "abcd"), learning("e", task="other")]
    events = [event("judged", id, verdict="verified") for id in "abce"]
    events += [event("judged", "b", verdict="invalidated"), event("superseded", "c", by_which="d")]
    assert ["a"] == [one.id for one in proven_learnings(replay(said, events), "t")]


def test_what_replaced_a_learning_stands_for_it() -> None:
    """Through several, in a circle too; what was invalidated or lost is left out."""
    events = [event("superseded", "a", by_which="b"), event("superseded", "b", by_which="c")]
    events += [event("superseded", "x", by_which="y"), event("superseded", "y", by_which="x")]
    events += [event("judged", "d", verdict="invalidated")]
    state = replay(map(learning, "abcdexy"), events)
    assert ["c", "e"] == [one.id for one in usable_learnings(state, ["a", "c", "d", "e", "x", "lost"])]


def test_a_used_template_puts_its_learnings_into_the_tasks_scope() -> None:
    """By replay; a learning that isn't there is nobody's."""
    state = replay(map(learning, "ab"), [event("task", task="new", template="t", learnings=["a", "lost"])])
    assert ({"new"}, set()) == (state.standings["a"].tasks, state.standings["b"].tasks)


_EVENTS = [
    *(templated(name, action, learnings=[name]) for name in "ab" for action in ("create", "update", "deprecate")),
    *used("a", "t1", "done"),
    *used("b", "t2", "failed"),
]


@settings(max_examples=examples(50))
@given(st.permutations(_EVENTS * 2))
def test_any_order_and_doubling_gives_the_same(events: list[LedgerEvent]) -> None:
    """As every fold of the ledger."""
    assert made(*_EVENTS) == made(*events)
