"""What fixed an error, by how often it worked; the same on every machine."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.ids import derived_id
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.log.state.wilson_score import wilson_lower_bound
from roamkb.remedies.effectiveness import ATTEMPTED
from roamkb.remedies.effectiveness import CurrentError
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyAttempt
from roamkb.remedies.effectiveness import RemedyTier
from roamkb.remedies.effectiveness import event_fields_of
from roamkb.remedies.effectiveness import find_same_technique
from roamkb.remedies.effectiveness import is_pattern_match
from roamkb.remedies.effectiveness import parse_attempts
from roamkb.remedies.effectiveness import rank_remedies
from roamkb.remedies.effectiveness import remedies_by_error
from roamkb.remedies.fingerprint import fingerprint

LOCKED = "sqlite3.OperationalError: database is locked"
TABLE = "sqlite3.OperationalError: no such table: users"


def attempt(number: int, technique: str, outcome: str = "", *, error: str = LOCKED, **fields: object) -> RemedyAttempt:
    """Return one attempt, made `number` seconds after 1970."""
    made = RemedyAttempt(
        id=f"00000000-0000-7000-8000-{number:012x}",
        ts=number,
        error=fingerprint(error),
        technique=technique,
        outcome=outcome,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def event(made: RemedyAttempt, **fields: object) -> LedgerEvent:
    """Return the line of the ledger that tells of an attempt."""
    return LedgerEvent(id=made.id, ts=made.ts, event=ATTEMPTED, fields={**event_fields_of(made), **fields})


def asked(known: Sequence[RemedyAttempt], error: str = LOCKED, **fields: object) -> list[Remedy]:
    """Return what is known against an error, through the ledger and back."""
    state = replay([], [event(made) for made in known])
    trouble = CurrentError(error=fingerprint(error), lines=error.splitlines(), **fields)  # type: ignore[arg-type]
    return rank_remedies(parse_attempts(state.events), trouble)


def named(found: Sequence[Remedy]) -> list[str]:
    """Return the techniques in their order."""
    return [one.technique for one in found]


def test_an_attempt_is_what_its_event_says() -> None:
    """Every field of it."""
    made = attempt(
        7,
        "Set a busy timeout",
        "success",
        error="KeyError: 'a'\nThe above\nOSError: disk /x",
        steps=("one", "two"),
        context={"agent": "build", "category": "db", "file_type": "py"},
        pattern="*locked*",
    )
    (read,) = parse_attempts([replace(event(made), agent="build", task="t1")])
    assert replace(made, agent="build", task="t1") == read
    assert 1 == len(read.error.others)


def test_what_says_too_little_is_no_attempt() -> None:
    """Other tools' events, and those of later versions, are passed over or read as far as they go."""
    made = attempt(1, "x", "success")
    assert [] == parse_attempts([replace(event(made), event="reused")])
    assert [] == parse_attempts([event(made, technique=" ")])
    assert [] == parse_attempts([event(made, fingerprint=None)])
    (read,) = parse_attempts([event(made, outcome="perhaps", steps="one", context=["db"], others=7)])
    assert ("", ("one",), {}, ()) == (read.outcome, read.steps, read.context, read.error.others)


def test_figures() -> None:
    """Partial counts as neither, a proposal not at all."""
    outcomes = ["success", "partial", "failure", "", "success", "success"]
    (found,) = asked([attempt(n, "Set a busy timeout", outcome) for n, outcome in enumerate(outcomes)])
    assert (3, 1, 1) == (found.successes, found.failures, found.partial)
    assert 0.75 == found.rate
    assert wilson_lower_bound(3, 4) == found.lower_bound == pytest.approx(0.3006, abs=1e-4)
    assert 5 == found.last_used
    assert found.is_tried


def test_what_nobody_tried_has_no_rate() -> None:
    """Unlike what failed always."""
    (found,) = asked([attempt(1, "Set a busy timeout")])
    assert (None, 0.0, None, False) == (found.rate, found.lower_bound, found.last_used, found.is_tried)
    (failed,) = asked([attempt(1, "Set a busy timeout", "failure")])
    assert (0.0, 0.0, 1, True) == (failed.rate, failed.lower_bound, failed.last_used, failed.is_tried)
    (partial,) = asked([attempt(1, "Set a busy timeout", "partial")])
    assert (None, 0.0, 1, True) == (partial.rate, partial.lower_bound, partial.last_used, partial.is_tried)


@pytest.mark.parametrize(
    ("outcomes", "row", "is_withdrawn"),
    [
        ("fff", 3, True),
        ("ff", 2, False),
        ("fffs", 0, False),
        ("sssfff", 3, True),
        ("ffsf", 1, False),
        ("fpff", 3, True),
        ("ff-f", 3, True),
        ("s", 0, False),
        ("-", 0, False),
        ("ppp", 0, False),
        ("ffff", 4, True),
    ],
)
def test_three_failures_in_a_row_are_enough(outcomes: str, row: int, is_withdrawn: bool) -> None:
    """What worked in between begins the count anew; a part and a proposal don't."""
    words = {"f": "failure", "s": "success", "p": "partial", "-": ""}
    (found,) = asked([attempt(n, "Restart it", words[one]) for n, one in enumerate(outcomes)])
    assert (row, is_withdrawn) == (found.failed_in_a_row, found.is_withdrawn)


def test_the_order() -> None:
    """What worked by Wilson's bound, then the untried, then what failed, then what is withdrawn."""
    known = [
        attempt(1, "Worked once of once", "success"),
        *(attempt(10 + n, "Worked mostly", "failure" if n == 3 else "success") for n in range(20)),
        attempt(40, "Worked once of twice", "success"),
        attempt(41, "Worked once of twice", "failure"),
        attempt(50, "Nobody looked at this"),
        attempt(60, "Failed once", "failure"),
        attempt(61, "Made matters worse", "failure"),
        attempt(62, "Made matters worse", "failure"),
        *(attempt(70 + n, "Hopeless", "failure") for n in range(3)),
    ]
    expected = "Worked mostly, Worked once of once, Worked once of twice, Nobody looked at this, Failed once, "
    assert (expected + "Made matters worse, Hopeless").split(", ") == named(asked(known))


def test_what_worked_long_ago_and_fails_now_comes_last() -> None:
    """Three failures in a row outweigh any number of successes before; a part is more than nothing."""
    known = [
        *(attempt(n, "Worked for years", "success") for n in range(9)),
        *(attempt(20 + n, "Worked for years", "failure") for n in range(3)),
        attempt(30, "Helped a little", "partial"),
        attempt(31, "Nobody looked at this"),
        attempt(32, "Failed once", "failure"),
    ]
    assert ["Helped a little", "Nobody looked at this", "Failed once", "Worked for years"] == named(asked(known))


def test_of_similar_errors_the_nearer_comes_first() -> None:
    """However often the other's remedy worked."""
    error = "could not open the lock file of the job queue"
    known = [
        *(attempt(n, "Wait a minute", "success", error=f"{error} today") for n in range(9)),
        attempt(20, "Remove the file", "success", error=f"LockError: {error}"),
    ]
    found = asked(known, error)
    assert ["Remove the file", "Wait a minute"] == named(found)
    assert [RemedyTier.SIMILAR, RemedyTier.SIMILAR] == [one.tier for one in found]
    assert found[0].nearness > found[1].nearness


def test_of_equals_the_context_decides_and_then_the_latest() -> None:
    """A context never outweighs what worked better."""
    old = attempt(1, "Vacuum the file", "success", context={"category": "db", "file_type": "py"})
    new = attempt(2, "Set a busy timeout", "success", context={"category": "web"})
    assert ["Set a busy timeout", "Vacuum the file"] == named(asked([old, new]))
    assert ["Vacuum the file", "Set a busy timeout"] == named(asked([old, new], context={"category": "db"}))
    better = [new, attempt(3, "Set a busy timeout", "success", context={"category": "web"})]
    found = asked([old, *better], context={"category": "db"})
    assert ["Set a busy timeout", "Vacuum the file"] == named(found)


def test_of_equals_the_error_to_the_letter_comes_first() -> None:
    """One fingerprint stands for every module that isn't there."""
    yaml = attempt(1, "pip install pyyaml", "success", error="ModuleNotFoundError: No module named 'yaml'")
    image = attempt(2, "pip install pillow", "success", error="ModuleNotFoundError: No module named 'PIL'")
    assert ["pip install pyyaml", "pip install pillow"] == named(
        asked([yaml, image], "ModuleNotFoundError: No module named 'yaml'")
    )


def test_the_same_error_comes_first_then_patterns_then_what_is_like_it() -> None:
    """However well the others worked; and each says why it is there."""
    known = [
        *(attempt(n, "For one in nearly the same words", "success", error="no such table: orders") for n in range(9)),
        *(attempt(20 + n, "By its pattern", "success", error="ValueError: x", pattern="no such table") for n in range(9)),
        *(attempt(40 + n, "Met together", "success", error="IndexError: list index out of range") for n in range(9)),
        attempt(60, "For this very error", "success", error=TABLE),
        attempt(61, "For another error", "success", error="sqlite3.OperationalError: no such column: id"),
    ]  # fmt: skip
    found = asked(known, f"IndexError: list index out of range\n\n{TABLE}")
    assert [
        ("For this very error", RemedyTier.SAME),
        ("By its pattern", RemedyTier.PATTERN),
        ("Met together", RemedyTier.TOLD),
        ("For one in nearly the same words", RemedyTier.SIMILAR),
    ] == [(one.technique, one.tier) for one in found]


def test_a_technique_counts_what_it_did_for_the_nearest_error() -> None:
    """What it did for others isn't added; a proposal doesn't hide that it worked elsewhere."""
    known = [
        attempt(1, "Run the migrations", "failure", error="no such table: orders"),
        attempt(2, "Run the migrations", "success", error=TABLE),
    ]
    (found,) = asked(known, TABLE)
    assert (RemedyTier.SAME, 1, 0) == (found.tier, found.successes, found.failures)
    (found,) = asked([known[0], replace(known[1], outcome="")], TABLE)
    assert (RemedyTier.SIMILAR, 0, 1) == (found.tier, found.successes, found.failures)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Set a busy timeout", "set a busy  timeout.", True),
        ("Raise the busy timeout of each connection", "Raise the busy timeouts of each connection", True),
        (
            "Set a busy timeout on every connection of the pool",
            "Set a busy timeout on every connection of the pool first",
            True,
        ),
        ("Set busy_timeout to 5000", "Set busy_timeout to 30000", False),
        ("Enable WAL mode", "Disable WAL mode", False),
        ("pip install pyyaml", "pip install pillow", False),
        ("Restart the worker", "Don't restart the worker", False),
        ("Restart the worker", "Delete the journal", False),
    ],
)
def test_one_technique_in_other_words(one: str, other: str, is_same: bool) -> None:
    """Nearly the same words are one technique only where they ask for the same."""
    assert is_same == bool(find_same_technique(one, asked([attempt(1, other)])))
    for first, then in ((one, other), (other, one)):
        found = asked([attempt(1, first, "success"), attempt(2, then, "failure")])
        assert (1 if is_same else 2) == len(found)


def test_the_latest_steps_are_shown_in_their_order() -> None:
    """An attempt without steps doesn't take them away."""
    known = [
        attempt(1, "Set a busy timeout", "success", steps=("b", "a")),
        attempt(2, "Set a busy timeout", "success", steps=("z", "a", "m", "a")),
        attempt(3, "Set a busy timeout", "success"),
    ]
    (found,) = asked(known)
    assert ("z", "a", "m", "a") == found.steps


@pytest.mark.parametrize(
    ("pattern", "is_one"),
    [
        ("is locked", True),
        ("IS LOCKED", True),
        ("locked?", False),
        ("*database is ?ocked*", True),
        ("database*", False),
        ("*[Errno 5]*", True),
        ("[Errno 5] database", True),
        ("*[Errno 56]*", False),
        ("second*", True),
        ("locked*second", False),
        ("", False),
        (" ", False),
    ],
)
def test_patterns(pattern: str, is_one: bool) -> None:
    """A part of a line, or a glob over a whole one; brackets are themselves and case doesn't count."""
    assert is_one == is_pattern_match(pattern, ["sqlite: [Errno 5] database is locked (5)", "  second line"])


def test_a_regular_expression_is_asked_of_who_can_run_it() -> None:
    """Once for each; where nobody can, it means no error."""
    known = [attempt(n, "Wait", "success", error="ValueError: x", regex="lock(ed)?") for n in range(3)]
    tried: list[str] = []

    def matches(regex: str) -> bool:
        tried.append(regex)
        return True

    assert [RemedyTier.PATTERN] == [one.tier for one in asked(known, matches_regex=matches)]
    assert ["lock(ed)?"] == tried
    assert [] == asked(known)


def test_errors_are_listed_the_latest_first() -> None:
    """Each with its own techniques alone."""
    known = [
        attempt(1, "Run the migrations", "success", error=TABLE),
        attempt(2, "Set a busy timeout", "success"),
        attempt(3, "Set a busy timeout", "failure"),
    ]
    found = remedies_by_error(known)
    assert [fingerprint(LOCKED), fingerprint(TABLE)] == [error for error, _ in found]
    assert [["Set a busy timeout"], ["Run the migrations"]] == [named(one) for _, one in found]
    assert [] == remedies_by_error([])


def test_an_attempt_that_was_taken_back_counts_nowhere() -> None:
    """By the event that undoes it, which may itself be undone."""
    made = [attempt(1, "Set a busy timeout", "success"), attempt(2, "Set a busy timeout", "failure")]
    back = LedgerEvent(id=derived_id("z")[:-1] + "1", ts=3, event="undone", of=made[1].id)
    state = replay([], [*map(event, made), back])
    (found,) = rank_remedies(parse_attempts(state.events), CurrentError(error=fingerprint(LOCKED)))
    assert (1, 0) == (found.successes, found.failures)


_TECHNIQUES = (
    "Set a busy timeout",
    "set a busy timeout!",
    "Enable WAL mode",
    "Disable WAL mode",
    "Restart it",
)
_MADE = st.lists(
    st.tuples(
        st.sampled_from(_TECHNIQUES),
        st.sampled_from(("success", "failure", "partial", "")),
        st.sampled_from((LOCKED, "database is locked", TABLE, "KeyError: 'a'")),
        st.booleans(),
    ),
    max_size=14,
)


@given(_MADE, st.randoms(use_true_random=False), st.integers(0, 14))
def test_machines_agree_whatever_the_order_of_the_lines(
    made: list[tuple[str, str, str, bool]], shuffled: random.Random, cut: int
) -> None:
    """Any order, doubling or union merge of the same events gives the same remedies."""
    events: list[LedgerEvent] = []
    for n, (technique, outcome, error, is_undone) in enumerate(made, start=1):
        one = attempt(2 * n, technique, outcome, error=error)
        events.append(event(one))
        if is_undone:
            id = f"00000000-0000-7000-8000-{2 * n + 1:012x}"
            events.append(LedgerEvent(id=id, ts=2 * n + 1, event="undone", of=one.id))
    merged = [*events[:cut], *events, *events[cut:]]
    shuffled.shuffle(merged)
    trouble = CurrentError(error=fingerprint(LOCKED))
    expected = rank_remedies(parse_attempts(replay([], events).events), trouble)
    found = rank_remedies(parse_attempts(replay([], merged).events), trouble)
    assert expected == found
    assert remedies_by_error(parse_attempts(replay([], events).events)) == remedies_by_error(
        parse_attempts(replay([], merged).events)
    )
