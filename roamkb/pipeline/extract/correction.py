"""Corrections: replies of a human that deny what an agent just said."""

import re
import zlib
from collections.abc import Iterable
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import UNSPACED_NEGATION
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words

_FALSITY: Final = vocabulary("falsity")
_FALSITY_UNSPACED: Final = "|".join(" ".join(lexicon("unspaced_falsity")).split())
_SENTENCE_END: Final = r"(?<=[.!?])\s+|(?<=[。！？])|\n+"

_WORD: Final = lazily(r"\w{4,}|\d+")
#: Letters of a word's beginning, which its forms share; and words of a message that are remembered.
_STEM_LENGTH: Final = 5
_MOST_WORDS: Final = 400


def is_correction(reply: str, said: Iterable[int]) -> bool:
    """Say whether a human's reply begins by denying what an agent said, of whose words `said` are the hashes.

    A negation may be about anything, so that it has to share a word; what calls something wrong doesn't.
    """
    sentence = re.split(_SENTENCE_END, reply.strip())[0]
    if sentence.endswith(("?", "？")):
        return False
    words = split_words(fold_text(spelt_out(sentence)))
    if not _FALSITY.isdisjoint(words) or re.search(_FALSITY_UNSPACED, sentence):
        return True
    if NEGATIONS.isdisjoint(words) and not UNSPACED_NEGATION.search(sentence):
        return False
    told = " ".join(word for word in reply.casefold().split() if word.strip(".,:;!") not in STOP_WORDS | NEGATIONS)
    return UNSPACED.search(reply) is not None or not set(said).isdisjoint(word_hashes(told))


def word_hashes(text: str) -> tuple[int, ...]:
    """Return what stands for the words of a message, so that a later reply can be compared with it."""
    words = dict.fromkeys(word[:_STEM_LENGTH] for word in _WORD.findall(text.casefold()))
    return tuple(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in list(words)[:_MOST_WORDS])
