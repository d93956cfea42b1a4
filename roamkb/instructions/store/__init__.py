"""Instruction files in a project's tree."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
