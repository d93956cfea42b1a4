"""The part of a log that a state was made from: how far each file reached, and what it held."""

import json
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import JoinedBytes

#: The size and the digest of each page.
LogExtents = Sequence[tuple[int, str]]


def page_extents(pages: Sequence[FileVersion]) -> LogExtents:
    """Return how far each page reaches, and the digest of what it holds until there."""
    return [(page.size, page.digest) for page in pages]


def learnings_digest(pages: Sequence[FileVersion]) -> str:
    """Return the digest of the learnings alone, with the number of bytes of the log."""
    return extents_digest(page_extents(pages))


def extents_digest(extents: LogExtents) -> str:
    """Return `learnings_digest` of pages of those extents."""
    (size, knowledge_digest), (_, archive_digest), _ = extents
    return f"{size} {knowledge_digest} {archive_digest}"


def ids_added_since(digest: str, pages: Sequence[FileVersion], about: Mapping[str, str]) -> list[str] | None:
    """Return the ids of the learnings added since that state; None if it is too old, or isn't known."""
    knowledge, archive, _ = pages
    origin = about["origin"]
    size, knowledge_digest, archive_digest = [*digest.split(), "", "", ""][:3]
    if archive_digest != archive.digest and "rotated" in about:
        origin, archived_size, archived_digest = json.loads(about["rotated"])
        if archive_digest != archived_digest or not archive.begins_with(archived_size, archived_digest):
            return None
        knowledge = unrotated_page(pages, archived_size)
    elif archive_digest != archive.digest:
        return None
    is_known = size.isdecimal() and int(size) >= int(origin.split()[0])
    if not is_known or not knowledge.begins_with(int(size), knowledge_digest):
        return None
    return [learning.id for learning in knowledge.lines_after(int(size)).learnings]


def unrotated_page(pages: Sequence[FileVersion], archived_size: int) -> FileVersion:
    """Return the log as it would be if what the archive has behind so many bytes hadn't moved there."""
    knowledge, archive, _ = pages
    return FileVersion(knowledge.path, JoinedBytes(archive, archived_size, knowledge), is_ledger=False)


def cached_sizes(about: Mapping[str, str], pages: Sequence[FileVersion]) -> list[int]:
    """Return the cached size of each page; empty where they differ by more than new lines."""
    made_from = json.loads(about["made_from"])
    is_grown = all(page.begins_with(*was) for page, was in zip(pages, made_from, strict=True))
    # what moved to the archive is said there, and no more elsewhere
    is_grown &= pages[1].size == made_from[1][0]
    return [size for size, _ in made_from] if is_grown else []
