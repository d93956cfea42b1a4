"""How much of a word stands in a text, whatever its form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.fuzzy import edit_distance
from roamkb.text.fuzzy import prepare_spellings
from roamkb.text.fuzzy import spelled_shares


@pytest.mark.parametrize("text", ["Connection", "the connection.", "a (connection) here", "no-connection"])
def test_a_word_that_stands_there_is_all_there(text: str) -> None:
    """Case and what stands around it are no matter."""
    assert (1.0,) == spelled_shares(text, prepare_spellings(["connection"]))


def test_the_nearer_the_form_the_more_of_it() -> None:
    """Endings, compounds, slips; then what begins alike, then what has nothing of it."""
    wanted = prepare_spellings(["authenticate"])
    forms = ("authenticate", "authenticated", "reauthentication", "authority", "zebra")
    shares = [spelled_shares(form, wanted)[0] for form in forms]
    assert shares == sorted(shares, reverse=True)
    assert 1 == shares[0] > shares[1] > shares[2] > shares[3] > shares[4] == 0


def test_other_languages_are_spelled_as_well() -> None:
    """German takes words together; Thai, without blanks, is found by other means."""
    (share,) = spelled_shares("Das Datenbankverzeichnis", prepare_spellings(["Datenbank"]))
    assert 0.7 < share < 1
    assert [] == prepare_spellings(["ฐานข้อมูล", "数据库"]) == prepare_spellings(["Linux", "数据库"])


def test_no_word_counts_twice() -> None:
    """A query repeats words to weigh them; that has been done."""
    assert 1 == len(prepare_spellings(["Disk", "disk"]))


def test_groups_say_nothing_that_stand_in_any_long_text() -> None:
    """Of a long text only the words themselves count, and the groups where it begins."""
    text = f"{'zebra ' * 1000}a connected server"
    assert (0.0, 1.0, 1.0) == spelled_shares(text, prepare_spellings(["connection", "connected", "zebra"]))


@given(st.lists(st.text(min_size=1)), st.text())
def test_a_share_is_a_share(words: list[str], text: str) -> None:
    """Whatever is asked of whatever text, half characters and all."""
    wanted = prepare_spellings(words)
    assert all(0 <= share <= 1 for share in spelled_shares(text, wanted))
    assert all(share == 1 for share in spelled_shares(" ".join(words), wanted) if len("".join(words)) < 100)


_WORDS = st.text("abc", max_size=6)


@given(_WORDS, _WORDS)
def test_edits_are_as_many_either_way(one: str, other: str) -> None:
    """None for the same word alone, and never more than letters."""
    assert edit_distance(one, other) == edit_distance(other, one)
    assert (one == other) == (edit_distance(one, other) == 0)
    assert abs(len(one) - len(other)) <= edit_distance(one, other) <= max(len(one), len(other))


@given(st.text("abc", min_size=2, max_size=6), st.data())
def test_one_slip_is_one_edit(word: str, data: st.DataObject) -> None:
    """A letter left out, doubled, mistaken, or swapped with the next."""
    at = data.draw(st.integers(0, len(word) - 2))
    head, rest = word[:at], word[at:]
    for slip in (
        head + rest[1:],
        head + rest[0] + rest,
        head + "x" + rest[1:],
        head + rest[1] + rest[0] + rest[2:],
    ):
        assert edit_distance(word, slip) == (slip != word)
