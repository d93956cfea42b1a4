"""The command `refine`: learnings to rephrase, with the command for each (document 003)."""

import shlex
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.request import remaining_arguments
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline.gate.noise import noise_of
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.synonyms import FUNCTION_WORDS

#: What a later session can find and understand has more of both.
_MIN_WORDS = 6
_MIN_CHARACTERS = 40
#: What stands in the command for the new text.
TEXT_PLACEHOLDER = "WHAT IT SHOULD SAY"


@dataclass(frozen=True, slots=True)
class RefineRequest:
    """The options of `refine`."""

    tasks: Sequence[str] | str = remaining_arguments("Tasks or beads (all).", metavar="TASK...", values="tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoughLearning:
    """A learning that could be phrased better, with reasons."""

    JSON = "*standing reasons command"
    standing: LearningState
    reasons: tuple[str, ...]
    #: What a shell takes, once the text is put in.
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """The learnings to rephrase, the oldest first."""

    tasks: tuple[str, ...]
    learnings: tuple[RoughLearning, ...]


def refine(state: LogState, tasks: Collection[str] = ()) -> Refinement:
    """Return the learnings of `tasks` (of all without) that are terse, badly tagged or noise."""
    rough = []
    for standing in state.standings.values():
        if standing.status == SUPERSEDED or (tasks and not _concerns_tasks(standing, tasks)):
            continue
        if reasons := tuple(_roughness_reasons(standing)):
            rough.append(RoughLearning(standing=standing, reasons=reasons, command=_refine_command(state, standing)))
    return Refinement(tasks=tuple(tasks), learnings=tuple(rough))


def _concerns_tasks(standing: LearningState, tasks: Collection[str]) -> bool:
    learning = standing.learning
    return not {learning.bead, learning.task, *standing.tasks}.isdisjoint(tasks)


def _roughness_reasons(standing: LearningState) -> Iterator[str]:
    learning = standing.learning
    if noise := noise_of(learning.content):
        yield f"noise: {noise}"
    text = one_line(learning.statement)
    content_words = prepare_text(text).all_words - FUNCTION_WORDS
    if len(content_words) < _MIN_WORDS or len(text) < _MIN_CHARACTERS:
        yield f"terse: {len(content_words)} words that tell something, {len(text)} characters"
    if not {tag.casefold() for tag in learning.tags} - {learning.type.casefold(), learning.canonical_type}:
        yield "no tag beside its type"


def _refine_command(state: LogState, standing: LearningState) -> str:
    learning = standing.learning
    name = learning.key if len(state.learnings_called(learning.key)) == 1 else standing.id
    words = ["roamkb", "learn", TEXT_PLACEHOLDER, "--type", learning.canonical_type]
    task = learning.task or learning.bead
    words += ["--task", task] if task else []
    return shlex.join([*words, "--tag", "TOPIC", "--supersedes", name])
