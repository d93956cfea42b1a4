"""Prompts of `roamkb/data`, by version and digest."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
