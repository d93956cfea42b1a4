"""Comparison of texts: duplicates, contradictions and containment."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
