"""Which clusters a review is asked about, whatever order the lines come in."""

import random

from hypothesis import given
from hypothesis import strategies as st

from roamkb.curation.clusters import find_clusters
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay

CONTENTS = (
    "OAuth redirect URIs must match exactly in the sandbox tenant of every customer",
    "OAuth redirect URIs must match exactly in the sandbox tenant of every customer.",
    "The OAuth redirect URIs must match exactly in the sandbox tenant of every customer",
    "OAuth redirect URIs must not match exactly in the sandbox tenant of every customer",
    "Invoice numbers restart at 1 every year",
    "Invoice numbers restart at 2 every year",
    "Deploys wait for the queue to drain, which takes 30 seconds",
    'Deploys wait for the queue to drain, which takes 30 seconds." && true',
    "🎉",
)
learnings = st.builds(
    lambda content, type, ts, confidence: Learning(
        id=f"{type}-{ts}-{confidence}-{CONTENTS.index(content)}",
        key=f"key-{CONTENTS.index(content)}",
        type=type,
        content=content,
        ts=ts,
        confidence=confidence,
    ),
    st.sampled_from(CONTENTS),
    st.sampled_from(["fact", "decision"]),
    st.integers(1, 4),
    st.sampled_from([50, 70, 90]),
)
logs = st.lists(learnings, max_size=12, unique_by=lambda learning: learning.id)


@given(logs, st.randoms(use_true_random=False))
def test_order_changes_nothing(said: list[Learning], chance: random.Random) -> None:
    """A union merge may give the lines in any order."""
    mixed = list(said)
    chance.shuffle(mixed)
    one, other = (find_clusters(replay(lines, []), {}) for lines in (said, mixed))
    assert [cluster.changes for cluster in one] == [cluster.changes for cluster in other]


@given(logs)
def test_once_applied_there_is_less_to_do_until_there_is_nothing(said: list[Learning]) -> None:
    """Nobody is asked the same twice."""
    events: list[LedgerEvent] = []
    for _ in range(len(said) + 1):
        found = find_clusters(replay(said, events), {})
        changes = [change for cluster in found for change in cluster.changes]
        if not found:
            break
        assert changes
        assert len(changes) == len({(change.event, change.of) for change in changes})
        for change in changes:
            id = f"{len(events):08}"
            events.append(LedgerEvent(id=id, ts=9, event=change.event, of=change.of, fields=dict(change.fields)))
    assert [] == found


@given(logs)
def test_every_superseded_one_has_a_canonical_successor(said: list[Learning]) -> None:
    """Of its own type, and no decision but for one that is said to the letter."""
    changes = [change for cluster in find_clusters(replay(said, []), {}) for change in cluster.changes]
    state = replay(
        said,
        [
            LedgerEvent(id=f"{n:08}", ts=9, event=change.event, of=change.of, fields=dict(change.fields))
            for n, change in enumerate(changes)
        ],
    )
    for standing in state.standings.values():
        if standing.status == SUPERSEDED:
            successor = state.standings[standing.superseded_by]
            assert CANONICAL == successor.status
            assert standing.id in successor.merged_from
            assert standing.learning.type == successor.learning.type
            if standing.learning.type == "decision":
                assert standing.learning.content == successor.learning.content


def test_the_one_that_is_no_noise_is_kept() -> None:
    """However sure the other is."""
    good, noisy = CONTENTS[6:8]
    said = [
        Learning(id="a", key="a", type="fact", content=good, confidence=50),
        Learning(id="b", key="b", type="fact", content=noisy, confidence=90),
    ]
    found = find_clusters(replay(said, []), {})
    assert ["a"] == [cluster.keeper.id for cluster in found if cluster.keeper]
