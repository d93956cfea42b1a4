"""When an agent is asked what its work taught it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.stop_question import LONGEST_ASK
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.stop_question import ask_text
from roamkb.pipeline.extract.stop_question import extend_stretch

_SAID = TranscriptPassage(speaker=Speaker.AGENT, text="The tests are green.")
_PROMPT = TranscriptPassage(speaker=Speaker.HUMAN, text="Do it.")
_DENIAL = TranscriptPassage(speaker=Speaker.HUMAN, text="No, the tests aren't green.")


def ran(command: str, *, failed: bool = False, edits: tuple[str, ...] = ()) -> TranscriptPassage:
    """Return a call of a tool."""
    return TranscriptPassage(
        speaker=Speaker.TOOL, text="", tool="Bash", command=command, has_failed=failed, edits=edits
    )


def reasons(*passages: TranscriptPassage) -> tuple[str, ...]:
    """Return why a stretch of these is worth an ask."""
    return extend_stretch(WorkStretch(), passages).ask_reasons


def test_a_short_answer_is_no_reason() -> None:
    """Nobody is asked after each question."""
    assert () == reasons(_PROMPT, _SAID)
    assert () == reasons(_PROMPT, ran("ls"), ran("cat x"), ran("make", failed=True), _SAID)


def test_what_was_done_is_a_reason() -> None:
    """An edit, an error that went away, a human who denies what was said, many calls."""
    assert ("edited",) == reasons(_PROMPT, ran("", edits=("a.py",)))
    assert ("mended",) == extend_stretch(WorkStretch(), [_PROMPT], mended=True).ask_reasons
    assert ("corrected",) == reasons(_PROMPT, _SAID, _DENIAL)
    assert ("corrected",) == reasons(_PROMPT, TranscriptPassage(speaker=Speaker.HUMAN, text="", is_interruption=True))
    assert ("long",) == reasons(_PROMPT, *[ran(f"ls {n}") for n in range(9)])


def edit(removed: str, added: str, file: str = "a.py") -> TranscriptPassage:
    """Return an edit of which the lines are known."""
    return replace(ran("", edits=(file,)), tool="Edit", removed=removed, added=added)


def test_slight_work_waits_for_more() -> None:
    """A typo is not asked about; the next stretch, another file or a failure has it counted with the rest."""
    typo = edit("x\ncolour = 1\ny", "x\ncolour = 2\ny")
    assert () == reasons(_PROMPT, typo, _SAID)
    assert () == reasons(_PROMPT, typo, _SAID, _PROMPT, _SAID)
    assert () == reasons(_PROMPT, ran("cat a.py"), typo, ran("make"), _SAID)
    for more in (edit("a", "b", "b.py"), edit("", "a\nb\nc\nd"), ran("make", failed=True)):
        assert ("edited",) == reasons(_PROMPT, typo, _SAID, _PROMPT, more)
    assert "long" in reasons(_PROMPT, *[typo, _SAID, _PROMPT, ran("cat a.py")] * 3)


def test_who_has_slight_work_undone_corrects_it() -> None:
    """In whatever words: the agent takes out what it had put in."""
    wrong, right = edit("port = 1", "port = 2"), edit("port = 2", "port = 3")
    assert ("corrected",) == reasons(_PROMPT, wrong, _SAID, _PROMPT, right)
    assert () == reasons(_PROMPT, wrong, right)
    assert () == reasons(_PROMPT, wrong, _SAID, _PROMPT, edit("host = a", "host = b"))


_PASSAGES = st.lists(
    st.builds(
        TranscriptPassage,
        speaker=st.sampled_from(Speaker),
        text=st.just("x"),
        tool=st.sampled_from(["", "Bash"]),
        command=st.sampled_from(["make", "ls", ""]),
        edits=st.sampled_from([(), ("a",), ("b",)]),
        removed=st.sampled_from(["", "p", "q"]),
        added=st.sampled_from(["", "p", "q", "p\nq"]),
        has_failed=st.booleans(),
    )
)


@given(_PASSAGES, st.integers(min_value=0))
def test_it_makes_no_difference_how_often_one_looks(passages: list[TranscriptPassage], at: int) -> None:
    """A stretch that is read in two goes is the same."""
    at = min(at, len(passages))
    assert extend_stretch(WorkStretch(), passages) == extend_stretch(
        extend_stretch(WorkStretch(), passages[:at]), passages[at:]
    )


_KEYS = st.lists(st.text("abc-", min_size=1, max_size=80), max_size=9)


@given(_KEYS, _KEYS, _KEYS)
def test_an_ask_is_short_whatever_it_lists(captured: list[str], shown: list[str], contested: list[str]) -> None:
    """And always says how to answer, and that nothing is an answer."""
    text = ask_text(captured=captured, shown_keys=shown, contested=contested)
    assert len(text) <= LONGEST_ASK
    assert "roamkb learn --proposals -" in text
    assert "None is fine" in text


def test_what_is_to_be_settled_comes_first() -> None:
    """Then what the session said, then what it was shown."""
    text = ask_text(captured=["kept-1"], shown_keys=["seen-1"], contested=["doubt-1"])
    assert text.endswith(' Doubted since; if wrong, "withdraws"/"supersedes": doubt-1. Kept: kept-1. Shown: seen-1')
    assert '"withdraws": KEY. Kept: kept-1' in ask_text(captured=["kept-1"])


@given(st.text("0123456789abcdef", min_size=8, max_size=8), st.text(min_size=20, max_size=300), _KEYS)
def test_an_error_that_went_away_is_named(name: str, error: str, keys: list[str]) -> None:
    """By what a proposal calls it, and in a few words, before any key."""
    text = ask_text(mended=(name, error), contested=keys, shown_keys=keys)
    assert len(text) <= LONGEST_ASK
    assert f'"mended":"{name}" to what mended: ' in text
