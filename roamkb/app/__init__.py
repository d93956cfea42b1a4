"""The knowledge base and a project's log, wired from the packages below; HOME is read here."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamkb.app.environment import ProcessEnvironment as ProcessEnvironment
    from roamkb.app.knowledge_base import KnowledgeBase as KnowledgeBase


def __getattr__(name: str) -> object:
    # a hook imports a module of this package, and has no time for all that the door needs
    if name == "KnowledgeBase":
        from roamkb.app.knowledge_base import KnowledgeBase

        return KnowledgeBase
    if name == "ProcessEnvironment":
        from roamkb.app.environment import ProcessEnvironment

        return ProcessEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
