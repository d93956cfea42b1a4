"""The objects of a stretch of org text as HTML: emphasis, links, times, footnotes, citations."""

import re

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.html.markup import LinkTargets
from roamkb.org.html.markup import link_to
from roamkb.org.html.markup import shown
from roamkb.org.html.markup import web_link
from roamkb.org.syntax.inline_objects import InlineObject
from roamkb.org.syntax.inline_objects import NoDate
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.links import Abbreviations
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.links import LinkText
from roamkb.org.syntax.syntax_table import SPACE

_EMPHASIS = {"*": "strong", "/": "em", "_": "u", "+": "s"}
#: Objects in objects; what is deeper is an attack, and shown as text.
_MOST_LEVELS = 16
_IMAGE = lazily(r".*\.(?:png|jpe?g|gif|webp|avif|bmp|ico)", re.IGNORECASE)
_FOOTNOTE = lazily(rf"\[fn:([^\]\[{SPACE}:]*)", re.IGNORECASE)
_LATEX = ("$", "\\(", "\\[")


class InlineRenderer:
    """The renderer of the objects of one text, to be called from its start to its end."""

    def __init__(self, text: str, targets: LinkTargets, abbreviations: Abbreviations) -> None:
        self._text = text
        self._targets = targets
        self._objects = ObjectReader(text, LinkFinder(text, abbreviations))
        self._footnotes: dict[str, int] = {}
        self._referred: set[int] = set()

    def render(self, begin: int, end: int, holds: ObjectSet = ObjectSet.ALL, *, level: int = 0) -> str:
        """Return the text between `begin` and `end` as HTML."""
        text = self._text
        parts: list[str] = []
        position = begin
        if level < _MOST_LEVELS:
            try:
                for item in self._objects.read_objects(begin, end, holds):
                    stop = item.begin + len(text[item.begin : item.end].rstrip(" \t"))
                    parts.append(shown(text[position : item.begin]))
                    parts.append(self._render_object(item, stop, level + 1))
                    position = stop
            except NoDate:
                # Org gives up on the whole file; the rest of this is readable all the same
                pass
        parts.append(shown(text[position:end]))
        return "".join(parts)

    def footnote_number(self, label: str) -> int:
        """Return the number of a footnote, in the order in which they are met."""
        return self._footnotes.setdefault(label, len(self._footnotes) + 1)

    def _render_object(self, item: InlineObject, stop: int, level: int) -> str:
        text = self._text
        first = text[item.begin]
        if item.link is not None:
            return self._render_link(item, item.link, level)
        if item.citation and item.inside:
            return self._render_citation(item, stop)
        if item.inside is not None and first in "*/_+^":
            return self._render_marked(item, item.inside, stop, level)
        if first in "~=":
            return f"<code>{shown(text[item.begin + 1 : stop - 1])}</code>"
        if text.startswith(_LATEX, item.begin):
            return f'<code class="latex">{shown(text[item.begin : stop])}</code>'
        if first == "[" and (label := _FOOTNOTE.match(text, item.begin, stop)):
            return self._render_footnote(item, label[1], level)
        if first in "<[" and text[item.begin + 1].isdigit():
            return f"<time>{shown(text[item.begin : stop])}</time>"
        return shown(text[item.begin : stop])

    def _render_marked(self, item: InlineObject, inside: tuple[int, int], stop: int, level: int) -> str:
        """Return emphasis, or a text set low or high; without braces that is mostly a name, such as `a_b`."""
        begin, end = inside
        text = self._text
        contents = self.render(begin, end, level=level)
        if begin == item.begin + 1 and end == stop - 1:
            tag = _EMPHASIS.get(text[item.begin])
        else:
            tag = {"^": "sup", "_": "sub"}.get(text[item.begin]) if text[item.begin + 1] == "{" else None
        if tag is None:
            return shown(text[item.begin : begin]) + contents + shown(text[end:stop])
        return f"<{tag}>{contents}</{tag}>"

    def _render_citation(self, item: InlineObject, stop: int) -> str:
        text = self._text
        parts: list[str] = []
        position = item.begin
        for key, place in self._objects.citation_keys(*(item.inside or (stop, stop))):
            begin = text.find(f"@{key}", max(place, position), stop)
            href = self._targets.find_cited(key)
            if begin < 0 or href is None:
                continue
            end = begin + len(key) + 1
            parts += (shown(text[position:begin]), link_to(href, shown(text[begin:end])))
            position = end
        return f"<cite>{''.join(parts)}{shown(text[position:stop])}</cite>"

    def _render_footnote(self, item: InlineObject, label: str, level: int) -> str:
        if item.inside is not None:
            return f'<span class="aside">[{self.render(*item.inside, level=level)}]</span>'
        number = self.footnote_number(label)
        anchor = "" if number in self._referred else f' id="fnr-{number}"'
        self._referred.add(number)
        return f'<sup class="fn"><a href="#fn-{number}"{anchor}>{number}</a></sup>'

    def _render_link(self, item: InlineObject, link: LinkText, level: int) -> str:
        span = self._objects.description_span(item)
        words = self._text[slice(*span)] if span else ""
        label = self.render(*span, ObjectSet.DESCRIPTION, level=level) if span else ""
        target = _written_target(link)
        match link.type.lower():
            case "id":
                node = self._targets.find_node(link.path)
                if node is None:
                    return f'<span class="dead" title="no note has this id">{label or shown(target)}</span>'
                return link_to(node.href, label or shown(node.title or link.path))
            case "http" | "https":
                return web_link(target, label or shown(target), words=words)
            case "doi":
                return web_link(f"https://doi.org/{link.path}", label or shown(target), words=words)
            case "file" | "attachment" as kind:
                return self._render_file(link, label, is_attachment=kind == "attachment")
            case "fuzzy" | "custom-id" | "coderef":
                return f'<span class="local">{label or shown(link.path)}</span>'
        return f'{label} <span class="address">({shown(target)})</span>' if label else shown(target)

    def _render_file(self, link: LinkText, label: str, *, is_attachment: bool) -> str:
        is_image = _IMAGE.fullmatch(link.path) is not None
        source = self._targets.find_image(link.path, is_attachment=is_attachment) if is_image else None
        if source is not None and not label:
            name = link.path.rpartition("/")[2]
            return f'<img src="{shown(source)}" alt="{shown(name)}" loading="lazy">'
        href = source if is_image or is_attachment else self._targets.find_file(link.path)
        if href is not None:
            return link_to(href, label or shown(link.path))
        return f'<span class="local" title="{shown(_written_target(link))}">{label or shown(link.path)}</span>'


def _written_target(link: LinkText) -> str:
    search = "" if link.search is None else f"::{link.search}"
    return f"{link.type}:{link.path}{search}"
