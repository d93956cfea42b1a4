"""A knowledge base that coding agents share with their human, kept as plain org-roam files.

from roamkb import KnowledgeBase

kb = KnowledgeBase.open()
for hit in kb.search("oauth redirect").hits:
    print(hit.title, hit.path, hit.line)

`Agent("build_agent").learn("…")` signs what an agent of yours learned in a project.
Everything that can go wrong is a `RoamkbError`, with a message for people; the ones that a
caller may want to tell apart are here as well.
"""

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from roamkb.app import KnowledgeBase as KnowledgeBase
    from roamkb.app.agent import Agent as Agent
    from roamkb.core.errors import Ambiguous as Ambiguous
    from roamkb.core.errors import BadRule as BadRule
    from roamkb.core.errors import ChangedOnDisk as ChangedOnDisk
    from roamkb.core.errors import NearDuplicate as NearDuplicate
    from roamkb.core.errors import NoKnowledgeBase as NoKnowledgeBase
    from roamkb.core.errors import NotDurable as NotDurable
    from roamkb.core.errors import NotFound as NotFound
    from roamkb.core.errors import Refused as Refused
    from roamkb.core.errors import RoamkbError as RoamkbError
    from roamkb.core.errors import SecretFound as SecretFound
    from roamkb.core.errors import UsageError as UsageError
    from roamkb.core.model import Hit as Hit
    from roamkb.core.model import Node as Node
    from roamkb.core.model import Project as Project

__version__ = "0.1.0"

_DEFINING_MODULES = {
    "Agent": "roamkb.app.agent",
    "KnowledgeBase": "roamkb.app",
    **dict.fromkeys(("Hit", "Node", "Project"), "roamkb.core.model"),
    **dict.fromkeys(
        (
            "Ambiguous",
            "BadRule",
            "ChangedOnDisk",
            "NearDuplicate",
            "NoKnowledgeBase",
            "NotDurable",
            "NotFound",
            "Refused",
            "RoamkbError",
            "SecretFound",
            "UsageError",
        ),
        "roamkb.core.errors",
    ),
}
__all__ = [*_DEFINING_MODULES, "__version__"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line pays for every module."""
    if name in _DEFINING_MODULES:
        from importlib import import_module

        value: object = getattr(import_module(_DEFINING_MODULES[name]), name)
        return value
    raise AttributeError(f"module 'roamkb' has no attribute {name!r}")
