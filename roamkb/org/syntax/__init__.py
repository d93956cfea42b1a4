"""Org's syntax, element by element, as Emacs reads it."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
