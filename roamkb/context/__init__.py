"""Context of a session: its brief and suggestions, above a threshold."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
