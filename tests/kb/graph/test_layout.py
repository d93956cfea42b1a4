"""Where nodes are drawn: apart, near what they link to, and at the same place each time."""

import math
import random

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.kb.graph.layout import Edge
from roamkb.kb.graph.layout import Places
from roamkb.kb.graph.layout import lay_out
from roamkb.kb.graph.repulsion import repulsive_forces


def _distance(places: Places, one: int, other: int) -> float:
    return math.hypot(places[0][one] - places[0][other], places[1][one] - places[1][other])


def _clusters(count: int, size: int) -> list[Edge]:
    """Links within clusters of `size` nodes, and one between each and the next."""
    chance = random.Random(7)
    edges = [(size * n + a, size * n + chance.randrange(a)) for n in range(count) for a in range(1, size)]
    edges += [(size * n + a, size * n + b) for n in range(count) for a in range(size) for b in range(a) if (a + b) % 3]
    return edges + [(size * n, size * n + size) for n in range(count - 1)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 60), st.data())
def test_any_graph_has_a_place_for_each_node(count: int, data: st.DataObject) -> None:
    """The numbers are finite and no two nodes lie at one place; the order of the links changes nothing."""
    node = st.integers(0, count - 1) if count else st.nothing()
    edges = data.draw(st.lists(st.tuples(node, node), max_size=120)) if count else []
    xs, ys = lay_out(count, edges)
    assert count == len(xs) == len(ys)
    assert all(map(math.isfinite, (*xs, *ys)))
    assert count == len(set(zip(xs, ys, strict=True)))
    assert (xs, ys) == lay_out(count, [(other, one) for one, other in reversed(edges)])


def test_what_is_linked_lies_together() -> None:
    """Of ten clusters with one link between each and the next, no node lies nearer to another cluster's middle."""
    size, count = 12, 10
    places = lay_out(size * count, _clusters(count, size))
    middles = [[sum(axis[size * n : size * n + size]) / size for axis in places] for n in range(count)]
    for node in range(size * count):
        away = [math.hypot(places[0][node] - x, places[1][node] - y) for x, y in middles]
        assert node // size == away.index(min(away)), node


def test_neighbours_keep_apart() -> None:
    """The leaves of a hub lie around it, none upon another one, whatever their number."""
    for leaves in (3, 40, 300):
        places = lay_out(leaves + 1, [(0, leaf) for leaf in range(1, leaves + 1)])
        pairs = [(leaf, leaf + 1) for leaf in range(1, leaves)]
        assert min(_distance(places, one, other) for one, other in pairs) > 0.3
        angles = [math.atan2(places[1][n] - places[1][0], places[0][n] - places[0][0]) for n in range(1, leaves + 1)]
        assert {-1, 1} == {int(math.copysign(1, angle)) for angle in angles}


def test_notes_without_links_lie_around_the_others() -> None:
    """Outside of all that are linked, and of each other's way."""
    places = lay_out(60, [(node, node + 1) for node in range(29)])
    inner = max(math.hypot(places[0][n], places[1][n]) for n in range(30))
    assert inner < min(math.hypot(places[0][n], places[1][n]) for n in range(30, 60))
    assert min(_distance(places, one, other) for one in range(30, 60) for other in range(30, one)) > 1


def test_far_nodes_push_as_each_by_itself_would() -> None:
    """The sums of squares differ by some percent from the sums of all pairs."""
    chance = random.Random(3)
    grid = [(column, row) for column in range(30) for row in range(20) if (column + row) % 7]
    xs = [10.0 * column + chance.uniform(-3, 3) for column, _ in grid]
    ys = [10.0 * row + chance.uniform(-3, 3) for _, row in grid]
    masses = [chance.choice((1.0, 2.0, 9.0)) for _ in grid]
    exact = [_exact_force(node, xs, ys, masses) for node in range(len(grid))]
    forces = repulsive_forces(xs, ys, masses)
    wrong = sum(math.dist(force, other) for force, other in zip(forces, exact, strict=True))
    assert wrong < 0.1 * sum(math.hypot(*force) for force in exact)


def _exact_force(node: int, xs: list[float], ys: list[float], masses: list[float]) -> tuple[float, float]:
    force_x = force_y = 0.0
    for other in range(len(xs)):
        away_x, away_y = xs[node] - xs[other], ys[node] - ys[other]
        share = masses[node] * masses[other] / (away_x**2 + away_y**2 or 1.0)
        force_x += away_x * share
        force_y += away_y * share
    return force_x, force_y
