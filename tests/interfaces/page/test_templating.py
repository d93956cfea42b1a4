"""What a view gives a template, beside what every page has."""

import pytest

from roamkb.interfaces.page.templating import render_page


@pytest.mark.parametrize("name", ["outcome", "can_sign", "mark"])
def test_a_value_of_a_view_hides_nothing_that_every_page_has(name: str) -> None:
    """Nor the other way round: two meanings of a name are a fault, and not one of them without a word."""
    values = {name: "mine", "message": "no", "hint": ""}
    with pytest.raises(TypeError, match=name):
        render_page("refusal.html", **values)
