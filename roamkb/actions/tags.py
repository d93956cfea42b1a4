"""The tags that are in use, with counts: what to search by, and what to tag with."""

from dataclasses import dataclass

from roamkb.storage.index import Index
from roamkb.storage.index_views import TagCount
from roamkb.storage.index_views import tag_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """Every tag, the most frequent first."""

    tags: tuple[TagCount, ...]


def tags(index: Index) -> Tags:
    """Return the tags of all nodes."""
    return Tags(tags=index.view(tag_counts))
