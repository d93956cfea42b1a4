"""What is said of the moment, and what is said for good."""

import pytest

from roamkb.core.moments import is_vague
from roamkb.core.moments import of_the_moment
from roamkb.core.moments import passing
from roamkb.core.moments import undated


@pytest.mark.parametrize(
    "text",
    [
        "I should read the test first",
        "My change broke the build",
        "A typo I made a few lines above",
        "The build takes a while, so I'll wait",
        "You prefer short answers",
        "Looked into the failing job",
        "Let's try the other branch",
        "It works now",
        "That's the file you meant",
        "See the list above",
        "Wait for your answer before the migration",
        "The tests pass",
        "The linter is happy and the build is green",
        "8 failing tests in the suite",
        "Nothing found so far",
        "All tests pass on my side",
        "The branch is up to date",
        "There are 10 warnings left",
        "Die Tests laufen jetzt alle durch",
        "Ich werde die Dokumentation anpassen",
    ],
)
def test_deeds_plans_and_results_are_of_the_moment(text: str) -> None:
    """Another session can't use them."""
    assert of_the_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "Tests pass locally only because the cache is warm",
        "This project uses tabs",
        "The flaky expiry tests fail around midnight",
        "I/O is buffered per line",
        "CI runs the tests in parallel",
        "Users see the table above the map",
        "The tests pass on Linux and fail on macOS",
        "The cache is ready once the event fires",
        "Die Tests sind grün, solange der Cache voll ist",
    ],
)
def test_claims_that_resemble_them_are_not(text: str) -> None:
    """What a test needs is knowledge; that it passed is none."""
    assert of_the_moment(text) == ""


def test_one_sentence_for_good_is_enough() -> None:
    """What was done may stand beside it; what could be said of any project is none."""
    assert of_the_moment("I fixed the test. Freeze the clock with time-machine there.") == ""
    assert of_the_moment("All 22 tests pass. CEF messages without a body fall back to the raw line.") == ""
    assert of_the_moment("I fixed the failing test.\nIt works now. Great!")


def test_who_decides_tells_what_he_did() -> None:
    """A deviation is a deed; a plan for the next minutes is no decision."""
    text = "Added the package serial_test to pyproject.toml"
    assert of_the_moment(text)
    assert of_the_moment(text, decides=True) == ""
    assert of_the_moment("Will do the second part in the next session", decides=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The branch is currently broken", "currently"),
        ("Since 3.2 the pool is lazy now", ""),
        ("From now on, the pool is lazy", ""),
        ("The pool is lazy", ""),
    ],
)
def test_what_was_true_when_it_was_said_may_say_when_that_was(text: str, words: str) -> None:
    """A date or a version does."""
    assert undated(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Push before 6 pm", "before 6 pm"),
        ("The server is down, skip it", "is down"),
        ("The demo is on Friday", "on Friday"),
        ("Use the old API for now", "for now"),
        ("The old API stays for this release", "this release"),
        ("Each release keeps the old API", ""),
        ("Deploys happen on Fridays", ""),
        ("The job runs every Friday", ""),
    ],
)
def test_some_words_have_no_meaning_next_week(text: str, words: str) -> None:
    """A day of the week has one where it's each of them."""
    assert passing(text) == words


def test_what_holds_of_any_project_is_vague() -> None:
    """Two words that don't make a statement particular."""
    assert is_vague("Be careful with this code")
    assert is_vague("Write good tests and always check the result")
    assert not is_vague("Write good tests for the currency parser")
