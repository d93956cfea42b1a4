"""Word lists and word vectors of `roamkb/data`."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
