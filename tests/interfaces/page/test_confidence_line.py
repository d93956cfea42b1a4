"""The drawing of a learning's confidence: where its steps stand, and which event made each."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.interfaces.page.records.confidence_line import MOST_STEPS
from roamkb.interfaces.page.records.confidence_line import ConfidenceLine
from roamkb.interfaces.page.records.confidence_line import draw_confidence
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.state.learning_state import LedgerEvent

_DAY = 86_400.0


def _history(*moments_and_levels: tuple[float, int], start: int = 70) -> list[ConfidenceStep]:
    levels = [start, *(level for _, level in moments_and_levels)]
    return [
        ConfidenceStep(event=LedgerEvent(id=f"E{number}", ts=moment, event="reused"), before=before, after=after)
        for number, ((moment, after), before) in enumerate(zip(moments_and_levels, levels, strict=False))
    ]


def _draw(*moments_and_levels: tuple[float, int], now: float = 100 * _DAY) -> ConfidenceLine:
    return draw_confidence(70, _history(*moments_and_levels), said=0.0, now=now)


def test_steps_stand_where_their_time_is() -> None:
    """A fourth and the half of the way from the first word to now, each at what its event left."""
    line = _draw((25 * _DAY, 75), (50 * _DAY, 60))
    assert [(25.0, 25, 1), (50.0, 40, 2)] == [(point.x, point.y, point.number) for point in line.points]
    assert [False, True] == [point.is_fall for point in line.points]
    assert (0.0, 30.0, 25.0, 30.0) == line.strokes[0]
    assert (50.0, 40.0, 100.0, 40.0) in line.strokes
    assert {(25.0, 30.0, 25.0, 25.0), (50.0, 25.0, 50.0, 40.0)} <= set(line.strokes)
    assert "confidence from 70 % to 60 % in 2 events" == line.text
    assert "reused: 75 %" == line.points[0].text


def test_what_changes_nothing_has_no_upright_stroke() -> None:
    """A pin, say: a point on the flat line."""
    line = _draw((25 * _DAY, 70))
    assert all(top == bottom for _, top, _, bottom in line.strokes)
    assert 1 == len(line.points)


def test_nothing_happened_yet() -> None:
    """A flat line, and no point."""
    line = _draw()
    assert (((0.0, 30.0, 100.0, 30.0),), ()) == (line.strokes, line.points)


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e11), st.integers(5, 100)), max_size=3 * MOST_STEPS),
    st.floats(-1e9, 1e11),
)
def test_the_line_stays_in_its_frame_and_in_order(happened: list[tuple[float, int]], now: float) -> None:
    """Whatever clocks said: within 0 to 100, no two events in one place, the latest ones with their numbers."""
    line = _draw(*happened, now=now)
    places = [point.x for point in line.points]
    assert all(0 <= place <= 100 for stroke in line.strokes for place in stroke)
    assert sorted(set(places)) == places
    assert len(places) == min(len(happened), MOST_STEPS)
    assert [*range(1, len(happened) + 1)][-MOST_STEPS:] == [point.number for point in line.points]
