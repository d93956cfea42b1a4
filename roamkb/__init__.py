"""A knowledge base that coding agents share with their human, kept as plain org-roam files.

from roamkb import KnowledgeBase

kb = KnowledgeBase.open()
for hit in kb.search("oauth redirect").hits:
    print(hit.title, hit.path, hit.line)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamkb.app import KnowledgeBase as KnowledgeBase

__version__ = "0.1.0"
__all__ = ["KnowledgeBase", "__version__"]


def __getattr__(name: str) -> object:
    """Import the library when it's asked for: the command line pays for every module."""
    if name == "KnowledgeBase":
        from roamkb.app import KnowledgeBase

        return KnowledgeBase
    raise AttributeError(f"module 'roamkb' has no attribute {name!r}")
