"""The quick reading of the command line agrees with Typer's."""

import itertools

import pytest

from roamkb.core.request import ParameterShape
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.interfaces.cli.main import run_typer
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation


def samples(operation: Operation) -> list[list[str]]:
    """Calls with each parameter alone, all of them together, and each repeated."""
    required: list[str] = []
    pieces: list[list[str]] = []
    for parameter in operation.parameters:
        value = "7" if parameter.shape is ParameterShape.COUNT else "a b"
        if not parameter.flag:
            (required.append(value) if parameter.required else pieces.append([value]))
        elif parameter.required:
            required += [parameter.flag, value]
        elif parameter.shape is ParameterShape.FLAG:
            pieces.append([parameter.flag])
        else:
            pieces += [[parameter.flag, value], [f"{parameter.flag}={value}"]]
    pieces += [["--json"], ["--project", "x"], ["--project=x"]]
    calls = [[*piece, *required] for piece in pieces] + [[*required, *piece] for piece in pieces]
    calls += [[*one, *required, *other] for one, other in itertools.islice(itertools.combinations(pieces, 2), 60)]
    return [[operation.name, *call] for call in calls] + [[operation.name, *required, *itertools.chain(*pieces)]]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_both_ways_of_reading_give_the_same_call(operation: Operation) -> None:
    """What the quick reader understands, it understands as Typer does."""
    calls: list[OperationCall] = []

    def note_down(call: OperationCall) -> int:
        calls.append(call)
        return 0

    for words in samples(operation):
        calls.clear()
        assert 0 == run_typer(words, note_down), words
        assert calls == [parse_words(words)], words


@pytest.mark.parametrize(
    "words",
    [
        [], ["--help"], ["search", "--help"], ["nosuch"], ["show"], ["search", "--limit", "x"], ["search", "--limit"],
        ["show", "a", "b"], ["search", "--nope"], ["search", "--agent=yes"],
    ],
)  # fmt: skip
def test_what_it_is_not_sure_of_it_leaves_to_typer(words: list[str]) -> None:
    """Help, mistakes and unknown words are explained by Typer."""
    assert parse_words(words) is None


def test_a_word_with_one_dash_is_excluded_from_a_search() -> None:
    """As the help says; no command has options of one letter."""
    call = parse_words(["search", "distributed", "-systems", '-"a phrase"', "--agent"])
    assert call is not None
    assert ("distributed", "-systems", '-"a phrase"') == call.arguments["words"]
    assert all(p.flag.startswith("--") for o in OPERATIONS for p in o.parameters if p.flag)


def test_words_after_two_dashes_are_words() -> None:
    """A search for something that looks like an option."""
    call = parse_words(["search", "--", "--help", "-x"])
    assert call is not None
    assert ("--help", "-x") == call.arguments["words"]
