"""What find, fd and xargs look for, and the commands that they start for each file."""

import re
from collections.abc import Sequence

from roamkb.guard.paths import UNKNOWN
from roamkb.guard.paths import matches
from roamkb.guard.paths import may_be_note
from roamkb.shell.programs import name_of
from roamkb.shell.programs import options_of

_STARTS = r"-(?:exec|execdir|ok|okdir)|--exec(?:-batch)?|-[xX]"
_WRITES = options_of("find", "writes")
_BY_NAME = options_of("find", "name")
_NAMED = _BY_NAME | options_of("find", "path")
_NOT = ("!", "-not")
_FILE_MARK = r"\{[./]{0,2}\}"
#: fd's options that take a value, and those that say where it looks.
_FD_VALUED = options_of("fd", "valued")
_FD_PLACES = options_of("fd", "place")


class FindCall:
    """One call of find or fd."""

    __slots__ = ("commands", "deletes", "folders", "outputs", "tests")

    def __init__(self, words: Sequence[str]) -> None:
        """Take its words apart."""
        name, rest = name_of(words[0]), list(words[1:])
        self.commands: list[list[str]] = []
        self.outputs: list[str] = []
        self.deletes = name == "find" and "-delete" in rest
        own, is_open = [], False
        for word in rest:
            if is_open and word in (";", "+"):
                is_open = False
            elif is_open:
                self.commands[-1].append(word)
            elif re.fullmatch(_STARTS, word):
                self.commands.append([])
                is_open = True
            else:
                own.append(word)
        self.outputs = [own[at + 1] for at, word in enumerate(own[:-1]) if word in _WRITES]
        self.folders, self.tests = self._of_find(own) if name == "find" else self._of_fd(own)

    def _of_find(self, own: list[str]) -> tuple[list[str], list[str]]:
        while own and re.fullmatch(r"-[HLP]|-[OD]\w*", own[0]):
            own = own[1:]
        ends = next((at for at, one in enumerate(own) if one.startswith(("-", "(", "!"))), len(own))
        return own[:ends] or ["."], own[ends:]

    def _of_fd(self, own: list[str]) -> tuple[list[str], list[str]]:
        named: list[str] = []
        folders: list[str] = []
        tests: list[str] = []
        rest = iter(own)
        for word in rest:
            option, equals, value = word.partition("=")
            if option in _FD_PLACES:
                folders.append(value if equals else next(rest, ""))
            elif option in _FD_VALUED:
                value = value if equals else next(rest, "")
                tests += ["-name", f"*.{value}"] if option in ("-e", "--extension") else []
            elif not word.startswith("-"):
                named.append(word)
        if named and (found := re.search(r"\\\.(\w+)\$?$|^\*\.(\w+)$", named[0])):
            tests += ["-name", f"*.{found[1] or found[2]}"]
        return [*folders, *named[1:]] or ["."], tests

    def may_find(self, folder: str, guarded: str, *, is_note: bool) -> bool:
        """Say whether it may find `guarded` in `folder`, a folder on the way there, or a note in it."""
        way = guarded[len(folder.rstrip("/")) :] if guarded.startswith(folder) else ""
        parts = way.strip("/").split("/")
        wanted: list[bool] = []
        for before, test, value in zip(["", *self.tests], self.tests, self.tests[1:], strict=False):
            if (
                test == "-maxdepth"
                and value.isdigit()
                and "f" in self.tests
                and int(value) < len(parts) + is_note
            ):
                return False
            if test not in _NAMED:
                continue
            place, _, name = value.rpartition("/") if test not in _BY_NAME else ("", "", value)
            found = (is_note and may_be_note(name)) or any(
                matches(name.lower(), one.lower()) for one in parts
            )
            if place:
                found = (found and any(matches(place, one) for one in (guarded, way[1:]))) or matches(
                    value, guarded
                )
            if before not in _NOT:
                wanted.append(found)
            elif is_note and found and matches(name, "0.org"):
                return False
        return "-empty" not in self.tests and (any(wanted) if wanted else True)


def with_files(words: Sequence[str], file: str) -> list[str]:
    """Return a command with a found file where its mark stands, or behind it."""
    filled = [re.sub(_FILE_MARK, lambda _: file, word) for word in words]
    return filled if filled != [*words] else [*filled, file]


def mark_of_xargs(words: Sequence[str]) -> str:
    """Return what stands for each input in what xargs starts; empty where it is put behind."""
    for at, word in enumerate(words):
        if found := re.match(r"(?:-[0rt]*I|--replace=?|-i)(.*)", word):
            return found[1] or (words[at + 1] if word.endswith("I") and at + 1 < len(words) else "{}")
        if not word.startswith("-"):
            break
    return ""


def with_input(words: Sequence[str], given: Sequence[str], mark: str) -> list[str]:
    """Return what xargs or parallel starts, with what it reads."""
    file = next((one for one in given if one != UNKNOWN), UNKNOWN)
    if mark:
        return [word.replace(mark, file) for word in words]
    return [*words, *given]
