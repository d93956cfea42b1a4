"""Installed files, links and facts about this machine."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
