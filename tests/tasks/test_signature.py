"""Tasks by what they are about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.state.learning_state import LedgerEvent
from roamkb.tasks.signature import TASK_SIMILARITY
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import parse_tasks
from roamkb.tasks.signature import similar_tasks
from roamkb.tasks.signature import task_likeness

FIX = TaskRecord(id="a", title="Fix the OAuth redirect", category="bug_fix", files=("src/auth/*.ts", "lib/x.ts"))


@given(st.permutations(["a.py", "b/*.py", "c/"]), st.permutations(["t-1", "t-2"]))
def test_a_signature_knows_no_order(files: list[str], depends: list[str]) -> None:
    """Nor case, nor punctuation of the title."""
    one = TaskRecord(id="1", title="Fix the build!", files=("a.py", "b/*.py", "c/"), depends=("t-1", "t-2"))
    other = TaskRecord(id="2", title="fix the  build", files=tuple(files), depends=tuple(depends))
    assert one.signature == other.signature
    assert 1.0 == task_likeness(one, other)


@pytest.mark.parametrize(
    "changed",
    [
        TaskRecord(id="b", title="Fix the OAuth logout", category="bug_fix", files=FIX.files),
        TaskRecord(id="b", title=FIX.title, category="feature", files=FIX.files),
        TaskRecord(id="b", title=FIX.title, category=FIX.category, files=("src/auth/*.ts",)),
        TaskRecord(id="b", title=FIX.title, category=FIX.category, files=FIX.files, depends=("a",)),
    ],
)
def test_a_signature_tells_tasks_apart(changed: TaskRecord) -> None:
    """Each of title, category, files and dependencies counts."""
    assert FIX.signature != changed.signature
    assert 0.0 < task_likeness(FIX, changed) <= 1.0


def test_the_likest_come_first_and_strangers_not_at_all() -> None:
    """By words, files and category together."""
    near = TaskRecord(id="near", title="Fix OAuth redirects on mobile", category="bug_fix")
    nearer = TaskRecord(id="nearer", title="Fix the OAuth redirect again", category="bug_fix", files=FIX.files)
    far = TaskRecord(id="far", title="Translate the manual", category="docs", files=("docs/",))
    found = similar_tasks(FIX, {task.id: task for task in (FIX, far, near, nearer)})
    assert ["nearer", "near"] == [task.id for task, _ in found]


WORDS = st.lists(st.sampled_from("fix the oauth redirect logout build on mobile again".split()), max_size=5)
ANY = st.builds(
    TaskRecord,
    id=st.sampled_from("abcdef"),
    title=WORDS.map(" ".join),
    category=st.sampled_from(["", "bug_fix", "Bug_Fix", "docs"]),
    files=st.lists(st.sampled_from(["a.py", "b/*.py", "c/"]), max_size=2).map(tuple),
    depends=st.lists(st.sampled_from(["t-1", "t-2"]), max_size=2).map(tuple),
)


@given(task=ANY, others=st.lists(ANY, max_size=6))
def test_nothing_is_passed_over_that_is_alike(task: TaskRecord, others: list[TaskRecord]) -> None:
    """A look that ends early finds what a whole one does."""
    tasks = {other.id: other for other in others}
    whole = {other.id: task_likeness(task, other) for other in tasks.values() if other.id != task.id}
    found = {other.id: how for other, how in similar_tasks(task, tasks)}
    assert {id: how for id, how in whole.items() if how >= TASK_SIMILARITY} == found


def test_what_happened_to_a_task_is_folded_in_order() -> None:
    """A later word counts; what it leaves out stays."""

    def told(id: str, ts: float, **fields: object) -> LedgerEvent:
        return LedgerEvent(id=id, ts=ts, event="task", task="t-1", fields=fields)

    tasks = parse_tasks(
        [
            told("1", 10, outcome="started", title="Fix it", files=["a.py"]),
            told("2", 20, outcome="nonsense"),
            told("3", 30, outcome="done"),
            LedgerEvent(id="4", ts=40, event="task"),
        ]
    )
    assert ["t-1"] == list(tasks)
    task = tasks["t-1"]
    assert ("Fix it", ("a.py",), "done") == (task.title, task.files, task.outcome)
    assert (10, 30) == (task.started, task.ended)
