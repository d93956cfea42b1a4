"""Grep over the notes' files."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
