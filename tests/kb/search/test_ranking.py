"""The promises of the ranking, on things of equal length; the index's tests make them on notes."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roamkb.kb.search.ranking import RankedEntry
from roamkb.kb.search.ranking import drop_tail
from roamkb.kb.search.ranking import good_hit_keys
from roamkb.kb.search.ranking import lift_linked
from roamkb.kb.search.ranking import link_gains
from roamkb.kb.search.ranking import rank_by_spelling
from roamkb.kb.search.ranking import rank_entries
from roamkb.kb.search.ranking import term_weight

WEIGHTS = {"zebra": term_weight(5, 100), "stripe": term_weight(50, 100)}
ONE = {"zebra": term_weight(5, 100)}
#: What any number of hits of a word in a text stays under: its weight times k1 + 1.
MOST = 2.2 * WEIGHTS["zebra"]


def found(
    key: int, words: float, *, named: str = "", tagged: str = "", all: bool = False, date: str = ""
) -> RankedEntry:
    """A thing with so much to say in its words."""
    return RankedEntry(
        key=key,
        words=words,
        has_all=all,
        name_terms=frozenset(named.split()),
        tag_terms=frozenset(tagged.split()),
        date=date,
        place=("a.org", key),
    )


def order(*things: RankedEntry, weights: dict[str, float] = WEIGHTS) -> list[int]:
    """The keys, best first, whatever order they come in."""
    forwards = [thing.key for thing, _ in rank_entries(things, weights)]
    assert forwards == [thing.key for thing, _ in rank_entries(reversed(things), weights)]
    return forwards


def test_all_terms_beat_some_terms() -> None:
    """One hit of each beats any number of one."""
    assert [1, 2] == order(found(1, 0.1, all=True), found(2, 99.0, named="zebra"))


def test_what_is_far_below_the_best_is_dropped() -> None:
    """Unless it holds every word, or is called so: those come first whatever their scores."""
    called, complete, best, near, far = (found(1, 1), found(2, 1, all=True), found(3, 9), found(4, 4), found(5, 3))
    called = replace(called, is_called=True)
    scored = [(called, 0.1), (complete, 0.2), (best, 1.0), (near, 0.4), (far, 0.39)]
    assert [1, 2, 3, 4] == [entry.key for entry, _ in drop_tail(scored)]
    assert [] == drop_tail([])


def test_a_title_that_says_it_all_beats_tags_and_text() -> None:
    """One hit in the title beats a tag and any number of hits in the text."""
    assert [1, 2] == order(found(1, 0.1, named="zebra"), found(2, MOST, tagged="zebra"), weights=ONE)


def test_a_tag_that_says_it_all_beats_text() -> None:
    """One tag beats any number of hits in the text."""
    assert [1, 2] == order(found(1, 0.1, tagged="zebra"), found(2, MOST), weights=ONE)


def test_more_hits_beat_fewer() -> None:
    """What SQLite weighs more comes first."""
    assert [1, 2] == order(found(1, 2.0), found(2, 1.9))


def test_a_better_match_beats_a_newer_note() -> None:
    """The date never outweighs a hit."""
    assert [1, 2] == order(found(1, 2.0, date="2001-01-01"), found(2, 1.9, date="2026-01-01"))


def test_the_date_breaks_ties() -> None:
    """Of two equal matches the newer comes first, one without a date last, then places decide."""
    assert [2, 1, 3, 4] == order(found(1, 1.0, date="2001"), found(2, 1.0, date="2026"), found(3, 1.0), found(4, 1.0))


def test_sums_in_another_order_are_no_better_match() -> None:
    """The last bits of a sum decide nothing."""
    assert [2, 1] == order(found(1, 0.1 + 0.2, date="2001"), found(2, 0.3, date="2026"))


def test_one_word_of_a_sentence_in_a_title_is_worth_little() -> None:
    """A sentence describes; a title that shares a word with it hasn't said it."""
    sentence = {f"word{n}": 1.0 for n in range(8)}
    assert [2, 1] == order(found(1, 3.0, named="word1"), found(2, 3.1), weights=sentence)


def linked(*things: RankedEntry, links: dict[int, set[int]], weights: dict[str, float] = WEIGHTS) -> list[int]:
    """The keys, best first, where the good hits among the things have these links."""
    order = rank_entries(things, weights)
    kept = {key: links[key] for key in good_hit_keys(order) if key in links}
    return [thing.key for thing, _ in lift_linked(order, link_gains(order, kept), weights)]


def test_what_a_good_hit_links_to_comes_before_its_equals() -> None:
    """A link is worth a share of the score of the hit that it stands in."""
    best, other, there = found(1, 9.0), found(2, 4.1), found(3, 4.0)
    assert [1, 2, 3] == linked(best, other, there, links={})
    assert [1, 3, 2] == linked(best, other, there, links={1: {3}})
    assert [1, 2, 3] == linked(best, other, there, links={1: {3, *range(10, 900)}}), "a list of all notes"
    assert [1, 2, 3] == linked(best, other, there, links={3: {3}}), "a link to itself"


def test_a_sentence_means_more_than_its_words_where_a_model_read_it() -> None:
    """Beside the table of words, and alone where the table has no vector; for a word alone neither counts."""
    said_more = replace(found(1, 2.0), nearness=0.5)
    meant = replace(found(2, 1.0), nearness=0.5)
    assert [1, 2] == order(said_more, meant)
    assert [2, 1] == order(said_more, replace(meant, by_sentence=1.0))
    assert [1, 2] == order(replace(said_more, nearness=0.9), replace(meant, by_sentence=0.1, nearness=0.0))
    alone = replace(found(1, 2.0), by_sentence=0.2), replace(found(2, 1.0), by_sentence=1.0)
    assert [2, 1] == order(*alone)
    assert [1, 2] == order(*alone, weights=ONE)


def test_each_word_in_some_form_beats_one_word_over_and_over() -> None:
    """Of two that score alike, the one that speaks of both words comes first; a form of it will do."""
    order = rank_entries([found(1, 2.0), found(2, 1.9)], WEIGHTS)
    assert [1, 2] == [thing.key for thing, _ in order]
    spelled = {1: (1.0, 0.0), 2: (1.0, 0.8)}
    assert [2, 1] == [thing.key for thing, _ in rank_by_spelling(order, spelled, WEIGHTS)]
    assert [1, 2] == [thing.key for thing, _ in rank_by_spelling(order, {1: (1.0,), 2: (1.0,)}, WEIGHTS)]
    assert order == rank_by_spelling(order, {}, WEIGHTS)
    far = rank_entries([found(1, 2.0), found(2, 1.2)], WEIGHTS)
    assert [1, 2] == [thing.key for thing, _ in rank_by_spelling(far, spelled, WEIGHTS)]
    assert [2, 1] == [thing.key for thing, _ in rank_by_spelling(far, spelled, WEIGHTS, is_foreign=True)], "no stems"


@given(st.lists(st.tuples(st.floats(0, 9), st.booleans(), st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_no_spelling_breaks_a_promise(rows: list[tuple[float, bool, float, float]]) -> None:
    """All words beat some; one word is a name, and its spelling says nothing new."""
    things = [found(key, words, all=all) for key, (words, all, *_) in enumerate(rows)]
    spelled = {key: shares for key, (_, _, *shares) in enumerate(rows)}
    order = [thing.has_all for thing, _ in rank_by_spelling(rank_entries(things, WEIGHTS), spelled, WEIGHTS)]
    assert order == sorted(order, reverse=True)
    alone = rank_entries(things, ONE)
    assert alone == rank_by_spelling(alone, {key: shares[:1] for key, shares in spelled.items()}, ONE)


def test_links_break_no_promise() -> None:
    """All words beat some; a word alone is a name; what was replaced stays late."""
    whole, best = found(1, 1.0, all=True), found(2, 9.0)
    assert [1, 2] == linked(whole, best, links={1: {2}})
    named = found(1, 0.1, named="zebra")
    assert [1, 2] == linked(named, found(2, MOST, tagged="zebra"), links={1: {2}}, weights=ONE)
    old = RankedEntry(key=1, words=9.0, has_all=True, is_superseded=True)
    assert [2, 1] == linked(old, found(2, 4.6, all=True), links={2: {1}, 1: {2}})


@given(
    st.lists(st.floats(0, 9), min_size=2, max_size=9),
    st.dictionaries(st.integers(0, 8), st.sets(st.integers(0, 12))),
)
def test_no_link_moves_a_thing_over_one_that_says_more_of_the_query(
    words: list[float], links: dict[int, set[int]]
) -> None:
    """Whatever links to what, all words beat some words."""
    things = [found(key, value, all=key % 2 == 0) for key, value in enumerate(words)]
    order = linked(*things, links=links)
    assert sorted(order) == list(range(len(words)))
    assert [key % 2 for key in order] == sorted(key % 2 for key in order)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_a_rarer_word_weighs_more(few: int, more: int) -> None:
    """Weights fall with what holds the word, and are never negative."""
    assert term_weight(few, 1000) >= term_weight(few + more, 1000) > 0
