"""The relevance threshold of unasked suggestions.

A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute:
bits of evidence. A word that prompt and answer share tells -log2 of its share in general texts (Shannon,
"A Mathematical Theory of Communication", 1948), as inverse document frequency does for a collection
(Robertson, "Understanding Inverse Document Frequency", Journal of Documentation 60, 2004), less what any
prompt shares with any text; the more answers of the base hold it, the less it tells which one is meant. What
an answer's words tell together counts by the share of the prompt that they cover: `fastify?` is covered
wholly, one word of a pasted document isn't.

The constants were chosen on one half of `tests/context/needs`, in five languages; the other half holds them.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cached_property
from typing import Final
from typing import TypeVar

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.kb.search.query import TermWeights
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.word_frequencies import RAREST
from roamkb.text.store.word_frequencies import bits
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

_T = TypeVar("_T")

#: Bits that any prompt shares with any text by chance; one word of ninety tells nothing.
_BY_CHANCE: Final = 6.5
#: What a pair of letters tells of a script without blanks: pairs overlap, each letter is in two.
_OVERLAP: Final = 0.5
#: What a name tells beside a word as rare: `IL2CPP`, `Redsys`.
_NAMED: Final = 1.5
#: Bits of a number, and of each of its digits.
_NUMBER: Final = 2.0
_DIGIT: Final = 3.3
#: Words of a body that tell as much as a title; of longer ones, by chance, some word fits any prompt.
_BODY: Final = 20
#: What an answer loses for each place that the search puts it behind the best, and for how many.
_BEHIND: Final = 0.1
_MOST_BEHIND: Final = 3
#: The share of the best answer's worth.
_LEAST_OF_BEST: Final = 0.85
#: Letters that forms of a word have in common at its beginning, and the least share of the longer form.
_STEM: Final = 4
_ALIKE: Final = 0.6
#: Letters of the shortest part of a compound, and what the part tells of the whole.
_PART: Final = 5
_COMPOUND: Final = 0.7
#: What a speaker mentions and doesn't ask for.
_NEGATED_TOPICS: Final = lazily(
    rf"\b{alternatives_pattern('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE
)
#: How a speaker asks for what is known: nobody is interrupted by an answer.
_ASKING: Final = lazily(alternatives_pattern("asking_notes"), re.IGNORECASE)
#: What a harness or a speaker pastes: a block in tags, or between fences.
_PASTED: Final = lazily(r"<([a-z][\w-]*)>.*?</\1>|```.*?(?:```|\Z)", re.DOTALL)
#: How a word is spelled that is a name wherever it stands.
_NAME: Final = lazily(r"\w*(?:[a-z_]\w*[A-Z]|[A-Z]\w*[A-Z]|[^\W\d]\w*\d|\d\w*[^\W\d]|_)\w*")
#: A capital in the middle of a sentence.
_CAPITAL: Final = lazily(r"(?<=[a-z0-9,;)] )[A-Z]\w+")
#: Words that hyphens make one, and the bits that such a word tells beside them.
_JOINT: Final = 4.0
_JOINED: Final = lazily(r"\w+(?:-\w+)+")
#: What an error quotes: a module, a key, a file.
_QUOTED_NAME: Final = r"['\"`‘“]([^'\"`’”\n]{2,80})['\"`’”]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceThreshold:
    """The least that an answer has to share with the text that it answers."""

    #: Of evidence, times the share of the prompt's that they are.
    bits: float


INTERRUPTION_THRESHOLD: Final = RelevanceThreshold(bits=4.75)
#: Where nobody is interrupted.
START_THRESHOLD: Final = RelevanceThreshold(bits=2.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PromptWord:
    """A word of a prompt, or of a script without blanks a pair of letters."""

    #: The terms that stand for it, the whole word first; each with what it tells, and by what that is parted.
    terms: Mapping[str, tuple[float, float]]
    #: As it is compared with other forms; empty for a pair of letters.
    plain: str

    @property
    def bits(self) -> float:
        """What the whole of it tells."""
        return next(iter(self.terms.values()))[0]


@dataclass(frozen=True)
class _AnswerText:
    """A title or a body, as prompts are compared with it."""

    text: str

    @cached_property
    def words(self) -> Sequence[str]:
        return split_words(self.text)

    @cached_property
    def terms(self) -> Set[str]:
        return frozenset(term for word in self.words for term in terms_of(word))

    @cached_property
    def forms(self) -> Set[str]:
        """The words as they are compared with other forms of them."""
        return frozenset(fold_text(word) for word in self.words if len(word) >= _STEM)

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[str]]:
        """The forms by their first letters."""
        stems: dict[str, list[str]] = {}
        for form in self.forms:
            stems.setdefault(form[:_STEM], []).append(form)
        return stems

    @cached_property
    def plain(self) -> str:
        return f" {' '.join(self.forms)} "

    @cached_property
    def names(self) -> Set[str]:
        """The terms of what is spelled as a name; where each noun has a capital, capitals say nothing."""
        if UNSPACED.search(self.text):
            # what such a script doesn't spell itself is one
            return frozenset(terms_of(word)[0] for word in self.words if not UNSPACED.match(word))
        spelled = [word for word in self.words if _NAME.fullmatch(word)]
        capitals: Sequence[str] = _CAPITAL.findall(self.text)
        if len(capitals) * 4 < len(self.words):
            spelled += capitals
        return frozenset(terms_of(word)[0] for word in spelled)


def select_relevant(
    text: str,
    weights: TermWeights,
    answers: Iterable[tuple[_T, str, str]],
    *,
    limits: RelevanceThreshold = INTERRUPTION_THRESHOLD,
) -> list[_T]:
    """Return the answers to `text` that reach the threshold, in their order.

    An answer comes with its title and with what is shown beside it.
    """
    asked = _NEGATED_TOPICS.sub(" ", _PASTED.sub(" ", text))
    asked, asks = _ASKING.subn(" ", asked)
    prompt = list(_prompt_words(asked, weights))
    joined = [fold_text(name) for name in _JOINED.findall(asked)]
    worths = [
        (
            answer,
            _answer_worth(prompt, joined, _AnswerText(title), _AnswerText(body))
            * (1 - _BEHIND * min(place, _MOST_BEHIND)),
        )
        for place, (answer, title, body) in enumerate(answers)
    ]
    best = max((worth for _, worth in worths), default=0.0)
    threshold = max(min(limits.bits, START_THRESHOLD.bits) if asks else limits.bits, _LEAST_OF_BEST * best)
    return [answer for answer, worth in worths if worth >= threshold]


def _prompt_words(text: str, weights: TermWeights) -> Iterator[_PromptWord]:
    """Yield each word of a prompt that tells anything, once."""
    seen: set[str] = set()
    for word in split_words(text):
        plain = fold_text(word)
        is_unspaced = UNSPACED.match(word) is not None
        for each in filter(_is_of_one_script, letter_pairs(word)) if is_unspaced else (plain,):
            if each in seen or len(each) < 2:
                continue
            seen.add(each)
            terms = (each,) if is_unspaced else terms_of(word)
            told = {term: (_evidence(term), _crowd(term, weights)) for term in terms if len(term) > 1}
            if any(evidence for evidence, _ in told.values()):
                yield _PromptWord(terms=told, plain="" if is_unspaced else plain)


def _evidence(term: str) -> float:
    """Return the bits that a term tells wherever it is shared."""
    if term.isdigit():
        return max(0.0, min(RAREST, _NUMBER + _DIGIT * len(term)) - _BY_CHANCE)
    return max(0.0, bits(term) - _BY_CHANCE) * (_OVERLAP if UNSPACED.match(term) else 1)


def _crowd(term: str, weights: TermWeights) -> float:
    """Return by what a term's evidence is parted: 1 where one answer holds it, more where others do."""
    return 1 + max(0.0, weights.rarest - weights.terms.get(term, weights.rarest))


def _is_of_one_script(pair: str) -> bool:
    """Say whether a pair of letters may be of one word: where a script ends, Japanese words end."""
    return len({(letter >= "\u3040") + (letter >= "\u30a0") + (letter >= "\u3100") for letter in pair}) == 1


def _answer_worth(prompt: Sequence[_PromptWord], joined: Sequence[str], title: _AnswerText, body: _AnswerText) -> float:
    """Return the bits that prompt and answer share, times the share of the prompt's that they are."""
    beside = min(1.0, (_BODY / max(1, len(body.words))) ** 0.5)
    names = title.names | body.names
    left = 0.0
    shared = _JOINT * sum(name in fold_text(f"{title.text}\n{body.text}") for name in joined)
    for word in prompt:
        term, in_title = _share(word, title)
        share = in_title
        if in_title < beside:
            other, in_body = _share(word, body)
            if in_body * beside > in_title:
                term, share = other, in_body * beside
        evidence, crowd = word.terms[term]
        evidence *= _NAMED if term in names else 1
        shared += evidence * share / crowd
        left += evidence * (1 - share)
    if shared and _is_whole(title, prompt):
        return shared
    return shared * shared / (shared + left) if shared else 0.0


def _is_whole(title: _AnswerText, prompt: Sequence[_PromptWord]) -> bool:
    """Say whether a prompt has each word of a title that tells anything."""
    if len(title.words) > len(prompt):
        return False
    asked = {term for word in prompt for term in word.terms}
    telling = [
        terms
        for word in title.words
        for terms in ([[pair] for pair in letter_pairs(word)] if UNSPACED.match(word) else [terms_of(word)])
        if any(map(_evidence, terms))
    ]
    return bool(telling) and all(asked.intersection(terms) for terms in telling)


def _share(word: _PromptWord, text: _AnswerText) -> tuple[str, float]:
    """Return the term by which a text has a word, and how much of the word that is."""
    held = [term for term in word.terms if term in text.terms]
    if held:
        return max(held, key=lambda term: word.terms[term][0]), 1.0
    return next(iter(word.terms)), _likeness(word.plain, text)


def _likeness(plain: str, text: _AnswerText) -> float:
    """Return how much of a word another form of it in the text has, or a compound of either."""
    shares = (_common(plain, form) for form in text.by_stem.get(plain[:_STEM], ()))
    most = max(shares, default=0.0)
    if most >= _ALIKE:
        return most
    if len(plain) < _PART:
        return 0.0
    is_part = f" {plain}" in text.plain or f"{plain} " in text.plain
    lengths = range(_PART, len(plain))
    is_whole = any(plain[:n] in text.forms or plain[-n:] in text.forms for n in lengths)
    return _COMPOUND if is_part or is_whole else 0.0


def _common(one: str, other: str) -> float:
    """Return the share of the longer word that both begin with."""
    length = 0
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            break
        length += 1
    return length / max(len(one), len(other))


def is_transferable(technique: str, *, past_errors: Iterable[str], error: str) -> bool:
    """Say whether a technique fits an `error`, given the errors that it was for.

    Those are the same but for what they quote: `pip install pyyaml` is for no other module.
    """
    quoted = {name.casefold() for past_error in past_errors for name in re.findall(_QUOTED_NAME, past_error)}
    bound = {name for name in quoted if name in technique.casefold()}
    return not bound or any(name in error.casefold() for name in bound)
