"""`learn`: adds one learning to the project's log, or one more occurrence of a known one (design 9)."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.model import PROVENANCES
from roamkb.core.request import AgentOption
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import objects_option
from roamkb.core.request import optional_argument
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import left_out_warning
from roamkb.core.text import one_line
from roamkb.log.known_learnings import duplicate_and_rivals
from roamkb.log.known_learnings import find_paraphrases
from roamkb.log.known_learnings import get_learning
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import label_of
from roamkb.log.learning import nearest_type
from roamkb.log.new_learning import THIN_FLAG
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import alias_fault
from roamkb.log.new_learning import check_new_learning
from roamkb.log.new_learning import contradiction_pairs
from roamkb.log.new_learning import draft_learning
from roamkb.log.new_learning import repetition_fields
from roamkb.log.new_learning import storable_learning
from roamkb.log.state.confidence import MOST_AT_FIRST
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.confidence import start_confidence
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.promoted_notes import stale_note_warnings
from roamkb.log.state.tombstones import content_digest_of
from roamkb.log.state.tombstones import tombstones_of
from roamkb.log.store import index as log_index
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.project_log import Log
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import names_a_secret
from roamkb.text.unsafe_text import unsafe_reason

#: Letters of another learning that a warning shows.
_LONGEST_WARNING = 200


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """Parameters of `learn`."""

    text: str | None = optional_argument("The statement; - reads standard input.", metavar="TEXT|-")
    _: KW_ONLY
    proposals: str | None = objects_option(
        "--proposals",
        "Claims with their evidence, instead of TEXT: a list of {claim, type, aliases, files, task, "
        "evidence: {quote, source}, supersedes, withdraws, mended}; - reads standard input.",
        metavar="JSON|-",
    )
    type: str | None = text_option(
        "--type",
        "learned, decision, fact, pattern, investigation, gotcha, must-check…",
        metavar="T",
        values="types",
    )
    tags: Sequence[str] = repeatable_option(
        "--tag", "A tag beside the ones that its words give it.", metavar="T", values="tags"
    )
    task: str | None = text_option("--task", "The task or bead that it was learned in.", metavar="ID", values="tasks")
    category: str | None = text_option("--category", "What it is about: security, performance, bug_fix…", metavar="C")
    files: Sequence[str] = repeatable_option(
        "--file", "Files that it is about, in gitignore syntax.", metavar="GLOB", values="files"
    )
    aliases: Sequence[str] = repeatable_option(
        "--alias", "What somebody who lacks it would type when it is needed, in other words; several.", metavar="A"
    )
    actions: Sequence[str] = repeatable_option(
        "--action", "What one does when it matters: CREATE, UPDATE…", metavar="A"
    )
    provenance: str | None = text_option(
        "--provenance",
        "user-stated, observed (default), inferred, external.",
        metavar="P",
        values=PROVENANCES,
    )
    confidence: str | None = text_option(
        "--confidence", "0.00 to 1.00, instead of what the provenance says.", metavar="C"
    )
    supersedes: str | None = text_option(
        "--supersedes", "The learning that this one replaces, by key or id.", metavar="KEY", values="keys"
    )
    anyway: bool = flag_option("--anyway", "Take a type that looks like a slip of the pen.")
    fix_applied: bool = flag_option("--fix-applied", "It tells a fix that was applied and worked: 0.10 surer.")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """The learning that now has the statement, and whether it is new."""

    JSON = (
        "outcome learning.id learning.key learning.type learning.content learning.tags confidence "
        "occurrences may_contradict looks_like supersedes=superseded.id path warnings=complaints"
    )
    #: The learning that now says it.
    learning: Learning
    #: "new", or "repeated" where the log said so already.
    outcome: str
    confidence: Hundredths
    occurrences: int
    #: Learnings that are nearly the same and may claim otherwise.
    may_contradict: Annotated[tuple[Learning, ...], Keys("id key")] = ()
    #: Learnings that may say the same in other words: for the reader to judge.
    looks_like: Annotated[tuple[Learning, ...], Keys("id key")] = ()
    #: What it replaced.
    superseded: Learning | None = None
    warnings: tuple[str, ...] = ()
    path: Path

    @property
    def complaints(self) -> tuple[str, ...]:
        """The warnings, and the learnings that it may contradict."""
        rivals = (
            f"{rival.key}: {clip_text(one_line(rival.statement), _LONGEST_WARNING)}" for rival in self.may_contradict
        )
        return (*self.warnings, *(f"may contradict {rival}" for rival in rivals))


def learn(
    log: Log,
    finder_of: "Callable[[LogState], log_index.LogIndex]",
    new_learning: NewLearning,
    author: Author,
    *,
    supersedes: str | None = None,
    any_type: bool = True,
    offer_paraphrases: bool = False,
    counts_repetition: bool = True,
) -> LearnResult:
    """Add `new_learning` to `log`, whose lock is taken meanwhile, and return the outcome.

    Without `any_type` a type that nobody used yet, and that is nearly spelt as a known one, is asked about.
    Where somebody reads the answer, `offer_paraphrases` has it name what seems to say the same. Without
    `counts_repetition` a learning that the log has stays as it is.

    Raises:
        UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    check_new_learning(new_learning)
    given, new_learning = new_learning, storable_learning(new_learning)
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        _check_forgotten(state, (new_learning.content, *new_learning.aliases))
        if not any_type:
            _check_type(state, new_learning.type)
        superseded = get_learning(log, state, supersedes) if supersedes else None
        finder = finder_of(state)
        duplicate, rivals = duplicate_and_rivals(state, finder, new_learning, besides=superseded)
        if duplicate is not None and not counts_repetition:
            return LearnResult(
                learning=duplicate.learning,
                outcome="repeated",
                confidence=duplicate.confidence,
                occurrences=duplicate.occurrences,
                path=log.knowledge,
            )
        stamps = EventFactory(author, after=contents.last_event)
        if duplicate is not None:
            return _record_repetition(log, contents, duplicate, new_learning, stamps, superseded=superseded)
        learning = draft_learning(new_learning, author, state)
        disputed = {rival.id for rival in rivals if state.is_disputed(rival)}
        pairs = contradiction_pairs(learning.id, [rival.id for rival in rivals], disputed)
        events = [
            stamps.new_event("flagged", flagged_id, reason=MAY_CONTRADICT, evidence=rival_id)
            for flagged_id, rival_id in pairs
        ]
        if new_learning.thin_reason:
            events.append(stamps.new_event("flagged", learning.id, reason=THIN_FLAG, evidence=new_learning.thin_reason))
        if superseded:
            events.append(stamps.new_event("superseded", superseded.id, by_which=learning.id, reason="rewritten"))
        others = (*rivals, *((superseded,) if superseded else ()))
        paraphrases = find_paraphrases(state, finder, new_learning.content, besides=others) if offer_paraphrases else ()
        log.append_entries([learning], events)
    return LearnResult(
        learning=learning,
        outcome="new",
        confidence=start_confidence(learning.confidence, learning.provenance),
        occurrences=1,
        may_contradict=tuple(rival.learning for rival in rivals),
        looks_like=tuple(paraphrase.learning for paraphrase in paraphrases),
        superseded=superseded.learning if superseded else None,
        warnings=(*_learn_warnings(given, learning), *stale_note_warnings(superseded)),
        path=log.knowledge,
    )


def _check_forgotten(state: LogState, texts: Iterable[str]) -> None:
    """Raise where a human had just that statement forgotten, be it said as an alias."""
    forgotten = tombstones_of(state.events_named(FORGOTTEN)).digests
    if not forgotten.isdisjoint(map(content_digest_of, texts)):
        raise UsageError(
            "a human had that statement forgotten; nothing was written",
            hint="say it without what mustn't be kept",
        )


def _check_type(state: LogState, word: str) -> None:
    """Raise where an unknown type is nearly spelt as a known one: recall by type would miss it."""
    suggested_type = nearest_type(word)
    if suggested_type and not state.learnings_with("type", canonical_type(word)):
        raise UsageError(
            f"no type {one_line(word)} so far; nothing was written",
            hint=f"did you mean {suggested_type}? For a type of your own add --anyway",
        )


def _record_repetition(
    log: Log,
    contents: LogContents,
    duplicate: LearningState,
    new_learning: NewLearning,
    stamps: EventFactory,
    *,
    superseded: LearningState | None,
) -> LearnResult:
    """Record one more occurrence of `duplicate`, which supersedes another if given; the lock is held."""
    fields = repetition_fields(duplicate.learning, new_learning)
    events = [stamps.new_event("repeated", duplicate.id, task=new_learning.task or new_learning.bead, **fields)]
    if superseded:
        events.append(stamps.new_event("superseded", superseded.id, by_which=duplicate.id, reason="rewritten"))
    log.append_entries(events=events)
    standing = contents.plus_lines(events=events).replay_state().standings[duplicate.id]
    return LearnResult(
        learning=duplicate.learning,
        outcome="repeated",
        confidence=standing.confidence,
        occurrences=standing.occurrences,
        superseded=superseded.learning if superseded else None,
        warnings=(
            *_wrong_warnings(duplicate),
            *_repetition_warnings(new_learning.aliases),
            *stale_note_warnings(superseded),
        ),
        path=log.ledger,
    )


def _wrong_warnings(known: LearningState) -> tuple[str, ...]:
    """Return what to say where somebody says again what was found wrong."""
    if known.verdict != INVALIDATED:
        return ()
    return (f"it was found wrong, and stays so: `roamkb verify {known.learning.key}` judges it anew",)


def _learn_warnings(new_learning: NewLearning, learning: Learning) -> Iterator[str]:
    texts = (new_learning.content, *new_learning.aliases)
    if warning := left_out_warning(texts):
        yield warning
    if new_learning.thin_reason:
        yield f"kept, and flagged as thin: {new_learning.thin_reason}"
    yield from _text_warnings(texts)
    if new_learning.confidence is not None and (learning.confidence or 0) < min(new_learning.confidence, 100):
        yield f"it begins at {MOST_AT_FIRST / 100:.2f}: for more a human says `roamkb override`"
    if learning.key != label_of(learning.type, learning.content):
        yield f"another learning has that key; this one is {learning.key}"


def _repetition_warnings(aliases: Sequence[str]) -> Iterator[str]:
    """Yield why aliases of a repetition are left out, and what in the others may be a secret."""
    faults = {alias: fault for alias in aliases if (fault := alias_fault(alias))}
    yield from (f"an alias is left out: {fault}" for fault in faults.values())
    yield from _text_warnings([alias for alias in aliases if alias not in faults])


def _text_warnings(texts: Sequence[str]) -> Iterator[str]:
    """Yield why what is kept isn't offered unasked, and what in it may be a secret."""
    if unsafe := unsafe_reason(texts):
        yield f"kept, and not offered unasked: {unsafe}"
    if any(map(names_a_secret, texts)):
        yield "it reads as if it told a password; if it does, change it there: a human can `roamkb forget` the line"
    elif any(map(has_high_entropy, texts)):
        yield "a word in it looks random; if it is a secret, change it there: a human can `roamkb forget` the line"
