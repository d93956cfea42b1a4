"""`ingest`: what other tools keep for a project, into its log; a second run adds nothing (document 000).

Each source line is taken in once: its learning's id is made from what the line says, so that two
machines that read the same file make the same, and a line that was merged is remembered by the
event that merged it. Every statement found counts once, as new, merged, already there or
invalid; so does what is unreadable beside it on a torn line.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.core.errors import NotDurable
from roamkb.core.json_form import Keys
from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import json_line
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import identity
from roamkb.log.learning import line_id
from roamkb.log.learning import own_key
from roamkb.log.new_learning import MOST_BYTES
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import contradictions
from roamkb.log.new_learning import repetition
from roamkb.log.state.confidence import HUMAN
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.log.store.project_log import LogContents
from roamkb.pipeline.ingest.claude_memory import read_memory
from roamkb.pipeline.store.foreign_stores import store_entries
from roamkb.pipeline.store.sources import memory_files
from roamkb.pipeline.store.sources import source_lines
from roamkb.secrets.detector import find_secret
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import likeness
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.jaccard import similarity
from roamkb.text.similarity.similarity_join import NearTexts

#: What an import calls the same: the log's own words come from one project (document 000).
ALIKE: Final = 0.70
#: Statements that are planned together and appended by one write: about a second's work.
_BATCH = 1000
#: Characters of them that are enough.
_BATCH_SIZE = 4 * 1024 * 1024
#: Of a family of statements made from one template, so many are found, weighed, and named as rivals.
_LOOKED_AT = 40
_WEIGHED = 8
_MOST_RIVALS = 3
#: Among fewer than these it doesn't matter how many are alike.
_ROOM = 200
_LONGEST_TYPE = 40
#: What a line of another tool's is, where it doesn't say: a human's word.
_PROVENANCE = "user-stated"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What `ingest` takes."""

    folder: str | None = argument("With --memory: another folder than Claude Code's own.", metavar="DIR")
    _: KW_ONLY
    file: str | None = option(
        "--file", "The knowledge.jsonl to read, where it isn't where those tools keep it.", metavar="F"
    )
    memory: bool = switch(
        "--memory", "Read Claude Code's memory of this project; without --yes only show it."
    )
    dry_run: bool = switch("--dry-run", "Count what would come in; write nothing.")
    yes: bool = switch("--yes", "With --memory: take it in.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestResult:
    """What became of a source's statements; `read` is the sum of the others."""

    JSON = "read new merged skipped is_dry_run file files preview"
    #: None where nothing was found to read; of several the first.
    file: Path | None
    files: tuple[Path, ...] = ()
    read: int = 0
    new: int = 0
    merged: int = 0
    #: Taken in or merged by an earlier run, or said by an earlier line of the same source, word for word.
    already: int = 0
    invalid: tuple[BadLine, ...] = ()
    is_dry_run: bool = False
    #: What is new, where it is to be looked at first; else nothing.
    preview: Annotated[tuple[Learning, ...], Keys("key type content tags")] = ()

    @property
    def skipped(self) -> Mapping[str, object]:
        """What the log took nothing of."""
        return {"already": self.already, "invalid": self.invalid}


def knowledge_lines(*paths: Path) -> Iterator[LearningLine | BadLine]:
    """Yield what other tools say in the lines of their logs and the entries of their stores, as learnings."""
    for path in paths:
        for said in _said(path):
            if isinstance(said, LearningLine):
                yield replace(said, learning=imported(said.learning))
            else:
                yield replace(said, reason=f"{path.name}: {said.reason}") if len(paths) > 1 else said


def _said(path: Path) -> Iterator[LearningLine | BadLine]:
    entries = store_entries(path)
    lines = source_lines(path) if entries is None else enumerate(map(json_line, entries), start=1)
    for number, line in lines:
        if isinstance(line, BadLine):
            yield line
        else:
            yield from read_learnings((line,), first=number)


def kinds_said(path: Path) -> Iterator[ProjectKind | None]:
    """Yield what the lines of a `knowledge.jsonl` that name a kind of project say of it."""
    for number, line in source_lines(path):
        # a letter of JSON may be written as its number
        if isinstance(line, bytes) and (ProjectKind.WORK.value.encode() in line or b"\\u" in line):
            for said in read_learnings((line,), first=number):
                yield said.learning.kind if isinstance(said, LearningLine) else None


def memory_lines(folder: Path) -> Iterator[LearningLine | BadLine]:
    """Yield the statements of Claude Code's memory in `folder`."""
    for name, text, changed in memory_files(folder):
        if isinstance(text, UnreadableFile):
            yield BadLine(line=1, reason=f"{name}: {text.reason}")
        else:
            yield from read_memory(name, text, changed=changed)


def imported(said: Learning) -> Learning:
    """Return a foreign line's learning as the log keeps it: the mapping of document 000.

    Its content stays byte for byte. It begins at 0.90, a human's word, unless it says less of itself.
    """
    type = canonical_type(said.type)
    if not type or len(type) > _LONGEST_TYPE:
        type = "learned"
    extra = dict(said.extra)
    if type != said.type:
        extra["said"] = said.type
    if said.id != identity(said.type, said.content):
        extra["source_id"] = said.id
    return replace(
        said,
        id=line_id(type, said.key, said.content, said.ts),
        type=type,
        tags=tuple(dict.fromkeys((type, *said.tags))),
        provenance=said.provenance or _PROVENANCE,
        origin=f"knowledge_import:{said.key}",
        confidence=HUMAN if said.confidence is None else min(said.confidence, HUMAN),
        extra=extra,
    )


def ingest(
    log: Log,
    statements: Iterable[LearningLine | BadLine],
    hand: Author,
    *,
    files: Sequence[Path],
    kind: ProjectKind,
    dry_run: bool = False,
    preview: bool = False,
) -> IngestResult:
    """Add to `log` what `statements` say, in the order in which they come; return what became of each.

    `kind` is what the source's project is. Nobody is kept from the log for longer than a batch
    takes to be written; what they add meanwhile is seen. A run that was interrupted is
    finished by the next.

    Raises:
        DiskError, Busy: what was read before is in the log. NotDurable: so is this, perhaps.
    """
    result = IngestResult(file=files[0], files=tuple(files), is_dry_run=dry_run)
    stamp, known = log.stamp(), _KnownLearnings(log.read())
    for batch in _batches(statements):
        plan = known.plan(batch, hand, kind)
        if plan.is_to_write and not dry_run:
            with log.locked():
                if log.stamp() != stamp:
                    known = _KnownLearnings(log.read())
                    plan = known.plan(batch, hand, kind)
                _add(log, plan)
                stamp = log.stamp()
        result = replace(
            result,
            read=result.read + plan.read,
            new=result.new + len(plan.learnings),
            merged=result.merged + plan.merged,
            already=result.already + plan.already,
            invalid=(*result.invalid, *plan.invalid),
            preview=(*result.preview, *plan.learnings) if preview else (),
        )
    return result


def _add(log: Log, plan: "_IngestPlan") -> None:
    """Append a batch, what follows from its learnings first; the lock is held.

    A line whose learning is there is never looked at again: killed in between, the next run finds the
    learnings new, and says of them what was said before.
    """
    doubt: NotDurable | None = None
    try:
        log.append(events=plan.events)
    except NotDurable as error:
        doubt = error
    log.append(plan.learnings)
    if doubt is not None:
        raise doubt


def _batches(statements: Iterable[LearningLine | BadLine]) -> Iterator[tuple[LearningLine | BadLine, ...]]:
    batch: list[LearningLine | BadLine] = []
    size = 0
    for said in statements:
        batch.append(said)
        size += len(said.learning.content) if isinstance(said, LearningLine) else 0
        if len(batch) >= _BATCH or size >= _BATCH_SIZE:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


@dataclass(slots=True, kw_only=True)
class _IngestPlan:
    """What a batch adds to the log."""

    learnings: list[Learning] = field(default_factory=list)
    events: list[LedgerEvent] = field(default_factory=list)
    invalid: list[BadLine] = field(default_factory=list)
    merged: int = 0
    already: int = 0

    @property
    def read(self) -> int:
        return len(self.learnings) + self.merged + self.already + len(self.invalid)

    @property
    def is_to_write(self) -> bool:
        return bool(self.learnings or self.events)


class _KnownLearnings:
    """What the log says by now, planned additions included, made for many questions."""

    def __init__(self, contents: LogContents) -> None:
        state = contents.state()
        standings = state.standings
        self._disputed = {one.id for one in state.having("contradicts", YES) if state.is_disputed(one)}
        self._learnings = {one.id: one.learning for one in standings.values()}
        old = {one.id for one in standings.values() if one.status == SUPERSEDED}
        self._ids = {one.id for one in (*contents.learnings, *contents.archived)} | self._learnings.keys()
        for event in contents.events:
            if event.event == "repeated":
                # also where the merge was taken back since: that was somebody's decision
                self._ids.update(event.texts("source"))
        self._keys = {one.key for one in self._learnings.values()}
        self._last_event = contents.last_event
        self._likely = _LikelyDuplicates()
        self._said: dict[tuple[str, str], str] = {}
        for learning in self._learnings.values():
            self._said.setdefault(_word_for_word(learning), learning.id)
            if learning.id not in old and not _is_alone(learning):
                self._likely.add(learning)

    def plan(self, batch: Sequence[LearningLine | BadLine], hand: Author, kind: ProjectKind) -> _IngestPlan:
        """Return what `batch` adds, which from now on is known."""
        plan = _IngestPlan()
        stamps = EventFactory(hand, after=self._last_event, by="ingest")
        for said in batch:
            if isinstance(said, BadLine):
                plan.invalid.append(said)
            elif fault := _fault(said.learning):
                plan.invalid.append(BadLine(line=said.line, reason=fault))
            elif self._has(said.learning):
                plan.already += 1
            else:
                self._take(plan, said.learning, stamps, min(kind, hand.kind, key=list(ProjectKind).index))
        if plan.events:
            self._last_event = plan.events[-1].id
        return plan

    def _has(self, learning: Learning) -> bool:
        """Say whether the log has that very line: from an earlier run, or as a line of its own."""
        own = self._learnings.get(str(learning.extra.get("source_id")))
        return learning.id in self._ids or (own is not None and own.content == learning.content)

    def _take(self, plan: _IngestPlan, learning: Learning, stamps: EventFactory, kind: ProjectKind) -> None:
        is_alone = _is_alone(learning)
        self._ids.add(learning.id)
        same = self._said.get(_word_for_word(learning))
        kin = _NearLearnings(twin=same) if same or is_alone else self._likely.to(learning)
        if kin.twin is not None:
            twin, known = kin.twin, self._learnings[kin.twin]
            fields = {"source": learning.id, "origin": learning.origin, **repetition(known, learning)}
            task = learning.task or learning.bead
            plan.events.append(stamps.event("repeated", twin, task=task, **fields))
            plan.merged += 1
            return
        new = self._fitted(learning, kind)
        plan.learnings.append(new)
        for one, other in contradictions(new.id, kin.rivals, self._disputed):
            self._disputed.add(one)
            plan.events.append(stamps.event("flagged", one, reason=MAY_CONTRADICT, evidence=other))
        self._learnings[new.id] = new
        self._keys.add(new.key)
        self._said.setdefault(_word_for_word(new), new.id)
        if not is_alone:
            self._likely.add(new, kin)

    def _fitted(self, learning: Learning, kind: ProjectKind) -> Learning:
        """Return `learning` with a key of its own, and as strict as where it comes from."""
        kinds = (kind, learning.kind or kind)
        key = learning.key
        return replace(
            learning,
            key=own_key(key, learning.type, learning.content) if key in self._keys else key,
            kind=min(kinds, key=list(ProjectKind).index),
            extra=_writable(learning),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _NearLearnings:
    """What is nearly the same as a learning."""

    #: The id of what says the same.
    twin: str | None = None
    #: The ids of what may claim otherwise.
    rivals: Sequence[str] = ()
    #: The learning's own; None where nobody needed it.
    shape: PreparedText | None = None
    #: Whether so many are alike that one more wouldn't be looked at.
    is_crowded: bool = False


class _LikelyDuplicates:
    """Learnings by what is nearly the same, never across types; nothing is prepared before it is needed.

    Of a family of statements made from one template only the first are kept to be compared, since
    each would be compared with all others.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Learning]] = {}
        self._near: dict[str, NearTexts[str]] = {}
        self._shapes: dict[str, PreparedText] = {}
        #: The first that says those words, whatever the case and punctuation.
        self._normal: dict[tuple[str, str], str] = {}

    def add(self, learning: Learning, kin: _NearLearnings | None = None) -> None:
        """Keep `learning`; `kin` is what `to` said of it just now."""
        if kin is not None and kin.shape is not None:
            self._keep(learning, kin.shape, is_crowded=kin.is_crowded)
        else:
            self._waiting.setdefault(learning.canonical_type, []).append(learning)

    def to(self, learning: Learning) -> _NearLearnings:
        """Return what is nearly the same as `learning`."""
        type = learning.canonical_type
        for waiting in self._waiting.pop(type, ()):
            made = shape(waiting.content)
            near = self._near_of(type)
            self._keep(waiting, made, is_crowded=len(near) >= _ROOM and len(_alike(near, made)) >= _LOOKED_AT)
        new = shape(learning.content)
        is_mergeable = type not in NEVER_MERGED
        same = self._normal.get((type, new.normal)) if is_mergeable else None
        if same and likeness(new, self._shapes[same], limit=ALIKE) is TextLikeness.SAME:
            return _NearLearnings(twin=same, shape=new)
        similar, rivals = [], []
        alike = _alike(self._near_of(type), new)
        is_crowded = len(alike) >= _LOOKED_AT
        # sorted is stable: of equals the one that was there first
        closest = sorted(alike, key=lambda id: -len(new.all_words & self._shapes[id].all_words))
        for id in closest[: _MOST_RIVALS if is_crowded else _WEIGHED]:
            match likeness(new, self._shapes[id], limit=ALIKE):
                case TextLikeness.MAY_CONTRADICT:
                    rivals.append(id)
                case TextLikeness.SAME | TextLikeness.SIMILAR if is_mergeable:
                    similar.append(id)
        if similar:
            return _NearLearnings(
                twin=max(similar, key=lambda id: similarity(new, self._shapes[id])), shape=new
            )
        return _NearLearnings(rivals=rivals[:_MOST_RIVALS], shape=new, is_crowded=is_crowded)

    def _near_of(self, type: str) -> NearTexts[str]:
        return self._near.setdefault(type, NearTexts(ALIKE))

    def _keep(self, learning: Learning, made: PreparedText, *, is_crowded: bool) -> None:
        type = learning.canonical_type
        near = self._near_of(type)
        self._normal.setdefault((type, made.normal), learning.id)
        if self._normal[type, made.normal] == learning.id or not is_crowded:
            self._shapes[learning.id] = made
        if not is_crowded:
            near.add(learning.id, made)


def _alike(near: NearTexts[str], made: PreparedText) -> list[str]:
    return list(islice(near.candidates(made), _LOOKED_AT))


def _word_for_word(learning: Learning) -> tuple[str, str]:
    return learning.canonical_type, learning.content.strip()


def _is_alone(learning: Learning) -> bool:
    """Say whether only the very words are compared: what was replaced, and what is a document."""
    return learning.extra.get("status") == SUPERSEDED or len(learning.content) > MOST_BYTES


def _fault(learning: Learning) -> str:
    """Return why the log can't have `learning`; empty where it can."""
    # most of what can be seen is at the beginning
    if not shown(learning.content[:100]) and not shown(learning.content):
        return "it has no content"
    secret = find_secret("\n".join(_texts(learning)))
    return f"secret ({secret.kind})" if secret else ""


def _texts(learning: Learning) -> Iterator[str]:
    """Yield every text of a line, whatever it is called."""
    yield from (learning.content, learning.key, learning.source, learning.bead, learning.agent)
    yield from (learning.session, learning.task, learning.category, learning.provenance)
    yield from (*learning.tags, *learning.files, *learning.actions)
    waiting: list[object] = [dict(learning.extra)]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as told:
                waiting += [*told, *told.values()]
            case list() as several:
                waiting += several


def _writable(learning: Learning) -> dict[str, object]:
    """Return what else the line says, without what JSON can't say: NaN, a nesting without end."""
    if not learning.extra:
        return {}
    try:
        learning_line(learning)
    except (ValueError, RecursionError):
        return {key: value for key, value in learning.extra.items() if isinstance(value, str | bool | int)}
    return dict(learning.extra)
