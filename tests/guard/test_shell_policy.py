"""Shell lines that write into the knowledge base in ways of their own, and lines that only read.

Written to get past the advice, and kept; the tables of `test_guard` put plain writes and names together.
"""

import pytest

from roamkb.core.data_tables import data_rows
from roamkb.core.model import ProjectKind
from roamkb.guard.tool_calls import judge_tool
from tests.guard.shell_lines import ELSEWHERE
from tests.guard.shell_lines import HOSTILE
from tests.guard.shell_lines import LITTER
from tests.guard.shell_lines import NEW
from tests.guard.shell_lines import ORDINARY
from tests.guard.shell_lines import READINGS
from tests.guard.test_policy import HOME
from tests.guard.test_policy import WORK
from tests.guard.test_policy import bash
from tests.guard.test_policy import ground

#: Where sessions of each kind run.
FOLDERS = {
    ProjectKind.WORK: WORK,
    ProjectKind.UNKNOWN: f"{HOME}/elsewhere/shop/it",
    ProjectKind.PERSONAL: f"{HOME}/code/site/web",
}


def denied(lines: list[str], kind: ProjectKind) -> list[str]:
    return [line for line in lines if bash(line, kind, FOLDERS[kind]) is not None]


@pytest.mark.parametrize("kind", ProjectKind)
def test_a_note_is_spared_however_it_is_written_to(kind: ProjectKind) -> None:
    """By whatever program, disguise or detour, in whatever project."""
    assert len(HOSTILE) > 500
    assert [] == sorted(set(HOSTILE) - set(denied(HOSTILE, kind)))


def test_nothing_new_comes_from_work() -> None:
    """Where a personal project may."""
    assert NEW == denied(NEW, ProjectKind.WORK) == denied(NEW, ProjectKind.UNKNOWN)
    assert [] == denied(NEW, ProjectKind.PERSONAL)


@pytest.mark.parametrize("kind", ProjectKind)
def test_no_project_litters_among_the_notes(kind: ProjectKind) -> None:
    """A repository, a virtual environment, what Emacs and Syncthing read there."""
    assert LITTER == denied(LITTER, kind)


@pytest.mark.parametrize("kind", ProjectKind)
def test_a_reading_is_never_denied(kind: ProjectKind) -> None:
    """Nor is the result of it, kept elsewhere."""
    assert len(READINGS) > 200
    assert [] == denied(READINGS, kind)


def test_a_personal_project_may_do_what_spares_notes() -> None:
    """Copies, archives, git, and files of its own."""
    assert [] == denied(ORDINARY, ProjectKind.PERSONAL)


@pytest.mark.parametrize("kind", ProjectKind)
def test_what_has_nothing_to_do_with_it_is_let_alone(kind: ProjectKind) -> None:
    """However much it looks like what is denied."""
    assert [] == denied(ELSEWHERE, kind)


@pytest.mark.parametrize("kind", ProjectKind)
def test_what_is_too_long_to_be_judged_in_time_is_denied_without_a_wall(kind: ProjectKind) -> None:
    """A harness lets the call go on that nobody answers about; with a wall, nothing has to be judged."""
    reading = "cat ~/sync/org/roam/a.org; "
    assert bash(f"{reading}{'a; ' * 1_500}", kind, FOLDERS[kind]) is None
    long = f"{reading}{'a; ' * 6_000}"
    found = bash(long, kind, FOLDERS[kind])
    assert found is not None
    assert "more commands than can be judged in time" in found.reason
    walled = ground(kind, FOLDERS[kind], wall_stands=lambda: True)
    assert judge_tool("Bash", {"command": long}, walled) is None


@pytest.mark.parametrize("command", ["rm 'unclosed ~/sync/org/roam/x", "echo $(rm ~/sync/org/roam/x"])
def test_what_cannot_be_read_is_left_to_the_wall_where_one_stands(command: str) -> None:
    """Another shell may read it."""
    assert judge_tool("Bash", {"command": command}, ground()) is not None
    assert judge_tool("Bash", {"command": command}, ground(wall_stands=lambda: True)) is None


def test_a_project_is_asked_about_only_where_notes_would_change() -> None:
    """To find out what it is takes longer than all else."""
    asked: list[str] = []

    def ask() -> str:
        asked.append("asked")
        return "work"

    for command in ("make", "cat ~/sync/org/roam/human.org", "rm -rf build", "rm ~/.claude/settings.json"):
        bash(command, ask)
    assert [] == asked
    assert bash("rm ~/sync/org/roam/human.org", ask) is not None
    assert ["asked"] == asked


@pytest.mark.parametrize("kind", [ProjectKind.WORK, ProjectKind.PERSONAL])
def test_each_row_of_the_table_is_interpreted(kind: ProjectKind) -> None:
    """With every option that it names, and elsewhere none is denied for a file of the project."""
    starts = [
        f"{names.replace(': ', ' ').split(' ')[0]} {names.split(' ')[-1] if ': ' in names else ''}"
        for names, *_ in data_rows("programs.tsv")
    ]
    options = [
        [word for word in "".join(told).replace(":", " ").replace(",", " ").split() if word.startswith("-")]
        for _, _, *told in data_rows("programs.tsv")
    ]
    assert len(starts) > 100
    # a harness without hooks is denied wherever it is
    lines = [
        f"{start} {option} src/app.py docs"
        for start, some in zip(starts, options, strict=True)
        for option in ["", *some]
        if not start.startswith(("claude", "codex"))
    ]
    assert [] == denied(lines, kind)
