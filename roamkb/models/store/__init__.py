"""Prompts of `roamkb/data`, by version and digest."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
