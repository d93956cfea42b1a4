"""Calls that wait for a hook outside of their sandbox."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
