"""Snapshot archives on the disk."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
