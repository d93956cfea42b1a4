"""What somebody wants to have learned, before the log has it, and who signs for it."""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.ids import next_id
from roamkb.core.model import PROVENANCES
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.log.auto_tags import topics
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import label_of
from roamkb.log.learning import own_key
from roamkb.log.state.confidence import AT_FIRST
from roamkb.log.state.confidence import first
from roamkb.log.state.confidence import started
from roamkb.log.state.learning_state import SAID_AGAIN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.secrets.detector import refuse_secrets
from roamkb.text.tokenize import words

#: Bytes of one statement; more is a document, not a learning.
MOST_BYTES = 64 * 1024
_LONGEST_TYPE = 40
#: What a line says of a fix that was applied and worked.
FIX_APPLIED = "fix_applied"
#: What a learning is flagged as that somebody wants kept although it says little.
THIN: Final = "thin"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLearning:
    """One statement, as the caller gave it."""

    content: str
    #: Any word; `log.learning.canonical_type` tells what it means.
    type: str = "learned"
    tags: tuple[str, ...] = ()
    bead: str = ""
    task: str = ""
    category: str = ""
    files: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    provenance: str = "observed"
    #: In hundredths; None lets the provenance say.
    confidence: int | None = None
    #: Who else is concerned: `execution`, `context`, `template`, `only_for`.
    extra: Mapping[str, object] = field(default_factory=dict)
    #: Why it says little, where somebody wants it kept all the same.
    thin: str = ""

    def texts(self) -> Iterator[str]:
        """Yield every text that the caller gave."""
        yield from (self.content, self.type, self.bead, self.task, self.category)
        yield from (*self.tags, *self.files, *self.actions)
        for told in self.extra.values():
            yield from (str(one) for one in (told.values() if isinstance(told, Mapping) else (told,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who holds the pen, and when: what every new line of the log is signed with."""

    agent: str
    session: str
    machine: str
    kind: ProjectKind
    now: datetime
    new_id: Callable[[], str]
    #: Whether somebody types it at a terminal, and no agent started that.
    is_human: bool = False
    #: Of the agent that says no session: what tells its calls from another's.
    process: str = ""

    @property
    def ts(self) -> float:
        """Seconds since 1970."""
        return round(self.now.timestamp(), 3)


class EventFactory:
    """Makes events whose ids are later than any in the ledger, in the order in which they are made."""

    def __init__(self, hand: Author, *, after: str, by: str = "learn") -> None:
        self._hand = hand
        self._last = after
        self._by = by

    def event(self, name: str, of: str, *, task: str = "", **fields: object) -> LedgerEvent:
        """Return the event `name`, happened to `of` just now."""
        self._last = next_id(self._last, self._hand.new_id)
        if self._hand.process and not (self._hand.session or task):
            fields = {"process": self._hand.process, **fields}
        return LedgerEvent(
            id=self._last,
            ts=self._hand.ts,
            event=name,
            of=of,
            by=self._by,
            agent=self._hand.agent,
            session=self._hand.session,
            task=task,
            machine=self._hand.machine,
            fields=fields,
        )


def check_saying(saying: NewLearning) -> None:
    """Raise where `saying` can't be a learning: it is empty, too long, or holds a secret."""
    if not shown(saying.content):
        raise UsageError(
            "there is nothing to learn", hint='roamkb learn "OAuth redirect URIs must match exactly"'
        )
    size = len(saying.content.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise UsageError(
            f"the text has {size:,} bytes; a learning has at most {MOST_BYTES:,}",
            hint="say what was learned, and where the rest is",
        )
    word = canonical_type(saying.type)
    if not word or len(word) > _LONGEST_TYPE:
        raise UsageError(
            f"no type {clipped(shown(saying.type), 60)}", hint="one word: learned, decision, fact…"
        )
    if saying.provenance not in PROVENANCES:
        raise UsageError(f"no provenance {shown(saying.provenance)}", hint=f"one of {', '.join(PROVENANCES)}")
    refuse_secrets([*saying.texts()])


def drafted(
    saying: NewLearning, hand: Author, state: LogState, *, taken: Container[str] | None = None
) -> Learning:
    """Return the learning that `saying` becomes in a log that stands at `state`.

    `taken` are the state's ids and keys, for who drafts many.
    """
    type = canonical_type(saying.type)
    said = saying.type.strip().strip(":").casefold()
    key = label_of(type, saying.content)
    if key in taken if taken is not None else state.called(key):
        key = own_key(key, type, saying.content)
    extra = dict(saying.extra)
    if said != type:
        extra["said"] = said
    return Learning(
        id=hand.new_id(),
        key=key,
        type=type,
        content=saying.content,
        source="user",
        tags=tuple(dict.fromkeys((type, *saying.tags, *topics(saying.content)))),
        ts=int(hand.ts),
        bead=saying.bead or saying.task,
        agent=hand.agent,
        session=hand.session,
        task=saying.task,
        category=saying.category,
        files=saying.files,
        actions=saying.actions,
        provenance=saying.provenance,
        kind=hand.kind,
        confidence=_confidence(saying, type, hand),
        extra=extra,
    )


def _confidence(saying: NewLearning, type: str, hand: Author) -> int:
    if saying.confidence is not None:
        said = started(saying.confidence, saying.provenance)
        return said if hand.is_human else min(said, AT_FIRST)
    fix_applied = saying.extra.get(FIX_APPLIED) is True
    return first(saying.provenance, type=type, agent=hand.agent, fix_applied=fix_applied)


def contradictions(own: str, rivals: Sequence[str], disputed: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the learnings that the ledger should call a contradiction, each with the one that it names.

    `rivals` are those that `own` may contradict, the closest first. Each learning is told of once, when it
    isn't `disputed` yet: the pairs join them into one group, and all pairs of a group grow with its square.
    """
    if rivals:
        yield own, rivals[0]
    yield from ((rival, own) for rival in rivals if rival not in disputed)


def repetition(known: Learning, said: Learning | NewLearning) -> Mapping[str, object]:
    """Return what a `repeated` event tells of a repetition: what it is about, and how its words differ."""
    about: dict[str, object] = {name: list(told) for name in SAID_AGAIN if (told := getattr(said, name))}
    if evidence := said.extra.get("evidence"):
        about["evidence"] = evidence
    return {**about, **difference(known, said.content)}


def difference(known: Learning, content: str) -> Mapping[str, object]:
    """Return the words that only one side has, so that a merge can be undone; nothing where none differ."""
    if known.content == content:
        return {}
    old, new = set(words(known.content)), set(words(content))
    return {"content": content, "words_added": sorted(new - old), "words_missing": sorted(old - new)}
