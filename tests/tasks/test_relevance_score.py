"""What helps with a task, and why."""

import pytest

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LearningState
from roamkb.tasks.relevance_score import RelevantLearning
from roamkb.tasks.relevance_score import matched_file
from roamkb.tasks.relevance_score import rank_relevant
from roamkb.tasks.relevance_score import score_relevance
from roamkb.tasks.signature import TaskRecord


@pytest.mark.parametrize(
    ("pattern", "file", "meets"),
    [
        ("*.ts", "src/auth/login.ts", True),
        ("src/**/auth.*", "src/web/auth.py", True),
        ("src/**/auth.*", "src/web/authors.py", False),
        ("database/", "database/001.sql", True),
        ("database/", "database/*.sql", True),
        ("*.ts", "src/**/*.ts", True),
        ("src/auth/login.ts", "src/auth/", True),
        ("ts", "src/notes.txt", False),
        ("*", "anything.py", True),
        ("*.ts", "src/auth/login.tsx", False),
    ],
)
def test_patterns_meet_as_gitignore_has_it(pattern: str, file: str, meets: bool) -> None:
    """A plain word is a name, no part of one; and a pattern may meet a pattern."""
    assert (file if meets else "") == matched_file((pattern,), (file,))


def standing(**changes: object) -> LearningState:
    """A learning that says nothing beside what is given."""
    told: dict[str, object] = {"id": "i", "key": "k", "type": "gotcha", "content": "Something else entirely"}
    return LearningState(learning=Learning(**(told | changes)), confidence=70)  # type: ignore[arg-type]


TASK = TaskRecord(id="t-2", title="Fix the login", category="security", files=("src/auth/login.ts",))


@pytest.mark.parametrize(
    ("learning", "actions", "words", "why"),
    [
        ({"files": ("src/auth/*.ts",)}, (), 0.0, ("file src/auth/login.ts",)),
        ({}, (), 0.9, ("words",)),
        ({"task": "t-1"}, (), 0.0, ("learned in t-1",)),
        ({"actions": ("update",)}, ("UPDATE",), 0.0, ("action update",)),
        ({"files": ("*.ts",), "task": "t-1"}, (), 0.0, ("file src/auth/login.ts", "learned in t-1")),
    ],
)
def test_each_reason_is_named(
    learning: dict[str, object], actions: tuple[str, ...], words: float, why: tuple[str, ...]
) -> None:
    """The weightiest first."""
    found = score_relevance(standing(**learning), TASK, actions=actions, words=words, seen_tasks={"t-1": 0.9})
    assert found is not None
    assert why == found.why


def test_nothing_speaks_for_most() -> None:
    """A category alone is no reason."""
    assert score_relevance(standing(category="security"), TASK, actions=(), words=0.0, seen_tasks={}) is None


def test_trust_orders_equals_and_what_is_gone_is_left_out() -> None:
    """A better reason still beats more trust."""
    sure, unsure = standing(id="sure"), standing(id="unsure")
    sure.confidence, unsure.confidence = 90, 50
    replaced, wrong = standing(id="replaced"), standing(id="wrong")
    replaced.status, wrong.verdict = "superseded", "invalidated"
    close = standing(id="close")
    close.confidence = 50
    found = [
        RelevantLearning(standing=one, relevance=0.9 if one is close else 0.4, why=())
        for one in (unsure, replaced, sure, wrong, close)
    ]
    assert ["close", "sure", "unsure"] == [one.standing.id for one in rank_relevant(found, 0.0)]
