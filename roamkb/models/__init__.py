"""Language models: their names and their answers."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
