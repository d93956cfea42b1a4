"""A knowledge base that coding agents share with their human, kept as plain org-roam files.

from roamkb import KnowledgeBase

kb = KnowledgeBase.open()
for hit in kb.search("oauth redirect").hits:
    print(hit.title, hit.path, hit.line)

`Agent("build_agent").learn("…")` signs what an agent of yours learned in a project.
Everything that can go wrong is a `RoamkbError`, with a message for people; the ones that a
caller may want to tell apart are here as well.

What makes imports lazy is here too, since this module is all that every process of roamkb's has loaded.
"""

import sys

# as `importlib.machinery` and `importlib.util` name them, whose import takes longer than it saves
from _frozen_importlib_external import SourceFileLoader
from _frozen_importlib_external import spec_from_file_location
from os.path import exists

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from roamkb.app.agent import Agent as Agent
    from roamkb.app.knowledge_base import KnowledgeBase as KnowledgeBase
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
    "KnowledgeBase": "roamkb.app.knowledge_base",
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


class _LazyModule:
    # no docstring, and no method with a plain name: they would be taken for the module's

    __slots__ = ("__dict__", "__name")

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_LazyModule__name", name)

    def __getattr__(self, name: str) -> "Any":
        __import__(self.__name)
        module = sys.modules[self.__name]
        # from here on a name is found as fast as in the module, and one that is set is set there
        object.__setattr__(self, "__dict__", vars(module))
        return getattr(module, name)

    def __setattr__(self, name: str, value: object) -> None:
        __import__(self.__name)
        setattr(sys.modules[self.__name], name, value)

    def __delattr__(self, name: str) -> None:
        __import__(self.__name)
        delattr(sys.modules[self.__name], name)


def lazy_module(name: str) -> "Any":
    """Return a stand-in for the module called `name`, which is imported once something in it is asked for.

    An import under TYPE_CHECKING tells type checkers the same. For modules of others, and where not even a
    package of ours may be loaded; elsewhere `lazy_submodules` has plain imports do it.
    """
    return _LazyModule(name)


def lazy_submodules(package: str) -> None:
    """Give a package the `__getattr__` (PEP 562) that makes `from package import module` lazy.

    To import a name from a module stays eager. Python asks it before it imports a submodule, and puts the
    module in the stand-in's place once anything has imported it. It is set here, out of the sight of type
    checkers: where they see one they believe any name.
    """
    module = sys.modules[package]

    def find(name: str) -> object:
        place = f"{module.__path__[0]}/{name}"
        # pathlib alone takes as long to import as Python to start
        if not any(exists(place + ending) for ending in (".py", "/__init__.py")):  # noqa: PTH110
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return vars(module).setdefault(name, _LazyModule(f"{package}.{name}"))

    vars(module)["__getattr__"] = find


class _PackageLoader(SourceFileLoader):
    """Loader of roamkb's own packages, whose modules are imported once they are used.

    Their `__init__.py` hold a docstring alone, which nothing that runs needs: it isn't read.
    """

    def exec_module(self, module: "ModuleType") -> None:
        lazy_submodules(module.__name__)


class _SubmoduleFinder:
    """Finder of roamkb's own source files where their names say: a third less time than to search for them.

    What is no such file, as in an archive, Python's own finders look for.
    """

    @staticmethod
    def find_spec(name: str, path: "Sequence[str] | None" = None, _target: object = None) -> "ModuleSpec | None":
        if not path or not name.startswith("roamkb."):
            return None
        place = f"{path[0]}/{name.rpartition('.')[2]}"
        folders = None
        if not exists(f"{place}.py"):  # noqa: PTH110
            place, folders = f"{place}/__init__", [place]
        if folders and not exists(f"{place}.py"):  # noqa: PTH110
            return None
        loader = (_PackageLoader if folders else SourceFileLoader)(name, f"{place}.py")
        return spec_from_file_location(name, loader.path, loader=loader, submodule_search_locations=folders)


sys.meta_path.insert(0, _SubmoduleFinder)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line pays for every module."""
    if name not in _DEFINING_MODULES:
        raise AttributeError(f"module 'roamkb' has no attribute {name!r}")
    return getattr(_LazyModule(_DEFINING_MODULES[name]), name)
