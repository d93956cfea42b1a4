"""The force by which all nodes of a drawing keep apart, in time that grows as their number.

The square around all nodes is halved again and again. Of two squares that lie apart each pushes the other as one
heavy node would, on the largest scale where they do; what is near pushes node by node. (The fast multipole method,
with the first term alone.)
"""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence

#: Mean number of nodes of the smallest squares.
_NODES_A_SQUARE = 3
#: Nodes of one square that push each other one by one; a crowd is as good as its centre.
_MOST_PAIRS = 12
#: The least square of a distance: two nodes at one place would push without end.
_SOFT = 1e-4
_NEIGHBOURS = tuple((column, row) for column in (-1, 0, 1) for row in (-1, 0, 1) if column or row)

Vector = tuple[float, float]
_Place = tuple[int, int]
#: Mass and centre of the squares of one size, by their places.
_Squares = dict[_Place, tuple[float, float, float]]


def repulsive_forces(xs: Sequence[float], ys: Sequence[float], masses: Sequence[float]) -> list[Vector]:
    """Return what pushes each node away from all others: mass times mass, over the distance."""
    members = _split_places(xs, ys)
    levels = _sum_levels(members, xs, ys, masses)
    fields = _far_fields(levels)
    smallest = levels[-1]
    forces: list[Vector] = [(0.0, 0.0)] * len(xs)
    for (column, row), nodes in members.items():
        field_x, field_y = fields[column, row]
        near = [smallest[place] for across, down in _NEIGHBOURS if (place := (column + across, row + down)) in smallest]
        if len(nodes) > _MOST_PAIRS:
            near.append(smallest[column, row])
        for node in nodes:
            x, y, mass = xs[node], ys[node], masses[node]
            push_x, push_y = field_x, field_y
            for other_mass, other_x, other_y in near:
                away_x, away_y = x - other_x, y - other_y
                share = other_mass / (away_x * away_x + away_y * away_y + _SOFT)
                push_x += away_x * share
                push_y += away_y * share
            if len(nodes) <= _MOST_PAIRS:
                for other in nodes:
                    away_x, away_y = x - xs[other], y - ys[other]
                    share = masses[other] / (away_x * away_x + away_y * away_y + _SOFT)
                    push_x += away_x * share
                    push_y += away_y * share
            forces[node] = push_x * mass, push_y * mass
    return forces


def _split_places(xs: Sequence[float], ys: Sequence[float]) -> dict[_Place, list[int]]:
    """Return the nodes of each of the smallest squares; four by four of them at least."""
    depth = max(2, (max(len(xs) // _NODES_A_SQUARE, 1).bit_length() + 1) // 2)
    low_x, low_y = min(xs), min(ys)
    scale = (1 << depth) / (max(max(xs) - low_x, max(ys) - low_y) * 1.0001 or 1.0)
    members: dict[_Place, list[int]] = defaultdict(list)
    for node, (x, y) in enumerate(zip(xs, ys, strict=True)):
        members[int((x - low_x) * scale), int((y - low_y) * scale)].append(node)
    return members


def _sum_levels(
    members: dict[_Place, list[int]], xs: Sequence[float], ys: Sequence[float], masses: Sequence[float]
) -> list[_Squares]:
    """Return the squares of each size, the largest first, beginning with four by four or less."""
    sums: dict[_Place, tuple[float, float, float]] = {}
    for place, nodes in members.items():
        weights = [masses[node] for node in nodes]
        sums[place] = (
            sum(weights),
            sum(weight * xs[node] for weight, node in zip(weights, nodes, strict=True)),
            sum(weight * ys[node] for weight, node in zip(weights, nodes, strict=True)),
        )
    levels = [sums]
    while len(sums) > 1 and max(max(place) for place in sums) > 3:
        larger: dict[_Place, tuple[float, float, float]] = {}
        for (column, row), (mass, x, y) in sums.items():
            place = column >> 1, row >> 1
            total_mass, total_x, total_y = larger.get(place, (0.0, 0.0, 0.0))
            larger[place] = total_mass + mass, total_x + x, total_y + y
        levels.append(larger)
        sums = larger
    return [{place: (mass, x / mass, y / mass) for place, (mass, x, y) in level.items()} for level in reversed(levels)]


def _far_fields(levels: Sequence[_Squares]) -> dict[_Place, Vector]:
    """Return what pushes a node of mass 1 in each of the smallest squares, from all that doesn't lie beside it."""
    fields: dict[_Place, Vector] = {}
    for number, squares in enumerate(levels):
        inner: dict[_Place, Vector] = {}
        for place, (_, x, y) in squares.items():
            push_x, push_y = fields.get((place[0] >> 1, place[1] >> 1), (0.0, 0.0))
            for mass, other_x, other_y in _squares_apart(place, squares, is_first=not number):
                away_x, away_y = x - other_x, y - other_y
                share = mass / (away_x * away_x + away_y * away_y + _SOFT)
                push_x += away_x * share
                push_y += away_y * share
            inner[place] = push_x, push_y
        fields = inner
    return fields


def _squares_apart(place: _Place, squares: _Squares, *, is_first: bool) -> Iterator[tuple[float, float, float]]:
    """Yield the squares that lie apart, of those that the next larger size couldn't part."""
    column, row = place
    first_column, first_row = (0, 0) if is_first else ((column >> 1 << 1) - 2, (row >> 1 << 1) - 2)
    span = 4 if is_first else 6
    for other_column in range(first_column, first_column + span):
        is_apart = abs(other_column - column) > 1
        for other_row in range(first_row, first_row + span):
            if (is_apart or abs(other_row - row) > 1) and (square := squares.get((other_column, other_row))):
                yield square
