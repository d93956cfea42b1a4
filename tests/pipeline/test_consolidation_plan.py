"""From what a session said to learnings, and from many to few."""

from collections.abc import Sequence
from typing import Any

import pytest

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.pipeline.consolidation_plan import KnownLearnings
from roamkb.pipeline.consolidation_plan import SessionPlan
from roamkb.pipeline.consolidation_plan import cluster_duplicates
from roamkb.pipeline.consolidation_plan import is_durable
from roamkb.pipeline.consolidation_plan import learning_category
from roamkb.pipeline.consolidation_plan import plan_session
from roamkb.pipeline.extract.attention import Observation

SAID = "The webhook handler must check the signature against the raw body of each request"


def seen(text: str, *, type: str = "insight", session: str = "s2") -> Observation:
    """Return one observation."""
    return Observation(id="o", ts=1.0, type=type, text=text, session=session, agent="a")


def learning(id: str, content: str, *, type: str = "learned", session: str = "s1", ts: float = 1.0) -> Learning:
    """Return a learning of another session."""
    return Learning(id=id, key=id, type=type, content=content, session=session, agent="a", ts=ts, confidence=70)


def plan_in(state: LogState, said: Sequence[Observation], *, boot: Sequence[str] = (), **more: Any) -> SessionPlan:
    """Return what to do in a log of this state."""
    known = KnownLearnings(boot)
    known.note_state(state)
    known.add_like(state.standings, said)
    return plan_session(said, state, known_learnings=known, **more)


def plan(said: Sequence[Observation], *learnings: Learning, **more: Any) -> SessionPlan:
    """Return what to do in a log with these learnings."""
    return plan_in(replay(learnings, ()), said, **more)


def test_what_is_new_is_created_and_what_merely_happened_is_not() -> None:
    """The attention filter."""
    found = plan([seen(SAID), seen("Bash make check", type="tool_use")])
    assert [SAID] == [one.observation.text for one in found.created]
    assert {"not an insight, a decision or a discovery": 1} == found.dropped
    assert found.processed == 2


def test_a_session_that_repeats_itself_says_nothing_more() -> None:
    """Neither in this run nor in the log."""
    again = SAID.replace("must check", "has to verify")
    assert len(plan([seen(SAID), seen(again)]).created) == 1
    found = plan([seen(again)], learning("l", SAID, session="s2"))
    assert (found.created, found.repeated) == ([], [])
    assert {"this session said so before": 1} == found.dropped


def test_another_session_repeats_what_is_known() -> None:
    """In other words, or in part."""
    for text in (SAID, SAID.replace("must check", "has to verify"), SAID.replace(" of each request", "")):
        assert ["l"] == [id for _, id in plan([seen(text)], learning("l", SAID)).repeated]


def test_nothing_is_repeated_across_types() -> None:
    """A fact isn't a pattern."""
    found = plan([seen(SAID)], learning("l", SAID, type="fact"))
    assert (1, 0) == (len(found.created), len(found.repeated))


def test_a_decision_is_repeated_by_the_same_words_alone() -> None:
    """It's an act of its own day."""
    known = learning("l", "Use Postgres instead of RabbitMQ for the job queue of the site", type="decision")
    exact = plan([seen(known.content.upper(), type="decision")], known)
    alike = plan([seen(known.content + " itself", type="decision")], known)
    assert (1, 0) == (len(exact.repeated), len(exact.created))
    assert (0, 1) == (len(alike.repeated), len(alike.created))


def test_the_limit_is_inclusive() -> None:
    """17 of 20 content words are 0.85 exactly, 16 of 19 are less."""
    words = [f"{letter}{letter}ox" for letter in "bcdfghjklmnpqrstvwxz"]
    known = learning("l", " ".join(words))
    at, below = " ".join([*words[:17]]), " ".join([*words[:16], "yyox"])
    assert 1 == len(plan([seen(at)], known).repeated)
    assert 0 == len(plan([seen(below)], known).repeated)


def test_what_may_contradict_is_new_and_both_are_named() -> None:
    """Whether the log said the other, or this session."""
    one = "The payment gateway timeout is 30 seconds, and slower calls fail"
    other = one.replace("30", "300")
    found = plan([seen(other)], learning("l", one))
    new = found.created[0].id
    assert [(new, "l"), ("l", new)] == found.disputed
    found = plan([seen(one), seen(other)])
    old, new = (noticed.id for noticed in found.created)
    assert [(new, old), (old, new)] == found.disputed


def test_what_every_session_starts_with_is_not_learned() -> None:
    """Nor a part of it, reworded a little."""
    boot = ["Run `make check` before every commit; it formats and lints."]
    found = plan([seen("Always run make check before each commit")], boot=boot)
    assert {"a boot file says so": 1} == found.dropped


def test_what_a_session_was_shown_is_not_learned_from_it() -> None:
    """By id, and by text."""
    for shown in ("l", SAID):
        found = plan([seen("As noted before, " + SAID)], learning("l", SAID), shown_learnings=[shown])
        assert {"this session was shown it": 1} == found.dropped


def test_what_was_consolidated_before_is_not_again() -> None:
    """Whether it became a learning or a repetition."""
    first = plan([seen(SAID)]).created[0]
    made = Learning(id=first.id, key="k", type="learned", content=SAID, session="s2", origin=first.origin_key)
    assert {"consolidated before": 1} == plan([seen(SAID)], made).dropped
    event = LedgerEvent(
        id="01JXE000000000000000000000", ts=1, event="repeated", of="l", fields={"source": first.origin_key}
    )
    state = replay([learning("l", SAID)], [event])
    assert {"consolidated before": 1} == plan_in(state, [seen(SAID)]).dropped


def test_the_surest_of_a_cluster_stays_then_the_newest() -> None:
    """Document 002, stage 2; a decision is in none."""
    old, new = learning("a", SAID), learning("b", SAID + ".", ts=2.0)
    [cluster] = cluster_duplicates(replay([old, new], ()).standings.values())
    assert ("b", ["a"]) == (cluster.keeper.id, [one.id for one in cluster.others])
    both = [learning(id, SAID, type="decision", ts=n) for n, id in enumerate("ab")]
    assert [] == cluster_duplicates(replay(both, ()).standings.values())


@pytest.mark.parametrize(
    ("confidence", "about", "lasts"),
    [(80, "security", True), (79, "security", False), (95, "insight", False), (80, "bug-fix", True)],
)
def test_what_is_sure_and_of_a_lasting_category_is_durable(confidence: int, about: str, lasts: bool) -> None:
    """From 0.80 on."""
    one = Learning(id="l", key="l", type="learned", content=SAID, confidence=confidence, category=about)
    assert is_durable(LogState(standings=replay([one], ()).standings, events=()).standings["l"]) is lasts


def test_a_category_is_said_or_read_from_the_words() -> None:
    """Hyphens and case aside."""
    assert learning_category(replay([learning("l", "The token leaks")], ()).standings["l"]) == "security"


def test_what_shares_no_words_with_a_session_is_not_prepared() -> None:
    """Of a long log that takes seconds; what says the same, the contrary or the like in another form is."""
    unlike = [learning(f"u{number}", f"The lagoon number {number} gets salty water at dawn") for number in range(9)]
    alike = [
        learning("same", SAID, session="s2"),
        learning("contrary", SAID.replace("must", "must not"), session="s2"),
    ]
    unlike += [learning("short", "Never sed"), learning("unspaced", "ポートは八千です")]
    assert {standing.id for standing in alike} == prepared_beside(SAID, [*unlike, *alike])


def prepared_beside(said: str, learnings: list[Learning]) -> set[str]:
    """Return the ids of the learnings that are compared with what a session said."""
    state = replay(learnings, ())
    known = KnownLearnings()
    known.note_state(state)
    known.add_like(state.standings, [seen(said)])
    return set(known.shapes)


@pytest.mark.parametrize(
    ("said", "like"),
    [
        ("Use pnpm here", "Use yarn here, and no pnpm"),
        ("インデックスは毎晩三時に再構築される", "インデックスは毎晩三時に再構築されない"),
        ("พอร์ตของแคชคือ 6380", "พอร์ตของแคชคือ 6390 แล้ว"),
    ],
)
def test_few_words_and_scripts_without_blanks_tell_what_is_like_them_too(said: str, like: str) -> None:
    """A short sentence, or one in Japanese or Thai, isn't compared with the whole log."""
    others = [
        learning("en", "The lagoon of the harbour gets salty water at dawn"),
        learning("ja", "決済の通知は署名を確認してから保存する"),
        learning("th", "ฐานข้อมูลสำรองทุกคืนวันอาทิตย์"),
    ]
    assert {"like"} == prepared_beside(said, [*others, learning("like", like)])
