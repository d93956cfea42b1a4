"""The journal on the disk: looks, copies, tables and restores."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
