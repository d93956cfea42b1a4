"""Partial matches of words by letter groups, which other forms, compounds and misspellings share.

A stem is found or it isn't; of a word's groups of three letters a text may hold some. So what
speaks of each word of a query, in whatever form, is told from what says a single one often.
"""

from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.text.tokenize import UNSPACED

#: Letters in a group; a word's beginning and end count as one each.
_GROUP = 3
#: So many words of a query are looked at, and so many letters of a text.
_MOST_WORDS = 24
_MOST_LETTERS = 20_000
#: In longer texts any groups stand somewhere.
_MOST_IN_GROUPS = 1000
#: What is no part of an ASCII word becomes a blank; the bytes of other letters stay.
_PLAIN = bytes(code if code > 127 or chr(code).isalnum() else ord(" ") for code in range(256))

#: A word between blanks, and its groups of letters.
Spelling = tuple[str, tuple[str, ...]]


def prepare_spellings(words: Iterable[str]) -> list[Spelling]:
    """Return each word with its letter groups, none twice; none for mostly unspaced scripts."""
    word_list = list(words)
    if any(map(UNSPACED.match, word_list)):
        return []
    return [(word, _word_trigrams(word)) for word in list(dict.fromkeys(map(_plain_text, word_list)))[:_MOST_WORDS]]


def spelled_shares(text: str, query_spellings: Sequence[Spelling]) -> tuple[float, ...]:
    """Return the share of each word's letter groups that `text` holds."""
    plain = _plain_text(text[:_MOST_LETTERS])
    holds = plain[:_MOST_IN_GROUPS].__contains__
    return tuple(1.0 if word in plain else sum(map(holds, groups)) / len(groups) for word, groups in query_spellings)


def edit_distance(first_word: str, second_word: str) -> int:
    """Return the number of letters added, left out, mistaken or swapped between two words."""
    earlier_row: list[int] = []
    previous_row = list(range(len(second_word) + 1))
    for row, letter in enumerate(first_word, 1):
        current_row = [row]
        for column, other_letter in enumerate(second_word, 1):
            least = min(
                previous_row[column] + 1, current_row[-1] + 1, previous_row[column - 1] + (letter != other_letter)
            )
            if row > 1 < column and letter == second_word[column - 2] and first_word[row - 2] == other_letter:
                least = min(least, earlier_row[column - 2] + 1)
            current_row.append(least)
        earlier_row, previous_row = previous_row, current_row
    return previous_row[-1]


def _plain_text(text: str) -> str:
    # bytes are translated at once, but looked through five times as slowly
    return f" {text.lower().encode('utf-8', 'replace').translate(_PLAIN).decode()} "


def _word_trigrams(plain: str) -> tuple[str, ...]:
    return tuple({plain[start : start + _GROUP] for start in range(len(plain) - _GROUP + 1)})
