"""Learnings that an agent said in passing: in comments on its tasks, and in its closing message.

`bd comments add ID "LEARNED: …"` is the established way to say one. A comment has a learning wherever
one of its lines begins with a known type or an alias of it; any other capital word (`TODO:`, `NOTE:`,
`DONE:`, `HTTP:`) is no type, since comments are full of them and few are worth keeping. The very first
word of a comment counts in any case (`learned: …`), later lines and messages only in capitals, where
`fact: …` is more likely a line of a list. A colon and a blank or a line's end must follow, or a wide
colon. The marker `[MEMORY] type=T` says itself that something is to be kept: there T may be any word.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.learning import ALIASES
from roamkb.log.learning import TYPES
from roamkb.shell.parser import read_commands
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import name_of
from roamkb.shell.programs import options_of
from roamkb.shell.programs import printed
from roamkb.shell.programs import script_of
from roamkb.shell.programs import stdin_of
from roamkb.shell.programs import without_runners
from roamkb.text.store.lexicons import alternatives
from roamkb.text.store.lexicons import vocabulary

_NAMES = "|".join([*TYPES, *ALIASES])
_HEAD = (
    r"(?P<item>(?:[-*+•]|\d{1,9}[.)])[ \t]++)?"
    r"(?P<bold>\*\*|__)?(?P<type>NAMES)(?:\*\*|__)?(?::(?:\*\*|__)?(?=\s|\Z)|：(?:\*\*|__)?)"
)
_FIRST = lazily(r"\s*+" + _HEAD.replace("NAMES", _NAMES), re.ASCII | re.IGNORECASE)
_LATER = lazily(r"^[ \t]*+" + _HEAD.replace("NAMES", _NAMES.upper()), re.ASCII | re.MULTILINE)
_SKIP = lazily(r"\s*+SKIP:")
#: The one blank that parts a text from its type.
_GAP = lazily(r"[ \t]|\r?\n")
_MEMORY = lazily(
    r"[ \t]*+\[MEMORY\](?:[ \t]++type=(?P<type>[^\s:]++))?(?:[ \t]++tags=(?P<tags>[^:]*+))?"
    r"[ \t]*+:(?P<text>.*)"
)
_FENCE = lazily(r"[ \t]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)?(?P<mark>`{3,}|~{3,}|<untrusted-knowledge)")
#: What ends a paragraph, besides a blank line: an item, a quotation, a heading, a table, a rule.
_BLOCK = lazily(r"[ \t]*+(?:(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)|>|#{1,6}[ \t]|\||-{3,}$|[*_]{3,}$|</?\w)")

#: How a line begins in which an agent goes on to tell what it did.
_OWN_DEEDS = lazily(rf"[ \t]*+{alternatives('first_person')}[ \t]+(?=\w)")
#: A line that ends so goes on in the next; and so does one as long as those that are wrapped.
_GOES_ON = lazily(rf"(?:[,;:(–—-]|\b(?i:{'|'.join(vocabulary('unfinished'))}))[ \t]*$")
_ENDS = lazily(r"[.!?][\"')\]*_`]*$")
_WRAPPED = 60

#: A script in a script in a script is read, one more is not; nor are scripts that repeat each other.
_SCRIPTS_DEEP = 3
_SCRIPTS_LONG = 4
_BD_VALUED = options_of("bd", "valued")
#: Tasks that one comment names.
_MOST_IDS = 10
_BEAD = lazily(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedLearning:
    """One learning as it was said, byte for byte."""

    #: As in the log: lower case, aliases resolved.
    type: str
    text: str
    #: The task that was commented on; empty in a message, and where a command names it by a variable.
    bead: str = ""
    tags: tuple[str, ...] = ()
    #: The word that was said for the type, where it was an alias.
    said: str = ""


def captured_from_command(command: str) -> tuple[CapturedLearning, ...]:
    """Return what the comments say that a shell command adds, in their order, each once.

    What a variable or a substitution would give is not known: it stays as written. `SKIP:` at the start
    of a comment says that there is nothing to keep.
    """
    said = (captured for bead, text in _comments(command) for captured in _parts(text, bead))
    return tuple(dict.fromkeys(said))


def captured_from_message(message: str) -> tuple[CapturedLearning, ...]:
    """Return what an agent's closing message, in Markdown, says in lines that begin with a type.

    A text goes on to the next blank line or block, or to a line about the work alone. Code, quotations
    and knowledge that was shown to the agent are left out; `[MEMORY] type=T tags=a,b: text` is a line of its
    own.
    """
    return read_message(message)[0]


def read_message(message: str) -> tuple[tuple[CapturedLearning, ...], str]:
    """Return what a message says in lines that begin with a type, and the message without those lines."""
    lines = message.split("\n")
    taken: list[int] = []
    found = tuple(captured for captured in _said_in_lines(lines, taken) if captured.text)
    for number in taken:
        # what stood above and below isn't one paragraph now
        lines[number] = ""
    return found, "\n".join(lines)


def _parts(text: str, bead: str) -> Iterator[CapturedLearning]:
    """Yield a comment's learnings; a line without a type belongs to the one before."""
    if _SKIP.match(text):
        return
    first = _FIRST.match(text)
    heads = [*([first] if first else []), *_LATER.finditer(text, first.end() if first else 0)]
    ends = [*(head.start() for head in heads), len(text)][1:]
    for head, end in zip(heads, ends, strict=True):
        gap = _GAP.match(text, head.end())
        content = text[gap.end() if gap else head.end() : end]
        if end < len(text):
            content = content.removesuffix("\n").removesuffix("\r")
        content = _without_closing(content)
        if content.strip():
            yield _captured(head, content, bead=bead)


def _captured(head: re.Match[str], text: str, *, bead: str = "") -> CapturedLearning:
    bold = head["bold"]
    if bold and head[0].count(bold) == 1:
        text = text.replace(bold, "", 1)
    type_, said = _resolved(head["type"])
    return CapturedLearning(type=type_, text=text, bead=bead, said=said)


def _resolved(word: str) -> tuple[str, str]:
    """Return the type that a word means, and the word if it is an alias."""
    known = word.lower()
    return (ALIASES[known], word) if known in ALIASES else (known, "")


def _without_closing(text: str) -> str:
    """Return a comment's text without a last line about the work alone."""
    before, newline, last = text.rstrip().rpartition("\n")
    is_closing = newline and _is_apart(before.rstrip().split("\n")[-1:], last)
    return before.rstrip() if is_closing else text


def _said_in_lines(lines: Sequence[str], taken: list[int]) -> Iterator[CapturedLearning]:
    """Yield the learnings; the numbers of their lines are put into `taken`."""
    fence = ""
    head: re.Match[str] | None = None
    paragraph: list[str] = []
    for number, line in enumerate([*lines, ""]):
        if fence:
            fence = "" if _closes(fence, line.strip()) else fence
            continue
        opens = _FENCE.match(line)
        found = None if opens else _LATER.match(line)
        if found and not found["item"] and line.startswith(("    ", "\t")):
            found = None
        memory = _MEMORY.match(line)
        ends = (
            opens or found or memory or _BLOCK.match(line) or not line.strip() or _is_apart(paragraph, line)
        )
        if head and ends:
            yield _captured(head, "\n".join(paragraph).strip())
            head = None
        if opens:
            fence = "" if _closes(opens["mark"], line[opens.end() :]) else opens["mark"]
        elif memory:
            type_, said = _resolved(memory["type"] or "learned")
            tags = tuple(filter(None, map(str.strip, (memory["tags"] or "").split(","))))
            taken.append(number)
            yield CapturedLearning(type=type_, text=memory["text"].strip(), tags=tags, said=said)
        elif found:
            taken.append(number)
            head, paragraph = found, [line[found.end() :].strip()]
        elif head:
            taken.append(number)
            paragraph.append(line.strip())


def _is_apart(paragraph: Sequence[str], line: str) -> bool:
    """Say whether `line` begins a sentence about the work alone, behind a text that has ended."""
    before = paragraph[-1] if paragraph else ""
    has_ended = _ENDS.search(before) or (len(before) < _WRAPPED and not _GOES_ON.search(before))
    return bool(before and has_ended) and _OWN_DEEDS.match(line) is not None


def _closes(fence: str, line: str) -> bool:
    if fence.startswith("<"):
        return "</untrusted-knowledge>" in line
    return len(line) >= len(fence) and not line.strip(fence[0])


def _comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the bead and the text of each comment that is added."""
    files: dict[str, str] = {}
    for command in _commands(text):
        text_of = printed(command)
        if command.output and text_of is not None:
            files[command.output] = text_of
        match without_runners(command.words):
            case [program, *words] if name_of(program) == "bd":
                yield from _comment(words, stdin_of(command), files)


def _commands(text: str) -> Iterator[ShellCommand]:
    """Yield the commands of `text`, and those of each script that it hands to a shell."""
    unread = _SCRIPTS_LONG * len(text)
    reading = [iter(read_commands(text))]
    while reading:
        command = next(reading[-1], None)
        if command is None:
            reading.pop()
            continue
        script = script_of(without_runners(command.words), stdin_of(command)) or ""
        if script and len(reading) <= _SCRIPTS_DEEP and len(script) <= unread:
            unread -= len(script)
            reading.append(iter(read_commands(script)))
        else:
            yield command


def _split_bd_options(words: list[str]) -> tuple[list[str], str | None]:
    """Return the operands of a `bd` command, and the file that `-f` names."""
    file: str | None = None
    names: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            names += rest
        elif not word.startswith("-") or word == "-":
            names.append(word)
        elif word in ("-f", "--file"):
            file = next(rest, "")
        elif word.startswith(("-f", "--file=")):
            file = word.removeprefix("-f").removeprefix("--file=").removeprefix("=")
        elif word in _BD_VALUED:
            next(rest, None)
    return names, file


def _comment(words: list[str], stdin: str | None, files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the comment that `bd` is asked to add; its options may stand anywhere."""
    names, file = _split_bd_options(words)
    match names:
        case ["comment" | "comments", "add", bead, *said] | ["comment", bead, *said]:
            pass
        case _:
            return
    if not _BEAD.fullmatch(bead):
        if not bead.startswith(("$", "`")):
            return
        bead = ""
    # of several tasks the first is the one that is commented on
    start = next((n for n in range(len(said[:_MOST_IDS])) if _FIRST.match(" ".join(said[n:]))), 0)
    if all(map(_BEAD.fullmatch, said[:start])):
        said = said[start:]
    if said and said != ["-"]:
        yield bead, " ".join(said)
    elif file in (None, "-", "/dev/stdin"):
        yield bead, (stdin or "").rstrip("\n")
    elif file in files:
        yield bead, files[file].rstrip("\n")
