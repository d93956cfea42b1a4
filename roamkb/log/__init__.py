"""A project's log: learnings, how they are written, found, pinned and explained."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
