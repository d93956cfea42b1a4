"""One query to the index: the SQL, and the order of its answers."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from roamkb.core.startup.typing import NamedTuple
from roamkb.core.text import fold_text
from roamkb.core.text import fold_to_line
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.index.context_terms import NO_NAME
from roamkb.kb.search.index.context_terms import ContextTerms
from roamkb.kb.search.index.context_terms import LinkName
from roamkb.kb.search.index.document_frequency import document_frequency
from roamkb.kb.search.index.match_expressions import WantedEntry
from roamkb.kb.search.index.match_expressions import hidden_entries
from roamkb.kb.search.index.match_expressions import likely_forms
from roamkb.kb.search.index.match_expressions import quote_word
from roamkb.kb.search.index.match_expressions import sql_filters
from roamkb.kb.search.index.match_expressions import word_expressions
from roamkb.kb.search.index.match_expressions import word_spellings
from roamkb.kb.search.index.match_expressions import word_terms
from roamkb.kb.search.index.schema import IS_REPLACED
from roamkb.kb.search.index.schema import sums_of
from roamkb.kb.search.index.snippets import SnippetView
from roamkb.kb.search.index.top_k import first_expression
from roamkb.kb.search.index.top_k import rarest_words_first
from roamkb.kb.search.index.top_k import reaching_expression
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.query import is_plain_word
from roamkb.kb.search.ranking import FTS_B
from roamkb.kb.search.ranking import FTS_K1
from roamkb.kb.search.ranking import MOST_SPELLED
from roamkb.kb.search.ranking import WEIGHTS
from roamkb.kb.search.ranking import B
from roamkb.kb.search.ranking import RankedEntry
from roamkb.kb.search.ranking import drop_tail
from roamkb.kb.search.ranking import good_hit_keys
from roamkb.kb.search.ranking import lift_linked
from roamkb.kb.search.ranking import link_gains
from roamkb.kb.search.ranking import rank_by_spelling
from roamkb.kb.search.ranking import rank_entries
from roamkb.kb.search.ranking import term_weight
from roamkb.kb.search.semantic import cache
from roamkb.kb.search.stored_text import SEPARATOR
from roamkb.text import language
from roamkb.text.fuzzy import prepare_spellings
from roamkb.text.fuzzy import spelled_shares
from roamkb.text.inflection import SHORTEST_COMMON
from roamkb.text.inflection import holds_form
from roamkb.text.initials import initials_of
from roamkb.text.store.word_vector_file import word_table
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stands_apart
from roamkb.text.tokenize import stem_word
from roamkb.text.word_vectors import vector_cosine

#: How many of SQLite's best are looked at again; more than anybody reads.
_POOL = 100
#: Entries of the index that one query may read; the rarest words come first.
_BUDGET = 50_000
#: Words of a name that nobody says in a row by chance, and how many times as long a query may be that says it.
_TELLING_NAME, _LONGEST_CALL = 3, 4
#: Words of one query; a whole document asks for what its beginning asks for.
_MOST_WORDS = 128
#: Letters of a word that a query asks for; Thai writes a whole sentence as one.
_LONGEST_WORD = 256
#: Words of a query that is looked at for what the notes part or join.
_MOST_RESPELT = 6
#: Words of a query that come first where all are held; of a longer question only a long text holds each by chance.
_MOST_PROMISED = 4
#: Where the human asked for more, it is all; and a number that SQLite takes.
_MOST_ROWS = 1_000_000_000
_ALL = -1

#: Notes that hold none of the words, beside those that do.
_MOST_LINKED = 3

_SCORE = (
    f"-bm25(words, {', '.join(map(str, WEIGHTS))})"
    # turns the BM25 of a word that a text holds once into one with our B
    f" * (1 + {FTS_K1} * ({1 - FTS_B} + {FTS_B} * entry.length / :mean))"
    f" / (1 + {FTS_K1} * ({1 - B:.2f} + {B} * entry.length / :mean))"
)

#: Without the plus SQLite would put the whole question again for each entry.
_AMONG = "+words.rowid IN (SELECT rowid FROM words WHERE words MATCH :among)"

#: Key, score, date, file and line of an entry.
_Hit = tuple[int, float, str, str, int]


class _ScoredKey(NamedTuple):
    """An entry that answers a query, with its score as a share of the best."""

    key: int
    points: float
    #: An entry that links to it.
    source: int | None = None
    signals: RankSignals | None = None


class IndexQuery:
    """One query and the index it is run on, within one read transaction."""

    def __init__(self, db: sqlite3.Connection, query: Query, *, model: "cache.SentenceModel | None" = None) -> None:
        """Prepare `query` for `db`; `model`, if given, rates nearness in meaning."""
        self._db = db
        self._model = model
        self._query = query
        self._phrases = tuple(filter(None, map(fold_to_line, query.phrases)))
        self._sums = sums_of(db)
        self._where, self._values = sql_filters(query)
        if query.without:
            db.create_function("holds_form", 2, holds_form, deterministic=True)
            db.create_function("likely_forms", 1, likely_forms, deterministic=True)
        #: By the keys of hits, once they are ranked.
        self._spelling_gains: Mapping[int, float] = {}
        #: How links of the best hits call entries, by their keys.
        self._link_names: Mapping[int, LinkName] = {}
        #: Ranked passages that were found and not given, once the answers are.
        self.left_out = 0

    def find_answers(self, limit: int | None, *, linked: bool = False, near_best: bool = False) -> Iterator[PassageHit]:
        """Yield the answers, best first; where `linked`, then the nodes that the best of them link to.

        Where `near_best`, those far below the best are left out.
        """
        for key, points, source, signals in self._scored_keys(limit, linked=linked, near_best=near_best):
            link_text = self._link_names.get(key, NO_NAME).text
            yield self._snippet_view.passage_hit(key, points, source=source, link_text=link_text, signals=signals)

    def find_places(self, limit: int | None, *, near_best: bool = False) -> list[tuple[int, str, float]]:
        """Return key, file and score of the answers, for a caller that renders only a few of them."""
        placed = list(self._scored_keys(limit, linked=False, near_best=near_best))
        keys = json.dumps([entry.key for entry in placed])
        files: dict[int, str] = dict(
            self._db.execute(
                "SELECT id, file FROM entry WHERE id IN (SELECT value FROM json_each(?))", (keys,)
            ).fetchall()
        )
        return [(entry.key, files[entry.key], entry.points) for entry in placed]

    def match_reasons(self, key: int) -> tuple[str, ...]:
        """Return the reasons for an answer's rank."""
        return self._snippet_view.passage_hit(key, 0.0).why

    @cached_property
    def _snippet_view(self) -> SnippetView:
        return SnippetView(
            self._db,
            words=self._query_words,
            phrases=self._phrases,
            weights=self._term_weights,
            by_meaning=self._model is not None,
            inflected=self._inflected_words,
        )

    @property
    def _inflected_words(self) -> Sequence[str]:
        """The words that may have the forms of another language; of a question in English those in other letters."""
        if not self._sums["foreigners"]:
            return ()
        may_be_foreign = self._is_foreign or bool(self._lone_word)
        words = filter(is_plain_word, self._query_words)
        return [word for word in words if len(word) >= SHORTEST_COMMON and (may_be_foreign or not word.isascii())]

    def _scored_keys(self, limit: int | None, *, linked: bool, near_best: bool = False) -> Iterator["_ScoredKey"]:
        if not self._match_expression:
            yield from (_ScoredKey(key, 0.0) for key in self._filtered_keys()[:limit])
            return
        order = self._rank_hits(limit)
        gained = self._gains_by_links(order)
        order = lift_linked(order, gained, self._term_weights)
        best = max((points for _, points in order), default=0.0) or 1.0
        given = (drop_tail(order) if near_best else order)[:limit]
        self.left_out = len(order) - len(given)
        for entry, points in given:
            source = gained[entry.key][1] if entry.key in gained and len(self._term_weights) > 1 else None
            yield _ScoredKey(entry.key, points / best, source, self._signals_of(entry, gained))
        if linked and limit is not None and not (self._phrases or near_best):
            least = min((points for _, points in order), default=0.0)
            for key in self._linked_keys(order, gained)[: max(0, limit - len(order))]:
                points, source = gained[key]
                yield _ScoredKey(key, min(points, least) / best, source)

    def _signals_of(self, entry: RankedEntry, gained: Mapping[int, tuple[float, int]]) -> RankSignals:
        return RankSignals(
            words=entry.words,
            pairs=entry.pairs,
            meaning=entry.nearness,
            sentence=entry.by_sentence,
            spelling=self._spelling_gains.get(entry.key, 0.0),
            link=gained.get(entry.key, (0.0, 0))[0],
            all_words=entry.has_all,
            called=entry.is_called,
        )

    def term_weights(self) -> TermWeights:
        """Return the weight of each term of the words: the fewer texts hold it, the more."""
        return TermWeights(terms=self._term_weights, rarest=term_weight(1, self._sums["entries"]))

    def rarest_words(self, count: int) -> list[str]:
        """Return the words of the query that are rare and yet in other entries, the rarest first."""
        shared = [word for word in dict.fromkeys(self._query.words) if self._word_frequency(word) > 1]
        return sorted(shared, key=self._word_frequency)[:count]

    # What SQLite is asked

    @cached_property
    def _query_words(self) -> tuple[str, ...]:
        first_words = self._query.words[:_MOST_WORDS]
        words = tuple(word[:_LONGEST_WORD] if UNSPACED.match(word) else word for word in first_words)
        return words if len(words) > _MOST_RESPELT or self._phrases else tuple(self._respell(words))

    def _respell(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words; those that no entry has, as some do that part or join them: `file name`, `filename`."""
        unknown = {word for word in words if word.isalpha() and not self._term_frequency(stem_word(word))}
        joined = ""
        for word, next_word in pairwise((*words, "")):
            if joined:
                joined = ""
            elif (
                not unknown.isdisjoint((word, next_word))
                and self._term_frequency(stem_word(word + next_word))
                and fold_text(word) not in STOP_WORDS
            ):
                joined = word + next_word
                yield joined
            else:
                yield from self._parts_of(word) if word in unknown else (word,)

    def _parts_of(self, word: str) -> tuple[str, ...]:
        """Return the two words into which the entries part one that none has, or the word itself.

        A small word makes no other one with the word behind it: a therapist isn't the rapist.
        """
        for place in range(1, len(word)):
            parts = word[:place], word[place:]
            if all(self._term_frequency(stem_word(part)) for part in parts) and fold_text(parts[0]) not in STOP_WORDS:
                phrase = quote_word(" ".join(parts))
                if self._db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (phrase,)).fetchone():
                    return parts
        return (word,)

    @cached_property
    def _match_expression(self) -> str:
        """The query in FTS5's language: any word; or every phrase, and any word for the order."""
        wanted_expressions = [entry.expression for entry in self._affordable_entries]
        needed = [expression for phrase in self._phrases for expression in word_expressions(split_words(phrase))]
        if needed:
            return f"({' AND '.join(needed)}) AND ({' OR '.join([*needed, *wanted_expressions])})"
        return " OR ".join(wanted_expressions)

    @cached_property
    def _is_foreign(self) -> bool:
        """Whether the query is in another language than English, or may be and most of the base is."""
        foreigners = self._sums["foreigners"]
        surplus = language.english_surplus(split_words(self._query.text)) if foreigners else 0
        return foreigners > 0 and (surplus < 0 or (surplus == 0 and 2 * foreigners > self._sums["entries"]))

    @cached_property
    def _wanted_entries(self) -> Sequence[WantedEntry]:
        """The expressions for all words, and for the letter groups of words of other languages."""
        wanted_entries: list[WantedEntry] = []
        for word in self._query_words:
            if UNSPACED.match(word):
                wanted_entries += hidden_entries(language.unspaced_groups(word))
            else:
                wanted_entries.append(
                    WantedEntry(" OR ".join(map(quote_word, word_spellings(word))), stem_word(word), word)
                )
        if self._is_foreign:
            for word in self._query_words:
                if not UNSPACED.match(word):
                    wanted_entries += hidden_entries(language.letter_groups(word[:_LONGEST_WORD]))
        return wanted_entries

    @cached_property
    def _plain_words(self) -> list[str]:
        """The words that make up the whole expression; empty where it has other parts."""
        if self._phrases or not all(entry.word for entry in self._affordable_entries):
            return []
        return [spelling for entry in self._affordable_entries for spelling in word_spellings(entry.word)]

    @cached_property
    def _affordable_entries(self) -> Sequence[WantedEntry]:
        """The expressions to ask for: all, or in a large base the rarest within the budget, at least two."""
        if self._sums["entries"] * len(self._wanted_entries) <= _BUDGET:
            return self._wanted_entries
        affordable: set[str] = set()
        spent = 0
        costs: Counter[str] = Counter()
        for candidate in self._wanted_entries:
            # SQLite keeps the accents of some scripts
            costs[candidate.expression] += max(
                self._term_frequency(candidate.term), self._term_frequency(candidate.word.lower())
            )
        for expression in sorted(costs, key=lambda candidate: costs[candidate]):
            spent += costs[expression]
            if spent > _BUDGET and len(affordable) >= 2:
                break
            affordable.add(expression)
        return [candidate for candidate in self._wanted_entries if candidate.expression in affordable]

    def _word_frequency(self, word: str) -> int:
        return max((self._term_frequency(unit) for unit in word_terms(word)), default=0)

    @cached_property
    def _term_weights(self) -> Mapping[str, float]:
        """The weight of each term that the words stand for."""
        units = dict.fromkeys(unit for word in self._query_words for unit in word_terms(word))
        return {unit: term_weight(self._term_frequency(unit), self._sums["entries"]) for unit in units}

    def _term_frequency(self, unit: str) -> int:
        """Return the number of entries that hold a term, or the first part of a term that SQLite splits."""
        if unit not in self._frequency_cache:
            term = language.unspaced_groups(unit)[0] if UNSPACED.match(unit) else unit.partition("_")[0]
            self._frequency_cache[unit] = document_frequency(self._db, term)
        return self._frequency_cache[unit]

    def _document_count(self, word: str) -> int:
        """Return how many entries hold what SQLite takes for `word`, which of some words isn't what we do."""
        if word.isascii() and word.isalpha():
            return self._term_frequency(stem_word(word))
        row = self._db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (quote_word(word),)).fetchone()
        return int(row[0])

    @property
    def _mean_length(self) -> float:
        """The mean number of words of an entry."""
        return self._sums["words"] / max(self._sums["entries"], 1) or 1.0

    @cached_property
    def _frequency_cache(self) -> dict[str, int]:
        return {}

    def _run_match(self, expression: str, most: int, *, among: str = "") -> list[_Hit]:
        """Return the best entries that match `expression` and, if given, `among`, best first."""
        return self._db.execute(
            f"SELECT entry.id, {_SCORE} AS score, entry.date, entry.file, entry.line "
            "FROM words CROSS JOIN entry ON entry.id = words.rowid "
            f"WHERE words MATCH :expression AND {_AMONG if among else 'TRUE'} AND {self._where} "
            "ORDER BY score DESC, entry.date DESC, entry.file, entry.line LIMIT :most",
            {"expression": expression, "mean": self._mean_length, "most": most, "among": among, **self._values},
        ).fetchall()

    def _score_any_word(self, most: int) -> dict[int, float]:
        """Return the scores of the best entries that hold any word of the query."""
        frequencies = {quote_word(word): self._document_count(word) for word in self._plain_words}
        query_words = rarest_words_first(list(map(quote_word, self._plain_words)), frequencies)
        start = first_expression(query_words) if most != _ALL else None
        hits = self._run_match(self._match_expression, most, among=start or "")
        if start and len(hits) < most:
            hits = self._run_match(self._match_expression, most)
        elif start:
            further_expression = reaching_expression(query_words, hits[-1][1], self._sums["entries"])
            hits += (
                self._run_match(self._match_expression, most, among=f"({further_expression}) NOT ({start})")
                if further_expression not in ("", start)
                else []
            )
            hits.sort(key=itemgetter(3, 4))
            hits.sort(key=itemgetter(2), reverse=True)
            hits.sort(key=itemgetter(1), reverse=True)
        return {key: score for key, score, *_ in hits[: most if most != _ALL else None]}

    def _score_within(self, expression: str, points: Mapping[int, float], most: int) -> dict[int, float]:
        """Return the scores of the best entries that match `expression`, reusing those in `points`."""
        keys = self._db.execute(
            "SELECT entry.id FROM words CROSS JOIN entry ON entry.id = words.rowid "
            f"WHERE words MATCH :expression AND {self._where} LIMIT :most",
            {"expression": expression, "most": most if most == _ALL else most + 1, **self._values},
        ).fetchall()
        if (most == _ALL or len(keys) <= most) and all(key in points for (key,) in keys):
            return {key: points[key] for (key,) in keys}
        return {key: score for key, score, *_ in self._run_match(expression, most)}

    def _filtered_keys(self) -> list[int]:
        """Return the entries that pass the filters and hold the wordless phrases, newest first."""
        if self._query.is_empty and not self._values:
            # nothing was asked for but what no text can hold
            return []
        rows = self._db.execute(
            f"SELECT entry.id FROM entry WHERE {self._where} ORDER BY date DESC, file, line", self._values
        )
        return [key for (key,) in rows.fetchall() if self._holds_phrases(key)]

    # What becomes of its answers

    def _rank_hits(self, limit: int | None) -> list[tuple[RankedEntry, float]]:
        pool = min(max(limit, _POOL), _MOST_ROWS) if limit is not None and not self._phrases else _ALL
        points = self._score_any_word(pool)
        needed = word_expressions(self._query_words)
        # groups of letters hold no word
        complete = set(points) if needed == [self._match_expression] else set()
        if not complete and 0 < len(needed) <= _MOST_PROMISED:
            complete_scores = self._score_within(" AND ".join(needed), points, pool)
            complete = set(complete_scores)
            points = complete_scores | points
        if self._lone_word:
            complete = self._holding_form(self._lone_word, complete, points)
        names = word_expressions(word for word in self._query_words if not UNSPACED.match(word))
        if names and not self._phrases:
            points = self._score_within(f"{{title alias tags}} : ({' AND '.join(names)})", points, pool) | points
        if self._phrases:
            points = {key: value for key, value in points.items() if self._holds_phrases(key)}
        points, complete = self._add_context(points, complete)
        nearness = self._nearness_by_model(points)
        if found := nearness.keys() - points.keys():
            points = points | dict.fromkeys(found, 0.0) | self._weigh_among(self._match_expression, found)
        order = rank_entries(self._entries_to_rank(points, complete, nearness), self._term_weights)
        return self._reorder_by_spelling(order) if len(self._term_weights) > 1 else order

    def _add_context(self, points: dict[int, float], complete: set[int]) -> tuple[dict[int, float], set[int]]:
        """Return scores and complete hits with what entries owe to links that call them so and to titles above them."""
        if self._phrases:
            return points, complete
        weights = self._term_weights
        context = ContextTerms(
            self._db, points, where=self._where, values=self._values, words=self._query_words, weights=weights
        )
        self._link_names = context.link_names(self._snippet_view)
        added = {key: points.get(key, 0.0) + name.weight for key, name in self._link_names.items()}
        whole = {key for key, name in self._link_names.items() if name.terms >= weights.keys()}
        if headings := context.headings if len(weights) > 1 else {}:
            scores = self._weigh_among(self._match_expression, headings)
            totals = {key: scores.get(key, 0.0) + context.weight_of(terms.added) for key, terms in headings.items()}
            added |= dict(sorted(totals.items(), key=lambda total: -total[1])[:_POOL])
            if len(weights) <= _MOST_PROMISED:
                whole |= {key for key, terms in headings.items() if terms.held | terms.added >= weights.keys()}
        return points | added, complete | whole

    @cached_property
    def _lone_word(self) -> str:
        """The one word of the query, where it is one whose forms are known: who asks for it means that word."""
        is_lone = self._query.is_plain_word and not self._phrases and len(self._query_words) == 1
        return self._query_words[0] if is_lone else ""

    def _holding_form(self, word: str, keys: Set[int], points: Mapping[int, float]) -> set[int]:
        """Return the entries without those of the best that hold only another word of its stem.

        In another language than English the best hold forms of the word that have no stem in common. A letter means
        what has it in its name or as a tag: in a text it is a variable, an initial, a part of another name.
        """
        candidates = set(points) | keys if self._sums["foreigners"] else keys
        looked_at = sorted(candidates, key=lambda key: (-points.get(key, 0.0), key))[:_POOL]
        text = "body" if len(word) > 1 else "''"
        rows = self._db.execute(
            f"SELECT id, title, alias, title || ' ' || alias || ' ' || tags || ' ' || {text} FROM content "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(looked_at),),
        )
        initials = fold_text(word)
        holding = {
            key
            for key, title, alias, text in rows
            if holds_form(text, word) or any(initials in initials_of(name) for name in (title, *alias.split(SEPARATOR)))
        }
        return holding.union(keys - set(looked_at))

    def _reorder_by_spelling(self, order: Sequence[tuple[RankedEntry, float]]) -> list[tuple[RankedEntry, float]]:
        """Return the hits ordered again by the spelling of the query's words in the best of them."""
        rows = self._db.execute(
            "SELECT id, title || ' ' || alias || ' ' || body FROM content "
            "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps([entry.key for entry, _ in order[:MOST_SPELLED]]),),
        )
        query_spellings = prepare_spellings(self._query_words)
        shares = {key: spelled_shares(text, query_spellings) for key, text in rows}
        spelled_order = rank_by_spelling(
            order, shares, self._term_weights, is_foreign=self._is_foreign and self._model is None
        )
        before = {entry.key: value for entry, value in order}
        self._spelling_gains = {entry.key: value - before[entry.key] for entry, value in spelled_order}
        return spelled_order

    def _gains_by_links(self, order: Sequence[tuple[RankedEntry, float]]) -> Mapping[int, tuple[float, int]]:
        """Return each entry's gain by a link of a good hit, with the key of that hit."""
        rows = self._db.execute(
            "SELECT hit.id, entry.id FROM entry AS hit JOIN link ON link.source = hit.node "
            "JOIN entry ON entry.node = link.dest "
            "WHERE hit.id IN (SELECT value FROM json_each(:hits)) AND hit.note = link.note "
            f"AND {self._where}",
            {"hits": json.dumps(good_hit_keys(order)), **self._values},
        )
        links: dict[int, set[int]] = {}
        for source, dest in rows:
            links.setdefault(source, set()).add(dest)
        return link_gains(order, links)

    def _linked_keys(
        self, order: Iterable[tuple[RankedEntry, float]], gained: Mapping[int, tuple[float, int]]
    ) -> list[int]:
        """Return the entries that match no word and are linked from good hits, the best first."""
        keys = json.dumps(list(gained.keys() - {entry.key for entry, _ in order}))
        rows = self._db.execute(
            "SELECT id FROM entry WHERE id IN (SELECT value FROM json_each(?)) ORDER BY file, line", (keys,)
        ).fetchall()
        return sorted((key for (key,) in rows), key=lambda key: -gained[key][0])[:_MOST_LINKED]

    def _entries_to_rank(
        self, points: Mapping[int, float], complete: set[int], nearness: Mapping[int, float]
    ) -> Iterator[RankedEntry]:
        together = [f'"{word} {next_word}"' for word, next_word in self._word_pairs()]
        pair_scores = self._weigh_among(" OR ".join(together), points) if together else {}
        query_vector = None if self._is_foreign else self._query_vector
        query_name = fold_to_line(self._query.text)
        weighed = frozenset(self._term_weights)
        for keys in _split_chunks(list(points)):
            marks = ", ".join("?" * len(keys))
            rows = self._db.execute(
                f"SELECT id, {IS_REPLACED}, called, named, tagged, above, date, file, line, data "
                "FROM content JOIN entry USING(id) "
                f"LEFT JOIN vector USING(id) WHERE id IN ({marks})",
                keys,
            )
            for key, replaced, names, named_terms, tagged_terms, above, date, file, line, vector in rows:
                named, over = (weighed.intersection(terms.split(SEPARATOR)) for terms in (named_terms, above))
                path_terms = named | over if named - over else named
                is_path = named < path_terms == weighed and not replaced
                yield RankedEntry(
                    key=key,
                    words=points[key],
                    pairs=pair_scores.get(key, 0.0),
                    nearness=vector_cosine(query_vector, vector) if query_vector and vector else 0.0,
                    by_sentence=nearness.get(key, 0.0),
                    has_all=key in complete,
                    is_called=is_path
                    or self._is_called(names.split(SEPARATOR), query_name, is_replaced=bool(replaced)),
                    is_superseded=bool(replaced),
                    name_terms=path_terms | self._link_names.get(key, NO_NAME).terms,
                    tag_terms=weighed.intersection(tagged_terms.split(SEPARATOR)),
                    date=date,
                    place=(file, line),
                )

    def _is_called(self, names: Sequence[str], query_name: str, *, is_replaced: bool) -> bool:
        """Return whether one of the folded names is the query, or stands in it and says enough of it.

        A name of one word, such as Index or Python, is often only mentioned: it has to weigh as much as the rest. The
        words of a longer one have to be as rare as the query's are on average, which those of "New project" aren't; of
        three and more nobody says all in a row by chance, unless in a long message. What was replaced has to leave the
        first place to its successor.
        """
        if is_replaced:
            return False
        if query_name in names:
            return True
        total = sum(self._term_weights.values())
        for name in names:
            if name and name in query_name and stands_apart(name, query_name):
                terms = self._term_weights.keys() & {unit for word in split_words(name) for unit in word_terms(word)}
                if len(terms) >= _TELLING_NAME and len(terms) * _LONGEST_CALL >= len(self._term_weights):
                    return True
                weight = sum(self._term_weights[term] for term in terms)
                least = len(terms) / len(self._term_weights) if len(terms) > 1 else 0.5
                if weight >= least * total > 0:
                    return True
        return False

    def _weigh_among(self, expression: str, keys: Iterable[int]) -> dict[int, float]:
        """Return the scores of those of `keys` that match `expression`."""
        rows = self._db.execute(
            f"SELECT entry.id, {_SCORE} FROM words CROSS JOIN entry ON entry.id = words.rowid "
            "WHERE words MATCH :expression AND +words.rowid IN (SELECT value FROM json_each(:keys))",
            {"expression": expression, "mean": self._mean_length, "keys": json.dumps(list(keys))},
        )
        return dict(rows.fetchall())

    def _nearness_by_model(self, points: Mapping[int, float]) -> Mapping[int, float]:
        """Return the nearness in meaning of the best hits and of the nearest of all entries, if there is a model.

        The best hundred by words hold some 86 % of the answers in sets of questions; with the nearest 93 %.
        """
        if self._model is None or (self._is_foreign and not self._model.is_multilingual):
            return {}
        if len(self._term_weights) < 2:
            # a word alone means what it says: the ranking takes no other meaning
            return {}
        rows = self._db.execute(
            "SELECT id, title || char(10) || alias || char(10) || body FROM content JOIN entry USING(id) "
            f"WHERE {self._where} ORDER BY date DESC, file, line",
            self._values,
        )
        texts: dict[int, str] = dict(rows.fetchall())
        best = {key: texts.pop(key) for key in sorted(points, key=lambda key: (-points[key], key))[:_POOL]}
        # who asks for a phrase wants nothing without it
        return self._model.rate_nearness(self._query.text, best, {} if self._phrases else texts)

    @property
    def _query_vector(self) -> bytes | None:
        table = word_table()
        return table.text_vector(split_words(self._query.text)) if table else None

    def _word_pairs(self) -> Iterator[tuple[str, str]]:
        affordable_words = {word.word for word in self._affordable_entries}
        is_small = len(self._affordable_entries) == len(self._wanted_entries)
        for word, next_word in dict.fromkeys(self._query.pairs[:_MOST_WORDS]):
            if not (UNSPACED.match(word) or UNSPACED.match(next_word)) and (
                is_small or {word, next_word} <= affordable_words
            ):
                yield word, next_word

    def _holds_phrases(self, key: int) -> bool:
        if not self._phrases:
            return True
        row = self._db.execute("SELECT title, alias, body FROM content WHERE id = ?", (key,)).fetchone()
        text = fold_to_line(" ".join(row).replace(SEPARATOR, " "))
        return all(stands_apart(phrase, text) for phrase in self._phrases)


def _split_chunks(keys: list[int], size: int = 500) -> Iterator[list[int]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
