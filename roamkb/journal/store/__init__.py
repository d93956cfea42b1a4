"""The journal on the disk: looks, copies, tables and restores."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
