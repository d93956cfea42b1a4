"""The refs of a node: its ROAM_REFS."""

from collections.abc import Iterator

from roamkb.core.model import Ref
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.property_values import split_quoted


def read_refs(value: str) -> tuple[Ref, ...]:
    """Return the refs of a ROAM_REFS value in the order of the text; other words are left out."""
    return tuple(ref for word in split_quoted(value) for ref in _parse_refs(word))


def _parse_refs(word: str) -> Iterator[Ref]:
    if word.startswith("@"):
        yield Ref(type="cite", ref=word[1:])
    elif word.startswith("[cite:"):
        for key, _ in ObjectReader(word, LinkFinder(word)).find_citations(0, len(word), ObjectSet.ALL):
            yield Ref(type="cite", ref=key)
    else:
        link = LinkFinder(word).first_plain()
        if link is not None:
            yield Ref(type=link[0], ref=link[1])
