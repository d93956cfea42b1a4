"""Minimum relevance of unasked suggestions.

A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute: the
odds that an answer is needed, in bits, by logistic regression (Cox, "The Regression Analysis of Binary Sequences",
Journal of the Royal Statistical Society B 20, 1958) on five signals of `AnswerSignals`. What tells most is how
far an answer is ahead of the next that says something else: where several fit a prompt as well, it is about their
topic, and needs none of them. `python -m tests.benchmarks.relevance_odds` fits the weights to the weeks of
`tests/context/weeks`, and says what they achieve on those that are held out.

A name that a prompt holds whole is evidence by itself, and what was asked for need not be likely.
The evidence of a shared word is -log2 of its share in general texts (Shannon, "A Mathematical Theory of
Communication", 1948), as inverse document frequency is for a collection (Robertson, "Understanding Inverse Document
Frequency", Journal of Documentation 60, 2004), less what any prompt shares with any text.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cache
from functools import cached_property

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import fold_text
from roamkb.kb.search.hits import Evidence
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.query import TermWeights
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.word_frequencies import RAREST_BITS
from roamkb.text.store.word_frequencies import term_bits
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stands_apart
from roamkb.text.tokenize import terms_of

#: Bits that any prompt shares with any text by chance; one word of ninety tells nothing.
_CHANCE_BITS: Final = 6.5
#: What a pair of letters tells of a script without blanks: pairs overlap, each letter is in two.
_PAIR_FACTOR: Final = 0.5
#: What a name tells beside a word as rare: `IL2CPP`, `Redsys`.
_NAME_FACTOR: Final = 1.5
#: Bits of a number, and of each of its digits.
_NUMBER_BITS: Final = 2.0
_DIGIT_BITS: Final = 3.3
#: Words of a body that tell as much as a title; of longer ones, by chance, some word fits any prompt.
_TITLE_LIKE_WORDS: Final = 20
#: The least evidence of a word that is a whole prompt and no question: `commit` is an order.
_LEAST_LONE_BITS: Final = 9.5
#: What a name of one word tells at most beside other words: the prompt may be about something else of its topic.
_MOST_LONE_NAME_BITS: Final = 9.5
#: The share of a question's evidence that an answer has which is sure to be about it.
_LEAST_SURE_SHARE: Final = 0.5
#: The bits of evidence, times the share, that it has at least.
_LEAST_SURE_BITS: Final = 2.5
#: Letters that forms of a word have in common at its beginning, and the least share of the longer form.
_STEM_LENGTH: Final = 4
_MIN_FORM_SHARE: Final = 0.6
#: Letters of the shortest part of a compound, and what the part tells of the whole.
_MIN_PART_LENGTH: Final = 5
_COMPOUND_SHARE: Final = 0.7
#: What a harness or a speaker pastes: a block in tags, or between fences.
_PASTED_BLOCK: Final = lazily(r"<([a-z][\w-]*)>.*?</\1>|```.*?(?:```|\Z)", re.DOTALL)
#: How a word is spelled that is a name wherever it stands.
_NAME_SPELLING: Final = lazily(r"\w*(?:[a-z_]\w*[A-Z]|[A-Z]\w*[A-Z]|[^\W\d]\w*\d|\d\w*[^\W\d]|_)\w*")
#: A capital in the middle of a sentence.
_MID_SENTENCE_CAPITAL: Final = lazily(r"(?<=[a-z0-9,;)] )[A-Z]\w+")
#: Words that hyphens make one, and the bits that such a word tells beside them.
_HYPHENATED_BITS: Final = 4.0
_HYPHENATED_WORD: Final = lazily(r"\w+(?:-\w+)+")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _PromptWord:
    """A word of a prompt, or a pair of letters of a script without blanks."""

    #: The terms that stand for it, the whole word first; each with what it tells, and by what that is parted.
    term_evidence: Mapping[str, tuple[float, float]]
    #: As it is compared with other forms; empty for a pair of letters.
    folded_word: str


class _SharedPart(NamedTuple):
    """What a text has of a word of the prompt: by which of the word's terms, as which of its own, and the share."""

    term: str
    own_term: str
    share: float


class _AnswerWorth(NamedTuple):
    """What prompt and answer share, in bits, and the share of the prompt's evidence that the answer has."""

    bits: float
    share: float


@dataclass(frozen=True)
class _AnswerText:
    """A title or a body, in the forms that are compared with prompts."""

    text: str

    @cached_property
    def text_words(self) -> Sequence[str]:
        return split_words(self.text)

    @cached_property
    def all_terms(self) -> Set[str]:
        return frozenset(term for word in self.text_words for term in terms_of(word))

    @cached_property
    def folded_forms(self) -> Set[str]:
        """The folded words, for comparison with their other forms."""
        return frozenset(fold_text(word) for word in self.text_words if len(word) >= _STEM_LENGTH)

    @cached_property
    def forms_by_stem(self) -> Mapping[str, Sequence[str]]:
        """The folded words by their first letters."""
        stems: dict[str, list[str]] = {}
        for form in self.folded_forms:
            stems.setdefault(form[:_STEM_LENGTH], []).append(form)
        return stems

    @cached_property
    def folded_text(self) -> str:
        return fold_text(self.text)

    def stands_in(self, folded_prompt: str) -> bool:
        """Return whether a folded prompt holds the whole of a name, apart from other words."""
        name = self.folded_text
        return bool(name) and name in folded_prompt and stands_apart(name, folded_prompt)

    @cached_property
    def name_bits(self) -> float:
        """The bits of a name that stands whole in a prompt: its words tell which one is meant, however many hold them.

        One word alone may be a topic of many.
        """
        words = [(word.isdigit(), max(map(_evidence_bits, terms_of(word)), default=0.0)) for word in self.text_words]
        return sum(bits for _, bits in words) if sum(number or bits > 0 for number, bits in words) > 1 else 0.0

    @cached_property
    def joined_forms(self) -> str:
        return f" {' '.join(self.folded_forms)} "

    @cached_property
    def name_terms(self) -> Set[str]:
        """The terms of words spelled as names; where each noun has a capital, capitals do not count."""
        if UNSPACED.search(self.text):
            # what such a script doesn't spell itself is one
            return frozenset(terms_of(word)[0] for word in self.text_words if not UNSPACED.match(word))
        # a word of small letters, but for the first, is none; most are
        unusual = (word for word in self.text_words if not (word.isalpha() and word[1:].islower()))
        spelled = [word for word in unusual if _NAME_SPELLING.fullmatch(word)]
        capitals: Sequence[str] = _MID_SENTENCE_CAPITAL.findall(self.text)
        if len(capitals) * 4 < len(self.text_words):
            spelled += capitals
        return frozenset(terms_of(word)[0] for word in spelled)


@cache
def _negated_topics() -> re.Pattern[str]:
    """Return a pattern for what a speaker mentions and doesn't ask for."""
    return re.compile(rf"\b{alternatives_pattern('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE)


@cache
def _note_questions() -> re.Pattern[str]:
    """Return a pattern for how a speaker asks for what is known: nobody is interrupted by an answer."""
    return re.compile(alternatives_pattern("asking_notes"), re.IGNORECASE)


class Answer(NamedTuple):
    """An answer of the search: its names, each of which counts by itself, what is shown beside them, its signals."""

    names: Sequence[str]
    body: str
    ranks: RankSignals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _WeighedText:
    """An answer's text, and what it has of a prompt."""

    title: _AnswerText
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
        terms, other_terms = self.title.all_terms, other.title.all_terms
        return len(terms & other_terms) >= _LIKE_SHARE * min(len(terms), len(other_terms))


def weigh_answers(
    text: str,
    weights: TermWeights,
    answers: Sequence[Answer],
    *,
    limits: RelevanceThreshold = INTERRUPTION_THRESHOLD,
) -> tuple[Sequence[float], float]:
    """Return the odds that each answer to `text` is needed, in bits, and the threshold, which rises with the best."""
    prompt_text, is_question = _asked_text(text)
    prompt = list(_prompt_words(prompt_text, weights))
    folded_prompt, is_order = fold_text(prompt_text), _is_order(prompt_text)
    bits = [_odds_bits(signals) for signals in _signals_of(prompt, weights, answers)]
    for place, (names, body, _) in enumerate(answers):
        titles = [_AnswerText(name) for name in names]
        name_bits = [_name_evidence(prompt, title, _AnswerText(body)) for title in titles]
        standing = [title for title in titles if title.stands_in(folded_prompt)]
        name_bits += [title.name_bits for title in standing]
        if is_question:
            name_bits += [_ASKED_WORD_BITS * len(title.text_words) for title in standing]
        if is_order and not any(_is_named(prompt, title, _AnswerText(body)) for title in titles):
            bits[place] = min(bits[place], _START_BITS)
        named_bits = max(name_bits, default=0.0) - _LEAST_NAME_BITS + INTERRUPTION_THRESHOLD.least_bits
        bits[place] = max(bits[place], named_bits)
    least = min(limits, START_THRESHOLD) if is_question else limits
    return bits, max(least.least_bits, max(bits, default=0.0) - _MOST_BEHIND)


def signals_of(text: str, weights: TermWeights, answers: Sequence[Answer]) -> Sequence[AnswerSignals]:
    """Return what speaks for each of the answers to `text`."""
    return _signals_of(list(_prompt_words(_asked_text(text)[0], weights)), weights, answers)


def _asked_text(text: str) -> tuple[str, bool]:
    """Return what a prompt asks for, without what is pasted or waved away; and whether it asks for notes."""
    asked_text, questions = _note_questions().subn(" ", _negated_topics().sub(" ", _PASTED_BLOCK.sub(" ", text)))
    return asked_text, questions > 0


def _odds_bits(signals: AnswerSignals) -> float:
    if not signals.coverage:
        # what the search found was pasted
        return _START_BITS
    return _START_BITS + sum((value * bits for value, bits in zip(signals, _SIGNAL_BITS, strict=True)), 0.0)


def _signals_of(prompt: Sequence[_PromptWord], weights: TermWeights, answers: Sequence[Answer]) -> list[AnswerSignals]:
    texts = [_weighed_text(prompt, weights, answer) for answer in answers]
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


def _weighed_text(prompt: Sequence[_PromptWord], weights: TermWeights, answer: Answer) -> _WeighedText:
    """Return the text of an answer with what it has of a prompt, in its names or, for less, in its body."""
    title, *aliases = map(_AnswerText, answer.names)
    body = _AnswerText(answer.body)
    body_factor = min(1.0, (_TITLE_LIKE_WORDS / max(1, len(body.text_words))) ** 0.5)
    prompt_bits = uncovered_bits = 0.0
    # `9ms` and `44ms`, `save` and `saves`: what is one word of the answer tells once
    told: dict[str, tuple[float, int]] = {}
    for place, word in enumerate(prompt):
        part = max((_shared_part(word, name) for name in (title, *aliases)), key=lambda part: part.share)
        if part.share < body_factor:
            in_body = _shared_part(word, body)
            if in_body.share * body_factor > part.share:
                part = in_body._replace(share=in_body.share * body_factor)
        evidence, _ = word.term_evidence[part.term]
        prompt_bits += evidence
        uncovered_bits += evidence * (1 - part.share)
        if bits := evidence * part.share * _rarity(part.term, weights):
            told[part.own_term] = max(told.get(part.own_term, (0.0, 0)), (bits, place))
    first = (place for place, word in enumerate(title.text_words) if not told.keys().isdisjoint(terms_of(word)))
    return _WeighedText(
        title=title,
        ranks=answer.ranks,
        word_bits={place: bits for bits, place in told.values()},
        coverage=1 - uncovered_bits / prompt_bits if prompt_bits else 0.0,
        words_before=min(next(first, _MOST_WORDS_BEFORE), _MOST_WORDS_BEFORE),
    )


def _rarity(term: str, weights: TermWeights) -> float:
    """Return the weight of a term as a share of the weight that a term of one text has."""
    return min(1.0, weights.terms.get(term, weights.rarest) / weights.rarest) if weights.rarest else 1.0


def _name_evidence(prompt: Sequence[_PromptWord], title: _AnswerText, body: _AnswerText) -> float:
    """Return the bits of a name of which the prompt has every word that tells."""
    return _answer_worth(prompt, (), title, body).bits if _covers_title(title, prompt) else 0.0


def _is_order(prompt_text: str) -> bool:
    """Return whether a prompt is a single word and no question; a sentence without blanks is no word."""
    words = split_words(prompt_text)
    return len(words) == 1 and not UNSPACED.match(words[0]) and not prompt_text.rstrip().endswith("?")


def _is_named(prompt: Sequence[_PromptWord], title: _AnswerText, body: _AnswerText) -> bool:
    """Return whether a prompt of one word says which answer is meant: by its title, or by a rare word."""
    names = title.name_terms | body.name_terms
    return _covers_title(title, prompt) or any(
        evidence * (_NAME_FACTOR if term in names else 1) >= _LEAST_LONE_BITS
        for word in prompt
        for term, (evidence, _) in word.term_evidence.items()
    )


def rate_evidence(
    words: Sequence[str], weights: TermWeights, answers: Iterable[tuple[Sequence[str], str]]
) -> list[Evidence]:
    """Return for each answer to a search for `words` whether it may be relied on to be about them.

    An answer is its names, each of which counts by itself, and what is shown beside them. Half of what is asked for
    has to be in it: one rare word of three is a note on something else.
    """
    prompt = list(_prompt_words(" ".join(words), weights))
    worths = (
        max(_answer_worth(prompt, (), _AnswerText(name), body) for name in names)
        for names, body in ((names, _AnswerText(text)) for names, text in answers)
    )
    return [
        Evidence(worth.bits, worth.share, worth.bits >= _LEAST_SURE_BITS and worth.share >= _LEAST_SURE_SHARE)
        for worth in worths
    ]


def _prompt_words(text: str, weights: TermWeights) -> Iterator[_PromptWord]:
    """Yield each word of a prompt that carries evidence, once."""
    yielded_units: set[str] = set()
    for word in split_words(text):
        folded_word = fold_text(word)
        is_unspaced = UNSPACED.match(word) is not None
        for unit in filter(_is_of_one_script, letter_pairs(word)) if is_unspaced else (folded_word,):
            if unit in yielded_units or len(unit) < 2:
                continue
            yielded_units.add(unit)
            terms = (unit,) if is_unspaced else terms_of(word)
            term_evidence = {
                term: (_evidence_bits(term), _crowding_divisor(term, weights)) for term in terms if len(term) > 1
            }
            if any(evidence for evidence, _ in term_evidence.values()):
                yield _PromptWord(term_evidence=term_evidence, folded_word="" if is_unspaced else folded_word)


def _evidence_bits(term: str) -> float:
    """Return the bits of evidence of a shared term."""
    if term.isdigit():
        return max(0.0, min(RAREST_BITS, _NUMBER_BITS + _DIGIT_BITS * len(term)) - _CHANCE_BITS)
    return max(0.0, term_bits(term) - _CHANCE_BITS) * (_PAIR_FACTOR if UNSPACED.match(term) else 1)


def _crowding_divisor(term: str, weights: TermWeights) -> float:
    """Return the divisor of a term's evidence: 1 where one answer has the term, more where several do."""
    return 1 + max(0.0, weights.rarest - weights.terms.get(term, weights.rarest))


def _is_of_one_script(pair: str) -> bool:
    """Return whether a pair of letters may belong to one word: Japanese words end where a script ends."""
    return len({(letter >= "\u3040") + (letter >= "\u30a0") + (letter >= "\u3100") for letter in pair}) == 1


def _answer_worth(
    prompt: Sequence[_PromptWord], hyphenated_names: Sequence[str], title: _AnswerText, body: _AnswerText
) -> _AnswerWorth:
    """Return the bits that prompt and answer share, times their share of the prompt's bits; and what is covered."""
    body_factor = min(1.0, (_TITLE_LIKE_WORDS / max(1, len(body.text_words))) ** 0.5)
    names = title.name_terms | body.name_terms
    prompt_bits = uncovered_bits = 0.0
    # `9ms` and `44ms`, `save` and `saves`: what is one word of the answer tells once
    told_bits: dict[str, float] = {}
    for word in prompt:
        part = _shared_part(word, title)
        if part.share < body_factor:
            in_body = _shared_part(word, body)
            if in_body.share * body_factor > part.share:
                part = in_body._replace(share=in_body.share * body_factor)
        evidence, crowd = word.term_evidence[part.term]
        evidence *= _NAME_FACTOR if part.term in names else 1
        told_bits[part.own_term] = max(told_bits.get(part.own_term, 0.0), evidence * part.share / crowd)
        uncovered_bits += evidence * (1 - part.share)
        prompt_bits += evidence
    shared_bits = _HYPHENATED_BITS * sum(name in fold_text(f"{title.text}\n{body.text}") for name in hyphenated_names)
    shared_bits += sum(told_bits.values())
    if not shared_bits:
        return _AnswerWorth(0.0, 0.0)
    # a hyphenated name tells beside the words that it is made of
    covered_share = 1 - uncovered_bits / prompt_bits if prompt_bits else 1.0
    worth_bits = shared_bits * shared_bits / (shared_bits + uncovered_bits)
    if _covers_title(title, prompt):
        most = _MOST_LONE_NAME_BITS if len(title.text_words) == 1 else shared_bits
        return _AnswerWorth(max(worth_bits, min(shared_bits, most)), covered_share)
    return _AnswerWorth(worth_bits, covered_share)


def _covers_title(title: _AnswerText, prompt: Sequence[_PromptWord]) -> bool:
    """Return whether a prompt has every word of a title that carries evidence."""
    if len(title.text_words) > len(prompt):
        return False
    prompt_terms = {term for word in prompt for term in word.term_evidence}
    title_words = [
        terms
        for word in title.text_words
        for terms in ([[pair] for pair in letter_pairs(word)] if UNSPACED.match(word) else [terms_of(word)])
    ]
    # the words that the prompt lacks come first: of most titles, one look into the table is enough
    title_words.sort(key=lambda terms: _has_word(prompt_terms, terms))
    telling_words = (terms for terms in title_words if terms[0].isdigit() or any(map(_evidence_bits, terms)))
    first_telling = next(telling_words, None)
    return first_telling is not None and _has_word(prompt_terms, first_telling)


def _has_word(prompt_terms: set[str], terms: Sequence[str]) -> bool:
    """Return whether a prompt has a word by its terms: whole, or each part of an identifier."""
    whole, *parts = terms
    return whole in prompt_terms or (bool(parts) and prompt_terms.issuperset(parts))


def _shared_part(word: _PromptWord, text: _AnswerText) -> _SharedPart:
    """Return what a text has of a word, in the same form or in another one."""
    shared_terms = [term for term in word.term_evidence if term in text.all_terms]
    if shared_terms:
        term = max(shared_terms, key=lambda term: word.term_evidence[term][0])
        return _SharedPart(term, term, 1.0)
    term = next(iter(word.term_evidence))
    forms = text.forms_by_stem.get(word.folded_word[:_STEM_LENGTH], ())
    share, form = max(((_common_prefix_share(word.folded_word, form), form) for form in forms), default=(0.0, ""))
    if share >= _MIN_FORM_SHARE:
        return _SharedPart(term, terms_of(form)[0], share)
    return _SharedPart(term, term, _compound_share(word.folded_word, text))


def _compound_share(folded_word: str, text: _AnswerText) -> float:
    """Return the share of a word that a compound covers of which it is a part, or that has a part of it."""
    if len(folded_word) < _MIN_PART_LENGTH:
        return 0.0
    is_part = f" {folded_word}" in text.joined_forms or f"{folded_word} " in text.joined_forms
    lengths = range(_MIN_PART_LENGTH, len(folded_word))
    is_whole = any(folded_word[:n] in text.folded_forms or folded_word[-n:] in text.folded_forms for n in lengths)
    return _COMPOUND_SHARE if is_part or is_whole else 0.0


def _common_prefix_share(word: str, form: str) -> float:
    """Return the length of the common prefix as a share of the longer word."""
    length = 0
    for word_letter, form_letter in zip(word, form, strict=False):
        if word_letter != form_letter:
            break
        length += 1
    return length / max(len(word), len(form))


def is_transferable(technique: str, *, past_errors: Iterable[str], error: str) -> bool:
    """Return whether a technique fits an `error`, given the errors that it has fixed.

    Those are the same but for what they quote: `pip install pyyaml` is for no other module.
    """
    quoted = {name.casefold() for past_error in past_errors for name in re.findall(_QUOTED_NAME, past_error)}
    bound = {name for name in quoted if name in technique.casefold()}
    return not bound or any(name in error.casefold() for name in bound)
