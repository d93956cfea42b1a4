"""What a judge is shown of learnings, and what it says of them: three scores and vetoes, item by item."""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clipped
from roamkb.core.text import folded
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.pipeline.gate.checks import INVALIDATED
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import JudgeScores
from roamkb.pipeline.gate.checks import scores_of
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import pairs
from roamkb.text.tokenize import words

#: A judge sees so many at a time; of more it looks at none closely.
AT_ONCE: Final = 20
#: Learnings beside each of them.
NEAREST: Final = 3

#: What makes a claim invalid, whatever its scores.
_FATAL: Final = frozenset({"secret", "instruction"})
#: What keeps a claim from being verified.
VETOES: Final = _FATAL | {"refuted", "passing"}

#: Characters that are enough of each: twenty items stay below what a small model reads well.
_CLAIM: Final = 2_000
_QUOTE: Final = 300
_TURN: Final = 1_200
_LINES: Final = 1_600
_NEAR: Final = 300
_MOST_FILES: Final = 8
_MOST_TERMS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """A learning as a judge sees it, with all that speaks for or against it."""

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
    """What a judge says of one learning."""

    #: None where it said nothing that counts.
    scores: JudgeScores | None
    vetoes: tuple[str, ...] = ()
    #: What was wrong with its answer.
    trouble: str = ""


def question(items: Sequence[JudgedItem]) -> dict[str, object]:
    """Return what a judge is asked about `items`, each by its number from 1 on."""
    return {"items": [_shown(number, item) for number, item in enumerate(items, start=1)]}


def _shown(number: int, item: JudgedItem) -> dict[str, object]:
    lines, room = list[str](), _LINES
    for line in item.file_lines:
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return {
        "number": number,
        "claim": clipped(item.claim, _CLAIM),
        "type": item.type,
        "quote": clipped(item.quote, _QUOTE),
        "turn": clipped(item.turn, _TURN),
        "files": list(item.files[:_MOST_FILES]),
        "file_lines": lines,
        "nearest": [clipped(text, _NEAR) for text in item.nearest[:NEAREST]],
    }


def judgements(answer: Mapping[str, object], count: int) -> tuple[Judgement, ...]:
    """Return what `answer` says of each of `count` items; what it doesn't say rightly of one is a trouble."""
    told = answer.get("items")
    if not isinstance(told, list):
        return (_unjudged("holds no list of items"),) * count
    by_number: dict[int, list[Mapping[str, object]]] = {}
    for one in told:
        number = one.get("number") if isinstance(one, dict) else None
        if isinstance(one, dict) and isinstance(number, int) and not isinstance(number, bool):
            by_number.setdefault(number, []).append(one)
    wanted = range(1, count + 1)
    strange = next((number for number in by_number if number not in wanted), None)
    if strange is not None and not by_number.keys() >= set(wanted):
        # who counts from another number says of each item what is true of its neighbour
        return (_unjudged(f"is about an item {strange} that nobody asked about"),) * count
    return tuple(_of_item(number, by_number.get(number, [])) for number in wanted)


def _of_item(number: int, told: Sequence[Mapping[str, object]]) -> Judgement:
    if len(told) != 1:
        return _unjudged(f"says {'several things' if told else 'nothing'} of item {number}")
    one = judgement(told[0])
    if not one.trouble and not isinstance(told[0].get("vetoes"), list):
        return _unjudged(f"holds no list of vetoes for item {number}")
    return one


def judgement(told: Mapping[str, object]) -> Judgement:
    """Return what is told of one item; a judge that knows no vetoes gives none."""
    scores = scores_of(told)
    if scores is None:
        return _unjudged("holds no three scores from 0 to 1")
    vetoes = told.get("vetoes", [])
    if not isinstance(vetoes, list) or not all(isinstance(one, str) and one in VETOES for one in vetoes):
        return _unjudged("holds vetoes that are none")
    return Judgement(scores=scores, vetoes=tuple(dict.fromkeys(vetoes)))


def is_of_one(answer: Mapping[str, object]) -> bool:
    """Say whether a judge answered about one statement, as those do that know of no others."""
    return "items" not in answer and "accuracy" in answer


def with_vetoes(verdict: str, vetoes: Sequence[str]) -> str:
    """Return what a verdict amounts to once the judge's vetoes are heard."""
    if _FATAL.intersection(vetoes):
        return INVALIDATED
    return UNVERIFIED if vetoes and verdict == VERIFIED else verdict


def _unjudged(why: str) -> Judgement:
    return Judgement(scores=None, trouble=f"the judge's answer {why}")


def telling_lines(text: str, claim: str, *, path: str, most: int) -> Iterator[str]:
    """Yield the lines of a file in which the rarest words of `claim` stand, with their neighbours."""
    lines = text.splitlines()
    plain = [folded(line) for line in lines]
    weights: defaultdict[int, float] = defaultdict(float)
    for term in dict.fromkeys(_terms(claim)):
        places = [at for at, line in enumerate(plain) if term in line]
        for at in places:
            weights[at] += 1 / len(places)
    best = sorted(weights, key=lambda at: (-weights[at], at))[: max(most // 3, 1)]
    wanted = sorted({near for at in best for near in (at - 1, at, at + 1) if 0 <= near < len(lines)})
    # a file without any of them says what it is by its beginning
    for at in (wanted or range(len(lines)))[:most]:
        yield f"{path}:{at + 1}: {clipped(lines[at].rstrip(), _NEAR)}"


def _terms(claim: str) -> Iterator[str]:
    for word in islice(words(claim), _MOST_TERMS):
        if UNSPACED.match(word):
            yield from pairs(word)
        elif (plain := folded(word)) not in STOP_WORDS:
            yield plain
