"""Places of a graph's nodes in the plane, the same ones for the same links.

Linked nodes pull each other and all push each other (the forces of ForceAtlas2), first for the hubs with all around
them as one, then for each part. Nodes without links lie around the others, since no force would part them.
"""

import math
from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.graph.repulsion import repulsive_forces

#: Steps of the coarsest graph, and of each finer one, which begins near its rest.
_FIRST_STEPS = 120
_STEPS = 40
#: Nodes by which a step is made cheaper: a large drawing is looked at from afar.
_MOST_MOVES = 200_000
_LEAST_STEPS = 8
#: Nodes of a graph that needn't be made coarser.
_FEW = 24
#: What is left of the longest way of a step, from the first to the last.
_COOLED = 0.02
#: How much each node is drawn to the middle, so that what isn't linked stays in sight.
_GRAVITY = 0.12
#: By this angle each next node around a hub lies farther on: no two lie behind each other.
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
#: The mean distance of neighbours that stand alone.
_ALONE = 4.0

Edge = tuple[int, int]
Places = tuple[list[float], list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """A graph of hubs: what it weighs, and to which hub each node of the finer graph belongs."""

    masses: Sequence[float]
    #: Each pair once, with the number of links that it stands for.
    edges: Sequence[tuple[int, int, float]]
    hubs: Sequence[int] = ()


def lay_out(count: int, edges: Iterable[Edge]) -> Places:
    """Return the coordinates of the nodes from 0 to `count`, around the middle 0, 0."""
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    linked = sorted({node for pair in pairs for node in pair})
    number = {node: place for place, node in enumerate(linked)}
    xs, ys = [0.0] * count, [0.0] * count
    inner_xs, inner_ys = _lay_out_linked(len(linked), [(number[one], number[other]) for one, other in pairs])
    for node, x, y in zip(linked, inner_xs, inner_ys, strict=True):
        xs[node], ys[node] = x, y
    radius = max(map(math.hypot, inner_xs, inner_ys), default=0.0)
    alone = (node for node in range(count) if node not in number)
    for place, node in enumerate(alone):
        distance = math.sqrt((radius + _ALONE) ** 2 * bool(linked) + _ALONE**2 * place)
        xs[node] = distance * math.cos(place * _GOLDEN_ANGLE)
        ys[node] = distance * math.sin(place * _GOLDEN_ANGLE)
    return xs, ys


def _lay_out_linked(count: int, pairs: Sequence[Edge]) -> Places:
    degrees = [1.0] * count
    for one, other in pairs:
        degrees[one] += 1
        degrees[other] += 1
    levels = [_Level(masses=degrees, edges=[(one, other, 1.0) for one, other in pairs])]
    while len(levels[-1].masses) > _FEW and (coarser := _coarsen(levels[-1])):
        levels.append(coarser)
    coarsest = levels.pop()
    places = _relax(coarsest, _spiral(len(coarsest.masses)), steps=_FIRST_STEPS)
    hubs = coarsest.hubs
    for level in reversed(levels):
        places = _relax(level, _spread(level, hubs, places), steps=_STEPS)
        hubs = level.hubs
    return places


def _spiral(count: int) -> Places:
    angles = [(math.sqrt(place + 0.5), place * _GOLDEN_ANGLE) for place in range(count)]
    return [r * math.cos(angle) for r, angle in angles], [r * math.sin(angle) for r, angle in angles]


def _coarsen(level: _Level) -> _Level | None:
    """Return the graph in which the neighbours of each hub are a part of it; None where that says nothing."""
    count = len(level.masses)
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for one, other, _ in level.edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    hubs = [-1] * count
    masses: list[float] = []
    for node in sorted(range(count), key=lambda node: (-len(neighbours[node]), node)):
        if hubs[node] < 0:
            parts = [node, *(other for other in neighbours[node] if hubs[other] < 0)]
            for part in parts:
                hubs[part] = len(masses)
            masses.append(sum(level.masses[part] for part in parts))
    if len(masses) > 0.9 * count:
        return None
    weights: dict[Edge, float] = {}
    for one, other, weight in level.edges:
        pair = min(hubs[one], hubs[other]), max(hubs[one], hubs[other])
        if pair[0] != pair[1]:
            weights[pair] = weights.get(pair, 0.0) + weight
    return _Level(masses=masses, edges=[(*pair, weight) for pair, weight in weights.items()], hubs=hubs)


def _spread(level: _Level, hubs: Sequence[int], places: Places) -> Places:
    """Return the places of a finer graph's nodes: around their hubs, as many as there are the farther."""
    xs, ys = [], []
    used = [0] * len(places[0])
    for hub, mass in zip(hubs, level.masses, strict=True):
        distance = math.sqrt(used[hub] * mass)
        xs.append(places[0][hub] + distance * math.cos(used[hub] * _GOLDEN_ANGLE))
        ys.append(places[1][hub] + distance * math.sin(used[hub] * _GOLDEN_ANGLE))
        used[hub] += 1
    return xs, ys


def _relax(level: _Level, places: Places, *, steps: int) -> Places:
    """Return the places after so many steps, each shorter than the one before; fewer of a large graph."""
    xs, ys = places
    count = len(xs)
    if count < 2:
        return places
    steps = max(min(steps, _MOST_MOVES // count), _LEAST_STEPS)
    longest = math.sqrt(sum(level.masses)) / 2
    cooling = _COOLED ** (1 / steps)
    for _ in range(steps):
        _step(level, xs, ys, longest)
        longest *= cooling
    return xs, ys


def _step(level: _Level, xs: list[float], ys: list[float], longest: float) -> None:
    """Move each node by the forces upon it, but no farther than `longest`."""
    pushes = repulsive_forces(xs, ys, level.masses)
    pulls_x, pulls_y = [0.0] * len(xs), [0.0] * len(ys)
    for one, other, weight in level.edges:
        pull_x, pull_y = (xs[other] - xs[one]) * weight, (ys[other] - ys[one]) * weight
        pulls_x[one] += pull_x
        pulls_y[one] += pull_y
        pulls_x[other] -= pull_x
        pulls_y[other] -= pull_y
    for node, ((push_x, push_y), mass) in enumerate(zip(pushes, level.masses, strict=True)):
        force_x = push_x + pulls_x[node] - _GRAVITY * mass * xs[node]
        force_y = push_y + pulls_y[node] - _GRAVITY * mass * ys[node]
        # what is heavier is moved by more
        way = math.hypot(force_x, force_y) / mass
        share = min(1.0, longest / way) / mass if way else 0.0
        xs[node] += force_x * share
        ys[node] += force_y * share
