"""One query put to the index: what SQLite is asked, and in which order its answers come."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING
from typing import NamedTuple

from roamkb.core.text import flat
from roamkb.core.text import unpointed
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index.document_frequency import holding
from roamkb.kb.search.index.schema import SEPARATOR
from roamkb.kb.search.index.schema import sums_of
from roamkb.kb.search.index.schema import tag_set
from roamkb.kb.search.index.snippets import SnippetView
from roamkb.kb.search.index.top_k import asked
from roamkb.kb.search.index.top_k import first
from roamkb.kb.search.index.top_k import reaching
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.ranking import FTS_B
from roamkb.kb.search.ranking import FTS_K1
from roamkb.kb.search.ranking import MOST_SAID
from roamkb.kb.search.ranking import WEIGHTS
from roamkb.kb.search.ranking import B
from roamkb.kb.search.ranking import RankedEntry
from roamkb.kb.search.ranking import gains
from roamkb.kb.search.ranking import good
from roamkb.kb.search.ranking import lifted
from roamkb.kb.search.ranking import ranked
from roamkb.kb.search.ranking import said
from roamkb.kb.search.ranking import weight
from roamkb.text.fuzzy import spelled
from roamkb.text.fuzzy import spellings
from roamkb.text.language import balance
from roamkb.text.language import letter_groups
from roamkb.text.language import unspaced_groups
from roamkb.text.store.word_vector_file import word_table
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import pairs
from roamkb.text.tokenize import stemmed
from roamkb.text.tokenize import words
from roamkb.text.word_vectors import closeness

if TYPE_CHECKING:
    from roamkb.kb.search.semantic.cache import SentenceModel

#: How many of SQLite's best are looked at again; more than anybody reads.
_POOL = 100
#: Entries of the index that one query may read; the rarest words come first.
_BUDGET = 50_000
#: Words of one query; a whole document asks for what its beginning asks for.
_MOST_WORDS = 128
#: Letters of a word that a query asks for; Thai writes a whole sentence as one.
_LONGEST_WORD = 256
#: Where the human asked for more, it is all; and a number that SQLite takes.
_MOST_ROWS = 1_000_000_000
_ALL = -1

#: Notes that hold none of the words, beside those that do.
_MOST_BESIDE = 3

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


class _WantedEntry(NamedTuple):
    """One thing that entries are asked for."""

    #: In FTS5's language.
    expression: str
    #: What it costs is how many entries hold this.
    term: str
    #: The word that it is; empty for a group of letters.
    word: str = ""


class IndexQuery:
    """One query and the index that it is put to, within one read transaction."""

    def __init__(self, db: sqlite3.Connection, query: Query, *, model: "SentenceModel | None" = None) -> None:
        """Ask `db` for `query`; `model`, where there is one, says what is near in meaning."""
        self._db = db
        self._model = model
        self._query = query
        self._phrases = tuple(filter(None, map(flat, query.phrases)))
        self._sums = sums_of(db)
        self._where, self._values = _filters(query)

    def answers(self, limit: int | None, *, linked: bool = False) -> Iterator[PassageHit]:
        """Yield what answers the query, best first; where `linked`, then what the best of it links to."""
        for key, points, source in self._placed(limit, linked=linked):
            yield self._shown.answer(key, points, source=source)

    def places(self, limit: int | None) -> list[tuple[int, str, float]]:
        """Return key, file and score of the answers, for who looks closer at a few of them only."""
        placed = list(self._placed(limit, linked=False))
        keys = json.dumps([key for key, _, _ in placed])
        files: dict[int, str] = dict(
            self._db.execute(
                "SELECT id, file FROM entry WHERE id IN (SELECT value FROM json_each(?))", (keys,)
            ).fetchall()
        )
        return [(key, files[key], points) for key, points, _ in placed]

    def why(self, key: int) -> tuple[str, ...]:
        """Return what an answer owes its place to."""
        return self._shown.answer(key, 0.0).why

    @cached_property
    def _shown(self) -> SnippetView:
        return SnippetView(self._db, words=self._words, phrases=self._phrases, weights=self._weights)

    def _placed(self, limit: int | None, *, linked: bool) -> Iterator[tuple[int, float, int | None]]:
        if not self._expression:
            yield from ((key, 0.0, None) for key in self._filtered()[:limit])
            return
        order = self._ranked(limit)
        gained = self._gained(order)
        order = lifted(order, gained, self._weights)
        best = max((points for _, points in order), default=0.0) or 1.0
        for found, points in order[:limit]:
            source = gained[found.key][1] if found.key in gained and len(self._weights) > 1 else None
            yield found.key, points / best, source
        if linked and limit is not None and not self._phrases:
            least = min((points for _, points in order), default=0.0)
            for key in self._beside(order, gained)[: max(0, limit - len(order))]:
                points, source = gained[key]
                yield key, min(points, least) / best, source

    def weigh(self) -> TermWeights:
        """Return what each term that the words stand for tells, by how few texts hold it."""
        return TermWeights(terms=self._weights, rarest=weight(1, self._sums["entries"]))

    def rarest(self, count: int) -> list[str]:
        """Return the words of the query that are rare and yet elsewhere, too, the rarest first."""
        shared = [word for word in dict.fromkeys(self._query.words) if self._holding(word) > 1]
        return sorted(shared, key=self._holding)[:count]

    # What SQLite is asked

    @cached_property
    def _words(self) -> tuple[str, ...]:
        kept = self._query.words[:_MOST_WORDS]
        return tuple(word[:_LONGEST_WORD] if UNSPACED.match(word) else word for word in kept)

    @cached_property
    def _expression(self) -> str:
        """The query in FTS5's language: any word; or every phrase, and any word for the order."""
        wanted = [one.expression for one in self._affordable]
        needed = [expression for phrase in self._phrases for expression in _each(words(phrase))]
        if needed:
            return f"({' AND '.join(needed)}) AND ({' OR '.join([*needed, *wanted])})"
        return " OR ".join(wanted)

    @cached_property
    def _is_foreign(self) -> bool:
        """Whether the query is in another language than English, or may be and most of the base is."""
        foreigners = self._sums["foreigners"]
        told = balance(words(self._query.text)) if foreigners else 0
        return foreigners > 0 and (told < 0 or (told == 0 and 2 * foreigners > self._sums["entries"]))

    @cached_property
    def _wanted(self) -> Sequence[_WantedEntry]:
        """All that the words ask for: themselves, and the groups of letters of other languages' words."""
        found: list[_WantedEntry] = []
        for word in self._words:
            if UNSPACED.match(word):
                found += _in_hidden(unspaced_groups(word))
            else:
                found.append(_WantedEntry(" OR ".join(map(_quoted, _spellings(word))), stemmed(word), word))
        if self._is_foreign:
            for word in self._words:
                if not UNSPACED.match(word):
                    found += _in_hidden(letter_groups(word[:_LONGEST_WORD]))
        return found

    @cached_property
    def _plain(self) -> list[str]:
        """The words that the expression is made of, if it is made of nothing else."""
        if self._phrases or not all(one.word for one in self._affordable):
            return []
        return [spelling for one in self._affordable for spelling in _spellings(one.word)]

    @cached_property
    def _affordable(self) -> Sequence[_WantedEntry]:
        """What to ask for: all, or in a large base the rarest within the budget, two at least."""
        if self._sums["entries"] * len(self._wanted) <= _BUDGET:
            return self._wanted
        kept: set[str] = set()
        spent = 0
        costs: Counter[str] = Counter()
        for one in self._wanted:
            # SQLite keeps the accents of some scripts
            costs[one.expression] += max(self._held(one.term), self._held(one.word.lower()))
        for expression in sorted(costs, key=lambda one: costs[one]):
            spent += costs[expression]
            if spent > _BUDGET and len(kept) >= 2:
                break
            kept.add(expression)
        return [one for one in self._wanted if one.expression in kept]

    def _holding(self, word: str) -> int:
        return max((self._held(unit) for unit in _units(word)), default=0)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        """The weight of each term that the words stand for."""
        units = dict.fromkeys(unit for word in self._words for unit in _units(word))
        return {unit: weight(self._held(unit), self._sums["entries"]) for unit in units}

    def _held(self, unit: str) -> int:
        """Return how many entries hold a term, or the first part of one that SQLite takes apart."""
        if unit not in self._counts:
            term = unspaced_groups(unit)[0] if UNSPACED.match(unit) else unit.partition("_")[0]
            self._counts[unit] = holding(self._db, term)
        return self._counts[unit]

    @property
    def _mean(self) -> float:
        """Words of an entry."""
        return self._sums["words"] / max(self._sums["entries"], 1) or 1.0

    @cached_property
    def _counts(self) -> dict[str, int]:
        return {}

    def _match(self, expression: str, most: int, *, among: str = "") -> list[_Hit]:
        """Return the best of what holds `expression`, and `among` as well if that is given, best first."""
        return self._db.execute(
            f"SELECT entry.id, {_SCORE} AS score, entry.date, entry.file, entry.line "
            "FROM words CROSS JOIN entry ON entry.id = words.rowid "
            f"WHERE words MATCH :expression AND {_AMONG if among else 'TRUE'} AND {self._where} "
            "ORDER BY score DESC, entry.date DESC, entry.file, entry.line LIMIT :most",
            {"expression": expression, "mean": self._mean, "most": most, "among": among, **self._values},
        ).fetchall()

    def _any(self, most: int) -> dict[int, float]:
        """Return the scores of the best of what the query asks for."""
        # of other words SQLite sees something else than we do
        known = {
            _quoted(word): self._held(stemmed(word))
            for word in self._plain
            if word.isascii() and word.isalpha()
        }
        wanted = asked(list(map(_quoted, self._plain)), known)
        start = first(wanted) if most != _ALL else None
        hits = self._match(self._expression, most, among=start or "")
        if start and len(hits) < most:
            hits = self._match(self._expression, most)
        elif start:
            rest = reaching(wanted, hits[-1][1], self._sums["entries"])
            hits += self._match(self._expression, most, among=f"({rest}) NOT ({start})") if rest else []
            hits.sort(key=itemgetter(3, 4))
            hits.sort(key=itemgetter(2), reverse=True)
            hits.sort(key=itemgetter(1), reverse=True)
        return {key: score for key, score, *_ in hits[: most if most != _ALL else None]}

    def _within(self, expression: str, points: Mapping[int, float], most: int) -> dict[int, float]:
        """Return the scores of the best that hold `expression`; of what has `points` no other is needed."""
        keys = self._db.execute(
            "SELECT entry.id FROM words CROSS JOIN entry ON entry.id = words.rowid "
            f"WHERE words MATCH :expression AND {self._where} LIMIT :most",
            {"expression": expression, "most": most if most == _ALL else most + 1, **self._values},
        ).fetchall()
        if (most == _ALL or len(keys) <= most) and all(key in points for (key,) in keys):
            return {key: points[key] for (key,) in keys}
        return {key: score for key, score, *_ in self._match(expression, most)}

    def _filtered(self) -> list[int]:
        """Return what passes the filters and holds phrases that no word stands in, newest first."""
        if self._query.is_empty and not self._values:
            # nothing was asked for but what no text can hold
            return []
        rows = self._db.execute(
            f"SELECT entry.id FROM entry WHERE {self._where} ORDER BY date DESC, file, line", self._values
        )
        return [key for (key,) in rows.fetchall() if self._holds_phrases(key)]

    # What becomes of its answers

    def _ranked(self, limit: int | None) -> list[tuple[RankedEntry, float]]:
        pool = min(max(limit, _POOL), _MOST_ROWS) if limit is not None and not self._phrases else _ALL
        points = self._any(pool)
        needed = _each(self._words)
        complete = set(points) if len(needed) == 1 else set()
        if len(needed) > 1:
            whole = self._within(" AND ".join(needed), points, pool)
            complete = set(whole)
            points = whole | points
        names = _each(word for word in self._words if not UNSPACED.match(word))
        if names and not self._phrases:
            points = self._within(f"{{title alias tags}} : ({' AND '.join(names)})", points, pool) | points
        if self._phrases:
            points = {key: value for key, value in points.items() if self._holds_phrases(key)}
        order = ranked(self._found(points, complete), self._weights)
        return self._said(order) if len(self._weights) > 1 else order

    def _said(self, order: Sequence[tuple[RankedEntry, float]]) -> list[tuple[RankedEntry, float]]:
        """Return the order that the spelling of the query's words gives to the best."""
        rows = self._db.execute(
            "SELECT id, title || ' ' || alias || ' ' || body FROM content "
            "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps([found.key for found, _ in order[:MOST_SAID]]),),
        )
        wanted = spellings(self._words)
        shares = {key: spelled(text, wanted) for key, text in rows}
        return said(order, shares, self._weights, is_foreign=self._is_foreign and self._model is None)

    def _gained(self, order: Sequence[tuple[RankedEntry, float]]) -> Mapping[int, tuple[float, int]]:
        """Return what each thing gains by the links of the good hits, and whose link it was."""
        rows = self._db.execute(
            "SELECT hit.id, entry.id FROM entry AS hit JOIN link ON link.source = hit.node "
            "JOIN entry ON entry.node = link.dest "
            "WHERE hit.id IN (SELECT value FROM json_each(:hits)) AND hit.note = link.note "
            f"AND {self._where}",
            {"hits": json.dumps(good(order)), **self._values},
        )
        links: dict[int, set[int]] = {}
        for source, dest in rows:
            links.setdefault(source, set()).add(dest)
        return gains(order, links)

    def _beside(
        self, order: Iterable[tuple[RankedEntry, float]], gained: Mapping[int, tuple[float, int]]
    ) -> list[int]:
        """Return what holds nothing that was asked for and is linked from what does, the best first."""
        keys = json.dumps(list(gained.keys() - {found.key for found, _ in order}))
        rows = self._db.execute(
            "SELECT id FROM entry WHERE id IN (SELECT value FROM json_each(?)) ORDER BY file, line", (keys,)
        ).fetchall()
        return sorted((key for (key,) in rows), key=lambda key: -gained[key][0])[:_MOST_BESIDE]

    def _found(self, points: Mapping[int, float], complete: set[int]) -> Iterator[RankedEntry]:
        together = [f'"{one} {other}"' for one, other in self._pairs()]
        beside = self._beside_each_other(" OR ".join(together), points) if together else {}
        meant = None if self._is_foreign else self._vector
        near = self._nearness(points)
        called = flat(self._query.text)
        weighed = frozenset(self._weights)
        for keys in _chunks(list(points)):
            marks = ", ".join("?" * len(keys))
            rows = self._db.execute(
                "SELECT id, replaced, called, named, tagged, date, file, line, data "
                "FROM content JOIN entry USING(id) "
                f"LEFT JOIN vector USING(id) WHERE id IN ({marks})",
                keys,
            )
            for key, replaced, names, named, tagged, date, file, line, vector in rows:
                yield RankedEntry(
                    key=key,
                    words=points[key],
                    pairs=beside.get(key, 0.0),
                    nearness=closeness(meant, vector) if meant and vector else 0.0,
                    by_sentence=near.get(key, 0.0),
                    has_all=key in complete,
                    is_called=called in names.split(SEPARATOR),
                    is_superseded=bool(replaced),
                    named=weighed.intersection(named.split(SEPARATOR)),
                    tagged=weighed.intersection(tagged.split(SEPARATOR)),
                    date=date,
                    place=(file, line),
                )

    def _beside_each_other(self, expression: str, points: Iterable[int]) -> dict[int, float]:
        rows = self._db.execute(
            f"SELECT entry.id, {_SCORE} FROM words CROSS JOIN entry ON entry.id = words.rowid "
            "WHERE words MATCH :expression AND +words.rowid IN (SELECT value FROM json_each(:keys))",
            {"expression": expression, "mean": self._mean, "keys": json.dumps(list(points))},
        )
        return dict(rows.fetchall())

    def _nearness(self, points: Mapping[int, float]) -> Mapping[int, float]:
        """Return how near the best of the hits are to the query in meaning, if a model is asked."""
        if self._model is None or (self._is_foreign and not self._model.is_multilingual):
            return {}
        if len(self._weights) < 2:
            # a word alone means what it says: the ranking takes no other meaning
            return {}
        best = sorted(points, key=lambda key: (-points[key], key))[:_POOL]
        rows = self._db.execute(
            "SELECT id, title || char(10) || alias || char(10) || body FROM content "
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(best),),
        )
        return self._model.nearness(self._query.text, dict(rows.fetchall()))

    @property
    def _vector(self) -> bytes | None:
        table = word_table()
        return table.vector(words(self._query.text)) if table else None

    def _pairs(self) -> Iterator[tuple[str, str]]:
        kept = {one.word for one in self._affordable}
        is_small = len(self._affordable) == len(self._wanted)
        for one, other in dict.fromkeys(self._query.pairs[:_MOST_WORDS]):
            if not (UNSPACED.match(one) or UNSPACED.match(other)) and (is_small or {one, other} <= kept):
                yield one, other

    def _holds_phrases(self, key: int) -> bool:
        if not self._phrases:
            return True
        row = self._db.execute("SELECT title, alias, body FROM content WHERE id = ?", (key,)).fetchone()
        text = flat(" ".join(row).replace(SEPARATOR, " "))
        return all(phrase in text for phrase in self._phrases)


def _units(word: str) -> list[str]:
    """Return the terms that a word has to be found by."""
    return pairs(word) if UNSPACED.match(word) else [stemmed(word)]


def _spellings(word: str) -> list[str]:
    """Return a word and the parts of it that are looked for beside it."""
    # SQLite itself takes an underscore for a blank
    return [
        unpointed(word),
        *([] if "_" in word else (part for part in identifier_parts(word) if len(part) > 1)),
    ]


def _each(found: Iterable[str]) -> list[str]:
    """Return an expression for each word, none twice."""
    expressions: list[str] = []
    for word in found:
        if UNSPACED.match(word):
            groups = (group for group in unspaced_groups(word) if not group.startswith("x"))
            expressions += [one.expression for one in _in_hidden(groups)]
        else:
            expressions.append(_quoted(unpointed(word)))
    return list(dict.fromkeys(expressions))


def _quoted(word: str) -> str:
    """Return `word` as FTS5 takes it for nothing but a word; words hold no quotes."""
    return f'"{word}"'


def _in_hidden(groups: Iterable[str]) -> list[_WantedEntry]:
    # a letter over and over is asked for once: SQLite counts each time it stands there for each
    return [_WantedEntry(f"hidden : {_quoted(group)}", group) for group in dict.fromkeys(groups)]


def _filters(query: Query) -> tuple[str, dict[str, str | int]]:
    """Return the query's filters as SQL, and their values."""
    clauses = ["TRUE"]
    values: dict[str, str | int] = {}

    def add(clause: str, value: str | int) -> None:
        name = f"v{len(values)}"
        clauses.append(clause.format(f":{name}"))
        values[name] = value if isinstance(value, int) else value.encode("utf-8", "replace").decode()

    for tag in query.tags:
        add("instr(entry.tag_set, {})", tag_set([tag]))
    for tag in query.without_tags:
        add("NOT instr(entry.tag_set, {})", tag_set([tag]))
    if query.by_agent is not None:
        add("entry.agent = {}", int(query.by_agent))
    if query.ids:
        add("entry.node IN (SELECT value FROM json_each({}))", _json(query.ids))
    if query.since is not None:
        add("entry.date >= {}", query.since)
    if query.before is not None:
        add("entry.date != '' AND entry.date < {}", query.before)
    for piece in query.without:
        if held := _each_together(piece):
            add("entry.id NOT IN (SELECT rowid FROM words WHERE words MATCH {})", held)
    return " AND ".join(clauses), values


def _each_together(piece: str) -> str:
    """Return the expression for a piece of text: its words side by side."""
    found = words(piece)
    if any(UNSPACED.match(word) for word in found):
        return " AND ".join(_each(found))
    return _quoted(" ".join(found)) if found else ""


def _json(values: Sequence[str]) -> str:
    return json.dumps([value.encode("utf-8", "replace").decode() for value in values])


def _chunks(keys: list[int], size: int = 500) -> Iterator[list[int]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
