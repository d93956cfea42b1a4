"""Episodes of a session: a command failed, something was done, and the same command worked.

What was done in between is what fixed the error, as far as deeds tell: files that were changed, commands
that did more than read, and how the command itself was changed. A session is looked at as it goes on, so what
failed and hasn't worked since is kept from look to look, and bounded.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from roamkb.core.data_tables import lines
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.remedies.error_output import tellings
from roamkb.remedies.fingerprint import fingerprint
from roamkb.secrets.detector import withheld
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import name_of
from roamkb.shell.programs import reads_only
from roamkb.shell.programs import without_runners

#: Commands that failed and may yet work, the latest; more than a session has in mind.
_MOST_FAILURES: Final = 12
#: Deeds that are kept of one failure, the latest, and those that name the technique.
_MOST_DEEDS: Final = 12
_MOST_NAMED: Final = 4
#: Characters of a command, of an error's output at either end, of what an edit added, of a technique.
_LONGEST_COMMAND: Final = 400
_LONGEST_END: Final = 2_000
_LONGEST_EDIT: Final = 80
_LONGEST_DEED: Final = 160
_LONGEST_TECHNIQUE: Final = 320
#: From this weight on, a line of a pipe's output says that the command failed: its status is its last part's.
_FAILS: Final = 8
#: What changes nothing but the shell that it is said to.
_SETTINGS: Final = frozenset(" ".join(lines("idle_commands.txt")).split())
#: A version behind a package's name, or what makes it another build of the same.
_VARIANT: Final = lazily(r"(?<=\w)(?:[@=<>~!^:]|-(?=[a-z0-9])).*$")
_IS_PATH: Final = lazily(r"[/\\]|\w\.\w")

ReadCommands = Callable[[str], Sequence[ShellCommand]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEpisode:
    """An error, and what was done until its command worked."""

    command: str
    error: str
    deeds: tuple[str, ...]

    @property
    def technique(self) -> str:
        """The deeds in one line, the latest that fit."""
        return clipped("; ".join(self.deeds[-_MOST_NAMED:]), _LONGEST_TECHNIQUE)


def found_episodes(
    failures: Sequence[CommandFailure],
    passages: Iterable[TranscriptPassage],
    *,
    read: ReadCommands,
    root: str = "",
) -> tuple[tuple[CommandFailure, ...], tuple[ErrorEpisode, ...]]:
    """Return what is still failing after `passages`, and the episodes that they completed, in order.

    `read` takes shell text apart; files below `root` are told by their path in it.
    """
    left = list(failures)
    found: list[ErrorEpisode] = []
    for passage in passages:
        if passage.speaker not in (Speaker.TOOL, Speaker.PAGE):
            continue
        if passage.edits and not passage.has_failed:
            left = _with_deed(left, _edit(passage, root))
        if not passage.is_shell:
            continue
        text = _masked(passage.command, _LONGEST_COMMAND)
        same = [one for one in left if is_same_command(one.command, text, read)]
        if _has_failed(passage, read):
            left = _failed(left, same, text, passage.text, read)
        elif same:
            left = [one for one in left if one not in same]
            found += filter(None, (_episode(one, text) for one in same))
        elif not passage.has_failed and not _only_reads(read(passage.command)):
            left = _with_deed(left, clipped(shown(text), _LONGEST_DEED))
    return tuple(left[-_MOST_FAILURES:]), tuple(found)


def _with_deed(failures: Sequence[CommandFailure], deed: str) -> list[CommandFailure]:
    return [
        one
        if one.is_past or deed in one.deeds[-1:]
        else replace(one, deeds=(*one.deeds, deed)[-_MOST_DEEDS:])
        for one in failures
    ]


def _failed(
    left: Sequence[CommandFailure], same: Sequence[CommandFailure], text: str, output: str, read: ReadCommands
) -> list[CommandFailure]:
    """Return what is failing once a command failed: in the way that it did before, or in another."""
    error = _ends(withheld(output))
    is_look = all(reads_only(words) for words in _mains(text, read)[-1:])
    if not error.strip() or (is_look and not _tells_failure(output)):
        # what only looks may find nothing
        return list(left)
    digest = fingerprint(error).digest
    if any(not one.is_past and fingerprint(one.error).digest == digest for one in same):
        return list(left)
    past = [replace(one, is_past=True) if one in same and one.deeds else one for one in left]
    kept = [one for one in past if one not in same or one.is_past]
    return [*kept, CommandFailure(command=text, error=error)]


def _episode(failure: CommandFailure, worked: str) -> ErrorEpisode | None:
    """Return the episode of a failure whose command worked; None where nothing was done about it."""
    deeds = failure.deeds
    if not failure.is_past and " ".join(worked.split()) != " ".join(failure.command.split()):
        deeds = (*deeds, clipped(shown(worked), _LONGEST_DEED))
    return ErrorEpisode(command=failure.command, error=failure.error, deeds=deeds) if deeds else None


def _has_failed(passage: TranscriptPassage, read: ReadCommands) -> bool:
    """Say whether a command failed; where its status is a filter's or an alternative's, its output tells."""
    if passage.has_failed:
        return True
    commands = read(passage.command)
    is_hidden = "||" in passage.command or any(command.is_fed for command in commands[-1:])
    if not is_hidden or _only_reads(commands):
        return False
    return _tells_failure(passage.text)


def _tells_failure(output: str) -> bool:
    return any(telling.weight >= _FAILS for telling in tellings(output))


def _edit(passage: TranscriptPassage, root: str) -> str:
    """Return what an edit did, with what it added where that is short."""
    files = ", ".join(_relative(file, root) for file in passage.edits[:3])
    before = set(map(str.strip, passage.removed.split("\n")))
    lines = [line for line in map(str.strip, passage.added.split("\n")) if line and line not in before]
    added = withheld(lines[0]) if len(lines) == 1 else ""
    return f"edit {files}: {added}" if added and len(added) <= _LONGEST_EDIT else f"edit {files}"


def _relative(file: str, root: str) -> str:
    path = PurePath(file)
    return str(path.relative_to(root)) if root and path.is_relative_to(root) else path.name or file


def _masked(text: str, longest: int) -> str:
    return clipped(withheld(text), longest)


def _ends(text: str) -> str:
    if len(text) <= 2 * _LONGEST_END:
        return text
    return f"{text[:_LONGEST_END]}\n{text[-_LONGEST_END:]}"


# Which commands are the same


def is_same_command(failed: str, worked: str, read: ReadCommands) -> bool:
    """Say whether a command is one that failed before, perhaps with small differences.

    The text is the same; or what the one runs last, the other runs too: the same program with the same words,
    but for options, a version, or words that only one of both has.
    """
    if " ".join(failed.split()) == " ".join(worked.split()):
        return True
    mine, theirs = _mains(failed, read), _mains(worked, read)
    return bool(mine) and any(_runs_same(mine[-1], words) for words in theirs)


def _mains(text: str, read: ReadCommands) -> list[list[str]]:
    """Return the commands of shell text that aren't filters of others' output, nor settings of the shell."""
    found = [without_runners(list(command.words)) for command in read(text) if not command.is_fed]
    return [words for words in found if words and words[0] not in _SETTINGS]


def _only_reads(commands: Sequence[ShellCommand]) -> bool:
    words = (command.words for command in commands)
    return all(reads_only(one) or one[0] in _SETTINGS for one in words if one)


def _runs_same(mine: list[str], theirs: list[str]) -> bool:
    mine, theirs = ([name_of(words[0]), *words[1:]] for words in (mine, theirs))
    if mine == theirs:
        return True
    plain, others = ([word for word in words if not word.startswith("-")] for words in (mine, theirs))
    short, long = sorted((plain, others), key=len)
    if len(short) > 1 and long[-len(short) :] == short:
        # another program runs it
        return True
    if mine[0] != theirs[0] or (reads_only(mine) and plain != others):
        return False
    firm, other_firm = _firm(mine), _firm(theirs)
    if not firm and not other_firm:
        return plain == others or (len(short) > 1 and set(short) <= set(long))
    return _is_part(firm, other_firm) and _values_fit(mine, theirs)


def _firm(words: Sequence[str]) -> list[str]:
    """Return the words that are no options, and can't be an option's value."""
    return [
        word
        for before, word in pairwise(words)
        if not word.startswith("-") and (not before.startswith("-") or _IS_PATH.search(word))
    ]


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether the shorter of two has no word that the longer hasn't, and the rest is but places."""
    short, long = sorted(([_VARIANT.sub("", word) for word in words] for words in (one, other)), key=len)
    rest = list(long)
    for word in short:
        if word not in rest:
            return False
        rest.remove(word)
    return bool(short) or all(_IS_PATH.search(word) for word in rest)


def _values_fit(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether at most one option has another value."""
    values, others = (
        {
            before: word
            for before, word in pairwise(words)
            if before.startswith("-") and not word.startswith("-")
        }
        for words in (mine, theirs)
    )
    return (
        sum(
            _VARIANT.sub("", values[key]) != _VARIANT.sub("", others[key])
            for key in values.keys() & others.keys()
        )
        <= 1
    )
