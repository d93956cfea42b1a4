"""Substitutes for slow imports: an agent starts roamkb hundreds of times a day."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
