"""Noise flags of a learning's own text: shell commands, code blocks, headings, tags.

Flags that lower a rank and ask for a look; never a filter, never a deletion (D8). Good
sentences begin with "If", "Git", "For" and "echo", so that a first word decides nothing:
a command is known by its syntax, and by having none of the words that sentences have.
"""

import re
from typing import Final

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.text.similarity.shell_remnants import without_debris
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import split_words

#: Programs that agents run, and which of them any one word behind them makes a command.
_PROGRAMS: Final = {program: mark for programs, mark in data_rows("command_lines.tsv") for program in programs.split()}
#: Words of sentences that hardly a command line has outside quotes; a letter alone is an argument.
_OF_SENTENCES: Final = frozenset(
    word for name in ("en/stop_words", "en/negations", "en/exceptions") for word in vocabulary(name) if len(word) > 1
)
#: Plural names of what commands are given, which look like verbs.
_PLURALS: Final = vocabulary("argument_plurals")
#: Characters that tell; no statement needs more.
_LOOKED_AT = 4000
#: More plain words than arguments are.
_MANY_WORDS = 4

_QUOTED = lazily(r"""(?<![^\s=(,])(?:\$?'[^']*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z))""", re.DOTALL)
_OPEN_QUOTE = lazily(r"""(?<![^\s=(,])"(?:[^"\\]|\\.)*\Z""", re.DOTALL)
_PLAIN = lazily(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SYNTAX = lazily(
    r"(?:^|\s)--?[A-Za-z]|&&|\|\||[|;]\s*\S|\s[12&]?>>?\s*\S|<<|\$[({A-Za-z_]|(?:^|\s)\S*/\S|(?:^|\s)\w+=|\\$"
    r"|\s[\w-]+\.\w+(?:\s|$)"
)
_CHAINED = lazily(r"(?:&&|\|\||\||\\)\s*\Z")
_ASSIGNMENT = lazily(r"\A(?:[A-Z_][A-Z0-9_]*=\S*\s+)+")
_PROMPT = lazily(r"\A[$>%]\s+(?=\w)")
_CONTROL = lazily(
    r"\A(?:(?:if|while|until)\s+(?:!\s+)?(?:\[\[?\s[^\n]*\]\s*(?:;|&&|\|\||\n)|test\s+-|\(\(|[^\n]*;\s*(?:then|do)\b)"
    r"|for\s+\w+\s+in\s[^\n]*(?:;\s*|\n\s*)do\b|for\s+\(\(|case\s+\S+\s+in\b|#!\s*/)"
)

_COMMENT = lazily(r"\s*#(?:\s|$)")
_TRACKER = lazily(r"bd (?:close|comments?|create|dep|list|ready|reopen|show|sync|update)(?!\S)")

_HEADING = lazily(r"#{1,6}\s[^\n]*")
_FENCE = lazily(r"(?:`{3,}|~{3,})[^\n`]*(?:\n(?!```|~~~)[^\n]*)*(?:\n(?:`{3,}|~{3,})\s*)?")
_TAG = lazily(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>")


def noise_of(content: str) -> str:
    """Return the reason why `content` is no statement; empty where it is one."""
    text = content[:_LOOKED_AT].strip()
    if _TAG.fullmatch(text):
        return "a tag alone"
    if text.startswith(("```", "~~~")) and _FENCE.fullmatch(text):
        return "a code block alone"
    if not any(letter.isalpha() for word in split_words(text) for letter in word):
        return "it has no word"
    if _HEADING.fullmatch(text):
        return "a heading alone"
    if text.endswith(("?", "？")):
        return "a question"
    if _is_script(text):
        return "a shell command"
    if debris := text.removeprefix(without_debris(text)).lstrip("\"' \t)"):
        return f"it holds the rest of a shell command: {clip_text(one_line(debris), 60)}"
    return ""


def _is_script(text: str) -> bool:
    """Say whether the whole text, or its unfinished first line, is a shell script."""
    if _CONTROL.match(text):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    first_line = lines[0]
    if (
        len(lines) > 1
        and _is_command(first_line)
        and (_CHAINED.search(first_line) or _OPEN_QUOTE.search(_without_closed_quotes(first_line)))
    ):
        return True
    return any(map(_is_command, lines)) and all(_is_command(line) or _COMMENT.match(line) for line in lines)


def _without_closed_quotes(line: str) -> str:
    """Return `line` with its closed quotes emptied, so that an unclosed quote is found."""
    return re.sub(r'(?<=[\s=(])"(?:[^"\\]|\\.)*"', "", line)


def _is_command(line: str) -> bool:
    bare = _ASSIGNMENT.sub("", _PROMPT.sub("", line.strip()))
    program, _, argument_text = bare.partition(" ")
    if program not in _PROGRAMS and not re.fullmatch(r"\.{1,2}/[\w./-]+", program):
        return False
    arguments = _QUOTED.sub(" '' ", " " + argument_text)
    if _is_prose(arguments):
        return False
    count = len(argument_text.split())
    return (
        bool(_SYNTAX.search(arguments) or "''" in arguments)
        or (count == 1 and _PROGRAMS.get(program) == "one")
        or bool(_TRACKER.match(bare))
        or not argument_text
    )


def _is_prose(arguments: str) -> bool:
    """Say whether a command's arguments, without quotes, read like the rest of a sentence."""
    tokens = arguments.split()
    plain = [token.strip("()") for token in tokens]
    if any(re.fullmatch(r"[^\W\d_]{2,}[,.:!?]+|\S+\),?", token) for token in tokens):
        return True
    plain_words = [word for word in plain if _PLAIN.fullmatch(word) and word not in _PROGRAMS]
    return len(plain_words) > _MANY_WORDS or any(map(_is_of_sentence, plain_words))


def _is_of_sentence(word: str) -> bool:
    folded = word.lower()
    if folded in _OF_SENTENCES or not folded.isascii():
        return True
    is_verb = folded.endswith(("s", "ed")) and not folded.endswith("ss") and len(folded) > 3
    return is_verb and folded not in _PLURALS
