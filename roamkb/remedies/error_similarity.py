"""What an error's output is about: the words and names of each of its lines, and how near two outputs are.

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
from roamkb.core.text import folded
from roamkb.remedies.error_output import weighed_lines
from roamkb.secrets.detector import withheld
from roamkb.text.code_identifiers import is_code
from roamkb.text.porter import stem
from roamkb.text.tokenize import STOP_WORDS

#: Lines of an output that are kept, those that tell most; and marks of a line.
_MOST_LINES: Final = 12
_MOST_MARKS: Final = 40
#: From this weight on, a line says that something went wrong.
_TELLS: Final = 2
#: What a mark weighs beside a word.
_NAME: Final = 2.0
_CODE: Final = 2.0
_COMPOUND: Final = 1.5
#: Of two errors' nearness, what the words are worth where both name something.
_WORDS_SHARE: Final = 0.55
#: The most that two errors can be alike which name different things.
_LOOK_ALIKE: Final = 0.6
#: What a known error must explain of one before what cured it is offered unasked: of its lines' weight,
#: of the known one's, and of the words of both. Below these, another cause in the same program's words
#: isn't told apart.
_EXPLAINED: Final = 0.8
_EXPLAINS: Final = 0.5
_ALIKE_IN_WORDS: Final = 0.7
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
_IS_CODE: Final = lazily(
    r"[A-Z][A-Z_\d]{3,}|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Fault|Failure|Warning|NotFound|Exit)"
)
#: How a kept line is written: its weight, its names in backquotes, the rest as it is.
_KEPT: Final = lazily(r"`([^`]+)`|(\S+)")


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """One line of an output, as far as it tells an error from others."""

    #: How surely it says what went wrong, 0 to 9.
    weight: int
    #: Plain words, stemmed; codes in capitals; compounds.
    words: frozenset[str]
    names: frozenset[str]

    def __str__(self) -> str:
        """Write it as a ledger keeps it."""
        return " ".join(
            (str(self.weight), *(f"`{name}`" for name in sorted(self.names)), *sorted(self.words))
        )


def marks_of(output: str) -> tuple[str, ...]:
    """Return the marks of an output's lines as a ledger keeps them, those that tell most; no credential."""
    found: list[MarkedLine] = []
    is_code = False
    for weight, line in weighed_lines(withheld(output)):
        if not (is_code and line[:1].isspace()) and not _NO_TELLING.search(line):
            marked = _marked(weight, line)
            if (marked.words or marked.names) and marked not in found:
                found.append(marked)
        # what Python shows behind a place is its code
        is_code = line.lstrip().startswith('File "')
    best = sorted(found, key=lambda one: -one.weight)[:_MOST_LINES]
    return tuple(str(one) for one in found if one in best)


@lru_cache(maxsize=4096)
def read_marks(marks: tuple[str, ...]) -> tuple[MarkedLine, ...]:
    """Return what `marks_of` returned, to compare it; a line of another form marks nothing."""
    return tuple(_read(marks))


def _read(marks: Iterable[str]) -> Iterator[MarkedLine]:
    for mark in marks:
        weight, _, rest = mark.partition(" ")
        if weight.isdecimal() and len(weight) == 1:
            found = _KEPT.findall(rest)
            names = frozenset(name for name, _ in found if name)
            yield MarkedLine(int(weight), frozenset(word for _, word in found if word), names)


def marked_nearness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return how near two marked outputs are, 0 to 1, by codes, words and names in their lines."""
    mine, theirs = _weights(one), _weights(other)
    shared = (mine[0].keys() & theirs[0].keys()) | (mine[1].keys() & theirs[1].keys())
    if all(_is_code(mark) for mark in shared):
        # an error's class says little of its cause
        return 0.0
    words = _overlap(mine[0], theirs[0])
    if not (mine[1] and theirs[1]):
        return round(words, 2)
    names = _overlap(mine[1], theirs[1])
    near = _WORDS_SHARE * words + (1 - _WORDS_SHARE) * names
    return round(min(near, _LOOK_ALIKE) if name_others(one, other) else near, 2)


def name_others(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether the lines that tell most of two errors each name something, and nothing that both name."""
    mine, theirs = _named(one), _named(other)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def is_surely_same(error: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Say whether all that an error tells was told by a known one, of the same names, and little else was."""
    mine, theirs = read_marks(error), read_marks(known)
    return (
        _explained(mine, theirs) >= _EXPLAINED
        and _explained(theirs, mine) >= _EXPLAINS
        and _overlap(_weights(error)[0], _weights(known)[0]) >= _ALIKE_IN_WORDS
    )


def _explained(lines: Sequence[MarkedLine], known: Sequence[MarkedLine]) -> float:
    """Return the share of what lines tell that known ones tell as well."""
    telling = [one for one in lines if one.weight >= _TELLS] or lines[-1:]
    whole = sum(map(_strength, telling))
    return (
        sum(_strength(one) for one in telling if any(_says_same(one, k) for k in known)) / whole
        if whole
        else 0
    )


def _says_same(one: MarkedLine, other: MarkedLine) -> bool:
    more, less = one.words - other.words, other.words - one.words
    if (more and less) or len(more) + len(less) > _MORE_WORDS:
        return False
    shared = one.names & other.names
    if (one.names or other.names) and not shared:
        return False
    if one.names - other.names and other.names - one.names:
        return False
    # one word alone is what many errors say
    return len(one.words & other.words) + 2 * len(shared) >= 2


def _strength(line: MarkedLine) -> float:
    return 1.0 if line.weight >= 7 else 0.7 if line.weight >= 4 else 0.5


def _named(marks: tuple[str, ...]) -> frozenset[str]:
    lines = read_marks(marks)
    top = max((line.weight for line in lines), default=0)
    return frozenset().union(*(line.names for line in lines if line.weight == top))


@lru_cache(maxsize=4096)
def _weights(marks: tuple[str, ...]) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Return what each word and each name weighs: most in the lines that tell most."""
    lines = read_marks(marks)
    top = max((line.weight for line in lines), default=0)
    words: dict[str, float] = {}
    names: dict[str, float] = {}
    for line in lines:
        factor = 1.0 if line.weight == top else 0.7 if line.weight >= 7 else 0.4 if line.weight >= 4 else 0.3
        for word in line.words:
            words[word] = max(words.get(word, 0), factor * _worth(word))
        for name in line.names:
            names[name] = max(names.get(name, 0), factor * _NAME)
    return words, names


def _worth(word: str) -> float:
    return _CODE if _is_code(word) else _COMPOUND if "-" in word else 1.0


def _is_code(word: str) -> bool:
    return word[0] == "#" or word.isupper()


def _overlap(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the weighted share that two have in common (Dice)."""
    whole = sum(one.values()) + sum(other.values())
    return 2 * sum(min(one[key], other[key]) for key in one.keys() & other.keys()) / whole if whole else 0.0


def _marked(weight: int, line: str) -> MarkedLine:  # noqa: C901 - a row a kind of token
    words: dict[str, None] = {}
    names: dict[str, None] = {}

    def take(found: re.Match[str]) -> str:
        text = next(group for group in found.groups() if group is not None)
        if len(text.split()) != 1:
            return f" {text} "
        if name := _name(text):
            names[name] = None
        return " "

    line = _URL.sub(" ", _PLACE.sub("", line.strip()))
    for number in _NUMBERED.findall(line):
        words[f"#{number}"] = None
    for port in _PORT.findall(line):
        names[f"port{port}"] = None
    for token in _TOKEN.findall(_QUOTED.sub(take, line)):
        plain = token.strip(".:,;-")
        if _IS_CODE.fullmatch(plain):
            words[plain.rpartition(".")[2].upper()] = None
        elif is_code(plain) or any(map(str.isdigit, plain)):
            if name := _name(plain):
                names[name] = None
        elif "-" in plain:
            words[plain.casefold()] = None
        elif len(plain) > 1 and (word := folded(plain)) not in STOP_WORDS:
            words[stem(word)] = None
    return MarkedLine(weight, frozenset(list(words)[:_MOST_MARKS]), frozenset(list(names)[:_MOST_MARKS]))


def _name(written: str) -> str:
    """Return a name without its folder and version; of an address its port, of a number nothing."""
    plain = written.strip(".:,;()[]{}/")
    if host := _HOST.fullmatch(plain):
        return f"port{host['port']}" if host["port"] else ""
    plain = re.split(r"[\\/]", _VERSION.sub("", plain))[-1].strip(".:,;()[]{}@#~^=-`")
    return "" if _NUMBER.fullmatch(plain) else plain.casefold()
