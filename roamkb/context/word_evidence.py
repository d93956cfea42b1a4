"""What the words of a prompt tell of a text that has them.

The evidence of a shared word is -log2 of its share in general texts (Shannon, "A Mathematical Theory of
Communication", 1948), as inverse document frequency is for a collection (Robertson, "Understanding Inverse Document
Frequency", Journal of Documentation 60, 2004), less what any prompt shares with any text.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cached_property
from math import sqrt

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import fold_text
from roamkb.kb.search.hits import Evidence
from roamkb.kb.search.query import TermWeights
from roamkb.text.inflection import is_form
from roamkb.text.store.word_frequencies import RAREST_BITS
from roamkb.text.store.word_frequencies import term_bits
from roamkb.text.tokenize import SENTENCE_END
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
NAME_FACTOR: Final = 1.5
#: Bits of a number, and of each of its digits.
_NUMBER_BITS: Final = 2.0
_DIGIT_BITS: Final = 3.3
#: Words of a body that tell as much as a title; of longer ones, by chance, some word fits any prompt.
_TITLE_LIKE_WORDS: Final = 20
#: What a name of one word tells at most beside other words: the prompt may be about something else of its topic.
_MOST_LONE_NAME_BITS: Final = 9.5
#: The share of a question's evidence that an answer has which is sure to be about it.
_LEAST_SURE_SHARE: Final = 0.5
#: The bits of evidence, times the share, that it has at least.
_LEAST_SURE_BITS: Final = 2.5
#: The words that it holds at least, of several words, and the share of the evidence with which one is enough.
_LEAST_HELD: Final = 2
_LONE_SHARE: Final = 0.6
#: Words that name one thing: what has them says them in one place. Those of a longer question lie about in its answer.
_MOST_NAMING: Final = 3
#: Letters that forms of a word have in common at its beginning, and the least share of the longer form.
_STEM_LENGTH: Final = 4
_MIN_FORM_SHARE: Final = 0.6
#: Letters of the shortest part of a compound, and what the part tells of the whole.
_MIN_PART_LENGTH: Final = 5
_COMPOUND_SHARE: Final = 0.7
#: Letters of the longest word that may be a compound; each of its beginnings and endings is looked up.
_LONGEST_COMPOUND: Final = 64
#: How a word is spelled that is a name wherever it stands.
_NAME_SPELLING: Final = lazily(r"\w*(?:[a-z_]\w*[A-Z]|[A-Z]\w*[A-Z]|[^\W\d]\w*\d|\d\w*[^\W\d]|_)\w*")
#: A capital in the middle of a sentence.
_MID_SENTENCE_CAPITAL: Final = lazily(r"(?<=[a-z0-9,;)] )[A-Z]\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWord:
    """A word of a prompt, or a pair of letters of a script without blanks."""

    #: The terms that stand for it, the whole word first; each with what it tells, and by what that is parted.
    term_evidence: Mapping[str, tuple[float, float]]
    #: As it is compared with other forms; empty for a pair of letters.
    folded_word: str


class SharedPart(NamedTuple):
    """What a text has of a word of the prompt: by which of the word's terms, as which of its own, and the share."""

    term: str
    own_term: str
    share: float


class AnswerWorth(NamedTuple):
    """What prompt and answer share, in bits, and the share of the prompt's evidence that the answer has."""

    bits: float
    share: float


@dataclass(frozen=True)
class AnswerText:
    """A title or a body, in the forms that are compared with prompts."""

    text: str

    @cached_property
    def text_words(self) -> Sequence[str]:
        """The words in their order."""
        return split_words(self.text)

    @cached_property
    def share_as_body(self) -> float:
        """What a word of the text tells beside one of a title."""
        return min(1.0, sqrt(_TITLE_LIKE_WORDS / max(1, len(self.text_words))))

    @cached_property
    def all_terms(self) -> Set[str]:
        """The terms of all words."""
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
        """The text as it is compared with other spellings."""
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
        """The folded words between blanks, to look for a word's part."""
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


def rate_evidence(
    words: Sequence[str], weights: TermWeights, answers: Iterable[tuple[Sequence[str], str]]
) -> list[Evidence]:
    """Return for each answer to a search for `words` whether it may be relied on to be about them.

    An answer is its names, each of which counts by itself, and what is shown beside them. Half of what is asked for
    has to be in it: one rare word of three is a note on something else. So has half of the words,
    and as a rule two, which stand together where few were asked for.
    """
    prompt = list(prompt_words(" ".join(words), weights))
    return [_rate_answer(prompt, tuple(map(AnswerText, names)), AnswerText(text)) for names, text in answers]


def _rate_answer(prompt: Sequence[PromptWord], names: Sequence[AnswerText], body: AnswerText) -> Evidence:
    worth = max(shared_worth(prompt, name, body) for name in names)
    is_enough = worth.bits >= _LEAST_SURE_BITS and worth.share >= _LEAST_SURE_SHARE
    is_held = is_enough and _holds_most(prompt, (*names, body)) and _holds_together(prompt, names, body)
    return Evidence(worth.bits, worth.share, is_held)


def _holds_together(prompt: Sequence[PromptWord], names: Sequence[AnswerText], body: AnswerText) -> bool:
    """Return whether the words of a prompt that a text has stand in one sentence, or in its names, if they are few.

    `reward shaping` is one thing, and a text that says both words in other sentences is about something else.
    """
    words = [word for word in prompt if word.folded_word]
    beside = [word for word in words if not any(_holds_word(word, name) for name in names)]
    if len(words) > _MOST_NAMING or len(beside) < _LEAST_HELD:
        return True
    held = sum(_holds_word(word, body) for word in beside)
    sentences = map(AnswerText, SENTENCE_END.split(body.text))
    return any(sum(_holds_word(word, sentence) for word in beside) == held for sentence in sentences)


def _holds_most(prompt: Sequence[PromptWord], texts: Sequence[AnswerText]) -> bool:
    """Return whether texts hold half of the words of a prompt and two of them, one as a word and not in a compound.

    One of two is enough if nearly all lies in it: `Emacs` of *is Emacs good*.

    Other words with a beginning in common are none of them: `rebase`, `rebar`.
    """
    words = [word for word in prompt if word.folded_word]
    whole = [word for word in words if any(_holds_word(word, text) for text in texts)]
    parts = [
        word for word in words if word not in whole and any(_compound_share(word.folded_word, text) for text in texts)
    ]
    told, asked = (sum(map(_whole_evidence, some)) for some in (whole, words))
    least = 1 if told >= _LONE_SHARE * asked else _LEAST_HELD
    return not words or (bool(whole) and len(whole) + len(parts) >= max(len(words) / 2, least))


def _whole_evidence(word: PromptWord) -> float:
    return next(iter(word.term_evidence.values()))[0]


def _holds_word(word: PromptWord, text: AnswerText) -> bool:
    """Return whether a text holds a word in some form."""
    if next(iter(word.term_evidence)) in text.all_terms:
        return True
    forms = text.forms_by_stem.get(word.folded_word[:_STEM_LENGTH], ())
    return any(is_form(form, word.folded_word) for form in forms)


def prompt_words(text: str, weights: TermWeights) -> Iterator[PromptWord]:
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
                yield PromptWord(term_evidence=term_evidence, folded_word="" if is_unspaced else folded_word)


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


def rarity_share(term: str, weights: TermWeights) -> float:
    """Return the weight of a term as a share of the weight that a term of one text has."""
    return min(1.0, weights.terms.get(term, weights.rarest) / weights.rarest) if weights.rarest else 1.0


def shared_worth(prompt: Sequence[PromptWord], title: AnswerText, body: AnswerText) -> AnswerWorth:
    """Return the bits that prompt and answer share, times their share of the prompt's bits; and what is covered."""
    names = title.name_terms | body.name_terms
    prompt_bits = uncovered_bits = 0.0
    # `9ms` and `44ms`, `save` and `saves`: what is one word of the answer tells once
    told_bits: dict[str, float] = {}
    for word in prompt:
        part = best_part(word, (title,), body)
        evidence, crowd = word.term_evidence[part.term]
        evidence *= NAME_FACTOR if part.term in names else 1
        told_bits[part.own_term] = max(told_bits.get(part.own_term, 0.0), evidence * part.share / crowd)
        uncovered_bits += evidence * (1 - part.share)
        prompt_bits += evidence
    shared_bits = sum(told_bits.values())
    if not shared_bits:
        return AnswerWorth(0.0, 0.0)
    covered_share = 1 - uncovered_bits / prompt_bits
    worth_bits = shared_bits * shared_bits / (shared_bits + uncovered_bits)
    if covers_title(title, prompt):
        most = _MOST_LONE_NAME_BITS if len(title.text_words) == 1 else shared_bits
        return AnswerWorth(max(worth_bits, min(shared_bits, most)), covered_share)
    return AnswerWorth(worth_bits, covered_share)


def best_part(word: PromptWord, names: Sequence[AnswerText], body: AnswerText) -> SharedPart:
    """Return what an answer has of a word, in one of its names or, for less, in its body."""
    part = max((_shared_part(word, name) for name in names), key=lambda part: part.share)
    if part.share < body.share_as_body:
        in_body = _shared_part(word, body)
        if in_body.share * body.share_as_body > part.share:
            return in_body._replace(share=in_body.share * body.share_as_body)
    return part


def covers_title(title: AnswerText, prompt: Sequence[PromptWord]) -> bool:
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


def _shared_part(word: PromptWord, text: AnswerText) -> SharedPart:
    """Return what a text has of a word, in the same form or in another one."""
    term, *parts = word.term_evidence
    if term in text.all_terms:
        return SharedPart(term, term, 1.0)
    if shared_parts := [part for part in parts if part in text.all_terms]:
        return _shared_by_parts(word, term, shared_parts)
    forms = text.forms_by_stem.get(word.folded_word[:_STEM_LENGTH], ())
    share, form = max(((_common_prefix_share(word.folded_word, form), form) for form in forms), default=(0.0, ""))
    if share >= _MIN_FORM_SHARE:
        return SharedPart(term, terms_of(form)[0], share)
    return SharedPart(term, term, _compound_share(word.folded_word, text))


def _shared_by_parts(word: PromptWord, term: str, shared_parts: Sequence[str]) -> SharedPart:
    """Return what the best part of an identifier tells of it: `log` is little of `log4j`, and a number nothing."""
    bits = {part: 0.0 if part.isdigit() else evidence for part, (evidence, _) in word.term_evidence.items()}
    best = max(shared_parts, key=lambda part: bits[part])
    return SharedPart(term, best, min(1.0, bits[best] / bits[term]) if bits[term] else 0.0)


def _compound_share(folded_word: str, text: AnswerText) -> float:
    """Return the share of a word that a compound covers of which it is a part, or that has a part of it."""
    if not _MIN_PART_LENGTH <= len(folded_word) <= _LONGEST_COMPOUND:
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
