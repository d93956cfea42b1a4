"""The tags in use, with counts."""

from roamkb.core.request import KbOption
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.views import TagCount
from roamkb.kb.search.index.views import tag_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class TagsRequest:
    """Options of `tags`."""

    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TagList:
    """Every tag with its count, the most frequent first."""

    tags: tuple[TagCount, ...]


def tags(index: Index) -> TagList:
    """Return the tags of all nodes."""
    return TagList(tags=index.read_view(tag_counts))
