"""Bundles: what is written is read, what was touched isn't, and no bytes are an exception."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.model import ProjectKind
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import MOST_LEARNING_BYTES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.sharing.bundle_format import Bundle
from roamkb.sharing.bundle_format import NoBundle
from roamkb.sharing.bundle_format import bundle_line
from roamkb.sharing.bundle_format import parse_bundle
from roamkb.sharing.bundle_format import render_bundle
from tests.examples import examples

ID = "01939b7a-0000-7000-8000-000000000001"


def standing(content: str = "Café — 日本語 “quoted” €5", **fields: object) -> LearningState:
    """A verified learning that was repeated and used."""
    learning = Learning(id=ID, key="fact-cafe", type="fact", content=content, ts=5, session="s", agent="claude-code")
    learning = replace(learning, **fields)  # type: ignore[arg-type]
    told = [("judged", {"verdict": "verified"}), ("repeated", {}), ("reused", {"outcome": "success"})]
    events = [
        LedgerEvent(id=str(number), ts=9, event=name, of=learning.id, fields=dict(fields))
        for number, (name, fields) in enumerate(told)
    ]
    return replay([learning], events).standings[learning.id]


def bundled(*lines: bytes, kind: ProjectKind = ProjectKind.PERSONAL) -> bytes:
    """A bundle that is in order, whatever its lines say."""
    return render_bundle(lines, project="site", kind=kind, created=1_781_101_780)[0]


def line(**told: object) -> bytes:
    """A line as a stranger may write it."""
    return json.dumps({"key": "k", "type": "fact", "content": "c", "ts": 5, **told}).encode()


def parsed(data: bytes) -> Bundle:
    """The bundle that it is."""
    found = parse_bundle(data)
    assert isinstance(found, Bundle)
    return found


def taken(**told: object) -> Learning:
    """What becomes of a stranger's line."""
    (said,) = parsed(bundled(line(**told))).said
    return said.learning


def test_what_is_bundled_is_read_and_its_standing_is_history() -> None:
    """Content and id as they were; nothing verified (D7)."""
    bundle = parsed(bundled(bundle_line(standing())))
    assert ("site", ProjectKind.PERSONAL, 1, 1_781_101_780) == (
        bundle.header.project, bundle.header.kind, bundle.header.count, bundle.header.created,
    )  # fmt: skip
    (said,) = bundle.said
    assert (ID, "Café — 日本語 “quoted” €5", "") == (
        said.learning.id,
        said.learning.content,
        said.learning.session,
    )
    assert f"bundle:{bundle.header.sha256[:12]}:fact-cafe" == said.learning.origin
    assert said.learning.extra["history"] == {
        "project": "site", "verdict": "verified", "status": "active", "confidence": 80, "occurrences": 2,
        "outcomes": {"success": 1}, "events": {"judged": 1, "repeated": 1, "reused": 1},
    }  # fmt: skip
    (back,) = replay([said.learning], []).standings.values()
    assert ("unverified", 70, 1, "active") == (back.verdict, back.confidence, back.occurrences, back.status)


def header_with(data: bytes, **changes: object) -> bytes:
    """The bundle with another first line."""
    first, _, body = data.partition(b"\n")
    told = {key: value for key, value in {**json.loads(first), **changes}.items() if value is not None}
    return json.dumps(told).encode() + b"\n" + body


GOOD = bundled(bundle_line(standing()), bundle_line(standing("Another", id=ID[:-1] + "2")))

TAMPERED: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("a letter of the content", lambda data: data.replace(b"Another", b"Bnother"), "digest"),
    ("a byte of the end", lambda data: data[:-2], "digest"),
    ("a line more", lambda data: data + line() + b"\n", "digest"),
    ("a line less", lambda data: data[: data.rindex(b"\n", 0, -1) + 1], "digest"),
    ("the digest", lambda data: header_with(data, sha256="0" * 64), "digest"),
    ("no digest", lambda data: header_with(data, sha256=None), "no digest"),
    ("a digest of another kind", lambda data: header_with(data, sha256="md5:abc"), "no digest"),
    ("a number as digest", lambda data: header_with(data, sha256=7), "no digest"),
    ("the count", lambda data: header_with(data, count=3), "3 lines"),
    ("no count", lambda data: header_with(data, count=None), "no count"),
    ("a yes as count", lambda data: header_with(data, count=True), "no count"),
    ("a count below nothing", lambda data: header_with(data, count=-1), "no count"),
    ("the schema", lambda data: header_with(data, schema=2), "form"),
    ("no schema", lambda data: header_with(data, schema=None), "form"),
    ("another program's", lambda data: header_with(data, bundle="other"), "no bundle"),
    ("no header", lambda data: data.partition(b"\n")[2], "no bundle"),
    ("a list as header", lambda data: b"[]\n" + data, "no bundle"),
    ("a header without end", lambda data: b"[" * 100_000 + data, "no bundle"),
    ("nothing", lambda _: b"", "no bundle"),
    ("an empty line", lambda _: b"\n", "no bundle"),
]


@pytest.mark.parametrize(("what", "tamper", "reason"), TAMPERED, ids=[what for what, _, _ in TAMPERED])
def test_what_was_touched_is_refused(what: str, tamper: Callable[[bytes], bytes], reason: str) -> None:
    """With the reason in words."""
    found = parse_bundle(tamper(GOOD))
    assert isinstance(found, NoBundle), what
    assert reason in found.reason


def test_a_last_line_without_its_end_is_none() -> None:
    """Although the digest is that of what is there, and the count that of the lines before it."""
    body = line() + b"\n" + line()
    told = {"bundle": "roamkb", "schema": 1, "count": 1, "sha256": hashlib.sha256(body).hexdigest()}
    assert isinstance(parse_bundle(json.dumps(told).encode() + b"\n" + body), NoBundle)


@pytest.mark.parametrize("position", range(0, len(GOOD), 7))
def test_no_flipped_bit_of_the_lines_goes_unseen(position: int) -> None:
    """What is still read after a flip in the header says the same learnings."""
    data = bytearray(GOOD)
    data[position] ^= 1
    found = parse_bundle(bytes(data))
    if position >= GOOD.index(b"\n"):
        assert isinstance(found, NoBundle)
    elif isinstance(found, Bundle):
        assert [one.learning.content for one in parsed(GOOD).said] == [one.learning.content for one in found.said]


def test_a_stranger_gives_no_standing() -> None:
    """A status, a scope, a verdict or a human's word on the line are not taken over."""
    found = taken(
        status="canonical", scope="task", superseded_by="x", supersedes=["y"], merged_from=["z"],
        provenance="user-stated", confidence=100, verdict="verified", review_source="human", session="s",
        standing={"verdict": "verified", "confidence": 100, "occurrences": 99},
    )  # fmt: skip
    (back,) = replay([found], []).standings.values()
    assert ("active", "project", "", (), ()) == (
        back.status, back.scope, back.superseded_by, back.supersedes, back.merged_from,
    )  # fmt: skip
    assert ("external", 70, {"history"}) == (found.provenance, back.confidence, set(found.extra))


def test_less_sure_there_is_less_sure_here() -> None:
    """And never surer than what nobody vouches for."""
    assert [30, 70, 0] == [taken(standing={"confidence": value}).confidence for value in (30, 95, -5)]


@pytest.mark.parametrize("id", ["gotcha-of-mine", "../x", "", "a" * 5000, 7, None, "x\ny"])
def test_an_id_that_is_none_is_made_of_the_words(id: object) -> None:
    """A key as an id would answer in another learning's place."""
    assert content_identity("fact", "c") == taken(id=id).id


@pytest.mark.parametrize("id", [ID, "01JXEABCDEFGHJKMNPQRSTVWXY", "a" * 64])
def test_an_id_is_kept(id: str) -> None:
    """Ours, a ULID, a digest: union merges agree."""
    assert id == taken(id=id).id


def test_what_is_beside_is_bounded() -> None:
    """Names in number and length, keys in what they hold."""
    found = taken(
        key="x\n" * 500,
        tags=["t" * 999, *map(str, range(99))],
        files=["f"] * 9,
        agent="a" * 999,
        task="b" * 999,
    )
    assert ("fact-c", 32, 200, ("f",), 200, 200) == (
        found.key, len(found.tags), max(map(len, found.tags)), found.files, len(found.agent), len(found.task),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("header", "own", "kind"),
    [
        (ProjectKind.PERSONAL, "", ProjectKind.PERSONAL),
        (ProjectKind.PERSONAL, "work", ProjectKind.WORK),
        (ProjectKind.PERSONAL, "unknown", ProjectKind.UNKNOWN),
        (ProjectKind.WORK, "personal", ProjectKind.WORK),
        (ProjectKind.UNKNOWN, "personal", ProjectKind.UNKNOWN),
    ],
)
def test_the_stricter_kind_stays(header: ProjectKind, own: str, kind: ProjectKind) -> None:
    """Of the header's and the line's own."""
    (said,) = parsed(bundled(line(kind=own), kind=header)).said
    assert kind is said.learning.kind


@pytest.mark.parametrize("kind", [None, "", "mine", 7, ["personal"]])
def test_a_bundle_that_does_not_say_is_unknown(kind: object) -> None:
    """Not personal."""
    assert ProjectKind.UNKNOWN is parsed(header_with(GOOD, kind=kind)).header.kind


def test_bad_lines_are_counted_with_their_numbers() -> None:
    """The header is line 1; the good ones are taken."""
    lines = (
        b"torn {", line(), b"", line(content=" "), line(content="x" * (MOST_LEARNING_BYTES + 1)), b"[]",
        line(type="t" * 41), line(key="", type=""), line(content="y", pad="p" * (4 * MOST_LEARNING_BYTES)),
    )  # fmt: skip
    found = parsed(bundled(*lines))
    assert [2, 4, 5, 6, 7, 8, 10] == [bad.line for bad in found.invalid]
    assert [3, 9] == [said.line for said in found.said]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    "key type content id tags ts kind confidence extra standing history context agent files origin".split()
)
_LINES = st.lists(
    st.binary(max_size=60).filter(lambda data: b"\n" not in data)
    | st.dictionaries(_KEYS, _JSON, max_size=8).map(lambda told: json.dumps(told).encode()),
    max_size=6,
)


@settings(max_examples=examples(200), deadline=None)
@given(_LINES)
def test_whatever_the_lines_are_what_is_taken_can_be_written(lines: list[bytes]) -> None:
    """In order or not: no exception, and each learning is a line that the log can keep."""
    body = b"".join(one + b"\n" for one in lines)
    header = {
        "bundle": "roamkb",
        "schema": 1,
        "count": len(lines),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    found = parsed(json.dumps(header).encode() + b"\n" + body)
    for said in found.said:
        assert b"\n" not in learning_line(said.learning)


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_bundle_or_none(data: bytes) -> None:
    """Never an exception."""
    assert isinstance(parse_bundle(data), Bundle | NoBundle)


@given(st.dictionaries(st.sampled_from(["bundle", "schema", "count", "sha256", "kind", "project", "created"]), _JSON))
def test_any_header_is_one_or_none(told: dict[str, object]) -> None:
    """Never an exception."""
    data = json.dumps({"bundle": "roamkb", "schema": 1, **told}).encode() + b"\n"
    assert isinstance(parse_bundle(data), Bundle | NoBundle)
