"""Instruction files in a project's tree."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
