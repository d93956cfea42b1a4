"""What a ledger's events make of a proposal, in whatever order the lines come."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.model import ProjectKind
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import APPROVED
from roamkb.instructions.proposal import PENDING
from roamkb.instructions.proposal import REJECTED
from roamkb.instructions.proposal import ROLLED_BACK
from roamkb.instructions.proposal import exclusion_reason
from roamkb.instructions.proposal import list_risks
from roamkb.instructions.proposal import proposal_id
from roamkb.instructions.proposal import replay_proposals
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay

NAMES = ("proposed", "approved", "rejected", "applied", "rolled_back")
ID = proposal_id("l", "CLAUDE.md")


def event(number: int, name: str, *, of: str = "l", proposal: str = ID, section: str = "") -> LedgerEvent:
    """One event of the proposal."""
    told = {"proposal": proposal, "target": "CLAUDE.md", "section": section, "text": "- x"}
    return LedgerEvent(id=f"{number:032x}", ts=float(number), event=name, of=of, fields=told)


def state_after(*names: str) -> str:
    """How the proposal stands after a proposal and what followed."""
    events = [event(number, name) for number, name in enumerate(("proposed", *names))]
    return replay_proposals(events)[ID].state


def test_the_way_of_a_proposal() -> None:
    """Pending, approved, applied, rolled back; or rejected."""
    assert PENDING == state_after()
    assert APPROVED == state_after("approved")
    assert APPLIED == state_after("approved", "applied")
    assert ROLLED_BACK == state_after("approved", "applied", "rolled_back")
    assert REJECTED == state_after("rejected") == state_after("rejected", "proposed", "approved")


def test_what_two_machines_said_ends_with_what_the_file_has() -> None:
    """A rejection takes nothing out of a file, and a line that was never in it isn't taken back."""
    assert APPLIED == state_after("rejected", "approved", "applied") == state_after("approved", "applied", "rejected")
    assert PENDING == state_after("rolled_back")
    assert ROLLED_BACK == state_after("applied", "rolled_back", "applied", "proposed", "approved")


def test_another_section_counts_until_somebody_decides() -> None:
    """The latest that was named."""
    first, second = event(1, "proposed", section="## A"), event(2, "proposed", section="## B")
    assert "## B" == replay_proposals([first, second])[ID].section
    assert "## A" == replay_proposals([first, event(2, "approved"), event(3, "proposed", section="## B")])[ID].section


def test_an_event_that_fits_no_proposal_makes_none() -> None:
    """One that was never proposed, of another learning, or with an id of somebody's choice."""
    assert {} == replay_proposals([event(1, "approved"), event(2, "applied")])
    assert {} == replay_proposals([event(1, "proposed", proposal="mine")])
    assert PENDING == replay_proposals([event(1, "proposed"), event(2, "applied", of="other")])[ID].state


@given(st.lists(st.sampled_from(NAMES), max_size=8), st.data())
def test_any_order_and_doubling_of_the_lines_is_the_same(names: list[str], data: st.DataObject) -> None:
    """As `git merge=union` leaves them; and every event of it stands in the learning's history."""
    events = [event(number, name) for number, name in enumerate(names)]
    learning = Learning(id="l", key="k", type="fact", content="Amounts are cents")
    mixed = data.draw(st.permutations([*events, *events[:3]]))
    one, other = replay([learning], events), replay([learning], mixed)
    assert replay_proposals(one.events) == replay_proposals(other.events)
    assert names == [step.event.event for step in other.standings["l"].history]


def standing(content: str = "Amounts are cents", **more: object) -> LearningState:
    """One that may become a rule."""
    learning = Learning(id="l", key="k", type="fact", content=content, kind=ProjectKind.PERSONAL)
    made = LearningState(learning=learning, confidence=90, occurrences=3, verdict="verified")
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_limits_are_inclusive() -> None:
    """0.80 and three times."""
    assert "" == exclusion_reason(standing(confidence=80), project_kind=ProjectKind.PERSONAL)
    assert "0.80" in exclusion_reason(standing(confidence=79), project_kind=ProjectKind.PERSONAL)
    assert "takes 3" in exclusion_reason(standing(occurrences=2), project_kind=ProjectKind.PERSONAL)


def test_what_deserves_a_second_look() -> None:
    """Each thing by itself."""
    assert () == list_risks(standing())
    for content in (
        "Amounts must be cents",
        "Run `make all` first",
        "See https://example.org/x",
        "word " * 50,
    ):
        assert 1 == len(list_risks(standing(content)))
    assert 1 == len(list_risks(standing("Disable certificate checks in the tests")))
    assert ("its confidence is 0.85",) == list_risks(standing(confidence=85))
    assert ("may_contradict, stale",) == list_risks(standing(flags={"stale": "x", "may_contradict": "y"}))
