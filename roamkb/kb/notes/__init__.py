"""Notes as values: their file names and passages."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
