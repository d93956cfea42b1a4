"""What a project's log knows already: a learning by its name, and those that say nearly the same."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from typing import Protocol

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.model import NodeCandidate
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import narrowed
from roamkb.kb.search.query import query_of
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import canonical_type
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.text.tokenize import words

if TYPE_CHECKING:
    from roamkb.log.new_learning import NewLearning

#: What is alike stands high among the answers to its own words.
_CANDIDATES = 25
#: Characters that are enough to find it by.
_TELLING = 1000
#: A cosine that two of three paraphrases reach, and no two statements about different things.
_NEAR_IN_MEANING = 0.7
_MOST_OFFERED = 3
#: Characters of a key that are no mere type.
_BEGINNING = 12


class LearningMatches(Protocol):
    """What a finder says about one query."""

    def places(self, limit: int | None) -> Sequence[tuple[str, float]]:
        """Return the ids of the best answers with their scores, 0 to 1."""

    def why(self, id: str) -> tuple[str, ...]:
        """Return what one of them owes its place to."""


class LearningLookup(Protocol):
    """What finds learnings by words."""

    def find(self, query: Query, *, limit: int | None = None) -> Sequence[PassageHit]:
        """Return the learnings that match, the best first."""

    def asking(self, query: Query) -> AbstractContextManager[LearningMatches]:
        """Open the matches of `query`, to be read as far as they are needed."""


def scores(finder: LearningLookup, query: Query, *, limit: int) -> Mapping[str, float]:
    """Return the scores of the best answers, by the ids of the learnings."""
    with finder.asking(query) as asked:
        return dict(asked.places(limit))


def near(
    state: LogState,
    finder: LearningLookup,
    saying: "NewLearning",
    *,
    limit: float,
    besides: LearningState | None = None,
) -> tuple[LearningState | None, tuple[LearningState, ...]]:
    """Return the learning that says the same as `saying`, and those that may claim otherwise.

    `limit` is the least similarity that counts, inclusive. Never across types.
    """
    type = canonical_type(saying.type)

    def counts(standing: LearningState) -> bool:
        is_of_type = standing.learning.canonical_type == type
        return is_of_type and standing.status != SUPERSEDED and standing is not besides

    said = saying.content.strip()
    # before the words are asked for: of what is said often, the same may not be among the best answers
    for standing in filter(counts, state.having("said", said)):
        return standing, ()
    from roamkb.text.similarity.jaccard import TextLikeness
    from roamkb.text.similarity.jaccard import likeness
    from roamkb.text.similarity.jaccard import shape

    new = shape(saying.content)
    twin, rivals = None, []
    for standing in filter(counts, _sharing_words(state, finder, saying.content, type)):
        how = likeness(new, shape(standing.learning.content), limit=limit)
        if how is TextLikeness.MAY_CONTRADICT:
            rivals.append(standing)
        elif how is not TextLikeness.DIFFERENT and twin is None and type not in NEVER_MERGED:
            twin = standing
    return twin, () if twin else tuple(rivals)


def alike_in_meaning(
    state: LogState, finder: LearningLookup, text: str, *, besides: Sequence[LearningState] = ()
) -> tuple[LearningState, ...]:
    """Return the learnings that seem to say what `text` says in other words, the nearest first.

    By the table of word vectors, which knows English: a likeness to be looked at, never one to act on.
    """
    from roamkb.text.language import is_english
    from roamkb.text.store.word_vector_file import word_table
    from roamkb.text.word_vectors import closeness

    table = word_table()
    meant = table.vector(words(text[:_TELLING])) if table and is_english(words(text)) else None
    if table is None or meant is None:
        return ()
    near = []
    for standing in _sharing_words(state, finder, text):
        if standing.status == SUPERSEDED or any(standing.id == one.id for one in besides):
            continue
        vector = table.vector(words(standing.learning.content[:_TELLING]))
        if vector and (cosine := closeness(meant, vector)) >= _NEAR_IN_MEANING:
            near.append((cosine, standing))
    near.sort(key=lambda found: -found[0])
    return tuple(standing for _, standing in near[:_MOST_OFFERED])


def _sharing_words(
    state: LogState, finder: LearningLookup, text: str, type: str | None = None
) -> Iterator[LearningState]:
    """Yield the learnings, of a type if one is given, that answer best to the words of `text`."""
    asked = query_of(list(dict.fromkeys(words(text[:_TELLING]))))
    # emoji and punctuation have no words to be found by
    if asked.is_empty:
        return
    for id in scores(finder, narrowed(asked, tags=(type,)) if type else asked, limit=_CANDIDATES):
        if id in state.standings:
            yield state.standings[id]


def called_or_begun(state: LogState, name: str) -> list[LearningState]:
    """Return the learnings with that id or key; where there is none, those whose keys begin so.

    An ask names keys by their beginnings.
    """
    found = state.called(name)
    if found or len(name) < _BEGINNING:
        return found
    return [one for one in state.standings.values() if one.learning.key.startswith(name)]


def called(log: Log, state: LogState, name: str) -> LearningState:
    """Return the learning with that id or key, or of the one key that begins so.

    Raises:
        NotFound, Ambiguous: there is none, or more than one.
    """
    found = called_or_begun(state, name)
    if not found:
        raise NotFound(
            name, what="learning", hint="give its key or id, as `roamkb recall WORDS --json` shows them"
        )
    if len(found) > 1:
        raise Ambiguous(
            name,
            [
                NodeCandidate(id=one.id, title=clipped(shown(one.learning.statement), 80), path=log.knowledge)
                for one in found
            ],
        )
    return found[0]
