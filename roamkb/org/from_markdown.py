"""Conversion of Markdown to org: markdown-it-py parses, roamkb renders.

A node is one file without headings, so headings become bold lines. What Markdown took as
text stays text: a line that org would read as a list, a table or a keyword gets a
zero-width space in front, and so does what would end a stretch that org alone takes for
marked. Links and citations of org's stay, and so do formulas, scripts without braces and
dashes. The result is a body like any other, escaped when it's written.
"""

import re
import unicodedata
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote
from urllib.parse import unquote

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.org import markdown_footnotes
from roamkb.org.escape import LANGUAGES
from roamkb.org.syntax.inline_objects import InlineObject
from roamkb.org.syntax.inline_objects import NoDate
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.syntax_table import AFTER_EMPHASIS
from roamkb.org.syntax.syntax_table import BEFORE_EMPHASIS
from roamkb.org.syntax.syntax_table import BREAK

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

#: What Markdown's writers call a language that org calls otherwise.
_LANGUAGE_NAMES = {
    "golang": "go",
    "jsonc": "json",
    "jsx": "js",
    "md": "markdown",
    "patch": "diff",
    "ps1": "powershell",
    "py": "python",
    "python3": "python",
    "rb": "ruby",
    "rs": "rust",
    "tf": "terraform",
    "yml": "yaml",
    "zshrc": "zsh",
}

_MARKERS = {"em": "/", "strong": "*", "s": "+"}
_MARKS = tuple("/*+~=")
_HARD_BREAK = "\\\\\n"

#: What may stand directly before and after a marked stretch in org.
_BEFORE = lazily(rf"{BEFORE_EMPHASIS}\Z")
_AFTER = lazily(AFTER_EMPHASIS)

#: What org would take for the start of something else than a paragraph.
_NOT_PROSE = lazily(
    r"\s*(?:(?:[-+*]|[0-9]+[.)]|[A-Za-z][.)])(?:\s|$)|\||#\+|#(?:\s|$)|:|-{5,}\s*$|\\begin\{|%%\()|\*+\s|\[fn:"
)
_BLOCK_END = lazily(r"\s*#\+end_(\w+)", re.IGNORECASE)
_GOOD_TARGET = lazily(r"(?:id|https?|doi):")
_NO_ID = lazily(r"[\[\]\\\n\t]")
_ORG_FILE = lazily(r"(?:\./)?[\w+,=@ -][\w.+,=@ /-]*\.org")
#: Times its own length that a table may have with all blanks; one long cell must not fill a thousand lines.
_MOST_PADDED = 4
_TASK = lazily(r"\[x\](?=\s|$)")

#: What markup begins and ends with stands in text as a lone surrogate, until org's reader was asked.
_TEXT_MARKS = {ord(mark): 0xDC00 + ord(mark) for mark in "*/_+=~^\\<["}
_MARKS_OF_TEXT = {text_mark: mark for mark, text_mark in _TEXT_MARKS.items()}
_SURROGATES = lazily("[\ud800-\udfff]")
#: A backslash of the text that would end its line, or does so beside the one of a hard break.
_LINE_BREAK = lazily(r"\udc5c(?=\\\\$)|\udc5c\udc5c(?=[ \t]*$)", re.MULTILINE)
#: A break may end what was marked elsewhere; most texts need one reading, or two.
_READINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownPart:
    """A top-level block of a Markdown file, or an item of a top-level list."""

    #: `heading`, `fence`, `html_block`, `paragraph`…; `item` for an item of one paragraph.
    kind: str
    #: Lines from 0; the second is behind the last.
    start: int
    end: int
    #: 1 to 6 for a heading.
    level: int = 0
    #: A heading's own words, as they were written.
    text: str = ""


def markdown_parts(text: str) -> Iterator[MarkdownPart]:
    """Yield the blocks of CommonMark, in order; a line ends at CR, LF or both."""
    for node in _parse_tree(text, "table").children:
        start, end = node.map or (0, 0)
        if node.type == "heading":
            words = node.children[0].content if node.children else ""
            yield MarkdownPart(kind=node.type, start=start, end=end, level=int(node.tag[1:]), text=words)
        else:
            yield MarkdownPart(kind=node.type, start=start, end=end)
        for item in node.children if node.type == "bullet_list" else ():
            if [child.type for child in item.children] == ["paragraph"]:
                item_start, item_end = item.map or (0, 0)
                yield MarkdownPart(kind="item", start=item_start, end=item_end)


def _parse_tree(text: str, *rules: str, has_footnotes: bool = False) -> "SyntaxTreeNode":
    """Return the tree of CommonMark with more of markdown-it's rules, and with footnotes."""
    # imported here: no other command needs it, and it isn't quick to load
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    parser = MarkdownIt("commonmark").enable(list(rules))
    if has_footnotes:
        parser.use(markdown_footnotes.enable_footnotes)
    return SyntaxTreeNode(parser.parse(text))


def org_from_markdown(text: str) -> str:
    """Return CommonMark with tables, strikethrough and footnotes as the body of an org node."""
    root = _parse_tree(_SURROGATES.sub("", text), "table", "strikethrough", has_footnotes=True)
    lines = _render_blocks(root.children)
    # org has no block that begins below the first one, and ends each with two empty lines
    for note in (node for node in root.walk() if node.type == "footnote"):
        lines += [*([""] if lines else []), *_render_footnote(note)]
    return "\n".join(lines)


#: How deep a block stands in quotes; what is deeper than one, or in a footnote, holds no other blocks.
_NO_BLOCKS = 2


def _render_blocks(nodes: Sequence["SyntaxTreeNode"], *, depth: int = 0) -> list[str]:
    """Return the lines of `nodes`, an empty line between two of them unless the list is tight."""
    out: list[str] = []
    nodes = [node for node in nodes if node.type != "footnote"]
    for number, node in enumerate(nodes):
        tight = node.hidden or nodes[number - 1].hidden
        if number and not tight:
            out.append("")
        out.extend(_render_block(node, depth=depth))
    return out


def _render_block(node: "SyntaxTreeNode", *, depth: int) -> Iterable[str]:
    """Return the lines of a single block."""
    match node.type:
        case "heading":
            return [_guard_prose(_guard_markup(_mark_up("*", _join_lines(_render_inline(node)))))]
        case "bullet_list" | "ordered_list":
            return _render_list(node, depth=depth)
        case "blockquote":
            inner = _render_blocks(node.children, depth=depth + 1)
            # org can't nest quotes: an inner one is marked as mail does it
            return map(_cite_line, inner) if depth else ["#+begin_quote", *inner, "#+end_quote"]
        case "fence" | "code_block":
            return _render_code(node.content, node.info, depth=depth)
        case "table":
            return _render_table(node)
        case "hr":
            return ["-----"]
        case "html_block":
            text = node.content.rstrip("\n").translate(_TEXT_MARKS)
            return [_guard_prose(line) for line in _guard_markup(text).split("\n")]
        case _:
            return [_guard_prose(line) for line in _guard_markup(_render_inline(node)).split("\n")]


def _cite_line(line: str) -> str:
    """Return a line of a quote in a quote; code stays code."""
    if line.startswith(": "):
        return f": > {line[2:]}"
    return f"> {line.removeprefix(BREAK)}".rstrip()


def _render_footnote(node: "SyntaxTreeNode") -> Iterator[str]:
    """Yield the lines of a footnote."""
    lines = _render_blocks(node.children, depth=_NO_BLOCKS)
    label = f"[fn:{node.meta['label']}]"
    if lines and node.children[0].type == "paragraph":
        label += f" {lines.pop(0).removeprefix(BREAK)}"
    yield label
    yield from lines


def _render_list(node: "SyntaxTreeNode", *, depth: int) -> Iterator[str]:
    """Yield the lines of a list, each item's indented below its bullet."""
    first_number = int(node.attrs.get("start", 1))
    loose = any(not child.hidden for item in node.children for child in item.children if child.type == "paragraph")
    for number, item in enumerate(node.children, start=first_number):
        if loose and number > first_number:
            yield ""
        bullet = "-" if node.type == "bullet_list" else f"{number}."
        if node.type == "ordered_list" and number == first_number != 1:
            bullet += f" [@{number}]"
        lines = _render_blocks(item.children, depth=depth)
        indent = " " * (2 if node.type == "bullet_list" else len(str(number)) + 2)
        if lines and item.children[0].type in ("paragraph", "heading"):
            yield f"{bullet} {_TASK.sub('[X]', lines.pop(0).removeprefix(BREAK), count=1)}"
        else:
            # org takes what follows a bullet for text, whatever it looks like
            yield bullet
        yield from (indent + line if line else "" for line in lines)


def _render_code(content: str, info: str, *, depth: int) -> list[str]:
    """Return code as a block that it can't close itself, or else as fixed-width lines."""
    lines = content.removesuffix("\n").split("\n") if content else []
    ends = {end[1].lower() for line in lines if (end := _BLOCK_END.match(line))}
    word = (info.split() or [""])[0].strip("{}.")
    names = (word, word.lower(), _LANGUAGE_NAMES.get(word.lower(), ""))
    language = next((name for name in names if name in LANGUAGES), None)
    cut = depth >= _NO_BLOCKS or (depth and "quote" in ends) or any(line.startswith("[fn:") for line in lines)
    if language and "src" not in ends and not cut:
        return [f"#+begin_src {language}", *lines, "#+end_src"]
    if "example" not in ends and not cut:
        return ["#+begin_example", *lines, "#+end_example"]
    return [f": {line}".rstrip() for line in lines]


def _render_table(node: "SyntaxTreeNode") -> Iterator[str]:
    """Yield a table's lines, a rule below its head, its columns as wide as org would make them."""
    parts = [
        (part.type, [_guard_markup(_render_cell(cell), ObjectSet.CELL) for cell in row.children])
        for part in node.children
        for row in part.children
    ]
    rows = [cells for _, cells in parts]
    widths = [max(map(_text_width, column)) for column in zip(*rows, strict=True)]
    if len(rows) * sum(widths) > _MOST_PADDED * sum(_text_width(cell) + 1 for cells in rows for cell in cells):
        widths = [0] * len(widths)
    for kind, cells in parts:
        padded = (cell + " " * (width - _text_width(cell)) for cell, width in zip(cells, widths, strict=True))
        yield f"| {' | '.join(padded)} |"
        if kind == "thead":
            yield f"|{'+'.join('-' * (max(width, 1) + 2) for width in widths)}|"


def _render_cell(node: "SyntaxTreeNode") -> str:
    return _join_lines(_render_inline(node)).replace("|", r"\vert{}")


def _text_width(text: str) -> int:
    """Return how many columns a text takes, as Emacs counts them."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _render_inline(node: "SyntaxTreeNode") -> str:
    """Return the text of a block that holds no other blocks, its marks set apart from markup."""
    return _render_run(node.children[0].children if node.children else ())


def _render_run(nodes: Iterable["SyntaxTreeNode"], *, is_linked: bool = False) -> str:
    """Return running text, marked stretches set apart from letters that touch them."""
    out = ""
    after_marked = False
    for node in nodes:
        piece = _render_piece(node, is_linked=is_linked)
        touches_before = piece[:1] in _MARKS and out and not _BEFORE.search(out[-1:].translate(_MARKS_OF_TEXT))
        touches_after = after_marked and piece and not _AFTER.match(piece[:1].translate(_MARKS_OF_TEXT))
        out += f"{BREAK if touches_before or touches_after else ''}{piece}"
        after_marked = piece[-1:] in _MARKS if piece else after_marked
    return out


def _render_piece(node: "SyntaxTreeNode", *, is_linked: bool) -> str:
    """Return the org of an inline node."""
    match node.type:
        case "softbreak":
            return "\n"
        case "hardbreak":
            return _HARD_BREAK
        case "em" | "strong" | "s":
            words = _render_run(node.children, is_linked=is_linked)
            return _mark_up(_MARKERS[node.type], _join_lines(words))
        case "code_inline":
            return _render_verbatim(node.content)
        case "link":
            # no link can hold another: of a badge the words count
            words = _render_run(node.children, is_linked=True)
            return _render_link(str(node.attrs.get("href", "")), _join_lines(words))
        case "image" if is_linked:
            return " ".join(node.content.split()).translate(_TEXT_MARKS)
        case "footnote_ref":
            return f"[fn:{node.meta['label']}]"
        case "image":
            words = " ".join(node.content.split()).translate(_TEXT_MARKS)
            return _render_link(str(node.attrs.get("src", "")), words)
        case _:
            return node.content.replace("\n", " ").translate(_TEXT_MARKS)


def _join_lines(words: str) -> str:
    """Return running text on one line."""
    return " ".join(words.replace(_HARD_BREAK, " ").split())


def _mark_up(marker: str, words: str) -> str:
    """Return `words` between two markers, or bare where they hold the marker."""
    return f"{marker}{words}{marker}" if words and marker not in words else words


def _render_verbatim(code: str) -> str:
    """Return code within a line as verbatim; as plain text where org can't take it for that."""
    words = code.strip()
    forms = [f"{mark}{words}{mark}" for mark in sorted("~=", key=words.__contains__) if words]
    return next(filter(_is_whole, forms), code.translate(_TEXT_MARKS))


def _is_whole(text: str) -> bool:
    """Say whether `text` is one object to org, from its first character to its last."""
    found = next(ObjectReader(text, LinkFinder(text)).read_objects(0, len(text), ObjectSet.ALL), None)
    return found is not None and (found.begin, found.end) == (0, len(text))


def _render_link(target: str, words: str) -> str:
    """Return a link that a note may hold, or its words and target as text."""
    plain = unquote(target)
    if _ORG_FILE.fullmatch(plain) and "/." not in plain:
        target = f"file:{plain}"
    elif plain.startswith("id:") and not _NO_ID.search(plain):
        # org-roam decodes no id
        target = plain
    elif _GOOD_TARGET.match(target):
        target = re.sub(r"[\s\[\]\\]", lambda match: quote(match[0]), target)
    else:
        shown_target = target.translate(_TEXT_MARKS)
        return words if words == shown_target or not target else f"{words} ({shown_target})".lstrip()
    if not words or words.translate(_MARKS_OF_TEXT) in (target, plain):
        return f"[[{target}]]"
    return f"[[{target}][{re.sub(r'](?=]|$)', f']{BREAK}', words)}]]"


def _guard_prose(line: str) -> str:
    """Return a line of text that org takes for text."""
    return BREAK + line if _NOT_PROSE.match(line) else line


def _guard_markup(marked: str, holds: ObjectSet = ObjectSet.ALL) -> str:
    """Return running text with a break in each stretch that org alone takes for marked."""
    marked = _LINE_BREAK.sub(rf"\g<0>{BREAK}", marked)
    for _reading in range(_READINGS):
        places = sorted(set(_foreign_places(marked, holds)))
        if not places:
            break
        pieces = (marked[begin:end] for begin, end in pairwise((0, *places, len(marked))))
        marked = BREAK.join(pieces)
    return marked.translate(_MARKS_OF_TEXT)


def _foreign_places(marked: str, holds: ObjectSet) -> Iterator[int]:
    """Yield where to break each object that begins or ends with a mark of the text."""
    text = marked.translate(_MARKS_OF_TEXT)
    if text == marked:
        return
    reader = ObjectReader(text, LinkFinder(text))
    windows = [(0, len(text), holds)]
    try:
        while windows:
            window = windows.pop()
            for found in reader.read_objects(*window):
                place = _foreign_place(marked, text, reader, found)
                if place is not None:
                    yield place
                elif found.link is not None and (words := reader.description_span(found)):
                    windows.append((*words, ObjectSet.DESCRIPTION))
                elif found.inside and not found.citation:
                    windows.append((*found.inside, ObjectSet.ALL))
    except NoDate:
        return


def _foreign_place(marked: str, text: str, reader: ObjectReader, found: InlineObject) -> int | None:
    """Return where a break ends an object that Markdown knows nothing of."""
    begin = found.begin
    last = begin + len(text[begin : found.end].rstrip(" \t")) - 1
    is_text = marked[begin] != text[begin]
    match text[begin]:
        case "*" | "/" | "+" | "=" | "~" | "_" if text[last] == text[begin]:
            return last if marked[last] != text[last] else begin + 1 if is_text else None
        case "_" | "^" if is_text and text[begin + 1] == "{":
            return begin + 1
        case "\\" if is_text and reader.is_entity(begin, found.end):
            return begin + 1
        case "<" if is_text and text[begin + 1] == "<":
            return begin + 1
        case "[" if is_text and text.startswith(("fn:", "FN:"), begin + 1):
            return begin + 1
    return None
