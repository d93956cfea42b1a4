"""Wires storage, boundary and actions together, for the knowledge base and for a project's log."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamkb.app.knowledge_base import KnowledgeBase as KnowledgeBase
    from roamkb.app.surroundings import Surroundings as Surroundings


def __getattr__(name: str) -> object:
    # a hook imports a module of this package, and has no time for all that the door needs
    if name == "KnowledgeBase":
        from roamkb.app.knowledge_base import KnowledgeBase

        return KnowledgeBase
    if name == "Surroundings":
        from roamkb.app.surroundings import Surroundings

        return Surroundings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
