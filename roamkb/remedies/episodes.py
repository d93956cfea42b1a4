"""Episodes of a session: a command failed, something was done, and the same command worked.

What was done in between is what fixed the error, as far as deeds tell: changes that concern it, commands that
did more than read, and how the command itself was changed. A session is looked at as it goes on, so what
failed and hasn't worked since is kept from look to look, and bounded.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from roamkb.core.data_tables import data_lines
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.remedies.error_output import error_lines
from roamkb.remedies.fingerprint import fingerprint
from roamkb.secrets.detector import withhold_secrets
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import name_of
from roamkb.shell.programs import reads_only
from roamkb.shell.programs import without_runners
from roamkb.text.tokenize import STOP_WORDS

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
_FAILURE_WEIGHT: Final = 8
#: What changes nothing but the shell that it is said to.
_SHELL_SETTINGS: Final = frozenset(" ".join(data_lines("idle_commands.txt")).split())
#: A version behind a package's name, or what makes it another build of the same.
_VARIANT: Final = lazily(r"(?<=\w)(?:[@=<>~!^:]|-(?=[a-z0-9])).*$")
#: A part of a name: of `parseHTTPUrl` or of `parse_url`.
_NAME_PART: Final = lazily(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{2,}(?![a-z])|\d{3,}")
_IS_PATH: Final = lazily(r"[/\\]|\w\.\w")

ReadCommands = Callable[[str], Sequence[ShellCommand]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEpisode:
    """An error, and the deeds until its command worked."""

    command: str
    error: str
    deeds: tuple[str, ...]

    @property
    def technique(self) -> str:
        """The deeds in one line, the latest that fit."""
        return clip_text("; ".join(self.deeds[-_MOST_NAMED:]), _LONGEST_TECHNIQUE)


def find_episodes(
    failures: Sequence[CommandFailure],
    passages: Iterable[TranscriptPassage],
    *,
    parse_shell: ReadCommands,
    root: str = "",
) -> tuple[tuple[CommandFailure, ...], tuple[ErrorEpisode, ...]]:
    """Return the failures that remain after `passages`, and the episodes that they completed, in order.

    `parse_shell` takes shell text apart; files below `root` are told by their path in it.
    """
    failing = list(failures)
    episodes: list[ErrorEpisode] = []
    for passage in passages:
        if passage.speaker not in (Speaker.TOOL, Speaker.PAGE):
            continue
        if passage.edits and not passage.has_failed:
            concerned = [failure for failure in failing if _concerns_failure(passage, failure, parse_shell)]
            failing = _add_deed(failing, _describe_edit(passage, root), to=concerned)
        if not passage.is_shell:
            continue
        text = clip_text(withhold_secrets(passage.command), _LONGEST_COMMAND)
        same_failures = [failure for failure in failing if is_same_command(failure.command, text, parse_shell)]
        if _has_failed(passage, parse_shell):
            failing = _add_failure(failing, same_failures, text, passage.text, parse_shell)
        elif same_failures:
            failing = [failure for failure in failing if failure not in same_failures]
            episodes += filter(None, (_completed_episode(failure, text) for failure in same_failures))
        elif not passage.has_failed and not _only_reads(parse_shell(passage.command)):
            failing = _add_deed(failing, clip_text(one_line(text), _LONGEST_DEED), to=failing)
    return tuple(failing[-_MOST_FAILURES:]), tuple(episodes)


def _add_deed(failures: Sequence[CommandFailure], deed: str, *, to: Sequence[CommandFailure]) -> list[CommandFailure]:
    return [
        failure
        if failure not in to or failure.is_past or deed in failure.deeds[-1:]
        else replace(failure, deeds=(*failure.deeds, deed)[-_MOST_DEEDS:])
        for failure in failures
    ]


def _add_failure(
    failing: Sequence[CommandFailure],
    same_failures: Sequence[CommandFailure],
    text: str,
    output: str,
    parse_shell: ReadCommands,
) -> list[CommandFailure]:
    """Return the failures once a command failed: with the same error as before, or with another."""
    error = _both_ends(withhold_secrets(output))
    is_look = all(reads_only(words) for words in _main_commands(text, parse_shell)[-1:])
    if not error.strip() or (is_look and not _tells_failure(output)):
        # what only looks may find nothing
        return list(failing)
    digest = fingerprint(error).digest
    if any(not failure.is_past and fingerprint(failure.error).digest == digest for failure in same_failures):
        return list(failing)
    past = [
        replace(failure, is_past=True) if failure in same_failures and failure.deeds else failure for failure in failing
    ]
    current = [failure for failure in past if failure not in same_failures or failure.is_past]
    return [*current, CommandFailure(command=text, error=error)]


def _completed_episode(failure: CommandFailure, worked: str) -> ErrorEpisode | None:
    """Return the episode of a failure whose command worked; None where no deeds lie between."""
    deeds = failure.deeds
    if not failure.is_past and " ".join(worked.split()) != " ".join(failure.command.split()):
        deeds = (*deeds, clip_text(one_line(worked), _LONGEST_DEED))
    return ErrorEpisode(command=failure.command, error=failure.error, deeds=deeds) if deeds else None


def _has_failed(passage: TranscriptPassage, parse_shell: ReadCommands) -> bool:
    """Say whether a command failed; a pipe's or an alternative's failure shows in its output."""
    if passage.has_failed:
        return True
    commands = parse_shell(passage.command)
    is_hidden = "||" in passage.command or any(command.is_fed for command in commands[-1:])
    if not is_hidden or _only_reads(commands):
        return False
    return _tells_failure(passage.text)


def _tells_failure(output: str) -> bool:
    return any(telling.weight >= _FAILURE_WEIGHT for telling in error_lines(output))


def _concerns_failure(passage: TranscriptPassage, failure: CommandFailure, parse_shell: ReadCommands) -> bool:
    """Say whether a change is of a file that the failure names, of the program's own, or of what the error is about."""
    told = f"{failure.command}\n{failure.error}"
    programs = tuple(name_of(words[0]).casefold() for words in _main_commands(failure.command, parse_shell))
    for path in map(PurePath, passage.edits):
        if path.name in told or path.name.casefold().startswith(programs):
            return True
        if (stem := _words_of(path.stem)) and stem <= _words_of(told):
            return True
    return not _subject_of(failure).isdisjoint(_words_of(f"{passage.removed}\n{passage.added}"))


@lru_cache(maxsize=_MOST_FAILURES)
def _subject_of(failure: CommandFailure) -> frozenset[str]:
    """Return the words of a command and of the lines of its output that name an error."""
    messages = (f"{line.name} {line.message}" for line in error_lines(failure.error))
    return _words_of("\n".join((failure.command, *messages)))


@lru_cache(maxsize=_MOST_FAILURES)
def _words_of(text: str) -> frozenset[str]:
    """Return the words of a text, those of which its names are made among them, but for what is in every text."""
    return frozenset(word.casefold() for word in _NAME_PART.findall(text)) - STOP_WORDS


def _describe_edit(passage: TranscriptPassage, root: str) -> str:
    """Return a description of an edit, with the added line where there is one short line."""
    files = ", ".join(_relative_path(file, root) for file in passage.edits[:3])
    before = set(map(str.strip, passage.removed.split("\n")))
    lines = [line for line in map(str.strip, passage.added.split("\n")) if line and line not in before]
    added = withhold_secrets(lines[0]) if len(lines) == 1 else ""
    return f"edit {files}: {added}" if added and len(added) <= _LONGEST_EDIT else f"edit {files}"


def _relative_path(file: str, root: str) -> str:
    path = PurePath(file)
    return str(path.relative_to(root)) if root and path.is_relative_to(root) else path.name or file


def _both_ends(text: str) -> str:
    if len(text) <= 2 * _LONGEST_END:
        return text
    return f"{text[:_LONGEST_END]}\n{text[-_LONGEST_END:]}"


# Which commands are the same


def is_same_command(failed: str, worked: str, parse_shell: ReadCommands) -> bool:
    """Say whether a command is one that failed before, perhaps with small differences.

    The text is the same; or what the one runs last, the other runs too: the same program with the same words,
    but for options, a version, or words that only one of both has.
    """
    if " ".join(failed.split()) == " ".join(worked.split()):
        return True
    mine, theirs = _main_commands(failed, parse_shell), _main_commands(worked, parse_shell)
    return bool(mine) and any(_runs_same(mine[-1], words) for words in theirs)


def _main_commands(text: str, parse_shell: ReadCommands) -> list[list[str]]:
    """Return the commands of shell text that are neither filters of output nor settings of the shell."""
    commands = [without_runners(list(command.words)) for command in parse_shell(text) if not command.is_fed]
    return [words for words in commands if words and words[0] not in _SHELL_SETTINGS]


def _only_reads(commands: Sequence[ShellCommand]) -> bool:
    word_lists = (command.words for command in commands)
    return all(
        reads_only(command_words) or command_words[0] in _SHELL_SETTINGS
        for command_words in word_lists
        if command_words
    )


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
    firm, other_firm = _fixed_words(mine), _fixed_words(theirs)
    if not firm and not other_firm:
        return plain == others or (len(short) > 1 and set(short) <= set(long))
    return _is_subset_of_words(firm, other_firm) and _values_fit(mine, theirs)


def _fixed_words(words: Sequence[str]) -> list[str]:
    """Return the words that are no options, and can't be an option's value."""
    return [
        word
        for before, word in pairwise(words)
        if not word.startswith("-") and (not before.startswith("-") or _IS_PATH.search(word))
    ]


def _is_subset_of_words(words_a: Sequence[str], words_b: Sequence[str]) -> bool:
    """Say whether the shorter of two has no word that the longer lacks, and the rest are but paths."""
    short, long = sorted(([_VARIANT.sub("", word) for word in words] for words in (words_a, words_b)), key=len)
    unmatched = list(long)
    for word in short:
        if word not in unmatched:
            return False
        unmatched.remove(word)
    return bool(short) or all(_IS_PATH.search(word) for word in unmatched)


def _values_fit(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether at most one option has another value."""
    values, others = (
        {before: word for before, word in pairwise(words) if before.startswith("-") and not word.startswith("-")}
        for words in (mine, theirs)
    )
    return (
        sum(_VARIANT.sub("", values[key]) != _VARIANT.sub("", others[key]) for key in values.keys() & others.keys())
        <= 1
    )
