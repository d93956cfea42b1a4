"""Minimum relevance of unasked suggestions.

A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute: the
odds that an answer is needed, in bits, by logistic regression (Cox, "The Regression Analysis of Binary Sequences",
Journal of the Royal Statistical Society B 20, 1958) on the signals of `AnswerSignals`. What tells most is how
far an answer is ahead of the next that says something else: where several fit a prompt as well, it is about their
topic, and needs none of them. `python -m tests.benchmarks.relevance_odds` fits the weights to the weeks of
`tests/context/weeks`, and says what they achieve on those that are held out.

A name that a prompt holds whole is evidence by itself, and what was asked for need not be likely. What a shared word
tells is said in `word_evidence`.
"""

import re
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cache
from itertools import islice

from roamkb.context.word_evidence import NAME_FACTOR
from roamkb.context.word_evidence import AnswerText
from roamkb.context.word_evidence import PromptWord
from roamkb.context.word_evidence import best_part
from roamkb.context.word_evidence import covers_title
from roamkb.context.word_evidence import prompt_words
from roamkb.context.word_evidence import rarity_share
from roamkb.context.word_evidence import shared_worth
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import fold_text
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.query import TermWeights
from roamkb.text.pasted_blocks import without_blocks
from roamkb.text.pasted_blocks import without_printed_lines
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

#: The least evidence of a word that is a whole prompt and no question: `commit` is an order.
_LEAST_LONE_BITS: Final = 9.5
#: Words of a longer message that are looked at, at its beginning and at its end: what lies between is a document.
#: A query has room for both.
_WORDS_OF_AN_END: Final = 60
#: Characters among which those are.
_LETTERS_OF_AN_END: Final = 2_000
#: Letters that the words of a message have at most on average, where blanks part them.
_LONG_WORD: Final = 20
#: What each word of a name tells that stands whole in a question for notes: the longer one is meant.
_ASKED_WORD_BITS: Final = 8.0
#: What an error quotes: a module, a key, a file.
_QUOTED_NAME: Final = r"['\"`‘“]([^'\"`’”\n]{2,80})['\"`’”]"


class RelevanceThreshold(NamedTuple):
    """The least odds that an answer has to have."""

    #: -log2 of the odds against it: 0 where it is as likely needed as not.
    least_bits: float


INTERRUPTION_THRESHOLD: Final = RelevanceThreshold(least_bits=0.75)
#: Where nobody is interrupted.
START_THRESHOLD: Final = RelevanceThreshold(least_bits=-1.0)


class AnswerSignals(NamedTuple):
    """What speaks for an answer to a prompt."""

    #: Bits of the prompt's words that it has and another answer lacks, each by how rare the word is in the base:
    #: beside that answer of those that say something else which leaves the fewest.
    distinct_bits: float
    #: How far its BM25 is ahead of the best of those.
    lead: float
    #: How near the two are in meaning by the table of words, 0 to 1; and 1 where the table hasn't their language.
    meaning: float
    lacks_meaning: float
    #: Words of its title before the first that the prompt has: of what a sentence is about stands in front.
    words_before: float
    #: The root of the share of the prompt's bits that the answer has: who explains himself says much besides.
    coverage: float


#: Bits of each signal's unit, and of none of them.
_SIGNAL_BITS: Final = AnswerSignals(
    distinct_bits=0.29,
    lead=0.084,
    meaning=8.0,
    lacks_meaning=2.95,
    words_before=-0.082,
    coverage=5.8,
)
_START_BITS: Final = -9.8
#: Words before the first that counts, at most; as many where none does.
_MOST_WORDS_BEFORE: Final = 20
#: The share of the fewer terms of two answers by which they say much the same.
_LIKE_SHARE: Final = 0.5
#: The least evidence of a name that a prompt holds whole.
_LEAST_NAME_BITS: Final = 4.75
#: How far an answer may be behind the best.
_MOST_BEHIND: Final = 3.0


@cache
def _negated_topics() -> re.Pattern[str]:
    """Return a pattern for what a speaker mentions and doesn't ask for."""
    return re.compile(rf"\b{alternatives_pattern('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE)


@cache
def _note_questions() -> re.Pattern[str]:
    """Return a pattern for how a speaker asks for what is known: nobody is interrupted by an answer."""
    return re.compile(alternatives_pattern("asking_notes"), re.IGNORECASE)


class AskedText(NamedTuple):
    """What a prompt asks for, without what is pasted or waved away."""

    text: str
    #: Whether it asks for notes.
    is_question: bool


def asked_text(prompt: str) -> AskedText:
    """Return what a prompt asks for."""
    said = _ends_of(without_printed_lines(without_blocks(prompt)))
    text, questions = _note_questions().subn(" ", _negated_topics().sub(" ", said))
    return AskedText(text, questions > 0)


def _ends_of(text: str) -> str:
    """Return a message; of a long one, its beginning and its end."""
    text = text.strip()
    word_count = len(text.split())
    if len(text) > _LONG_WORD * word_count:
        # a script without blanks: two of its letters are as much as a word
        letters = 2 * _WORDS_OF_AN_END
        return text if len(text) <= 2 * letters else f"{text[:letters]}\n{text[-letters:]}"
    if word_count <= 2 * _WORDS_OF_AN_END and len(text) <= 2 * _LETTERS_OF_AN_END:
        return text
    # the last word of the beginning and the first of the end may be cut
    beginning, end = text[:_LETTERS_OF_AN_END], text[-_LETTERS_OF_AN_END:]
    *_, after = islice(re.finditer(r"\S+", beginning), _WORDS_OF_AN_END + 1)
    before = list(re.finditer(r"\S+", end))[-_WORDS_OF_AN_END - 1 :][0]
    return f"{beginning[: after.start()]}\n{end[before.end() :]}"


class Answer(NamedTuple):
    """An answer of the search: its names, each of which counts by itself, what is shown beside them, its signals."""

    names: Sequence[str]
    body: str
    ranks: RankSignals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _WeighedText:
    """An answer's text, and what it has of a prompt."""

    names: Sequence[AnswerText]
    body: AnswerText
    ranks: RankSignals | None
    #: By the place of the prompt's word.
    word_bits: Mapping[int, float]
    coverage: float
    words_before: int

    @property
    def ranked_words(self) -> float:
        return self.ranks.words if self.ranks else 0.0

    @property
    def meaning(self) -> float:
        return self.ranks.meaning if self.ranks else 0.0

    def bits_beside(self, other: "_WeighedText") -> float:
        """Return the bits of the prompt's words that another answer lacks."""
        return sum(max(0.0, bits - other.word_bits.get(place, 0.0)) for place, bits in self.word_bits.items())

    def says_the_same(self, other: "_WeighedText") -> bool:
        """Return whether two answers share most of their words."""
        terms, other_terms = self.names[0].all_terms, other.names[0].all_terms
        return len(terms & other_terms) >= _LIKE_SHARE * min(len(terms), len(other_terms))


def weigh_answers(
    asked: AskedText,
    weights: TermWeights,
    answers: Sequence[Answer],
    *,
    limits: RelevanceThreshold = INTERRUPTION_THRESHOLD,
) -> tuple[Sequence[float], float]:
    """Return the odds that each answer is needed, in bits, and the threshold, which rises with the best."""
    prompt = list(prompt_words(asked.text, weights))
    folded_prompt, is_order = fold_text(asked.text), _is_order(asked.text)
    texts = [_weighed_text(prompt, weights, answer) for answer in answers]
    bits = [_odds_bits(signals) for signals in _signals_of(texts)]
    for place, text in enumerate(texts):
        standing = [name for name in text.names if name.stands_in(folded_prompt)]
        name_bits = [shared_worth(prompt, name, text.body).bits for name in text.names if covers_title(name, prompt)]
        name_bits += [name.name_bits for name in standing]
        if asked.is_question:
            name_bits += [_ASKED_WORD_BITS * len(name.text_words) for name in standing]
        if is_order and not any(_is_named(prompt, name, text.body) for name in text.names):
            bits[place] = min(bits[place], _START_BITS)
        if name_bits:
            named_bits = max(name_bits) - _LEAST_NAME_BITS + INTERRUPTION_THRESHOLD.least_bits
            bits[place] = max(bits[place], named_bits)
    least = min(limits, START_THRESHOLD) if asked.is_question else limits
    return bits, max(least.least_bits, max(bits, default=0.0) - _MOST_BEHIND)


def signals_of(asked: AskedText, weights: TermWeights, answers: Sequence[Answer]) -> Sequence[AnswerSignals]:
    """Return what speaks for each of the answers."""
    prompt = list(prompt_words(asked.text, weights))
    return _signals_of([_weighed_text(prompt, weights, answer) for answer in answers])


def _odds_bits(signals: AnswerSignals) -> float:
    if not signals.coverage:
        # what the search found was pasted
        return _START_BITS
    return _START_BITS + sum((value * bits for value, bits in zip(signals, _SIGNAL_BITS, strict=True)), 0.0)


def _signals_of(texts: Sequence[_WeighedText]) -> list[AnswerSignals]:
    signals: list[AnswerSignals] = []
    lacks_meaning = 0.0 if any(text.meaning for text in texts) else 1.0
    for text in texts:
        others = [other for other in texts if other is not text and not text.says_the_same(other)]
        signals.append(
            AnswerSignals(
                distinct_bits=min(map(text.bits_beside, others), default=sum(text.word_bits.values())),
                lead=text.ranked_words - max((other.ranked_words for other in others), default=0.0),
                meaning=text.meaning,
                lacks_meaning=lacks_meaning,
                words_before=text.words_before,
                coverage=max(0.0, text.coverage) ** 0.5,
            )
        )
    return signals


def _weighed_text(prompt: Sequence[PromptWord], weights: TermWeights, answer: Answer) -> _WeighedText:
    """Return the text of an answer with what it has of a prompt, in its names or, for less, in its body."""
    names = [AnswerText(name) for name in answer.names]
    body = AnswerText(answer.body)
    prompt_bits = uncovered_bits = 0.0
    # `9ms` and `44ms`, `save` and `saves`: what is one word of the answer tells once
    told: dict[str, tuple[float, int]] = {}
    for place, word in enumerate(prompt):
        part = best_part(word, names, body)
        evidence, _ = word.term_evidence[part.term]
        prompt_bits += evidence
        uncovered_bits += evidence * (1 - part.share)
        if bits := evidence * part.share * rarity_share(part.term, weights):
            told[part.own_term] = max(told.get(part.own_term, (0.0, 0)), (bits, place))
    first = (place for place, word in enumerate(names[0].text_words) if not told.keys().isdisjoint(terms_of(word)))
    return _WeighedText(
        names=names,
        body=body,
        ranks=answer.ranks,
        word_bits={place: bits for bits, place in told.values()},
        coverage=1 - uncovered_bits / prompt_bits if prompt_bits else 0.0,
        words_before=min(next(first, _MOST_WORDS_BEFORE), _MOST_WORDS_BEFORE),
    )


def _is_order(prompt_text: str) -> bool:
    """Return whether a prompt is a single word and no question; a sentence without blanks is no word."""
    words = split_words(prompt_text)
    return len(words) == 1 and not UNSPACED.match(words[0]) and not prompt_text.rstrip().endswith("?")


def _is_named(prompt: Sequence[PromptWord], title: AnswerText, body: AnswerText) -> bool:
    """Return whether a prompt of one word says which answer is meant: by its title, or by a rare word."""
    names = title.name_terms | body.name_terms
    return covers_title(title, prompt) or any(
        evidence * (NAME_FACTOR if term in names else 1) >= _LEAST_LONE_BITS
        for word in prompt
        for term, (evidence, _) in word.term_evidence.items()
    )


def is_transferable(technique: str, *, past_errors: Iterable[str], error: str) -> bool:
    """Return whether a technique fits an `error`, given the errors that it has fixed.

    Those are the same but for what they quote: `pip install pyyaml` is for no other module.
    """
    quoted = {name.casefold() for past_error in past_errors for name in re.findall(_QUOTED_NAME, past_error)}
    bound = {name for name in quoted if name in technique.casefold()}
    return not bound or any(name in error.casefold() for name in bound)
