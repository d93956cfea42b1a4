"""`ingest`: other tools' learnings, added to the project's log; a second run adds nothing.

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

from roamkb.core.errors import DurabilityDoubts
from roamkb.core.json_form import Keys
from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.core.progress import report_progress
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import json_line
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import KBS_FIELD
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import content_identity
from roamkb.log.learning import disambiguated_key
from roamkb.log.learning import line_id
from roamkb.log.new_learning import MOST_LEARNING_BYTES
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import contradiction_pairs
from roamkb.log.new_learning import repetition_fields
from roamkb.log.state.confidence import HUMAN
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.project_log import Log
from roamkb.pipeline.ingest.harness_memory import read_memory
from roamkb.pipeline.store.foreign_stores import store_entries
from roamkb.pipeline.store.sources import memory_files
from roamkb.pipeline.store.sources import source_lines
from roamkb.secrets.detector import find_secret
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.jaccard import text_similarity
from roamkb.text.similarity.similarity_join import NearTexts

#: What an import calls the same: the log's own words come from one project (document 000).
IMPORT_SIMILARITY: Final = 0.70
#: Statements that are planned together and appended by one write: about a second's work.
_BATCH = 1000
#: Characters of them that are enough.
_BATCH_SIZE = 4 * 1024 * 1024
#: Of a family of statements made from one template, so many are found, weighed, and named as rivals.
_MOST_CANDIDATES = 40
_MOST_COMPARED = 8
_MOST_RIVALS = 3
#: Among fewer than these it doesn't matter how many are alike.
_CROWD_MINIMUM = 200
_LONGEST_TYPE = 40
#: What a line of another tool's is, where it doesn't say: a human's word.
_DEFAULT_PROVENANCE = "user-stated"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Parameters of `ingest`."""

    folder: str | None = optional_argument(
        "With --memory: another folder than Claude Code's own.", metavar="DIR", values="folders"
    )
    _: KW_ONLY
    file: str | None = text_option(
        "--file",
        "The knowledge.jsonl to read, where it isn't where those tools keep it.",
        metavar="F",
        values="files",
    )
    memory: bool = flag_option("--memory", "Read Claude Code's memory of this project; without --yes only show it.")
    dry_run: bool = flag_option("--dry-run", "Count what would come in; write nothing.")
    yes: bool = flag_option("--yes", "With --memory: take it in.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestResult:
    """Counts of a source's statements; `read` is the sum of the others."""

    JSON = "read new merged skipped is_dry_run file files preview"
    #: None where nothing was found to read; of several the first.
    file: Path | None
    files: tuple[Path, ...] = ()
    read: int = 0
    new: int = 0
    merged: int = 0
    #: Taken in or merged by an earlier run, or said by an earlier line of the same source, word for word.
    already: int = 0
    #: Of these, what a human had forgotten since.
    forgotten: int = 0
    invalid: tuple[BadLine, ...] = ()
    is_dry_run: bool = False
    #: What is new, where it is to be looked at first; else nothing.
    preview: Annotated[tuple[Learning, ...], Keys("key type content tags")] = ()

    @property
    def skipped(self) -> Mapping[str, object]:
        """The statements that the log took nothing of."""
        return {"already": self.already, "forgotten": self.forgotten, "invalid": self.invalid}


def knowledge_lines(*paths: Path) -> Iterator[LearningLine | BadLine]:
    """Yield the learnings in the lines of other tools' logs and the entries of their stores."""
    for path in paths:
        for line in _lines_of_source(path):
            if isinstance(line, LearningLine):
                yield replace(line, learning=import_learning(line.learning))
            else:
                yield replace(line, reason=f"{path.name}: {line.reason}") if len(paths) > 1 else line


def _lines_of_source(path: Path) -> Iterator[LearningLine | BadLine]:
    entries = store_entries(path)
    lines = source_lines(path) if entries is None else enumerate(map(json_line, entries), start=1)
    for number, line in lines:
        if isinstance(line, BadLine):
            yield line
        else:
            yield from read_learnings((line,), first=number)


def kinds_in_lines(path: Path) -> Iterator[ProjectKind | None]:
    """Yield the project kinds that lines of a `knowledge.jsonl` name."""
    for number, line in source_lines(path):
        # a letter of JSON may be written as its number
        if isinstance(line, bytes) and (ProjectKind.WORK.value.encode() in line or b"\\u" in line):
            for parsed in read_learnings((line,), first=number):
                yield parsed.learning.kind if isinstance(parsed, LearningLine) else None


def memory_lines(folder: Path) -> Iterator[LearningLine | BadLine]:
    """Yield the statements of a harness's memory in `folder`."""
    for name, text, changed in memory_files(folder):
        if isinstance(text, UnreadableFile):
            yield BadLine(line=1, reason=f"{name}: {text.reason}")
        else:
            yield from read_memory(name, text, changed=changed)


def import_learning(foreign: Learning) -> Learning:
    """Return a foreign line's learning as the log keeps it: the mapping of document 000.

    Its content stays byte for byte. It begins at 0.90, a human's word, unless it says less of itself.
    """
    type = canonical_type(foreign.type)
    if not type or len(type) > _LONGEST_TYPE:
        type = "learned"
    extra = dict(foreign.extra)
    if type != foreign.type:
        extra["said"] = foreign.type
    if foreign.id != content_identity(foreign.type, foreign.content):
        extra["source_id"] = foreign.id
    return replace(
        foreign,
        id=line_id(type, foreign.key, foreign.content, foreign.ts),
        type=type,
        tags=tuple(dict.fromkeys((type, *foreign.tags))),
        provenance=foreign.provenance or _DEFAULT_PROVENANCE,
        origin=f"knowledge_import:{foreign.key}",
        confidence=HUMAN if foreign.confidence is None else min(foreign.confidence, HUMAN),
        extra=extra,
    )


def ingest(
    log: Log,
    statements: Iterable[LearningLine | BadLine],
    author: Author,
    *,
    files: Sequence[Path],
    kind: ProjectKind,
    dry_run: bool = False,
    preview: bool = False,
) -> IngestResult:
    """Add the `statements` to `log` in their order; return the count of each outcome.

    `kind` is what the source's project is. Nobody is kept from the log for longer than a batch
    takes to be written; what they add meanwhile is seen. A run that was interrupted is
    finished by the next.

    Raises:
        DiskError, Busy: what was read before is in the log. NotDurable: so is this, perhaps.
    """
    result = IngestResult(file=files[0], files=tuple(files), is_dry_run=dry_run)
    stamp, known_learnings = log.files_stamp(), _KnownLearnings(log.read_contents())
    for batch in _split_batches(statements):
        plan = known_learnings.plan_batch(batch, author, kind)
        if plan.is_to_write and not dry_run:
            with log.append_lock():
                if log.files_stamp() != stamp:
                    known_learnings = _KnownLearnings(log.read_contents())
                    plan = known_learnings.plan_batch(batch, author, kind)
                _append_batch(log, plan)
                stamp = log.files_stamp()
        result = replace(
            result,
            read=result.read + plan.read_count,
            new=result.new + len(plan.learnings),
            merged=result.merged + plan.merged,
            already=result.already + plan.already,
            forgotten=result.forgotten + plan.forgotten,
            invalid=(*result.invalid, *plan.invalid),
            preview=(*result.preview, *plan.learnings) if preview else (),
        )
        report_progress("reading lines", result.read, None)
    report_progress("reading lines", result.read, result.read)
    return result


def _append_batch(log: Log, plan: "_IngestPlan") -> None:
    """Append a batch, the events on its learnings first; the lock is held.

    A line whose learning is there is never looked at again: killed in between, the next run finds the
    learnings new, and says of them what was said before.
    """
    doubts = DurabilityDoubts()
    with doubts.collect():
        log.append_entries(events=plan.events)
    log.append_entries(plan.learnings)
    doubts.raise_first()


def _split_batches(statements: Iterable[LearningLine | BadLine]) -> Iterator[tuple[LearningLine | BadLine, ...]]:
    batch: list[LearningLine | BadLine] = []
    size = 0
    for statement in statements:
        batch.append(statement)
        size += len(statement.learning.content) if isinstance(statement, LearningLine) else 0
        if len(batch) >= _BATCH or size >= _BATCH_SIZE:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


@dataclass(slots=True, kw_only=True)
class _IngestPlan:
    """The lines and events that a batch adds to the log."""

    learnings: list[Learning] = field(default_factory=list)
    events: list[LedgerEvent] = field(default_factory=list)
    invalid: list[BadLine] = field(default_factory=list)
    merged: int = 0
    already: int = 0
    forgotten: int = 0

    @property
    def read_count(self) -> int:
        return len(self.learnings) + self.merged + self.already + len(self.invalid)

    @property
    def is_to_write(self) -> bool:
        return bool(self.learnings or self.events)


class _KnownLearnings:
    """The log's learnings, planned additions included, indexed for many lookups."""

    def __init__(self, contents: LogContents) -> None:
        state = contents.replay_state()
        standings = state.standings
        self._disputed = {entry.id for entry in state.learnings_with("contradicts", YES) if state.is_disputed(entry)}
        self._learnings = {entry.id: entry.learning for entry in standings.values()}
        superseded_ids = {entry.id for entry in standings.values() if entry.status == SUPERSEDED}
        self._ids = {entry.id for entry in (*contents.learnings, *contents.archived_learnings)} | self._learnings.keys()
        for event in contents.events:
            if event.event == "repeated":
                # also where the merge was taken back since: that was somebody's decision
                self._ids.update(event.text_list_field("source"))
        self._keys = {entry.key for entry in self._learnings.values()}
        self._tombstones = contents.tombstones
        self._last_event = contents.last_event
        self._likely = _LikelyDuplicates()
        self._said: dict[tuple[str, str], str] = {}
        for learning in self._learnings.values():
            self._said.setdefault(_word_for_word(learning), learning.id)
            if learning.id not in superseded_ids and not _is_exact_only(learning):
                self._likely.add_learning(learning)

    def plan_batch(self, batch: Sequence[LearningLine | BadLine], author: Author, kind: ProjectKind) -> _IngestPlan:
        """Return the plan for `batch`, and count its additions as known from then on."""
        plan = _IngestPlan()
        stamps = EventFactory(author, after=self._last_event, command="ingest")
        for statement in batch:
            if isinstance(statement, BadLine):
                plan.invalid.append(statement)
            elif fault := _learning_fault(statement.learning):
                plan.invalid.append(BadLine(line=statement.line, reason=fault))
            elif self._tombstones.covers(statement.learning):
                plan.already += 1
                plan.forgotten += 1
            elif self._has_line(statement.learning):
                plan.already += 1
            else:
                self._take_learning(
                    plan, statement.learning, stamps, min(kind, author.kind, key=list(ProjectKind).index)
                )
        if plan.events:
            self._last_event = plan.events[-1].id
        return plan

    def _has_line(self, learning: Learning) -> bool:
        """Say whether the log has that very line: from an earlier run, or as a line of its own."""
        source_learning = self._learnings.get(str(learning.extra.get("source_id")))
        return learning.id in self._ids or (source_learning is not None and source_learning.content == learning.content)

    def _take_learning(self, plan: _IngestPlan, learning: Learning, stamps: EventFactory, kind: ProjectKind) -> None:
        is_alone = _is_exact_only(learning)
        self._ids.add(learning.id)
        exact_duplicate = self._said.get(_word_for_word(learning))
        kin = (
            _NearLearnings(duplicate=exact_duplicate)
            if exact_duplicate or is_alone
            else self._likely.find_near(learning)
        )
        if kin.duplicate is not None:
            duplicate_id, known_learning = kin.duplicate, self._learnings[kin.duplicate]
            fields = {"source": learning.id, "origin": learning.origin, **repetition_fields(known_learning, learning)}
            task = learning.task or learning.bead
            plan.events.append(stamps.new_event("repeated", duplicate_id, task=task, **fields))
            plan.merged += 1
            return
        new_learning = self._with_own_key(learning, kind)
        plan.learnings.append(new_learning)
        for disputed_id, rival_id in contradiction_pairs(new_learning.id, kin.rivals, self._disputed):
            self._disputed.add(disputed_id)
            plan.events.append(stamps.new_event("flagged", disputed_id, reason=MAY_CONTRADICT, evidence=rival_id))
        self._learnings[new_learning.id] = new_learning
        self._keys.add(new_learning.key)
        self._said.setdefault(_word_for_word(new_learning), new_learning.id)
        if not is_alone:
            self._likely.add_learning(new_learning, kin)

    def _with_own_key(self, learning: Learning, kind: ProjectKind) -> Learning:
        """Return `learning` with a key of its own, and as strict as where it comes from."""
        kinds = (kind, learning.kind or kind)
        key = learning.key
        return replace(
            learning,
            key=disambiguated_key(key, learning.type, learning.content) if key in self._keys else key,
            kind=min(kinds, key=list(ProjectKind).index),
            extra=_writable_extra(learning),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _NearLearnings:
    """The learnings that are nearly the same as another."""

    #: The id of what says the same.
    duplicate: str | None = None
    #: The ids of what may claim otherwise.
    rivals: Sequence[str] = ()
    #: The learning's own; None where nobody needed it.
    prepared_text: PreparedText | None = None
    #: Whether so many are alike that one more wouldn't be looked at.
    is_crowded: bool = False


class _LikelyDuplicates:
    """Learnings indexed by similarity within their type; texts are prepared only when needed.

    Of a family of statements made from one template only the first are kept to be compared, since
    each would be compared with all others.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Learning]] = {}
        self._near: dict[str, NearTexts[str]] = {}
        self._shapes: dict[str, PreparedText] = {}
        #: The first that says those words, whatever the case and punctuation.
        self._normal: dict[tuple[str, str], str] = {}

    def add_learning(self, learning: Learning, kin: _NearLearnings | None = None) -> None:
        """Index `learning`; `kin` is the result that `find_near` gave for it."""
        if kin is not None and kin.prepared_text is not None:
            self._add_prepared(learning, kin.prepared_text, is_crowded=kin.is_crowded)
        else:
            self._waiting.setdefault(learning.canonical_type, []).append(learning)

    def find_near(self, learning: Learning) -> _NearLearnings:
        """Return the duplicate of `learning`, or the rivals that may contradict it."""
        type = learning.canonical_type
        for waiting in self._waiting.pop(type, ()):
            waiting_text = prepare_text(waiting.content)
            near = self._near_of(type)
            self._add_prepared(
                waiting,
                waiting_text,
                is_crowded=len(near) >= _CROWD_MINIMUM
                and len(_near_candidates(near, waiting_text)) >= _MOST_CANDIDATES,
            )
        prepared = prepare_text(learning.content)
        is_mergeable = type not in NEVER_MERGED
        exact_duplicate = self._normal.get((type, prepared.normal)) if is_mergeable else None
        if (
            exact_duplicate
            and text_likeness(prepared, self._shapes[exact_duplicate], limit=IMPORT_SIMILARITY) is TextLikeness.SAME
        ):
            return _NearLearnings(duplicate=exact_duplicate, prepared_text=prepared)
        similar, rivals = [], []
        alike = _near_candidates(self._near_of(type), prepared)
        is_crowded = len(alike) >= _MOST_CANDIDATES
        # sorted is stable: of equals the one that was there first
        closest = sorted(alike, key=lambda id: -len(prepared.all_words & self._shapes[id].all_words))
        for id in closest[: _MOST_RIVALS if is_crowded else _MOST_COMPARED]:
            match text_likeness(prepared, self._shapes[id], limit=IMPORT_SIMILARITY):
                case TextLikeness.MAY_CONTRADICT:
                    rivals.append(id)
                case TextLikeness.SAME | TextLikeness.SIMILAR if is_mergeable:
                    similar.append(id)
        if similar:
            return _NearLearnings(
                duplicate=max(similar, key=lambda id: text_similarity(prepared, self._shapes[id])),
                prepared_text=prepared,
            )
        return _NearLearnings(rivals=rivals[:_MOST_RIVALS], prepared_text=prepared, is_crowded=is_crowded)

    def _near_of(self, type: str) -> NearTexts[str]:
        return self._near.setdefault(type, NearTexts(IMPORT_SIMILARITY))

    def _add_prepared(self, learning: Learning, prepared: PreparedText, *, is_crowded: bool) -> None:
        type = learning.canonical_type
        near = self._near_of(type)
        self._normal.setdefault((type, prepared.normal), learning.id)
        if self._normal[type, prepared.normal] == learning.id or not is_crowded:
            self._shapes[learning.id] = prepared
        if not is_crowded:
            near.add_text(learning.id, prepared)


def _near_candidates(near: NearTexts[str], prepared: PreparedText) -> list[str]:
    return list(islice(near.find_alike(prepared), _MOST_CANDIDATES))


def _word_for_word(learning: Learning) -> tuple[str, str]:
    return learning.canonical_type, learning.content.strip()


def _is_exact_only(learning: Learning) -> bool:
    """Say whether a learning is compared word for word only: a superseded one, or a document."""
    return learning.extra.get("status") == SUPERSEDED or len(learning.content) > MOST_LEARNING_BYTES


def _learning_fault(learning: Learning) -> str:
    """Return the reason why the log can't have `learning`; empty where it can."""
    # most of what can be seen is at the beginning
    if not one_line(learning.content[:100]) and not one_line(learning.content):
        return "it has no content"
    secret = find_secret("\n".join(_learning_texts(learning)))
    return f"secret ({secret.kind})" if secret else ""


def _learning_texts(learning: Learning) -> Iterator[str]:
    """Yield every text of a line, whatever its field."""
    yield from (learning.content, learning.key, learning.source, learning.bead, learning.agent)
    yield from (learning.session, learning.task, learning.category, learning.provenance)
    yield from (*learning.tags, *learning.files, *learning.actions, *learning.aliases)
    waiting: list[object] = [dict(learning.extra)]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as told:
                waiting += [*told, *told.values()]
            case list() as several:
                waiting += several


def _writable_extra(learning: Learning) -> dict[str, object]:
    """Return the line's extra fields without those that JSON can't hold: NaN, endless nesting."""
    if not learning.extra:
        return {}
    # what a session was allowed is nothing that a file can say
    extra = {key: value for key, value in learning.extra.items() if key != KBS_FIELD}
    try:
        learning_line(replace(learning, extra=extra))
    except (ValueError, RecursionError):
        return {key: value for key, value in extra.items() if isinstance(value, str | bool | int)}
    return extra
