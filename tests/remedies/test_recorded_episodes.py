"""What a session fixed is found again, in other words and versions; a look-alike is offered nothing."""

from tests.conftest import World
from tests.remedies.episodes import measure
from tests.remedies.episodes import read_cases


def test_remedies_of_episodes_are_found_again(world: World) -> None:
    """In both halves, the one that matching was built on and the one that it wasn't."""
    cases = read_cases()
    assert len(cases) >= 48
    assert len({case.title.partition(":")[0] for case in cases}) >= 16
    for figures in measure(world, cases):
        assert not figures.unrecorded, figures
        assert figures.first >= 0.9, figures
        # of what was done by sudo or can't be taken back, nothing is offered
        assert figures.offered >= 0.18, figures
        assert figures.false_offers <= 0.03, figures
