"""Wiring of the knowledge base and a project's log from the packages below; HOME is read here."""

from typing import TYPE_CHECKING

from roamkb.core.startup.lazy_names import lazy_names

if TYPE_CHECKING:
    from roamkb.app.environment import ProcessEnvironment as ProcessEnvironment
    from roamkb.app.knowledge_base import KnowledgeBase as KnowledgeBase

# a hook imports a module of this package, and has no time for all that the library needs
__getattr__ = lazy_names(
    globals(),
    {
        "KnowledgeBase": "roamkb.app.knowledge_base",
        "ProcessEnvironment": "roamkb.app.environment",
    },
)
