"""A review as an org file, and the decisions back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.curation.clusters import find_clusters
from roamkb.curation.review_org import parse_review
from roamkb.curation.review_org import render_review
from roamkb.log.learning import Learning
from roamkb.log.state.replay import replay
from roamkb.org.reader import parse_note

HOSTILE = 'Same thing said here\n* APPROVE x\n:PROPERTIES:\n:CLUSTER: 1\n:END:\n<%%(delete-file "x")> [[elisp:(x)][y]]'


def review(*contents: str, reason: str = "") -> str:
    """The file about several learnings that say the same, each twice."""
    learnings = [
        Learning(id=f"{n}{half}", key=f"k{n}{half}", type="fact", content=content + half, ts=n)
        for n, content in enumerate(contents)
        for half in ("", " ")
    ]
    found = find_clusters(replay(learnings, []), {})
    return render_review(found, digest="d" * 64, reason=reason)


def test_nothing_is_approved_by_itself() -> None:
    """An untouched file decides nothing."""
    text = review("One thing about caching", "Another about invoices")
    assert 2 == text.count("* TODO ")
    assert frozenset() == parse_review(text).approved


@pytest.mark.parametrize("state", ["APPROVE", "REJECT", "TODO"])
def test_only_approve_approves(state: str) -> None:
    """And only the heading that it stands in."""
    text = review("One thing about caching", "Another about invoices")
    decided = text.replace("* TODO", f"* {state}", 1)
    assert (frozenset({1}) if state == "APPROVE" else frozenset()) == parse_review(decided).approved


def test_the_reason_is_a_line_of_the_file() -> None:
    """Given beforehand or written there; with Emacs's own additions left alone."""
    text = review("One thing about caching", reason="Monthly review")
    assert "Monthly review" == parse_review(text).reason
    written = (
        text.replace("#+reason: Monthly review", "#+REASON: Because  ")
        .replace("* TODO", "** APPROVE", 1)
        .replace(":PROPERTIES:", "CLOSED: [2026-06-10 Wed]\n:PROPERTIES:\n:STYLE: x", 1)
    )
    assert ("Because", frozenset({1})) == (parse_review(written).reason, parse_review(written).approved)


def test_what_learnings_say_decides_and_runs_nothing() -> None:
    """A heading, a drawer, Lisp: all of it is words in an item."""
    text = review(HOSTILE, "Another about invoices")
    assert frozenset() == parse_review(text).approved
    note = parse_note(text, file="review.org")
    assert "<%%(" not in text
    assert "[[elisp:" not in text
    assert 2 == sum(line.startswith("* ") for line in text.splitlines())
    assert not note.nodes


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.text())
def test_no_text_approves_anything(contents: list[str], reason: str) -> None:
    """Whatever learnings and reasons hold."""
    assert frozenset() == parse_review(review(*contents, reason=reason)).approved


@given(st.text())
def test_any_saved_file_is_read(text: str) -> None:
    """People save anything, and nothing is approved by accident."""
    assert not parse_review(text).approved
