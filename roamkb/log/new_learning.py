"""A new learning before it is in the log, and the author whose name its line bears."""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime

from roamkb.core.errors import UsageError
from roamkb.core.ids import next_id
from roamkb.core.model import PROVENANCES
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Final
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.core.text import storable_text
from roamkb.log import auto_tags
from roamkb.log.learning import KBS_FIELD
from roamkb.log.learning import LONGEST_ALIAS
from roamkb.log.learning import MOST_ALIASES
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import disambiguated_key
from roamkb.log.learning import fitting_aliases
from roamkb.log.learning import label_of
from roamkb.log.state.confidence import MOST_AT_FIRST
from roamkb.log.state.confidence import first_confidence
from roamkb.log.state.confidence import start_confidence
from roamkb.log.state.learning_state import REPETITION_FIELDS
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.secrets import detector
from roamkb.text.tokenize import split_words
from roamkb.text.unsafe_text import unsafe_reason

#: Bytes of one statement; more is a document, not a learning.
MOST_LEARNING_BYTES = 64 * 1024
_LONGEST_TYPE = 40
#: What a line says of a fix that was applied and worked.
FIX_APPLIED_FIELD = "fix_applied"
#: What a learning is flagged as that somebody wants kept although it says little.
THIN_FLAG: Final = "thin"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLearning:
    """A statement to be learned, as the caller gave it."""

    content: str
    #: Any word; `log.learning.canonical_type` tells what it means.
    type: str = "learned"
    #: Whether somebody said the type; the very words of a learning of any type are that learning otherwise.
    is_type_given: bool = True
    tags: tuple[str, ...] = ()
    bead: str = ""
    task: str = ""
    category: str = ""
    files: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    #: What somebody who lacks it would type when it is needed.
    aliases: tuple[str, ...] = ()
    provenance: str = "observed"
    #: In hundredths; None lets the provenance say.
    confidence: int | None = None
    #: Who else is concerned: `execution`, `context`, `template`, `only_for`.
    extra: Mapping[str, object] = field(default_factory=dict)
    #: Why it says little, where somebody wants it kept all the same.
    thin_reason: str = ""

    def all_texts(self) -> Iterator[str]:
        """Yield every text that the caller gave."""
        yield from (self.content, self.type, self.bead, self.task, self.category)
        yield from (*self.tags, *self.files, *self.actions, *self.aliases)
        for value in self.extra.values():
            yield from (str(item) for item in (value.values() if isinstance(value, Mapping) else (value,)))


def storable_learning(new_learning: NewLearning) -> NewLearning:
    """Return `new_learning` without what wouldn't show."""
    return replace(
        new_learning,
        content=storable_text(new_learning.content),
        tags=tuple(map(storable_text, new_learning.tags)),
        aliases=fitting_aliases(new_learning.aliases),
        extra={name: _storable_value(value) for name, value in new_learning.extra.items()},
    )


def _storable_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _storable_value(inner) for name, inner in value.items()}
    return storable_text(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The agent, session, machine and time that every new line of the log is signed with."""

    agent: str
    session: str
    machine: str
    kind: ProjectKind
    now: datetime
    new_id: Callable[[], str]
    #: The named knowledge bases for which the project is personal, where it isn't for the default one.
    kbs: tuple[str, ...] = ()
    #: Whether somebody types it at a terminal, and no agent started that.
    is_human: bool = False
    #: Of the agent that says no session: what tells its calls from another's.
    process: str = ""

    @property
    def ts(self) -> float:
        """Seconds since 1970."""
        return round(self.now.timestamp(), 3)


class EventFactory:
    """Maker of events whose ids are later than any in the ledger, in their order."""

    def __init__(self, author: Author, *, after: str, command: str = "learn") -> None:
        self._hand = author
        self._last = after
        self._by = command

    def new_event(self, name: str, subject_id: str, *, task: str = "", **fields: object) -> LedgerEvent:
        """Return the event `name` of the learning or task `subject_id`, at the author's time."""
        self._last = next_id(self._last, self._hand.new_id)
        if self._hand.process and not (self._hand.session or task):
            fields = {"process": self._hand.process, **fields}
        return LedgerEvent(
            id=self._last,
            ts=self._hand.ts,
            event=name,
            of=subject_id,
            by=self._by,
            agent=self._hand.agent,
            session=self._hand.session,
            task=task,
            machine=self._hand.machine,
            fields=fields,
        )


def check_new_learning(new_learning: NewLearning) -> None:
    """Raise where `new_learning` can't be a learning: it is empty, too long, or holds a secret."""
    if not one_line(new_learning.content):
        raise UsageError("there is nothing to learn", hint='roamkb learn "OAuth redirect URIs must match exactly"')
    size = len(new_learning.content.encode("utf-8", "surrogatepass"))
    if size > MOST_LEARNING_BYTES:
        raise UsageError(
            f"the text has {size:,} bytes; a learning has at most {MOST_LEARNING_BYTES:,}",
            hint="say what was learned, and where the rest is",
        )
    word = canonical_type(new_learning.type)
    if not word or len(word) > _LONGEST_TYPE:
        raise UsageError(
            f"no type {clip_text(one_line(new_learning.type), 60)}", hint="one word: learned, decision, fact…"
        )
    if len(new_learning.aliases) > MOST_ALIASES or any(len(alias) > LONGEST_ALIAS for alias in new_learning.aliases):
        raise UsageError(
            f"too many or too long aliases; a learning has at most {MOST_ALIASES} of {LONGEST_ALIAS} letters",
            hint="each is what somebody would type who needs it, in a few words",
        )
    if new_learning.provenance not in PROVENANCES:
        raise UsageError(f"no provenance {one_line(new_learning.provenance)}", hint=f"one of {', '.join(PROVENANCES)}")
    detector.refuse_secrets([*new_learning.all_texts()])


def draft_learning(
    new_learning: NewLearning, author: Author, state: LogState, *, taken_names: Container[str] | None = None
) -> Learning:
    """Return the learning that `new_learning` becomes in a log with that state.

    `taken_names` are the state's ids and keys, for who drafts many.
    """
    new_learning = storable_learning(new_learning)
    type = canonical_type(new_learning.type)
    given_type = new_learning.type.strip().strip(":").casefold()
    key = label_of(type, new_learning.content)
    if key in taken_names if taken_names is not None else state.learnings_called(key):
        key = disambiguated_key(key, type, new_learning.content)
    extra = {key: value for key, value in new_learning.extra.items() if key != KBS_FIELD}
    if author.kbs:
        extra[KBS_FIELD] = list(author.kbs)
    if given_type != type:
        extra["said"] = given_type
    if author.process and not new_learning.task:
        extra["process"] = author.process
    return Learning(
        id=author.new_id(),
        key=key,
        type=type,
        content=new_learning.content,
        source="user",
        tags=tuple(dict.fromkeys((type, *new_learning.tags, *auto_tags.named_topics(new_learning.content)))),
        ts=int(author.ts),
        bead=new_learning.bead or new_learning.task,
        agent=author.agent,
        session=author.session,
        task=new_learning.task,
        category=new_learning.category,
        files=new_learning.files,
        actions=new_learning.actions,
        aliases=new_learning.aliases,
        provenance=new_learning.provenance,
        kind=author.kind,
        confidence=_new_confidence(new_learning, type, author),
        extra=extra,
    )


def _new_confidence(new_learning: NewLearning, type: str, author: Author) -> int:
    if new_learning.confidence is not None:
        start = start_confidence(new_learning.confidence, new_learning.provenance)
        return start if author.is_human else min(start, MOST_AT_FIRST)
    fix_applied = new_learning.extra.get(FIX_APPLIED_FIELD) is True
    return first_confidence(new_learning.provenance, type=type, agent=author.agent, fix_applied=fix_applied)


def contradiction_pairs(learning_id: str, rivals: Sequence[str], disputed: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the ids to be flagged as contradictions, each with the id that it may contradict.

    `rivals` are those that the learning may contradict, the closest first. Each learning is told of once, when it
    isn't `disputed` yet: the pairs join them into one group, and all pairs of a group grow with its square.
    """
    if rivals:
        yield learning_id, rivals[0]
    yield from ((rival, learning_id) for rival in rivals if rival not in disputed)


def alias_fault(alias: str) -> str:
    """Return why a learning with an alias isn't offered unasked, as a clause; empty where the alias is harmless."""
    return unsafe_reason([alias]) or ("it reads as if it told a password" if detector.names_a_secret(alias) else "")


def repetition_fields(known_learning: Learning, repeated: Learning | NewLearning) -> Mapping[str, object]:
    """Return the fields of a `repeated` event: its details, and how its words differ."""
    # what would keep a known learning from being told is none of its names
    aliases = [alias for alias in repeated.aliases if not alias_fault(alias)]
    told = {name: list(getattr(repeated, name)) for name in REPETITION_FIELDS} | {"aliases": aliases}
    details: dict[str, object] = {name: values for name, values in told.items() if values}
    if evidence := repeated.extra.get("evidence"):
        details["evidence"] = evidence
    return {**details, **word_difference(known_learning, repeated.content)}


def word_difference(known_learning: Learning, content: str) -> Mapping[str, object]:
    """Return the words that only one side has, so that a merge can be undone; empty where none differ."""
    if known_learning.content == content:
        return {}
    known_words, new_words = set(split_words(known_learning.content)), set(split_words(content))
    return {
        "content": content,
        "words_added": sorted(new_words - known_words),
        "words_missing": sorted(known_words - new_words),
    }
