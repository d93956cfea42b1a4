"""A week of agents, through every stage: what is worth keeping arrives, and nothing else does.

Smaller than the weeks of `tests/week/run.py`, whose figures are the ones to quote.
"""

import pytest

from tests.week.generator import Week
from tests.week.generator import make_week
from tests.week.generator import transcript_of
from tests.week.run import Outcome
from tests.week.run import matched
from tests.week.run import run


@pytest.fixture(scope="module")
def week() -> Week:
    """A week with all that the big ones have, and less of the work in between."""
    return make_week(1, sessions=20, payloads=900, facts=30)


@pytest.fixture(scope="module")
def outcome(week: Week, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What became of it."""
    return run(week, tmp_path_factory.mktemp("week"))


def test_what_arrives_without_any_ask_was_worth_it(outcome: Outcome) -> None:
    """At least 0.80, and some of it: only what was announced is heard, and what two sessions say passes."""
    assert outcome.precision >= 0.80, outcome.wrong
    assert outcome.recall >= 0.40, outcome.missed


def test_no_credential_is_in_any_file(outcome: Outcome) -> None:
    """Neither log, nor observations, index or knowledge base hold one."""
    assert [] == outcome.leaks


def test_nothing_that_was_injected_arrives(outcome: Outcome) -> None:
    """Whether a page, an issue, a tool or a paste said so."""
    assert [] == outcome.injected


def test_what_was_shown_is_not_learned_again(outcome: Outcome) -> None:
    """An agent that repeats what it was shown confirms nothing."""
    assert [] == outcome.relearned


def test_each_stage_keeps_less(outcome: Outcome) -> None:
    """From payloads to nodes."""
    stages = [outcome.payloads, outcome.statements, outcome.created, outcome.durable, len(outcome.nodes)]
    assert stages == sorted(stages, reverse=True)
    assert outcome.repeated > 0


def test_the_same_seed_gives_the_same_week() -> None:
    """And another one another."""
    one, same, other = make_week(4, payloads=0), make_week(4, payloads=0), make_week(5, payloads=0)
    assert list(map(transcript_of, one.sessions)) == list(map(transcript_of, same.sessions))
    assert [session.steps for session in one.sessions] == [session.steps for session in same.sessions]
    assert one.sessions != other.sessions


def test_a_node_counts_once_for_the_fact_that_it_says(week: Week) -> None:
    """A second node of one fact is wrong, and so is one that says none."""
    fact = week.wanted[0]
    node = f"Title\n{fact.said[0]}"
    assert ([fact.label], [fact.said[0]]) == matched([node, node], week.wanted)
    assert ([], ["Nobody said that"]) == matched(["Title\nNobody said that"], week.wanted)
