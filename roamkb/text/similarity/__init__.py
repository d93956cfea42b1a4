"""Comparison of texts: duplicates, contradictions and containment."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
