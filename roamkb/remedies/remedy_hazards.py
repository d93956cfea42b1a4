"""Hazards of remedies: why one is for whoever asks, and told to nobody unasked.

A command is risky that runs as another user, can't be taken back, or takes a protection away, by
`data/risky_commands.tsv`, program by program: what is read is the shell text, and of what is no whole shell text the
words. A command may stand behind others on its line, as in a sentence that tells of it.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cache

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.typing import Final
from roamkb.secrets.detector import SECRET_MARK
from roamkb.shell.parser import read_script
from roamkb.shell.programs import ASSIGNMENT
from roamkb.shell.programs import name_of
from roamkb.text.unsafe_text import unsafe_reason

#: What a masked secret leaves of a command can't be run.
_MASKED: Final = "a secret was masked in it"
_ANY = "-"
_SEPARATORS = r"[\s;|&()`'\"]+"
#: Scripts in scripts.
_DEEPEST = 4


def remedy_hazard(technique: str, steps: Sequence[str]) -> str:
    """Return why a technique with its steps is told to nobody unasked, as a clause; empty where it may be."""
    texts = (technique, *steps)
    if any(_holds_mask(text) for text in texts):
        return _MASKED
    return unsafe_reason(texts) or next(filter(None, map(find_risk, texts)), "")


def _holds_mask(text: str) -> bool:
    # `names[key]` is code
    return any(not text[: mark.start()][-1:].isalnum() for mark in SECRET_MARK.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskyCommand:
    """A row of the table: a subcommand and words that make a program's command risky."""

    kind: str
    subcommand: str
    #: Options and, where it isn't empty, a regular expression; neither is any words.
    options: frozenset[str]
    pattern: str

    def find_word(self, words: Sequence[str]) -> str | None:
        """Return the word of a command behind the program that makes it risky; None without one."""
        if self.subcommand != _ANY and self.subcommand not in words:
            return None
        if not self.options and not self.pattern:
            return "" if self.subcommand == _ANY else self.subcommand
        return next(filter(self._has_word, words), None)

    def _has_word(self, word: str) -> bool:
        if word.partition("=")[0] in self.options:
            return True
        if self.pattern and re.fullmatch(self.pattern, word):
            return True
        return re.fullmatch("-[A-Za-z]+", word) is not None and any(f"-{letter}" in self.options for letter in word[1:])


def find_risk(text: str, *, depth: int = _DEEPEST) -> str:
    """Return what makes a shell text risky, as a clause; empty where nothing does."""
    script = read_script(text)
    commands = [command.words for command in script.commands if command.words]
    if not script.is_whole or not commands:
        commands = [[word for word in re.split(_SEPARATORS, text) if word]]
    # of a lone quote, no word is left
    risks = (risk for words in commands if words for risk in _risks_of_words(words, depth))
    return next(risks, "")


def _risks_of_words(words: Sequence[str], depth: int) -> Iterator[str]:
    table = _risky_commands()
    for start, word in enumerate(words):
        name, rest = name_of(word), words[start + 1 :]
        variables = table["="] if re.match(ASSIGNMENT, word) else ()
        yield from _named_risks(variables, "", [word])
        yield from _named_risks(table.get(name, ()), name, rest)
        # the argument of `sh -c`
        if depth and " " in word and (risk := find_risk(word, depth=depth - 1)):
            yield risk
    yield from _named_risks(table["*"], name_of(words[0]), words[1:])


def _named_risks(rows: Sequence[RiskyCommand], name: str, words: Sequence[str]) -> Iterator[str]:
    for row in rows:
        if (word := row.find_word(words)) is not None:
            middle = row.subcommand if row.subcommand not in (_ANY, word) else ""
            yield f"it is {row.kind}: {' '.join(filter(None, (name, middle, word.split(' ')[0])))}"


@cache
def _risky_commands() -> dict[str, tuple[RiskyCommand, ...]]:
    """Return the rows of the table by program."""
    table: dict[str, tuple[RiskyCommand, ...]] = {}
    for kind, programs, subcommand, words in data_rows("risky_commands.tsv"):
        options, _, pattern = f" {words}".partition(" ~")
        row = RiskyCommand(
            kind=kind,
            subcommand=subcommand,
            options=frozenset(() if options.strip() == _ANY else options.split()),
            pattern=pattern,
        )
        for program in programs.split():
            table[program] = (*table.get(program, ()), row)
    return table
