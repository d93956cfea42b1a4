"""Do two texts of nearly the same words claim the same? What a measure of their words can't tell.

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
from functools import lru_cache
from itertools import product

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import folded
from roamkb.text.language import is_english
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
from roamkb.text.tokenize import words

#: A list's bullet or number, a quotation's or a heading's mark.
_MARKER = lazily(r"^[ \t]*(?:(?:[-*+>#]+|\d{1,2}[.)])[ \t]+)+", re.MULTILINE)
_MARKUP = lazily(r"(?<!\w)([=~])([^\s=~](?:[^=~]*[^\s=~])?)\1(?!\w)")
_PIECE = lazily(
    r"(?<![^\s`'\"(\[])(?P<option>--?[A-Za-z](?:[\w-]*\w)?)(?!\w)"
    r"|(?P<number>(?:(?<![\w)\].,:/-])-)?[$€£]?\d+(?:[.,:]\d+)*)(?:(?:st|nd|rd|th)\b)?\ ?(?P<percent>%?)"
    r"|(?P<word>[^\W\d_]+(?:\+\+|\#(?!\w))?)"
    r"|(?P<quoted>(?<=['\"`])[^\w\s'\"`.,;:!?]{1,8}(?=['\"`]))"
    r"|(?P<sign>[<>]=?|[!=]=|&&|\|\|)"
)
_QUOTES = ("'", '"', "`")
#: What stands beside a word that is part of code or quoted.
_CODE = ("'", '"', "`", "_", "/", "$", "@", "=")
#: What may stand before a word that begins something.
_OPENING = " \t\n\"'(*_`“‘"
#: What parts clauses, and what one list names.
_PARTING = lazily(r"[,;:.!?()–—…、。，；：！？]|\s-\s|\n")
_MAY_COUNT = lazily(rf"\d|\b(?:{'|'.join(NUMBERS)})\b", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class ClaimWord:
    """One word of a claim."""

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


@dataclass(frozen=True, slots=True)
class Claim:
    """A text's words in order, and what of it decides."""

    words: tuple[ClaimWord, ...]
    #: (digits, unit or nothing)
    numbers: tuple[tuple[str, str], ...]
    #: What each negation stands before.
    negated: tuple[str, ...]


_Compare = Callable[[ClaimWord, ClaimWord], bool]


def differ(one: str, other: str) -> bool:
    """Say whether two texts with nearly the same words may claim different things."""
    one, other = _negated_alike(one, other), _negated_alike(other, one)
    mine, theirs = claim_of(one), claim_of(other)
    ours, others = _joined(mine.words, theirs.words), _joined(theirs.words, mine.words)
    is_variant = _variants(one, other)
    return (
        _numbers_differ(mine, theirs)
        or _negations_differ(mine, theirs)
        or _words_differ(ours, others, is_variant)
        or _is_replaced(ours, others, is_variant)
        or _limits(mine) != _limits(theirs)
        or changed_places(ours, _in_forms_of(ours, others, is_variant))
        or _cases_differ(one, other)
    )


def exchanged(one: str, other: str) -> bool:
    """Say whether two texts say the same of different things, whatever one of them says in addition.

    At one place each has another word, or what both name has changed places.
    """
    mine, theirs = claim_of(one).words, claim_of(other).words
    ours, others = _joined(mine, theirs), _joined(theirs, mine)
    is_variant = _variants(one, other)
    return _is_replaced(ours, others, is_variant) or changed_places(
        ours, _in_forms_of(ours, others, is_variant)
    )


def oppose(one: str, other: str) -> bool:
    """Say whether two texts that `differ` deny each other, as far as words tell, or are about two things.

    Where only plain words differ that aren't each other's contrary, it may be another wording.
    """
    one, other = _negated_alike(one, other), _negated_alike(other, one)
    mine, theirs = claim_of(one), claim_of(other)
    ours, others = _joined(mine.words, theirs.words), _joined(theirs.words, mine.words)
    ours_only, others_only = _missing(ours, others), _missing(others, ours)
    return (
        _numbers_differ(mine, theirs)
        or _negations_differ(mine, theirs)
        or any(
            _are_opposite(a.plain, b.plain) or are_contrary(a.plain, b.plain)
            for a, b in product(ours_only[:20], others_only[:20])
        )
        or (any(word.is_exact for word in ours_only) and any(word.is_exact for word in others_only))
        or changed_places(ours, others)
        or _cases_differ(one, other)
    )


def _negated_alike(one: str, other: str) -> str:
    """Return `one` with *unset* for *not set*, where the other text writes so."""
    if "not " not in one:
        return one
    written = frozenset(map(folded, _LETTERS.findall(other)))

    def joined(match: re.Match[str]) -> str:
        word = folded(match[1])
        return next((prefix + word for prefix in _DENYING if prefix + word in written), match.group())

    return _NOT_SO.sub(joined, one)


def counted(text: str) -> frozenset[str]:
    """Return the roots of what a text gives numbers of: all words but those; nothing where it has none."""
    if not _MAY_COUNT.search(text):
        return frozenset()
    claim = claim_of(text)
    return _about(claim) if claim.numbers else frozenset()


def differ_in_number(one: str, other: str) -> bool:
    """Say whether two texts say the same of other numbers, however few words they have beside those."""
    mine, theirs = claim_of(one), claim_of(other)
    about = _about(mine)
    if not about or about != _about(theirs) or len(mine.numbers) != len(theirs.numbers):
        return False
    if mine.negated != theirs.negated or not (_digits(mine, theirs) and _digits(theirs, mine)):
        return False
    # of one word alone it may be anything: step 1, step 2
    return len(about) > 1 or {unit for _, unit in mine.numbers} == {unit for _, unit in theirs.numbers} != {
        ""
    }


def _about(claim: Claim) -> frozenset[str]:
    return frozenset(word.root for word in claim.words if word.is_content and not word.is_number)


@lru_cache(maxsize=4096)
def claim_of(text: str) -> Claim:
    """Return what of a text decides whether another claims the same."""
    words: list[ClaimWord] = []
    numbers: list[tuple[str, str]] = []
    text = spelt_out(_MARKUP.sub(r"\2", _MARKER.sub("", text)))
    unit_wanted = False
    end = 0
    for match in _PIECE.finditer(text):
        is_apart = _PARTING.search(text, end, match.start()) is not None
        end = match.end()
        kind = match.lastgroup if match.lastgroup != "percent" else "number"
        if kind == "number":
            digits, unit = _number(match)
            numbers.append((digits, unit))
            words.append(ClaimWord(digits, digits, is_content=False, is_number=True, is_apart=is_apart))
            unit_wanted = not unit
            continue
        for word in _words(match, text, kind or ""):
            if unit_wanted and word.plain in UNITS:
                numbers[-1] = (numbers[-1][0], UNITS[word.plain])
                unit = f"/{UNITS[word.plain]}"
                words.append(ClaimWord(unit, unit, is_content=False))
            elif word.plain in NUMBERS:
                _spelt(word.plain, numbers, words)
                continue
            else:
                words.append(replace(word, is_apart=True) if is_apart else word)
            unit_wanted = is_apart = False
        unit_wanted = unit_wanted or (kind == "word" and folded(match["word"]) in NUMBERS)
    return Claim(tuple(words), tuple(numbers), tuple(_negated(words, text)))


def _joined(words: Sequence[ClaimWord], others: Sequence[ClaimWord]) -> Sequence[ClaimWord]:
    """Return `words`, those in one that the other text writes so: *file name* and *filename*."""
    written = {word.plain: word for word in others}
    joined: list[ClaimWord] = []
    for word in words:
        whole = written.get(joined[-1].plain + word.plain) if joined else None
        if whole:
            joined[-1] = whole
        else:
            joined.append(word)
    return joined


def _number(match: re.Match[str]) -> tuple[str, str]:
    written = match["number"]
    unit = "%" if match["percent"] else next((sign for sign in "$€£" if sign in written), "")
    digits = written.strip("$€£").replace("-$", "-")
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    return re.sub(r"^0+(?=\d)", "", digits), unit


def _spelt(name: str, numbers: list[tuple[str, str]], words: list[ClaimWord]) -> None:
    """Add a number written as a word: *twenty-five* is one, and so is *3 million*."""
    value = NUMBERS[name]
    if words and numbers and words[-1].root == numbers[-1][0] and words[-1].root.isdecimal():
        before = int(words[-1].root[:15])
        joined = (
            before * value
            if value >= 100 > before
            else before + value
            if before % 10 == 0 < value < 10
            else None
        )
        if joined is not None and before:
            numbers[-1] = (str(joined), "")
            words[-1] = ClaimWord(str(joined), str(joined), is_content=False, is_number=True)
            return
    numbers.append((str(value), ""))
    words.append(ClaimWord(str(value), str(value), is_content=False, is_number=True))


def _words(match: re.Match[str], text: str, kind: str) -> Iterator[ClaimWord]:
    written = match.group(kind)
    plain = folded(written)
    if kind != "word" or written[-1] in "+#":
        yield ClaimWord(plain, plain, is_exact=True)
    elif UNSPACED.search(plain):
        for run in words(plain):
            if UNSPACED.match(run):
                yield from (
                    ClaimWord(letter, letter, is_content=letter not in FUNCTION_WORDS) for letter in run
                )
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
        is_short = (
            written.isupper() and plain != "i" and (len(plain) > 1 or is_name) and not _is_shouted(text)
        )
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
    """Say whether capital letters tell nothing, since all words have them."""
    return text.isupper() or text.istitle()


def _negated(words: Sequence[ClaimWord], text: str) -> Iterator[str]:
    for place, word in enumerate(words):
        if word.plain in NEGATIONS:
            yield next((after.root for after in words[place + 1 :] if after.is_content), "")
    for match in UNSPACED_NEGATION.finditer(text):
        yield text[match.end() : match.end() + 1]


def _numbers_differ(mine: Claim, theirs: Claim) -> bool:
    if _digits(mine, theirs) or _digits(theirs, mine):
        return True
    mine_only = Counter(mine.numbers) - Counter(theirs.numbers)
    theirs_only = Counter(theirs.numbers) - Counter(mine.numbers)
    # a unit that one side leaves out is none that differs
    return any(unit for _, unit in mine_only) and any(unit for _, unit in theirs_only)


def _digits(mine: Claim, theirs: Claim) -> set[str]:
    """Return the numbers that only one claim has; *one* may be a number or none."""
    left = Counter(digits for digits, _ in mine.numbers) - Counter(digits for digits, _ in theirs.numbers)
    if any(word.plain in ONES for word in theirs.words):
        del left["1"]
    return set(left)


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
    mine_only, theirs_only = _missing(mine, theirs), _missing(theirs, mine)
    if any(_are_opposite(one.plain, other.plain) for one, other in product(mine_only[:20], theirs_only[:20])):
        return True
    ours = [word for word in mine_only if word.is_content]
    others = [word for word in theirs_only if word.is_content]
    if not ours or not others:
        return False
    if min(len(ours), len(others)) > _MOST_VARIANTS:
        return True
    for word in list(ours):
        twin = next((other for other in others if is_variant(word, other)), None)
        if twin:
            ours.remove(word)
            others.remove(twin)
    return bool(ours and others)


def _is_replaced(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord], is_variant: _Compare) -> bool:
    """Say whether one text has a word where the other has another, which isn't a form of it.

    By where it stands: *order* is a small word in most texts, and in *the order table* a thing.
    """
    ours, others = {word.root for word in mine}, {word.root for word in theirs}
    return any(
        one.root not in others and other.root not in ours and _says_otherwise(one, other, is_variant)
        for one, other in _counterparts(mine, theirs)
    )


def _says_otherwise(one: ClaimWord, other: ClaimWord, is_variant: _Compare) -> bool:
    if one.is_number or other.is_number or one.plain in NEGATIONS or other.plain in NEGATIONS:
        # how often, and what of, is counted elsewhere
        return False
    is_small = not (one.is_content or other.is_content or {one.plain, other.plain} & _THINGS)
    if is_small or {one.plain, other.plain} <= RELATING:
        return relate_otherwise(one.plain, other.plain)
    if one.plain.lower() == other.plain.lower():
        return False
    return form_of(one.plain.lower()) != form_of(other.plain.lower()) and not is_variant(one, other)


def _counterparts(
    mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord]
) -> Iterator[tuple[ClaimWord, ClaimWord]]:
    """Yield each word that stands where the other text has one other word, between words that both have."""
    a, b = [word.root for word in mine], [word.root for word in theirs]
    shorter = min(len(a), len(b))
    start = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    end = next((n for n in range(shorter - start) if a[-1 - n] != b[-1 - n]), shorter - start)
    a, b = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(a), len(b)) > _LONGEST_ALIGNED:
        return
    x = y = 0
    for to_x, to_y in (*_in_common(a, b), (len(a), len(b))):
        if to_x - x == to_y - y == 1:
            yield mine[start + x], theirs[start + y]
        x, y = to_x + 1, to_y + 1


def _in_common(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of a longest common subsequence."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for x in range(len(a) - 1, -1, -1):
        for y in range(len(b) - 1, -1, -1):
            same = a[x] == b[y]
            lengths[x][y] = lengths[x + 1][y + 1] + 1 if same else max(lengths[x + 1][y], lengths[x][y + 1])
    x = y = 0
    while x < len(a) and y < len(b):
        if a[x] == b[y]:
            yield x, y
            x, y = x + 1, y + 1
        elif lengths[x + 1][y] >= lengths[x][y + 1]:
            x += 1
        else:
            y += 1


def _in_forms_of(
    mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord], is_variant: _Compare
) -> list[ClaimWord]:
    """Return `theirs`, each word by the root of what it is a form of in the other text."""
    ours, others = {word.root for word in mine}, {word.root for word in theirs}
    alone = [word for word in mine if word.root not in others and word.is_content][:_MOST_VARIANTS]

    def found(word: ClaimWord) -> ClaimWord:
        if not alone or word.root in ours or not word.is_content:
            return word
        twin = next((one for one in alone if is_variant(one, word)), None)
        return replace(word, root=twin.root) if twin else word

    return [found(word) for word in theirs]


def _limits(claim: Claim) -> int:
    return sum(word.plain in _LIMITING for word in claim.words)


#: Beginnings that make a word its opposite, and those of them that stand for *not*: *unset*, *not set*.
_DENYING = tuple(lexicon("denying_prefixes")[0].split())
_NOT = tuple(" ".join(lexicon("denying_prefixes")).split())
_NOT_SO = lazily(r"\bnot\s+([^\W\d_]{3,})\b", re.IGNORECASE)
_LETTERS = lazily(r"[^\W\d_]+")


def _are_opposite(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return frozenset((one, other)) in OPPOSITES or any(long == prefix + short for prefix in _NOT)


def _missing(mine: Sequence[ClaimWord], theirs: Sequence[ClaimWord]) -> list[ClaimWord]:
    """Return the words of one text that the other has nothing for, each as often as that."""
    missing = list(mine)
    # first what is there letter for letter, so that it's the word that changed which is left
    for form in (_plain, _root):
        left = Counter(map(form, theirs)) - (Counter(map(form, mine)) - Counter(map(form, missing)))
        kept = []
        for word in missing:
            if left[form(word)] > 0:
                left[form(word)] -= 1
            else:
                kept.append(word)
        missing = kept
    return [word for word in missing if word.root and not word.is_number]


def _plain(word: ClaimWord) -> str:
    return word.plain


def _root(word: ClaimWord) -> str:
    return word.root


#: Endings in which forms of one word differ; a name has no others: Anna and Anne are two.
_ENDINGS = vocabulary("endings") | {""}
_NAME_ENDINGS = vocabulary("name_endings") | {""}


def _variants(one: str, other: str) -> _Compare:
    """Return what says whether two words of these texts are forms of one, or one is the other misspelt."""
    english = is_english(words(one)) and is_english(words(other))

    def is_variant(one: ClaimWord, other: ClaimWord) -> bool:
        if not (one.plain.isalpha() and other.plain.isalpha()):
            return False
        if one.is_name and other.is_name:
            return _end(one.plain, other.plain, _NAME_ENDINGS)
        # what English puts behind a word its `root` has lost: plan and plane are two
        if not english and _end(one.plain, other.plain, _ENDINGS):
            return True
        return _is_misspelt(one.plain, other.plain)

    return is_variant


def _is_misspelt(one: str, other: str) -> bool:
    """Say whether a long word lacks a letter of the other, or has two of them the other way round.

    With another letter it is more often another word: stage and stale, prize and price.
    """
    shared = _shared(one, other)
    return (
        min(len(one), len(other)) >= _LEAST_MISSPELT
        and shared > 0
        and one[shared + 1 :] != other[shared + 1 :]
        and _is_slip(one[shared:], other[shared:])
    )


def are_kin(one: str, other: str) -> bool:
    """Say whether two words, folded and no names, may be forms of one, or one the other misspelt.

    It is asked to find candidates: `differ` takes fewer words for forms of one.
    """
    if not (one.isalpha() and other.isalpha()):
        return False
    if _end(one, other, _ENDINGS):
        return True
    shared = _shared(one, other)
    return min(len(one), len(other)) >= 5 and shared > 0 and _is_slip(one[shared:], other[shared:])


@lru_cache(maxsize=4096)
def kinships(word: str) -> frozenset[str]:
    """Return keys of which any two words that are kin have one in common."""
    keys = {word}
    if word.isalpha():
        keys |= {
            word[: -len(end)] for end in _ENDINGS if end and len(word) - len(end) >= 4 and word.endswith(end)
        }
        if len(word) >= 5:
            keys |= {word[:n] + word[n + 1 :] for n in range(1, len(word))}
    return frozenset(keys)


def _shared(one: str, other: str) -> int:
    return next(
        (n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other))
    )


def _end(one: str, other: str, endings: frozenset[str]) -> bool:
    """Say whether two words differ in their endings alone."""
    shared = _shared(one, other)
    return shared >= 4 and one[shared:] in endings and other[shared:] in endings


def _is_slip(one: str, other: str) -> bool:
    """Say whether two words, from where they differ, differ by one letter or by two that changed places."""
    return (
        one[1:] == other
        or one == other[1:]
        or one[1:] == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )


_OPTION = lazily(r"(?<![^\s`'\"(])-[A-Za-z]+(?!\w)")


def _cases_differ(one: str, other: str) -> bool:
    """Say whether all that differs is the case of options: `-r` and `-R` are two."""
    mine, theirs = _OPTION.findall(one), _OPTION.findall(other)
    return mine != theirs and _OPTION.sub("-", one).split() == _OPTION.sub("-", other).split()
