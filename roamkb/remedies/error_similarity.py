"""Similarity of errors: the words and names of each output line, and how near two outputs are.

Versions, paths' folders, addresses and places in files are left out, so that the same cause on another
machine leaves the same marks. A name (`curl.h`, a table, a module) is what a line quotes, or what is no
plain word. Two errors that name different things are no more than look-alikes.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.remedies.error_output import weighed_lines
from roamkb.secrets.detector import withhold_secrets
from roamkb.text.code_identifiers import is_code
from roamkb.text.porter import stem
from roamkb.text.tokenize import STOP_WORDS

#: Lines of an output that are kept, those that tell most; and marks of a line.
_MOST_LINES: Final = 12
_MOST_MARKS: Final = 40
#: From this weight on, a line says that something went wrong.
_ERROR_WEIGHT: Final = 2
#: What a mark weighs beside a word.
_NAME_WEIGHT: Final = 2.0
_CODE_WEIGHT: Final = 2.0
_COMPOUND_WEIGHT: Final = 1.5
#: Of two errors' nearness, what the words are worth where both name something.
_WORDS_SHARE: Final = 0.55
#: The most that two errors can be alike which name different things.
_LOOK_ALIKE: Final = 0.6
#: What a known error must explain of one before what cured it is offered unasked: of its lines' weight,
#: of the known one's, and of the words of both. Below these, another cause in the same program's words
#: isn't told apart.
_LEAST_EXPLAINED: Final = 0.8
_LEAST_EXPLAINING: Final = 0.5
_LEAST_WORD_OVERLAP: Final = 0.7
#: Words and names of a line that says the same as another but for its label.
_LEAST_ECHOED: Final = 3
#: Words that one of two lines may have more, for another version's wording.
_MORE_WORDS: Final = 2

#: Where it was found; what shows code; a place in a stack.
_PLACE: Final = lazily(r"^(?:[^\s:]*[^\s:\d][^\s:]*:(?:\d+:){1,2}|\S+\(\d+,\d+\):|\S+:\d+:\d+ -)(?:\s|$)")
_NO_TELLING: Final = lazily(
    r"^\s*(?:(?:Error: )?[Ee]xit code:? \d+$|at \S|File \"|-->|\d* ?\|(?!\s*Error)|[~^ |]+$|>>> )|@@@@"
)
_QUOTED: Final = lazily(
    r"(?<!\w)'([^'\n]{1,200}?)'(?!\w)|\"([^\"\n]{1,200}?)\"|`([^`'\n]{1,200}?)[`']|[‘“]([^’”\n]{1,200})[’”]"
)
_TOKEN: Final = lazily(r"[@~./]?\w[\w@./+#:=~^-]*[\w+#]|\w")
_URL: Final = lazily(r"\b[A-Za-z][\w+.-]{0,20}://\S+")
_HOST: Final = lazily(
    r"(?:[\w.+-]+@)?(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9][a-z0-9-]*\.)+"
    r"(?:com|org|net|io|dev|internal|local|example))(?::(?P<port>\d+))?|[\w.+-]+@[a-z][\w-]*"
)
_PORT: Final = lazily(r"\bport (\d{2,5})\b")
_NUMBERED: Final = lazily(r"(?i)(?:code|status|errno|error|http)[ =:-]{1,3}(\d{2,5})\b")
_VERSION: Final = lazily(r"(?:@[\^~v]?\d|[=<>~!]=|[-_:@ ]v?\d+\.\d|\.so\.\d).*$")
_NUMBER: Final = lazily(r"v?[\d.,:]+|(?:0x)?[0-9a-f]*\d[0-9a-f]*")
#: What a program calls its errors: `ENOENT`, `E0382`, `KeyError`.
_IS_CODE: Final = lazily(r"[A-Z][A-Z_\d]{3,}|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Fault|Failure|Warning|NotFound|Exit)")
#: How a kept line is written: its weight, its names in backquotes, the rest as it is.
_MARK_FORM: Final = lazily(r"`([^`]+)`|(\S+)")


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """The marks of one output line, by which errors are compared."""

    #: How surely it says what went wrong, 0 to 9.
    weight: int
    #: Plain words, stemmed; codes in capitals; compounds.
    words: frozenset[str]
    names: frozenset[str]

    def __str__(self) -> str:
        """Write it in the form that the ledger has."""
        return " ".join((str(self.weight), *(f"`{name}`" for name in sorted(self.names)), *sorted(self.words)))


def marks_of(output: str) -> tuple[str, ...]:
    """Return the marks of an output's most telling lines as a ledger has them, without credentials."""
    marked_lines: list[MarkedLine] = []
    is_code = False
    for weight, line in weighed_lines(withhold_secrets(output)):
        if not (is_code and line[:1].isspace()) and not _NO_TELLING.search(line):
            marked = _mark_line(weight, line)
            if (marked.words or marked.names) and marked not in marked_lines:
                marked_lines.append(marked)
        # what Python shows behind a place is its code
        is_code = line.lstrip().startswith('File "')
    best_lines = sorted(marked_lines, key=lambda marked_line: -marked_line.weight)[:_MOST_LINES]
    return tuple(str(marked_line) for marked_line in marked_lines if marked_line in best_lines)


@lru_cache(maxsize=4096)
def read_marks(marks: tuple[str, ...]) -> tuple[MarkedLine, ...]:
    """Return the lines that `marks_of` wrote, to compare them; a line of another form is left out."""
    return tuple(_parse_marks(marks))


def _parse_marks(marks: Iterable[str]) -> Iterator[MarkedLine]:
    for mark in marks:
        weight, _, mark_words = mark.partition(" ")
        if weight.isdecimal() and len(weight) == 1:
            matches = _MARK_FORM.findall(mark_words)
            names = frozenset(name for name, _ in matches if name)
            yield MarkedLine(int(weight), frozenset(word for _, word in matches if word), names)


def marked_nearness(marks: tuple[str, ...], other_marks: tuple[str, ...]) -> float:
    """Return how near two marked outputs are, 0 to 1, by codes, words and names in their lines."""
    mine, theirs = _mark_weights(marks), _mark_weights(other_marks)
    shared = (mine[0].keys() & theirs[0].keys()) | (mine[1].keys() & theirs[1].keys())
    if all(_is_code(mark) for mark in shared):
        # an error's class says little of its cause
        return 0.0
    words = _weighted_overlap(mine[0], theirs[0])
    if not (mine[1] and theirs[1]):
        return round(words, 2)
    names = _weighted_overlap(mine[1], theirs[1])
    near = _WORDS_SHARE * words + (1 - _WORDS_SHARE) * names
    return round(min(near, _LOOK_ALIKE) if name_different_things(marks, other_marks) else near, 2)


def name_different_things(marks: tuple[str, ...], other_marks: tuple[str, ...]) -> bool:
    """Say whether the top lines of two errors both name something, and nothing in common."""
    mine, theirs = _top_names(marks), _top_names(other_marks)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def is_surely_same(error: tuple[str, ...], known_marks: tuple[str, ...]) -> bool:
    """Say whether a known error explains nearly all of an error, and has little beside."""
    mine, theirs = read_marks(error), read_marks(known_marks)
    return (
        _explained_share(mine, theirs) >= _LEAST_EXPLAINED
        and _explained_share(theirs, mine) >= _LEAST_EXPLAINING
        and _weighted_overlap(_mark_weights(error)[0], _mark_weights(known_marks)[0]) >= _LEAST_WORD_OVERLAP
    )


def _explained_share(lines: Sequence[MarkedLine], known_lines: Sequence[MarkedLine]) -> float:
    """Return the share of the lines' weight that known lines explain."""
    telling = _without_echoes([line for line in lines if line.weight >= _ERROR_WEIGHT]) or lines[-1:]
    total = sum(map(_line_strength, telling))
    return (
        sum(
            _line_strength(line) for line in telling if any(_tells_same(line, known_line) for known_line in known_lines)
        )
        / total
        if total
        else 0
    )


def _without_echoes(lines: Sequence[MarkedLine]) -> list[MarkedLine]:
    """Return the lines but those that say in a program's own label, `FAILED:`, what a stronger line says."""
    strongest: dict[tuple[frozenset[str], frozenset[str]], MarkedLine] = {}
    others = []
    for line in sorted(lines, key=lambda line: -line.weight):
        plain_words = frozenset(word for word in line.words if not word.isupper())
        # a label alone says which error it is
        if len(plain_words) + len(line.names) < _LEAST_ECHOED:
            others.append(line)
        else:
            strongest.setdefault((plain_words, line.names), line)
    return [*strongest.values(), *others]


def _tells_same(line: MarkedLine, other_line: MarkedLine) -> bool:
    more, less = line.words - other_line.words, other_line.words - line.words
    if (more and less) or len(more) + len(less) > _MORE_WORDS:
        return False
    shared = line.names & other_line.names
    if (line.names or other_line.names) and not shared:
        return False
    if line.names - other_line.names and other_line.names - line.names:
        return False
    # one word alone is what many errors say
    return len(line.words & other_line.words) + 2 * len(shared) >= 2


def _line_strength(line: MarkedLine) -> float:
    return 1.0 if line.weight >= 7 else 0.7 if line.weight >= 4 else 0.5


def _top_names(marks: tuple[str, ...]) -> frozenset[str]:
    lines = read_marks(marks)
    top = max((line.weight for line in lines), default=0)
    return frozenset().union(*(line.names for line in lines if line.weight == top))


@lru_cache(maxsize=4096)
def _mark_weights(marks: tuple[str, ...]) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Return the weight of each word and of each name: greatest in the lines that tell most."""
    lines = read_marks(marks)
    top = max((line.weight for line in lines), default=0)
    words: dict[str, float] = {}
    names: dict[str, float] = {}
    for line in lines:
        factor = 1.0 if line.weight == top else 0.7 if line.weight >= 7 else 0.4 if line.weight >= 4 else 0.3
        for word in line.words:
            words[word] = max(words.get(word, 0), factor * _word_weight(word))
        for name in line.names:
            names[name] = max(names.get(name, 0), factor * _NAME_WEIGHT)
    return words, names


def _word_weight(word: str) -> float:
    return _CODE_WEIGHT if _is_code(word) else _COMPOUND_WEIGHT if "-" in word else 1.0


def _is_code(word: str) -> bool:
    return word[0] == "#" or word.isupper()


def _weighted_overlap(weights: Mapping[str, float], other_weights: Mapping[str, float]) -> float:
    """Return the weighted share in common (Dice)."""
    total = sum(weights.values()) + sum(other_weights.values())
    return (
        2 * sum(min(weights[key], other_weights[key]) for key in weights.keys() & other_weights.keys()) / total
        if total
        else 0.0
    )


def _mark_line(weight: int, line: str) -> MarkedLine:  # noqa: C901 - a row a kind of token
    words: dict[str, None] = {}
    names: dict[str, None] = {}

    def collect_name(matched: re.Match[str]) -> str:
        text = next(group for group in matched.groups() if group is not None)
        if len(text.split()) != 1:
            return f" {text} "
        if name := _plain_name(text):
            names[name] = None
        return " "

    line = _URL.sub(" ", _PLACE.sub("", line.strip()))
    for number in _NUMBERED.findall(line):
        words[f"#{number}"] = None
    for port in _PORT.findall(line):
        names[f"port{port}"] = None
    for token in _TOKEN.findall(_QUOTED.sub(collect_name, line)):
        plain = token.strip(".:,;-")
        if _IS_CODE.fullmatch(plain):
            words[plain.rpartition(".")[2].upper()] = None
        elif is_code(plain) or any(map(str.isdigit, plain)):
            if name := _plain_name(plain):
                names[name] = None
        elif "-" in plain:
            words[plain.casefold()] = None
        elif len(plain) > 1 and (word := fold_text(plain)) not in STOP_WORDS:
            words[stem(word)] = None
    return MarkedLine(weight, frozenset(list(words)[:_MOST_MARKS]), frozenset(list(names)[:_MOST_MARKS]))


def _plain_name(written: str) -> str:
    """Return a name without its folder and version; of an address its port, of a number nothing."""
    plain = written.strip(".:,;()[]{}/")
    if host := _HOST.fullmatch(plain):
        return f"port{host['port']}" if host["port"] else ""
    plain = re.split(r"[\\/]", _VERSION.sub("", plain))[-1].strip(".:,;()[]{}@#~^=-`")
    return "" if _NUMBER.fullmatch(plain) else plain.casefold()
