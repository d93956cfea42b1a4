"""Text of any kind as org that shows it and does nothing else, and back again.

A note is active content in its human's Emacs: a line can be a heading, name a second id,
read another file or run Lisp. So what is live is a short list: paragraphs, lists, tables,
emphasis, footnotes, comments, fixed-width lines, closed blocks, and links to nodes and
pages. Everything else is made inert where it stands, by one of five marks:

- `: ` before a line that org would take as a keyword, a drawer, a clock or an environment;
- one blank before a line of stars, so that it isn't a heading;
- a comma before `*` and `#+` in source and example blocks, as org itself does;
- a zero-width space, org's own escape character, inside what is active within a line;
- ` :eval never` after a source block's language; an opening line that says more than a
  known language stands above the block, as a fixed-width line.

Each mark is put on once more where the text carries it already, so `unescaped` undoes
`escaped` exactly, for every text, and needs nothing but the text.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence
from enum import Enum
from enum import auto

#: U+200B: the manual's own escape character; what it splits stays readable.
BREAK = "\u200b"

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

#: A link that may stay one: to a node, a page, or a note below the note's own folder.
_GOOD_LINK = rf"\[\[(?-i: (?:id|https?|doi): | (?:file:(?:\./)?|\./){_STEP}(?:/{_STEP})*\.org(?=\]|::))"

_INLINE = rf"""
    {_ANYWHERE}
    | (?P<keep>{_GOOD_LINK})
    | \[(?=\[)                                                 # all other bracket links, a shell's test too
    | (?<=<)(?-i:{_TYPE})(?=:) | (?<![a-z0-9])(?-i:{_TYPE})(?=:\S)    # the same, without brackets
    | <(?=<<) | <(?=[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})          # a radio target, an active date
    | src(?=_[^ \t\[{{]{{1,200}}[\[{{]) | call(?=_[^ \t\[(]{{1,200}}[\[(])    # inline code and calls
    | \{{\{{(?=\{{[a-z]) | @(?=@[-a-z0-9]+:)                   # a macro, raw HTML or LaTeX
    | -(?=\*-)                                                 # file variables
"""

#: Each match ends where a break belongs, unless the group `keep` took it.
_IN_CODE = re.compile(_ANYWHERE, re.IGNORECASE | re.VERBOSE)
_IN_PROSE = re.compile(_INLINE, re.IGNORECASE | re.VERBOSE)
#: A cell that begins with `=` or `:=` is a formula, and a formula may be Lisp.
_IN_TABLE = re.compile(_INLINE + r"| \|[ \t]*(?=:?=)", re.IGNORECASE | re.VERBOSE)

#: What turns a line into something else than prose, after its indentation.
_STRUCTURE = r"(?:#\+|:[^\s:]+:|\\begin\{|(?:CLOCK|SCHEDULED|DEADLINE|CLOSED):)"
_BARE = re.compile(rf"([ \t]*)((?:: )*{_STRUCTURE})", re.IGNORECASE)
_GUARDED = re.compile(rf"([ \t]*): ((?:: )*{_STRUCTURE})", re.IGNORECASE)
_FIXED = re.compile(r"[ \t]*:(?: |$)")
_STARS = re.compile(r" *\*+ ")
_PUSHED = re.compile(r" +\*+ ")
_COMMA = re.compile(r"\A([ \t]*)(?=,*(?:\*|#\+))")
_COMMAED = re.compile(r"\A([ \t]*),(?=,*(?:\*|#\+))")

_OPENING = re.compile(
    r"[ \t]*#\+begin_(?:(?P<src>src)(?=[ \t]|$).*|(?P<example>example)(?:[ \t][-+\w \t]*)?"
    r"|(?P<kind>quote|center|verse)[ \t]*)",
    re.IGNORECASE | re.ASCII,
)
_CLOSING = re.compile(r"[ \t]*#\+end_(src|example|quote|center|verse)[ \t]*", re.IGNORECASE | re.ASCII)
_SOURCE = re.compile(
    r"(?P<indent>[ \t]*)(?P<keyword>#\+begin_src)(?:[ \t]+(?P<language>\S+))?", re.IGNORECASE | re.ASCII
)
_NEVER = " :eval never"
_RUN = re.compile(f"^{BREAK}+|[^{BREAK}]{BREAK}*")

#: Two blank lines or the next definition end a footnote, in the middle of a block if need be; so no block
#: is live from the first one on.
_FOOTNOTE = "[fn:"


class _Role(Enum):
    """What a line is to org, and so how it is made harmless."""

    PROSE = auto()
    VERSE = auto()
    CODE = auto()
    OPENING = auto()
    CLOSING = auto()


def escaped(text: str) -> str:
    """Return `text` as lines that org shows and that change or run nothing."""
    lines = text.split("\n")
    out: list[str] = []
    for role, line in zip(_roles(lines), lines, strict=True):
        match role:
            case _Role.OPENING:
                out.extend(_opened(line))
            case _Role.CLOSING:
                out.append(line)
            case _Role.CODE:
                out.append(_COMMA.sub(r"\1,", _split(line, _IN_CODE)))
            case _:
                out.append(_escaped_prose(line, verse=role is _Role.VERSE))
    return "\n".join(out)


def unescaped(text: str) -> str:
    """Return the text that `escaped` was given; what was changed by hand since stays as it is."""
    lines = text.split("\n")
    out: list[str] = []
    for number, (role, line) in enumerate(zip(_roles(lines), lines, strict=True)):
        match role:
            case _Role.OPENING:
                above = lines[number - 1] if number else ""
                out.extend(_reopened(line, above))
            case _Role.CLOSING:
                out.append(line)
            case _Role.CODE:
                out.append(_joined(_COMMAED.sub(r"\1", line), _IN_CODE))
            case _:
                out.append(_unescaped_prose(line, verse=role is _Role.VERSE))
    return "\n".join(out)


def defused(line: str) -> str:
    """Return one line of a title or a property with nothing active in it; a second time changes nothing."""
    return _split(line, _IN_PROSE, once=True)


def _escaped_prose(line: str, *, verse: bool) -> str:
    """Return a line outside code with its mark, whichever it needs."""
    if not line:
        return line
    if guarded := _BARE.match(line):
        split = _split(line, _IN_PROSE if verse else _IN_CODE)
        indent = guarded.end(1)
        return f"{split[:indent]}: {split[indent:]}"
    split = _split(line, _patterns(line, verse=verse))
    return " " + split if _STARS.match(split) else split


def _unescaped_prose(line: str, *, verse: bool) -> str:
    """Return what `_escaped_prose` was given."""
    if not line:
        return line
    if guarded := _GUARDED.match(line):
        indent = guarded.end(1)
        return _joined(line[:indent] + line[indent + 2 :], _IN_PROSE if verse else _IN_CODE)
    joined = _joined(line, _patterns(line, verse=verse))
    return joined[1:] if _PUSHED.match(joined) else joined


def _patterns(line: str, *, verse: bool) -> re.Pattern[str]:
    """Return what to split in an unguarded line; a verse has no fixed-width lines and no tables."""
    if _FIXED.match(line) and not verse:
        return _IN_CODE
    return _IN_TABLE if line.lstrip(" \t" + BREAK).startswith("|") else _IN_PROSE


def _opened(line: str) -> Iterator[str]:
    """Yield a block's opening line, live; above it as fixed-width what it must not say."""
    source = _SOURCE.match(line)
    if source is None:
        yield line
        return
    live = _live(source)
    if live != line + _NEVER:
        split = _split(line, _IN_CODE)
        yield f"{split[: source.end('indent')]}: {split[source.end('indent') :]}"
    yield live


def _reopened(line: str, above: str) -> Iterator[str]:
    """Yield the opening line that was given, unless the line above it gave it already."""
    plain = line.removesuffix(_NEVER)
    if plain == line or _SOURCE.match(line) is None:
        yield line
        return
    source = _SOURCE.match(_unescaped_prose(above, verse=False)) if _GUARDED.match(above) else None
    if source is None or _live(source) != line or source.string + _NEVER == line:
        yield plain


def _live(source: re.Match[str]) -> str:
    """Return the opening line of a source block that nothing evaluates, in a language known to be one."""
    language = source["language"] if source["language"] in LANGUAGES else "text"
    return f"{source['indent']}{source['keyword']} {language}{_NEVER}"


def _roles(lines: Sequence[str]) -> list[_Role]:
    """Return what each line is to org's parser: the same before and after escaping."""
    roles = [_Role.PROSE] * len(lines)
    closings = _closings(lines)
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
                roles[number], roles[end] = _Role.OPENING, _Role.CLOSING
                if kind in ("quote", "center"):
                    ends.append(end)
                else:
                    inner = _Role.VERSE if kind == "verse" else _Role.CODE
                    roles[number + 1 : end] = [inner] * (end - number - 1)
                    number = end
        number += 1
    return roles


def _closings(lines: Sequence[str]) -> dict[str, list[int]]:
    """Return for each kind of block the lines that could close one."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if closing := _CLOSING.fullmatch(line):
            found[closing[1].lower()].append(number)
    return found


def _first_after(number: int, numbers: Sequence[int]) -> int | None:
    """Return the first of the rising `numbers` beyond `number`."""
    place = bisect(numbers, number)
    return numbers[place] if place < len(numbers) else None


def _split(line: str, pattern: re.Pattern[str], *, once: bool = False) -> str:
    """Return `line` with one more break at each place; with `once`, only where there's none."""
    places = _places(line, pattern)
    if not places:
        return line
    out: list[str] = []
    for place, run in _runs(line):
        more = place in places and not (once and len(run) > 1)
        out.append(run + BREAK if more else run)
    return "".join(out)


def _joined(line: str, pattern: re.Pattern[str]) -> str:
    """Return `line` with one break less at each place."""
    places = _places(line, pattern)
    if not places:
        return line
    return "".join(run.removesuffix(BREAK) if place in places else run for place, run in _runs(line))


def _places(line: str, pattern: re.Pattern[str]) -> set[int]:
    """Return after how many characters, breaks not counted, a break belongs.

    Breaks play no part in where breaks belong; so taking one away undoes putting it there.
    """
    bare = line.replace(BREAK, "")
    return {found.end() for found in pattern.finditer(bare) if found.lastgroup != "keep"}


def _runs(line: str) -> Iterator[tuple[int, str]]:
    """Yield each character with the breaks that follow it, and its number from 1 on."""
    leading = line.startswith(BREAK)
    return enumerate(_RUN.findall(line), start=0 if leading else 1)
