"""The protocol of judges: the items that they are asked about, and their scores and vetoes."""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import fold_text
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import JudgeScores
from roamkb.pipeline.gate.checks import parse_scores
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs
from roamkb.text.tokenize import split_words

#: A judge sees so many at a time; of more it looks at none closely.
JUDGE_BATCH_SIZE: Final = 20
#: Learnings beside each of them.
NEAREST_COUNT: Final = 3

#: What makes a claim invalid, whatever its scores.
_FATAL_VETOES: Final = frozenset({"secret", "instruction"})
#: What keeps a claim from being verified.
VETOES: Final = _FATAL_VETOES | {"refuted", "passing"}

#: Characters that are enough of each: twenty items stay below what a small model reads well.
_CLAIM_LENGTH: Final = 2_000
_QUOTE_LENGTH: Final = 300
_TURN_LENGTH: Final = 1_200
_LINES_LENGTH: Final = 1_600
_NEAR_LENGTH: Final = 300
_MOST_FILES: Final = 8
_MOST_TERMS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """A learning as a judge sees it, with the evidence for and against it."""

    claim: str
    type: str
    files: tuple[str, ...] = ()
    #: Literal text of the session that bears it out; empty where nobody gave any.
    quote: str = ""
    #: What was said around the quote.
    turn: str = ""
    #: Lines of files that it names, as `path:line: text`.
    file_lines: tuple[str, ...] = ()
    #: What else is recorded about the same.
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's scores and vetoes for one learning."""

    #: None where it said nothing that counts.
    scores: JudgeScores | None
    vetoes: tuple[str, ...] = ()
    #: What was wrong with its answer.
    trouble: str = ""


def judge_question(items: Sequence[JudgedItem]) -> dict[str, object]:
    """Return the question to a judge about `items`, each by its number from 1 on."""
    return {"items": [_item_fields(number, item) for number, item in enumerate(items, start=1)]}


def _item_fields(number: int, item: JudgedItem) -> dict[str, object]:
    lines, room = list[str](), _LINES_LENGTH
    for line in item.file_lines:
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return {
        "number": number,
        "claim": clip_text(item.claim, _CLAIM_LENGTH),
        "type": item.type,
        "quote": clip_text(item.quote, _QUOTE_LENGTH),
        "turn": clip_text(item.turn, _TURN_LENGTH),
        "files": list(item.files[:_MOST_FILES]),
        "file_lines": lines,
        "nearest": [clip_text(text, _NEAR_LENGTH) for text in item.nearest[:NEAREST_COUNT]],
    }


def parse_judgements(answer: Mapping[str, object], count: int) -> tuple[Judgement, ...]:
    """Return the judgement of each of `count` items in `answer`; a malformed part is a trouble."""
    answer_items = answer.get("items")
    if not isinstance(answer_items, list):
        return (_failed_judgement("holds no list of items"),) * count
    by_number: dict[int, list[Mapping[str, object]]] = {}
    for answer_item in answer_items:
        number = answer_item.get("number") if isinstance(answer_item, dict) else None
        if isinstance(answer_item, dict) and isinstance(number, int) and not isinstance(number, bool):
            by_number.setdefault(number, []).append(answer_item)
    asked_numbers = range(1, count + 1)
    unasked_number = next((number for number in by_number if number not in asked_numbers), None)
    if unasked_number is not None and not by_number.keys() >= set(asked_numbers):
        # who counts from another number says of each item what is true of its neighbour
        return (_failed_judgement(f"is about an item {unasked_number} that nobody asked about"),) * count
    return tuple(_parse_item(number, by_number.get(number, [])) for number in asked_numbers)


def _parse_item(number: int, answers: Sequence[Mapping[str, object]]) -> Judgement:
    if len(answers) != 1:
        return _failed_judgement(f"says {'several things' if answers else 'nothing'} of item {number}")
    item_judgement = parse_judgement(answers[0])
    if not item_judgement.trouble and not isinstance(answers[0].get("vetoes"), list):
        return _failed_judgement(f"holds no list of vetoes for item {number}")
    return item_judgement


def parse_judgement(answer: Mapping[str, object]) -> Judgement:
    """Return the judgement in the answer on one item; a judge that knows no vetoes gives none."""
    scores = parse_scores(answer)
    if scores is None:
        return _failed_judgement("holds no three scores from 0 to 1")
    vetoes = answer.get("vetoes", [])
    if not isinstance(vetoes, list) or not all(isinstance(veto, str) and veto in VETOES for veto in vetoes):
        return _failed_judgement("holds vetoes that are none")
    return Judgement(scores=scores, vetoes=tuple(dict.fromkeys(vetoes)))


def is_single_answer(answer: Mapping[str, object]) -> bool:
    """Say whether a judge answered about a single statement, as those do that know of no others."""
    return "items" not in answer and "accuracy" in answer


def apply_vetoes(verdict: str, vetoes: Sequence[str]) -> str:
    """Return a verdict after the judge's vetoes are applied."""
    if _FATAL_VETOES.intersection(vetoes):
        return INVALIDATED
    return UNVERIFIED if vetoes and verdict == VERIFIED else verdict


def _failed_judgement(why: str) -> Judgement:
    return Judgement(scores=None, trouble=f"the judge's answer {why}")


def telling_lines(text: str, claim: str, *, path: str, most: int) -> Iterator[str]:
    """Yield the lines of a file in which the rarest words of `claim` stand, with their neighbours."""
    lines = text.splitlines()
    plain = [fold_text(line) for line in lines]
    weights: defaultdict[int, float] = defaultdict(float)
    for term in dict.fromkeys(_claim_terms(claim)):
        places = [index for index, line in enumerate(plain) if term in line]
        for index in places:
            weights[index] += 1 / len(places)
    best = sorted(weights, key=lambda index: (-weights[index], index))[: max(most // 3, 1)]
    line_indexes = sorted({near for index in best for near in (index - 1, index, index + 1) if 0 <= near < len(lines)})
    # a file without any of them says what it is by its beginning
    for index in (line_indexes or range(len(lines)))[:most]:
        yield f"{path}:{index + 1}: {clip_text(lines[index].rstrip(), _NEAR_LENGTH)}"


def _claim_terms(claim: str) -> Iterator[str]:
    for word in islice(split_words(claim), _MOST_TERMS):
        if UNSPACED.match(word):
            yield from letter_pairs(word)
        elif (plain := fold_text(word)) not in STOP_WORDS:
            yield plain
