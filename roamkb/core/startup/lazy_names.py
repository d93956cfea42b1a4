"""Names of a module that are imported from elsewhere on first use."""

from collections.abc import Callable
from collections.abc import Mapping
from importlib import import_module


def lazy_names(module: dict[str, object], defining_modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` (PEP 562) for the module whose globals are `module`.

    `places` has, for each name, the module that defines it. A type checker is told the same by imports
    under TYPE_CHECKING.
    """

    def import_name(name: str) -> object:
        if name not in defining_modules:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        value = module[name] = getattr(import_module(defining_modules[name]), name)
        return value

    return import_name
