"""Which learnings answer, and in which order."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.learning import Learning
from roamkb.log.recall_ranking import RecalledLearning
from roamkb.log.recall_ranking import RecallFilter
from roamkb.log.recall_ranking import best_recalled
from roamkb.log.recall_ranking import collapse_repetitions
from roamkb.log.recall_ranking import rank_recalled
from roamkb.log.recall_ranking import weighted_score
from roamkb.log.state.learning_state import LearningState

NOW = 1e9


def found(
    content: str = "x", *, score: float = 1.0, ts: float = NOW, id: str = "", **about: object
) -> RecalledLearning:
    """Return a learning that answers."""
    learning = Learning(id=id or content, key="k", type=str(about.pop("type", "fact")), content=content, ts=ts)
    doubts: dict[str, str] = about.pop("doubts", {})  # type: ignore[assignment]
    standing = LearningState(learning=learning, last_used=ts, **{"confidence": 70, **about})  # type: ignore[arg-type]
    return RecalledLearning(standing=standing, score=score, doubts=doubts)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (found("a"), found("b", score=0.9)),
        (found("a", score=0.9, status="canonical"), found("b")),
        (found("a", ts=2.0, is_pinned=True), found("b", ts=1.0, is_pinned=True)),
        (found("a", confidence=95), found("b", confidence=50)),
        (found("a", confidence=50), found("b", confidence=95, score=0.8)),
        (found("a"), found("b", doubts={"stale": ""})),
        (found("a", doubts={"stale": ""}), found("b", doubts={"stale": "", "noise": ""})),
        (found("a"), found("b", status="needs_review")),
        (found("a", score=0.01), found("b", status="superseded", confidence=95)),
        (found("a", score=0.01, doubts={"stale": "", "noise": ""}), found("b", status="superseded")),
        # unused for ten years
        (found("a"), found("b", ts=NOW - 3650 * 86400)),
        (found("a", ts=NOW - 3650 * 86400, is_pinned=True), found("b", ts=NOW - 3000 * 86400)),
    ],
)
def test_the_better_comes_first(better: RecalledLearning, worse: RecalledLearning) -> None:
    """In whatever order they were found."""
    assert [better, worse] == rank_recalled([worse, better], NOW) == rank_recalled([better, worse], NOW)


@given(
    said=st.lists(
        st.tuples(
            st.sampled_from([1.0, 0.8, 0.64, 0.5]),
            st.sampled_from(["active", "superseded", "canonical"]),
            st.integers(0, 3),
        ),
        max_size=8,
    ),
    count=st.integers(0, 9),
)
def test_doubts_are_looked_into_only_as_far_as_they_decide(said: list[tuple[float, str, int]], count: int) -> None:
    """The first are those of the whole in its order."""
    all = [found(f"{n}", score=score, status=status) for n, (score, status, _) in enumerate(said)]
    doubts = {f"{n}": dict.fromkeys("abc"[:number], "") for n, (_, _, number) in enumerate(said)}
    looked_at = []

    def doubted(one: RecalledLearning) -> RecalledLearning:
        looked_at.append(one)
        return replace(one, doubts=doubts[one.standing.id])

    whole = rank_recalled([doubted(one) for one in all], NOW)
    looked_at.clear()
    assert whole[:count] == best_recalled(all, count, NOW, with_doubts=doubted)
    assert len(looked_at) <= len(all)


def test_nobody_asked_for_words_weighs_nothing() -> None:
    """Then the latest comes first."""
    one, other = found("a", score=0, ts=1), found("b", score=0, ts=2)
    assert 0 == weighted_score(one, NOW)
    assert [other, one] == rank_recalled([one, other], NOW)


def test_repetitions_collapse_to_the_latest() -> None:
    """Case, blanks and punctuation don't count, and the archive's are no worse."""
    early, late = found("Zebras are striped", ts=1), found("zebras  are STRIPED.", ts=2)
    assert [late] == collapse_repetitions([early, late]) == collapse_repetitions([late, early])
    reviewed = found("Zebras: are striped", ts=0, status="canonical")
    assert [reviewed] == collapse_repetitions([early, reviewed, late])
    replaced = found("zebras are striped!!", ts=9, status="superseded")
    assert [late] == collapse_repetitions([replaced, early, late])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x == 1", "x != 1"),
        ("C++ is slow", "C# is slow"),
        ("a < b", "a > b"),
        ("use -x", "use x"),
        ("👍", "👎"),
    ],
)
def test_what_differs_in_signs_alone_stays_apart(one: str, other: str) -> None:
    """It may claim the contrary."""
    assert 2 == len(collapse_repetitions([found(one), found(other)]))


def test_types_stay_apart() -> None:
    """A decision isn't a fact in the same words; a lesson is what was learned."""
    assert 2 == len(collapse_repetitions([found("x", type="fact", id="1"), found("x", type="decision", id="2")]))
    assert 1 == len(collapse_repetitions([found("x", type="lesson", id="1"), found("x", type="LEARNED", id="2")]))


@pytest.mark.parametrize(("least", "is_in"), [(69, True), (70, True), (71, False)])
def test_the_least_confidence_is_inclusive(least: int, is_in: bool) -> None:
    """Of what events gave, without decay."""
    assert is_in == RecallFilter(least_confidence=least).is_match(found(ts=0).standing)


def test_what_a_curator_archived_is_left_out_unless_wanted() -> None:
    """What rotation moved is not."""
    assert RecallFilter().is_match(found(is_archived=True).standing)
    old = found(status="archived").standing
    assert (False, True) == (RecallFilter().is_match(old), RecallFilter(archived=True).is_match(old))
