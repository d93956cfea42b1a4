"""What a node says it's about: its ROAM_REFS."""

from collections.abc import Iterator

from roamkb.core.model import Ref
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.property_values import split_quoted


def read_refs(value: str) -> tuple[Ref, ...]:
    """Return the refs of a ROAM_REFS value in the order of the text; what is none is left out."""
    return tuple(ref for word in split_quoted(value) for ref in _refs(word))


def _refs(word: str) -> Iterator[Ref]:
    if word.startswith("@"):
        yield Ref(type="cite", ref=word[1:])
    elif word.startswith("[cite:"):
        for key, _ in ObjectReader(word, LinkFinder(word)).citations(0, len(word), ObjectSet.ALL):
            yield Ref(type="cite", ref=key)
    else:
        found = LinkFinder(word).first_plain()
        if found is not None:
            yield Ref(type=found[0], ref=found[1])
