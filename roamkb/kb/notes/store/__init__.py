"""Notes on the disk: walk, lookup, conflict copies and trash."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
