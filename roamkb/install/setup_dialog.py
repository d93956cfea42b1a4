"""The questions of `setup`, and what the answers mean; nothing is written while they are asked."""

import shlex
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.install.store.discovery import NotesAtHand
from roamkb.install.store.discovery import count_notes

#: Puts a question to the human at the terminal and returns the line that they type.
AskFunction = Callable[[str], str]
Answer = TypeVar("Answer")
#: Who answers nonsense three times doesn't want to be asked.
MAX_ANSWERS = 3
#: More would push the question itself off the screen.
_MAX_LISTED = 40
_NOTES_AGAIN = "A folder such as ~/notes, but not your home itself:"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkAnswer:
    """Folders that the human calls work, and those that were marked so and aren't any more."""

    work: tuple[Path, ...] = ()
    dropped: tuple[Path, ...] = ()


class SetupDialog:
    """A dialogue at the terminal; each method asks one thing until the answer means something.

    Raises:
        UsageError: three answers that mean nothing, or none at all.
    """

    def __init__(self, ask: AskFunction, home: Path) -> None:
        """Take what asks; paths are shown from `home` on."""
        self._ask = ask
        self._home = home
        self._notice = ""

    def say(self, notice: str) -> None:
        """Put a line before the next question."""
        self._notice = f"{notice}\n"

    def confirm(self, question: str, *, is_default: bool | None = False) -> bool:
        """Return whether the human said yes; Enter says `is_default`, and nothing where that is None."""

        def parse(answer: str) -> bool | None:
            return {"": is_default, "y": True, "yes": True, "n": False, "no": False}.get(answer.lower())

        # brackets promise that Enter is an answer
        choices = {None: "Type y or n:", True: "[Y/n]", False: "[y/N]"}[is_default]
        return self._ask_until(
            f"{question} {choices}", parse, "y or n:" if is_default is not None else "y or n; Enter is neither:"
        )

    def choose_notes(self, folders: Sequence[NotesAtHand], *, usual: Path) -> tuple[Path, bool]:
        """Return the folder of the notes, and whether they are to begin there: in `usual`, if nothing else is said."""
        if len(folders) == 1 and self.confirm(f"{self._notes_line(folders[0])}: these?", is_default=True):
            return folders[0].path, False
        if len(folders) > 1:
            path = self._ask_until(
                "\n".join(
                    (
                        *(f"{number:4}  {self._notes_line(notes)}" for number, notes in enumerate(folders, start=1)),
                        "Which are yours? A number, another folder, or Enter for 1:",
                    )
                ),
                lambda answer: folders[0].path if not answer else self._notes_folder(answer, folders),
                f"A number from 1 to {len(folders)}, or a folder such as ~/notes:",
            )
        elif folders or self.confirm("No org-roam notes are in the usual places. Have you some elsewhere?"):
            path = self._ask_until("Which folder are they in?", self._notes_folder, _NOTES_AGAIN)
        else:
            path = self._ask_until(
                f"In which folder shall they begin? Enter for {self.short(usual)}:",
                lambda answer: self._notes_folder(answer) if answer else usual,
                _NOTES_AGAIN,
            )
            if path == usual and not count_notes(path):
                return path, True
        listed = {notes.path for notes in folders}
        for _ in range(MAX_ANSWERS):
            count = count_notes(path)
            if count and (path in listed or self._are_these(path, count)):
                return path, False
            state = "There are no notes in" if path.is_dir() else "There is no folder"
            act = "begin there" if path.is_dir() else "make it and begin there"
            if not count and self.confirm(f"{state} {self.short(path)}: {act}, with a note that explains it?"):
                return path, True
            numbers = f", a number from 1 to {len(folders)}" if folders else ""
            path = self._ask_until(
                f"Another folder such as ~/notes{numbers}, or Ctrl-C to leave all as it is:",
                lambda answer: self._notes_folder(answer, folders),
                _NOTES_AGAIN,
            )
        raise UsageError("without notes there is nothing to set up; nothing was changed")

    def _are_these(self, path: Path, count: int) -> bool:
        return self.confirm(f"{count_phrase(count, 'note')} in {self.short(path)}: these?", is_default=True)

    def choose_work(self, projects: Sequence[Project], marked: Sequence[Path] = ()) -> WorkAnswer:
        """Return what the human calls work beside what the rule calls so, and which of the `marked` isn't any more."""
        roots = [project.root or Path("?") for project in projects]
        lines = [
            f"{number:4}  {project.kind.value:8}  {self.short(root)}"
            for number, (project, root) in enumerate(zip(projects, roots, strict=True), start=1)
        ]
        if len(lines) > _MAX_LISTED:
            lines[_MAX_LISTED:] = [f"      … and {len(lines) - _MAX_LISTED} more"]
        which = "Numbers, names or folders" if lines else "Some from ~ or /"
        take_back = "; `-` before one takes its mark back, `none` takes back all" if marked else ""
        question = [
            "Agents in personal projects may write to your notes. Work never may.",
            *lines,
            f"Which {'of them' if lines else 'folders'} are work? {which} with blanks between{take_back}; or Enter for "
            f"{'what is marked so' if marked else 'none'}:",
        ]
        return self._ask_until(
            "\n".join(question), lambda answer: self._work_answer(answer, roots, marked), _again(roots)
        )

    def _work_answer(self, answer: str, listed: Sequence[Path], marked: Sequence[Path]) -> WorkAnswer | None:
        """Return what an answer calls work and what no more; None unless all of it is there, and was marked."""
        if answer.lower() == "none":
            return WorkAnswer(dropped=tuple(marked))
        if (whole := self._named(answer, listed)) and whole.is_dir():
            return WorkAnswer(work=(whole,))
        try:
            words = shlex.split(answer.replace(",", " "))
        except ValueError:
            return None
        work = [self._named(word, listed) for word in words if not word.startswith("-")]
        dropped = [self._named(word[1:], [*listed, *marked]) for word in words if word.startswith("-")]
        if not all(folder in marked for folder in dropped) or not all(folder and folder.is_dir() for folder in work):
            return None
        return WorkAnswer(work=tuple(filter(None, work)), dropped=tuple(filter(None, dropped)))

    def choose_personal(self) -> tuple[Path, ...]:
        """Return the folders in whose projects agents may write to the notes."""
        return self._ask_until(
            "In the projects of which folders may agents write to your notes? Some from ~ or / with blanks between, "
            "or Enter to leave that as it is:",
            lambda answer: found.work if (found := self._work_answer(answer, (), ())) else None,
            _again(()),
        )

    def confirm_boundary(self, work_roots: Sequence[str], parents: Sequence[str]) -> bool:
        """Return whether the human says that this is work and that personal."""
        lines = (
            f"work:               {one_line(', '.join(work_roots)) or 'nothing'}",
            f"personal, may write: {one_line(', '.join(parents)) or 'nothing'}",
            "Is that right?",
        )
        return self.confirm("\n".join(lines), is_default=None)

    def choose_logs(self, projects: Sequence[Project], present: Collection[Path] = ()) -> tuple[Path, ...]:
        """Return the projects that get a log, or whose `present` one is to count on this machine."""
        roots = [project.root for project in projects if project.root]
        lines = [
            f"{number:4}  {self.short(root)}{' (has one, which does not count here yet)' if root in present else ''}"
            for number, root in enumerate(roots[:_MAX_LISTED], start=1)
        ]

        def parse(answer: str) -> tuple[Path, ...] | None:
            if answer.lower() == "all":
                return tuple(roots)
            folders = [self._named(word, roots) for word in answer.replace(",", " ").split()]
            return tuple(folder for folder in folders if folder in roots) if None not in folders else None

        return self._ask_until(
            "\n".join(
                (
                    "What agents learn about a project is kept in its log, `.roamkb/`, in the project itself, and "
                    "travels with its git; `roamkb init --untracked` begins one that doesn't.",
                    *lines,
                    "Which get one? Numbers or names, `all`, or Enter for none:",
                )
            ),
            parse,
            f"{_numbers_phrase(len(roots))}, a name, `all`, or Enter:",
        )

    def choose_hooks(self, summary: Sequence[str], diff: str) -> bool:
        """Return whether the human wants the hooks; shows the diff on request, as often as asked."""

        def parse(answer: str) -> str | None:
            return answer.lower()[:1] or "n" if answer.lower() in ("", "y", "yes", "n", "no", "d", "diff") else None

        question = "\n".join((*summary, "Add them? y, n, or d to see the change [y/N/d]"))
        while (answer := self._ask_until(question, parse, "y, n or d:")) == "d":
            question = f"{diff}\nAdd them? [y/N/d]"
        return answer == "y"

    def short(self, path: Path) -> str:
        """Return a path as people write it, fit for a terminal."""
        is_below = path.is_relative_to(self._home)
        return one_line(f"~/{path.relative_to(self._home)}" if is_below else str(path))

    def _notes_line(self, notes: NotesAtHand) -> str:
        return f"{count_phrase(notes.count, 'note')} in {self.short(notes.path)} ({one_line(notes.reason)})"

    def _numbered(self, word: str, folders: Sequence[Path]) -> Path | None:
        """Return the folder that a number or a path means; None where it means none."""
        if word.isascii() and word.isdigit():
            return folders[int(word) - 1] if len(word) < 5 and 1 <= int(word) <= len(folders) else None
        return self._folder(word)

    def _named(self, word: str, listed: Sequence[Path]) -> Path | None:
        """Return the folder that a number, a path or a listed name means; None where it means none, or two."""
        meant = {folder for folder in listed if folder.name == word} | {*filter(None, [self._numbered(word, listed)])}
        return meant.pop() if len(meant) == 1 else None

    def _notes_folder(self, text: str, listed: Sequence[NotesAtHand] = ()) -> Path | None:
        """Return the folder that is meant, which may be yet to come; None for HOME itself, and for no answer."""
        path = self._numbered(text, [notes.path for notes in listed])
        if path is None and text and not text.isdigit():
            path = self._home / text
        return None if path == self._home else path

    def _folder(self, text: str) -> Path | None:
        if text == "~" or text.startswith("~/"):
            return self._home / text[2:]
        if text.startswith("/"):
            return Path(text)
        # as one says it who doesn't think of where HOME ends
        return self._home / text if text and (self._home / text).is_dir() else None

    def _ask_until(self, question: str, parse: Callable[[str], Answer | None], again: str) -> Answer:
        question, self._notice = self._notice + question, ""
        for _ in range(MAX_ANSWERS):
            answer = parse(self._ask(question).strip())
            if answer is not None:
                return answer
            question = again
        raise UsageError(
            "no answer that can be used; nothing was changed", hint="`roamkb setup --help` has the options"
        )


def _numbers_phrase(last: int) -> str:
    return "The number 1" if last == 1 else f"A number from 1 to {last}"


def _again(listed: Sequence[Path]) -> str:
    """Return what is said where an answer names no folder."""
    numbers = f"{_numbers_phrase(len(listed))}, a name from the list, or a" if listed else "A"
    return f"{numbers} folder that is there, in quotes if its name has a blank:"
