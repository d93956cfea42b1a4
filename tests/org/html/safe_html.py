"""A judge of HTML that was made of a note: which tags, attributes and addresses it holds, and which text."""

from html.parser import HTMLParser

#: What a note may become, each with the attributes that it may have.
ALLOWED = {
    **dict.fromkeys(
        "p ul ol li dl dt dd table tr td th caption blockquote pre code strong em u s sup sub cite time b span "
        "h2 h3 h4 h5 h6 details summary figure figcaption img hr div a".split(),
        frozenset(),
    ),
    "ol": frozenset({"start"}),
    "a": frozenset({"href", "rel"}),
    "img": frozenset({"src", "alt", "loading"}),
    "pre": frozenset({"tabindex"}),
    "div": frozenset({"tabindex"}),
}
_EVERYWHERE = frozenset({"class", "id", "title", "role", "aria-label"})
_VOID = frozenset({"img", "hr"})
#: What only ever the renderer chooses.
_FIXED = frozenset(
    {"class", "id", "role", "tabindex", "loading", "rel"},
)


class SafeHtml(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.hrefs: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"{tag} stays open" for tag in self._open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.faults.append(f"<{tag}>")
            return
        for name, value in attributes:
            if name not in ALLOWED[tag] | _EVERYWHERE:
                self.faults.append(f"<{tag} {name}>")
            if name in _FIXED and not all(char.isalnum() or char in "- " for char in value or ""):
                self.faults.append(f"<{tag} {name}={value!r}>")
        values = dict(attributes)
        for name in ("href", "src"):
            if (address := values.get(name)) is not None:
                self.hrefs.append(address)
                if not address.startswith(("/note?", "/image?", "#fn", "http://", "https://")):
                    self.faults.append(f"<{tag} {name}={address!r}>")
                is_foreign = address.startswith("http")
                if is_foreign and (tag != "a" or values.get("rel") != "noreferrer noopener"):
                    self.faults.append(f"<{tag} {name}={address!r}> without rel")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(f"<!{decl}")

    def unknown_decl(self, data: str) -> None:
        self.faults.append(f"<![{data}")

    def handle_pi(self, data: str) -> None:
        self.faults.append(f"<?{data}")
