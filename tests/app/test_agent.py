"""An agent in Python: one call writes to the log and to what its session observed."""

import pytest

from roamkb import Agent
from roamkb import UsageError
from roamkb.core.errors import NoLog
from roamkb.log.store.observations import read_observations
from tests.conftest import World


@pytest.fixture
def log(world: World) -> World:
    """A project with a log."""
    world.open().log.init()
    return world


def test_what_it_learns_is_known_and_was_observed(log: World) -> None:
    """Signed by the agent in both; and no stage makes a second learning of it."""
    agent = Agent("build_agent", kb=log.open())
    learned = agent.learn("Zebras are striped", type="fact", task="t-1", files=["zoo/*.py"])
    assert ("new", ()) == (learned.outcome, learned.warnings)
    assert ("build_agent", agent.session, "t-1") == (
        learned.learning.agent,
        learned.learning.session,
        learned.learning.task,
    )
    [observed] = read_observations(log.log().ignored, agent.session)
    assert ("Zebras are striped", "build_agent", "t-1") == (observed.text, observed.agent, observed.task)
    [done] = log.open().log.consolidate("session")
    assert (1, 0, 0) == (done.processed, done.created, done.repeated)
    standing = log.open().log.explain(learned.learning.id).standing
    assert (1, 70) == (standing.occurrences, standing.confidence)


def test_what_it_repeats_counts_once_in_its_session(log: World) -> None:
    """And another of that name is another session."""
    agent = Agent("build_agent", kb=log.open())
    for _ in range(3):
        agent.learn("Zebras are striped", type="fact")
    other = Agent("build_agent", kb=log.open()).learn("Zebras are striped", type="fact")
    assert (75, 4) == (other.confidence, other.occurrences)
    named = Agent("build_agent", session="s-1", kb=log.open())
    assert "s-1" == named.session


def test_it_prefers_for_itself_alone(log: World) -> None:
    """What it learned as well."""
    agent = Agent("build_agent", kb=log.open())
    learned = agent.learn("Routes answer errors as JSON objects", type="pattern")
    assert {"build_agent"} == agent.prefer(learned.learning.key).standing.preferred_by
    assert set() == agent.prefer(learned.learning.key, off=True).standing.preferred_by


def test_what_is_not_learned_is_not_observed(log: World, world: World) -> None:
    """Without a log, or without anything to learn."""
    agent = Agent("build_agent", session="s-1", kb=log.open())
    with pytest.raises(UsageError):
        agent.learn("  ")
    assert [] == read_observations(log.log().ignored, "s-1")
    with pytest.raises(NoLog):
        Agent("a", kb=world.open(world.unknown)).learn("Zebras are striped")


def test_a_learning_is_safe_where_nothing_can_be_observed(log: World) -> None:
    """It says so."""
    log.log().observations.write_bytes(b"")
    learned = Agent("build_agent", kb=log.open()).learn("Zebras are striped")
    assert "new" == learned.outcome
    assert learned.warnings
    assert "not observed" in learned.warnings[0]
