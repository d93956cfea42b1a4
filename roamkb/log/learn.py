"""`learn`: one learning into the project's log, or one more occurrence of what it knows (design 9)."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.request import AgentOption
from roamkb.core.request import SessionOption
from roamkb.core.request import argument
from roamkb.core.request import objects
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.log.known_learnings import LearningLookup
from roamkb.log.known_learnings import alike_in_meaning
from roamkb.log.known_learnings import called
from roamkb.log.known_learnings import near
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import label_of
from roamkb.log.learning import nearest_type
from roamkb.log.new_learning import THIN
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import check_saying
from roamkb.log.new_learning import contradictions
from roamkb.log.new_learning import drafted
from roamkb.log.new_learning import repetition
from roamkb.log.state.confidence import AT_FIRST
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.confidence import started
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.log.store.project_log import LogContents
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import names_a_secret

#: What a person would call the same (docs/architecture.md).
ALIKE = 0.80
#: Letters of another learning that a warning shows.
_TITLE = 200


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """What `learn` takes."""

    text: str | None = argument("The statement; - reads standard input.", metavar="TEXT|-")
    _: KW_ONLY
    proposals: str | None = objects(
        "--proposals",
        "Claims with their evidence, instead of TEXT: a list of {claim, type, files, task, "
        "evidence: {quote, source}, supersedes, withdraws, mended}; - reads standard input.",
        metavar="JSON|-",
    )
    type: str | None = option(
        "--type", "learned, decision, fact, pattern, investigation, gotcha, must-check…", metavar="T"
    )
    tags: Sequence[str] = options("--tag", "A tag beside the ones that its words give it.", metavar="T")
    task: str | None = option("--task", "The task or bead that it was learned in.", metavar="ID")
    category: str | None = option(
        "--category", "What it is about: security, performance, bug_fix…", metavar="C"
    )
    files: Sequence[str] = options("--file", "Files that it is about, in gitignore syntax.", metavar="GLOB")
    actions: Sequence[str] = options(
        "--action", "What one does when it matters: CREATE, UPDATE…", metavar="A"
    )
    provenance: str | None = option(
        "--provenance", "user-stated, observed (default), inferred, external.", metavar="P"
    )
    confidence: str | None = option(
        "--confidence", "0.00 to 1.00, instead of what the provenance says.", metavar="C"
    )
    supersedes: str | None = option(
        "--supersedes", "The learning that this one replaces, by key or id.", metavar="KEY"
    )
    anyway: bool = switch("--anyway", "Take a type that looks like a slip of the pen.")
    fix_applied: bool = switch("--fix-applied", "It tells a fix that was applied and worked: 0.10 surer.")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """What became of a statement."""

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
        """The warnings, and what it may contradict."""
        rivals = (f"{rival.key}: {clipped(shown(rival.statement), _TITLE)}" for rival in self.may_contradict)
        return (*self.warnings, *(f"may contradict {rival}" for rival in rivals))


def learn(
    log: Log,
    finder_of: Callable[[LogState], LearningLookup],
    saying: NewLearning,
    hand: Author,
    *,
    supersedes: str | None = None,
    any_type: bool = True,
    offer_paraphrases: bool = False,
) -> LearnResult:
    """Add `saying` to `log`, whose lock is taken meanwhile, and return what became of it.

    Without `any_type` a type that nobody used yet, and that is nearly spelt as a known one, is asked about.
    Where somebody reads the answer, `offer_paraphrases` has it name what seems to say the same.

    Raises:
        UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    check_saying(saying)
    with log.locked():
        contents = log.read()
        state = contents.state()
        if not any_type:
            _check_type(state, saying.type)
        old = called(log, state, supersedes) if supersedes else None
        finder = finder_of(state)
        twin, rivals = near(state, finder, saying, limit=ALIKE, besides=old)
        stamps = EventFactory(hand, after=contents.last_event)
        if twin is not None:
            return _repeat(log, contents, twin, saying, stamps, old=old)
        learning = drafted(saying, hand, state)
        disputed = {rival.id for rival in rivals if state.is_disputed(rival)}
        pairs = contradictions(learning.id, [rival.id for rival in rivals], disputed)
        events = [stamps.event("flagged", of, reason=MAY_CONTRADICT, evidence=other) for of, other in pairs]
        if saying.thin:
            events.append(stamps.event("flagged", learning.id, reason=THIN, evidence=saying.thin))
        if old:
            events.append(stamps.event("superseded", old.id, by_which=learning.id, reason="rewritten"))
        others = (*rivals, *((old,) if old else ()))
        alike = alike_in_meaning(state, finder, saying.content, besides=others) if offer_paraphrases else ()
        log.append([learning], events)
    return LearnResult(
        learning=learning,
        outcome="new",
        confidence=started(learning.confidence, learning.provenance),
        occurrences=1,
        may_contradict=tuple(rival.learning for rival in rivals),
        looks_like=tuple(one.learning for one in alike),
        superseded=old.learning if old else None,
        warnings=tuple(_warnings(saying, learning)),
        path=log.knowledge,
    )


def _check_type(state: LogState, word: str) -> None:
    """Raise where a type looks like a slip of the pen: the set is open, and recall by type would miss it."""
    meant = nearest_type(word)
    if meant and not state.having("type", canonical_type(word)):
        raise UsageError(
            f"no type {shown(word)} so far; nothing was written",
            hint=f"did you mean {meant}? For a type of your own add --anyway",
        )


def _repeat(
    log: Log,
    contents: LogContents,
    twin: LearningState,
    saying: NewLearning,
    stamps: EventFactory,
    *,
    old: LearningState | None,
) -> LearnResult:
    """Count `saying` as one more occurrence of `twin`, in place of `old` if any; the lock is held."""
    fields = repetition(twin.learning, saying)
    events = [stamps.event("repeated", twin.id, task=saying.task or saying.bead, **fields)]
    if old:
        events.append(stamps.event("superseded", old.id, by_which=twin.id, reason="rewritten"))
    log.append(events=events)
    standing = contents.plus(events=events).state().standings[twin.id]
    return LearnResult(
        learning=twin.learning,
        outcome="repeated",
        confidence=standing.confidence,
        occurrences=standing.occurrences,
        superseded=old.learning if old else None,
        path=log.ledger,
    )


def _warnings(saying: NewLearning, learning: Learning) -> Iterator[str]:
    if saying.thin:
        yield f"kept, and flagged as thin: {saying.thin}"
    if names_a_secret(saying.content):
        yield "it reads as if it told a password; if it does, change it there: the log keeps every line"
    elif has_high_entropy(saying.content):
        yield "a word in it looks random; if it is a secret, change it there: the log keeps every line"
    if saying.confidence is not None and (learning.confidence or 0) < min(saying.confidence, 100):
        yield f"it begins at {AT_FIRST / 100:.2f}: for more a human says `roamkb override`"
    if learning.key != label_of(learning.type, learning.content):
        yield f"another learning has that key; this one is {learning.key}"
