"""The questions of setup, one at a time, and the answers that mean something."""

from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.install.setup_dialog import SetupDialog
from roamkb.install.store.discovery import NotesAtHand

HOME = Path("/home/ada")


def answering(*answers: str) -> tuple[Callable[[str], str], list[str]]:
    """Return what answers in turn, and the questions that it was asked."""
    left, asked = list(answers), []

    def ask(question: str) -> str:
        asked.append(question)
        return left.pop(0)

    return ask, asked


def projects(home: Path, *names: str) -> tuple[Project, ...]:
    """Return projects in `home`, each with a folder."""
    for name in names:
        (home / name).mkdir(parents=True)
    return tuple(Project(kind=ProjectKind.PERSONAL, root=home / name, reason="") for name in names)


def test_numbers_and_folders_are_work(tmp_path: Path) -> None:
    """With commas or blanks between them, quoted where a name has a blank."""
    there = projects(tmp_path, "code/a", "code/b", "my job")
    ask, asked = answering("2, '~/my job'")
    assert (there[1].root, there[2].root) == SetupDialog(ask, tmp_path).choose_work(there).work
    assert "   2  personal  ~/code/b" in asked[0]


def test_a_name_that_is_listed_means_its_project(tmp_path: Path) -> None:
    """Unless two have it, or HOME has another folder of that name."""
    there = projects(tmp_path, "code/a", "code/b", "job/b", "a")
    ask, asked = answering("a", "b", "~/a")
    assert (there[3].root,) == SetupDialog(ask, tmp_path).choose_work(there).work
    assert 3 == len(asked)
    assert (there[2].root,) == SetupDialog(answering("b")[0], tmp_path).choose_logs((there[0], there[2]))


def test_a_mark_of_work_is_taken_back(tmp_path: Path) -> None:
    """Of what has a mark of its own alone: a minus before anything else is no answer."""
    there = projects(tmp_path, "code/a", "code/b", "job/shop")
    marked = (there[0].root or tmp_path, tmp_path / "job")
    ask, asked = answering("-b", "-shop", "2 -1")
    answer = SetupDialog(ask, tmp_path).choose_work(there, marked)
    assert ((there[1].root,), (there[0].root,), 3) == (answer.work, answer.dropped, len(asked))
    assert "takes its mark back" in asked[0]
    for words, dropped in (("none", marked), ("-~/job, -a", (marked[1], marked[0])), ("", ())):
        answer = SetupDialog(answering(words)[0], tmp_path).choose_work(there, marked)
        assert ((), dropped) == (answer.work, answer.dropped)


@pytest.mark.parametrize("nonsense", ["all of them", "4", "0", "-1", "~/gone", "1 x", "'1", "１"])
def test_what_is_no_answer_is_asked_again(tmp_path: Path, nonsense: str) -> None:
    """After the third nothing is done: a guess could let work out."""
    there = projects(tmp_path, "code/a", "code/b")
    ask, asked = answering(nonsense, nonsense, "1")
    assert (there[0].root,) == SetupDialog(ask, tmp_path).choose_work(there).work
    assert asked[1].startswith("A number from 1 to 2, a name from the list")
    with pytest.raises(UsageError, match="nothing was changed"):
        SetupDialog(answering(nonsense, nonsense, nonsense)[0], tmp_path).choose_work(there)


def test_only_a_yes_is_a_yes() -> None:
    """Enter says what the question says in capitals."""
    assert SetupDialog(answering("YES")[0], HOME).confirm("?")
    assert not SetupDialog(answering("")[0], HOME).confirm("?")
    assert SetupDialog(answering("")[0], HOME).confirm("?", is_default=True)
    assert not SetupDialog(answering("sure", "n")[0], HOME).confirm("?", is_default=True)


def test_a_folder_that_is_not_there_is_said_to_be_none(tmp_path: Path) -> None:
    """A slip reads as one; who means it makes the folder."""
    ask, asked = answering("y", "~/nots", "n", "~/empty", "y")
    (tmp_path / "empty").mkdir()
    assert (tmp_path / "empty", True) == SetupDialog(ask, tmp_path).choose_notes((), usual=tmp_path / "usual")
    assert asked[2].startswith("There is no folder ~/nots: make it and begin there")
    assert asked[4].startswith("There are no notes in ~/empty: begin there")


def test_other_notes_than_the_found_ones_are_named(tmp_path: Path) -> None:
    """A folder without notes is begun only when the human says so."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.org").write_text("a")
    found = (NotesAtHand(path=tmp_path / "notes", count=3, reason="a usual place"),)
    dialog = SetupDialog(answering("n", "~/mine", "", "n", "new", "y", "n", "~/mien", "", "1")[0], tmp_path)
    assert (tmp_path / "mine", False) == dialog.choose_notes(found, usual=tmp_path / "usual")
    assert (tmp_path / "new", True) == dialog.choose_notes(found, usual=tmp_path / "usual")
    # a slip costs no answer, and takes nothing from those that were listed
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.org").write_text("a")
    assert (tmp_path / "notes", False) == dialog.choose_notes(found, usual=tmp_path / "usual")
    dialog = SetupDialog(answering("n", *["~/new", ""] * 4)[0], tmp_path)
    with pytest.raises(UsageError, match="nothing was changed"):
        dialog.choose_notes(found, usual=tmp_path / "usual")


def test_a_long_list_ends_before_the_question_is_off_the_screen(tmp_path: Path) -> None:
    """The rest is counted, and can be named."""
    ask, asked = answering("")
    SetupDialog(ask, tmp_path).choose_work(projects(tmp_path, *(f"code/{n:03}" for n in range(100))))
    assert "and 60 more" in asked[0]
    assert 45 > len(asked[0].splitlines())


def test_a_folder_is_named_as_one_says_it(tmp_path: Path) -> None:
    """From HOME on without a tilde, and with blanks in its name; a slip is asked again."""
    for name in ("work", "my clients/acme"):
        (tmp_path / name).mkdir(parents=True)
    dialog = SetupDialog(answering("wrok", "work", "my clients/acme", "work 'my clients'")[0], tmp_path)
    assert (tmp_path / "work",) == dialog.choose_work(()).work
    assert (tmp_path / "my clients/acme",) == dialog.choose_work(()).work
    assert (tmp_path / "work", tmp_path / "my clients") == dialog.choose_work(()).work
