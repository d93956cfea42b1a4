"""Lines of the log, read from anything and written so that everything comes back."""

import json
import math

import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.model import ProjectKind
from roamkb.core.timestamps import format_iso
from roamkb.core.timestamps import parse_timestamp
from roamkb.log.jsonl import LONGEST_LINE
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from tests.examples import examples


def joined(text: str) -> str:
    """Return `text` with its surrogate pairs as the characters that they are, lone ones as they stand."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


#: Every code point, halves of characters among them.
ANYTHING = st.text(st.characters(), max_size=30).map(joined)
SAYABLE = ANYTHING.filter(str.strip)
WORD = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(lambda word: word.strip() == word)
#: What an index can take for a name.
ID = WORD.filter(lambda word: "\0" not in word)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANYTHING,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANYTHING, inner, max_size=3),
    max_leaves=8,
)
LEARNINGS = st.builds(
    Learning,
    id=ID,
    key=WORD,
    type=WORD,
    content=SAYABLE,
    source=ANYTHING,
    tags=st.lists(WORD, unique=True, max_size=4).map(tuple),
    ts=st.integers(0, 10**10) | st.floats(0, 1e10),
    agent=ANYTHING,
    session=ANYTHING,
    task=ANYTHING,
    category=ANYTHING,
    files=st.lists(WORD, unique=True, max_size=2).map(tuple),
    provenance=ANYTHING,
    origin=ANYTHING,
    kind=st.none() | st.sampled_from(ProjectKind),
    confidence=st.none() | st.integers(0, 100),
    extra=st.dictionaries(ANYTHING.map("x".__add__), JSON, max_size=3),
)


def learnings(*lines: bytes) -> list[Learning]:
    """What the lines say."""
    return [found.learning for found in read_learnings(lines) if isinstance(found, LearningLine)]


def faults(*lines: bytes) -> list[BadLine]:
    """What the lines don't say."""
    return [found for found in read_learnings(lines) if isinstance(found, BadLine)]


@given(learning=LEARNINGS)
@example(learning=Learning(id="i", key="k", type="t", content="\ud800 \0 \u2028 \r\n \x85 \ufeff", confidence=1))
def test_a_learning_comes_back_as_it_was_written(learning: Learning) -> None:
    """All of it, for every text; the line is one line and UTF-8."""
    line = learning_line(learning)
    assert b"\n" not in line
    line.decode()
    assert [learning] == learnings(line)


@given(
    event=st.builds(
        LedgerEvent,
        id=ID,
        ts=st.integers(0, 10**12).map(lambda ms: ms / 1000),
        event=WORD,
        of=ANYTHING,
        by=ANYTHING,
        agent=ANYTHING,
        session=ANYTHING,
        task=ANYTHING,
        machine=ANYTHING,
        fields=st.dictionaries(ANYTHING.map("x".__add__), JSON, max_size=3),
    )
)
def test_an_event_comes_back_as_it_was_written(event: LedgerEvent) -> None:
    """All of it, to the millisecond."""
    line = event_line(event)
    assert b"\n" not in line
    assert [event] == list(read_events([line]))


def test_a_line_that_nobody_wrote_keeps_nobody_waiting() -> None:
    """It is told with its number, and the others are read."""
    (said,) = learnings(b'{"content":"a"}', b'{"content":"' + b"x" * LONGEST_LINE + b'"}')
    assert "a" == said.content
    (bad,) = faults(b"{}", b" " * (LONGEST_LINE + 1))[1:]
    assert (2, "it has more than 16,777,216 bytes") == (bad.line, bad.reason)
    (long,) = learnings(b'{"content":"' + b"x" * (LONGEST_LINE - 14) + b'"}')
    assert LONGEST_LINE - 14 == len(long.content)


#: What stands between good lines in a torn world.
DEBRIS = st.sampled_from(
    [
        b"",
        b"\xef\xbb\xbf",
        b"<<<<<<< HEAD",
        b"=======",
        b">>>>>>> their branch",
        b"||||||| base",
        b'{"key":"a","content":"to',
        b'{"key":"a","content":"\\',
        b'{"key":"a","x":{"y":1},"tags":[',
        b'"{\\"content',
        b"null",
        b"[1]",
        b"17",
        b'{"content":"   "}',
        b'{"content":7}',
        b"\xff\xfe\x00",
        b"[" * 5000,
        b'{"content":' + b"9" * 5000 + b"}",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n\xef\xbb\xbf"])


@given(pieces=st.lists(st.tuples(st.none() | SAYABLE, DEBRIS, ENDS), max_size=8))
def test_no_valid_line_is_lost_among_debris(pieces: list[tuple[str | None, bytes, bytes]]) -> None:
    """Torn tails, conflict markers, byte order marks and junk cost nothing but themselves."""
    data, said = b"", []
    for content, debris, end in pieces:
        if content is None:
            data += debris + end
        else:
            said.append(content)
            data += learning_line(Learning(id="i", key="k", type="t", content=content)) + end
    assert said == [learning.content for learning in learnings(*data.split(b"\n"))]


@given(
    contents=st.lists(SAYABLE, min_size=1, max_size=90),
    torn=DEBRIS.filter(lambda debris: debris[:2] != b'"{'),
)
@example(contents=[str(n) for n in range(200)], torn=b"")
@settings(max_examples=examples(60))
def test_glued_lines_are_told_apart(contents: list[str], torn: bytes) -> None:
    """A log without newlines says as much as one with them, a torn line before it or not."""
    lines = [learning_line(Learning(id="i", key="k", type="t", content=one)) for one in contents]
    assert contents == [one.content for one in learnings(torn + b"".join(lines))]


def test_what_is_within_a_line_costs_the_next_one_nothing() -> None:
    """Of many nested objects none is taken for a learning, and what is glued to them is found."""
    many = b'{"content":"x","z":[' + b",".join([b'{"a":1}'] * 500) + b"]}"
    assert ["x", "y"] == [one.content for one in learnings(many + b'{"content":"y"}')]


@given(data=st.binary(max_size=200) | st.lists(DEBRIS | st.binary(max_size=9), max_size=9).map(b"".join))
def test_any_bytes_are_read(data: bytes) -> None:
    """Without an exception, and what was found can be folded and written again."""
    lines = data.split(b"\n")
    found = learnings(*lines)
    events = [event for event in read_events(lines) if isinstance(event, LedgerEvent)]
    replay(found + found, events + events)
    assert found == [again for one in found for again in learnings(learning_line(one))]
    for event in events:
        event_line(event)


VALUES = st.sampled_from(
    [
        *'NaN Infinity -Infinity 1e999 -1 0 true null [] {} "" "\\ud800" ["\\udc00"] [[[]]] 0.5 "soon"'.split(),
        "9" * 400,
        "-" + "9" * 400,
        "9" * 5000,
        "[" * 900 + "]" * 900,
        '{"a":' * 400 + "1" + "}" * 400,
    ]
)
NAMES = st.sampled_from(
    "key type source tags ts bead id agent session task category files actions provenance origin kind confidence "
    "v status supersedes merged_from scope other".split()
)


@given(told=st.dictionaries(NAMES, VALUES, max_size=6))
def test_a_strange_value_costs_no_learning(told: dict[str, str]) -> None:
    """Whatever a key holds, what was said is found, can be folded, shown and written."""
    line = "{" + "".join(f'"{key}":{value},' for key, value in told.items()) + '"content":"x"}'
    (found,) = learnings(line.encode())
    assert "x" == found.content
    # an index takes no half characters for a name
    found.id.encode()
    assert math.isfinite(found.ts)
    assert found.confidence is None or 0 <= found.confidence <= 100
    replay([found, found], [])
    json.loads(learning_line(found), parse_constant=pytest.fail)


def test_a_deeply_nested_value_is_left_out() -> None:
    """Nobody could write it again; the rest of the line counts."""
    (found,) = learnings(b'{"content":"x","deep":' + b"[" * 300 + b"]" * 300 + b',"other":[[1]]}')
    assert {"other": [[1]]} == found.extra


def test_other_tools_lines_are_read_with_what_we_do_not_know() -> None:
    """Lavra's, Oro's, and one that went through `jq @json`."""
    lavra = b'{"key":"fact-a","type":"fact","content":"A","source":"user","tags":["fact","fact","b"],"ts":1781101780,"bead":"bd-1\\nbd close bd-1"}'
    oro = b'{"key":"learned-b","type":"learned","content":"B","bead":"x","tags":[],"ts":"2026-02-08T10:00:00+00:00","mood":"good"}'
    wrapped = json.dumps(json.dumps({"content": "C", "ts": 1.5})).encode()
    one, two, three = learnings(lavra, oro, wrapped)
    assert (("fact", "b"), 1781101780, "bd-1") == (one.tags, one.ts, one.bead)
    assert (1770544800.0, {"mood": "good"}, "") == (two.ts, two.extra, two.source)
    assert ("C", 1.5, content_identity("learned", "C")) == (three.content, three.ts, three.id)
    assert b'"mood":"good"' in learning_line(two)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"<<<<<<< HEAD", "it is a merge's conflict marker"),
        (b"=======", "it is a merge's conflict marker"),
        (b"{", "it isn't JSON"),
        (b"[1]", "it isn't a JSON object"),
        (b'{"content":" "}', "it has no content"),
        (b'{"content":"x"}{"content":"y', "a part of it is torn; the rest was read"),
    ],
)
def test_a_bad_line_is_told_with_its_number(line: bytes, reason: str) -> None:
    """And with what is wrong with it."""
    assert [BadLine(line=2, reason=reason)] == faults(b"", line)


def test_an_event_without_id_or_name_is_none() -> None:
    """It couldn't be told from its copies."""
    assert [BadLine(line=1, reason="it is no event")] == list(read_events([b'{"event":"repeated"}']))


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (0, 0),
        (1781101780, 1781101780),
        (1781101780.25, 1781101780.25),
        (1781101780123, 1781101780.123),
        ("1781101780", 1781101780),
        (" 1781101780.5 ", 1781101780.5),
        ("2026-06-10T14:29:40Z", 1781101780),
        ("2026-06-10T14:29:40", 1781101780),
        ("2026-06-10T16:29:40+02:00", 1781101780),
        ("2026-06-10", 1781049600),
        ("yesterday", 0),
        (None, 0),
        (True, 0),
        (-1, 0),
        (10**400, 0),
        (float("nan"), 0),
        ("9" * 400, 0),
    ],
)
def test_a_time_of_any_form_is_seconds(value: object, at: float) -> None:
    """UTC where nothing else is said, 0 where it makes no sense."""
    assert at == parse_timestamp(value)


@pytest.mark.parametrize(
    ("said", "hundredths"),
    [
        ("0.7", 70),
        ("1", 100),
        ("1.0", 100),
        ("0", 0),
        ("70", 70),
        ("100", 100),
        ("250", 100),
        ("-1", 0),
        ('"0.7"', None),
        ("true", None),
        ("NaN", None),
        ("1" + "0" * 400, 100),
    ],
)
def test_a_foreign_confidence_is_a_fraction_up_to_one(said: str, hundredths: int | None) -> None:
    """Above one it is in hundredths already."""
    (found,) = learnings(b'{"content":"x","confidence":%s}' % said.encode())
    assert hundredths == found.confidence


def test_our_own_confidence_of_one_hundredth_stays_that() -> None:
    """A human may trust something as little."""
    (found,) = learnings(b'{"content":"x","confidence":1,"v":1}')
    assert 1 == found.confidence


@pytest.mark.parametrize(
    ("ts", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1781101780.5, "2026-06-10T14:29:40.500Z"),
        (1e300, "1970-01-01T00:00:00.000Z"),
    ],
)
def test_a_time_is_shown_in_utc(ts: float, text: str) -> None:
    """To the millisecond; what is no time is the first one."""
    assert text == format_iso(ts)


def test_a_line_of_a_megabyte_is_a_line() -> None:
    """Said in full, torn, or glued to the next; what stands beside it is found."""
    long = learning_line(Learning(id="i", key="k", type="t", content='{"' * 500_000))
    short = b'{"content":"x"}'
    assert [1_000_000, 1] == [len(one.content) for one in learnings(long, short)]
    assert [1] == [len(one.content) for one in learnings(long[:-9], short)]
    assert [1] == [len(one.content) for one in learnings(b"[" * 1_000_000, b"{" * 1_000_000, short)]
    assert [1_000_000, 1] == [len(one.content) for one in learnings(long + short)]
