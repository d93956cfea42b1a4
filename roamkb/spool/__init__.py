"""Calls that wait for a hook outside of their sandbox."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
