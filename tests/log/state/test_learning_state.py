"""Events and learnings as replay has them."""

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import SIGNED
from roamkb.log.state.learning_state import TYPED
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import YES_FIELD
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import is_signed
from roamkb.log.state.replay import replay


def test_a_field_holds_texts_or_one_of_them() -> None:
    """Anything else in it is as if it weren't there."""
    fields = {"one": "a", "many": ["a", 1, "b"], "number": 1}
    event = LedgerEvent(id="e", ts=1.0, event="repeated", fields=fields)
    assert [("a",), ("a", "b"), (), ()] == [event.text_list_field(name) for name in (*fields, "none")]


def test_only_an_event_that_was_proven_is_signed() -> None:
    """A typed yes isn't, and neither is a signature that doesn't hold."""
    for name, yes, expected in (("curated", SIGNED, True), ("curated", TYPED, False), (UNPROVEN, SIGNED, False)):
        assert expected is is_signed(LedgerEvent(id="e", ts=1.0, event=name, fields={YES_FIELD: yes}))


def test_a_state_has_its_learnings_by_id() -> None:
    """As they were said."""
    learning = Learning(id="L1", key="k", type="fact", content="Amounts are kept in cents")
    learnings = replay([learning], ()).learnings
    assert ["L1"] == [*learnings]
    assert 1 == len(learnings)
    assert learning.content == learnings["L1"].content
