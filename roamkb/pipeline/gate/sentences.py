"""What a sentence says of a claim: that it is so or isn't, asks for it, has it from somebody, or takes it back.

Of a language this knows its negations, and closed lists of the words that make of a sentence a question, another's
word, or its contrary.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from itertools import takewhile
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.text.denial import falsity_words
from roamkb.text.denial import is_of_truth
from roamkb.text.denial import negates
from roamkb.text.denial import negation_words
from roamkb.text.denial import turns
from roamkb.text.language import OTHER_SMALL_WORDS
from roamkb.text.language import is_english
from roamkb.text.pasted_blocks import own_words
from roamkb.text.similarity import contradiction
from roamkb.text.similarity import jaccard
from roamkb.text.similarity.contradiction import are_kin
from roamkb.text.similarity.synonyms import FUNCTION_WORDS
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import are_contrary
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import SENTENCE_END
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word
from roamkb.text.tokenize import terms_of

_BLANKS: Final = lazily(r"\s+")
_ITEM: Final = lazily(r"\s*(?:[-*•]|\d+[.)]|\w[.)])(?:\s|\Z)")
_EXCEPTION: Final = lazily(rf"\b(?:{'|'.join(' '.join(lexicon('exceptions')).split())})\b", re.IGNORECASE)
#: A clause ends with its mark; one with a conjunction of its own belongs to the one before: "es stimmt nicht, dass …".
_SUBORDINATE: Final = r"(?:dass|daß|что|że|hogy)\b"
_CLAUSE_END: Final = lazily(rf"(?<=[,;:–—])\s(?!{_SUBORDINATE})|(?<=[.!?])\s+|(?<=\n)(?!\n)|(?<=[、，；：。！？])")
#: What ends a denial, and what hands it on to the clause that follows.
_CLOSING: Final = lazily(r"[.!?;。！？；\n]\s*\Z")
_HANDING_ON: Final = lazily(rf"[:：]\s|,\s{_SUBORDINATE}")
#: The share of a claim's words in a sentence that says it, or denies it.
_SAID_SHARE: Final = 0.75
#: Words that say how the others hang together, or deny them.
_RELATING: Final = FUNCTION_WORDS | NEGATIONS | vocabulary("heads")
#: Letters of a sentence that somebody types; what goes on was pasted.
_LONGEST_STATEMENT: Final = 600
#: Words that by themselves answer what was said before, and deny nothing of what follows.
_ANSWERS: Final = vocabulary("answers")
#: Words that make a clause a question or a condition, by closed lists: a language has few.
_WHETHER: Final = vocabulary("whether")
_WHETHER_UNSPACED: Final = lazily("|".join(" ".join(lexicon("unspaced_whether")).split()))
#: What else keeps a sentence from being its speaker's word; and what stands around that which is so either way.
_HEARSAY: Final = lazily("|".join(lexicon("hearsay")))
_POSSIBILITY: Final = lazily("|".join(lexicon("possibility")))
_FORGETTING: Final = lazily("|".join(lexicon("forgetting")))
_PRIVATIVES: Final = vocabulary("privatives")
#: How a clause takes back what stands before it.
_TAKING_BACK: Final = lazily("|".join(lexicon("taking_back")))
#: The share of a claim's words in a sentence that may correct the rest: whoever corrects a number says the rest of it.
_CORRECTED_SHARE: Final = 0.5


def sentences_with(quote: str, text: str) -> Sequence[str]:
    """Return the sentences of a text in which a quote stands, as one text for each time that it does."""
    sentences = SENTENCE_END.split(text)
    squeezed_sentences = [without_blanks(sentence) for sentence in sentences]
    places = [place for place, squeezed in enumerate(squeezed_sentences) for _ in squeezed]
    matches = re.finditer(re.escape(without_blanks(quote)), "".join(squeezed_sentences))
    headings = list(_headings(sentences))
    spans = ((places[match.start()], places[match.end() - 1] + 1) for match in matches)
    return tuple(headings[start] + "\n".join(sentences[start:end]) for start, end in spans)


def _headings(sentences: Sequence[str]) -> Iterator[str]:
    """Yield for each sentence that which a colon puts over it, or over the list that it is an item of; else nothing."""
    above_item = above = ""
    is_numbered = False
    for sentence in sentences:
        item = _ITEM.match(sentence)
        is_item = is_numbered or item
        # "1." is a sentence by its point, and its item the next one
        is_numbered = item is not None and item.end() == len(sentence)
        heading = (above_item if is_item else above).rstrip()
        yield f"{heading} " if heading.endswith((":", "：")) else ""
        above, above_item = sentence, above_item if is_item else sentence


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    return sentence.rstrip(" \"'”»").endswith(("?", "？"))


def only_asks(claim: str, sentence: str) -> bool:
    """Return whether a sentence asks or supposes what a claim says: "find out whether …", "if …"."""
    if is_question(sentence):
        return True
    if any(match[0] not in claim for match in _WHETHER_UNSPACED.finditer(sentence)):
        return True
    asking_words = _WHETHER - set(split_words(fold_text(claim)))
    terms = content_terms(claim)
    for clause in _CLAUSE_END.split(sentence):
        if _holds_most(clause, terms):
            before = takewhile(lambda word: terms.isdisjoint(content_terms(word)), split_words(fold_text(clause)))
            return not asking_words.isdisjoint(before)
    return False


def denies(claim: str, quote: str, sentence: str) -> bool:
    """Return whether a sentence denies, or may deny, a claim whose words it has, or the quote that is cut out of it."""
    if _differ_beside_exceptions(claim, sentence):
        return True
    return not negates(claim) and not negates(quote) and _differ_beside_exceptions(quote, sentence)


def _differ_beside_exceptions(text: str, sentence: str) -> bool:
    """Return whether a sentence denies a text, or what either leaves out: an exception denies not what it is from."""
    said, left_out = _part_exception(sentence)
    own, own_left_out = _part_exception(text)
    if left_out and own_left_out:
        return _differ_in_negation(own, said) or _differ_in_negation(own_left_out, left_out)
    if negates(left_out) and not own_left_out:
        # what leaves out that it isn't so leaves nothing
        return not negates(text)
    is_about_exception = not (content_terms(text) & content_terms(left_out)) <= content_terms(said)
    return _differ_in_negation(text, sentence if is_about_exception else said)


def _part_exception(sentence: str) -> tuple[str, str]:
    """Return what a sentence says, and what its first exception leaves out of that, up to the end of the clause."""
    exception = _EXCEPTION.search(sentence)
    if exception is None:
        return sentence, ""
    left_out, *rest = _CLAUSE_END.split(sentence[exception.end() :], maxsplit=1)
    return " ".join(part for part in (sentence[: exception.start()].strip(), *rest) if part), left_out


def _differ_in_negation(text: str, sentence: str) -> bool:
    """Return whether the clauses that hold most words of a text negate it or something else, or deny what they say."""
    terms = content_terms(text)
    if not _holds_most(sentence, terms):
        return False
    said, text = (_without_forgetting(side, terms) for side in (_clauses_about(sentence, text), text))
    # a lie and a myth is as false as either
    turning_words = bool(falsity_words(said) - falsity_words(text)) + _count_contraries(text, said)
    if negates(text) and negates(said) and not turning_words:
        return _negate_otherwise(text, said) or _drops_negation(text, said)
    return negates(text) != (negates(said) != (turning_words % 2 == 1))


def _negate_otherwise(text: str, said: str) -> bool:
    """Return whether two texts each deny what the other says: "A, never B", "B, never A"."""
    mine, theirs = contradiction.claim_of(text), contradiction.claim_of(said)
    return not (_affirmed_roots(mine).isdisjoint(theirs.negated) or _affirmed_roots(theirs).isdisjoint(mine.negated))


def _drops_negation(text: str, said: str) -> bool:
    """Return whether one of two texts alone negates what both say of being without something: "never without"."""
    mine, theirs = negation_words(text), negation_words(said)
    are_privative = bool(mine & _PRIVATIVES and theirs & _PRIVATIVES)
    return are_privative and (mine <= _PRIVATIVES) != (theirs <= _PRIVATIVES)


def _affirmed_roots(claim: contradiction.Claim) -> set[str]:
    """Return the roots of the words before a claim's first negation."""
    return {word.root for word in takewhile(lambda word: word.plain not in NEGATIONS, claim.words)}


def _count_contraries(text: str, said: str) -> int:
    """Return the number of words of a text whose contrary is in the other: "not before" is "after".

    "Without" is a negation already.
    """
    mine, theirs = (set(split_words(fold_text(side))) - NEGATIONS for side in (text, said))
    others = (theirs - mine) if len(said) <= _LONGEST_STATEMENT else ()
    return sum(any(are_contrary(word, other) for other in others) for word in mine - theirs)


def _without_forgetting(text: str, terms: frozenset[str]) -> str:
    """Return what is not to be forgotten, by itself: the side of "never forget that" with most of some terms."""
    forgetting = _FORGETTING.search(text.casefold())
    sides = (text[: forgetting.start()], text[forgetting.end() :]) if forgetting else ()
    return next((side for side in sides if _holds_most(side, terms)), text)


def is_hearsay(claim: str, sentence: str) -> bool:
    """Return whether a sentence has a claim from somebody, supposes it or puts it into the past, where it doesn't."""
    own, told = claim.casefold(), sentence.casefold()
    clauses, terms = _CLAUSE_END.split(told), content_terms(claim)
    about = [place for place, clause in enumerate(clauses) if not terms.isdisjoint(content_terms(clause))]
    # what may follow is another matter: "X, maybe Y"
    until = " ".join(clauses[: about[-1] + 1]) if about else told
    return any(match[0] not in own for match in chain(_HEARSAY.finditer(told), _POSSIBILITY.finditer(until)))


def _holds_most(text: str, terms: frozenset[str]) -> bool:
    """Return whether a text says some terms, or denies them."""
    return bool(terms) and count_shared(terms, text) >= _SAID_SHARE * len(terms)


def _holds_half(text: str, terms: frozenset[str]) -> bool:
    """Return whether a text may correct what has some terms."""
    return len(terms & content_terms(text)) >= _CORRECTED_SHARE * len(terms)


def count_shared(terms: frozenset[str], text: str) -> int:
    """Return how many of some terms a text has, in other languages than English by their forms."""
    others = content_terms(text)
    missing = terms - others
    if missing and len(text) <= _LONGEST_STATEMENT and not is_english(split_words(text)):
        # what English puts behind a word its stem has lost
        missing = frozenset(term for term in missing if not any(are_kin(term, other) for other in others))
    return len(terms) - len(missing)


def may_cover(claim: str, text: str) -> bool:
    """Return whether two texts are in one language, so that one may have the other's words."""
    return is_english(split_words(claim)) == is_english(split_words(text))


def _clauses_about(sentence: str, text: str) -> str:
    """Return the last clauses of a sentence that have of a text what it has, and what it denies of them beside.

    "Not there, here" and "No, here" deny nothing of "here". "Don't, please, stay here", "Never: here" and
    "Here, it isn't" may.
    """
    clauses, terms = _CLAUSE_END.split(sentence), _own_terms(text)
    # "host 2, not host 1" says of a host that it is 2
    contrasts_first = sorted(enumerate(clauses), key=lambda numbered: not _is_contrast(numbered[1]))
    last_places = {term: place for place, clause in contrasts_first for term in terms & _own_terms(clause)}
    if not last_places:
        return ""
    first, last = min(last_places.values()), max(last_places.values())
    closings = [place for place, clause in enumerate(clauses[:last]) if _CLOSING.search(clause)]
    open_from = {claim: 1 + max((place for place in closings if place < claim), default=-1) for claim in (first, last)}
    before = []
    for place, clause in enumerate(clauses[:first]):
        claim = first if content_terms(clause) else last
        if _says_all(clause, content_terms(text)) or (
            place >= open_from[claim] and _reaches(clause, clauses[claim], is_next=claim == place + 1)
        ):
            before.append(clause)
    behind = [
        clause for clause in clauses[last + 1 :] if _is_bare_denial(clause) or _says_all(clause, content_terms(text))
    ]
    return " ".join([*before, *clauses[first : last + 1], *behind])


def _reaches(denial: str, claim: str, *, is_next: bool) -> bool:
    """Return whether a clause may deny one behind it: by an insertion, a colon or a conjunction."""
    if _ANSWERS.issuperset(split_words(fold_text(denial))) or not negates(denial):
        return False
    return not is_next or _HANDING_ON.search(f"{denial} {claim}") is not None


def _is_bare_denial(clause: str) -> bool:
    """Return whether a clause denies, and names nothing of its own: "it isn't", "that's wrong"."""
    return turns(clause) and _names_nothing(clause) and not _is_contrast(clause)


def _is_contrast(clause: str) -> bool:
    """Return whether a clause denies by its first word alone: "not more"."""
    first_word, *others = split_words(spelt_out(clause)) or [""]
    is_about = any(not is_of_truth(stem_word(word)) for word in others)
    return is_about and negates(first_word) and not turns(" ".join(others))


def says_no(claim: str, reply: str) -> bool:
    """Return whether a reply begins with a no to a claim: "No, here"; and not just "No, don't", with less than half."""
    first_sentence, *rest = SENTENCE_END.split(reply.strip())
    clauses, terms = _CLAUSE_END.split(first_sentence), content_terms(claim)
    denials = [clause for clause in clauses if turns(clause)]
    own_denials = [clause for clause in denials if not _names_nothing(clause)]
    if len(own_denials) == len(denials):
        return False
    # what is so instead may follow an order
    is_corrected = any(terms & content_terms(said) for said in (*clauses, *rest) if not turns(said))
    return is_corrected or all(_holds_half(clause, terms) for clause in own_denials)


def _names_nothing(clause: str) -> bool:
    """Return whether a clause names nothing of its own, but for what says that something is false, or true."""
    return all(map(is_of_truth, content_terms(clause) - OTHER_SMALL_WORDS))


def _says_all(clause: str, terms: frozenset[str]) -> bool:
    """Return whether a clause by itself has all of some terms; in a script without blanks a negation breaks a few."""
    return _holds_most(clause, terms) if UNSPACED.search(clause) else bool(terms) and terms <= content_terms(clause)


def is_taken_back(sentence: str) -> bool:
    """Return whether a sentence takes back what was just said: "Actually, scrap that: …"."""
    return any(
        _TAKING_BACK.search(clause.casefold().rstrip(" ,;:–—")) and not negates(clause)
        for clause in _CLAUSE_END.split(sentence)
    )


def find_denial(claim: str, later: Iterable[str]) -> str:
    """Return the sentence that says last of a claim that it isn't so, or is with other numbers; else nothing."""
    said = ""
    prepared, terms = jaccard.prepare_text(claim), content_terms(claim)
    for sentence in later:
        if not _holds_half(sentence, terms) or is_hearsay(claim, sentence):
            continue
        if _differ_in_negation(claim, sentence) or jaccard.differ_only_in_number(
            prepared, jaccard.prepare_text(_clauses_about(sentence, claim))
        ):
            said = sentence
        elif _holds_most(sentence, terms):
            said = ""
    return said


def correction_of(claim: str, later: Sequence[str]) -> str:
    """Return the last of some sentences after a claim that corrects it, if it says all of it; else nothing."""
    terms = content_terms(claim)
    denial = find_denial(claim, later)
    return _clauses_about(denial, claim) if _holds_most(denial, terms) else ""


def statements_after(quote: str, text: str) -> Sequence[str]:
    """Return the own statements of a message that follow a quote."""
    last_sentence = without_blanks(SENTENCE_END.split(quote.strip())[-1])
    statements = own_statements(text)
    places = [place for place, sentence in enumerate(statements) if last_sentence in without_blanks(sentence)]
    return statements[places[0] + 1 :] if places else ()


# each claim of a session asks for all that its human said afterwards
@lru_cache(maxsize=2048)
def own_statements(text: str) -> tuple[str, ...]:
    """Return the sentences of a human's message that are his own words and no questions."""
    sentences = dict.fromkeys(SENTENCE_END.split(own_words(text)))
    return tuple(one for one in sentences if len(one) <= _LONGEST_STATEMENT and not is_question(one))


@lru_cache(maxsize=8192)
def without_blanks(text: str) -> str:
    """Return a text's letters, cases folded."""
    return _BLANKS.sub("", text).casefold()


@lru_cache(maxsize=8192)
def content_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that carry a subject."""
    return _own_terms(text) - STOP_WORDS


@lru_cache(maxsize=8192)
def _own_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that carry a subject or do something to it: the stem of "use" is that of "us"."""
    words = (word for word in split_words(spelt_out(text)) if fold_text(word) not in _RELATING)
    return frozenset(term for word in words for term in terms_of(word) if len(term) > 1)
