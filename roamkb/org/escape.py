"""Escaping of any text as org that shows it and does nothing else, and the way back.

A note is active content in its human's Emacs: a line can be a heading, name a second id,
read another file or run Lisp. So what is live is a short list: paragraphs, lists, tables,
emphasis, footnotes, comments, fixed-width lines, closed blocks, and links to nodes and
pages. Everything else is made inert where it stands, by one of five marks:

- `: ` before a line that org would take as a keyword, a drawer, a clock or an environment (a name, a
  caption and a result's mark stay, since they only say what the element below is);
- one blank before a line of stars, so that it isn't a heading;
- a comma before `*` and `#+` in source and example blocks, as org itself does;
- a zero-width space, org's own escape character, inside what is active within a line; in verbatim
  text only inside what Emacs looks for there as well;
- ` :eval never` after a source block's language; an opening line that says more than a
  known language stands above the block, as a fixed-width line.

Each mark is put on once more where the text carries it already, so `unescape_text` undoes
`escape_text` exactly, for every text, and needs nothing but the text. (In verbatim text only
where it is carried already: what is taken off at each place is what was put there.)
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set
from enum import Enum
from enum import auto
from itertools import accumulate

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax import active_content
from roamkb.org.syntax import inline_objects
from roamkb.org.syntax.syntax_table import BREAK

#: Known to Emacs or its common packages. Org calls the function LANGUAGE-mode just to colour a block, so
#: an unknown word is a call of the writer's choice (`server`, `desktop-save`); org's own mode obeys keywords.
LANGUAGES = frozenset(
    """asm awk bash bibtex c C c++ C++ clojure cmake cobol conf cpp csharp css csv d dart diff dockerfile
    elisp elixir elm emacs-lisp erlang fish forth fortran fsharp go graphql groovy haskell hcl html ini
    java javascript js json julia kotlin lisp lua make makefile markdown matlab nginx nim nix ocaml octave
    pascal perl php plantuml powershell prolog protobuf python r R racket ruby rust sass scala scheme scss
    sed sh shell sql sqlite svelte swift systemd tcl terraform text toml ts tsx typescript vala verilog
    vhdl vue xml yaml zig zsh""".split()
)

#: Link types that open, run or send something; a user's packages add the later ones.
_ACTIVE_TYPES = (
    "attachment bbdb bibtex docview elisp eww file file+emacs file+sys ftp gnus help info irc mailto man mhe "
    "news rmail roam shell shortdoc w3m woman "
    "calc data eshell git gopher javascript magit mu4e nov notmuch org-protocol orgit pdf pdfview sh ssh "
    "telnet tel tramp vbscript xdg-open"
).split()

_TYPE = "|".join(re.escape(name) for name in sorted(_ACTIVE_TYPES, key=len, reverse=True))

#: A part of a relative path that neither climbs nor hides.
_STEP = r"[\w+,=@ -][\w.+,=@ -]*"

#: What Emacs looks for in the bare text of a file, whatever block or line it stands in.
_ANYWHERE = r"^[ \t]*&?%%(?=\() | <(?=%%\() | Local(?=[ ]Variables:)"
#: The agenda takes it from verbatim text, too.
_DATE = r"<(?=[0-9]{4}-[0-9]{2}-[0-9]{2})"

#: A link that may stay one: to a node, a page, or a note below the note's own folder.
_GOOD_LINK = rf"\[\[(?-i: (?:id|https?|doi): | (?:file:(?:\./)?|\./){_STEP}(?:/{_STEP})*\.org(?=\]|::))"

_BARE_LINK = r"(?<=<)(?-i:{0})(?=:) | (?-i:(?<![a-zA-Z0-9])(?:{0}))(?=:[^ \t\n])"

#: Commands of TeX that read, write or run something, in a formula of any length; or that build the name of one.
_TEX = (
    "catcode csname directlua immediate include input inputiffileexists lstinputlisting openin openout read readline "
    "requirepackage special usepackage verbatiminput write"
)

_ACTIVE = rf"""
    {_ANYWHERE}
    | \[(?=\[)                                                 # bracket links, a shell's test too
    | {_BARE_LINK.format(_TYPE)}                               # the same, without brackets
    | <(?=<<) | {_DATE}                                        # a radio target, an active date
    | src(?=_[^ \t\[{{]{{1,200}}[\[{{]) | call(?=_[^ \t\[(]{{1,200}}[\[(])    # inline code and calls
    | \{{\{{(?=\{{[a-z]) | @(?=@[-a-z0-9]+:)                   # a macro, raw HTML or LaTeX
    | -(?=\*-)                                                 # file variables
    | \\(?=(?:{_TEX.replace(" ", "|")})(?-i:(?![a-zA-Z]))) | \^(?=\^)    # a fragment of TeX that is more than a formula
"""

_INLINE = rf"(?P<keep>{_GOOD_LINK}) | {_ACTIVE}"

#: Each match ends where a break belongs, unless the group `keep` took it.
_IN_CODE = lazily(_ANYWHERE, re.IGNORECASE | re.VERBOSE)
_IN_VERBATIM = lazily(f"{_ANYWHERE} | {_DATE}", re.IGNORECASE | re.VERBOSE)
_IN_PROSE = lazily(_INLINE, re.IGNORECASE | re.VERBOSE)
#: A cell that begins with `=` or `:=` is a formula, and a formula may be Lisp.
_IN_TABLE = lazily(_INLINE + r"| \|[ \t]*(?=:?=)", re.IGNORECASE | re.VERBOSE)
#: In a name a link to a node is an accident, as in "Use id:ulid".
_IN_NAME = lazily(f"{_ACTIVE} | {_BARE_LINK.format('id')}", re.IGNORECASE | re.VERBOSE)

#: What turns a line into something else than prose, after its indentation.
_STRUCTURE = r"(?:#\+|:[^ \t:]+:|\\begin\{|(?:CLOCK|SCHEDULED|DEADLINE|CLOSED):)"
_BARE = lazily(rf"([ \t]*)((?:: )*{_STRUCTURE})", re.IGNORECASE)
_GUARDED = lazily(rf"([ \t]*): ((?:: )*{_STRUCTURE})", re.IGNORECASE)
#: Keywords that belong to the element below them, and do no more than name it.
_HARMLESS = lazily(r"[ \t]*#\+(?:caption|name|results):", re.IGNORECASE)
_FIXED = lazily(r"[ \t]*:(?: |$)")
_STARS = lazily(r" *\*+ ")
_PUSHED = lazily(r" +\*+ ")
_COMMA = lazily(r"\A([ \t]*)(?=,*(?:\*|#\+))")
_COMMAED = lazily(r"\A([ \t]*),(?=,*(?:\*|#\+))")

_OPENING = lazily(
    r"[ \t]*#\+begin_(?:(?P<src>src)(?=[ \t]|$).*|(?P<example>example)(?:[ \t][-+\w \t]*)?"
    r"|(?P<kind>quote|center|verse)[ \t]*)",
    re.IGNORECASE | re.ASCII,
)
_CLOSING = lazily(r"[ \t]*#\+end_(src|example|quote|center|verse)[ \t]*", re.IGNORECASE | re.ASCII)
_SOURCE = lazily(r"(?P<indent>[ \t]*)(?P<keyword>#\+begin_src)(?:[ \t]+(?P<language>\S+))?", re.IGNORECASE | re.ASCII)
_NEVER = " :eval never"
_MARKER = lazily("[~=]")
#: A break that goes may end what stands around; then the line keeps its breaks.
_ATTEMPTS = 3
#: A bracket link up to what ends its path, or shows that it is none.
_LINK_PATH = lazily(r"\[\[[^\]\[]*(?<!\\)(\]\[|\]|\[)")
_LINK_END = lazily(r"\]\]")
_ANGLE_TYPE = lazily(rf"<(?:{_TYPE})\Z", re.IGNORECASE)
_LONGEST_TYPE = max(map(len, _ACTIVE_TYPES))
#: Breaks that don't stand between two letters or digits, where none of the patterns ends.
_NO_DIVISION = lazily(rf"(?<!{BREAK})(?:(?<![a-zA-Z0-9]){BREAK}++|{BREAK}++(?![a-zA-Z0-9]))")
_RUN = lazily(f"^{BREAK}+|[^{BREAK}]{BREAK}*")

#: Two blank lines or the next definition end a footnote, in the middle of a block if need be; so no block
#: is live from the first one on.
_FOOTNOTE = "[fn:"


class _LineRole(Enum):
    """The role of a line in org, which decides how it is made harmless."""

    PROSE = auto()
    VERSE = auto()
    CODE = auto()
    OPENING = auto()
    CLOSING = auto()


#: Stretches of a line, in characters that aren't breaks: where each begins, and where it ends.
_Spans = Sequence[tuple[int, int]]


def escape_text(text: str) -> str:
    """Return `text` as lines that org shows and that neither change nor run anything."""
    lines = text.split("\n")
    roles = _line_roles(lines)
    broken = [_escape_line(role, line) for role, line in zip(roles, lines, strict=True)]
    doubtful = {number for number, role in enumerate(roles) if _may_spare(role, lines[number])}
    if not doubtful:
        return "\n".join(broken)
    # only org's reader knows what is verbatim; it reads what is written, and must find the same there
    verbatim = _verbatim_spans(broken)
    for _attempt in range(_ATTEMPTS):
        spared = list(broken)
        for number in doubtful & verbatim.keys():
            line = lines[number]
            spans = _shift_spans(verbatim[number], width=_visible_length(broken[number]) - _visible_length(line))
            spared[number] = _escape_line(roles[number], line, spans)
        verbatim_after = _verbatim_spans(spared)
        if verbatim_after == verbatim:
            return "\n".join(spared)
        doubtful -= {number for number in doubtful if verbatim_after.get(number) != verbatim.get(number)}
    return "\n".join(broken)


def _escape_line(role: _LineRole, line: str, verbatim: _Spans = ()) -> str:
    """Return the escaped form of a line; an opening line may become two."""
    match role:
        case _LineRole.OPENING:
            return "\n".join(_escape_opening(line))
        case _LineRole.CLOSING:
            return line
        case _LineRole.CODE:
            return _COMMA.sub(r"\1,", _add_breaks(line, _IN_CODE))
        case _:
            return _escape_prose(line, verse=role is _LineRole.VERSE, verbatim=verbatim)


def _may_spare(role: _LineRole, line: str) -> bool:
    """Say whether a break may be needless in a line, since it would stand in verbatim text."""
    return (
        role in (_LineRole.PROSE, _LineRole.VERSE)
        and len(_MARKER.findall(line)) > 1
        and bool(_break_places(line, _IN_PROSE))
    )


def _verbatim_spans(lines: Sequence[str]) -> dict[int, list[tuple[int, int]]]:
    """Return the verbatim spans of each escaped line, but for those that go beyond their line."""
    text = "\n".join(lines)
    begins = [0, *accumulate(len(line) + 1 for line in lines)]
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    try:
        for begin, end in active_content.LiveText(text).find_verbatims():
            number = bisect(begins, begin) - 1
            if end < begins[number + 1]:
                offset = _visible_length(text[begins[number] : begin])
                spans[number].append((offset, offset + _visible_length(text[begin:end])))
    except inline_objects.NoDate:
        # org-roam would give up on the note
        return {}
    return dict(spans)


def _shift_spans(spans: _Spans, *, width: int) -> _Spans:
    """Return the spans of a line as they were before its mark stood in front of them."""
    return [(begin - width, end - width) for begin, end in spans]


def _visible_length(line: str) -> int:
    """Return how many characters of a line aren't breaks."""
    return len(line) - line.count(BREAK)


def unescape_text(text: str) -> str:
    """Return the text that was escaped to `text`; later changes by hand stay as they are."""
    return "\n".join(line for originals in unescape_lines(text.split("\n")) for line in originals)


def unescape_lines(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the original of each line of an escaped text; nothing for the second line of a pair."""
    for number, (role, line) in enumerate(zip(_line_roles(lines), lines, strict=True)):
        match role:
            case _LineRole.OPENING:
                previous_line = lines[number - 1] if number else ""
                yield tuple(_unescape_opening(line, previous_line))
            case _LineRole.CLOSING:
                yield (line,)
            case _LineRole.CODE:
                yield (_remove_breaks(_COMMAED.sub(r"\1", line), _IN_CODE),)
            case _:
                yield (_unescape_prose(line, verse=role is _LineRole.VERSE),)


def escape_name(name: str) -> str:
    """Return a title or an alias with breaks, so that org takes all of it for words."""
    return _add_breaks(name, _IN_NAME)


def unescape_name(name: str) -> str:
    """Return the title or alias that was escaped to `name`."""
    return _remove_breaks(name, _IN_NAME)


def defuse_line(line: str) -> str:
    """Return one line of a property with nothing active in it; calling it again changes nothing."""
    return _add_breaks(line, _IN_PROSE, once=True)


def _escape_prose(line: str, *, verse: bool, verbatim: _Spans = ()) -> str:
    """Return a line outside code with its mark, whichever it needs."""
    if not line:
        return line
    if (guarded := _BARE.match(line)) and not _HARMLESS.match(line):
        split = _add_breaks(line, _IN_PROSE if verse else _IN_CODE, verbatim=verbatim)
        indent = guarded.end(1)
        return f"{split[:indent]}: {split[indent:]}"
    split = _add_breaks(line, _break_pattern(line, verse=verse), verbatim=verbatim)
    return " " + split if _STARS.match(split) else split


def _unescape_prose(line: str, *, verse: bool) -> str:
    """Return the line that `_escape_prose` escaped."""
    if not line:
        return line
    if guarded := _GUARDED.match(line):
        indent = guarded.end(1)
        return _remove_breaks(line[:indent] + line[indent + 2 :], _IN_PROSE if verse else _IN_CODE)
    joined = _remove_breaks(line, _break_pattern(line, verse=verse))
    return joined[1:] if _PUSHED.match(joined) else joined


def _break_pattern(line: str, *, verse: bool) -> re.Pattern[str]:
    """Return the pattern of the places for breaks in an unguarded line; a verse has no tables."""
    if _FIXED.match(line) and not verse:
        return _IN_CODE
    return _IN_TABLE if line.lstrip(" \t" + BREAK).startswith("|") else _IN_PROSE


def _escape_opening(line: str) -> Iterator[str]:
    """Yield a block's inert opening line; before it, if it was changed, the original as fixed-width."""
    source = _SOURCE.match(line)
    if source is None:
        yield line
        return
    live = _inert_opening(source)
    if live != line + _NEVER:
        split = _add_breaks(line, _IN_CODE)
        yield f"{split[: source.end('indent')]}: {split[source.end('indent') :]}"
    yield live


def _unescape_opening(line: str, previous_line: str) -> Iterator[str]:
    """Yield the original opening line, unless the line above has it already."""
    plain = line.removesuffix(_NEVER)
    if plain == line or _SOURCE.match(line) is None:
        yield line
        return
    source = _SOURCE.match(_unescape_prose(previous_line, verse=False)) if _GUARDED.match(previous_line) else None
    if source is None or _inert_opening(source) != line or source.string + _NEVER == line:
        yield plain


def _inert_opening(source: re.Match[str]) -> str:
    """Return the opening line of a source block in a known language, never to be evaluated."""
    language = source["language"] if source["language"] in LANGUAGES else "text"
    return f"{source['indent']}{source['keyword']} {language}{_NEVER}"


def _line_roles(lines: Sequence[str]) -> list[_LineRole]:
    """Return the role of each line for org's parser: the same before and after escaping."""
    roles = [_LineRole.PROSE] * len(lines)
    closings = _closing_lines(lines)
    #: The lines that end the blocks around, the innermost last.
    ends = [next((n for n, line in enumerate(lines) if line.startswith(_FOOTNOTE)), len(lines))]
    number = 0
    while number < ends[0]:
        if number == ends[-1]:
            ends.pop()
        elif opening := _OPENING.fullmatch(lines[number]):
            kind = (opening["src"] or opening["example"] or opening["kind"]).lower()
            end = _first_after(number, closings[kind])
            if end is not None and end < ends[-1]:
                roles[number], roles[end] = _LineRole.OPENING, _LineRole.CLOSING
                if kind in ("quote", "center"):
                    ends.append(end)
                else:
                    inner = _LineRole.VERSE if kind == "verse" else _LineRole.CODE
                    roles[number + 1 : end] = [inner] * (end - number - 1)
                    number = end
        number += 1
    return roles


def _closing_lines(lines: Sequence[str]) -> dict[str, list[int]]:
    """Return the lines that could close a block, for each kind of block."""
    lines_by_kind: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if closing := _CLOSING.fullmatch(line):
            lines_by_kind[closing[1].lower()].append(number)
    return lines_by_kind


def _first_after(number: int, numbers: Sequence[int]) -> int | None:
    """Return the first of the rising `numbers` beyond `number`."""
    place = bisect(numbers, number)
    return numbers[place] if place < len(numbers) else None


def _add_breaks(line: str, pattern: re.Pattern[str], *, once: bool = False, verbatim: _Spans = ()) -> str:
    """Return `line` with one more break at each place; with `once`, only where there is none.

    In `verbatim` text only where there's one, but for the few places where Emacs itself looks.
    """
    places = _break_places(line, pattern)
    if not places:
        return line
    spared = _spared_places(line, places, verbatim) if verbatim else frozenset()
    out: list[str] = []
    for place, run in _character_runs(line):
        is_broken = len(run) > 1
        more = place in places and not (once and is_broken) and (is_broken or place not in spared)
        out.append(run + BREAK if more else run)
    return "".join(out)


def _spared_places(line: str, places: Set[int], verbatim: _Spans) -> Set[int]:
    """Return the `places` that need no break because they are verbatim."""
    bare = line.replace(BREAK, "")
    looked_at = {match.end() for match in _IN_VERBATIM.finditer(bare)}
    begins = [begin for begin, _ in verbatim]
    spared: set[int] = set()
    for place in places - looked_at:
        begin, end = verbatim[bisect(begins, place) - 1]
        # both sides of the break are inside the marks
        if begin + 1 < place < end - 1 and not _reaches_out(bare, place, end - 1):
            spared.add(place)
    return spared


def _reaches_out(bare: str, place: int, end: int) -> bool:
    """Say whether an unbroken link could begin at `place` and end behind `end`.

    org-roam looks for links from one's end to the next, and would not see those in between.
    """
    if bare[place - 1] == "[":
        path = _LINK_PATH.match(bare, place - 1, end)
        return path is None or (path[1] == "][" and not _LINK_END.search(bare, path.end() + 1, end))
    angle = _ANGLE_TYPE.search(bare, max(place - _LONGEST_TYPE - 1, 0), place)
    return angle is not None and bare.find(">", place, end) < 0


def _remove_breaks(line: str, pattern: re.Pattern[str]) -> str:
    """Return `line` with one break removed at each place."""
    places = _break_places(line, pattern)
    if not places:
        return line
    return "".join(run.removesuffix(BREAK) if place in places else run for place, run in _character_runs(line))


def _break_places(line: str, pattern: re.Pattern[str]) -> set[int]:
    """Return the positions, counted without breaks, after which a break belongs.

    Our breaks play no part in where breaks belong; so taking one away undoes putting it there. Between two
    letters none is ours: it was given, and divides what would be one word.
    """
    bare = _NO_DIVISION.sub("", line) if BREAK in line else line
    return {
        match.end() - bare.count(BREAK, 0, match.end()) for match in pattern.finditer(bare) if match.lastgroup != "keep"
    }


def _character_runs(line: str) -> Iterator[tuple[int, str]]:
    """Yield each character with the breaks that follow it, and its number from 1 on."""
    leading = line.startswith(BREAK)
    return enumerate(_RUN.findall(line), start=0 if leading else 1)
