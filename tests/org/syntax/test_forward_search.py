"""Asking forwards doesn't search again."""

from roamkb.org.syntax.forward_search import ForwardSearch


def test_a_place_is_searched_for_once() -> None:
    """While what was found lies ahead, asking again costs nothing."""
    asked: list[int] = []

    def find(at: int) -> int:
        asked.append(at)
        return "aaxaax".find("x", at)

    ahead = ForwardSearch(find, 6)
    assert [ahead.first_from(at) for at in (0, 1, 2, 3, 5)] == [2, 2, 2, 5, 5]
    assert asked == [0, 3]
    assert ahead.first_from(6) == 6


def test_asking_backwards_is_right_too() -> None:
    """What was remembered isn't taken for what lies before it."""
    ahead = ForwardSearch(lambda at: "xaax".find("x", at), 4)
    assert [ahead.first_from(at) for at in (2, 0)] == [3, 0]
