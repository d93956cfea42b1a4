"""The log of one project, wired subject by subject."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
