"""Substitutes for slow imports: an agent starts roamkb hundreds of times a day."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
