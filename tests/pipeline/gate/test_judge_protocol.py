"""What a judge is shown, and what its answer amounts to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.pipeline.gate.judge_protocol import JUDGE_BATCH_SIZE
from roamkb.pipeline.gate.judge_protocol import VETOES
from roamkb.pipeline.gate.judge_protocol import JudgedItem
from roamkb.pipeline.gate.judge_protocol import apply_vetoes
from roamkb.pipeline.gate.judge_protocol import judge_question
from roamkb.pipeline.gate.judge_protocol import parse_judgements
from roamkb.pipeline.gate.judge_protocol import telling_lines

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.floats() | st.sampled_from([*sorted(VETOES), "0.5", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["items", "number", "accuracy", "relevance", "specificity", "vetoes"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@given(st.dictionaries(st.sampled_from(["items", "accuracy"]), ANY), st.integers(1, 3))
def test_of_any_answer_each_item_is_judged_or_in_trouble(answer: dict[str, object], count: int) -> None:
    """Never both, never neither, and never an exception."""
    found = parse_judgements(answer, count)
    assert count == len(found)
    for one in found:
        assert (one.scores is None) is bool(one.trouble)
        assert set(one.vetoes) <= VETOES
        assert not (one.trouble and one.vetoes)


@given(st.permutations(range(1, 6)))
def test_the_order_of_an_answer_changes_nothing(order: list[int]) -> None:
    """The number says which item is meant."""
    told = [{"number": n, "accuracy": n / 10, "relevance": 0.5, "specificity": 0.5, "vetoes": []} for n in order]
    found = parse_judgements({"items": told}, 5)
    assert [0.1, 0.2, 0.3, 0.4, 0.5] == [float(one.scores.accuracy) for one in found if one.scores]


@pytest.mark.parametrize("verdict", ["verified", "unverified", "invalidated"])
@pytest.mark.parametrize("vetoes", [(), ("refuted",), ("passing",), ("secret",), ("refuted", "instruction")])
def test_no_veto_ever_helps(verdict: str, vetoes: tuple[str, ...]) -> None:
    """It leaves a verdict as it was, or makes it worse."""
    order = ["verified", "unverified", "invalidated"]
    assert order.index(apply_vetoes(verdict, vetoes)) >= order.index(verdict)
    assert (verdict == "verified" and not vetoes) is (apply_vetoes(verdict, vetoes) == "verified")


def test_a_question_stays_small_whatever_it_is_made_of() -> None:
    """A small model reads it, and a large one isn't paid for more than it needs."""
    item = JudgedItem(
        claim="x" * 10_000,
        type="fact",
        files=tuple(f"f{n}" for n in range(100)),
        quote="q" * 10_000,
        turn="t" * 100_000,
        file_lines=tuple("l" * 300 for _ in range(1_000)),
        nearest=tuple("n" * 9_000 for _ in range(50)),
    )
    assert len(json.dumps(judge_question([item] * JUDGE_BATCH_SIZE))) < JUDGE_BATCH_SIZE * 7_000


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The retries end after FOO_LIMIT of them", "foo_limit = 3"),
        ("Größe der Tabelle ist begrenzt", "# die größe"),
        ("請求書番号は毎年一から始まる", "# 請求書番号"),
    ],
)
def test_the_lines_that_tell_are_those_with_the_rarest_words(claim: str, line: str) -> None:
    """In any script, with their neighbours and their numbers."""
    lines = [f"the = of_{n}" for n in range(500)]
    lines[321] = line
    found = list(telling_lines("\n".join(lines), claim, path="a.py", most=9))
    assert ["a.py:321: the = of_320", f"a.py:322: {line}", "a.py:323: the = of_322"] == found[:3]
    assert len(found) <= 9


def test_a_file_without_the_words_is_shown_by_its_beginning() -> None:
    """It may say what it is."""
    found = list(telling_lines("\n".join(map(str, range(99))), "Nothing of it", path="a", most=3))
    assert ["a:1: 0", "a:2: 1", "a:3: 2"] == found


def test_a_question_has_just_so_much_of_each_part() -> None:
    """As many files, and as much of the quote, as its limits say; lines as long as they fit, each with its end."""
    item = JudgedItem(
        claim="x",
        type="fact",
        files=tuple(f"f{n}" for n in range(20)),
        quote="q" * 301,
        turn="",
        file_lines=("l" * 799, "m" * 799, "n"),
        nearest=("z" * 301,),
    )
    text = json.dumps(judge_question([item]), ensure_ascii=False)
    assert all((letter * 299 + "…" in text, letter * 300 in text) == (True, False) for letter in "qz")
    assert ('"f7"' in text, '"f8"' in text) == (True, False)
    assert ("m" * 799 in text, '"n"' in text) == (True, False)
