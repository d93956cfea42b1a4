"""What looks generated, made up or filled in, at each limit and on both sides of it."""

import pytest

from roamkb.secrets.randomness import NOTHING
from roamkb.secrets.randomness import PASSWORD
from roamkb.secrets.randomness import RANDOM
from roamkb.secrets.randomness import WORDY
from roamkb.secrets.randomness import common_pair_share
from roamkb.secrets.randomness import entropy
from roamkb.secrets.randomness import is_filled_in
from roamkb.secrets.randomness import is_random
from roamkb.secrets.randomness import secret_weight
from roamkb.secrets.randomness import stands_for_another


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("k9vQzA27mXw3LpTr", True),
        ("k9vQzA27mXw3LpT", False),
        ("0123456789abcdef0123456789abcdef", True),
        ("0123456789abcdef0123456789abcde", False),
        ("01939b7a-5f3c-7d2e-9a1b-2c3d4e5f6a7b", False),
    ],
)
def test_a_random_value_has_sixteen_letters_or_thirty_two_digits_of_a_hash(value: str, expected: bool) -> None:
    """An id of a known form is none."""
    assert expected is is_random(value)


def test_pairs_are_counted_of_all_that_there_are() -> None:
    """One of one is all; of nothing it is none."""
    assert (0, 1, 0.5) == (common_pair_share(""), common_pair_share("th"), common_pair_share("thq"))


def test_entropy_is_in_bits_a_character() -> None:
    """Of one letter none, of four equally frequent ones two."""
    assert (0, 2) == (entropy("aaaa"), entropy("abcdabcd"))


def test_two_letters_in_turn_are_filled_in_and_three_are_not() -> None:
    """From ten characters on, and as a value from any number on."""
    assert is_filled_in("kqkqkqkqkq") and not is_filled_in("kqkqkqkqk") and not is_filled_in("kq9kq9kq9kq9")
    assert stands_for_another("kqkqkq") and not stands_for_another("kq9kq9")


def test_a_password_of_eight_has_three_kinds_of_characters() -> None:
    """Of two kinds it may be a name with a number."""
    assert (WORDY, PASSWORD) == (secret_weight("xk9qz7wv"), secret_weight("xK9qZ7wv"))


def test_few_letters_over_and_over_stand_for_another_value() -> None:
    """From twenty-four characters on, fewer than six."""
    assert [False, True] == [stands_for_another(value) for value in (("qzxw" * 6)[:23], "qzxw" * 6)]


def test_a_random_value_that_begins_with_a_stroke_is_no_path() -> None:
    """One base64 text of 64 does; a path is made of words, or of more parts."""
    assert RANDOM == secret_weight("/kEWSl4XyC8y3g2TUGXlb7u5eQXeaBlIdgPVdIsB75U=")
    assert RANDOM == secret_weight("/kEWSl4XyC8y3g2/UGXlb7u5eQXeaBlIdgPVdIsB")
    for path in ("/usr/share/applicationsecretsfolder", "/run/secrets/databasepasswordofproduction"):
        assert NOTHING == secret_weight(path)
