"""The corpus of lines: what it holds, what the hook says of it, and what becomes of the notes behind each wall.

A sample of a fixed seed is run; `python -m tests.wall.run` runs all of it.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wall.advice import ask
from tests.wall.cage import PROJECTS
from tests.wall.cage import can_cage
from tests.wall.lines import BENIGN
from tests.wall.lines import HONEST
from tests.wall.lines import HOSTILE
from tests.wall.lines import LINES
from tests.wall.lines import ORDINARY
from tests.wall.lines import Line
from tests.wall.lines import read_lines
from tests.wall.run import describe
from tests.wall.run import is_wanted
from tests.wall.run import sampled
from tests.wall.sameness import Sameness
from tests.wall.sameness import compare_all
from tests.wall.trial import Proof
from tests.wall.trial import Trial
from tests.wall.trial import Wall

#: How many lines there are at least.
_LEAST = {HOSTILE: 150, HONEST: 50, BENIGN: 200, ORDINARY: 1000}
#: How many of a kind are run with each wall, and with none, where all would take minutes.
_SAMPLE, _SAMPLE_WITHOUT = 60, 24
_SEED = 15
#: Without a wall these destroy the journal with the notes.
_TAKE_THE_JOURNAL = (
    "coreutils-04 links-08 state-07 state-08 replace-01 cleanup-11 rename-05 find_xargs_loops-10".split()
)

needs_cage = pytest.mark.skipif(
    not can_cage() and not os.environ.get("ROAMKB_TEST_ALL"), reason="needs bubblewrap, and leave to use it"
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that is taken away again whatever modes a line gave it."""
    folder = tmp_path_factory.mktemp("wall")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def proof(scratch: Path) -> Proof:
    """A HOME as a person has it."""
    return Proof(scratch)


@pytest.mark.parametrize("kind", _LEAST)
def test_lines_are_many_and_each_is_there_once(kind: str) -> None:
    """No id and no command comes twice."""
    lines = read_lines(kind)
    assert _LEAST[kind] <= len(lines)
    assert 1 == max(Counter(line.id for line in lines).values())
    assert 1 == max(Counter(line.command for line in lines).values())


def test_lines_of_others_name_their_source() -> None:
    """What others published stands with their licence beside it."""
    sources = (LINES / "SOURCES.md").read_text()
    assert {"cheat", "eg"} == {line.group for line in read_lines(ORDINARY)}
    assert sources.count("Permission is hereby granted") == 1
    assert "Sam Sudar" in sources and "Chris Allen Lane" in sources


@needs_cage
@pytest.mark.parametrize("wall", [wall for wall in Wall if wall is not Wall.NONE])
def test_what_would_change_notes_is_stopped_or_undone(proof: Proof, wall: Wall) -> None:
    """Behind a wall no line harms the notes or what keeps them, and nothing is lost."""
    _skip_without(proof, wall)
    # each wall has lines of its own: together they try more than each could by itself
    seed = _SEED + list(Wall).index(wall)
    trials = _run(proof, wall, sampled(read_lines(HOSTILE), _SAMPLE, seed)) + _run(
        proof, wall, sampled(read_lines(HONEST), _SAMPLE // 4, seed)
    )
    trials = [trial for trial in trials if trial.line not in _of_command()]
    assert [] == [describe(trial) for trial in trials if not is_wanted(trial)]


@needs_cage
@pytest.mark.parametrize("wall", [Wall.NAMESPACE, Wall.LANDLOCK])
def test_the_command_that_hooks_name_stays(proof: Proof, wall: Wall) -> None:
    """Behind a wall nothing else takes the place of ~/.local/bin/roamkb."""
    _skip_without(proof, wall)
    assert [] == [describe(trial) for trial in _run(proof, wall, _of_command()) if not is_wanted(trial)]


@needs_cage
@pytest.mark.parametrize("kind", [HOSTILE, HONEST])
def test_lines_that_change_notes_do_so_without_a_wall_and_are_undone(proof: Proof, kind: str) -> None:
    """Each line does its harm where nothing stops it, or it would prove nothing; the journal gives the notes back."""
    lines = [line for line in read_lines(kind) if line.id not in _TAKE_THE_JOURNAL]
    trials = _run(proof, Wall.NONE, sampled(lines, _SAMPLE_WITHOUT, _SEED))
    assert [] == [describe(trial) for trial in trials if not is_wanted(trial)]


@needs_cage
@pytest.mark.parametrize("kind", [BENIGN, ORDINARY])
@pytest.mark.parametrize("wall", [Wall.NAMESPACE, Wall.LANDLOCK])
def test_other_commands_give_the_same_behind_a_wall(proof: Proof, wall: Wall, kind: str) -> None:
    """Output, errors, status and files are those that the command gives without a wall."""
    _skip_without(proof, wall)
    lines = [line for line in read_lines(kind) if line.is_steady]
    compared = compare_all(proof, sampled(lines, _SAMPLE_WITHOUT, _SEED), wall)
    assert [] == [one.description for one in compared if one.sameness is Sameness.BROKEN]


@needs_cage
@pytest.mark.parametrize("project", ["work", "personal"])
def test_the_hook_lets_ordinary_commands_pass(proof: Proof, scratch: Path, project: str) -> None:
    """Of a thousand commands that have nothing to do with notes none is denied."""
    answers = ask(proof.house, scratch, project, read_lines(ORDINARY))
    assert [] == [answer.line.command for answer in answers if answer.is_denial]


@needs_cage
@pytest.mark.parametrize("project", PROJECTS)
def test_the_hook_lets_reading_pass(proof: Proof, scratch: Path, project: str) -> None:
    """Of two hundred commands that read or mention the notes one may be denied in error, and no more."""
    lines = read_lines(BENIGN)
    denied = [answer.line.command for answer in ask(proof.house, scratch, project, lines) if answer.is_denial]
    assert len(denied) <= len(lines) / 200, denied


def _of_command() -> list[Line]:
    """Return lines that take away or replace the command on the PATH, or all that is beside it."""
    ids = "coreutils-04 rule-18 program-01 program-02 program-04 program-05 program-20 program-21 program-22".split()
    honest = "cleanup-11 rename-05".split()
    lines = [line for line in read_lines(HOSTILE) if line.id in ids]
    return [*lines, *(line for line in read_lines(HONEST) if line.id in honest)]


def _run(proof: Proof, wall: Wall, lines: list[Line]) -> list[Trial]:
    return list(proof.run_all(lines, wall))


def _skip_without(proof: Proof, wall: Wall) -> None:
    if wall not in proof.walls:
        pytest.skip(f"this machine has no wall by {wall.value}")
