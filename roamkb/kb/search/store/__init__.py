"""Grep over the notes' files."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
