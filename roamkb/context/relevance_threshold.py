"""Minimum relevance of unasked suggestions.

A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute:
bits of evidence. A word that prompt and answer share tells -log2 of its share in general texts (Shannon,
"A Mathematical Theory of Communication", 1948), as inverse document frequency does for a collection
(Robertson, "Understanding Inverse Document Frequency", Journal of Documentation 60, 2004), less what any
prompt shares with any text; the more answers of the base hold it, the less it tells which one is meant. What
an answer's words tell together counts by the share of the prompt that they cover: `fastify?` is covered
wholly, one word of a pasted document isn't. A longer message asks in one of its sentences: each is a prompt by
itself, less what one more look finds by chance.

The constants were chosen on one half of `tests/context/needs`, in five languages; the other half holds them.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cache
from functools import cached_property
from math import log2

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.startup.typing import TypeVar
from roamkb.core.text import fold_text
from roamkb.kb.search.hits import Evidence
from roamkb.kb.search.query import TermWeights
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.word_frequencies import RAREST_BITS
from roamkb.text.store.word_frequencies import term_bits
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stands_apart
from roamkb.text.tokenize import terms_of

_T = TypeVar("_T")

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
#: What an answer loses for each place that the search puts it behind the best, and for how many.
_RANK_PENALTY: Final = 0.1
_MAX_PENALIZED_RANKS: Final = 3
#: The least evidence of a word that is a whole prompt and no question: `commit` is an order.
_LEAST_LONE_BITS: Final = 9.5
#: What a name of one word tells at most beside other words: the prompt may be about something else of its topic.
_MOST_LONE_NAME_BITS: Final = 9.5
#: The share of the best answer's worth.
_MIN_SHARE_OF_BEST: Final = 0.85
#: The share of a question's evidence that an answer has which is sure to be about it.
_LEAST_SURE_SHARE: Final = 0.5
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
#: Where a sentence ends, and how many count of a message: what is pasted stands between those that ask.
_SENTENCE_END: Final = lazily(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FIRST_SENTENCES: Final = 4
_LAST_SENTENCES: Final = 8
#: Bits that a match with one sentence lacks for each doubling of their number.
_BITS_PER_DOUBLING: Final = 0.8
#: What each word of a name tells that stands whole in a question for notes: the longer one is meant.
_ASKED_WORD_BITS: Final = 8.0
#: What an error quotes: a module, a key, a file.
_QUOTED_NAME: Final = r"['\"`‘“]([^'\"`’”\n]{2,80})['\"`’”]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceThreshold:
    """The least evidence that an answer has to share with the prompt."""

    #: Of evidence, times the share of the prompt's that they are.
    least_bits: float


INTERRUPTION_THRESHOLD: Final = RelevanceThreshold(least_bits=4.75)
#: Where nobody is interrupted.
START_THRESHOLD: Final = RelevanceThreshold(least_bits=2.5)


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


class _Prompt:
    """A prompt, or a sentence of one."""

    def __init__(self, text: str, weights: TermWeights) -> None:
        self._words = list(_prompt_words(text, weights))
        self._hyphenated_names = [fold_text(name) for name in _HYPHENATED_WORD.findall(text)]
        self._folded_text = fold_text(text)
        self._is_order = _is_order(text)

    def worth_bits(self, titles: Sequence[_AnswerText], body: _AnswerText) -> float:
        """Return the bits of evidence that an answer is worth, by that of its names which tells most."""
        if self._is_order:
            titles = [title for title in titles if _is_named(self._words, title, body)]
        bits = [_answer_worth(self._words, self._hyphenated_names, title, body).bits for title in titles]
        bits += [title.name_bits for title in titles if title.stands_in(self._folded_text)]
        return max(bits, default=0.0)


def _asking_sentences(text: str) -> Sequence[str]:
    """Return the sentences of a message that may ask for something; none of a prompt that is one sentence."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) < 2:
        return ()
    return [*sentences[:_FIRST_SENTENCES], *sentences[_FIRST_SENTENCES:][-_LAST_SENTENCES:]]


@cache
def _negated_topics() -> re.Pattern[str]:
    """Return a pattern for what a speaker mentions and doesn't ask for."""
    return re.compile(rf"\b{alternatives_pattern('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE)


@cache
def _note_questions() -> re.Pattern[str]:
    """Return a pattern for how a speaker asks for what is known: nobody is interrupted by an answer."""
    return re.compile(alternatives_pattern("asking_notes"), re.IGNORECASE)


def weigh_answers(
    text: str,
    weights: TermWeights,
    answers: Iterable[tuple[_T, Sequence[str], str]],
    *,
    limits: RelevanceThreshold = INTERRUPTION_THRESHOLD,
) -> tuple[Sequence[tuple[_T, float]], float]:
    """Return the answers to `text`, each with its worth in bits, and the threshold, which rises with the best.

    An answer comes with its names, each of which counts by itself, and with what is shown beside them.
    """
    prompt_text = _negated_topics().sub(" ", _PASTED_BLOCK.sub(" ", text))
    prompt_text, is_question = _note_questions().subn(" ", prompt_text)
    whole = _Prompt(prompt_text, weights)
    sentences = [_Prompt(sentence, weights) for sentence in _asking_sentences(prompt_text)]
    chance_bits = _BITS_PER_DOUBLING * log2(len(sentences) + 1)
    asked_text = fold_text(prompt_text) if is_question else ""
    worths: list[tuple[_T, float]] = []
    for rank, (answer, names, body_text) in enumerate(answers):
        titles, body = [_AnswerText(name) for name in names], _AnswerText(body_text)
        best_bits = max((sentence.worth_bits(titles, body) for sentence in sentences), default=0.0) - chance_bits
        bits = max(whole.worth_bits(titles, body), best_bits)
        bits *= 1 - _RANK_PENALTY * min(rank, _MAX_PENALIZED_RANKS)
        asked_names = (title for title in titles if title.stands_in(asked_text))
        asked_bits = max((_ASKED_WORD_BITS * len(title.text_words) for title in asked_names), default=0.0)
        worths.append((answer, max(bits, asked_bits)))
    best = max((worth for _, worth in worths), default=0.0)
    threshold = max(
        min(limits.least_bits, START_THRESHOLD.least_bits) if is_question else limits.least_bits,
        _MIN_SHARE_OF_BEST * best,
    )
    return worths, threshold


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

    An answer is its names, each of which counts by itself, and what is shown beside them. The threshold is that
    of a session's start, since who searches isn't interrupted; and half of what is asked for has to be in it: one
    rare word of three is a note on something else.
    """
    prompt = list(_prompt_words(" ".join(words), weights))
    worths = (
        max(_answer_worth(prompt, (), _AnswerText(name), body) for name in names)
        for names, body in ((names, _AnswerText(text)) for names, text in answers)
    )
    return [
        Evidence(worth.bits, worth.share, worth.bits >= START_THRESHOLD.least_bits and worth.share >= _LEAST_SURE_SHARE)
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
