"""What became of each learning is the same, in whatever order and however often its lines come."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay

T = TypeVar("T")
NAMES = (
    "repeated reused validated judged raised superseded flagged curated pinned overridden promoted proposed "
    "approved undone task preferred nonsense"
).split()
IDS = st.sampled_from([f"id-{n}" for n in range(6)])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "outcome": st.sampled_from(["success", "failure", "prevented", "?"]),
        "verdict": st.sampled_from(["verified", "invalidated", "maybe"]),
        "to": st.sampled_from(["agent", "project"]),
        "reason": st.sampled_from(["stale", "may_contradict"]),
        "evidence": st.sampled_from(["a", "b"]),
        "status": st.sampled_from(["canonical", "needs_review", "active", "?"]),
        "merged_from": st.lists(IDS, max_size=2),
        "value": st.sampled_from([True, False, 0, 100, 150, -3, "x"]),
        "cleared": st.booleans(),
        "node": IDS,
        "preference": st.sampled_from(["prefers", "none"]),
        "learnings": st.lists(IDS, max_size=2),
        "files": st.lists(st.sampled_from(["a.py", "b.py"]), max_size=2),
        "tags": st.sampled_from(["x", ["y", "x"], 7]),
        "actions": st.lists(st.sampled_from(["UPDATE", 3]), max_size=2),
    },
)
LEARNINGS = st.builds(
    Learning,
    id=IDS,
    key=IDS,
    type=st.sampled_from(["fact", "learned"]),
    content=st.sampled_from(["one", "two", "three"]),
    ts=st.integers(0, 9),
    confidence=st.none() | st.integers(0, 100),
    agent=st.sampled_from(["", "a"]),
    session=st.sampled_from(["", "s"]),
)
EVENTS = st.builds(
    LedgerEvent,
    id=st.sampled_from([f"event-{n}" for n in range(12)]),
    ts=st.integers(0, 9).map(float),
    event=st.sampled_from(NAMES),
    of=IDS | st.sampled_from([f"event-{n}" for n in range(12)]),
    agent=st.sampled_from(["", "a", "b"]),
    session=st.sampled_from(["", "s"]),
    task=st.sampled_from(["", "t"]),
    by=st.sampled_from(["learn", "consolidate"]),
    fields=FIELDS,
)


@given(
    said=st.lists(LEARNINGS, max_size=8),
    archived=st.lists(LEARNINGS, max_size=4),
    events=st.lists(EVENTS, max_size=14),
    as_of=st.none() | st.integers(0, 9),
    data=st.data(),
)
def test_order_and_doubling_change_nothing(
    said: list[Learning],
    archived: list[Learning],
    events: list[LedgerEvent],
    as_of: int | None,
    data: st.DataObject,
) -> None:
    """Any permutation of the same lines, each once or several times."""

    def shuffled(lines: list[T]) -> list[T]:
        more = data.draw(st.lists(st.sampled_from(lines), max_size=5)) if lines else []
        return data.draw(st.permutations(lines + more))

    once = replay(said, events, archived=archived, as_of=as_of)
    again = replay(shuffled(said), shuffled(events), archived=shuffled(archived), as_of=as_of)
    assert once == again
    assert list(once.standings) == list(again.standings)


@given(said=st.lists(LEARNINGS, max_size=8), archived=st.lists(LEARNINGS, max_size=4))
def test_no_line_is_lost(said: list[Learning], archived: list[Learning]) -> None:
    """Whatever ids the lines have, all that was said is there, and archived only where it is nowhere else."""
    state = replay(said, [], archived=archived)
    told = {(one.type, one.content) for one in said}
    assert told | {(one.type, one.content) for one in archived} == {
        (one.learning.type, one.learning.content) for one in state.standings.values()
    }
    assert told <= {
        (one.learning.type, one.learning.content) for one in state.standings.values() if not one.is_archived
    }


@given(said=st.lists(LEARNINGS, max_size=6), events=st.lists(EVENTS, max_size=12), at=st.integers(0, 9))
def test_as_of_is_what_the_lines_of_then_give(said: list[Learning], events: list[LedgerEvent], at: int) -> None:
    """What came later has no part in it."""
    then = replay([one for one in said if one.ts <= at], [event for event in events if event.ts <= at])
    assert then == replay(said, events, as_of=at)


@given(
    said=st.lists(LEARNINGS, max_size=6),
    events=st.lists(EVENTS, max_size=12, unique_by=lambda event: event.id),
    archived=st.lists(LEARNINGS, max_size=2),
    at=st.integers(0, 6),
    cut=st.integers(0, 12),
)
def test_what_was_added_since_gives_the_state_of_all_lines(
    said: list[Learning], events: list[LedgerEvent], archived: list[Learning], at: int, cut: int
) -> None:
    """Or nothing, where all of them have to be read; and the state before stays what it was."""
    events.sort(key=lambda event: event.id)
    before = replay(said[:at], events[:cut], archived=archived)
    whole = replay(said, events, archived=archived)
    then = advance_state(before, said[at:], events[cut:])
    if then is not None:
        assert (whole, whole.reach, list(whole.standings)) == (then, then.reach, list(then.standings))
    assert before == replay(said[:at], events[:cut], archived=archived)


def test_later_lines_are_added_to_what_the_earlier_ones_gave() -> None:
    """The usual case isn't one for a replay."""
    first, second = learning(ts=1), learning(id="L2", ts=2)
    done = [LedgerEvent(id=f"e{n}", ts=n, event="repeated", of=f"L{n or ''}", agent="b") for n in (0, 2)]
    before = replay([first], done[:1])
    after = advance_state(before, [second], done[1:])
    assert replay([first, second], done) == after
    assert [2, 2] == [one.occurrences for one in after.standings.values()]
    assert advance_state(before, [], [LedgerEvent(id="e1", ts=0, event="undone", of="e0")]) is None
    assert advance_state(before, [], done[:1]) is None
    assert advance_state(before, [first], []) is None


def test_what_a_slower_clock_took_back_counts_in_neither_way_of_reading() -> None:
    """Its undoing was read first: the line that comes after it isn't merely added."""
    undone = LedgerEvent(id="e1", ts=1, event="undone", of="e2")
    late = LedgerEvent(id="e2", ts=2, event="repeated", of="L", agent="b")
    before = replay([learning(ts=1)], [undone])
    assert 1 == replay([learning(ts=1)], [undone, late]).standings["L"].occurrences
    assert advance_state(before, [], [late]) is None


@given(said=st.lists(LEARNINGS, max_size=4), events=st.lists(EVENTS, max_size=12), pick=st.integers(0, 11))
def test_an_undone_event_never_was(said: list[Learning], events: list[LedgerEvent], pick: int) -> None:
    """And an undoing that was undone wasn't either."""
    events = [event for event in {event.id: event for event in events}.values() if event.event != "undone"]
    if not events:
        return
    victim = events[pick % len(events)]
    others = [event for event in events if event is not victim]
    undo = LedgerEvent(id="event-x", ts=0, event="undone", of=victim.id)
    redo = LedgerEvent(id="event-y", ts=0, event="undone", of=undo.id)
    assert replay(said, others).standings == replay(said, [*events, undo]).standings
    assert replay(said, events).standings == replay(said, [*events, undo, redo]).standings
    undo_redo = LedgerEvent(id="event-z", ts=0, event="undone", of=redo.id)
    assert replay(said, others).standings == replay(said, [*events, undo, redo, undo_redo]).standings


def learning(**changes: object) -> Learning:
    """Return a learning of the agent `me` in session `s`, of confidence 70."""
    plain = Learning(id="L", key="k", type="fact", content="x", ts=100, agent="me", session="s", confidence=70)
    return replace(plain, **changes)  # type: ignore[arg-type]


def happened(*told: dict[str, object], to: Learning | None = None) -> LearningState:
    """Return what the events make of a learning, in their order."""
    common = ("by", "agent", "session", "task", "ts")
    events = [
        LedgerEvent(
            id=f"e{n:03}",
            of="L",
            event=str(one["event"]),
            **{"ts": 200.0, **{key: one[key] for key in common if key in one}},  # type: ignore[arg-type]
            fields={key: value for key, value in one.items() if key not in (*common, "event")},
        )
        for n, one in enumerate(told)
    ]
    return replay([to or learning()], events).standings["L"]


def event(name: str, **told: object) -> dict[str, object]:
    """Return what `happened` takes."""
    return {"event": name, **told}


def repeats(*sources: tuple[str, str, str]) -> LearningState:
    """Return what repetitions by (agent, session, task) make of it."""
    return happened(*(event("repeated", agent=a, session=s, task=t) for a, s, t in sources))


@pytest.mark.parametrize(
    ("sources", "confidence"),
    [
        ([("me", "s", "")], 70),
        ([("me", "s", "other task")], 70),
        ([("me", "s2", "")], 75),
        ([("you", "s", "")], 75),
        ([("you", "s", ""), ("you", "s", "")], 75),
        ([("you", "s", ""), ("you", "s2", "")], 80),
        ([("you", "", "t"), ("you", "", "t")], 75),
        ([("you", "", "t"), ("you", "", "t2")], 80),
        # a call that says neither session nor task is its own source
        ([("me", "", ""), ("me", "", "")], 80),
        ([(str(n), "s", "") for n in range(9)], 95),
    ],
)
def test_a_repetition_counts_once_a_source(sources: Sequence[tuple[str, str, str]], confidence: int) -> None:
    """An agent in a session, else in a task; every repetition is an occurrence."""
    standing = repeats(*sources)
    assert (confidence, 1 + len(sources)) == (standing.confidence, standing.occurrences)


def test_one_agent_in_a_loop_is_one_source() -> None:
    """By the process that it runs in, where it names no session; nothing passes 0.95 in any case."""

    def loop(**fields: object) -> int:
        return happened(*[event("repeated", agent="you", **fields)] * 100).confidence

    assert 75 == loop(process="7.1")
    assert 95 == loop()
    both = [event("repeated", agent="you", process=name) for name in ("7.1", "8.1")]
    assert 80 == happened(*both).confidence


def test_a_repetition_in_consolidation_is_worth_ten() -> None:
    """And five by `learn`."""
    assert 80 == happened(event("repeated", by="consolidate", session="2")).confidence


@pytest.mark.parametrize(("outcome", "confidence"), [("success", 75), ("failure", 60), ("prevented", 85), ("?", 70)])
def test_a_reuse_moves_it_once_a_source(outcome: str, confidence: int) -> None:
    """The figures count each."""
    standing = happened(*[event("reused", outcome=outcome, agent="a", session="2", ts=300.0)] * 2)
    assert (confidence, {outcome: 2}, 300.0) == (standing.confidence, standing.outcomes, standing.last_used)


def test_another_agent_validates_once() -> None:
    """Not the one who said it, in whatever session."""
    assert 70 == happened(event("validated", agent="me", session="2")).confidence
    both = happened(event("validated", agent="you", session="1"), event("validated", agent="you", session="2"))
    assert 80 == both.confidence


def test_one_process_validates_once_whatever_it_calls_itself() -> None:
    """Not what it learned itself, where neither names a session."""
    told = [event("validated", agent=agent, process="7.1") for agent in ("a", "b")]
    assert 80 == happened(*told).confidence
    assert 70 == happened(*told, to=learning(session="", extra={"process": "7.1"})).confidence


def test_superseding_costs_twenty_once() -> None:
    """Its successor and the reason are kept."""
    standing = happened(event("superseded", by_which="M", reason="rewritten"), event("superseded"))
    assert (50, "superseded", "M", "rewritten") == (
        standing.confidence,
        standing.status,
        standing.superseded_by,
        standing.review_reason,
    )


def test_what_a_human_said_it_is_worth_stays() -> None:
    """No event moves it, and time doesn't."""
    standing = happened(
        event("overridden", value=100),
        event("reused", outcome="failure"),
        event("superseded"),
        event("repeated", session="2"),
        event("validated", agent="you"),
    )
    assert 100 == standing.confidence == standing.rank_confidence(1e9)


@pytest.mark.parametrize(("value", "confidence"), [(0, 0), (100, 100), (101, 100), (-1, 0), ("x", 70), (True, 70)])
def test_an_override_is_whole_hundredths(value: object, confidence: int) -> None:
    """Within 0 and 100; anything else is ignored."""
    assert confidence == happened(event("overridden", value=value)).confidence


def test_time_lowers_rank_alone() -> None:
    """By a hundredth in thirty days since the last use, unless pinned."""
    day = 86400.0
    standing = happened(event("reused", outcome="?", ts=100 + 10 * day))
    assert 70 == standing.confidence == standing.rank_confidence(100 + 39 * day)
    assert 69 == standing.rank_confidence(100 + 40 * day)
    assert 70 == happened(event("pinned")).rank_confidence(100 + 400 * day)
    assert 57 == happened(event("pinned"), event("pinned", value=False)).rank_confidence(100 + 400 * day)


def test_flags_come_and_go() -> None:
    """By their reasons."""
    flagged = event("flagged", reason="stale", evidence="a.py is gone")
    assert {"stale": "a.py is gone"} == happened(flagged).flags
    assert {} == happened(flagged, event("flagged", reason="stale", cleared=True)).flags


def test_what_a_review_and_a_judge_say() -> None:
    """Unknown words change nothing."""
    standing = happened(
        event("curated", status="canonical", merged_from=["a", "b"], review_reason="best"),
        event("curated", status="nonsense", merged_from=["b", "c"]),
        event("judged", verdict="verified"),
        event("judged", verdict="perhaps"),
        event("raised", to="task"),
        event("promoted", node="N"),
    )
    assert ("canonical", ("a", "b", "c"), "best") == (
        standing.status,
        standing.merged_from,
        standing.review_reason,
    )
    assert ("verified", "task", "N") == (standing.verdict, standing.scope, standing.node)


def test_what_other_tools_keep_on_the_line_counts() -> None:
    """Their review's outcome, and no status of their own making."""
    line = learning(extra={"status": "canonical", "supersedes": ["a"], "review_reason": "r", "scope": "agent"})
    standing = happened(to=line)
    assert ("canonical", ("a",), "r", "agent") == (
        standing.status,
        standing.supersedes,
        standing.review_reason,
        standing.scope,
    )
    assert "active" == happened(to=learning(extra={"status": ["x"], "supersedes": "a"})).status


def test_an_edited_line_is_another_learning() -> None:
    """The first in time keeps the id and what happened to it."""
    first, edited = learning(), learning(content="y", ts=101)
    for said in ([first, edited], [edited, first], [edited, first, edited]):
        state = replay(said, [LedgerEvent(id="e", ts=1, event="promoted", of="L", fields={"node": "N"})])
        assert {"L": "x", content_identity("fact", "y"): "y"} == contents(state)
        assert "N" == state.standings["L"].node


def test_what_two_edited_lines_say_alike_is_one_learning() -> None:
    """The fuller of them counts, in whatever order they come."""
    lines = [
        learning(id="A", ts=1),
        learning(id="A", ts=2, content="y"),
        learning(id="B", ts=1, content="z"),
        learning(id="B", ts=3, content="y", task="t"),
    ]
    for said in (lines, lines[::-1]):
        state = replay(said, [])
        assert {"A": "x", "B": "z", content_identity("fact", "y"): "y"} == contents(state)
        assert "t" == state.standings[content_identity("fact", "y")].learning.task


def test_an_edited_line_in_the_archive_is_not_lost() -> None:
    """The archive may have what the log has no more."""
    state = replay([learning()], [], archived=[learning(), learning(content="y", ts=101)])
    assert {"L": False, content_identity("fact", "y"): True} == {
        id: one.is_archived for id, one in state.standings.items()
    }


def contents(state: LogState) -> dict[str, str]:
    """Return what is said by which id."""
    return {id: one.learning.content for id, one in state.standings.items()}


def test_a_name_is_an_id_or_a_key() -> None:
    """The latest of one key first (D4)."""
    state = replay([learning(), learning(id="M", ts=200), learning(id="k2", key="L")], [])
    assert ["M", "L"] == [one.id for one in state.learnings_called("k")]
    assert ["L"] == [one.id for one in state.learnings_called("L")]
    assert [] == state.learnings_called("?")


def test_one_showing_helps_once() -> None:
    """An agent that says twice of one receipt that it helped moves nothing the second time."""
    told = [
        event("reused", outcome="success", receipt="r-1", agent="a", session="s"),
        event("reused", outcome="prevented", receipt="r-1", agent="a", session="t"),
    ]
    assert 75 == happened(*told, to=learning(confidence=70)).confidence


def test_a_repetition_adds_its_files_though_it_has_no_tags() -> None:
    """Any of what it is about, alone."""
    for name in ("files", "tags", "actions"):
        assert ("x",) == getattr(happened(event("repeated", **{name: ["x"]})).learning, name)


def test_each_other_agent_validates_once() -> None:
    """Again counts nothing, and neither does the agent's own word."""
    own, other, third = (event("validated", agent=agent) for agent in ("a", "b", "c"))
    said = learning(agent="a", confidence=50)
    assert [50, 60, 60, 70] == [
        happened(*told, to=said).confidence for told in ([own], [other], [other, other], [other, third])
    ]


def test_an_agent_prefers_until_it_says_otherwise() -> None:
    """Nobody's preference is none."""
    prefers = event("preferred", agent="b", preference="prefers")
    assert {"b"} == happened(prefers).preferred_by
    assert set() == happened(prefers, event("preferred", agent="b", preference="none")).preferred_by
    assert set() == happened(event("preferred", preference="prefers")).preferred_by


def test_only_what_holds_still_can_be_disputed_with() -> None:
    """Neither a replaced learning, nor one that isn't there."""
    told = {"of": "L", "ts": 1.0, "fields": {"reason": "may_contradict", "evidence": "M"}}
    flagged = LedgerEvent(id="event-1", event="flagged", **told)  # type: ignore[arg-type]
    replaced = LedgerEvent(id="event-2", event="superseded", of="M", ts=2.0)
    both = [learning(), learning(id="M", ts=200)]
    for said, events, is_disputed in (
        (both, [flagged], True),
        (both[:1], [flagged], False),
        (both, [flagged, replaced], False),
    ):
        state = replay(said, events)
        assert is_disputed == state.is_disputed(state.standings["L"])
