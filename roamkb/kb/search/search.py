"""Search for nodes by words, phrases and filters, or for lines by a regular expression."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import chain
from itertools import islice
from pathlib import Path
from typing import Protocol

from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.model import Hit
from roamkb.core.model import UnreadableFile
from roamkb.core.request import AnyKbOption
from roamkb.core.request import count_option
from roamkb.core.request import flag_option
from roamkb.core.request import remaining_arguments
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import fold_text
from roamkb.core.text import one_line
from roamkb.kb.notes import passages
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search import filters
from roamkb.kb.search.hits import Evidence
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.hits import PassageHits
from roamkb.kb.search.hits import RankSignals
from roamkb.kb.search.hits import UnknownWord
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.store import grep as search_grep
from roamkb.org.excerpt import excerpt_of
from roamkb.org.syntax import syntax_table
from roamkb.text.inflection import holds_form
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stands_apart

#: Nodes of a list that no words rank; grep has no limit.
DEFAULT_LIMIT = 20
#: Ranked hits that are worth an agent's reading: of the right answers among twenty, eight hold nine in ten.
MOST_HITS = 8
#: Letters of a filter that an error quotes.
_LONGEST_QUOTED = 60
#: Letters of a line that are rated; by chance a longer one holds any word.
_LONGEST_RATED = 4096
#: Candidates that a trace lists, and why some of them aren't shown.
_MOST_TRACED = 50
_OVER_LIMIT = "over the limit"
_FAR_BELOW = "far below the best"
#: Reasons of a hit that holds something of the query itself.
_HELD = frozenset(("phrase", "title", "alias", "link", "tag", "text"))
#: Why an answer is printed where lines or files are asked for.
_PRINTED = _HELD | {"meaning"}
#: Notes from which on it takes seconds to read them all for one search.
_MANY_READ = 500
#: Lines of a node that a hit carries beside the one that it shows.
BEST_LINES = 3
#: What a sentence puts around a word.
_PUNCTUATION = "\"'`“”„‘’«»()[]{}<>,;:!?…。、！？"
#: Of a piece of a query: a digit, what stands before or behind its letters, or a point within.
_EXACT = lazily(r"\d|\w[+#]|^\.\w|\w\.\w")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Options of `search`."""

    words: Sequence[str] | str = remaining_arguments(
        'Words, "a phrase", -word, tag:T, is:agent, is:human, before:D, after:D, id:ID, ref:URL, cite:KEY.',
        metavar="WORDS...",
    )
    _: KW_ONLY
    tags: Sequence[str] = repeatable_option(
        "--tag", "Only nodes with this tag (again for more).", metavar="T", values="tags"
    )
    agent: bool = flag_option("--agent", "Only nodes that agents wrote.")
    human: bool = flag_option("--human", "Only the human's notes.")
    since: str | None = text_option(
        "--since", "Only nodes dated since 2026-06-10, 2026, 7d (undated: never).", metavar="D"
    )
    before: str | None = text_option("--before", "Only nodes dated before this day (undated: never).", metavar="D")
    limit: int | None = count_option(
        "--limit", "So many hits, however weak (8 near the best; without words 20; --regex, --lines, --files: all)."
    )
    all: bool = flag_option("--all", "Every hit, however weak.")
    regex: bool = flag_option("--regex", "The words are one regular expression; case counts, (?i) ignores it.")
    lines: bool = flag_option("--lines", "Every matching line, not the best of each node.")
    files: bool = flag_option("--files", "Only the paths of the files.")
    null: bool = flag_option("--null", "End each path with a NUL, as xargs -0 wants it; names stay as they are.")
    related: str | None = text_option(
        "--related",
        "Nodes about the same as this one, not yet linked with it.",
        metavar="ID",
        values="titles",
    )
    budget: int | None = count_option("--budget", "At most so many characters of PATH:LINE: TEXT.")
    semantic: bool = flag_option("--semantic", "Find and order by a sentence model, too (the extra [semantic]).")
    as_of: str | None = text_option(
        "--as-of",
        "As the notes stood at the end of that day or at that minute, and what replaced them since.",
        metavar="D",
    )
    trace: bool = flag_option(
        "--trace", "The best 50 candidates instead, each with its signals and why it isn't shown."
    )
    kb: AnyKbOption = None

    @property
    def text(self) -> str:
        """The words as one text."""
        return self.words if isinstance(self.words, str) else " ".join(self.words)


class NoteFinder(Protocol):
    """A finder that ranks passages for a query."""

    def find_passages(self, query: Query, *, limit: int | None = None, near_best: bool = False) -> PassageHits:
        """Return the best passages, the best first; where `near_best`, without those far below the best."""


#: Tells of the words of a query, with their weights, and of the names and lines of each answer, whether it is sure.
EvidenceRater = Callable[[Sequence[str], TermWeights, Iterable[tuple[Sequence[str], str]]], Sequence[Evidence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedHit:
    """A candidate of a search with all that decided about it."""

    JSON = "id title path line score *signals bits share sure=is_sure dropped"
    id: str | None
    title: str
    path: Path
    line: int
    #: A share of the best.
    score: float
    #: None where it matches no word.
    signals: RankSignals | None
    #: Of evidence that it is about what was asked for, and the share of the question's evidence that it has; null
    #: where it holds what was asked for as it stands.
    bits: float | None
    share: float | None
    is_sure: bool
    #: Why it isn't shown; null where it is.
    dropped: OrNull


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits of a search, best first, and the files that could not be read."""

    JSON = "query hits skipped conflict_copies encrypted? as_of? trace?"
    query: str
    hits: tuple[Hit, ...]
    skipped: tuple[UnreadableFile, ...]
    #: Syncers' conflict copies that lie in the knowledge base and were not searched.
    conflict_copies: int
    #: Whether only the files were asked for.
    only_files: bool = False
    #: Whether the hits' texts are lines as they stand in the files.
    has_whole_lines: bool = False
    #: Whether each path is to end with a NUL, and to be printed byte by byte.
    ends_paths_with_nul: bool = False
    #: Whether words were asked for, and no hit is sure.
    nothing_sure: bool = False
    #: What of the query may be meant otherwise than it was taken.
    hints: tuple[str, ...] = ()
    #: How many weaker hits were left out unasked, at least.
    left_out: int = 0
    #: Without a hit, how many encrypted files there are, which no search reads; else None.
    encrypted: int | None = None
    #: What an answer about the past rests on, in a line; None where the present was asked for.
    as_of: str | None = None
    #: The candidates, the best first; None where nobody asked for them.
    trace: tuple[TracedHit, ...] | None = None


def search(
    finder: NoteFinder, notes: Notes, query: Query, request: SearchRequest, *, rate_evidence: EvidenceRater
) -> SearchResult:
    """Return the hits of `query`, which has the words and filters of `request`; where it asks for a pattern, of that.

    Raises:
        UsageError: an empty search, a filter with a value that it doesn't take, a bad pattern or a limit below 1.
        NoKnowledgeBase: there is nothing to search.
    """
    check_limit(request.limit)
    check_limit(request.budget, option="--budget")
    _require_no_slip(query)
    if request.regex:
        result = _search_pattern(notes, query, request)
    else:
        if not query.text.strip() and not _has_filter(query):
            raise UsageError("search for what?", hint="roamkb search WORDS, or a filter such as --tag T")
        result = _search_words(finder, notes, query, request, rate_evidence)
    # to count them takes a walk, which a search with hits is spared
    encrypted = None if result.hits else len(notes.kb_walk.encrypted)
    hits = result.hits if notes.label is None else tuple(replace(hit, kb=notes.label) for hit in result.hits)
    return replace(result, hits=fit_budget(hits, request.budget), encrypted=encrypted)


def _require_no_slip(query: Query) -> None:
    """Raise `UsageError` where a filter's value makes no sense: without the filter, other notes would be found."""
    for slip in query.slips:
        name, _, value = (clip_text(one_line(part), _LONGEST_QUOTED) for part in slip.partition(":"))
        raise UsageError(f"{name}: takes no {value}", hint=f"as a text it is '\"{name}:{value}\"'")


def _search_pattern(notes: Notes, query: Query, request: SearchRequest) -> SearchResult:
    pattern = request.text
    grep = search_grep.Grep(notes, pattern)
    hits = _matching_hits(grep.find_matches(), notes.kb, query, every_line=request.lines)
    return SearchResult(
        query=pattern,
        hits=_shown_hits(hits, request, request.limit),
        skipped=tuple(grep.skipped),
        conflict_copies=len(notes.kb_walk.conflict_copies) + len(grep.copies),
        only_files=request.files,
        has_whole_lines=True,
        ends_paths_with_nul=request.null,
    )


def _search_words(
    finder: NoteFinder, notes: Notes, query: Query, request: SearchRequest, rate_evidence: EvidenceRater
) -> SearchResult:
    is_grep = request.lines or request.files
    near_best = not (request.limit or request.all or is_grep or query.is_empty)
    # a bare --lines or --files is grep's: all of them
    most = None if request.all or is_grep else MOST_HITS if near_best else DEFAULT_LIMIT
    limit = request.limit or most
    answers = finder.find_passages(query, limit=None if is_grep else limit, near_best=near_best)
    sure = [evidence.is_sure for evidence in rate_answers(query, answers, rate_evidence)]
    rated = list(zip(answers.answers, sure, strict=True))
    if is_grep and not query.is_empty:
        # what shares letters with a word, or a link with an answer, holds nothing that grep would print
        rated = [(answer, is_sure) for answer, is_sure in rated if not _PRINTED.isdisjoint(answer.why)]
    hits = _ranked_hits(rated, notes.kb, every_line=request.lines)
    # of what was limited or asked for whole, only who finds nothing wants to know
    unknown = answers.unknown if near_best or sure or is_grep else finder.find_passages(query, near_best=True).unknown
    trace = tuple(_trace_candidates(finder, notes, query, answers, rate_evidence)) if request.trace else None
    return SearchResult(
        query=query.text,
        hits=_shown_hits(hits, request, limit),
        skipped=answers.skipped,
        conflict_copies=answers.conflict_copies,
        only_files=request.files,
        has_whole_lines=request.lines,
        ends_paths_with_nul=request.null,
        nothing_sure=bool(sure) and not any(sure),
        left_out=answers.left_out if near_best else 0,
        trace=trace,
        hints=(*query.hints, *map(_near_hint, unknown), *_reading_hints(answers.read_without_index)),
    )


def _reading_hints(read_without_index: int) -> Iterator[str]:
    if read_without_index >= _MANY_READ:
        yield f"no index could be used, so that {read_without_index} notes were read; `roamkb doctor` says why"


def _near_hint(unknown: UnknownWord) -> str:
    return f"no note has “{clip_text(one_line(unknown.word), _LONGEST_QUOTED)}”; near it: {', '.join(unknown.near)}"


def _trace_candidates(
    finder: NoteFinder, notes: Notes, query: Query, shown: PassageHits, rate_evidence: EvidenceRater
) -> Iterator[TracedHit]:
    """Yield the best candidates of a search, with those that `shown` hasn't got."""
    candidates = finder.find_passages(query, limit=_MOST_TRACED)
    near = finder.find_passages(query, limit=_MOST_TRACED, near_best=True)
    shown_places, near_places = (
        {(answer.file, answer.line) for answer in answers.answers} for answers in (shown, near)
    )
    rated = rate_answers(query, candidates, rate_evidence)
    for answer, evidence in zip(candidates.answers, rated, strict=True):
        place = answer.file, answer.line
        dropped = "" if place in shown_places else _OVER_LIMIT if place in near_places else _FAR_BELOW
        yield TracedHit(
            id=answer.id,
            title=answer.title,
            path=notes.kb / answer.file,
            line=answer.line,
            score=answer.score,
            signals=answer.signals,
            bits=evidence.bits,
            share=evidence.share,
            is_sure=evidence.is_sure,
            dropped=dropped,
        )


def _shown_hits(hits: Iterable[Hit], request: SearchRequest, limit: int | None) -> tuple[Hit, ...]:
    """Return the first hits, one of each file where only files are asked for."""
    return tuple(_first_of_each_file(hits) if request.files else hits)[:limit]


def check_limit(limit: int | None, *, option: str = "--limit") -> None:
    """Raise `UsageError` for a limit below 1."""
    if limit is not None and limit < 1:
        raise UsageError(f"{option} {limit} shows nothing", hint="give 1 or more")


def _has_filter(query: Query) -> bool:
    return bool(
        query.tags
        or query.without_tags
        or query.ids
        or query.refs
        or query.cited
        or query.since
        or query.before
        or query.by_agent is not None
    )


def rate_answers(query: Query, answers: PassageHits, rate_evidence: EvidenceRater) -> Sequence[Evidence]:
    """Return for each answer whether it is sure.

    What holds a phrase or the only word is just what was asked for, unless it has only a part of that word. So is
    what has all words, a name of it among them: `Operating Systems` are common words, and a note of that title is
    about them. What lacks a number, or a sign that belongs to a word, isn't it: `C#`, `DDR5`, `Emacs 30`.
    """
    exact = tuple(_exact_pieces(query))
    return [
        evidence._replace(is_sure=evidence.is_sure and _has_pieces(answer, exact)) if exact else evidence
        for answer, evidence in zip(answers.answers, _rate_words(query, answers, rate_evidence), strict=True)
    ]


def _exact_pieces(query: Query) -> Iterator[str]:
    """Yield what of a query means itself alone, folded: pieces with a digit, or a sign that no sentence has there."""
    words = frozenset(query.words)
    for piece in query.text.split():
        bare = piece.strip(_PUNCTUATION).rstrip(".")
        if _EXACT.search(bare) and words.issuperset(split_words(bare)):
            yield fold_text(bare)


def _has_pieces(answer: PassageHit, pieces: Iterable[str]) -> bool:
    text = fold_text("\n".join((*answer.names, *answer.tags, *(line for _, line in answer.lines))))
    return all(stands_apart(piece, text) for piece in pieces)


def _rate_words(query: Query, answers: PassageHits, rate_evidence: EvidenceRater) -> Sequence[Evidence]:
    """Return the evidence of each answer by its words."""
    if query.phrases or (len(query.words) < 2 and not any(map(identifier_parts, query.words))):
        return [Evidence(None, None, query.is_empty or _holds_it(answer, query)) for answer in answers.answers]
    rated = rate_evidence(
        query.words,
        answers.weights,
        ((answer.names, _visible_text(answer)) for answer in answers.answers),
    )
    return [
        evidence._replace(is_sure=evidence.is_sure or _is_named(answer))
        for answer, evidence in zip(answers.answers, rated, strict=True)
    ]


def _holds_it(answer: PassageHit, query: Query) -> bool:
    """Return whether an answer holds the phrases or the one word, and not only another word of the same stem."""
    if query.phrases or not query.is_plain_word:
        return not _HELD.isdisjoint(answer.why)
    is_other = answer.signals and not answer.signals.all_words
    return not is_other and not _HELD.isdisjoint(answer.why) and _shows_word(answer, query.words[0])


def _shows_word(answer: PassageHit, word: str) -> bool:
    """Return whether a reader sees the word that an answer holds: an address behind a link says nothing."""
    visible_lines = (excerpt_of(line) for _, line in answer.lines)
    texts = chain(answer.names, answer.tags, visible_lines)
    return any(holds_form(text, word) for text in texts)


def _visible_text(answer: PassageHit) -> str:
    """Return what a reader sees of the best lines of an answer; a sentence that goes on in the next line is one."""
    text, last_number = "", -1
    for number, line in sorted(answer.lines[:BEST_LINES]):
        goes_on = number == last_number + 1 and line[:1].isalnum()
        text += f"{' ' if goes_on else chr(10)}{excerpt_of(line)[:_LONGEST_RATED]}"
        last_number = number
    return text


def _is_named(answer: PassageHit) -> bool:
    return answer.signals is not None and answer.signals.called and answer.signals.all_words


def _ranked_hits(answers: Iterable[tuple[PassageHit, bool]], kb: Path, *, every_line: bool) -> Iterator[Hit]:
    for answer, is_sure in answers:
        lines = sorted(answer.lines) if every_line else list(islice(_excerpts(answer), 1))
        for number, text in lines or ((answer.line, _name_shown(answer)),):
            hit = hit_of(answer, kb, number, text, is_sure=is_sure)
            yield replace(hit, text=_remove_breaks(text).rstrip("\r")) if every_line else hit


def _name_shown(answer: PassageHit) -> str:
    """Return what tells of an answer without lines why it is one."""
    return f"{answer.full_title} (linked as {answer.link_text})" if answer.link_text else answer.full_title


def _excerpts(answer: PassageHit) -> Iterator[tuple[int, str]]:
    """Yield the best lines of an answer as a reader sees them; a line of bare markup isn't one."""
    for number, line in answer.lines:
        if text := excerpt_of(line):
            yield number, _remove_breaks(text)


def hit_of(answer: PassageHit, kb: Path, number: int, text: str, *, is_sure: bool = False) -> Hit:
    """Return one line of an answer as a hit."""
    return Hit(
        id=answer.id,
        title=answer.title,
        outline=answer.outline or None,
        path=kb / answer.file,
        line=number,
        tags=answer.tags,
        score=answer.score,
        text=_remove_breaks(text).strip(),
        why=answer.why,
        sure=is_sure,
        date=answer.date,
        lines=tuple(islice(_excerpts(answer), BEST_LINES)),
        project=answer.project or None,
        replaced_by=answer.replaced_by,
    )


def _remove_breaks(line: str) -> str:
    """Return a line without the breaks that keep org from acting on it, since a reader may copy it."""
    return line.replace(syntax_table.BREAK, "")


def _matching_hits(
    matches: "Iterable[search_grep.MatchedNote]", kb: Path, query: Query, *, every_line: bool
) -> Iterator[Hit]:
    for match in matches:
        pieces = tuple(passages.split_passages(match.note))
        seen_passages: set[int] = set()
        for number, text in match.lines:
            passage = passages.passage_at(pieces, number)
            if not filters.passes_filters(passage, query) or (not every_line and id(passage) in seen_passages):
                continue
            seen_passages.add(id(passage))
            yield Hit(
                id=passage.node.id if passage.node else None,
                title=passage.title,
                path=kb / passage.note.file,
                line=number,
                tags=passage.tags,
                score=1.0,
                text=text.rstrip("\r"),
                why=("match",),
                sure=True,
                project=filters.project_of_passage(passage) or None,
            )


def _first_of_each_file(hits: Iterable[Hit]) -> Iterator[Hit]:
    seen_paths: set[Path] = set()
    for hit in hits:
        if hit.path not in seen_paths:
            seen_paths.add(hit.path)
            yield hit


def fit_budget(hits: Iterable[Hit], budget: int | None) -> tuple[Hit, ...]:
    """Return the first hits whose lines, `PATH:LINE: TEXT`, fit in `budget` characters together.

    The last one's text is cut where that makes it fit.

    Raises:
        UsageError: there are hits, and not even the first one's place fits.
    """
    if budget is None:
        return tuple(hits)
    fitted_hits: list[Hit] = []
    for hit in hits:
        place_length = len(f"{hit.path}:{hit.line}: {hit.replaced_mark}\n")
        if not fitted_hits and budget <= place_length:
            raise UsageError(f"--budget {budget} is less than one hit takes", hint=f"give {place_length + 80} or more")
        budget -= place_length
        if budget <= 0:
            break
        fitted_hits.append(replace(hit, text=clip_text(hit.text, budget), lines=()))
        budget -= len(fitted_hits[-1].text)
    return tuple(fitted_hits)
