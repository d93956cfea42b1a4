"""Curation of a log: audit, refine, curate and review."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
