"""What one agent prefers comes first for it, and for nobody else."""

import pytest

from roamkb.context.brief import WorkAtHand
from roamkb.context.brief import fitting_learnings
from roamkb.core.errors import NotFound
from roamkb.log.recall import RecallResult
from roamkb.tasks.signature import TaskRecord
from tests.conftest import NOON
from tests.conftest import World


@pytest.fixture
def log(world: World) -> World:
    """Two patterns of equal worth, the second said later."""
    world.open().log.init()
    world.open().log.learn("Routes answer errors as JSON objects", type="pattern", files=["api/*.py"])
    world.open().log.learn("Routes answer errors as problem documents", type="pattern", files=["api/*.py"])
    return world


def keys(world: World, agent: str, *, as_of: str | None = None) -> list[str]:
    """Return what a recall shows an agent, the best first."""
    found = world.open().log.recall("routes answer errors", agent=agent, as_of=as_of)
    assert isinstance(found, RecallResult)
    return [one.standing.learning.key for one in found.learnings]


def test_it_applies_to_the_agent_alone_and_only_as_long_as_it_wants(log: World) -> None:
    """In a recall and in what is relevant to a task; saying it twice writes nothing."""
    others = keys(log, "qa_agent")
    last = others[-1]
    assert log.open().log.prefer(last, agent="build_agent").is_new
    assert not log.open().log.prefer(last, agent="build_agent").is_new
    assert last == keys(log, "build_agent")[0]
    assert others == keys(log, "qa_agent")
    for agent, is_first in (("build_agent", True), ("qa_agent", False)):
        relevant = log.open().log.relevant(title="routes", files=["api/users.py"], agent=agent).learnings
        told = [f"preferred by {agent}" in one.why for one in relevant]
        assert [is_first, False] == told
    assert log.open().log.prefer(last, agent="build_agent", off=True).is_new
    assert others == keys(log, "build_agent")


def test_its_life_tells_it_and_the_day_before_it_wasn_t_so(log: World) -> None:
    """By `explain`; and a look back sees what there was then."""
    last = keys(log, "a")[-1]
    told = log.run("prefer", last, "--agent", "a", "--json").json["learning"]
    assert isinstance(told, dict)
    assert ["a"] == told["preferred_by"]
    said = log.run("explain", last).out
    assert "preferred by prefer a: no effect" in said
    assert any(line.endswith(", preferred by a") for line in said.splitlines() if line.startswith("now "))
    day = NOON.date().isoformat()
    # what was preferred by a clock of today isn't on the day of the learnings
    assert last == keys(log, "a")[0] != keys(log, "a", as_of=day)[0]


def test_a_subagent_s_brief_has_it_first(log: World) -> None:
    """Of what fits the work as well as that."""
    contents = log.open().log
    last = keys(log, "a")[-1]
    contents.prefer(last, agent="a")
    state = log.log().read_contents().replay_state()
    finder = contents.learning_index(log.log(), state)
    work = WorkAtHand(task=TaskRecord(id="", files=("api/users.py",)))
    found = fitting_learnings(state, finder, work, least_confidence=0, now=NOON.timestamp(), agent="a")
    assert last == found[0].standing.learning.key


def test_nobody_prefers_what_isn_t_there(log: World) -> None:
    """A preference is one for a learning."""
    with pytest.raises(NotFound):
        log.open().log.prefer("tabs", agent="a")
