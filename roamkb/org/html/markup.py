"""Safe pieces of HTML: text that is escaped, and links of schemes that do nothing."""

from html import escape
from html import unescape
from typing import Protocol

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import strip_hidden

#: The whole of a web address; a browser would drop a line's end in it, or take a backslash for a slash.
_WEB_ADDRESS = lazily(r"https?://[^\s\\<>\"'`{}|^\x00-\x20\x7f-\x9f]+", 2)
#: What reads like an address, and may name another one than the link has.
_LIKE_ADDRESS = lazily(r"\w://|\bwww\.|\b[\w-]+\.[a-z]{2,}/", 2)
_TAG = lazily(r"<[^>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTarget:
    """A node that a link leads to: its address in the page, and its title."""

    href: str
    title: str


class LinkTargets(Protocol):
    """The addresses, in the page, of what a note links to; None for what isn't there."""

    def find_node(self, id: str) -> NodeTarget | None:
        """Return the node with that id."""

    def find_file(self, path: str) -> str | None:
        """Return the address of another note, by its path as a link has it."""

    def find_image(self, path: str, *, is_attachment: bool) -> str | None:
        """Return the address of an image of the knowledge base, by its path as a link has it."""

    def find_cited(self, key: str) -> str | None:
        """Return the address of the node that is about a cited work."""


def shown(text: str) -> str:
    """Return `text` escaped, without characters that act instead of showing."""
    return escape(strip_hidden(text))


def link_to(href: str, label: str) -> str:
    """Return a link inside of the page; `label` is HTML."""
    return f'<a href="{escape(href)}">{label}</a>'


def web_link(address: str, label: str, *, words: str = "") -> str:
    """Return a link to a web page; an address that is none stands as text.

    `label` is HTML and `words` its text: where that reads like another address, the link's own follows it.
    """
    if not _WEB_ADDRESS.fullmatch(address) or strip_hidden(address) != address:
        return label if not words else f"{label} ({shown(address)})"
    # what a reader sees: characters that show nothing, and emphasis, are no part of it
    seen = strip_hidden(unescape(_TAG.sub("", label)))
    is_misleading = bool(words) and seen != address and _LIKE_ADDRESS.search(seen)
    own = f' <span class="address">({escape(address)})</span>' if is_misleading else ""
    return f'<a class="web" href="{escape(address)}" rel="noreferrer noopener">{label}</a>{own}'
