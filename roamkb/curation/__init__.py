"""Curation of a log: audit, refine, curate and review."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
