"""Snapshot archives on the disk."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
