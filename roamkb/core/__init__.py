"""Values and errors that every package shares; no disk, clock or environment."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
