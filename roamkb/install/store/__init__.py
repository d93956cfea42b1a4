"""Installed files, links and facts about this machine."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
