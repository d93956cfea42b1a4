"""Learnings announced in passing: in comments on an agent's tasks, and in its closing message.

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
from roamkb.core.text import fold_text
from roamkb.log.learning import ALIASES
from roamkb.log.learning import TYPES
from roamkb.shell.parser import read_commands
from roamkb.shell.programs import ShellCommand
from roamkb.shell.programs import name_of
from roamkb.shell.programs import options_of
from roamkb.shell.programs import printed_text
from roamkb.shell.programs import script_of
from roamkb.shell.programs import stdin_of
from roamkb.shell.programs import without_runners
from roamkb.text import tokenize
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.lexicons import vocabulary

_NAMES = "|".join([*TYPES, *ALIASES])
_MARKER_HEAD = (
    r"(?P<item>(?:[-*+•]|\d{1,9}[.)])[ \t]++)?"
    r"(?P<bold>\*\*|__)?(?P<type>NAMES)(?:\*\*|__)?(?::(?:\*\*|__)?(?=\s|\Z)|：(?:\*\*|__)?)"
)
_FIRST_MARKER = lazily(r"\s*+" + _MARKER_HEAD.replace("NAMES", _NAMES), re.ASCII | re.IGNORECASE)
_LATER_MARKER = lazily(r"^[ \t]*+" + _MARKER_HEAD.replace("NAMES", _NAMES.upper()), re.ASCII | re.MULTILINE)
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
_OWN_DEEDS = lazily(rf"[ \t]*+{alternatives_pattern('first_person')}[ \t]+(?=\w)")
#: A line that ends so goes on in the next; and so does one as long as those that are wrapped.
_GOES_ON = lazily(rf"(?:[,;:(–—-]|\b(?i:{'|'.join(vocabulary('unfinished'))}))[ \t]*$")
_ENDS = lazily(r"[.!?][\"')\]*_`]*$")
_WRAP_WIDTH = 60

#: A script in a script in a script is read, one more is not; nor are scripts that repeat each other.
_SCRIPTS_DEEP = 3
_SCRIPTS_LONG = 4
_BD_VALUED = options_of("bd", "valued")
#: Characters of a line that says that there is nothing.
_LONGEST_NOTHING = 80
#: Tasks that one comment names.
_MOST_IDS = 10
_BEAD = lazily(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedLearning:
    """One announced learning, byte for byte."""

    #: As in the log: lower case, aliases resolved.
    type: str
    text: str
    #: The task that was commented on; empty in a message, and where a command names it by a variable.
    bead: str = ""
    tags: tuple[str, ...] = ()
    #: The word that was said for the type, where it was an alias.
    alias: str = ""


def captured_from_command(command: str) -> tuple[CapturedLearning, ...]:
    """Return the learnings in the comments that a shell command adds, in their order, each once.

    What a variable or a substitution would give is not known: it stays as written. `SKIP:` at the start
    of a comment says that there is nothing to keep.
    """
    learnings = (captured for bead, text in _added_comments(command) for captured in _learnings_of_comment(text, bead))
    return tuple(dict.fromkeys(learnings))


def captured_from_message(message: str) -> tuple[CapturedLearning, ...]:
    """Return the learnings of an agent's closing message in Markdown, by lines that begin with a type.

    A text goes on to the next blank line or block, or to a line about the work alone. Code, quotations
    and knowledge that was shown to the agent are left out; `[MEMORY] type=T tags=a,b: text` is a line of its
    own.
    """
    return read_message(message)[0]


def read_message(message: str) -> tuple[tuple[CapturedLearning, ...], str]:
    """Return the learnings in a message's typed lines, and the message without those lines."""
    lines = message.split("\n")
    taken_lines: list[int] = []
    learnings = tuple(
        captured
        for captured in _learnings_in_lines(lines, taken_lines)
        if captured.text and not _says_nothing(captured.text)
    )
    for number in taken_lines:
        # what stood above and below isn't one paragraph now
        lines[number] = ""
    return learnings, "\n".join(lines)


def _learnings_of_comment(text: str, bead: str) -> Iterator[CapturedLearning]:
    """Yield a comment's learnings; a line without a type belongs to the one before."""
    if _SKIP.match(text):
        return
    first_marker = _FIRST_MARKER.match(text)
    heads = [
        *([first_marker] if first_marker else []),
        *_LATER_MARKER.finditer(text, first_marker.end() if first_marker else 0),
    ]
    ends = [*(head.start() for head in heads), len(text)][1:]
    for head, end in zip(heads, ends, strict=True):
        gap = _GAP.match(text, head.end())
        content = text[gap.end() if gap else head.end() : end]
        if end < len(text):
            content = content.removesuffix("\n").removesuffix("\r")
        content = _without_closing(content)
        if content.strip():
            yield _captured_learning(head, content, bead=bead)


def _says_nothing(text: str) -> bool:
    """Return whether a line announces nothing: who asks has learned nothing yet, nor who says "nothing new"."""
    if text.rstrip().endswith(("?", "？")):
        return True
    words = tokenize.split_words(fold_text(text)) if len(text) <= _LONGEST_NOTHING else ()
    beside = vocabulary("beside_nothing") | tokenize.STOP_WORDS
    return bool(words) and words[0] in vocabulary("nothing") and beside.issuperset(words[1:])


def _captured_learning(head: re.Match[str], text: str, *, bead: str = "") -> CapturedLearning:
    bold = head["bold"]
    if bold and head[0].count(bold) == 1:
        text = text.replace(bold, "", 1)
    type_, alias = _resolve_type(head["type"])
    return CapturedLearning(type=type_, text=text, bead=bead, alias=alias)


def _resolve_type(word: str) -> tuple[str, str]:
    """Return the canonical type of a word, and the word if it is an alias."""
    lowered = word.lower()
    return (ALIASES[lowered], word) if lowered in ALIASES else (lowered, "")


def _without_closing(text: str) -> str:
    """Return a comment's text without a last line about the work alone."""
    before, newline, last_line = text.rstrip().rpartition("\n")
    is_closing = newline and _is_closing_line(before.rstrip().split("\n")[-1:], last_line)
    return before.rstrip() if is_closing else text


def _learnings_in_lines(lines: Sequence[str], taken_lines: list[int]) -> Iterator[CapturedLearning]:
    """Yield the learnings of typed lines; the numbers of their lines are put into `taken_lines`."""
    fence = ""
    head: re.Match[str] | None = None
    paragraph: list[str] = []
    for number, line in enumerate([*lines, ""]):
        if fence:
            fence = "" if _closes_fence(fence, line.strip()) else fence
            continue
        opens = _FENCE.match(line)
        marker = None if opens else _LATER_MARKER.match(line)
        if marker and not marker["item"] and line.startswith(("    ", "\t")):
            marker = None
        memory = _MEMORY.match(line)
        begins_anew = _is_closing_line(paragraph, line) or _is_next_sentence(paragraph, line)
        ends = opens or marker or memory or _BLOCK.match(line) or not line.strip() or begins_anew
        if head and ends:
            yield _captured_learning(head, "\n".join(paragraph).strip())
            head = None
        if opens:
            fence = "" if _closes_fence(opens["mark"], line[opens.end() :]) else opens["mark"]
        elif memory:
            type_, alias = _resolve_type(memory["type"] or "learned")
            tags = tuple(filter(None, map(str.strip, (memory["tags"] or "").split(","))))
            taken_lines.append(number)
            yield CapturedLearning(type=type_, text=memory["text"].strip(), tags=tags, alias=alias)
        elif marker:
            taken_lines.append(number)
            head, paragraph = marker, [line[marker.end() :].strip()]
        elif head:
            taken_lines.append(number)
            paragraph.append(line.strip())


def _is_closing_line(paragraph: Sequence[str], line: str) -> bool:
    """Say whether `line` begins a sentence about the work alone, behind a text that has ended."""
    before = paragraph[-1] if paragraph else ""
    has_ended = _ENDS.search(before) or _is_whole_line(before)
    return bool(before and has_ended) and _OWN_DEEDS.match(line) is not None


def _is_next_sentence(paragraph: Sequence[str], line: str) -> bool:
    """Say whether `line` begins anew below a short line without a mark at its end, which is all of a statement."""
    before = paragraph[-1] if paragraph else ""
    return bool(before) and _is_whole_line(before) and not _ENDS.search(before) and line.lstrip()[:1].isupper()


def _is_whole_line(line: str) -> bool:
    return len(line) < _WRAP_WIDTH and not _GOES_ON.search(line)


def _closes_fence(fence: str, line: str) -> bool:
    if fence.startswith("<"):
        return "</untrusted-knowledge>" in line
    return len(line) >= len(fence) and not line.strip(fence[0])


def _added_comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the bead and the text of each comment that is added."""
    files: dict[str, str] = {}
    for command in nested_commands(text):
        text_of = printed_text(command)
        if command.output and text_of is not None:
            files[command.output] = text_of
        match without_runners(command.words):
            case [program, *words] if name_of(program) == "bd":
                yield from _parse_bd_comment(words, stdin_of(command), files)


def nested_commands(text: str) -> Iterator[ShellCommand]:
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


def _parse_bd_comment(words: list[str], stdin: str | None, files: dict[str, str]) -> Iterator[tuple[str, str]]:
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
    start = next((index for index in range(len(said[:_MOST_IDS])) if _FIRST_MARKER.match(" ".join(said[index:]))), 0)
    if all(map(_BEAD.fullmatch, said[:start])):
        said = said[start:]
    if said and said != ["-"]:
        yield bead, " ".join(said)
    elif file in (None, "-", "/dev/stdin"):
        yield bead, (stdin or "").rstrip("\n")
    elif file in files:
        yield bead, files[file].rstrip("\n")
