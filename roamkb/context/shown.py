"""`shown`: what was put before sessions, what nearly was, and what came of it."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from typing import Final
from typing import NamedTuple

from roamkb.context.store.suggestion_record import SuggestionRecord
from roamkb.context.suggestions import WeighedAnswer
from roamkb.core.json_form import OrNull
from roamkb.core.request import Option
from roamkb.core.request import count_option
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.receipts import Receipt

#: Occasions that somebody reads.
DEFAULT_LIMIT: Final = 20
#: What may be shown.
LEARNING: Final = "learning"
NODE: Final = "node"
REMEDY: Final = "remedy"
#: How the id of a remedy begins.
_REMEDY_PREFIX: Final = f"{REMEDY}:"
#: Seconds between a record of what was weighed and the receipt of what was shown.
_SAME_OCCASION_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class InjectRequest:
    """Parameters of `inject`."""

    action: str | None = optional_argument(
        "on or off (without it: which it is).", metavar="on|off", values=("on", "off")
    )


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """Options of `shown`."""

    _: KW_ONLY
    session: Annotated[str | None, Option("--session", "Only what this session was shown.", metavar="S")] = None
    limit: int | None = count_option("--limit", f"At most so many occasions, the latest first ({DEFAULT_LIMIT}).")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """A learning, node or remedy that was shown."""

    id: str
    #: learning, node or remedy; null where it is gone.
    kind: OrNull
    #: The learning's key or the node's title; null where it is gone.
    name: OrNull
    #: What a learning says; null for others.
    text: OrNull
    #: What was said of this showing: success, failure and so on; null where nothing was.
    outcome: OrNull


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """An answer that was weighed and not shown."""

    id: str
    kind: OrNull
    name: OrNull
    #: What a learning says; null for others.
    text: OrNull
    #: Of evidence, and the least that would have done.
    bits: float
    least_bits: float
    #: Why it wasn't shown.
    dropped: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOccasion:
    """One occasion on which something was shown, or nearly was."""

    #: Local, ISO.
    time: str
    session: str
    agent: str
    #: The worktree in which the session works; null for the main checkout.
    worktree: OrNull
    #: What asked: brief, prompt, file, error, subagent, recall, relevant …
    by: str
    #: The first digits of the prompt's SHA-256; null where there was none.
    prompt: OrNull
    shown: tuple[ShownItem, ...]
    near: tuple[NearMiss, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownList:
    """The occasions, the latest first."""

    occasions: tuple[ShownOccasion, ...]
    #: Occasions beyond the limit.
    more: int


class _Name(NamedTuple):
    """What an id stands for; empty where it is gone."""

    kind: str = ""
    name: str = ""
    text: str = ""


def list_shown(
    receipts: Sequence[Receipt],
    records: Sequence[SuggestionRecord],
    state: LogState,
    find_titles: Callable[[Collection[str]], Mapping[str, str]],
    *,
    session: str | None,
    limit: int,
) -> ShownList:
    """Return what receipts and records tell; `find_titles` gives titles of nodes by their ids."""
    if session is not None:
        receipts = [receipt for receipt in receipts if receipt.session == session]
        records = [record for record in records if record.session == session]
    pairs = sorted(_pair_occasions(receipts, records), key=lambda pair: _time_of(*pair), reverse=True)
    outcomes = _outcomes_by_receipt(state, {receipt.id for receipt, _ in pairs[:limit] if receipt})
    ids = {id for pair in pairs[:limit] for id in _ids_of(*pair) if not id.startswith(_REMEDY_PREFIX)}
    titles = find_titles(ids - state.standings.keys())

    def find_name(id: str) -> _Name:
        if id.startswith(_REMEDY_PREFIX):
            return _Name(REMEDY, id.removeprefix(_REMEDY_PREFIX))
        if id in state.standings:
            learning = state.standings[id].learning
            return _Name(LEARNING, learning.key, learning.statement)
        return _Name(NODE, titles[id]) if id in titles else _Name()

    return ShownList(
        occasions=tuple(_occasion(receipt, record, outcomes, find_name) for receipt, record in pairs[:limit]),
        more=max(0, len(pairs) - limit),
    )


def remedy_id(technique: str) -> str:
    """Return the id by which a receipt names a remedy, which has none of its own."""
    return _REMEDY_PREFIX + one_line(technique)


def _ids_of(receipt: Receipt | None, record: SuggestionRecord | None) -> Iterator[str]:
    yield from receipt.shown if receipt else ()
    yield from (answer.id for answer in record.answers) if record else ()


def _pair_occasions(
    receipts: Iterable[Receipt], records: Iterable[SuggestionRecord]
) -> Iterator[tuple[Receipt | None, SuggestionRecord | None]]:
    """Yield each receipt with the record of the same occasion, and the records that led to no receipt."""
    by_session: dict[tuple[str, str], list[SuggestionRecord]] = {}
    for record in records:
        by_session.setdefault((record.session, record.by), []).append(record)
    for receipt in receipts:
        candidates = by_session.get((receipt.session, receipt.by), [])
        matching = (record for record in candidates if abs(record.ts - receipt.ts) < _SAME_OCCASION_SECONDS)
        same = min(matching, key=lambda record: abs(record.ts - receipt.ts), default=None)
        if same is not None:
            candidates.remove(same)
        yield receipt, same
    yield from ((None, record) for rest in by_session.values() for record in rest)


def occasion_time(moment: float) -> str:
    """Return seconds since 1970 in local time, ISO 8601 to the second."""
    return datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")


def _time_of(receipt: Receipt | None, record: SuggestionRecord | None) -> float:
    return receipt.ts if receipt else record.ts if record else 0.0


def _outcomes_by_receipt(state: LogState, receipt_ids: Collection[str]) -> Mapping[tuple[str, str], str]:
    """Return the last outcome of each learning of a receipt, by the ids of both."""
    return {
        (step.event.text_field("receipt"), id): step.event.text_field("outcome") or step.event.event
        for id, standing in state.standings.items()
        for step in standing.history
        if step.event.text_field("receipt") in receipt_ids
    }


def _occasion(
    receipt: Receipt | None,
    record: SuggestionRecord | None,
    outcomes: Mapping[tuple[str, str], str],
    find_name: Callable[[str], _Name],
) -> ShownOccasion:
    shown = receipt.shown if receipt else ()
    near = [answer for answer in record.answers if answer.dropped and answer.id not in shown] if record else []
    source = receipt or record
    return ShownOccasion(
        time=occasion_time(_time_of(receipt, record)),
        session=source.session if source else "",
        agent=receipt.agent if receipt else "",
        worktree=receipt.worktree if receipt else "",
        by=source.by if source else "",
        prompt=record.prompt if record else "",
        shown=tuple(
            _shown_item(id, find_name(id), outcomes.get((receipt.id, id), "") if receipt else "") for id in shown
        ),
        near=tuple(_near_miss(answer, find_name(answer.id)) for answer in near),
    )


def _shown_item(id: str, named: _Name, outcome: str) -> ShownItem:
    return ShownItem(id=id, kind=named.kind, name=named.name, text=named.text, outcome=outcome)


def _near_miss(answer: WeighedAnswer, named: _Name) -> NearMiss:
    return NearMiss(
        id=answer.id,
        kind=named.kind,
        name=named.name,
        text=named.text,
        bits=answer.bits,
        least_bits=answer.least_bits,
        dropped=answer.dropped,
    )
