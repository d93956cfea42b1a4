"""What somebody wants to have learned is checked, drafted and signed."""

from dataclasses import replace
from datetime import datetime

import pytest

from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from roamkb.core.model import PROVENANCES
from roamkb.core.model import ProjectKind
from roamkb.log.learning import Learning
from roamkb.log.new_learning import MOST_LEARNING_BYTES
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import check_new_learning
from roamkb.log.new_learning import draft_learning
from roamkb.log.new_learning import word_difference
from roamkb.log.state.replay import replay

NOW = datetime(2026, 6, 10, 12)
HAND = Author(agent="me", session="s", machine="m", kind=ProjectKind.WORK, now=NOW, new_id=lambda: new_id(NOW))


@pytest.mark.parametrize(
    ("size", "fits"), [(MOST_LEARNING_BYTES - 1, True), (MOST_LEARNING_BYTES, True), (MOST_LEARNING_BYTES + 1, False)]
)
def test_a_learning_has_at_most_64_kib(size: int, fits: bool) -> None:
    """In bytes, not letters; more is a document."""
    text = "é" * (size // 2) + "x" * (size % 2)
    if fits:
        check_new_learning(NewLearning(content=text))
    else:
        with pytest.raises(UsageError, match="has at most"):
            check_new_learning(NewLearning(content=text))


@pytest.mark.parametrize(
    ("type", "fits"),
    [("decision", True), ("my own", True), ("x" * 40, True), ("x" * 41, False), ("!", False), ("", False)],
)
def test_a_type_is_one_word(type: str, fits: bool) -> None:
    """Any word of at most forty letters."""
    if fits:
        check_new_learning(NewLearning(content="x", type=type))
    else:
        with pytest.raises(UsageError, match="no type"):
            check_new_learning(NewLearning(content="x", type=type))


def test_a_provenance_is_one_of_four() -> None:
    """Others are a mistake."""
    for one in PROVENANCES:
        check_new_learning(NewLearning(content="x", provenance=one))
    with pytest.raises(UsageError):
        check_new_learning(NewLearning(content="x", provenance="heard"))


def test_a_secret_is_named_by_its_kind_and_start() -> None:
    """Wherever it stands."""
    with pytest.raises(SecretFound) as raised:
        check_new_learning(NewLearning(content="x", tags=("AKIAABCDEFGHIJKLMNOP",)))
    assert "AKIA" in raised.value.message
    assert "AKIAABCDEFGHIJKLMNOP" not in raised.value.message


@pytest.mark.parametrize("provenance", PROVENANCES)
@pytest.mark.parametrize(("said", "is_human", "begins"), [
    (100, False, 90), (91, False, 90), (90, False, 90), (50, False, 50), (100, True, 100), (0, True, 0),
])  # fmt: skip
def test_an_agents_number_is_no_humans(provenance: str, said: int, is_human: bool, begins: int) -> None:
    """Whatever it says it has the fact from: 0.50 to 0.90 by a number; beyond 0.95 a human alone."""
    hand = replace(HAND, is_human=is_human)
    saying = NewLearning(content="x", provenance=provenance, confidence=said)
    learning = draft_learning(saying, hand, replay([], []))
    if is_human and provenance != "user-stated":
        begins = min(max(begins, 10), 95)
    assert (begins, provenance) == (learning.confidence, learning.provenance)


def test_who_names_no_session_is_known_by_the_process() -> None:
    """Only then: a session or a task says more."""
    hand = replace(HAND, session="", process="7.1")
    assert {"process": "7.1", "x": 1} == EventFactory(hand, after="").new_event("repeated", "L", x=1).fields
    assert {} == EventFactory(hand, after="").new_event("repeated", "L", task="t").fields
    assert {} == EventFactory(replace(hand, session="s"), after="").new_event("repeated", "L").fields


def test_a_draft_is_signed_and_tagged() -> None:
    """Type first, then what was given, then what its words name; each once."""
    saying = NewLearning(content="Use OAuth", type="Lesson:", tags=("x", "learned", "auth"), task="t")
    learning = draft_learning(saying, HAND, replay([], []))
    assert ("learned", ("learned", "x", "auth"), "learned-use-oauth") == (
        learning.type,
        learning.tags,
        learning.key,
    )
    assert ("me", "s", "t", "t", ProjectKind.WORK, 70) == (
        learning.agent,
        learning.session,
        learning.task,
        learning.bead,
        learning.kind,
        learning.confidence,
    )
    assert ({"said": "lesson"}, int(NOW.timestamp())) == (learning.extra, learning.ts)
    again = draft_learning(saying, HAND, replay([learning], []))
    assert again.key.startswith("learned-use-oauth-")


def test_stamps_rise_whatever_the_clock_says() -> None:
    """In the order in which they are made, after what was there."""
    later = new_id(datetime(2030, 1, 1))
    stamps = EventFactory(HAND, after=later)
    ids = [stamps.new_event("flagged", "L").id for _ in range(50)]
    assert [later, *ids] == sorted({later, *ids})


def test_a_difference_is_what_only_one_side_has() -> None:
    """Nothing where none differ; the other wording whole."""
    known = Learning(id="L", key="k", type="fact", content="zebras are striped")
    assert {} == word_difference(known, "zebras are striped")
    assert {
        "content": "zebras were striped!",
        "words_added": ["were"],
        "words_missing": ["are"],
    } == word_difference(known, "zebras were striped!")
