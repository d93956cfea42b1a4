"""Org's syntax, element by element, as Emacs reads it."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
