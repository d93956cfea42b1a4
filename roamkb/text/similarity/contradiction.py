"""The guard against false merges, which decides whether two texts make the same claim.

What a measure of their words can't tell.

They don't where a number or its unit differs, where one negates what the other doesn't, where
two things have changed places, or where each has a word that the other has nothing for: a name, an
opposite, or any other. Inflections, slips of the pen and words that say the same are no
difference, nor is what one side says in addition.
"""

import re
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from functools import lru_cache
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.text import language
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import NUMBERS
from roamkb.text.similarity.synonyms import ONES
from roamkb.text.similarity.synonyms import OPPOSITES
from roamkb.text.similarity.synonyms import RELATING
from roamkb.text.similarity.synonyms import UNITS
from roamkb.text.similarity.synonyms import UNSPACED_NEGATION
from roamkb.text.similarity.synonyms import are_contrary
from roamkb.text.similarity.synonyms import form_of
from roamkb.text.similarity.synonyms import relate_otherwise
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.similarity.word_order import changed_places
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words

#: A list's bullet or number, a quotation's or a heading's mark.
_MARKER = lazily(r"^[ \t]*(?:(?:[-*+>#]+|\d{1,2}[.)])[ \t]+)+", re.MULTILINE)
_MARKUP = lazily(r"(?<!\w)([=~])([^\s=~](?:[^=~]*[^\s=~])?)\1(?!\w)")
_PIECE = lazily(
    # most words, small and between blanks: they mean the same wherever they stand
    r"(?P<plain>(?<![^ ])[a-z]{2,}+(?![^ ]))"
    r"|(?<![^\s`'\"(\[])(?P<option>--?[A-Za-z](?:[\w-]*\w)?)(?!\w)"
    r"|(?P<number>(?:(?<![\w)\].,:/-])-)?[$€£]?\d+(?:[.,:]\d+)*)(?:(?:st|nd|rd|th)\b)?\ ?(?P<percent>%?)"
    r"|(?P<word>[^\W\d_]+(?:\+\+|\#(?!\w))?)"
    r"|(?P<quoted>(?<=['\"`])[^\w\s'\"`.,;:!?]{1,8}(?=['\"`]))"
    r"|(?P<sign>[<>]=?|[!=]=|&&|\|\|)"
)
#: What stands on both sides of some words, and says how they look.
_PAIRED_MARKUP = lazily(r"(?<![\w*/_=~+])([*/_=~+]{1,2})(?=\S)([^\n]*?\S)\1(?![\w*/_=~+])")
_BRACKETED = lazily(r"<(\S+)>")
#: What is no mark of a sentence: a minus is one before a word, a hyphen or a dash none, nor is a list's bullet.
_SIGN = lazily(r"[+*=<>^$%&|~@#\\]|(?<!\w)/|/(?!\w)|!(?=\w)|(?<!\w)-(?=\w)|(?<=\w)[-](?!\w)")
_QUOTES = ("'", '"', "`")
#: What stands beside a word that is part of code or quoted.
_CODE = ("'", '"', "`", "_", "/", "$", "@", "=")
#: What may stand before a word that begins something.
_OPENING = " \t\n\"'(*_`“‘"
#: What parts clauses, and what one list names.
_PARTING = lazily(r"[,;:.!?()–—…、。，；：！？]|\s-\s|\n")
_DIGIT = lazily(r"\d")
_RUN = lazily(r"\w+")
_THOUSANDS = lazily(r"\d{1,3}(?:,\d{3})+")
#: What says that nothing else does.
_LIMITING = vocabulary("limiting")
#: Small words that are as often things: the order table, an even number.
_THINGS = vocabulary("things")
#: Words between the ends that two texts have in common, in which each is set beside its counterpart.
_LONGEST_ALIGNED = 60
#: Nobody misspells so many.
_MOST_VARIANTS = 30
#: A short word has many that look like it: form and from, county and country.
_LEAST_MISSPELT = 7


class ClaimWord(NamedTuple):
    """A word of a claim."""

    #: What stands for all its forms and synonyms.
    root: str
    #: As it is written, folded.
    plain: str
    #: Whether it is written like a name: with a capital in the middle of a sentence.
    is_name: bool = False
    #: Whether it means itself: a name, a part of code, something quoted, an option, a sign.
    is_exact: bool = False
    is_content: bool = True
    is_number: bool = False
    #: Whether a comma, a full stop or the like parts it from what stands before.
    is_apart: bool = False


@dataclass(frozen=True)
class Claim:
    """A text's words in order, with its numbers and negations."""

    words: tuple[ClaimWord, ...]
    #: (digits, unit or nothing)
    numbers: tuple[tuple[str, str], ...]
    #: What each negation stands before.
    negated: tuple[str, ...]

    @cached_property
    def subject_roots(self) -> frozenset[str]:
        """The roots of the words that say something, numbers left out."""
        return frozenset(word.root for word in self.words if word.is_content and not word.is_number)

    @cached_property
    def digits(self) -> Counter[str]:
        """How often each number is there, without its unit."""
        return Counter(digits for digits, _ in self.numbers)

    @cached_property
    def may_have_one(self) -> bool:
        """Whether a word means 1 as often as nothing."""
        return any(word.plain in ONES for word in self.words)


_Compare = Callable[[ClaimWord, ClaimWord], bool]


def differ_in_claim(first_text: str, second_text: str) -> bool:
    """Say whether two texts with nearly the same words may make different claims."""
    first_text, second_text = _align_negation(first_text, second_text), _align_negation(second_text, first_text)
    mine, theirs = claim_of(first_text), claim_of(second_text)
    ours, others = _join_compounds(mine.words, theirs.words), _join_compounds(theirs.words, mine.words)
    is_variant = _variant_test(first_text, second_text)
    return (
        _numbers_differ(mine, theirs)
        or _negations_differ(mine, theirs)
        or _words_differ(ours, others, is_variant)
        or _is_replaced(ours, others, is_variant)
        or _count_limiters(mine) != _count_limiters(theirs)
        or changed_places(ours, _align_variants(ours, others, is_variant))
        or _cases_differ(first_text, second_text)
        or _signs_differ(first_text, second_text)
    )


def _signs_differ(first_text: str, second_text: str) -> bool:
    """Say whether two texts of the same words differ in a sign that means something: `a+`, `a*`; `50 %`, `50`."""
    if split_words(first_text) != split_words(second_text):
        return False
    first_signs, second_signs = (
        _SIGN.findall(_BRACKETED.sub(r"\1", _PAIRED_MARKUP.sub(r"\2", _MARKER.sub("", text))))
        for text in (first_text, second_text)
    )
    return first_signs != second_signs


def differ_in_subject(first_text: str, second_text: str) -> bool:
    """Say whether two texts say the same of different subjects; additions of one side don't count.

    At one place each has another word, or what both name has changed places.
    """
    mine, theirs = claim_of(first_text).words, claim_of(second_text).words
    ours, others = _join_compounds(mine, theirs), _join_compounds(theirs, mine)
    is_variant = _variant_test(first_text, second_text)
    return _is_replaced(ours, others, is_variant) or changed_places(ours, _align_variants(ours, others, is_variant))


def deny_each_other(first_text: str, second_text: str) -> bool:
    """Say whether two texts that differ in claim deny each other, as far as words show it.

    Where only plain words differ that aren't each other's contrary, it may be another wording.
    """
    first_text, second_text = _align_negation(first_text, second_text), _align_negation(second_text, first_text)
    mine, theirs = claim_of(first_text), claim_of(second_text)
    if _numbers_differ(mine, theirs) or _negations_differ(mine, theirs):
        return True
    ours, others = _join_compounds(mine.words, theirs.words), _join_compounds(theirs.words, mine.words)
    ours_only, others_only = _unmatched_words(ours, others), _unmatched_words(others, ours)
    return (
        any(
            _are_opposite(my_word.plain, their_word.plain) or are_contrary(my_word.plain, their_word.plain)
            for my_word, their_word in product(ours_only[:20], others_only[:20])
        )
        or (any(word.is_exact for word in ours_only) and any(word.is_exact for word in others_only))
        or changed_places(ours, others)
        or _cases_differ(first_text, second_text)
    )


def _align_negation(text: str, other_text: str) -> str:
    """Return `text` with *unset* for *not set*, where `other_text` writes so."""
    if "not " not in text:
        return text
    written = frozenset(map(fold_text, _LETTERS.findall(other_text)))

    def join_negation(match: re.Match[str]) -> str:
        word = fold_text(match[1])
        return next((prefix + word for prefix in _DENYING if prefix + word in written), match.group())

    return _NOT_SO.sub(join_negation, text)


def counted_roots(text: str) -> frozenset[str]:
    """Return the roots of the words that a text's numbers are about; none where it has no number."""
    if not _DIGIT.search(text) and NUMBERS.keys().isdisjoint(_RUN.findall(fold_text(text))):
        return frozenset()
    claim = claim_of(text)
    return claim.subject_roots if claim.numbers else frozenset()


def differ_in_number(first_text: str, second_text: str) -> bool:
    """Say whether two texts say the same with other numbers, however few words they have."""
    mine, theirs = claim_of(first_text), claim_of(second_text)
    about = mine.subject_roots
    if not about or about != theirs.subject_roots or len(mine.numbers) != len(theirs.numbers):
        return False
    if mine.negated != theirs.negated or not (_unshared_digits(mine, theirs) and _unshared_digits(theirs, mine)):
        return False
    # of one word alone it may be anything: step 1, step 2
    return len(about) > 1 or {unit for _, unit in mine.numbers} == {unit for _, unit in theirs.numbers} != {""}


def differ_in_negation(first_text: str, second_text: str) -> bool:
    """Say whether one text negates what the other doesn't."""
    return _negations_differ(claim_of(first_text), claim_of(second_text))


@lru_cache(maxsize=4096)
def claim_of(text: str) -> Claim:
    """Return the claim of a text: its words, numbers and negations."""
    words: list[ClaimWord] = []
    numbers: list[tuple[str, str]] = []
    text = _MARKER.sub("", text)
    text = spelt_out(_MARKUP.sub(r"\2", text) if "=" in text or "~" in text else text)
    unit_wanted = False
    end = 0
    for match in _PIECE.finditer(text):
        between = text[end : match.start()]
        is_apart = between not in ("", " ") and _PARTING.search(between) is not None
        end = match.end()
        kind = match.lastgroup
        if kind == "plain":
            word, kind = _plain_word(match[0]), "word"
            if not unit_wanted and word.plain not in NUMBERS:
                words.append(word._replace(is_apart=True) if is_apart else word)
                continue
        if kind in ("percent", "number"):
            digits, unit = _parse_number(match)
            numbers.append((digits, unit))
            words.append(ClaimWord(digits, digits, is_content=False, is_number=True, is_apart=is_apart))
            unit_wanted = not unit
            continue
        for word in _marked_words(match, text, kind or ""):
            if unit_wanted and word.plain in UNITS:
                numbers[-1] = (numbers[-1][0], UNITS[word.plain])
                unit = f"/{UNITS[word.plain]}"
                words.append(ClaimWord(unit, unit, is_content=False))
            elif word.plain in NUMBERS:
                _add_spelt_number(word.plain, numbers, words)
                continue
            else:
                words.append(word._replace(is_apart=True) if is_apart else word)
            unit_wanted = is_apart = False
        unit_wanted = unit_wanted or (kind == "word" and fold_text(match[0]) in NUMBERS)
    return Claim(tuple(words), tuple(numbers), tuple(_negated_roots(words, text)))


def _join_compounds(words: Sequence[ClaimWord], others: Sequence[ClaimWord]) -> Sequence[ClaimWord]:
    """Return `words`, with two joined where the other text joins them: *file name* and *filename*."""
    written = {word.plain: word for word in others}
    joined: list[ClaimWord] = []
    for word in words:
        compound = written.get(joined[-1].plain + word.plain) if joined else None
        if compound:
            joined[-1] = compound
        else:
            joined.append(word)
    return joined


def _parse_number(match: re.Match[str]) -> tuple[str, str]:
    written = match["number"]
    unit = "%" if match["percent"] else next((sign for sign in "$€£" if sign in written), "")
    digits = written.strip("$€£").replace("-$", "-")
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    return re.sub(r"^0+(?=\d)", "", digits), unit


def _add_spelt_number(name: str, numbers: list[tuple[str, str]], words: list[ClaimWord]) -> None:
    """Add a number written as words: *twenty-five* is one number, and so is *3 million*."""
    value = NUMBERS[name]
    if words and numbers and words[-1].root == numbers[-1][0] and words[-1].root.isdecimal():
        previous_value = int(words[-1].root[:15])
        joined = (
            previous_value * value
            if value >= 100 > previous_value
            else previous_value + value
            if previous_value % 10 == 0 < value < 10
            else None
        )
        if joined is not None and previous_value:
            numbers[-1] = (str(joined), "")
            words[-1] = ClaimWord(str(joined), str(joined), is_content=False, is_number=True)
            return
    numbers.append((str(value), ""))
    words.append(ClaimWord(str(value), str(value), is_content=False, is_number=True))


@lru_cache(maxsize=16_384)
def _plain_word(written: str) -> ClaimWord:
    """Return a word in small letters, between blanks."""
    is_small = written in FUNCTION_WORDS or written in NEGATIONS
    return ClaimWord(written if is_small else form_of(written), written, is_content=not is_small)


def _marked_words(match: re.Match[str], text: str, kind: str) -> Iterator[ClaimWord]:
    written = match[0]
    plain = fold_text(written)
    if kind != "word" or written[-1] in "+#":
        yield ClaimWord(plain, plain, is_exact=True)
    elif UNSPACED.search(plain):
        for run in split_words(plain):
            if UNSPACED.match(run):
                yield from (ClaimWord(letter, letter, is_content=letter not in FUNCTION_WORDS) for letter in run)
            else:
                yield ClaimWord(form_of(run), run, is_exact=True)
    else:
        start, end = match.span()
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        # an option's letter is no article, and a quoted one is a value
        is_part = len(plain) == 1 and (before.strip(_OPENING) != "" or after in ("-", "_", "/"))
        is_quoted = before in _QUOTES and after in _QUOTES
        sentence = text[max(start - 8, 0) : start].rstrip(_OPENING)
        is_name = written[0].isupper() and sentence != "" and sentence[-1] not in ".!?:;"
        # IT is no pronoun where not all is shouted, and neither is A in client A an article
        is_short = written.isupper() and plain != "i" and (len(plain) > 1 or is_name) and not _is_shouted(text)
        if is_short and plain in FUNCTION_WORDS and len(plain) == 1:
            plain = written
        yield ClaimWord(
            root=plain if plain in FUNCTION_WORDS or plain in NEGATIONS else form_of(plain),
            plain=plain,
            is_name=is_name,
            is_exact=is_name
            or (len(written) > 1 and not written[1:].islower())
            or before in _CODE
            or after in (*_CODE, "("),
            is_content=(is_short and plain not in NEGATIONS)
            or is_part
            or is_quoted
            or not (plain in FUNCTION_WORDS or plain in NEGATIONS),
        )


@lru_cache(maxsize=64)
def _is_shouted(text: str) -> bool:
    """Say whether capital letters carry no information, since all words have them."""
    return text.isupper() or text.istitle()


def _negated_roots(words: Sequence[ClaimWord], text: str) -> Iterator[str]:
    for place, word in enumerate(words):
        if word.plain in NEGATIONS:
            yield next((after.root for after in words[place + 1 :] if after.is_content), "")
    for match in UNSPACED_NEGATION.finditer(text):
        yield text[match.end() : match.end() + 1]


def _numbers_differ(mine: Claim, theirs: Claim) -> bool:
    if _unshared_digits(mine, theirs) or _unshared_digits(theirs, mine):
        return True
    mine_only = Counter(mine.numbers) - Counter(theirs.numbers)
    theirs_only = Counter(theirs.numbers) - Counter(mine.numbers)
    # a unit that one side leaves out is none that differs
    return any(unit for _, unit in mine_only) and any(unit for _, unit in theirs_only)


def _unshared_digits(mine: Claim, theirs: Claim) -> set[str]:
    """Return the numbers that only one claim has; *one* may be a number or none."""
    unshared = {digits for digits, times in mine.digits.items() if times > theirs.digits.get(digits, 0)}
    return unshared - {"1"} if theirs.may_have_one else unshared


def _negations_differ(mine: Claim, theirs: Claim) -> bool:
    if len(mine.negated) != len(theirs.negated):
        return True
    mine_only, theirs_only = (
        Counter(mine.negated) - Counter(theirs.negated),
        Counter(theirs.negated) - Counter(mine.negated),
    )
    in_both = {word.root for word in mine.words} & {word.root for word in theirs.words}
    return any(word in in_both for word in mine_only) and any(word in in_both for word in theirs_only)


def _words_differ(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord], is_variant: _Compare) -> bool:
    mine_only, theirs_only = _unmatched_words(mine, theirs), _unmatched_words(theirs, mine)
    if any(
        _are_opposite(first_word.plain, second_word.plain)
        for first_word, second_word in product(mine_only[:20], theirs_only[:20])
    ):
        return True
    ours = [word for word in mine_only if word.is_content]
    others = [word for word in theirs_only if word.is_content]
    if not ours or not others:
        return False
    if min(len(ours), len(others)) > _MOST_VARIANTS:
        return True
    for word in list(ours):
        variant = next((second_word for second_word in others if is_variant(word, second_word)), None)
        if variant:
            ours.remove(word)
            others.remove(variant)
    return bool(ours and others)


def _is_replaced(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord], is_variant: _Compare) -> bool:
    """Say whether a word of one text has another word at its place in the other text.

    By where it stands: *order* is a small word in most texts, and in *the order table* a thing.
    """
    ours, others = {word.root for word in mine}, {word.root for word in theirs}
    return any(
        first_word.root not in others
        and second_word.root not in ours
        and _says_otherwise(first_word, second_word, is_variant)
        for first_word, second_word in _aligned_pairs(mine, theirs)
    )


def _says_otherwise(first_word: ClaimWord, second_word: ClaimWord, is_variant: _Compare) -> bool:
    if first_word.is_number or second_word.is_number or first_word.plain in NEGATIONS or second_word.plain in NEGATIONS:
        # how often, and what of, is counted elsewhere
        return False
    is_small = not (first_word.is_content or second_word.is_content or {first_word.plain, second_word.plain} & _THINGS)
    if is_small or {first_word.plain, second_word.plain} <= RELATING:
        return relate_otherwise(first_word.plain, second_word.plain)
    if first_word.plain.lower() == second_word.plain.lower():
        return False
    return form_of(first_word.plain.lower()) != form_of(second_word.plain.lower()) and not is_variant(
        first_word, second_word
    )


def _aligned_pairs(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord]) -> Iterator[tuple[ClaimWord, ClaimWord]]:
    """Yield the words that stand alone at the same place, between words that both texts have."""
    my_roots, their_roots = [word.root for word in mine], [word.root for word in theirs]
    shorter = min(len(my_roots), len(their_roots))
    start = next((n for n in range(shorter) if my_roots[n] != their_roots[n]), shorter)
    end = next((n for n in range(shorter - start) if my_roots[-1 - n] != their_roots[-1 - n]), shorter - start)
    my_roots, their_roots = my_roots[start : len(my_roots) - end], their_roots[start : len(their_roots) - end]
    if max(len(my_roots), len(their_roots)) > _LONGEST_ALIGNED:
        return
    my_place = their_place = 0
    for my_next, their_next in (*_in_common(my_roots, their_roots), (len(my_roots), len(their_roots))):
        if my_next - my_place == their_next - their_place == 1:
            yield mine[start + my_place], theirs[start + their_place]
        my_place, their_place = my_next + 1, their_next + 1


def _in_common(first_roots: Sequence[str], second_roots: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of a longest common subsequence."""
    lengths = [[0] * (len(second_roots) + 1) for _ in range(len(first_roots) + 1)]
    for first_place in range(len(first_roots) - 1, -1, -1):
        for second_place in range(len(second_roots) - 1, -1, -1):
            same = first_roots[first_place] == second_roots[second_place]
            lengths[first_place][second_place] = (
                lengths[first_place + 1][second_place + 1] + 1
                if same
                else max(lengths[first_place + 1][second_place], lengths[first_place][second_place + 1])
            )
    first_place = second_place = 0
    while first_place < len(first_roots) and second_place < len(second_roots):
        if first_roots[first_place] == second_roots[second_place]:
            yield first_place, second_place
            first_place, second_place = first_place + 1, second_place + 1
        elif lengths[first_place + 1][second_place] >= lengths[first_place][second_place + 1]:
            first_place += 1
        else:
            second_place += 1


def _align_variants(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord], is_variant: _Compare) -> list[ClaimWord]:
    """Return `theirs`, each word with the root of the word of `mine` that it is a form of."""
    ours, others = {word.root for word in mine}, {word.root for word in theirs}
    alone = [word for word in mine if word.root not in others and word.is_content][:_MOST_VARIANTS]

    def align_word(word: ClaimWord) -> ClaimWord:
        if not alone or word.root in ours or not word.is_content:
            return word
        variant = next((candidate for candidate in alone if is_variant(candidate, word)), None)
        return word._replace(root=variant.root) if variant else word

    return [align_word(word) for word in theirs]


def _count_limiters(claim: Claim) -> int:
    return sum(word.plain in _LIMITING for word in claim.words)


#: Beginnings that make a word its opposite, and those of them that stand for *not*: *unset*, *not set*.
_DENYING = tuple(lexicon("denying_prefixes")[0].split())
_NOT = tuple(" ".join(lexicon("denying_prefixes")).split())
_NOT_SO = lazily(r"\bnot\s+([^\W\d_]{3,})\b", re.IGNORECASE)
_LETTERS = lazily(r"[^\W\d_]+")


def _are_opposite(first_word: str, second_word: str) -> bool:
    short, long = sorted((first_word, second_word), key=len)
    return frozenset((first_word, second_word)) in OPPOSITES or any(long == prefix + short for prefix in _NOT)


def _unmatched_words(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord]) -> list[ClaimWord]:
    """Return the words of one text that have no counterpart in the other, with repeats."""
    missing = list(mine)
    # first what is there letter for letter, so that it's the word that changed which is left
    for form in (attrgetter("plain"), attrgetter("root")):
        available = Counter(map(form, theirs)) - (Counter(map(form, mine)) - Counter(map(form, missing)))
        unmatched = []
        for word in missing:
            if available[form(word)] > 0:
                available[form(word)] -= 1
            else:
                unmatched.append(word)
        missing = unmatched
    return [word for word in missing if word.root and not word.is_number]


#: Endings in which forms of one word differ; a name has no others: Anna and Anne are two.
_ENDINGS = vocabulary("endings") | {""}
_NAME_ENDINGS = vocabulary("name_endings") | {""}


def _variant_test(first_text: str, second_text: str) -> _Compare:
    """Return a test whether two words of these texts are forms or misspellings of one word."""
    english = language.is_english(split_words(first_text)) and language.is_english(split_words(second_text))

    def is_variant(first_word: ClaimWord, second_word: ClaimWord) -> bool:
        if not (first_word.plain.isalpha() and second_word.plain.isalpha()):
            return False
        if first_word.is_name and second_word.is_name:
            return _differ_in_ending(first_word.plain, second_word.plain, _NAME_ENDINGS)
        # what English puts behind a word its `root` has lost: plan and plane are two
        if not english and _differ_in_ending(first_word.plain, second_word.plain, _ENDINGS):
            return True
        return _is_misspelt(first_word.plain, second_word.plain)

    return is_variant


def _is_misspelt(first_word: str, second_word: str) -> bool:
    """Say whether a long word lacks a letter of the other, or has two of them the other way round.

    With another letter it is more often another word: stage and stale, prize and price.
    """
    shared = _shared_length(first_word, second_word)
    return (
        min(len(first_word), len(second_word)) >= _LEAST_MISSPELT
        and shared > 0
        and first_word[shared + 1 :] != second_word[shared + 1 :]
        and _is_slip(first_word[shared:], second_word[shared:])
    )


def are_kin(first_word: str, second_word: str) -> bool:
    """Say whether two folded words, no names, may be forms or misspellings of one word.

    It is asked to find candidates: `differ_in_claim` takes fewer words for forms of one.
    """
    if not (first_word.isalpha() and second_word.isalpha()):
        return False
    if _differ_in_ending(first_word, second_word, _ENDINGS):
        return True
    shared = _shared_length(first_word, second_word)
    return (
        min(len(first_word), len(second_word)) >= 5
        and shared > 0
        and _is_slip(first_word[shared:], second_word[shared:])
    )


@lru_cache(maxsize=4096)
def kinship_keys(word: str) -> frozenset[str]:
    """Return keys of which any two kindred words have at least one in common."""
    keys = {word}
    if word.isalpha():
        keys |= {word[: -len(end)] for end in _ENDINGS if end and len(word) - len(end) >= 4 and word.endswith(end)}
        if len(word) >= 5:
            keys |= {word[:n] + word[n + 1 :] for n in range(1, len(word))}
    return frozenset(keys)


def _shared_length(first_word: str, second_word: str) -> int:
    return next(
        (n for n, (x, y) in enumerate(zip(first_word, second_word, strict=False)) if x != y),
        min(len(first_word), len(second_word)),
    )


def _differ_in_ending(first_word: str, second_word: str, endings: frozenset[str]) -> bool:
    """Say whether two words differ in their endings alone."""
    shared = _shared_length(first_word, second_word)
    return shared >= 4 and first_word[shared:] in endings and second_word[shared:] in endings


def _is_slip(first_word: str, second_word: str) -> bool:
    """Say whether two word ends differ by one letter or by two swapped letters."""
    return (
        first_word[1:] == second_word
        or first_word == second_word[1:]
        or first_word[1:] == second_word[1:]
        or (first_word[:2] == second_word[1::-1] and first_word[2:] == second_word[2:])
    )


_OPTION = lazily(r"(?<![^\s`'\"(])-[A-Za-z]+(?!\w)")


def _cases_differ(first_text: str, second_text: str) -> bool:
    """Say whether the texts differ only in the case of options: `-r` and `-R` are two."""
    mine, theirs = _OPTION.findall(first_text), _OPTION.findall(second_text)
    return mine != theirs and _OPTION.sub("-", first_text).split() == _OPTION.sub("-", second_text).split()
