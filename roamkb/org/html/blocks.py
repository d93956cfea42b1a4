"""The elements of a section of org text as HTML: paragraphs, lists, tables, blocks, drawers."""

import re
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.html.inline import InlineRenderer
from roamkb.org.html.markup import shown
from roamkb.org.syntax.element_tree import Element
from roamkb.org.syntax.element_tree import ElementKind
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.syntax_table import SPACE

_CAPTION = lazily(r"^[ \t]*#\+caption(?:\[.*?\])?:[ \t]*", re.IGNORECASE | re.MULTILINE)
_BLOCK = lazily(rf"[ \t]*#\+begin(?:_([^{SPACE}]+)|:)[ \t]*([^{SPACE}]*)", re.IGNORECASE)
_ESCAPED_LINE = lazily(r"^([ \t]*),(?=,*(?:\*|#\+))", re.MULTILINE)
_FIXED = lazily(r"^[ \t]*: ?", re.MULTILINE)
_FOOTNOTE = lazily(rf"\[fn:([^\]\[{SPACE}:]+)\]", re.IGNORECASE)
_DRAWER = lazily(rf"[ \t]*:([^{SPACE}]+):")
_PROPERTY = lazily(rf"[ \t]*:([^{SPACE}]+):[ \t]*(.*)")
_BULLET = lazily(r"[ \t]*(?:([-+*])|([0-9]+)[.)])(?:[ \t]+|$)(?:\[@(?:start:)?([0-9]+)\][ \t]*)?(?:\[([ Xx-])\])?")
#: Digits of a list's number that a browser counts with.
_MOST_DIGITS = 9
#: Keywords that the page's head shows.
_HEAD_KEYWORDS = ("#+title:", "#+filetags:")
_CODE = frozenset(("src", "example", "export", "comment"))
_TITLES = {"x": "done", " ": "open", "-": "begun"}
_SIGNS = {"x": "☑", " ": "☐", "-": "◪"}


class BlockRenderer:
    """The renderer of the elements of one text, in the order of the text."""

    def __init__(self, text: str, inline: InlineRenderer, *, marked: int | None = None) -> None:
        """Take the place in `text` whose element is to have the anchor `here`."""
        self._text = text
        self._inline = inline
        self._marked = marked
        self._closing: list[tuple[int, str]] = []
        #: Whether each of the lists around describes terms.
        self._terms: list[tuple[int, bool]] = []

    def render(self, elements: Sequence[Element]) -> Iterator[str]:
        """Yield the HTML of `elements`, each before what it contains."""
        marked = self._find_marked(elements)
        for place, element in enumerate(elements):
            yield from self._close_before(element.begin)
            anchor = ' id="here"' if place == marked else ""
            yield from self._render_element(element, anchor)
        yield from self._close_before(len(self._text) + 1)

    def _find_marked(self, elements: Sequence[Element]) -> int | None:
        if self._marked is None:
            return None
        around = (place for place, element in enumerate(elements) if element.begin <= self._marked < element.end)
        return max(around, default=None)

    def _close_before(self, position: int) -> Iterator[str]:
        while self._closing and self._closing[-1][0] <= position:
            yield self._closing.pop()[1]
        while self._terms and self._terms[-1][0] <= position:
            self._terms.pop()

    def _open(self, element: Element, opening: str, closing: str) -> Iterator[str]:
        yield opening
        if element.end > element.begin:
            self._closing.append((element.end, closing))
        else:
            yield closing

    def _render_element(self, element: Element, anchor: str) -> Iterator[str]:  # noqa: C901 - one branch a kind
        match element.kind:
            case ElementKind.PARAGRAPH:
                yield self._render_paragraph(element, anchor)
            case ElementKind.LIST:
                yield from self._open_list(element)
            case ElementKind.ITEM:
                yield from self._open_item(element, anchor)
            case ElementKind.TABLE:
                yield from self._render_table(element, anchor)
            case ElementKind.BLOCK:
                yield from self._render_block(element, anchor)
            case ElementKind.DRAWER:
                name = _DRAWER.match(self._text, element.own)
                summary = f"<summary>{shown(name[1]) if name else ''}</summary>"
                yield from self._open(element, f'<details class="drawer"{anchor}>{summary}', "</details>")
            case ElementKind.PROPERTIES:
                yield from self._render_properties(element, anchor)
            case ElementKind.FOOTNOTE:
                yield from self._open_footnote(element)
            case ElementKind.FIXED_WIDTH:
                yield self._pre(_FIXED.sub("", self._text_of(element)), anchor)
            case ElementKind.RULE:
                yield "<hr>"
            case ElementKind.COMMENT:
                yield f'<p class="comment"{anchor}>{shown(self._text_of(element).strip())}</p>'
            case ElementKind.KEYWORD:
                line = self._text_of(element).strip()
                if not line.lower().startswith(_HEAD_KEYWORDS):
                    yield f'<p class="keyword"{anchor}>{shown(line)}</p>'
            case ElementKind.TIMES:
                yield f'<p class="times"{anchor}>{self._inline.render(element.own, element.end).strip()}</p>'
            case ElementKind.VERBATIM:
                yield self._pre(self._text_of(element), anchor)

    def _text_of(self, element: Element) -> str:
        return self._text[element.own : element.end].rstrip("\n")

    def _pre(self, text: str, anchor: str, *, label: str = "") -> str:
        """Return a text as it stands; by its tab stop a keyboard can move what is wider than the page."""
        caption = f"<figcaption>{shown(label)}</figcaption>" if label else ""
        name = shown(label) if label else "text as it stands"
        pre = f'<pre tabindex="0" role="group" aria-label="{name}">{shown(text)}</pre>'
        return f"<figure{anchor}>{caption}{pre}</figure>"

    def _render_paragraph(self, element: Element, anchor: str) -> str:
        caption = self._render_caption(element)
        html = self._inline.render(element.own, element.own + len(self._text_of(element))).strip()
        if html.startswith("<img ") and html.index(">") == len(html) - 1:
            return f'<figure class="image"{anchor}>{html}{caption}</figure>'
        return f"<p{anchor}>{html}</p>"

    def _render_caption(self, element: Element) -> str:
        spans = [
            (line.end(), self._line_end(line.end()))
            for line in _CAPTION.finditer(self._text, element.begin, element.own)
        ]
        captions = [self._inline.render(*span, ObjectSet.CAPTION) for span in spans]
        return f"<figcaption>{' '.join(captions)}</figcaption>" if captions else ""

    def _line_end(self, position: int) -> int:
        newline = self._text.find("\n", position)
        return len(self._text) if newline < 0 else newline

    def _open_list(self, element: Element) -> Iterator[str]:
        bullet = _BULLET.match(self._text, element.own)
        number = (bullet[3] or bullet[2] or "") if bullet else ""
        if number:
            start = f' start="{int(number)}"' if len(number) <= _MOST_DIGITS and int(number) != 1 else ""
            self._terms.append((element.end, False))
            yield from self._open(element, f"<ol{start}>", "</ol>")
        elif self._has_terms(element):
            self._terms.append((element.end, True))
            yield from self._open(element, "<dl>", "</dl>")
        else:
            self._terms.append((element.end, False))
            yield from self._open(element, "<ul>", "</ul>")

    def _has_terms(self, element: Element) -> bool:
        """Say whether the list's first line has a tag."""
        line = self._text[element.own : self._line_end(element.own)]
        return " :: " in line or line.endswith(" ::")

    def _open_item(self, element: Element, anchor: str) -> Iterator[str]:
        bullet = _BULLET.match(self._text, element.own)
        state = (bullet[4] or "").lower() if bullet else ""
        box = f'<span class="box" role="img" aria-label="{_TITLES[state]}">{_SIGNS[state]}</span> ' if state else ""
        tag = self._inline.render(*element.tag) if element.tag else ""
        if self._terms and self._terms[-1][1]:
            yield from self._open(element, f"<dt{anchor}>{box}{tag}</dt><dd>", "</dd>")
        else:
            term = f"<b>{tag}</b> " if tag else ""
            kind = ' class="checked"' if box else ""
            yield from self._open(element, f"<li{kind}{anchor}>{box}{term}", "</li>")

    def _open_footnote(self, element: Element) -> Iterator[str]:
        label = _FOOTNOTE.match(self._text, element.own)
        number = self._inline.footnote_number(label[1] if label else "")
        back = f'<a class="back" href="#fnr-{number}" aria-label="back to the text">{number}</a>'
        yield from self._open(element, f'<div class="footnote" id="fn-{number}">{back}<div>', "</div></div>")

    def _render_properties(self, element: Element, anchor: str) -> Iterator[str]:
        lines = self._text_of(element).split("\n")[1:-1]
        entries = list(filter(None, map(_PROPERTY.match, lines)))
        rows = "".join(f"<dt>{shown(entry[1])}</dt><dd>{shown(entry[2])}</dd>" for entry in entries)
        # an id alone is no news to a reader
        if any(entry[1].upper() != "ID" for entry in entries):
            yield f'<details class="properties"{anchor}><summary>Properties</summary><dl>{rows}</dl></details>'

    def _render_table(self, element: Element, anchor: str) -> Iterator[str]:
        rows, formulas = self._split_table(element)
        yield f'<div class="wide" tabindex="0" role="group" aria-label="table"{anchor}><table>'
        if caption := self._render_caption(element):
            yield caption.replace("figcaption", "caption")
        rules = [number for number, row in enumerate(rows) if row is None]
        head_end = next((number for number in rules if number), 0)
        is_headed = 0 < head_end < len(rows) - 1
        for number, row in enumerate(rows):
            if row is not None:
                cell = "th" if is_headed and number < head_end else "td"
                contents = (self._inline.render(*span, ObjectSet.CELL) for span in row)
                yield f"<tr>{''.join(f'<{cell}>{html}</{cell}>' for html in contents)}</tr>"
        yield "</table></div>"
        if formulas:
            yield f'<p class="keyword">{shown(formulas)}</p>'

    def _split_table(self, element: Element) -> tuple[list[list[tuple[int, int]] | None], str]:
        """Return the spans of each row's cells, None for a rule; and the lines of formulas."""
        rows: list[list[tuple[int, int]] | None] = []
        position = element.own
        while position < element.end:
            line_end = min(self._line_end(position), element.end)
            line = self._text[position:line_end]
            if line.lstrip(" \t").startswith("#"):
                return rows, self._text[position : element.end].strip()
            bar = line.find("|")
            rows.append(
                None if line[bar + 1 : bar + 2] == "-" else list(self._cell_spans(position + bar + 1, line_end))
            )
            position = line_end + 1
        return rows, ""

    def _cell_spans(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        text = self._text
        end = begin + len(text[begin:end].rstrip(" \t"))
        if text.startswith("|", end - 1):
            end -= 1
        while begin <= end:
            bar = text.find("|", begin, end)
            stop = end if bar < 0 else bar
            cell = text[begin:stop]
            inner = begin + len(cell) - len(cell.lstrip(" \t"))
            yield inner, max(begin + len(cell.rstrip(" \t")), inner)
            begin = stop + 1

    def _render_block(self, element: Element, anchor: str) -> Iterator[str]:
        opening = _BLOCK.match(self._text, element.own)
        name, argument = (opening[1] or "", opening[2]) if opening else ("", "")
        kind = name.lower()
        if kind in _CODE:
            label = {"src": argument, "example": ""}.get(kind, f"{kind} {argument}".strip())
            yield self._pre(_dedent(self._inner_lines(element)), anchor, label=label)
        elif kind == "verse":
            begin, end = self._inner_span(element)
            yield f'<p class="verse"{anchor}>{self._inline.render(begin, end)}</p>'
        elif kind == "quote":
            yield from self._open(element, f"<blockquote{anchor}>", "</blockquote>")
        elif kind == "center":
            yield from self._open(element, f'<div class="center"{anchor}>', "</div>")
        else:
            title = f'<p class="keyword">{shown(name or argument)}</p>'
            yield from self._open(element, f'<div class="special"{anchor}>{title}', "</div>")

    def _inner_span(self, element: Element) -> tuple[int, int]:
        """Return the span between a block's first and its last line."""
        begin = min(self._line_end(element.own) + 1, element.end)
        last = element.own + len(self._text_of(element).rstrip())
        return begin, max(self._text.rfind("\n", element.own, last), begin)

    def _inner_lines(self, element: Element) -> str:
        return _ESCAPED_LINE.sub(r"\1", self._text[slice(*self._inner_span(element))])


def _dedent(text: str) -> str:
    """Return lines without the blanks that all of them begin with."""
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    return "\n".join(line[min(indents, default=0) :] for line in lines)
