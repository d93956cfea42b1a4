"""Word lists and word vectors of `roamkb/data`."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
