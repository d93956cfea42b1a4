"""Calls of find, fd and xargs: their tests, and the commands that they start for each file."""

import re
from collections.abc import Sequence

from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import matches_glob
from roamkb.guard.paths import may_be_note
from roamkb.shell.programs import name_of
from roamkb.shell.programs import options_of

_EXEC_OPTION = r"-(?:exec|execdir|ok|okdir)|--exec(?:-batch)?|-[xX]"
_OUTPUT_OPTIONS = options_of("find", "writes")
_NAME_TESTS = options_of("find", "name")
_PATH_TESTS = _NAME_TESTS | options_of("find", "path")
_NEGATIONS = ("!", "-not")
_FILE_MARK = r"\{[./]{0,2}\}"
#: fd's options that take a value, and those that say where it looks.
_FD_VALUED = options_of("fd", "valued")
_FD_PLACES = options_of("fd", "place")


class FindCall:
    """One call of find or fd."""

    __slots__ = ("commands", "deletes", "folders", "outputs", "tests")

    def __init__(self, words: Sequence[str]) -> None:
        """Parse the words of the call."""
        name, arguments = name_of(words[0]), list(words[1:])
        self.commands: list[list[str]] = []
        self.outputs: list[str] = []
        self.deletes = name == "find" and "-delete" in arguments
        own_words, is_open = [], False
        for word in arguments:
            if is_open and word in (";", "+"):
                is_open = False
            elif is_open:
                self.commands[-1].append(word)
            elif re.fullmatch(_EXEC_OPTION, word):
                self.commands.append([])
                is_open = True
            else:
                own_words.append(word)
        self.outputs = [own_words[index + 1] for index, word in enumerate(own_words[:-1]) if word in _OUTPUT_OPTIONS]
        self.folders, self.tests = self._split_find(own_words) if name == "find" else self._split_fd(own_words)

    def _split_find(self, own_words: list[str]) -> tuple[list[str], list[str]]:
        while own_words and re.fullmatch(r"-[HLP]|-[OD]\w*", own_words[0]):
            own_words = own_words[1:]
        ends = next((index for index, word in enumerate(own_words) if word.startswith(("-", "(", "!"))), len(own_words))
        return own_words[:ends] or ["."], own_words[ends:]

    def _split_fd(self, own_words: list[str]) -> tuple[list[str], list[str]]:
        patterns: list[str] = []
        folders: list[str] = []
        tests: list[str] = []
        remaining = iter(own_words)
        for word in remaining:
            option, equals, value = word.partition("=")
            if option in _FD_PLACES:
                folders.append(value if equals else next(remaining, ""))
            elif option in _FD_VALUED:
                value = value if equals else next(remaining, "")
                tests += ["-name", f"*.{value}"] if option in ("-e", "--extension") else []
            elif not word.startswith("-"):
                patterns.append(word)
        if patterns and (match := re.search(r"\\\.(\w+)\$?$|^\*\.(\w+)$", patterns[0])):
            tests += ["-name", f"*.{match[1] or match[2]}"]
        return [*folders, *patterns[1:]] or ["."], tests

    def may_find(self, folder: str, guarded: str, *, is_note: bool) -> bool:
        """Say whether it may find `guarded` in `folder`, a folder on the way there, or a note in it."""
        below = guarded[len(folder.rstrip("/")) :].strip("/") if guarded.startswith(folder) else guarded
        for test, depth in zip(self.tests, self.tests[1:], strict=False):
            if test == "-maxdepth" and depth.isdigit() and int(depth) <= below.count("/") + is_note:
                return False
        names = [
            value.rpartition("/")[2].lower()
            for previous, test, value in zip(["", *self.tests], self.tests, self.tests[1:], strict=False)
            if test in _PATH_TESTS and previous not in _NEGATIONS
        ]
        return not names or any(
            (is_note and may_be_note(name)) or any(matches_glob(name, part.lower()) for part in below.split("/"))
            for name in names
        )


def add_found_file(words: Sequence[str], file: str) -> list[str]:
    """Return a command with a found file where its mark stands, or behind it."""
    filled = [re.sub(_FILE_MARK, lambda _: file, word) for word in words]
    return filled if filled != [*words] else [*filled, file]


def input_mark(words: Sequence[str]) -> str:
    """Return the mark that xargs replaces by each input; empty where input is appended."""
    for index, word in enumerate(words):
        if match := re.match(r"(?:-[0rt]*I|--replace=?|-i)(.*)", word):
            return match[1] or (words[index + 1] if word.endswith("I") and index + 1 < len(words) else "{}")
        if not word.startswith("-"):
            break
    return ""


def add_input_words(words: Sequence[str], input_words: Sequence[str], mark: str) -> list[str]:
    """Return the command that xargs or parallel starts, with its input."""
    file = next((candidate for candidate in input_words if candidate != UNKNOWN), UNKNOWN)
    if mark:
        return [word.replace(mark, file) for word in words]
    return [*words, *input_words]
