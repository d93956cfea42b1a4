"""Harnesses' hooks: JSON in, JSON out, status 0; imports next to nothing."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
