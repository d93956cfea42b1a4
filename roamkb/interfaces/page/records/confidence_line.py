"""Confidence line: a learning's confidence over time as a drawing of steps, each the work of one event."""

from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import ConfidenceStep

#: The least distance between two events, in percent of the width: what happened within a minute stays apart.
_LEAST_GAP: Final = 4.0
#: Steps of a drawing; of more the latest.
MOST_STEPS: Final = 60
#: Events whose numbers can be read beside each other.
_MOST_NUMBERED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPoint:
    """An event in the drawing: from the left and from above, in percent."""

    x: float
    y: float
    number: int
    #: What happened, for who points at it.
    text: str
    has_number: bool
    #: Whether its event took confidence away: then its number stands below, clear of the upright stroke.
    is_fall: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLine:
    """The drawing; it says nothing that the table of the events doesn't say."""

    points: tuple[DrawnPoint, ...]
    #: Lines as x1, y1, x2, y2.
    strokes: tuple[tuple[float, float, float, float], ...]
    #: Seconds since 1970, of the beginning and of now.
    begin: float
    end: float
    #: All of it in a sentence, for who doesn't see it.
    text: str


def draw_confidence(start: int, history: Sequence[ConfidenceStep], *, said: float, now: float) -> ConfidenceLine:
    """Return the line from what a learning began with, when it was `said`, to what it has now."""
    shown = history[-MOST_STEPS:]
    left_out = len(history) - len(shown)
    begin = shown[0].event.ts if left_out else said
    first = shown[0].before if left_out else start
    places = _spread([begin, *(step.event.ts for step in shown)], end=max(now, begin))
    levels = [first, *(step.after for step in shown)]
    points = tuple(
        DrawnPoint(
            x=place,
            y=100 - step.after,
            number=left_out + number,
            text=f"{step.event.event.replace('_', ' ')}: {step.after} %",
            has_number=len(shown) <= _MOST_NUMBERED,
            is_fall=step.after < step.before,
        )
        for number, (place, step) in enumerate(zip(places[1:], shown, strict=True), start=1)
    )
    return ConfidenceLine(
        points=points,
        strokes=tuple(_stroke_steps([*places, 100.0], levels)),
        begin=begin,
        end=max(now, begin),
        text=f"confidence from {first} % to {levels[-1]} % in {len(shown)} event{'' if len(shown) == 1 else 's'}",
    )


def _stroke_steps(places: Sequence[float], levels: Sequence[int]) -> Iterator[tuple[float, float, float, float]]:
    """Yield the flat strokes, and the upright one between two that differ; the last place is the line's end."""
    flat = [(left, right, 100.0 - level) for (left, right), level in zip(pairwise(places), levels, strict=True)]
    yield from ((left, height, right, height) for left, right, height in flat)
    yield from (
        (right, height, right, later_height)
        for (_, right, height), (_, _, later_height) in pairwise(flat)
        if height != later_height
    )


def _spread(moments: Sequence[float], *, end: float) -> list[float]:
    """Return places in percent of the way from the first moment to `end`, in order and none on another."""
    gap = min(_LEAST_GAP, 100 / len(moments))
    width = end - moments[0]
    places: list[float] = []
    for moment in moments:
        true_place = min(max((moment - moments[0]) / width, 0.0), 1.0) * 100 if width > 0 else 0.0
        places.append(max(true_place, places[-1] + gap) if places else 0.0)
    # who was pushed over the end pushes back those before
    for number in range(len(places) - 1, 0, -1):
        places[number] = min(places[number], 100 - gap * (len(places) - 1 - number))
    return [round(place, 2) for place in places]
