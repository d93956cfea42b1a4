"""Tags that a learning's own words give it: by whole words, never by parts of them.

"Trust the build" is neither about rust nor about a user interface.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from roamkb.core.text import fold_text
from roamkb.text.store.lexicons import lexicon
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import split_words

_TOPIC_BY_WORD: Final[Mapping[str, str]] = {
    word: topic for line in lexicon("topics") for topic, _, names in [line.partition(": ")] for word in names.split()
}


def named_topics(text: str) -> tuple[str, ...]:
    """Return the topics that `text` names, in the order in which it does."""
    return tuple(dict.fromkeys(_TOPIC_BY_WORD[word] for word in _topic_words(text) if word in _TOPIC_BY_WORD))


def _topic_words(text: str) -> Iterator[str]:
    for word in split_words(text):
        yield fold_text(word)
        # `snake_case` and camelCase name several things
        yield from map(fold_text, identifier_parts(word))
