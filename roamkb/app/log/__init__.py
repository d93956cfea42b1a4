"""The log of one project, wired subject by subject."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
