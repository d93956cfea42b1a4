"""The promises of the ranking, on texts of equal length."""

from collections import Counter
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.query import parse_query
from roamkb.core.ranking import Collection
from roamkb.core.ranking import Found
from roamkb.core.ranking import ranked

QUERY = parse_query("zebra stripe", today=date(2026, 6, 10))
COLLECTION = Collection(size=100, holding=Counter({"zebra": 5, "stripe": 50}), mean_length=50.0)


def found(*, title: str = "", alias: str = "", tags: str = "", text: str = "", date: str = "") -> Found:
    """A thing in whose fields these terms were found."""
    return Found(
        in_title=frozenset(title.split()),
        in_alias=frozenset(alias.split()),
        in_tags=frozenset(tags.split()),
        in_text=Counter(text.split()),
        length=50.0,
        date=date,
    )


def best(*things: Found) -> Found:
    """The one that comes first, whatever order they come in."""
    (first, _), *_ = ranked(things, QUERY, COLLECTION)
    (last, _), *_ = ranked(reversed(things), QUERY, COLLECTION)
    assert first is last
    return first


def test_all_terms_beat_some_terms() -> None:
    """One hit of each beats a title full of one."""
    both, one = found(text="zebra stripe"), found(title="zebra", text="zebra " * 9)
    assert both is best(one, both)


def test_title_beats_tags_and_text() -> None:
    """A title hit beats tags and any number of hits in the text."""
    title, rest = found(title="zebra"), found(tags="zebra", text="zebra " * 200)
    assert title is best(rest, title)


def test_an_alias_is_a_title() -> None:
    """Another name of a node is worth its name."""
    alias, text = found(alias="zebra"), found(text="zebra " * 200)
    assert alias is best(text, alias)


def test_tags_beat_text() -> None:
    """A tag beats any number of hits in the text."""
    tag, text = found(tags="zebra"), found(text="zebra " * 200)
    assert tag is best(text, tag)


def test_more_hits_beat_fewer() -> None:
    """Two hits beat one."""
    two, one = found(text="zebra zebra"), found(text="zebra")
    assert two is best(one, two)


def test_a_rare_word_beats_a_common_one() -> None:
    """What few notes hold tells more."""
    rare, common = found(text="zebra"), found(text="stripe")
    assert rare is best(common, rare)


def test_a_better_match_beats_a_newer_note() -> None:
    """The date never outweighs a hit."""
    better, newer = found(text="zebra zebra", date="2001-01-01"), found(text="zebra", date="2026-01-01")
    assert better is best(newer, better)


def test_the_date_breaks_ties() -> None:
    """Of two equal matches the newer comes first; one without a date last."""
    new, old, undated = (
        found(text="zebra", date="2026"),
        found(text="zebra", date="2001"),
        found(text="zebra"),
    )
    order = [thing for thing, _ in ranked([undated, old, new], QUERY, COLLECTION)]
    assert [new, old, undated] == order


@given(st.integers(1, 300), st.integers(1, 300))
def test_hits_never_count_less_for_being_more(few: int, many: int) -> None:
    """The score grows with the hits."""
    few, many = sorted((few, many))
    (_, high), (_, low) = ranked([found(text="zebra " * few), found(text="zebra " * many)], QUERY, COLLECTION)
    assert high >= low
