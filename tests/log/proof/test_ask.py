"""Four words for a digest: the same at a terminal and on the page, and in every release."""

import pytest

from roamkb.core.data_tables import data_lines
from roamkb.log.proof.ask import four_words


@pytest.mark.parametrize(
    ("digest", "words"),
    [
        ("0" * 64, "abandon abandon abandon abandon"),
        ("f" * 64, "zoo zoo zoo zoo"),
        ("ab" * 32, "produce front turtle firm"),
    ],
)
def test_a_digest_has_its_four_words(digest: str, words: str) -> None:
    """Eleven bits each, the first bits first."""
    assert words == four_words(digest)


def test_every_word_is_known_by_its_beginning() -> None:
    """Four letters tell it from all others, so that a glance is enough."""
    words = data_lines("digest_words.txt")
    assert 2048 == len(words) == len({word[:4] for word in words})
