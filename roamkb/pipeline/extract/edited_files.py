"""Files that a session changed before it said something, and those of them that the statement is about."""

import re
from pathlib import PurePath
from typing import Final

#: Files that one statement is about.
_MOST_FILES: Final = 3
#: How a test is named after the file that it tests: `test_seats.py`, `seats_test.go`, `seats.spec.ts`.
_TEST_AFFIX: Final = r"\Atests?[_-]|[_.-](?:tests?|spec)\Z"
#: Letters of a file's name without its suffix by which a statement may name it.
_NAME_LENGTH: Final = 4
#: The log's own files are no subject of its learnings.
_LOG_FOLDER: Final = ".roamkb/"


class EditedFiles:
    """The files that a session changed since its last statement, followed tool by tool."""

    def __init__(self, root: str) -> None:
        """Take the project's root; a file outside of it is none of the project's."""
        self._root = root.rstrip("/")
        self._files: dict[str, None] = {}
        self._is_stated = False

    def note_tool(self, files: tuple[str, ...]) -> None:
        """Note the files that a tool's call changed; the first after a statement begins anew."""
        project_files = list(filter(None, map(self._project_pattern, files)))
        if project_files and self._is_stated:
            self._files, self._is_stated = {}, False
        self._files |= dict.fromkeys(project_files)

    def files_of_statement(self, text: str, *, is_human: bool) -> tuple[str, ...]:
        """Return the files that a statement is about, as gitignore patterns.

        Those that it names; where it names none, the only one, with its test. What a human says is about the
        work to come.
        """
        self._is_stated = True
        named = tuple(file for file in self._files if _is_named(file, text))
        if named or is_human or len(set(map(_subject_of, self._files))) > 1:
            return named[:_MOST_FILES]
        return tuple(self._files)[:_MOST_FILES]

    def _project_pattern(self, file: str) -> str:
        """Return a file as a pattern of the project; empty for a file that is none of its."""
        relative = file.removeprefix(f"{self._root}/").removeprefix("./")
        if relative.startswith(("/", "~", "../", _LOG_FOLDER)) or "/../" in relative:
            return ""
        escaped = re.sub(r"([*?\[\]\\!#])", r"\\\1", relative)
        # a name alone would mean each file of that name
        return escaped if "/" in escaped else f"/{escaped}"


def _subject_of(file: str) -> str:
    """Return the name that a file shares with its test."""
    return re.sub(_TEST_AFFIX, "", PurePath(file).stem.casefold())


def _is_named(file: str, text: str) -> bool:
    path = PurePath(file)
    names = [path.name, *([path.stem] if len(path.stem) >= _NAME_LENGTH else ())]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
