"""Corrections: replies of a human that deny what an agent just said."""

import zlib
from collections.abc import Iterable
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.text.denial import falsity_words
from roamkb.text.denial import negates
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.tokenize import SENTENCE_END
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED

_WORD: Final = lazily(r"\w{4,}|\d+")
#: Letters of a word's beginning, which its forms share; and words of a message that are remembered.
_STEM_LENGTH: Final = 5
_MOST_WORDS: Final = 400


def is_correction(reply: str, said: Iterable[int]) -> bool:
    """Say whether a human's reply begins by denying what an agent said, of whose words `said` are the hashes.

    A negation may be about anything, so that it has to share a word; what calls something wrong doesn't.
    """
    sentence = SENTENCE_END.split(reply.strip())[0]
    if sentence.endswith(("?", "？")):
        return False
    if falsity_words(sentence):
        return True
    if not negates(sentence):
        return False
    told = " ".join(word for word in reply.casefold().split() if word.strip(".,:;!") not in STOP_WORDS | NEGATIONS)
    return UNSPACED.search(reply) is not None or not set(said).isdisjoint(word_hashes(told))


def word_hashes(text: str) -> tuple[int, ...]:
    """Return what stands for the words of a message, so that a later reply can be compared with it."""
    words = dict.fromkeys(word[:_STEM_LENGTH] for word in _WORD.findall(text.casefold()))
    return tuple(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in list(words)[:_MOST_WORDS])
