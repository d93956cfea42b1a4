"""What a node says it's about: its ROAM_REFS."""

import re
from collections.abc import Iterator

from roamkb.core.model import Ref
from roamkb.formats.org.links import TYPE_COLON
from roamkb.formats.org.links import LinkFinder
from roamkb.formats.org.objects import Holds
from roamkb.formats.org.objects import ObjectReader
from roamkb.formats.org.values import split_quoted

_COLON = re.compile(TYPE_COLON, re.IGNORECASE)


def read_refs(value: str) -> tuple[Ref, ...]:
    """Return the refs of a ROAM_REFS value in the order of the text; what is none is left out."""
    return tuple(ref for word in split_quoted(value) for ref in _refs(word))


def _refs(word: str) -> Iterator[Ref]:
    if word.startswith("@"):
        yield Ref(type="cite", ref=word[1:])
    elif word.startswith("[cite:"):
        for key, _ in ObjectReader(word, LinkFinder(word)).citations(0, len(word), Holds.ALL):
            yield Ref(type="cite", ref=key)
    else:
        finder = LinkFinder(word)
        for colon in _COLON.finditer(word):
            link = finder.plain(colon.start(), len(word))
            if link is not None:
                at = colon.start()
                yield Ref(type=word[link.begin : at], ref=word[at + 1 : link.end])
                return
