"""Lookup of known learnings: by name, and by nearly the same words or meaning."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.model import NodeCandidate
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import narrow_query
from roamkb.kb.search.query import query_of
from roamkb.log import new_learning
from roamkb.log.learning import KEY_CUT
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import canonical_type
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import KEY
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store import index as log_index
from roamkb.log.store.project_log import Log
from roamkb.text import language
from roamkb.text import word_vectors
from roamkb.text.similarity import attribute_values
from roamkb.text.similarity import jaccard
from roamkb.text.store import word_vector_file
from roamkb.text.tokenize import split_words

#: What a person would call the same (docs/architecture.md), inclusive.
_LEARN_SIMILARITY = 0.80
#: The share of their words that two statements have in common which are looked at more closely.
_LEAST_SHARED = 0.5
#: What is alike stands high among the answers to its own words.
_MOST_CANDIDATES = 25
#: Characters that are enough to find it by.
_QUERY_LENGTH = 1000
#: A cosine that two of three paraphrases reach, and no two statements about different things.
_NEAR_IN_MEANING = 0.7
_MOST_OFFERED = 3
#: Characters that the beginning of a key has after its type.
_SHORTEST_KEY_START = 4


def scores_by_id(finder: "log_index.LogIndex", query: Query, *, limit: int) -> Mapping[str, float]:
    """Return the scores of the best answers, by learning id."""
    with finder.open_query(query) as index_query:
        return dict(index_query.scored_ids(limit))


def duplicate_and_rivals(
    state: LogState,
    finder: "log_index.LogIndex",
    new_learning: "new_learning.NewLearning",
    *,
    besides: LearningState | None = None,
) -> tuple[LearningState | None, tuple[LearningState, ...]]:
    """Return the learning that says the same as `new_learning`, and those that may contradict it.

    Never across types that somebody gave, but for the very words of what was found wrong.
    """
    type = canonical_type(new_learning.type)

    def is_of_type(standing: LearningState) -> bool:
        return standing.learning.canonical_type == type

    def is_current(standing: LearningState) -> bool:
        return standing.status != SUPERSEDED and standing is not besides

    def is_comparable(standing: LearningState) -> bool:
        return is_of_type(standing) and is_current(standing)

    statement = new_learning.content.strip()
    # before the words are asked for: of what is said often, the same may not be among the best answers
    said = [standing for standing in state.learnings_with("said", statement) if is_current(standing)]
    for standing in sorted(said, key=is_of_type, reverse=True):
        # what was found wrong is as wrong as a fact of another type
        if is_of_type(standing) or not new_learning.is_type_given or standing.verdict == INVALIDATED:
            return standing, ()

    prepared = jaccard.prepare_text(new_learning.content)
    duplicate, rivals = None, []
    for standing in filter(is_comparable, _learnings_sharing_words(state, finder, new_learning.content, type)):
        known = jaccard.prepare_text(standing.learning.content)
        degree = jaccard.text_likeness(prepared, known, limit=_LEARN_SIMILARITY)
        if degree is jaccard.TextLikeness.MAY_CONTRADICT or (
            degree is jaccard.TextLikeness.DIFFERENT
            and attribute_values.give_other_values(new_learning.content, standing.learning.content)
        ):
            rivals.append(standing)
        elif degree is not jaccard.TextLikeness.DIFFERENT and duplicate is None and type not in NEVER_MERGED:
            duplicate = standing
    return duplicate, () if duplicate else tuple(rivals)


def may_contradict(first_text: jaccard.PreparedText, second_text: jaccard.PreparedText) -> bool:
    """Say whether one learning may contradict another, as `learn` would find; of few shared words, it isn't asked."""
    return attribute_values.give_other_values(first_text.text, second_text.text) or (
        jaccard.reaches_jaccard(first_text.affirmed, second_text.affirmed, _LEAST_SHARED)
        and jaccard.text_likeness(first_text, second_text, limit=_LEARN_SIMILARITY)
        is jaccard.TextLikeness.MAY_CONTRADICT
    )


def find_paraphrases(
    state: LogState, finder: "log_index.LogIndex", text: str, *, besides: Sequence[LearningState] = ()
) -> tuple[LearningState, ...]:
    """Return learnings that seem to paraphrase `text`, the nearest first.

    By the table of word vectors, which knows English: a likeness to be looked at, never one to act on.
    """
    table = word_vector_file.word_table()
    text_vector = (
        table.text_vector(split_words(text[:_QUERY_LENGTH]))
        if table and language.is_english(split_words(text))
        else None
    )
    if table is None or text_vector is None:
        return ()
    near = []
    for standing in _learnings_sharing_words(state, finder, text):
        if standing.status == SUPERSEDED or any(standing.id == excluded.id for excluded in besides):
            continue
        vector = table.text_vector(split_words(standing.learning.content[:_QUERY_LENGTH]))
        if vector and (cosine := word_vectors.vector_cosine(text_vector, vector)) >= _NEAR_IN_MEANING:
            near.append((cosine, standing))
    near.sort(key=lambda pair: -pair[0])
    return tuple(standing for _, standing in near[:_MOST_OFFERED])


def _learnings_sharing_words(
    state: LogState, finder: "log_index.LogIndex", text: str, type: str | None = None
) -> Iterator[LearningState]:
    """Yield the learnings, of a type if one is given, that answer best to the words of `text`."""
    query = query_of(list(dict.fromkeys(split_words(text[:_QUERY_LENGTH]))))
    # emoji and punctuation have no words to be found by
    if query.is_empty:
        return
    for id in scores_by_id(finder, narrow_query(query, tags=(type,)) if type else query, limit=_MOST_CANDIDATES):
        if id in state.standings:
            yield state.standings[id]


def learnings_by_name(state: LogState, name: str) -> list[LearningState]:
    """Return the learnings with that id or key; where there is none, those whose keys start so.

    An ask names keys by their beginnings; a hook adds `~` and the end of the id.
    """
    exact = state.learnings_called(name)
    start, _, id_end = name.partition(KEY_CUT)
    if exact or len(start.partition("-")[2]) < _SHORTEST_KEY_START:
        return exact
    beginning = [standing for standing in state.learnings_beginning(KEY, start) if standing.id.endswith(id_end)]
    in_force = [standing for standing in beginning if standing.status != SUPERSEDED]
    return in_force if len(in_force) == 1 else beginning


def get_learning(log: Log, state: LogState, name: str) -> LearningState:
    """Return the learning with that id or key, or with the one key that starts so.

    Raises:
        NotFound, Ambiguous: there is none, or more than one.
    """
    matches = learnings_by_name(state, name)
    if not matches:
        raise NotFound(
            name,
            kind="learning",
            hint=f"give its key, its id, or the beginning of the key with {_SHORTEST_KEY_START} letters of its text; "
            "`roamkb recall WORDS` shows keys",
        )
    if len(matches) > 1:
        raise Ambiguous(
            name,
            [
                NodeCandidate(id=match.id, title=clip_text(one_line(match.learning.statement), 80), path=log.knowledge)
                for match in matches
            ],
            called="learnings have a key that begins with",
        )
    return matches[0]
