"""Redaction takes out what was forgotten, and leaves every other byte."""

import json

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.redaction import Redaction
from roamkb.log.redaction import redaction_of
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones
from tests.examples import examples

TEXT = "Caf\u00e9 \u201cLion\u201d is where\nthe keys of the vault are kept"
LEARNING = Learning(id="L1", key="fact-cafe-lion-is-where-the-keys", type="fact", content=TEXT)
LINE = learning_line(LEARNING)
EVENTS = [
    LedgerEvent(id="E1", ts=1, event="judged", of="L1", fields={"evidence": {"quote": "the vault's keys, you know"}})
]


@pytest.fixture(name="redaction")
def of_the_line() -> Redaction:
    """What takes the line out."""
    return redaction_of(Tombstones(ids=frozenset({"L1"})), [LEARNING], EVENTS)


@pytest.mark.parametrize(
    "text",
    [
        f"before {TEXT} after",
        TEXT.upper().replace("\n", "   "),
        json.dumps({"text": TEXT}),
        json.dumps({"text": TEXT}, ensure_ascii=False),
        LEARNING.key,
        "he said: the vault's keys, you know",
    ],
)
def test_a_text_is_known_in_any_form(redaction: Redaction, text: str) -> None:
    """Its key and what was quoted for it among them."""
    assert redaction.tells(text)
    record = json.dumps({"text": text, "tool": "Bash", "n": [1, {"in": text}]}).encode()
    redacted = redaction.redact_records(record)
    assert 1 == redacted.lines
    assert {"text": "[forgotten]", "tool": "Bash", "n": [1, {"in": "[forgotten]"}]} == json.loads(redacted.data)


def test_a_short_text_is_known_alone() -> None:
    """Within others too many would hold it."""
    redaction = Redaction(tombstones=Tombstones(), texts=("tabs",))
    assert redaction.tells(" Tabs ")
    assert not redaction.tells("tables and tabs")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("line", [LINE, json.dumps(LINE.decode()).encode(), b"\xef\xbb\xbf" + LINE])
def test_a_line_goes_with_its_end(redaction: Redaction, line: bytes, end: bytes) -> None:
    """Also one that is wrapped in a string, or follows a byte order mark."""
    other = b'{"content": "x"}\r\n'
    assert (other, 1) == redaction.redact_learnings(other + line + end)


def test_events_about_it_go_and_tombstones_stay(redaction: Redaction) -> None:
    """An event about another loses only the text."""
    about, tombstone, other = (
        json.dumps({"id": name, "event": event, "of": of, "reason": reason}).encode() + b"\n"
        for name, event, of, reason in (
            ("E1", "flagged", "L1", "x"),
            ("E2", "forgotten", "L1", "x"),
            ("E3", "flagged", "L2", f"as {TEXT}"),
        )
    )
    data, lines = redaction.redact_ledger(about + tombstone + other)
    assert (2, True) == (lines, data.startswith(tombstone))
    assert {"id": "E3", "event": "flagged", "of": "L2", "reason": "[forgotten]"} == json.loads(data.splitlines()[1])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b'{"content":"x"', b'{"content":"y"}', b"\r"]))))
def test_bytes_without_it_stay(pieces: list[bytes]) -> None:
    """Torn, doubled, of any encoding or none."""
    redaction = redaction_of(Tombstones(ids=frozenset({"L1"})), [LEARNING], [])
    data = b"\n".join(pieces)
    for redact in (redaction.redact_learnings, redaction.redact_ledger, redaction.redact_records):
        assert (data, 0) == redact(data)
